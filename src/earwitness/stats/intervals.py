"""How sure a system's score is: intervals of the pooled mean of clustered items.

Conventions
-----------
The score is the mean over items, each item weighing the same. The interval is the percentile
bootstrap over whole clusters (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter
13; whole clusters: Davison and Hinkley, Bootstrap Methods and their Application, 1997, section 3.8).
When all clusters agree the bootstrap has no width and would claim certainty from three clips; the
Wilson score bound (Wilson, JASA 22, 1927) at the number of clusters is given instead. These are
sampling intervals: they say nothing about how often the listener itself is wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from earwitness.stats import resampling
from earwitness.stats.resampling import Floats

BOOTSTRAP, WILSON = "bootstrap", "wilson"


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a confidence interval and how it was made: ``bootstrap`` or ``wilson``."""

    low: float
    high: float
    method: str


def wilson(successes: float, n: int, level: float = 0.95) -> Interval:
    """The Wilson score interval of a rate.

    Args:
        successes: Number of successes in [0, n]; need not be whole.
        n: Number of independent trials, at least 1.
        level: Confidence level in (0, 1).

    Returns:
        Bounds in [0, 1] that contain ``successes / n``.

    Raises:
        ValueError: If an argument is out of range.
    """
    resampling.check_level(level, draws=1)
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"{successes!r} successes out of {n!r} make no rate")
    rate = successes / n
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = sqrt(z2 * (rate * (1 - rate) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return Interval(min(rate, max(0.0, centre - half)), max(rate, min(1.0, centre + half)), WILSON)


def pooled_mean(totals: Floats) -> Floats:
    """Sum of values over number of items, for totals of shape (..., 2)."""
    mean: Floats = totals[..., 0] / totals[..., 1]
    return mean


def cluster_interval(
    values: NDArray[np.float64],
    clusters: Sequence[str],
    *,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval | None:
    """The confidence interval of the mean of clustered items.

    Args:
        values: One value per scored item, shape (n,).
        clusters: The cluster of every item, n names; items of a cluster are drawn together.
        level: Confidence level in (0, 1).
        draws: Bootstrap samples.
        seed: The same seed gives the same interval, in whatever order the items come.
        bounds: Lowest and highest value the metric can take, needed when all clusters agree.

    Returns:
        An interval that contains the mean (it is widened to it should the percentiles miss it), or
        None with fewer than two clusters, since one cluster says nothing about spread. With a
        handful of clusters any percentile interval is too short; read it with their number.

    Raises:
        ValueError: If a value is not finite or outside ``bounds``, or an argument is out of range.
    """
    resampling.check_level(level, draws)
    resampling.check_bounds(values, bounds)
    totals = resampling.cluster_totals(values, clusters)
    if len(totals) < 2:
        return None
    kinds, counts = resampling.kinds_of(list(totals.values()))
    mean = float(pooled_mean(counts @ kinds))
    if resampling.all_agree(pooled_mean, kinds, counts):
        floor, span = bounds[0], bounds[1] - bounds[0]
        rate = min(1.0, max(0.0, (mean - floor) / span))
        bound = wilson(rate * len(totals), len(totals), level)
        return Interval(min(mean, floor + span * bound.low), max(mean, floor + span * bound.high), WILSON)
    drawn = resampling.resampled(pooled_mean, kinds, counts, draws, np.random.default_rng(seed))
    low, high = resampling.percentiles(drawn, level)
    return Interval(min(mean, low), max(mean, high), BOOTSTRAP)
