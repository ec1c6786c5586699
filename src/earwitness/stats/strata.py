"""How sure a mean over strata is: kinds of items that weigh the same, however many items each has.

Conventions
-----------
The figure is the mean of the strata's means (a macro mean); clusters never cross strata. Its interval joins
the strata's own intervals, whose clusters were drawn within each (:mod:`.intervals`), by adding the squares
of their arms: with S strata of means m and intervals l to u,

    low = mean(m) - sqrt(sum((m - l)^2)) / S,    high = mean(m) + sqrt(sum((u - m)^2)) / S

(Zou, Huang and Zhang, A note on confidence interval estimation for a linear function of binomial
proportions, Computational Statistics & Data Analysis 53, 2009; arms may be unequal). With one stratum it is
that stratum's interval. A stratum whose clusters all agree brings the Wilson bound at its own number of
clusters, so that agreement is never taken for certainty: S strata of k unanimous clusters get an arm that is
sqrt(S) shorter than that of k clusters, which is longer than that of the S k clusters that were seen.

One cluster says nothing about spread, so that a stratum of one has no interval of its own. Beside other
strata, all those of one cluster are collapsed into one (Cochran, Sampling Techniques, 1977, chapter 5A, on
one unit per stratum): L of them of mean c weigh as L strata, and bring the Wilson bound of c at n = L, on the
metric's scale. With one such stratum that is n = 1, the widest bound there is (a rate of 1 may be 0.21). In a
comparison each brings the bound of one cluster, which holds zero whatever the difference. So they widen the
joined interval, name no winner by themselves, and take nothing away from the other strata. On a scale without
limits there is no such bound, and they leave the joined interval open, as does any stratum without one.
"""

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from earwitness.stats import intervals, resampling
from earwitness.stats.intervals import Paired


def joined(
    means: Sequence[float],
    bounds: Sequence[tuple[float, float] | None],
    lone: Sequence[float] = (),
    *,
    scale: tuple[float, float] | None = (0.0, 1.0),
    level: float = 0.95,
) -> tuple[float, float] | None:
    """The interval of the mean of independent means, in whatever order they come.

    Args:
        means: One per stratum of two or more clusters.
        bounds: The interval of each, low and high, which holds its mean; None where there is none.
        lone: The means of the strata of one cluster.
        scale: Lowest and highest value the metric can take, None if it has no limit; used for ``lone``.
        level: Confidence level of the bounds.

    Returns:
        Low and high, within the mean of the strata's lows and of their highs; None without an interval of
        every stratum, and for a single stratum of one cluster.
    """
    known = [pair for pair in bounds if pair is not None]
    strata = len(means) + len(lone)
    if len(known) < len(means) or strata < 1 or (not known and strata == 1):
        return None
    if lone and (scale is None or not resampling.within(lone, scale)):
        return None
    if strata == 1:
        return known[0]
    arms = [[mean - low, high - mean] for mean, (low, high) in zip(means, known, strict=True)]
    if lone and scale is not None:
        centre = fmean(lone)
        bound = intervals.scaled_wilson(centre, len(lone), scale, level)
        arms.append([len(lone) * (centre - bound.low), len(lone) * (bound.high - centre)])
    below, above = (sqrt(fsum(arm[side] ** 2 for arm in arms)) / strata for side in (0, 1))
    centre = fmean([*means, *lone])
    return centre - below, centre + above


def paired_difference(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    clusters: Sequence[str],
    strata: Sequence[str],
    *,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> Paired | None:
    """Compare two systems on the same items by the mean over strata of their differences.

    The interval joins those of the strata (see :func:`.intervals.paired_difference`). The test swaps the
    two systems within each cluster by a fair coin, in all strata at once.

    Args:
        first, second: One value per shared item of each system, shapes (n,).
        clusters, strata: Of those items; a cluster's name in two strata means two clusters.
        level, draws, seed, bounds: As there.

    Returns:
        None with fewer than two clusters in all, and if on a scale without limits a stratum has one
        cluster, or clusters that all agree.

    Raises:
        ValueError: If a value is not finite or an argument is out of range.
    """
    resampling.check_level(level, draws)
    of_stratum: dict[str, list[int]] = {}
    for index, name in enumerate(strata):
        of_stratum.setdefault(name, []).append(index)
    rng = np.random.default_rng(seed)
    found, differences, weighted = [], [], []
    for _, its in sorted(of_stratum.items()):
        own = [clusters[index] for index in its]
        one, two = (resampling.cluster_totals(values[its], own) for values in (first, second))
        totals = np.array([one[cluster] + two[cluster] for cluster in one])
        span = intervals.span_of(bounds, first[its], second[its])
        difference = float(intervals.difference_of_means(totals.sum(axis=0)))
        if len(totals) > 1:
            bound = intervals.difference_interval(*resampling.kinds_of(totals), level, draws, rng, span)
        else:
            bound = None if span is None else intervals.agreeing(difference, 1, span, level)
        found.append(bound)
        differences.append(difference)
        weighted.append(totals / (len(its) * len(of_stratum)))
    interval = joined(differences, found)
    if interval is None or sum(map(len, weighted)) < 2:
        return None
    # So weighted, items sum to 1 and the pooled mean over all clusters is the mean over strata.
    every = np.concatenate(weighted)
    p = intervals.swap_test(*resampling.kinds_of(every), draws, rng)
    return Paired(len(every), fmean(differences), *interval, p)
