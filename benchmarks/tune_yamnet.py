"""Choose what the embedded listener needs to know: thresholds, groups of known labels, rules.

Everything is chosen on the ``tune`` side of benchmarks/mixtures.py (and instances 0-39 of the built-in
siren, of which the clips hold too few); benchmarks/order_mixtures.py measures on the other side.

Threshold of a label: the smoothed logit that a stated share of the events it does not describe exceed at
their best patch, every class of clips weighing the same. Only wrong events set it, of which there are
many, so it does not depend on the few recordings of the right class. The share is ``STRICT`` for labels
the listener does not claim to know. For a group of labels that together answer for a class it is the share
for the whole group, ``LOOSE``: groups compete afterwards (listeners/yamnet_events.py), which removes most of
these. Where the class's own events stand further off than ``CLEARANCE`` (99 % of them), the thresholds rise
to that distance, which costs no recall on recordings left out of the choice (printed).

Known: a class with at least ``RECORDINGS`` recordings on the tune side, of whose events its group finds at
least ``RECALL``, and at least ``CLEAR_RECALL`` at thresholds that only ``CLEAR`` of the wrong events exceed,
so that no class is known by its murmur alone. A label is in the group if it finds two thirds of them by
itself.
Labels that a class which fails (whatever its recordings, and even without a usable one) asks for too are in
no group: its phrase would pass for known.

    python benchmarks/tune_yamnet.py [CLIPS_FOLDER] [--write]
"""

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import soundfile as sf
from numpy.typing import NDArray

import mixtures
from earwitness import labels
from earwitness.listeners import yamnet
from earwitness.listeners.yamnet_events import Rules, Table, events, smoothed
from earwitness.scenes import synth
from order_mixtures import CLIPS, Tally, heard_as

LOOSE, STRICT = 0.1, 0.003
FLOOR, CEILING = -8.0, 3.0
"""Thresholds stay inside: below, everything is noise; above, the wrong events are wrong in name only."""
UNTUNED_FLOOR = -1.0
CLEARANCE = 3.0
RECALL = 0.95
CLEAR, CLEAR_RECALL = 0.01, 2 / 3
ALONE = 2 / 3
RECORDINGS = 3
FINE_HOP_S = 0.12
"""Hop at which logits are computed here; coarser ones are every second or fourth of them."""


@dataclass(frozen=True, slots=True)
class Example:
    """A mixture as the model hears it: frames, logits every ``FINE_HOP_S``, and the truth."""

    mel: NDArray[np.float32]
    logits: NDArray[np.float32]
    truth: tuple[mixtures.Placed, mixtures.Placed]

    def at(self, rules: Rules) -> NDArray[np.float32]:
        return self.logits[:: round(rules.hop_s / FINE_HOP_S)]


def examples(model: yamnet.Model, drawn: Iterable[mixtures.Mixture]) -> Iterator[Example]:
    for mixture in drawn:
        mel, logits = model(mixture.samples, Rules(hop_s=FINE_HOP_S))
        yield Example(mel, logits, mixture.events)


