"""CPU time of the cluster bootstrap against scipy.stats.bootstrap, both in one run.

    OMP_NUM_THREADS=1 python benchmarks/bootstrap.py

Four systems, 1,000 items each, every item its own cluster (scipy has no clusters), 10,000 draws,
percentile intervals: of each system's mean, and, with the same items drawn for both, of the difference of
every pair of systems. Right-or-wrong values have few kinds of cluster; continuous ones have as many kinds
as clusters, the slowest case. A ratio above 1 means that scipy takes longer. "Furthest apart" are the bounds
of both; "scipy again" those of scipy and scipy with another seed: what chance alone does.
"""

import time
from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from earwitness.stats.intervals import cluster_interval, difference_interval
from earwitness.stats.resampling import kinds_of

SYSTEMS, ITEMS, DRAWS, ROUNDS = 4, 1_000, 10_000, 3
Values = NDArray[np.float64]
Pairs = list[tuple[Values, Values]]


def cpu_s(job: Callable[[], object]) -> float:
    """The least CPU time of a few rounds, in seconds (user and system)."""
    spent = []
    for _ in range(ROUNDS):
        began = time.process_time()
        job()
        spent.append(time.process_time() - began)
    return min(spent)


def scipy_bounds(
    samples: tuple[Values, ...], statistic: Callable[..., Values], seed: int
) -> tuple[float, float]:
    found = scipy.stats.bootstrap(
        samples, statistic, n_resamples=DRAWS, method="percentile", paired=True, vectorized=True, batch=100,
        rng=seed,
    ).confidence_interval  # fmt: skip
    return found.low, found.high


def mean_difference(a: Values, b: Values, axis: int = -1) -> Values:
    return a.mean(axis=axis) - b.mean(axis=axis)


def our_difference(a: Values, b: Values) -> tuple[float, float]:
    """The interval that paired_difference states, without its permutation test, which scipy's has not."""
    ones = np.ones_like(a)
    kinds, counts = kinds_of(np.stack([a, ones, b, ones], axis=1))
    found = difference_interval(kinds, counts, 0.95, DRAWS, np.random.default_rng(1), None)
    assert found is not None
    return found


def main() -> None:
    rng = np.random.default_rng(0)
    clusters = [f"pair {index}" for index in range(ITEMS)]
    chances = np.linspace(0.5, 0.8, SYSTEMS)[:, None]
    cases: dict[str, Values] = {
        "right or wrong": (rng.random((SYSTEMS, ITEMS)) < chances).astype(float),
        "continuous": rng.random((SYSTEMS, ITEMS)),
    }
    print(f"{SYSTEMS} systems x {ITEMS} items x {DRAWS} draws, least of {ROUNDS} rounds, CPU ms")
    print(
        f"{'of':13}{'values':16}{'scipy':>8}{'ours':>8}{'ratio':>8}{'furthest apart':>16}{'scipy again':>13}"
    )
    for name, values in cases.items():
        pairs = list(combinations(values, 2))

        def means(seed: int, values: Values = values) -> list[tuple[float, float]]:
            return [scipy_bounds((row,), np.mean, seed) for row in values]

        def our_means(values: Values = values) -> list[tuple[float, float]]:
            found = (cluster_interval(row, clusters, draws=DRAWS, seed=1) for row in values)
            return [(interval.low, interval.high) for interval in found if interval]

        def differences(seed: int, pairs: Pairs = pairs) -> list[tuple[float, float]]:
            return [scipy_bounds(pair, mean_difference, seed) for pair in pairs]

        def our_differences(pairs: Pairs = pairs) -> list[tuple[float, float]]:
            return [our_difference(a, b) for a, b in pairs]

        for what, theirs, ours in (
            ("means", means, our_means),
            ("differences", differences, our_differences),
        ):
            first, again = np.array(theirs(1)), np.array(theirs(2))
            apart, chance = np.abs(first - np.array(ours())).max(), np.abs(first - again).max()
            scipy_s, ours_s = cpu_s(partial(theirs, 1)), cpu_s(ours)
            print(
                f"{what:13}{name:16}{scipy_s * 1e3:8.0f}{ours_s * 1e3:8.0f}{scipy_s / ours_s:8.1f}"
                f"{apart:16.4f}{chance:13.4f}"
            )


if __name__ == "__main__":
    main()
