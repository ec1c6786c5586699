"""Made-up systems of known skill on every relation, from real recordings: do the scores put them in order?

    python benchmarks/ritta_systems.py [BANK] [--prompts 100] [--seed 0] [--folder DIR]

A system answers each prompt, with its planted probability, with the scene that was asked for, drawn again
from other slices; else with a fault that fits the relation (``faults`` below). So the share of its clips
whose relation holds is planted, and known clip by clip.

(a) From the true events, nothing heard, all 25 classes: every clip must be judged as it was planted, and the
planted probability should lie within the 95 % interval of a main relation (in 95 % of the cases).
(b) Through the embedded listener: a data set of the classes that it claims to know, as ``bench ritta make``
makes it, and relation correctness by relation, beside ceilings and floors. Two neighbours count as apart if
the interval of their paired difference lies above zero.
"""

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import numpy as np

from earwitness.api import bench
from earwitness.api.runs import Result
from earwitness.listeners.yamnet import Yamnet
from earwitness.scenes import dataset, render
from earwitness.scenes.bank import Bank
from earwitness.scenes.recipe import MIX
from earwitness.scenes.ritta import recipe as ritta
from earwitness.scenes.ritta.classes import named
from earwitness.scenes.ritta.deal import generator
from earwitness.scenes.ritta.prompts import Asked
from earwitness.scenes.ritta.recipe import RittaRecipe
from earwitness.scenes.scene import Scene
from earwitness.scores import relations
from earwitness.scores import ritta as scores
from earwitness.scores.frame_levels import TrueLevels
from earwitness.scores.relations import MAIN, RELATIONS, Expected
from earwitness.scores.ritta_rules import rules
from earwitness.stats.intervals import cluster_interval
from earwitness.stats.strata import paired_difference
from earwitness.tasks.ritta_classes import claimed
from earwitness.tasks.rows import Metric

CLIPS = Path(__file__).resolve().parents[2] / "shared" / "data" / "clips"
ANCHORS = ("oracle", "reference", "shuffled", "silence")
SKILLS = {"skilled": 0.9, "middling": 0.6, "poor": 0.3}
TRIES = 20
SIZES = (10, 20, 30, 40, 60, 80, 120, 160, 240, 360, 480)


def faults(expected: Expected, other: str) -> dict[str, tuple[Expected, str]]:
    """Scenes that fail a prompt, by name: what to draw instead, and the one sound of a scene with one.

    Args:
        other: A class that the prompt does not name.
    """

    first, *rest = expected.labels

    def alone(label: str) -> tuple[Expected, str]:
        return relations.without(other if label == first else first), label

    match expected.relation:
        case "before" | "after":
            (second,) = rest
            return {
                "reversed": (relations.in_order("before", second, first), ""),
                "at the same time": (relations.together(first, second), ""),
                "second missing": alone(first),
            }
        case "together":
            return {"apart": (relations.in_order("before", first, *rest), ""), "one missing": alone(first)}
        case "count":
            fewer = expected.labels[:-1]
            return {
                "one too few": (relations.count(fewer), "") if len(fewer) > 1 else alone(first),
                "one exchanged": (relations.count([*fewer, other]), ""),
            }
        case "closefirst" | "farfirst":
            near, far = sorted(expected.distances_m or ())
            wrong = (far, near) if expected.relation == "closefirst" else (near, far)
            return {
                "the other way round": (relations.spatial(first, *wrong), ""),
                "equally far": (relations.spatial(first, near, near), ""),
                "second missing": alone(first),
            }
        case "equaldist":
            return {
                "first close": (relations.spatial(first, 1, 5), ""),
                "first far": (relations.spatial(first, 5, 1), ""),
                "second missing": alone(first),
            }
        case "and":
            return {"first missing": alone(rest[0]), "second missing": alone(first)}
        case "or":
            exclusive = any(one.absent for one in expected.alternatives)
            return {"both": (relations.both(first, *rest), "")} if exclusive else {"neither": alone(other)}
        case "not":
            return {"there all the same": alone(first)}
        case "if_then_else":
            otherwise = rest[1]
            return {
                "wrong branch": (relations.both(first, otherwise), ""),
                "condition alone": alone(first),
                "both branches": (relations.count(expected.labels), ""),
            }
    raise ValueError(expected.relation)