@dataclass(frozen=True, slots=True)
class Best:
    """The best smoothed logit of every label within every event, (events, 521), and what the events are."""

    logits: NDArray[np.float32]
    classes: NDArray[np.str_]
    recordings: NDArray[np.str_]

    def where(self, chosen: NDArray[np.bool_]) -> "Best":
        return Best(self.logits[chosen], self.classes[chosen], self.recordings[chosen])

    def wrong(self, names: frozenset[str]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Events that none of the labels describes, and their weights: classes weigh the same."""
        classes = [c for c in np.unique(self.classes) if not names & labels.lenient(asked_labels(c))]
        weights = np.zeros(len(self.classes))
        for name in classes:
            mine = self.classes == name
            weights[mine] = 1 / (mine.sum() * len(classes))
        return weights > 0, weights[weights > 0]


def asked_labels(name: str) -> frozenset[str]:
    return labels.find(name.replace("_", " "))


def best(given: Sequence[Example], rules: Rules) -> Best:
    rows, truth = [], []
    for example in given:
        steady = smoothed(example.at(rules), rules)
        for event in example.truth:
            patches = slice(int(event.onset_s / rules.hop_s), int(event.offset_s / rules.hop_s) + 2)
            rows.append(steady[patches].max(axis=0))
            truth.append((event.label, event.recording_id))
    return Best(np.array(rows), *np.array(truth).T)


def exceeded_by(values: NDArray[np.float32], weights: NDArray[np.float64], share: float) -> float:
    """The value that ``share`` of the weight exceeds."""
    order = np.argsort(-values)
    return float(values[order][np.searchsorted(np.cumsum(weights[order]), share)])


@dataclass(frozen=True, slots=True)
class Group:
    """Labels that answer for a class, their thresholds, and the share of its events they find.

    ``clear`` is that share at thresholds only ``CLEAR`` of the wrong events exceed.
    """

    columns: list[int]
    limits: NDArray[np.float32]
    recall: float
    clear: float

    @property
    def passes(self) -> bool:
        return self.recall >= RECALL and self.clear >= CLEAR_RECALL


def group(
    name: str, without: frozenset[str], names: Sequence[str], seen: Best, clearance: float = CLEARANCE
) -> Group:
    """The group of a class, out of its labels but those in ``without``."""
    right = seen.logits[seen.classes == name]
    if not len(right):
        return Group([], np.empty(0, dtype=np.float32), 0.0, 0.0)
    members = [names.index(label) for label in sorted(heard_as(name) & set(names) - without)]
    columns = [i for i in members if (right[:, i] > joint_limits([i], names, seen, LOOSE)).mean() > ALONE]
    if not columns:
        return Group([], np.empty(0, dtype=np.float32), 0.0, 0.0)

    def recall(limits: NDArray[np.float32]) -> float:
        return float((right[:, columns] > limits).any(axis=1).mean())

    loose = joint_limits(columns, names, seen, LOOSE)
    weakest = float(np.quantile((right[:, columns] - loose).max(axis=1), 0.01))
    limits = loose + np.float32(max(0.0, weakest - clearance))
    return Group(columns, limits, recall(limits), recall(joint_limits(columns, names, seen, CLEAR)))


def left_out(name: str, names: Sequence[str], seen: Best, clearance: float) -> float:
    """Recall of a class on each of its recordings, with the group the others give; their mean."""
    recalls = []
    for recording in np.unique(seen.recordings[seen.classes == name]):
        mine = seen.recordings == recording
        its = group(name, frozenset(), names, seen.where(~mine), clearance)
        recalls.append((seen.logits[mine][:, its.columns] > its.limits).any(axis=1).mean())
    return float(np.mean(recalls))


def joint_limits(
    columns: Sequence[int], names: Sequence[str], seen: Best, share: float
) -> NDArray[np.float32]:
    """Thresholds of labels of which at least one is exceeded in ``share`` of the wrong events.

    They are those of each label alone, all moved by one step.
    """
    wrong, weights = seen.wrong(frozenset(names[i] for i in columns))
    logits = seen.logits[wrong][:, columns]
    alone = np.array([exceeded_by(column, weights, share) for column in logits.T], dtype=np.float32)
    moved = alone + exceeded_by((logits - alone).max(axis=1), weights, share)
    return np.maximum(moved, FLOOR).astype(np.float32)


def choose(names: Sequence[str], seen: Best, recordings: Mapping[str, int]) -> tuple[Table, dict[str, Group]]:
    """The table, and the groups of the classes that become known."""
    strict = [joint_limits([i], names, seen, STRICT)[0] for i in range(len(names))]
    limits = np.clip(np.array(strict, dtype=np.float32), UNTUNED_FLOOR, CEILING)
    passed = [name for name in sorted(recordings) if group(name, frozenset(), names, seen).passes]
    spoilt = frozenset[str]().union(*(asked_labels(name) for name in recordings.keys() - set(passed)))
    found = {name: group(name, spoilt, names, seen) for name in passed if recordings[name] >= RECORDINGS}
    known = {name: its for name, its in found.items() if its.passes}
    groups = [""] * len(names)
    for name, its in known.items():
        limits[its.columns] = its.limits
        for column in its.columns:
            groups[column] = name.replace("_", " ")
    limits[names.index("Silence")] = np.inf
    return Table(tuple(names), limits, tuple(groups)), known


def with_sirens(pool: mixtures.Pool, folder: Path, seeds: Iterable[int]) -> mixtures.Pool:
    """The clips and the built-in siren, whose instances count as recordings."""
    made = {}
    for seed in seeds:
        path = folder / f"siren-{seed}.wav"
        sf.write(path, synth.render("siren", seed), synth.RATE_HZ, subtype="PCM_16")
        made[f"siren-{seed}"] = [path]
    return {**pool, "siren": made}


def heard_orders(given: Iterable[Example], table: Table, rules: Rules, classes: Sequence[str]) -> Tally:
    tally = Tally(classes, yamnet.Yamnet.needs.resolution_s)
    for example in given:
        heard = events(example.mel, example.at(rules), mixtures.CLIP_S, table, rules)
        tally.add(example.truth, heard)
    return tally


def variants(rules: Rules) -> Iterator[tuple[str, Rules]]:
    yield "chosen", rules
    for hop_s, smooth_s in ((0.12, 0.12), (0.12, 0.6), (0.24, 0.24), (0.24, 1.2), (0.48, 0.48)):
        yield f"hop {hop_s}, smooth {smooth_s}", replace(rules, hop_s=hop_s, smooth_s=smooth_s)
    tried: dict[str, tuple[float, ...]] = {
        "rival": (1.5, 2.5, 5.0, 99.0),
        "echo": (-2.0, -1.0, 0.0, 99.0),
        "unclaimed": (-99.0, 0.5, 3.0),
        "gap_s": (0.25, 1.0),
        "floor_db": (3.0, 10.0),
        "early_s": (0.1, 0.3),
        "back_s": (0.2, 0.6, 1.4),
        "late_s": (0.5, 1.0),
        "rise": (0.1, 0.3, 0.5),
        "step_db": (3.0, 10.0),
    }
    for name, values in tried.items():
        for value in values:
            yield f"{name} {value:g}", replace(rules, **{name: value})
    yield "no energy edges", replace(rules, step_db=999.0)


def write(path: Path, table: Table, groups: Mapping[str, Group], seen: Best) -> None:
    rows = ["label\tthreshold\tgroup\tgroup_recall\tfalse_alarms\n"]
    for i, (name, its) in enumerate(zip(table.labels, table.groups, strict=True)):
        wrong, weights = seen.wrong(frozenset({name}))
        alarms = float(weights[seen.logits[wrong, i] > table.thresholds[i]].sum())
        recall = f"{groups[its.replace(' ', '_')].recall:.3f}" if its else ""
        rows.append(f"{name}\t{table.thresholds[i]:.2f}\t{its}\t{recall}\t{alarms:.4f}\n")
    path.write_text("".join(rows), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clips", nargs="?", type=Path, default=CLIPS)
    parser.add_argument("--write", action="store_true", help=f"write {yamnet.LABELS_FILE}")
    given = parser.parse_args()
    model, rules = yamnet.Model(), Rules()
    names = yamnet.labels_table().labels
    with tempfile.TemporaryDirectory() as folder:
        pool = with_sirens(mixtures.pool(given.clips, "tune"), Path(folder), range(40))
        drawn = mixtures.mixtures(np.random.default_rng(1), pool, sorted(pool), 2400)
        seen = best(list(examples(model, drawn)), rules)
        recordings = {name: len(pool.get(name, ())) for name in mixtures.labels(given.clips) | pool.keys()}
        table, groups = choose(names, seen, recordings)
        if given.write:
            write(Path(yamnet.__file__).parent / yamnet.LABELS_FILE, table, groups, seen)
        for name, count in sorted(recordings.items()):
            its = groups.get(name) or group(name, frozenset(), names, seen)
            members = ", ".join(f"{names[i]} {x:.1f}" for i, x in zip(its.columns, its.limits, strict=True))
            told = f"recordings {count:3d}, recall {its.recall:.3f}, clear {its.clear:.3f}"
            print(f"{'known' if name in groups else '-':6s}{name:20s}{told}: {members}")
        classes = list(groups)
        for clearance in (1.0, 2.0, CLEARANCE, np.inf):
            recall = np.mean([left_out(name, names, seen, clearance) for name in classes if name != "siren"])
            print(f"recall on a recording left out, clearance {clearance:g}: {recall:.4f}")
        drawn = mixtures.mixtures(np.random.default_rng(2), pool, classes, 1200)
        held = list(examples(model, drawn))
    print(f"{len(classes)} known classes; {len(held)} mixtures of them:")
    for name, changed in variants(rules):
        print(f"{name:24s}", heard_orders(held, table, changed, classes).line(), flush=True)
    print("\n".join(heard_orders(held, table, rules, classes).table()))


if __name__ == "__main__":
    main()
