"""Two runs of one task side by side: on the clips both judged, what did the second change?

Conventions
-----------
Items are matched by system and sample_id. A difference is the second run's mean less the first's, over the
items that both scored; intervals and tests are those of :mod:`earwitness.stats.intervals`, paired by
cluster, and p values are Holm-corrected over everything tested. A metric is compared if both runs measure it
on the same scale.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.errors import UserError
from earwitness.report import agreement, build
from earwitness.report.cells import csv_rows, one_line, safe
from earwitness.report.files import whole, write_text
from earwitness.report.tables import NONE, markdown_text, number, p_text, write_json
from earwitness.stats.intervals import holm, paired_difference
from earwitness.tasks.rows import NOT_APPLICABLE, SCORED, ItemRow, MetricSpec

OVERALL = ""
"""Stands for all systems together."""
SETTINGS = ("listener", "repeats", "ask", "swap", "unclaimed", "seed", "questions", "prompts",
            "generator_encoder", "versions", "started")  # fmt: skip

Key = tuple[str, str]
"""System and sample_id of an item."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of one system (or :data:`OVERALL`): both means, second less first, and how sure that is.

    Attributes:
        items: Number of items that both runs have a value for; the means are over these.
        note: Why there is no interval; empty if there is one.
    """

    system: str
    metric: str
    items: int
    first: float | None
    second: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    note: str = ""


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
        shared: Number of shared items.
        only_first, only_second: Items of one run alone, as (system, sample_id).
        settings: What differs in settings, in words.
        notes: What could not be compared.
    """

    task: str
    shared: int
    only_first: tuple[Key, ...]
    only_second: tuple[Key, ...]
    coverage: tuple[Covered, ...]
    differences: tuple[Difference, ...]
    changed: tuple[Changed, ...]
    settings: tuple[str, ...]
    notes: tuple[str, ...]
    specs: Mapping[str, MetricSpec]


@dataclass(frozen=True, slots=True)
class _Judged:
    """What is kept of an item of one run."""

    status: str
    verdict: str
    detail: str
    cluster: str
    values: Mapping[str, float | None]


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

    Raises:
        UserError: If a folder holds no run, the tasks differ, or no item is shared.
    """
    options = options or build.Options()
    folders = (Path(first), Path(second))
    runs, judged = [], []
    for folder in folders:
        agreement.check_single(folder)
        with build.open_run(folder) as ledger:
            run = build.of_ledger(ledger, options.unclaimed, options.scoring)
            runs.append(run)
            judged.append({(row.system, row.sample_id): _kept(row) for row in run.rows()})
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
    found = Compared(
        task=tasks[0],
        shared=len(shared),
        only_first=tuple(key for key in judged[0] if key not in judged[1]),
        only_second=tuple(key for key in judged[1] if key not in judged[0]),
        coverage=tuple(_coverage(shared, judged)),
        differences=tuple(_differences(shared, judged, specs, options, runs[0].meta["seed"])),
        changed=tuple(_changed(shared, judged)),
        settings=tuple(_settings(runs[0].meta, runs[1].meta)),
        notes=tuple(notes),
        specs={spec.name: spec for spec in specs},
    )
    if out is not None:
        _write(Path(out), found, folders, shared, judged)
    return found


def _kept(row: ItemRow) -> _Judged:
    return _Judged(row.status, row.verdict, row.detail or row.reason, row.cluster, row.values)


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


def _by_system(shared: Sequence[Key]) -> dict[str, list[Key]]:
    """All items together, then those of every system; a single system is all there is."""
    systems: dict[str, list[Key]] = {}
    for key in shared:
        systems.setdefault(key[0], []).append(key)
    return {OVERALL: list(shared), **systems} if len(systems) > 1 else systems


def _coverage(shared: Sequence[Key], judged: Sequence[Mapping[Key, _Judged]]) -> Iterator[Covered]:
    for system, keys in _by_system(shared).items():
        shares: list[float | None] = []
        for run in judged:
            asked = [run[key].status for key in keys if run[key].status != NOT_APPLICABLE]
            shares.append(asked.count(SCORED) / len(asked) if asked else None)
        yield Covered(system, len(keys), *shares)


def _differences(
    shared: Sequence[Key],
    judged: Sequence[Mapping[Key, _Judged]],
    specs: Sequence[MetricSpec],
    options: build.Options,
    seed: int,
) -> list[Difference]:
    found: list[Difference] = []
    for system, keys in _by_system(shared).items():
        for spec in specs:
            pairs: list[tuple[float, float, str]] = []
            for key in keys:
                before, after = (run[key].values.get(spec.name) for run in judged)
                if before is not None and after is not None:
                    pairs.append((before, after, judged[0][key].cluster))
            found.append(_difference(system, spec, pairs, options, seed))
    corrected = iter(holm([one.p for one in found if one.p is not None]))
    return [one if one.p is None else replace(one, p_holm=next(corrected)) for one in found]


def _difference(
    system: str,
    spec: MetricSpec,
    pairs: Sequence[tuple[float, float, str]],
    options: build.Options,
    seed: int,
) -> Difference:
    """One metric's difference over (value of the first run, of the second, cluster); p not yet corrected."""
    if not pairs:
        nothing = "no item is scored by both"
        return Difference(system, spec.name, 0, None, None, None, None, None, None, None, nothing)
    before, after = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    clusters = [cluster for *_, cluster in pairs]
    result = paired_difference(
        after,
        clusters,
        before,
        clusters,
        level=options.level,
        draws=max(1, options.draws),
        seed=seed,
        bounds=spec.scale,
    )
    means = float(before.mean()), float(after.mean())
    plain = Difference(system, spec.name, len(pairs), *means, means[1] - means[0], None, None, None, None)
    if result is None:
        return replace(plain, note="fewer than two clusters, or all alike on a scale without limits")
    return replace(plain, low=result.low, high=result.high, p=result.p)


def _changed(shared: Sequence[Key], judged: Sequence[Mapping[Key, _Judged]]) -> Iterator[Changed]:
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


def remarks(found: Compared) -> list[str]:
    """What else there is to say, in sentences."""
    said = [f"{len(found.changed)} of {found.shared} shared items have another verdict."]
    for which, only in (("first", found.only_first), ("second", found.only_second)):
        if only:
            named = ", ".join(f"{system} {sample}" for system, sample in only[:10])
            more = f" and {len(only) - 10} more" if len(only) > 10 else ""
            said.append(f"{len(only)} items are in the {which} run alone and were left out: {named}{more}.")
    said += found.notes
    if found.settings:
        said.append("The runs differ in settings: what changed may come from any of them.")
    return said


def _write(
    folder: Path,
    found: Compared,
    runs: Sequence[Path],
    shared: Sequence[Key],
    judged: Sequence[Mapping[Key, _Judged]],
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = {"first": runs[0].name, "second": runs[1].name}
    data = {name: value for name, value in asdict(found).items() if name != "specs"}
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
    write_text(folder / "compare.md", _markdown(found, names))


def _markdown(found: Compared, names: Mapping[str, str]) -> str:
    first, second = (markdown_text(name) for name in names.values())
    lines = [f"Two runs of the {markdown_text(found.task)} task: {first} (first) and {second} (second)", ""]
    lines += [*_table(difference_table(found)), "", *_table(coverage_table(found)), ""]
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
