"""How sure a score is, and which of two systems is better.

Conventions
-----------
A score is the mean over items, each item weighing the same. Its interval is the percentile
bootstrap over whole clusters (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter
13; whole clusters: Davison and Hinkley, Bootstrap Methods and their Application, 1997, section 3.8).
When all clusters agree the bootstrap has no width and would claim certainty from three clips; the
Wilson score bound (Wilson, JASA 22, 1927) at the number of clusters is given instead. These are
sampling intervals: they say nothing about how often the listener itself is wrong.

Two systems are compared on the clusters both have values in, and on nothing else; that the items
in them are the same ones is the caller's to see to. The difference is the first system's pooled mean
minus the second's, over all items of those clusters; its interval draws the same clusters for both.
The test asks how often a difference as large, in either direction, appears when in every cluster the
two systems' names are swapped or not by a fair coin (Fisher's randomisation test for pairs). For
right-or-wrong items in clusters of one this is McNemar's exact test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from earwitness.stats import resampling
from earwitness.stats.resampling import TOLERANCE, Floats

BOOTSTRAP, WILSON = "bootstrap", "wilson"

ENUMERATED = 2**15
"""Up to this many distinct outcomes the permutation test is exact."""
FEW = 0.01
"""Largest share of draws without a number that may be left out of an interval."""


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
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> Interval | None:
    """The confidence interval of the mean of clustered items.

    Args:
        values: One value per scored item, shape (n,).
        clusters: The cluster of every item, n names; items of a cluster are drawn together.
        level: Confidence level in (0, 1).
        draws: Bootstrap samples.
        seed: The same seed gives the same interval, in whatever order the items come.
        bounds: Lowest and highest value the metric can take, None if it has no limit; used when all
            clusters agree.

    Returns:
        An interval that contains the mean (it is widened to it should the percentiles miss it), or
        None with fewer than two clusters, since one cluster says nothing about spread, and when all
        clusters agree and ``bounds`` is None or does not hold the values. With a handful of clusters any
        percentile interval is too short; read it with their number.

    Raises:
        ValueError: If a value is not finite or an argument is out of range.
    """
    resampling.check_level(level, draws)
    totals = resampling.cluster_totals(values, clusters)
    if len(totals) < 2:
        return None
    kinds, counts = resampling.kinds_of(list(totals.values()))
    mean = float(pooled_mean(counts @ kinds))
    if resampling.all_agree(pooled_mean, kinds, counts):
        if bounds is None or not resampling.within(values, bounds):
            return None
        return scaled_wilson(mean, len(totals), bounds, level)
    drawn = resampling.resampled(pooled_mean, kinds, counts, draws, np.random.default_rng(seed))
    low, high = resampling.percentiles(drawn, level)
    return Interval(min(mean, low), max(mean, high), BOOTSTRAP)


def scaled_wilson(mean: float, clusters: int, bounds: tuple[float, float], level: float = 0.95) -> Interval:
    """The Wilson score interval of a mean on any scale, as if every cluster stood at an end of it.

    Args:
        mean: Of the clusters, within ``bounds``.
        clusters: How many there are, at least 1.
        bounds: Lowest and highest value the metric can take.
    """
    floor, span = bounds[0], bounds[1] - bounds[0]
    rate = (mean - floor) / span
    bound = wilson(min(1.0, max(0.0, rate)) * clusters, clusters, level)
    return Interval(min(mean, floor + span * bound.low), max(mean, floor + span * bound.high), WILSON)


@dataclass(frozen=True, slots=True)
class Paired:
    """Two systems on shared clusters: the first's mean minus the second's, interval and two-sided p."""

    clusters: int
    difference: float
    low: float
    high: float
    p: float


def difference_of_means(totals: Floats) -> Floats:
    """First pooled mean minus second, for totals (..., 4): sum and items of the first, of the second."""
    difference: Floats = totals[..., 0] / totals[..., 1] - totals[..., 2] / totals[..., 3]
    return difference


def paired_difference(
    a_values: NDArray[np.float64],
    a_clusters: Sequence[str],
    b_values: NDArray[np.float64],
    b_clusters: Sequence[str],
    *,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> Paired | None:
    """Compare two systems on the clusters they share.

    When all clusters show the same difference d, the bootstrap interval would have no width. Then
    the Wilson bound u on the share of clusters that could differ from the ones seen is taken (none
    of k did), and such clusters could show any difference the scale allows: the interval is
    ``(1 - u) d - u span`` to ``(1 - u) d + u span``. With d = 1 on two or three clusters it covers
    zero, so that they name no winner; nor does their p, 0.5 or 0.25.

    Args:
        a_values, b_values: One value per scored item of each system, shapes (n,) and (m,).
        a_clusters, b_clusters: The clusters of those items.
        level: Confidence level of the interval, in (0, 1).
        draws: Bootstrap samples, and random permutations where there are too many to enumerate.
        seed: The same seed gives the same numbers, in whatever order the items come.
        bounds: Lowest and highest value the metric can take, None if it has no limit; used when all
            clusters agree.

    Returns:
        None with fewer than two shared clusters, and when all agree and
        ``bounds`` is None or does not hold the values. ``p`` is exact up to :data:`ENUMERATED` distinct
        outcomes, else (1 + hits) / (1 + draws) (Phipson and Smyth, 2010), never zero.

    Raises:
        ValueError: If a value is not finite or an argument is out of range.
    """
    resampling.check_level(level, draws)
    a_totals = resampling.cluster_totals(a_values, a_clusters)
    b_totals = resampling.cluster_totals(b_values, b_clusters)
    shared = [name for name in a_totals if name in b_totals]
    if len(shared) < 2:
        return None
    kinds, counts = resampling.kinds_of([a_totals[name] + b_totals[name] for name in shared])
    rng = np.random.default_rng(seed)
    span = span_of(bounds, a_values, b_values)
    interval = difference_interval(kinds, counts, level, draws, rng, span)
    if interval is None:
        return None
    p = swap_test(kinds, counts, draws, rng)
    return Paired(len(shared), float(difference_of_means(counts @ kinds)), *interval, p)


def span_of(bounds: tuple[float, float] | None, *values: NDArray[np.float64]) -> float | None:
    """Length of the scale; None if it has no limits or does not hold the values."""
    if bounds is None or not all(resampling.within(each, bounds) for each in values):
        return None
    return bounds[1] - bounds[0]


def difference_interval(
    kinds: Floats,
    counts: NDArray[np.int64],
    level: float,
    draws: int,
    rng: np.random.Generator,
    span: float | None,
) -> tuple[float, float] | None:
    """Low and high of the difference of two systems, which they contain; see :func:`paired_difference`.

    A draw in which a system has no items has no difference; such draws are left out if they are few, else
    there is no interval.

    Args:
        kinds, counts: Totals (kinds, 4) as :func:`difference_of_means` takes them, of at least two clusters.
        span: Length of the metric's scale, used when all clusters agree; if it is None, there is no interval.
    """
    difference = float(difference_of_means(counts @ kinds))
    if resampling.all_agree(difference_of_means, kinds, counts):
        if span is None:
            return None
        return agreeing(difference, int(counts.sum()), span, level)
    statistic, sizes = difference_of_means, kinds[:, [1, 3]]
    if (sizes == sizes[0]).all():  # the mean of the clusters' own differences: half the work
        own = kinds[:, 0] / kinds[:, 1] - kinds[:, 2] / kinds[:, 3]
        statistic, kinds = pooled_mean, np.stack([own, np.ones_like(own)], axis=1)
    drawn = resampling.resampled(statistic, kinds, counts, draws, rng)
    defined = drawn[np.isfinite(drawn)]
    if len(defined) < (1 - FEW) * draws:
        return None
    low, high = resampling.percentiles(defined, level)
    return min(difference, low), max(difference, high)


def agreeing(difference: float, clusters: int, span: float, level: float = 0.95) -> tuple[float, float]:
    """Low and high of a difference that all clusters show alike; see :func:`paired_difference`.

    Args:
        clusters: How many there are, at least 1. With one, zero lies within, whatever the difference.
        span: Length of the metric's scale.
    """
    unlike = wilson(0, clusters, level).high
    middle, reach = (1 - unlike) * difference, unlike * span
    return min(difference, middle - reach), max(difference, middle + reach)


def swap_test(kinds: Floats, counts: NDArray[np.int64], draws: int, rng: np.random.Generator) -> float:
    """Two-sided p of the difference when each cluster's two systems are swapped with probability 1/2.

    A swap moves ``step`` = second - first (sum, items) to the first system. Swapping with step -s is
    not swapping with step s, up to where one starts, so kinds with opposite steps are one kind.
    """
    total = counts @ kinds
    steps = kinds[:, 2:] - kinds[:, :2]
    leading = np.where(steps[:, 0] != 0, steps[:, 0], steps[:, 1])
    start = total[:2] + (counts * (leading < 0)) @ steps
    both = total[:2] + total[2:]
    moving = leading != 0
    if not moving.any():
        return 1.0
    sizes, index = np.unique(steps[moving] * np.sign(leading[moving])[:, None], axis=0, return_inverse=True)
    trials = np.bincount(index.ravel(), weights=counts[moving], minlength=len(sizes)).astype(np.int64)

    def difference(swapped: NDArray[np.int64]) -> Floats:
        first = start + swapped @ sizes
        return difference_of_means(np.concatenate([first, both - first], axis=-1))

    least = abs(float(difference_of_means(total))) - TOLERANCE
    if prod(int(n) + 1 for n in trials) <= ENUMERATED:
        outcomes = np.indices(tuple(trials + 1)).reshape(len(trials), -1).T
        ways = gammaln(trials + 1) - gammaln(outcomes + 1) - gammaln(trials - outcomes + 1)  # logarithms
        chance = np.exp((ways - trials * log(2)).sum(axis=1))
        return min(1.0, float(chance[~(np.abs(difference(outcomes)) < least)].sum()))  # none counts as large
    block = max(1, resampling.BLOCK // len(trials))
    hits = 0
    for begin in range(0, draws, block):
        swapped = rng.binomial(trials, 0.5, size=(min(block, draws - begin), len(trials)))
        hits += int((~(np.abs(difference(swapped)) < least)).sum())
    return (1 + hits) / (1 + draws)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment of p values (Holm, Scand. J. Statistics 6, 1979), in the given order.

    Raises:
        ValueError: If a p value lies outside [0, 1]; its index is named.
    """
    for index, p in enumerate(ps):
        if not 0 <= p <= 1:
            raise ValueError(f"p value {index} is {p!r}, outside 0 to 1")
    adjusted = [0.0] * len(ps)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = largest
    return adjusted
