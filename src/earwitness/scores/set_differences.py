"""Is one set nearer to the reference than another? The difference of two numbers, and how sure it is.

Conventions
-----------
A number of a set (FAD, FD, KAD) is to first order a sum over clusters of clips. The difference of two
such numbers is therefore one too: a cluster's influence on it is that on the first number less that on the
second. What is accidental in a prompt or in a reference clip, and moves both numbers alike, cancels. Interval
and test are Student's, with one degree of freedom fewer than clusters in either set or in the reference.

A Fréchet distance comes out too large by an amount that falls about as one over the number of independent
clips. It does not cancel where one set is smaller, has fewer frames, or is more monotonous within its clips.
It is therefore taken off either number by a jackknife over :data:`GROUPS` groups of clusters (Quenouille,
Biometrika 43, 1956). Where the halves of the sets say otherwise it does not fall as 1/n, and there is no
difference worth telling. (An Inception Score is too small likewise, but there the bias is itself so uncertain
that tests err three times too often with 15 clips and twice with 60: there is no difference of it.)
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from statistics import fmean

import numpy as np
import scipy.special
from numpy.typing import NDArray

from earwitness.scores.distances import interval

TOO_BIASED = "the clips are too few to know the bias of the numbers"
ROUNDING = 1e-9  # of the larger number: a standard error below it is the rounding of zero


GROUPS = 4
"""Groups of clusters that are left out in turn to know a bias."""
LEAVING: Sequence[tuple[int, ...]] = tuple(combinations(range(GROUPS), GROUPS - 1))
"""The groups that stay, one left out."""
HALVES: Sequence[tuple[int, ...]] = tuple(combinations(range(GROUPS), GROUPS // 2))
"""The groups of every half."""
DOUBT = 0.6
"""Standard errors of the difference by which its bias may be another by groups than by halves."""

CLEAR = 5
"""Times the bias of either number: a difference as large is one, however well the bias is known."""


@dataclass(frozen=True, slots=True)
class Split:
    """A number of a set and its reference: of all, and of the groups of clusters of :data:`LEAVING` and of
    :data:`HALVES`."""

    value: float
    without: tuple[float, ...]
    halves: tuple[float, ...]

    @property
    def bias(self) -> float:
        """By how much the number is too large for so few clips."""
        return (len(self.without) - 1) * (fmean(self.without) - self.value)

    @property
    def bias_of_halves(self) -> float:
        """The same from the halves: another number where it does not fall as 1/n."""
        return fmean(self.halves) - self.value


@dataclass(frozen=True, slots=True)
class Difference:
    """First number less second: interval, two-sided p, standard error, and the clusters they rest on."""

    value: float
    low: float
    high: float
    p: float
    error: float
    clusters: int


def difference(
    first: float, second: float, influences: Iterable[float], level: float = 0.95
) -> Difference | None:
    """The difference of two numbers from the influences of its clusters.

    Args:
        first, second: The numbers.
        influences: One per cluster of either set or the reference: that on the first number less that on the
            second, summed over the cluster's clips.
        level: Confidence level in (0, 1).

    Returns:
        None with fewer than two clusters, and where no cluster makes any difference, as for a set and itself.
    """
    each = np.fromiter(influences, np.float64)
    value = first - second
    bounds = interval(value, each, level, floor=None)
    if bounds is None:
        return None
    error = sqrt(float(each @ each) * len(each) / (len(each) - 1))
    if error <= ROUNDING * max(abs(first), abs(second)):
        return None
    p = 2 * float(scipy.special.stdtr(len(each) - 1, -abs(value) / error))
    return Difference(value, *bounds, p, error, len(each))


def unbiased_difference(
    first: Split, second: Split, influences: Iterable[float], level: float = 0.95
) -> Difference | str | None:
    """As :func:`difference`, the bias of few clips taken off either number.

    Returns:
        Also the reason why there is none, where the bias is not known well enough.
    """
    found = difference(first.value - first.bias, second.value - second.bias, influences, level)
    if found is None:
        return None
    doubt = (first.bias - first.bias_of_halves) - (second.bias - second.bias_of_halves)
    most = max(abs(each) for one in (first, second) for each in (one.bias, one.bias_of_halves))
    known = abs(doubt) <= DOUBT * found.error or abs(found.value) >= CLEAR * most
    return found if known else TOO_BIASED


def jackknifed(first: Mapping[str, float], second: Mapping[str, float]) -> NDArray[np.float64]:
    """The influences of clusters on a difference, by leaving out one after the other in both numbers.

    Args:
        first, second: By how much each number changes without a cluster; 0 for one that is not named.
    """
    clusters = dict.fromkeys([*first, *second])
    changes = np.array([first.get(name, 0.0) - second.get(name, 0.0) for name in clusters])
    influences: NDArray[np.float64] = (changes.mean() - changes) * (len(changes) - 1) / len(changes)
    return influences
