"""How far apart are two sets of embeddings, with no Gaussian? The kernel audio distance (KAD).

Conventions
-----------
Chung et al., KAD: No More FAD!, 2025 (arXiv 2502.15602): the unbiased estimate of the squared maximum mean
discrepancy (Gretton et al., JMLR 13, 2012, equation 3) with the kernel exp(-|x - y|^2 / (2 s^2)), where the
bandwidth s is the median distance of two clips of the reference, times :data:`SCALE` as the paper's kadtk
prints it. As it is unbiased, two sets of one distribution give numbers around zero, also below it: they are
left as they are.

A clip that is in both sets is never compared with itself, just as no clip is within one set. A set against
itself is then exactly 0, as all three means run over the same pairs; kadtk, which compares it, gives a
negative number of the order of SCALE / n.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earwitness.scores.distances import finite_rows, interval

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

SCALE = 100.0
MEDIAN_OF = 5_000  # clips: the median of their 12.5 million distances takes 100 MB
BLOCK = 2**22  # kernel values in memory at a time: 32 MB
NO_BANDWIDTH = "at least half the pairs of clips of the reference have one embedding: there is no bandwidth"
ROUNDING = 1e-13  # smaller mean kernels, and distances for the length of their rows, are rounded zeros


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel distance, its confidence interval (None if there is none) and its bandwidth.

    ``changes`` is by how much the value changes without a cluster, by the cluster's name (its number where
    none were named); empty where there is no interval.
    """

    value: float
    low: float | None
    high: float | None
    bandwidth: float
    changes: Mapping[str, float] = field(default_factory=dict)


def kernel_distance(
    x: ArrayLike,
    y: ArrayLike,
    *,
    same: Sequence[tuple[int, int]] = (),
    x_clusters: Sequence[str] | None = None,
    y_clusters: Sequence[str] | None = None,
    bandwidth: float | None = None,
    level: float = 0.95,
) -> Kernel | str:
    """KAD of a set from a reference, with the interval of the delete-one-cluster jackknife.

    In simulations (10 to 200 clips, 4 to 512 dimensions) 95 % intervals held the mean in 94 to 98 % of the
    runs, and 0 in 98 or 99 % where both sets were of one distribution: there they are too long.

    Args:
        x: (n, e) embeddings of the set, one a clip.
        y: (m, e) embeddings of the reference.
        same: (i, j) where clip i of the set and clip j of the reference are one sound. Every clip enters one
            pair at most: where a sound occurs more than once in a set, its occurrences are paired in turn.
        x_clusters, y_clusters: The cluster of every clip, both or neither; a name in both is one cluster. By
            default every clip is its own, but for those of ``same``, which are one.
        bandwidth: s, above 0; by default :func:`median_distance` of ``y``.
        level: Confidence level of the interval, in (0, 1).

    Returns:
        The distance, or the reason why there is none: fewer than two clips in a set, or a reference with
        one embedding for most of its clips. No interval with fewer than two clusters, or if a set has fewer
        than two clips outside of some cluster.

    Raises:
        ValueError: If a number is not finite (names the row) or arguments do not fit each other.
    """
    a, b = finite_rows("x", x), finite_rows("y", y)
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"x has width {a.shape[1]} and y {b.shape[1]}")
    pairs = _pairs(same, len(a), len(b))
    names, codes = _clusters(len(a), len(b), pairs, x_clusters, y_clusters)
    if min(len(a), len(b)) < 2:
        return f"a kernel distance takes at least 2 clips in both sets; there are {len(a)} and {len(b)}"
    width = median_distance(b) if bandwidth is None else bandwidth
    if bandwidth is None and width == 0:
        return NO_BANDWIDTH
    if not 0 < width < np.inf:
        raise ValueError(f"bandwidth must be a positive number, not {width!r}")
    centre = b.mean(axis=0)  # distances stay as they are, and are rounded less
    a, b = a - centre, b - centre
    size = len(names)
    means = (
        _means(a, a, (codes[0], codes[0]), _diagonal(len(a)), width, size=size)
        + _means(b, b, (codes[1], codes[1]), _diagonal(len(b)), width, size=size)
        - 2 * _means(a, b, codes, pairs, width, size=size)
    )
    means[np.abs(means) < ROUNDING] = 0.0
    value, without = SCALE * means[0], SCALE * means[1:]
    if not np.isfinite(without).all():
        return Kernel(float(value), None, None, float(width))
    influences = (without.mean() - without) * (len(without) - 1) / len(without)
    low, high = interval(float(value), influences, level, floor=None) or (None, None)
    changes = dict(zip(names, (without - value).tolist(), strict=True)) if low is not None else {}
    return Kernel(float(value), low, high, float(width), changes)


