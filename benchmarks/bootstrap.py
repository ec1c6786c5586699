"""CPU time of the cluster bootstrap against scipy.stats.bootstrap, both in one run.

    OMP_NUM_THREADS=1 python benchmarks/bootstrap.py

Four systems, 1,000 items each, every item its own cluster (scipy has no clusters), 10,000 draws,
percentile intervals of the mean. Right-or-wrong values have two kinds of cluster; continuous ones
have as many kinds as clusters, the slowest case. A ratio above 1 means that scipy takes longer.
"""

import time
from collections.abc import Callable

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from earwitness.stats.intervals import cluster_interval, paired_difference

SYSTEMS, ITEMS, DRAWS, ROUNDS = 4, 1_000, 10_000, 3
Values = NDArray[np.float64]


def cpu_s(job: Callable[[], object]) -> float:
    """The least CPU time of a few rounds, in seconds (user and system)."""
    spent = []
    for _ in range(ROUNDS):
        began = time.process_time()
        job()
        spent.append(time.process_time() - began)
    return min(spent)


def main() -> None:
    rng = np.random.default_rng(0)
    clusters = [f"pair {index}" for index in range(ITEMS)]
    chances = np.linspace(0.5, 0.8, SYSTEMS)[:, None]
    cases: dict[str, Values] = {
        "right or wrong": (rng.random((SYSTEMS, ITEMS)) < chances).astype(float),
        "continuous": rng.random((SYSTEMS, ITEMS)),
    }
    print(f"{SYSTEMS} systems x {ITEMS} items x {DRAWS} draws, least of {ROUNDS} rounds, CPU ms")
    print(f"{'values':16}{'scipy':>8}{'ours':>8}{'ratio':>8}{'furthest apart':>16}{'all pairs':>11}")
    for name, values in cases.items():

        def theirs(values: Values = values) -> list[tuple[float, float]]:
            found = (
                scipy.stats.bootstrap(
                    (row,), np.mean, n_resamples=DRAWS, method="percentile", batch=100, rng=1
                ).confidence_interval
                for row in values
            )
            return [(interval.low, interval.high) for interval in found]

        def ours(values: Values = values) -> list[tuple[float, float]]:
            found = (cluster_interval(row, clusters, draws=DRAWS, seed=1) for row in values)
            return [(interval.low, interval.high) for interval in found if interval]

        def pairs(values: Values = values) -> None:
            for first in range(SYSTEMS):
                for second in range(first):
                    paired_difference(values[first], clusters, values[second], clusters, draws=DRAWS)

        apart = float(np.abs(np.array(theirs()) - np.array(ours())).max())
        scipy_s, ours_s, pairs_s = cpu_s(theirs), cpu_s(ours), cpu_s(pairs)
        print(
            f"{name:16}{scipy_s * 1e3:8.0f}{ours_s * 1e3:8.0f}{scipy_s / ours_s:8.1f}"
            f"{apart:16.4f}{pairs_s * 1e3:11.0f}"
        )
    print(
        "all pairs: six paired differences with intervals and permutation tests, which scipy does not offer"
    )


if __name__ == "__main__":
    main()
