"""Items of a task -> systems, intervals, comparisons, notes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from earwitness.stats.intervals import cluster_interval, holm, paired_difference
from earwitness.tasks.rows import (
    LOW_COVERAGE,
    NOT_APPLICABLE,
    SCORED,
    UNHEARD,
    Comparison,
    ItemRow,
    Measures,
    Metric,
    MetricSpec,
    Summary,
    SystemRow,
)

ALPHA = 0.05
"""A winner is named only when the corrected p lies below this and the paired interval excludes zero."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """How intervals are drawn."""

    level: float
    draws: int
    seed: int


class _Tally:
    """What is kept of a system's items: a number and a cluster each, so that memory stays small."""

    def __init__(self, specs: Sequence[MetricSpec]) -> None:
        self.counts: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.clusters: list[str] = []
        self.values: dict[str, list[float]] = {spec.name: [] for spec in specs}

    def add(self, row: ItemRow) -> None:
        self.counts[row.status] += 1
        if row.status == UNHEARD:
            self.reasons[row.reason] += 1
        elif row.status == SCORED:
            if row.error_kind:
                self.errors[row.error_kind] += 1
            self.clusters.append(row.cluster)
            for name, series in self.values.items():
                value = row.values.get(name)
                series.append(np.nan if value is None else value)

    def series(self, name: str) -> tuple[np.ndarray, list[str]]:
        """The defined values of a metric and their clusters."""
        values = np.asarray(self.values[name], dtype=np.float64)
        defined = ~np.isnan(values)
        return values[defined], [c for c, ok in zip(self.clusters, defined, strict=True) if ok]


def summarise(
    items: Iterable[ItemRow],
    measures: Measures,
    *,
    task: str,
    listener: str,
    measured: str = "",
    manifest_notes: Sequence[str] = (),
    unclaimed: bool = False,
    seed: int = 0,
    level: float = 0.95,
    draws: int = 10_000,
) -> Summary:
    """Systems with intervals, paired comparisons and notes.

    Args:
        items: Scored rows, drawn once.
        task: Name of the task.
        measured: The listener's own accuracy on known truth, in words; empty if not measured.
        unclaimed: Whether phrases outside the labels the listener claims to know were judged too.
        seed: Of the bootstrap and the permutation test.
        level: Confidence level of every interval.
        draws: Bootstrap draws.
    """
    drawn = _Drawn(level, draws, seed)
    tallies: dict[str, _Tally] = {}
    for row in items:
        tallies.setdefault(row.system, _Tally(measures.specs)).add(row)
    systems = tuple(_system(name, tally, measures, drawn) for name, tally in tallies.items())
    comparisons = _compare(tallies, measures, drawn)
    return Summary(
        task=task,
        listener=listener,
        measures=measures,
        rows=systems,
        comparisons=comparisons,
        notes=(*_notes(systems, measured, manifest_notes, unclaimed), *measures.remarks(systems)),
    )


def _system(name: str, tally: _Tally, measures: Measures, drawn: _Drawn) -> SystemRow:
    counts = tally.counts
    n = sum(counts.values())
    applicable = n - counts[NOT_APPLICABLE]
    return SystemRow(
        system=name,
        n=n,
        not_applicable=counts[NOT_APPLICABLE],
        unheard=counts[UNHEARD],
        scored=counts[SCORED],
        coverage=counts[SCORED] / applicable if applicable else None,
        metrics={spec.name: _metric(spec, tally, drawn) for spec in measures.specs},
        errors={kind: tally.errors[kind] for kind in measures.kinds},
        unheard_reasons=dict(sorted(tally.reasons.items())),
    )


def _metric(spec: MetricSpec, tally: _Tally, drawn: _Drawn) -> Metric:
    values, clusters = tally.series(spec.name)
    unheard, scored = tally.counts[UNHEARD], tally.counts[SCORED]
    worst = best = None
    if spec.rate and len(values) == scored and scored + unheard:
        least, most = float(values.sum()) / (scored + unheard), (values.sum() + unheard) / (scored + unheard)
        worst, best = (least, float(most)) if spec.better > 0 else (float(most), least)
    if not len(values):
        return Metric(None, worst=worst, best=best)
    interval = cluster_interval(values, clusters, bounds=spec.scale, **asdict(drawn))
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Metric(float(values.mean()), low, high, worst, best, len(values))


def _compare(tallies: Mapping[str, _Tally], measures: Measures, drawn: _Drawn) -> tuple[Comparison, ...]:
    """Every pair of systems on the clusters they share, Holm-corrected over pairs and metrics."""
    specs = {spec.name: spec for spec in measures.specs}
    tests = [
        (specs[metric], first, second)
        for metric in measures.compared or (measures.key,)
        for first, second in combinations(tallies, 2)
    ]
    results = []
    for spec, first, second in tests:
        a, b = tallies[first].series(spec.name), tallies[second].series(spec.name)
        results.append(paired_difference(*a, *b, bounds=spec.scale, **asdict(drawn)))
    tested = [result.p for result in results if result is not None]
    corrected = iter(holm(tested))
    comparisons = []
    for (spec, first, second), result in zip(tests, results, strict=True):
        if result is None:
            note = "fewer than two shared clusters were scored for both"
            comparisons.append(
                Comparison(spec.name, first, second, 0, None, None, None, None, None, note=note)
            )
            continue
        p_holm = next(corrected)
        winner = ""
        if spec.better and p_holm < ALPHA and (result.low > 0 or result.high < 0):
            winner = first if result.difference * spec.better > 0 else second
        comparisons.append(
            Comparison(
                spec.name, first, second, result.clusters, result.difference, result.low, result.high,
                result.p, p_holm, winner,
            )
        )  # fmt: skip
    return tuple(comparisons)


def _notes(
    systems: Sequence[SystemRow], measured: str, manifest_notes: Sequence[str], unclaimed: bool
) -> tuple[str, ...]:
    notes = list(manifest_notes)
    if unclaimed:
        notes.append(
            "Exploratory: phrases outside the labels the listener claims to know were judged too, and its "
            "error on them is unknown. Listen before believing."
        )
    if measured:
        notes.append(
            "The listener's own error is not in the intervals, which show sampling alone. "
            f"Measured: {measured}"
        )
    else:
        notes.append("The intervals show sampling alone; this listener's own accuracy has not been measured.")
    if systems and not any(row.scored for row in systems) and any(row.unheard for row in systems):
        notes.append(
            "Nothing could be scored. `earwitness prompts check` says which captions the listener can judge; "
            "--unclaimed judges the others too."
        )
    unstated = [row.system for row in systems if not row.scored and row.n == row.not_applicable]
    unheard = [row.system for row in systems if not row.scored and row.n > row.not_applicable]
    partly = [
        f"{row.system} {row.coverage:.1%} ({_reasons(row)})"
        for row in systems
        if row.scored and row.coverage is not None and row.coverage < LOW_COVERAGE
    ]
    if unstated:
        notes.append(f"Unscored, because no item is applicable: {', '.join(unstated)}.")
    if unheard:
        notes.append(f"Unscored, because every applicable item was unheard: {', '.join(unheard)}.")
    if partly:
        notes.append(f"Only part of the applicable items were scored: {'; '.join(partly)}.")
    return tuple(notes)


def _reasons(row: SystemRow) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in row.unheard_reasons.items())