def median_distance(rows: ArrayLike) -> float:
    """The median Euclidean distance of two rows of (n, e); the lower of the middle two, as kadtk has it.

    Of more than :data:`MEDIAN_OF` rows, that many are taken, evenly spaced.

    Raises:
        ValueError: If a number is not finite (names the row) or there are fewer than two rows.
    """
    table = finite_rows("rows", rows)
    if len(table) < 2:
        raise ValueError(f"a distance takes at least 2 rows, not {len(table)}")
    if len(table) > MEDIAN_OF:
        table = table[np.linspace(0, len(table) - 1, MEDIAN_OF).astype(np.intp)]
    table = table - table.mean(axis=0)
    lengths = np.square(table).sum(axis=1)
    later = []
    for start in range(0, len(table), max(1, BLOCK // len(table))):
        squares = _squares(table, table, lengths, lengths, start)
        rows = np.arange(start, start + len(squares))[:, None]
        later.append(squares[np.arange(len(table)) > rows])
    found = np.concatenate(later)
    middle = (len(found) - 1) // 2
    square = float(np.partition(found, middle)[middle])
    return sqrt(square) if square > ROUNDING * float(lengths.max()) else 0.0


def _pairs(same: Sequence[tuple[int, int]], n: int, m: int) -> Indices:
    """Checked pairs, shape (pairs, 2)."""
    pairs = np.asarray(same, dtype=np.intp).reshape(-1, 2)
    for side, (name, size) in enumerate((("x", n), ("y", m))):
        column = pairs[:, side]
        if ((column < 0) | (column >= size)).any():
            raise ValueError(f"same: {name} has {size} rows, and no row {column.min()} to {column.max()}")
        if len(np.unique(column)) < len(column):
            raise ValueError(f"same: a row of {name} enters more than one pair")
    return pairs


def _clusters(
    n: int, m: int, pairs: Indices, x_clusters: Sequence[str] | None, y_clusters: Sequence[str] | None
) -> tuple[list[str], tuple[Indices, Indices]]:
    """Names of the clusters, and the places there of those of the rows, shapes (n,) and (m,)."""
    if (x_clusters is None) != (y_clusters is None):
        raise ValueError("clusters of one set alone: give both or neither")
    if x_clusters is None or y_clusters is None:
        second = np.arange(n, n + m)
        second[pairs[:, 1]] = pairs[:, 0]
        names = np.concatenate([np.arange(n), second])
    else:
        if (len(x_clusters), len(y_clusters)) != (n, m):
            raise ValueError(f"{len(x_clusters)} and {len(y_clusters)} clusters for {n} and {m} rows")
        names = np.asarray([*x_clusters, *y_clusters])
    different, codes = np.unique(names, return_inverse=True)
    codes = codes.ravel()
    return [str(name) for name in different], (codes[:n], codes[n:])


def _diagonal(n: int) -> Indices:
    return np.stack([np.arange(n), np.arange(n)], axis=1)


def _means(
    a: Floats, b: Floats, clusters: tuple[Indices, Indices], but: Indices, width: float, *, size: int
) -> Floats:
    """Mean kernel over all pairs of a row of a and a row of b.

    Args:
        clusters: Of the rows of a and of b, as numbers below ``size``.
        but: Pairs (i, j) that are left out.

    Returns:
        (1 + size,): over all rows, then with each cluster left out; NaN where no pair is left.
    """
    of_a, of_b = clusters
    rows, within, columns = np.zeros(len(a)), np.zeros(len(a)), np.zeros(len(b))
    a_lengths, b_lengths = np.square(a).sum(axis=1), np.square(b).sum(axis=1)
    for start in range(0, len(a), max(1, BLOCK // len(b))):
        kernel = _squares(a, b, a_lengths, b_lengths, start)
        kernel *= -0.5 / width**2
        np.exp(kernel, out=kernel)
        block = slice(start, start + len(kernel))
        here = but[(but[:, 0] >= start) & (but[:, 0] < block.stop)]
        kernel[here[:, 0] - start, here[:, 1]] = 0.0
        rows[block], columns = kernel.sum(axis=1), columns + kernel.sum(axis=0)
        within[block] = np.where(of_a[block, None] == of_b, kernel, 0.0).sum(axis=1)

    inner = but[of_a[but[:, 0]] == of_b[but[:, 1]]]
    row_pairs = len(b) - np.bincount(but[:, 0], minlength=len(a))
    column_pairs = len(a) - np.bincount(but[:, 1], minlength=len(b))
    within_pairs = np.bincount(of_b, minlength=size)[of_a] - np.bincount(inner[:, 0], minlength=len(a))

    def left(of_rows: NDArray[Any], of_columns: NDArray[Any], of_within: NDArray[Any]) -> Floats:
        """Totals of all pairs, then of those that a cluster leaves when it goes."""
        gone = np.bincount(of_a, of_rows - of_within, size) + np.bincount(of_b, of_columns, size)
        return float(of_rows.sum()) - np.concatenate([[0.0], gone])

    pairs = left(row_pairs, column_pairs, within_pairs)
    sums = left(rows, columns, within)
    means: Floats = np.divide(sums, pairs, out=np.full(1 + size, np.nan), where=pairs > 0)
    return means


def _squares(a: Floats, b: Floats, a_lengths: Floats, b_lengths: Floats, start: int) -> Floats:
    """Squared distances of the block of rows of a from ``start`` on, as many as fit, to all rows of b.

    Args:
        a_lengths, b_lengths: Squared lengths of the rows.
    """
    block = slice(start, start + max(1, BLOCK // len(b)))
    # the factor makes a new array: numpy multiplies an array by itself in another way, rounded otherwise
    squares: Floats = (-2 * a[block]) @ b.T
    squares += a_lengths[block, None]
    squares += b_lengths
    return np.maximum(squares, 0.0, out=squares)
