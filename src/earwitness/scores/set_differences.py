"""Is one set nearer to the reference than another? The difference of two numbers, and how sure it is.

Conventions
-----------
A number of a set (FAD, FD, KAD, IS) is to first order a sum over clusters of clips. The difference of two
such numbers is therefore one too: a cluster's influence on it is that on the first number less that on the
second. What is accidental in a prompt or in a reference clip, and moves both numbers alike, cancels. Interval
and test are Student's, with one degree of freedom fewer than clusters in either set or in the reference.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy.special
from numpy.typing import NDArray

from earwitness.scores.distances import interval

ROUNDING = 1e-9  # of the larger number: a standard error below it is the rounding of zero


@dataclass(frozen=True, slots=True)
class Difference:
    """First number less second: interval, two-sided p, and the clusters that they rest on."""

    value: float
    low: float
    high: float
    p: float
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
    return Difference(value, *bounds, p, len(each))


def jackknifed(first: Mapping[str, float], second: Mapping[str, float]) -> NDArray[np.float64]:
    """The influences of clusters on a difference, by leaving out one after the other in both numbers.

    Args:
        first, second: By how much each number changes without a cluster; 0 for one that is not named.
    """
    clusters = dict.fromkeys([*first, *second])
    changes = np.array([first.get(name, 0.0) - second.get(name, 0.0) for name in clusters])
    influences: NDArray[np.float64] = (changes.mean() - changes) * (len(changes) - 1) / len(changes)
    return influences
