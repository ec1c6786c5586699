"""Several independent hearings of one item: what they say together, and how far they part.

Conventions
-----------
Numbers are averaged, verdicts go by the most frequent one; verdicts that are equally frequent are a tie,
and all of them are named. The flip rate is the share of pairs of repeats that give different verdicts,
the spread the standard deviation over repeats with n - 1. Both need two repeats and are None with fewer.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations
from statistics import stdev
from typing import TypeVar

V = TypeVar("V", bound=Hashable)


def majority(verdicts: Sequence[V]) -> tuple[V, ...]:
    """The most frequent verdict; several, in order of appearance, if they are equally frequent.

    Raises:
        ValueError: Without a verdict.
    """
    if not verdicts:
        raise ValueError("no repeat gave a verdict")
    counts = Counter(verdicts)
    most = max(counts.values())
    return tuple(verdict for verdict, count in counts.items() if count == most)


def flip_rate(verdicts: Sequence[Hashable]) -> float | None:
    """Share of pairs of repeats that differ, in [0, 1]; None with fewer than two."""
    pairs = list(combinations(verdicts, 2))
    return sum(a != b for a, b in pairs) / len(pairs) if pairs else None


def spread(values: Sequence[float]) -> float | None:
    """Standard deviation over repeats; None with fewer than two."""
    return stdev(values) if len(values) > 1 else None