@dataclass(frozen=True, slots=True)
class Clip:
    """What a system made of a prompt; ``fault`` is empty where the relation holds."""

    key: str
    asked: Asked
    scene: Scene
    fault: str


def answered(recipe: RittaRecipe, key: str, system: str, skill: float) -> Clip:
    asked = recipe.asked(key)
    rng = generator("system", system, key)
    fault = ""
    to_draw = asked
    if rng.random() >= skill:
        unnamed = [name for name in recipe.stage.slices if name not in asked.expected.labels]
        options = faults(asked.expected, unnamed[int(rng.integers(len(unnamed)))])
        fault = list(options)[int(rng.integers(len(options)))]
        expected, alone = options[fault]
        to_draw = replace(asked, expected=expected, heard=alone)
    taken = {(e.source, e.start) for one in recipe.draw(key).values() for e in one.events}
    for turn in range(TRIES):  # a class of few slices may have no others
        where = ("system", system, key, turn)
        scene = recipe.stage.scenes(key, to_draw, seed=recipe.seed, where=where)[MIX]
        if not taken & {(e.source, e.start) for e in scene.events}:
            break
    return Clip(key, asked, scene, fault)


# --- from the true events -------------------------------------------------------------------------------


def from_truth(clip: Clip) -> float:
    """Relation correctness of a clip as the scores see its true events; not measurable counts as wrong."""
    levels = TrueLevels({(e.label, e.onset / clip.scene.rate_hz): e.level_db for e in clip.scene.events})
    judged = scores.judged(clip.asked.expected, clip.scene.truth(), levels, rules({}))
    return fmean(one.relation or 0.0 for one in judged)


def show_truth(made: Mapping[str, Sequence[Clip]]) -> None:
    print("\n(a) from the true events: relation correctness, 95 % interval, planted probability")
    wrong = []
    for main, subs in MAIN.items():
        cells = []
        for system, clips in made.items():
            mine = [clip for clip in clips if clip.asked.expected.relation in subs]
            found = [from_truth(clip) for clip in mine]
            wrong += [c for c, value in zip(mine, found, strict=True) if value != (not c.fault)]
            interval = cluster_interval(np.array(found), [clip.key for clip in mine])
            assert interval is not None
            inside = interval.low <= SKILLS[system] <= interval.high
            cells.append(
                f"{fmean(found):.3f} [{interval.low:.3f}, {interval.high:.3f}] {SKILLS[system]:.1f} "
                f"{'in' if inside else 'OUT'}"
            )
        print(f"{main:17s} {len(mine):4d} prompts  {'   '.join(cells)}")
    print(f"clips judged otherwise than planted: {len(wrong)}")
    for clip in wrong[:10]:
        print(f"  {clip.key} {clip.fault or 'as asked'}: {clip.scene.prompt}")


# --- through the listener -------------------------------------------------------------------------------


def show_heard(result: Result, prompts: int) -> None:
    """The report's own numbers by main relation, then by relation; and whether neighbours are apart."""
    parts = {row.system: row.parts for row in result.summary.rows}
    values = item_values(result)
    for name, subs in {**MAIN, **{sub: (sub,) for sub in RELATIONS}}.items():
        found = {system: parts[system][name]["relation"] for system in (*SKILLS, *ANCHORS)}
        means = [found[system].value or 0.0 for system in SKILLS]
        order = "planted order" if means == sorted(means, reverse=True) else "OTHER ORDER"
        cells = "  ".join(f"{system} {shown(found[system])}" for system in SKILLS)
        print(f"{name:17s} {found['reference'].n:4d}  {cells}  {order}, {enough(values, subs, prompts)}")
        print(f"{'':24s}{', '.join(f'{system} {shown(found[system])}' for system in ANCHORS)}")


