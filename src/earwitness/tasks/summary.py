"""Items of the order task -> systems, intervals, comparisons, notes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations

import numpy as np

from earwitness.scores.order import KINDS
from earwitness.stats.intervals import cluster_interval, holm, paired_difference
from earwitness.tasks.rows import (
    LOW_COVERAGE,
    NOT_APPLICABLE,
    SCORED,
    UNHEARD,
    Comparison,
    ItemRow,
    Metric,
    MetricSpec,
    Summary,
    SystemRow,
)

ALPHA = 0.05
"""A winner is named only when the corrected p lies below this and the paired interval excludes zero."""

SPECS = (
    MetricSpec("toa", "TOA", "order right and alignment above the reversal's"),
    MetricSpec("order_given_heard", "Order | heard", "order right among items whose events were all heard"),
    MetricSpec("temporal_order_match", "Order match", "mean of 1 right, 0.5 wrong or unclear, 0 missing"),
    MetricSpec("alignment", "Alignment", "mean alignment with the caption"),
    MetricSpec("alignment_win", "Al. win", "alignment above the reversal's"),
    MetricSpec("alignment_tie", "Al. tie", "alignment equal to the reversal's", better=0),
    MetricSpec("alignment_loss", "Al. loss", "alignment below the reversal's", better=-1),
    MetricSpec("order_win", "Order win", "order right on the caption, not on its reversal"),
    MetricSpec("order_tie", "Order tie", "order right on both or neither", better=0),
    MetricSpec("order_loss", "Order loss", "order right on the reversal, not on the caption", better=-1),
    MetricSpec("event_recall", "Recall", "share of asked events that are heard"),
    MetricSpec("event_precision", "Precision", "share of heard events that are asked for"),
    MetricSpec("toa_lenient", "TOA (lenient)", "TOA where a wider label may stand in for an event"),
)
BOUNDED = frozenset({"toa", "toa_lenient", "alignment_win", "alignment_loss", "order_win", "order_loss"})
"""Metrics of 0 or 1 an item, for which "every unheard item wrong, or right" has a meaning."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """How intervals are drawn."""

    level: float
    draws: int
    seed: int


@dataclass(slots=True)
class _Tally:
    """What is kept of a system's items: a number and a cluster each, so that memory stays small."""

    counts: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    clusters: list[str] = field(default_factory=list)
    values: dict[str, list[float]] = field(default_factory=lambda: {spec.name: [] for spec in SPECS})

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
    *,
    listener: str,
    measured: str = "",
    manifest_notes: Sequence[str] = (),
    unclaimed: bool = False,
    seed: int = 0,
    level: float = 0.95,
    draws: int = 10_000,
    alignment_scale: tuple[float, float] = (0.0, 1.0),
) -> Summary:
    """Systems with intervals, paired comparisons and notes.

    Args:
        items: Scored rows, drawn once.
        measured: The listener's own accuracy on known truth, in words; empty if not measured.
        unclaimed: Whether phrases outside the labels the listener claims to know were judged too.
        seed: Of the bootstrap and the permutation test.
        level: Confidence level of every interval.
        draws: Bootstrap draws.
        alignment_scale: 0 to 1 for a detector's shares, 1 to 5 for a judge's marks.
    """
    drawn = _Drawn(level, draws, seed)
    tallies: dict[str, _Tally] = {}
    for row in items:
        tallies.setdefault(row.system, _Tally()).add(row)
    systems = tuple(_system(name, tally, drawn, alignment_scale) for name, tally in tallies.items())
    comparisons = _compare(tallies, drawn)
    return Summary(
        task="order",
        listener=listener,
        key_metric="toa",
        specs=SPECS,
        rows=systems,
        comparisons=comparisons,
        notes=_notes(systems, measured, manifest_notes, unclaimed),
    )


def _system(name: str, tally: _Tally, drawn: _Drawn, alignment_scale: tuple[float, float]) -> SystemRow:
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
        metrics={
            spec.name: _metric(
                spec, tally, alignment_scale if spec.name == "alignment" else (0.0, 1.0), drawn
            )
            for spec in SPECS
        },
        errors={kind: tally.errors[kind] for kind in KINDS},
        unheard_reasons=dict(sorted(tally.reasons.items())),
    )


def _metric(spec: MetricSpec, tally: _Tally, bounds: tuple[float, float], drawn: _Drawn) -> Metric:
    values, clusters = tally.series(spec.name)
    unheard, scored = tally.counts[UNHEARD], tally.counts[SCORED]
    worst = best = None
    if spec.name in BOUNDED and len(values) == scored and scored + unheard:
        least, most = float(values.sum()) / (scored + unheard), (values.sum() + unheard) / (scored + unheard)
        worst, best = (least, float(most)) if spec.better > 0 else (float(most), least)
    if not len(values):
        return Metric(None, worst=worst, best=best)
    interval = cluster_interval(values, clusters, bounds=bounds, **asdict(drawn))
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Metric(float(values.mean()), low, high, worst, best, len(values))


def _compare(tallies: Mapping[str, _Tally], drawn: _Drawn) -> tuple[Comparison, ...]:
    """Every pair of systems on the clusters they share, Holm-corrected over the pairs."""
    pairs = list(combinations(tallies, 2))
    results = []
    for first, second in pairs:
        a, b = tallies[first].series("toa"), tallies[second].series("toa")
        results.append(paired_difference(*a, *b, **asdict(drawn)))
    tested = [result.p for result in results if result is not None]
    corrected = iter(holm(tested))
    comparisons = []
    for (first, second), result in zip(pairs, results, strict=True):
        if result is None:
            note = "fewer than two shared clusters were scored for both"
            comparisons.append(Comparison(first, second, 0, None, None, None, None, None, note=note))
            continue
        p_holm = next(corrected)
        winner = ""
        if p_holm < ALPHA and (result.low > 0 or result.high < 0):
            winner = first if result.difference > 0 else second
        comparisons.append(
            Comparison(
                first, second, result.clusters, result.difference, result.low, result.high, result.p, p_holm,
                winner,
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
        notes.append(
            "The intervals show sampling alone; this listener's own order accuracy has not been measured."
        )
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
        notes.append(f"Unscored, because no item states an order: {', '.join(unstated)}.")
    if unheard:
        notes.append(f"Unscored, because every item that states an order was unheard: {', '.join(unheard)}.")
    if partly:
        notes.append(f"Only part of the applicable items were scored: {'; '.join(partly)}.")
    return tuple(notes)


def _reasons(row: SystemRow) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in row.unheard_reasons.items())
