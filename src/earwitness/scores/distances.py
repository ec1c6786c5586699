"""How far apart are two sets of embeddings, as Gaussians? The Fréchet distance and how sure it is.

Conventions
-----------
A set of frames is known by its number, mean and unbiased covariance (divisor n - 1), pooled over the frames
of all clips: a clip of one frame is as good as any. The distance is the squared one that FAD and FD mean
(Dowson and Landau, J. Multivariate Analysis 12, 1982; Kilgour et al., Interspeech 2019):

    |mu1 - mu2|^2 + tr S1 + tr S2 - 2 tr (S1^1/2 S2 S1^1/2)^1/2

With S = L L' the last trace is the sum of the singular values of L1' L2, which are the square roots of the
eigenvalues of S1^1/2 S2 S1^1/2: real and not negative, so that no imaginary part can arise. They are taken as
such roots where the root of a small one cannot cost digits, else as singular values, which takes longer. All
is float64. Dimensions without variance and sets with fewer frames than dimensions are no special case, but of
the latter the distance is mostly noise, see :func:`enough`.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

BLOCK = 4096  # frames that are gathered before they enter the covariance: one large product, not many small
ROUNDING = 1e-10  # of the total variance: a distance below it is the rounding of zero


def finite_rows(name: str, rows: ArrayLike) -> Floats:
    """Rows of numbers (n, d) as float64.

    Raises:
        ValueError: If it is no table of at least one column or a number in it is not finite; names the row.
    """
    table = np.asarray(rows, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"{name} must have shape (rows, columns), not {table.shape}")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(f"{name}: row {row} has {table[row, column]} in column {column}")
    return table


@dataclass(frozen=True, slots=True)
class Gaussian:
    """What a Fréchet distance knows of a set: number of frames, mean (d,) and covariance (d, d)."""

    n: int
    mean: Floats
    cov: Floats


class Moments:
    """Mean and covariance of frames that come clip by clip, in memory of the order of d^2.

    Every block of frames is centred on its own mean before it is squared, and blocks are put together by the
    pairwise rule (Chan, Golub and LeVeque, 1979), so that a large mean costs no digits. The order in which
    frames come changes nothing but the rounding.
    """

    def __init__(self) -> None:
        self._n = 0
        self._mean: Floats = np.zeros(0)
        self._scatter: Floats = np.zeros((0, 0))
        self._waiting: list[Floats] = []
        self._rows = 0

    @property
    def n(self) -> int:
        """Frames so far."""
        return self._n + self._rows

    def add(self, frames: ArrayLike) -> None:
        """Take in the frames (m, d) of one clip.

        Raises:
            ValueError: If a frame is not finite (names the row) or its width is another than before.
        """
        # a copy: the caller may go on to fill the same array with the next clip
        table = finite_rows("frames", frames).copy()
        if self.n and table.shape[1] != self._width():
            raise ValueError(f"frames of width {table.shape[1]} among frames of width {self._width()}")
        if not len(table):
            return
        self._waiting.append(table)
        self._rows += len(table)
        if self._rows >= BLOCK:
            self._fold()

    def merged(self, other: "Moments") -> "Moments":
        """Of the frames of both; neither is changed.

        Raises:
            ValueError: If their frames differ in width.
        """
        out = Moments()
        for part in (self, other):
            part._fold()
            if part._n and out._n and part._width() != out._width():
                raise ValueError(f"frames of width {part._width()} among frames of width {out._width()}")
            out._take(part._n, part._mean, part._scatter)
        return out

    def gaussian(self) -> Gaussian:
        """The Gaussian of all frames so far.

        Raises:
            ValueError: With fewer than two frames, which have no covariance.
        """
        self._fold()
        if self._n < 2:
            raise ValueError(f"a covariance takes at least 2 frames, not {self._n}")
        return Gaussian(self._n, self._mean.copy(), self._scatter / (self._n - 1))

    def _width(self) -> int:
        return self._waiting[0].shape[1] if self._waiting else len(self._mean)

    def _fold(self) -> None:
        if not self._waiting:
            return
        block = np.concatenate(self._waiting)
        self._waiting, self._rows = [], 0
        mean = block.mean(axis=0)
        block -= mean
        self._take(len(block), mean, block.T @ block)

    def _take(self, n: int, mean: Floats, scatter: Floats) -> None:
        if not n:
            return
        if not self._n:
            self._n, self._mean, self._scatter = n, mean.copy(), scatter.copy()
            return
        total = self._n + n
        step = mean - self._mean
        self._scatter += scatter
        self._scatter += np.outer(step * (self._n * n / total), step)
        self._mean = self._mean + step * (n / total)
        self._n = total


def enough(n: int, d: int, reference_n: int) -> str:
    """Why no Fréchet distance of two sets is worth reporting; empty if there is one.

    With n <= d a covariance has directions without any variance, whatever the sounds, and the distance
    mostly tells how many frames there are.

    Args:
        n, reference_n: Embeddings of different sounds in the set and in the reference: a sound that is there
            twice adds no direction.
        d: Their width.
    """
    few = [f"{count:,} {of}" for count, of in ((n, "here"), (reference_n, "in the reference")) if count <= d]
    if not few:
        return ""
    return (
        f"a Fréchet distance in {d:,} dimensions needs more than {d:,} embeddings of different sounds in "
        f"both sets; there are {' and '.join(few)}. See the kernel distance (KAD), which needs no covariance"
    )


def frechet(a: Gaussian, b: Gaussian) -> float:
    """The squared Fréchet distance of two Gaussians.

    Returns:
        At least 0; 0 for a set and itself, in whatever order its frames came. Finite for any two sets.

    Raises:
        ValueError: If the Gaussians differ in width.
    """
    _check_widths(a, b)
    return _value(a, b, _singular_values(_root(a.cov).T @ _root(b.cov)))


class Frechet:
    """The distance of two Gaussians, and what every clip contributes to its uncertainty.

    The influence of a frame x of set a is the derivative of the distance when x gains weight
    (Rippl, Munk and Sturm, J. Multivariate Analysis 151, 2016): with c = x - mu1 and T the linear map that
    carries S1 to S2, T S1 T = S2,

        2 (mu1 - mu2)' c + c' (I - T) c - tr (I - T) S1

    It rests on the singular vectors that give the value, so that an interval costs one more pass over the
    frames. In simulations of sets that differ (8 dimensions and 200 to 2,000 frames, 64 and 80 to 640, also
    of correlated frames and of skewed ones) the standard error was within 5 % of that of the delete-one-clip
    jackknife, and 95 % intervals held the mean distance of samples of that size in 93 to 99 % of the runs.
    Two limits:

    - That mean is above the distance of what was sampled, by an amount that falls about as 1/n. In the 64
      dimensions two sets of one distribution were 2.4 apart with 80 frames each, 0.59 with 320 and 0.29 with
      640; the interval holds these, not 0. Compare sets of one size, and see how far two halves of the
      reference are apart.
    - Near 0 the derivative vanishes and the limit law with it. The interval is then cut at 0 and too long
      rather than too short: for sets of one distribution it held the mean in 95 to 100 % of the runs.

    Attributes:
        value: As :func:`frechet`.

    Raises:
        ValueError: If the Gaussians differ in width.
    """

    def __init__(self, a: Gaussian, b: Gaussian) -> None:
        _check_widths(a, b)
        roots = _root(a.cov), _root(b.cov)
        left, strengths, right = np.linalg.svd(roots[0].T @ roots[1], full_matrices=False)
        self.value = _value(a, b, strengths)
        kept = _above_rounding(strengths)
        scale = 1 / np.sqrt(strengths[kept])
        self._overlap = float(strengths[kept].sum())
        self._a, self._b = a, b
        # T = M M', with directions without variance in either set left out: no frame moves along them
        self._to_b = roots[1] @ right[kept].T * scale
        self._to_a = roots[0] @ left[:, kept] * scale

    def influence_a(self, frames: ArrayLike) -> float:
        """What the frames (m, d) of a clip of set a add to the value, to first order.

        Each weighs 1/n, so the influences of all clips of a set sum to about 0.

        Raises:
            ValueError: If a frame is not finite (names the row) or has another width.
        """
        return self._influence(frames, self._a, self._b, self._to_b)

    def influence_b(self, frames: ArrayLike) -> float:
        """As :meth:`influence_a`, for a clip of set b."""
        return self._influence(frames, self._b, self._a, self._to_a)

    def _influence(self, frames: ArrayLike, own: Gaussian, other: Gaussian, root: Floats) -> float:
        table = finite_rows("frames", frames)
        if table.shape[1] != len(own.mean):
            raise ValueError(f"frames of width {table.shape[1]}, but the sets have {len(own.mean)}")
        centred = table - own.mean
        each = centred @ (2 * (own.mean - other.mean))
        each += np.square(centred).sum(axis=1) - np.square(centred @ root).sum(axis=1)
        expected = float(np.trace(own.cov)) - self._overlap
        return float((each - expected).sum()) / own.n


def _check_widths(a: Gaussian, b: Gaussian) -> None:
    if a.mean.shape != b.mean.shape:
        raise ValueError(f"Gaussians of {len(a.mean)} and {len(b.mean)} dimensions have no distance")


def _root(cov: Floats) -> Floats:
    """L (d, rank) with L L' = S: by Cholesky where S has full rank, else by its eigenvectors (slower).

    Directions without variance must go: each would count as the root of its rounding, 1e-8 of the largest.
    """
    with suppress(np.linalg.LinAlgError):  # raised where rounding made a variance negative
        return np.asarray(np.linalg.cholesky(cov), np.float64)
    variances, directions = np.linalg.eigh(cov)
    kept = _above_rounding(variances)
    root: Floats = directions[:, kept] * np.sqrt(variances[kept])
    return root


def _singular_values(product: Floats) -> Floats:
    """As roots of eigenvalues, which are quicker, if the error of none is much enlarged by the root."""
    squares = np.asarray(np.linalg.eigvalsh(product @ product.T), np.float64)
    if (squares > 0).all():
        roots = np.sqrt(squares)
        error = np.finfo(np.float64).eps * squares.max(initial=0.0) * (0.5 / roots).sum()
        if error <= 0.1 * ROUNDING * roots.sum():
            return roots
    return np.asarray(np.linalg.svd(product, compute_uv=False), np.float64)


def _above_rounding(values: Floats) -> NDArray[np.bool_]:
    """Which values of a decomposition are more than the rounding of the largest."""
    least = values.max(initial=0.0) * len(values) * np.finfo(np.float64).eps
    above: NDArray[np.bool_] = values > least
    return above


def _value(a: Gaussian, b: Gaussian, strengths: Floats) -> float:
    variance = float(np.trace(a.cov) + np.trace(b.cov))
    shift = a.mean - b.mean
    value = float(shift @ shift) + variance - 2 * float(strengths.sum())
    return value if value > ROUNDING * variance else 0.0


def interval(
    value: float, influences: Iterable[float], level: float = 0.95, floor: float | None = 0.0
) -> tuple[float, float] | None:
    """The confidence interval of a number from the influences of its clusters.

    The standard error is the root of the sum of their squares, times k / (k - 1) for k clusters.

    Args:
        influences: One per cluster: the sum over its clips, in both sets, as they are signed.
        level: Confidence level in (0, 1).
        floor: Lowest value the number can take; None if it has none.

    Returns:
        Low and high by Student's t with one degree of freedom fewer than clusters; None with fewer than two.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level!r}")
    each = np.fromiter(influences, np.float64)
    if len(each) < 2:
        return None
    spread = sqrt(float(each @ each) * len(each) / (len(each) - 1))
    reach = float(scipy.special.stdtrit(len(each) - 1, (1 + level) / 2)) * spread
    low = value - reach
    return (low if floor is None else max(floor, low)), value + reach


def cosines(a: ArrayLike, b: ArrayLike) -> Floats:
    """Cosine of every row of ``a`` (n, e) with the same row of ``b`` (n, e), shape (n,), -1 to 1.

    Raises:
        ValueError: If shapes differ, a number is not finite or a row is zero; names the row.
    """
    first, second = finite_rows("a", a), finite_rows("b", b)
    if first.shape != second.shape:
        raise ValueError(f"a has shape {first.shape} and b {second.shape}")
    units = []
    for name, rows in (("a", first), ("b", second)):
        largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
        if not largest.all():
            row = int(np.flatnonzero(largest[:, 0] == 0)[0])
            raise ValueError(f"{name}: row {row} is zero and has no direction")
        scaled = rows / largest
        units.append(scaled / np.linalg.norm(scaled, axis=1, keepdims=True))
    cosine: Floats = np.clip((units[0] * units[1]).sum(axis=1), -1.0, 1.0)
    return cosine
