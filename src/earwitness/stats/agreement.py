"""How far several listeners say the same: chance-corrected agreement, and how alike they rank systems.

Conventions
-----------
Krippendorff's alpha (Krippendorff, Content Analysis, 2004, chapter 11) is 1 - observed / expected
disagreement over the items that at least two listeners gave a value for: 1 for full agreement, 0 for what
chance gives, below 0 for less than that. Verdicts are nominal (two differ or not), numbers are of interval
level (squared difference). Where every value is the same nothing was there to agree on, and alpha is
undefined.

Its interval is the percentile bootstrap over whole clusters of items. Alpha is a function of sums over
items, so a drawn sample costs no more than adding clusters up; samples in which nothing varies have no
alpha and are left out.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Literal

import numpy as np
from scipy import stats

from earwitness.stats import resampling
from earwitness.stats.resampling import Floats

Level = Literal["nominal", "interval"]


@dataclass(frozen=True, slots=True)
class Alpha:
    """Agreement of several listeners.

    Attributes:
        value: Krippendorff's alpha; None if it is undefined.
        low, high: Bounds of its interval; None if there is none.
        items: Number of items with a value from at least two listeners.
        reason: Why there is no value, or no interval; empty if there are both.
    """

    value: float | None
    low: float | None
    high: float | None
    items: int
    reason: str = ""


def alpha(
    values: Sequence[Sequence[Any]],
    clusters: Sequence[str],
    level: Level,
    *,
    confidence: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Alpha:
    """Krippendorff's alpha with its interval.

    Args:
        values: For every item one value a listener, None where there is none: (items, listeners). Any
            hashable values if nominal, finite numbers if interval.
        clusters: The cluster of every item.
        confidence: Confidence level of the interval, in (0, 1).
        draws: Bootstrap samples.
        seed: The same seed gives the same interval, in whatever order the items come.

    Raises:
        ValueError: If lengths differ, a number is not finite, or an argument is out of range.
    """
    resampling.check_level(confidence, draws)
    if len(values) != len(clusters):
        raise ValueError(f"{len(values)} items do not match {len(clusters)} clusters")
    kept = [
        (given, cluster)
        for item, cluster in zip(values, clusters, strict=True)
        if len(given := [value for value in item if value is not None]) > 1
    ]
    units, names = [unit for unit, _ in kept], [cluster for _, cluster in kept]
    if not units:
        return Alpha(None, None, None, 0, "no item has a value from two listeners")
    if level == "nominal":
        sums = _nominal_sums(units)
    else:
        sums = _interval_sums(units)
    value = float(_alpha_of_sums(level)(sums.sum(axis=0)))
    if np.isnan(value):
        return Alpha(None, None, None, len(units), "all values are the same: there is nothing to agree on")
    totals: dict[str, list[float]] = {}
    for name, row in sorted(zip(names, sums.tolist(), strict=True)):  # so that all orders round alike
        totals[name] = [a + b for a, b in zip(totals[name], row, strict=True)] if name in totals else row
    if len(totals) < 2:
        return Alpha(value, None, None, len(units), "one cluster of items says nothing about spread")
    kinds, amounts = resampling.kinds_of(list(totals.values()))
    statistic = _alpha_of_sums(level)
    drawn = resampling.resampled(statistic, kinds, amounts, draws, np.random.default_rng(seed))
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn) or np.ptp(drawn) <= resampling.TOLERANCE:
        return Alpha(value, None, None, len(units), "all clusters say the same, so the interval has no width")
    low, high = resampling.percentiles(drawn, confidence)
    return Alpha(value, min(value, low), max(value, high), len(units))


def _nominal_sums(units: Sequence[Sequence[Hashable]]) -> Floats:
    """What alpha is made of, a row an item: disagreement within it, then how often it has each value."""
    domain = sorted({value for unit in units for value in unit}, key=str)
    places = {value: place for place, value in enumerate(domain)}
    counts = np.zeros((len(units), len(places)))
    for row, unit in enumerate(units):
        for value in unit:
            counts[row, places[value]] += 1
    sizes = counts.sum(axis=1)
    within = (sizes**2 - (counts**2).sum(axis=1)) / (sizes - 1)
    return np.column_stack([within, counts])


def _interval_sums(units: Sequence[Sequence[float]]) -> Floats:
    """The same for numbers: disagreement, then how many there are, their sum and their sum of squares."""
    given = [value for unit in units for value in unit]
    middle = fsum(given) / len(given)  # squares of numbers far from 0 lose digits
    rows = []
    for unit in units:
        numbers = np.asarray(sorted(unit), dtype=np.float64) - middle
        if not np.isfinite(numbers).all():
            raise ValueError(f"{unit} holds a number that is not finite; leave it out")
        size, first, second = len(numbers), float(numbers.sum()), float((numbers**2).sum())
        rows.append((2 * (size * second - first**2) / (size - 1), size, first, second))
    return np.array(rows)


def _alpha_of_sums(level: Level) -> Callable[[Floats], Floats]:
    """Alpha from sums over items (..., columns); NaN where nothing varies.

    Krippendorff's 1 - (n - 1) sum(o) / sum(e), with the disagreement over all pairs of n values below.
    """

    def nominal(sums: Floats) -> tuple[Floats, Floats]:
        n = sums[..., 1:].sum(axis=-1)
        return n, n**2 - (sums[..., 1:] ** 2).sum(axis=-1)

    def interval(sums: Floats) -> tuple[Floats, Floats]:
        n = sums[..., 1]
        return n, 2 * (n * sums[..., 3] - sums[..., 2] ** 2)

    def of_sums(sums: Floats) -> Floats:
        n, between = nominal(sums) if level == "nominal" else interval(sums)
        varies = between > resampling.TOLERANCE * n**2
        found: Floats = np.where(varies, 1 - (n - 1) * sums[..., 0] / np.where(varies, between, 1), np.nan)
        return found

    return of_sums


@dataclass(frozen=True, slots=True)
class Ranks:
    """How alike two listeners rank the same systems.

    Attributes:
        systems: Number of systems both have a value for.
        spearman: Spearman's rho; None if it is undefined.
        kendall: Kendall's tau-b, which corrects for ties; None if it is undefined.
        reason: Why they are undefined; empty if they are not.
    """

    systems: int
    spearman: float | None
    kendall: float | None
    reason: str = ""


def ranks(first: Sequence[float | None], second: Sequence[float | None]) -> Ranks:
    """Rank correlations of the systems' values by two listeners, over the systems both have a value for.

    Args:
        first, second: One value a system, in the same order, higher for better; None where there is none.
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    if len(pairs) < 3:
        return Ranks(len(pairs), None, None, f"{len(pairs)} systems make no ranking to compare; 3 are needed")
    a, b = zip(*pairs, strict=True)
    if len(set(a)) < 2 or len(set(b)) < 2:
        return Ranks(len(pairs), None, None, "one of the listeners puts all systems level")
    rho, tau = stats.spearmanr(a, b).statistic, stats.kendalltau(a, b, variant="b").statistic
    return Ranks(len(pairs), float(rho), float(tau))


@dataclass(frozen=True, slots=True)
class Same:
    """On how many items two listeners both gave a verdict, and the share of them with the same one."""

    items: int
    share: float | None


def same(first: Sequence[Hashable | None], second: Sequence[Hashable | None]) -> Same:
    """Raw agreement, chance and all; None without a common item.

    Args:
        first, second: One verdict an item, in the same order; None where there is none.
    """
    both = [a == b for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    return Same(len(both), sum(both) / len(both) if both else None)
