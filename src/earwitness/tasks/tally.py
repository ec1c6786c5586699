"""What is kept of a system's items, and the metrics that come of it, by stratum."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean

import numpy as np

from earwitness.stats import strata
from earwitness.stats.intervals import cluster_interval
from earwitness.tasks.rows import SCORED, UNHEARD, ItemRow, Metric, MetricSpec

WHOLE = ""
"""The one stratum of a task that has none."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """How intervals are drawn."""

    level: float
    draws: int
    seed: int


class Tally:
    """A system's items of one stratum: numbers, a cluster and a name each, so that memory stays small."""

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

    def defined(self, name: str) -> dict[tuple[str, str], float]:
        """The defined values of a metric by cluster and sample_id."""
        values = zip(self.items, self.values[name], strict=True)
        return {item: value for item, value in values if not np.isnan(value)}

    def metric(self, spec: MetricSpec, drawn: Drawn | None) -> Metric:
        """The mean over the stratum's items with its interval; no draws where chance has no part in it."""
        found = self.defined(spec.name)
        values, clusters = np.array(list(found.values())), [cluster for cluster, _ in found]
        unheard, scored = self.counts[UNHEARD], self.counts[SCORED]
        worst = best = None
        if spec.rate and len(values) == scored and scored + unheard:
            least, most = (float(values.sum() + right) / (scored + unheard) for right in (0, unheard))
            worst, best = (least, most) if spec.better > 0 else (most, least)
        if not len(values):
            return Metric(None, worst=worst, best=best)
        known = Metric(float(values.mean()), None, None, worst, best, len(values))
        if drawn is None:
            return known
        if len(set(clusters)) == 1:
            return replace(known, lone=True)
        interval = cluster_interval(values, clusters, bounds=spec.scale, **asdict(drawn))
        return replace(known, low=interval.low, high=interval.high) if interval else known


def joined(parts: Sequence[Metric], spec: MetricSpec, level: float) -> Metric:
    """The mean over strata of their means; those without a value are left out.

    ``worst`` and ``best`` are means over all strata in which anything is applicable, also those where all is
    unheard; None if one of these lacks them. What strata of one cluster bring to the interval:
    :mod:`earwitness.stats.strata`.
    """
    known = [part for part in parts if part.value is not None]
    told = [part for part in parts if part.value is not None or part.worst is not None]
    worst, best = (_mean([getattr(part, name) for part in told]) for name in ("worst", "best"))
    if not known:
        return Metric(None, worst=worst, best=best)
    means, alone = (
        [part.value for part in known if part.value is not None and part.lone == lone]
        for lone in (False, True)
    )
    bounds = [
        (part.low, part.high) if part.low is not None and part.high is not None else None
        for part in known
        if not part.lone
    ]
    low, high = strata.joined(means, bounds, alone, scale=spec.scale, level=level) or (None, None)
    return Metric(fmean([*means, *alone]), low, high, worst, best, sum(part.n for part in known))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None
