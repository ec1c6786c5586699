"""Items of a task -> systems, intervals, comparisons, notes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
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
    """What is kept of a system's items: numbers, a cluster and a name each, so that memory stays small."""

    def __init__(self, specs: Sequence[MetricSpec]) -> None:
        self.counts: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.items: list[tuple[str, str]] = []  # cluster and sample_id
        self.values: dict[str, list[float]] = {spec.name: [] for spec in specs}

    def add(self, row: ItemRow) -> None:
        self.counts[row.status] += 1
        if row.status == UNHEARD:
            self.reasons[row.reason] += 1
        elif row.status == SCORED:
            if row.error_kind:
                self.errors[row.error_kind] += 1
            self.items.append((row.cluster, row.sample_id))
            for name, series in self.values.items():
                value = row.values.get(name)
                series.append(np.nan if value is None else value)

    def series(self, name: str) -> tuple[np.ndarray, list[str]]:
        """The defined values of a metric and their clusters."""
        found = self.defined(name)
        return np.array(list(found.values()), dtype=np.float64), [cluster for cluster, _ in found]

    def defined(self, name: str) -> dict[tuple[str, str], float]:
        """The defined values of a metric by item."""
        values = zip(self.items, self.values[name], strict=True)
        return {item: value for item, value in values if not np.isnan(value)}


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
        notes=_notes(systems, measures, measured, manifest_notes, unclaimed),
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
        baseline=name in measures.baselines,
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
    """Every pair of systems, baselines left out, Holm-corrected over pairs and metrics."""
    specs = {spec.name: spec for spec in measures.specs}
    contestants = [name for name in tallies if name not in measures.baselines]
    found = []
    for metric in measures.compared or (measures.key,):
        values = {name: tallies[name].defined(metric) for name in contestants}
        found += [_pair(specs[metric], one, two, values, drawn) for one, two in combinations(contestants, 2)]
    corrected = iter(holm([pair.p for pair in found if pair.p is not None]))
    return tuple(
        pair if pair.p is None else _decided(pair, specs[pair.metric], next(corrected)) for pair in found
    )


def _pair(
    spec: MetricSpec,
    first: str,
    second: str,
    values: Mapping[str, Mapping[tuple[str, str], float]],
    drawn: _Drawn,
) -> Comparison:
    """Two systems on the items that both have a value for; p is not corrected yet.

    Were a system compared by all its own items, it would gain by leaving the hard ones unheard. An item is
    the same one if sample_id and cluster are: clips of different prompts may happen to be called alike.
    """
    shared = [item for item in values[first] if item in values[second]]
    clusters = [cluster for cluster, _ in shared]
    plain = Comparison(
        spec.name, first, second, len(set(clusters)), None, None, None, None, None, items=len(shared)
    )
    if plain.clusters < 2:
        if not shared:
            return replace(plain, note="no scored item is shared: the same sample_id of one prompt or source")
        return replace(plain, note=f"all shared items ({len(shared)}) lie in one cluster")
    one, two = (np.array([values[name][item] for item in shared]) for name in (first, second))
    result = paired_difference(one, clusters, two, clusters, bounds=spec.scale, **asdict(drawn))
    if result is None:
        return replace(plain, note="all shared clusters differ alike, on a scale without limits")
    return replace(plain, difference=result.difference, low=result.low, high=result.high, p=result.p)


def _decided(pair: Comparison, spec: MetricSpec, p_holm: float) -> Comparison:
    """A tested pair with its corrected p and the winner, if there is one."""
    winner = ""
    if spec.better and p_holm < ALPHA and ((pair.low or 0) > 0 or (pair.high or 0) < 0):
        winner = pair.first if (pair.difference or 0) * spec.better > 0 else pair.second
    return replace(pair, p_holm=p_holm, winner=winner)


def _notes(
    systems: Sequence[SystemRow],
    measures: Measures,
    measured: str,
    manifest_notes: Sequence[str],
    unclaimed: bool,
) -> tuple[str, ...]:
    notes = list(manifest_notes)
    notes += [
        f"{row.system} is a baseline: it {measures.baselines[row.system]}." for row in systems if row.baseline
    ]
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
    unstated = [row.system for row in systems if not row.scored and row.n == row.not_applicable]
    unheard = [
        f"{row.system} ({_reasons(row)})" for row in systems if not row.scored and row.n > row.not_applicable
    ]
    partly = [
        f"{row.system} {row.coverage:.1%} ({_reasons(row)})"
        for row in systems
        if row.scored and row.coverage is not None and row.coverage < LOW_COVERAGE
    ]
    if unstated:
        notes.append(f"Unscored, because no item is applicable: {', '.join(unstated)}.")
    if unheard:
        notes.append(f"Unscored, because every applicable item was unheard: {'; '.join(unheard)}.")
    if partly:
        notes.append(f"Only part of the applicable items were scored: {'; '.join(partly)}.")
    return (*notes, *measures.remarks(systems))


def _reasons(row: SystemRow) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in row.unheard_reasons.items())