def shown(metric: Metric) -> str:
    if metric.value is None:
        return "--"
    span = "" if metric.low is None else f" [{metric.low:.2f}, {metric.high:.2f}]"
    return f"{metric.value:.3f}{span}"


def item_values(result: Result) -> dict[str, dict[str, float]]:
    """Relation correctness of every scored clip, by system and prompt: the mean over the thresholds."""
    found: dict[str, dict[str, float]] = {}
    columns = [f"relation@{threshold}" for threshold in rules({}).thresholds]
    for row in result.items.iter_rows(named=True):
        each = [row[column] for column in columns]
        if None not in each:
            found.setdefault(row["system"], {})[row["sample_id"]] = fmean(each)
    return found


def apart(better: Mapping[str, float], worse: Mapping[str, float], subs: Sequence[str], n: int) -> bool:
    """Whether one system is above the other on the first ``n`` prompts of some relations."""
    keys = sorted(better.keys() & worse.keys() & {f"{sub}-{i:05d}" for sub in subs for i in range(n)})
    strata = [key.rpartition("-")[0] for key in keys]
    first, second = (np.array([values[key] for key in keys]) for values in (better, worse))
    paired = paired_difference(first, second, keys, strata) if keys else None
    return paired is not None and paired.low > 0


def enough(values: Mapping[str, Mapping[str, float]], subs: Sequence[str], prompts: int) -> str:
    """With how many prompts of each of these relations all neighbours are apart, from there on."""
    found = ""
    for n in [n for n in SIZES if n < prompts] + [prompts]:
        if not all(apart(values[one], values[other], subs, n) for one, other in pairwise(SKILLS)):
            found = ""
        elif not found:
            found = f"apart from {n} prompts a relation on"
    return found or f"not apart with {prompts} prompts a relation"


# --- all of it ------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bank", nargs="?", type=Path, default=CLIPS)
    parser.add_argument("--prompts", type=int, default=100, help="of each of the eleven relations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where clips and the run go; kept if given")
    given = parser.parse_args()
    if given.folder:
        run(given.folder, given)
        return
    with tempfile.TemporaryDirectory() as name:
        run(Path(name), given)


def made(recipe: RittaRecipe) -> dict[str, list[Clip]]:
    """What every system answers to every prompt."""
    return {
        system: [answered(recipe, key, system, skill) for key in recipe.keys()]  # noqa: SIM118
        for system, skill in SKILLS.items()
    }


def run(folder: Path, given: argparse.Namespace) -> None:
    bank = Bank.open(given.bank)
    show_truth(made(ritta.recipe(bank, per_relation=given.prompts, seed=given.seed)))
    known = claimed(Yamnet().known_labels)
    labels = {label: name for label in bank.sources if (name := named(label)) in known}
    recipe = ritta.recipe(
        bank.relabelled(labels), per_relation=given.prompts, seed=given.seed, leave_out_missing=True
    )
    dataset.write(folder / "data", recipe, recipe.bank)
    for system, clips in made(recipe).items():
        for clip in clips:
            path = folder / "outputs" / system / f"{clip.key}.wav"
            dataset.write_sound(path, render.mix(clip.scene, recipe.bank), clip.scene.rate_hz)
    outputs = {system: folder / "outputs" / system for system in SKILLS}
    result = bench.score_ritta(
        folder / "data", outputs, run=folder / "run", listener="yamnet", distances="none"
    )
    assert isinstance(result, Result)
    print(f"\n(b) through the listener, {len(known)} classes of the bank: relation correctness (mARel)")
    show_heard(result, given.prompts)


if __name__ == "__main__":
    main()
