"""Clusters of items, drawn again and again.

Conventions
-----------
Items of one cluster stand or fall together (two directions of one pair, one caption made by several
seeds), so clusters are drawn, never items. A cluster is known by its totals: one row of numbers, its
columns the sum of its values and its number of items (of each system). Clusters with equal totals are
interchangeable; they are kept once, as a kind with a count. That leaves the distribution of every
draw as it is, makes results independent of the order of items and of cluster names, and shrinks the
work from the number of clusters to the number of kinds, a handful for right-or-wrong values.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""From totals (..., columns) to one number each (...)."""

BLOCK = 2**15  # numbers at a time: 256 kB of float64 stay in a core's cache (measured: half the time of 2 MB)
TOLERANCE = 1e-10  # sums of rounded numbers that differ by less are equal


def cluster_totals(values: ArrayLike, clusters: Sequence[str]) -> dict[str, tuple[float, float]]:
    """The sum of values and the number of items of every cluster.

    Args:
        values: One finite number per item, shape (n,).
        clusters: The cluster of every item, n names.

    Raises:
        ValueError: If lengths differ or a value is not finite; its index is named.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (len(clusters),):
        raise ValueError(f"values of shape {numbers.shape} do not match {len(clusters)} clusters")
    if not np.isfinite(numbers).all():
        index = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"value {index} is {numbers[index]}; leave unscored items out")
    names: dict[str, int] = {}
    codes = np.fromiter((names.setdefault(c, len(names)) for c in clusters), np.intp, len(clusters))
    order = np.lexsort((numbers, codes))  # equal items are then summed alike, whatever their order
    sums = np.bincount(codes[order], weights=numbers[order], minlength=len(names))
    sizes = np.bincount(codes, minlength=len(names))
    return {name: (float(sums[code]), float(sizes[code])) for name, code in names.items()}


def kinds_of(totals: ArrayLike) -> tuple[Floats, NDArray[np.int64]]:
    """Distinct rows of totals (clusters, columns), sorted, and how many clusters are of each kind."""
    kinds, counts = np.unique(np.asarray(totals, dtype=np.float64), axis=0, return_counts=True)
    return kinds, counts.astype(np.int64)


def resampled(
    statistic: Statistic, kinds: Floats, counts: NDArray[np.int64], draws: int, rng: np.random.Generator
) -> Floats:
    """The statistic of ``draws`` bootstrap samples of as many clusters as there are, shape (draws,)."""
    clusters = int(counts.sum())
    few_kinds = 8 * len(kinds) <= clusters  # measured: one binomial draw costs as much as 8 gathers
    block = max(1, BLOCK // (len(kinds) if few_kinds else clusters))
    of_clusters = np.repeat(kinds, counts, axis=0).T
    varying = np.flatnonzero(
        (kinds != kinds[0]).any(axis=0)
    )  # the others, such as one item each, add up alike
    out = np.empty(draws)
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        if few_kinds:
            totals = rng.multinomial(clusters, counts / clusters, size=rows) @ kinds
        else:
            picked = rng.integers(clusters, size=(rows, clusters))
            totals = np.tile(clusters * kinds[0], (rows, 1))
            for column in varying:
                totals[:, column] = of_clusters[column][picked].sum(axis=1)
        out[start : start + rows] = statistic(totals)
    return out


def all_agree(statistic: Statistic, kinds: Floats, counts: NDArray[np.int64]) -> bool:
    """True if leaving out any one of two or more clusters leaves the statistic where it is.

    Every bootstrap sample then says the same, and a percentile interval would have no width.
    """
    whole = counts @ kinds
    return bool((np.abs(statistic(whole - kinds) - statistic(whole)) <= TOLERANCE).all())


def percentiles(statistics: Floats, level: float) -> tuple[float, float]:
    """The central interval that holds ``level`` of the statistics."""
    low, high = np.quantile(statistics, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def check_level(level: float, draws: int) -> None:
    """Raise ValueError unless ``0 < level < 1`` and there is at least one draw."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level!r}")
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws!r}")


def within(values: ArrayLike, bounds: tuple[float, float]) -> bool:
    """True if every value lies on the scale that ``bounds`` states."""
    numbers = np.asarray(values, dtype=np.float64)
    return bool(((numbers >= bounds[0]) & (numbers <= bounds[1])).all())
