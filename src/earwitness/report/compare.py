"""Two runs of one task side by side: on the clips both judged, what did the second change?

Conventions
-----------
Each run is scored as its own outputs last were. Items are matched by system and sample_id. A metric is
compared if both runs measure it on the same scale; how: :mod:`.differences`. Distances stand side by side
only if both runs' are of one recipe.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from earwitness.errors import UserError
from earwitness.files import whole, write_text
from earwitness.report import build, compared_distances, panel
from earwitness.report.cells import csv_rows, one_line, safe
from earwitness.report.compared_distances import Pair
from earwitness.report.differences import ALIKE, Difference, Judged, Key, Scored, by_system
from earwitness.report.summary_files import write_json
from earwitness.report.tables import NONE, markdown_text, number, p_text
from earwitness.tasks.rows import NOT_APPLICABLE, SCORED, ItemRow, MetricSpec

SETTINGS = ("listener", "repeats", "ask", "swap", "seed", "questions", "prompts", "generator_encoder",
            "versions", "started")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Covered:
    """Shared items of a system: how many, and the share of the applicable ones that each run scored."""

    system: str
    items: int
    first: float | None
    second: float | None


@dataclass(frozen=True, slots=True)
class Changed:
    """An item with another verdict; an unscored item has its status for a verdict.

    Attributes:
        reason: What the second run says of its verdict.
    """

    system: str
    sample_id: str
    first: str
    second: str
    reason: str


@dataclass(frozen=True, slots=True)
class Compared:
    """What two runs have in common and where they part.

    Attributes:
        runs: Names of the folders.
        heard_by: Each run's listener, with how the run is scored.
        scored_alike: Whether both are scored in the same way.
        same_hearings: Whether all shared items are heard alike, by the same listener.
        shared: Number of shared items.
        only_first, only_second: Items of one run alone, as (system, sample_id).
        settings: What differs in settings, in words.
        notes: What could not be compared.
        distances: Distances that both runs have, if they are of one recipe.
    """

    task: str
    runs: tuple[str, str]
    heard_by: tuple[str, str]
    scored_alike: bool
    same_hearings: bool
    shared: int
    only_first: tuple[Key, ...]
    only_second: tuple[Key, ...]
    coverage: tuple[Covered, ...]
    differences: tuple[Difference, ...]
    changed: tuple[Changed, ...]
    settings: tuple[str, ...]
    notes: tuple[str, ...]
    specs: Mapping[str, MetricSpec]
    distances: tuple[Pair, ...]


def compare(
    first: str | Path,
    second: str | Path,
    *,
    out: str | Path | None = None,
    options: build.Options | None = None,
) -> Compared:
    """Compare two runs on the items they share.

    Args:
        first, second: The run folders.
        out: Folder for ``compare.json``, ``compare.csv`` (one row a shared item) and ``compare.md``.
        options: Level, draws; and a way of scoring, which is then that of both runs instead of their own.

    Raises:
        UserError: If a folder holds no run, the tasks differ, or no item is shared.
    """
    options = options or build.Options()
    folders = (Path(first), Path(second))
    runs, judged = [], []
    for folder in folders:
        panel.check_single(folder)
        with build.open_run(folder) as ledger:
            last = build.as_last_scored(folder, options)
            run = build.of_ledger(ledger, last.unclaimed, last.scoring)
            runs.append(run)
            heard = _hearings(run)
            keyed = ((row, (row.system, row.sample_id)) for row in run.rows())
            judged.append({key: _kept(row, heard.get(key, "")) for row, key in keyed})
    tasks = [run.task.name for run in runs]
    if tasks[0] != tasks[1]:
        raise UserError(
            f"{folders[0]} is a run of the task {tasks[0]}, {folders[1]} of {tasks[1]}.",
            "Compare runs of one task.",
        )
    shared = [key for key in judged[0] if key in judged[1]]
    if not shared:
        raise UserError(
            f"{folders[0]} and {folders[1]} share no item.",
            "Items are matched by system and sample_id; these have to be called alike in both.",
        )
    specs, notes = _shared_specs(*runs)
    distances, no_distances = compared_distances.pairs(*(run.distances for run in runs))
    measures = runs[0].task.measures(runs[0].hearer)
    first_way, second_way = (build.ways(r.task.name, r.hearer.scoring, r.hearer.unclaimed) for r in runs)
    settings = list(_settings(runs[0].meta, runs[1].meta))
    if first_way != second_way:
        settings.append(
            f"scoring: {', '.join(first_way) or 'usual'}, then {', '.join(second_way) or 'usual'}"
        )
    scored = Scored(judged, measures, first_way == second_way, options, runs[0].meta["seed"])
    found = Compared(
        task=tasks[0],
        runs=(folders[0].name, folders[1].name),
        heard_by=(build.heard_by(runs[0]), build.heard_by(runs[1])),
        scored_alike=first_way == second_way,
        same_hearings=scored.heard_alike(shared),
        shared=len(shared),
        only_first=tuple(key for key in judged[0] if key not in judged[1]),
        only_second=tuple(key for key in judged[1] if key not in judged[0]),
        coverage=tuple(_coverage(shared, judged, measures.baselines)),
        differences=tuple(scored.differences(shared, specs)),
        changed=tuple(_changed(shared, judged)),
        settings=tuple(settings),
        notes=(*notes, *chain.from_iterable(map(scored.left_out, specs)), *no_distances),
        specs={spec.name: spec for spec in specs},
        distances=distances,
    )
    if out is not None:
        _write(Path(out), found, shared, judged)
    return found


def _kept(row: ItemRow, heard: str) -> Judged:
    detail = row.detail or row.reason
    return Judged(row.status, row.verdict, detail, row.cluster, row.stratum, row.values, heard)


def _hearings(run: build.Run) -> dict[Key, str]:
    """A hash of the listener and of all its replies, for every item that has one."""

    def hashed(data: Any) -> str:
        return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()

    listener = hashed(run.meta["listener"])
    found: dict[Key, str] = {}
    for reply in run.replies():
        key = (reply["system"], reply["sample_id"])
        found[key] = hashed([found.get(key, listener), reply])
    return found


def _shared_specs(first: build.Run, second: build.Run) -> tuple[list[MetricSpec], list[str]]:
    """The metrics that systems are tested for and both runs measure alike, and notes on the others."""
    measures = [run.task.measures(run.hearer) for run in (first, second)]
    scales = [{spec.name: spec for spec in one.specs} for one in measures]
    wanted = dict.fromkeys(name for one in measures for name in (one.compared or (one.key,)))
    found, notes = [], []
    for name in wanted:
        specs = [scale[name] for scale in scales if name in scale]
        if len(specs) == 2 and specs[0].scale == specs[1].scale:
            found.append(specs[0])
        else:
            notes.append(f"{specs[0].title} ({name}) is not measured by both listeners on the same scale.")
    return found, notes


def _coverage(
    shared: Sequence[Key], judged: Sequence[Mapping[Key, Judged]], baselines: Collection[str]
) -> Iterator[Covered]:
    for system, keys in by_system(shared, baselines).items():
        shares: list[float | None] = []
        for run in judged:
            asked = [run[key].status for key in keys if run[key].status != NOT_APPLICABLE]
            shares.append(asked.count(SCORED) / len(asked) if asked else None)
        yield Covered(system, len(keys), *shares)


def _changed(shared: Sequence[Key], judged: Sequence[Mapping[Key, Judged]]) -> Iterator[Changed]:
    for key in shared:
        before, after = (run[key] for run in judged)
        if before.verdict != after.verdict:
            yield Changed(*key, before.verdict, after.verdict, after.detail)


def _settings(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    """What differs in what the runs were made with, name by name."""
    for name in SETTINGS:
        yield from _parting(name, first.get(name), second.get(name))


def _parting(name: str, first: Any, second: Any) -> Iterator[str]:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in sorted({*first, *second}):
            yield from _parting(f"{name}.{key}", first.get(key), second.get(key))
    elif isinstance(first, list) and isinstance(second, list):
        gone, new = [one for one in first if one not in second], [one for one in second if one not in first]
        if gone or new:
            alone = (
                f"{len(gone)} of {len(first)} in the first alone, {len(new)} of {len(second)} in the second"
            )
            yield f"{name}: {alone}"
    elif first != second:
        yield f"{name}: {_short(first)}, then {_short(second)}"


def _short(value: Any) -> str:
    text = "none" if value is None else one_line(str(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


# --- what is shown --------------------------------------------------------------------------------


def difference_table(found: Compared) -> list[list[str]]:
    """Differences as they are to be shown, heads first."""
    rows = [["System", "Metric", "Items", "First", "Second", "Difference", "Interval", "p (Holm)"]]
    for one in found.differences:
        spec = found.specs[one.metric]
        means = [number(value, spec) for value in (one.first, one.second, one.difference)]
        interval = NONE if one.low is None else f"{number(one.low, spec)} to {number(one.high, spec)}"
        p = NONE if one.p_holm is None else p_text(one.p_holm).removeprefix("p ").removeprefix("= ")
        rows.append([one.system or "all systems", spec.title, str(one.items), *means, interval, p])
    return rows


def coverage_table(found: Compared) -> list[list[str]]:
    """Coverage of the shared items by both runs, heads first."""
    rows = [["System", "Shared items", "Coverage of the first", "Of the second"]]
    for one in found.coverage:
        shares = [NONE if share is None else f"{share:.1%}" for share in (one.first, one.second)]
        rows.append([one.system or "all systems", str(one.items), *shares])
    return rows


def changed_table(found: Compared) -> list[list[str]]:
    """Items with another verdict, heads first."""
    rows = [["System", "Sample", "First", "Second", "Reason"]]
    return rows + [[one.system, one.sample_id, one.first, one.second, one.reason] for one in found.changed]


def heads(found: Compared) -> list[str]:
    """Which runs these are and how each is scored, in sentences that come before any number."""
    said = [
        f"{which}: {name}, heard by {ear}."
        for which, name, ear in zip(("First", "Second"), found.runs, found.heard_by, strict=True)
    ]
    if found.scored_alike:
        return said + ([f"Both have {ALIKE}."] if found.same_hearings else [])
    if found.same_hearings:
        return [*said, "The same hearings, scored in two ways: what differs comes of the scoring alone."]
    return [
        *said,
        "The runs are scored in two ways: what differs may come of the scoring, not of the hearing.",
    ]


def remarks(found: Compared) -> list[str]:
    """What else there is to say, in sentences."""
    said = [f"{len(found.changed)} of {found.shared} shared items have another verdict."]
    for which, only in (("first", found.only_first), ("second", found.only_second)):
        if only:
            named = ", ".join(f"{system} {sample}" for system, sample in only[:10])
            more = f" and {len(only) - 10} more" if len(only) > 10 else ""
            said.append(f"{len(only)} items are in the {which} run alone and were left out: {named}{more}.")
    said += found.notes
    for note in dict.fromkeys(one.note for one in found.differences if one.note):
        its = [one for one in found.differences if one.note == note]
        told = [f"{one.system or 'all systems'} ({found.specs[one.metric].title})" for one in its]
        said.append(f"{', '.join(told)}: {note}.")
    if found.settings:
        said.append("The runs differ in settings: what changed may come from any of them.")
    return said


def _write(
    folder: Path,
    found: Compared,
    shared: Sequence[Key],
    judged: Sequence[Mapping[Key, Judged]],
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = {"first": found.runs[0], "second": found.runs[1]}
    data = {name: value for name, value in asdict(found).items() if name not in ("specs", "runs")}
    with whole(folder / "compare.json") as part:
        write_json(part, {**names, **data})
    metrics = list(found.specs)
    with whole(folder / "compare.csv") as part, part.open("w", encoding="utf-8", newline="") as file:
        write = csv_rows(file)
        pairs = [f"{name}_{which}" for name in metrics for which in (1, 2)]
        write(["system", "sample_id", "verdict_1", "verdict_2", "changed", *pairs, "detail_1", "detail_2"])
        for key in shared:
            before, after = (run[key] for run in judged)
            changed = "true" if before.verdict != after.verdict else "false"
            values = (one.values.get(name) for name in metrics for one in (before, after))
            numbers = ("" if value is None else value for value in values)
            details = (safe(before.detail), safe(after.detail))
            write([*map(safe, key), before.verdict, after.verdict, changed, *numbers, *details])
    write_text(folder / "compare.md", _markdown(found))


def _markdown(found: Compared) -> str:
    lines = [f"Two runs of the {markdown_text(found.task)} task", ""]
    lines += [*(f"- {markdown_text(one)}" for one in heads(found)), ""]
    lines += [*_table(difference_table(found)), "", *_table(coverage_table(found)), ""]
    if found.distances:
        lines += ["Distances", "", *_table(compared_distances.table(found.distances)), ""]
    lines += [f"- {markdown_text(one)}" for one in remarks(found)]
    if found.changed:
        lines += ["", "Other verdicts", "", *_table(changed_table(found))]
    if found.settings:
        lines += ["", "Other settings", "", *(f"- {markdown_text(one)}" for one in found.settings)]
    return "\n".join(lines) + "\n"


def _table(rows: Iterable[Sequence[str]]) -> list[str]:
    heads, *rest = ["| " + " | ".join(map(markdown_text, row)) + " |" for row in rows]
    columns = heads.count(" | ")
    return [heads, "|:--" + "|--:" * columns + "|", *rest]
