"""How often intervals of event rates hold the true value, by the number of clips.

Clips have 1 to 6 true events, differ in how many of them are found (beta 4, 2) and have a false alarm each on
average (Poisson). The true value is that of two million such clips.

    OMP_NUM_THREADS=1 python benchmarks/event_intervals.py
"""

import numpy as np
from numpy.typing import NDArray

from earwitness.tasks.event_scores import Settings, _part, _rates

CLIPS, RUNS, DRAWS = (4, 6, 9, 10, 15, 30), 1500, 1000
Floats = NDArray[np.float64]


def drawn(rng: np.random.Generator, clips: int) -> tuple[Floats, Floats, Floats]:
    """Hits, true and estimated events of clips."""
    true = rng.integers(1, 7, clips)
    hits = rng.binomial(true, rng.beta(4, 2, clips))
    return hits.astype(float), true.astype(float), (hits + rng.poisson(1.0, clips)).astype(float)


def values(
    hits: Floats, true: Floats, estimated: Floats, settings: Settings
) -> dict[str, list[float | None]]:
    """Metric -> value, low, high."""
    rates = _rates("event", hits, true, estimated, true + estimated - 2 * hits)
    part = _part({}, rates, len(true), settings)
    return {name: [m.value, m.low, m.high] for name, m in part.metrics.items()}


def main() -> None:
    rng = np.random.default_rng(1)
    sums = [np.array([column.sum()]) for column in drawn(rng, 2_000_000)]
    truth = {name: value[0] for name, value in values(*sums, Settings()).items()}
    for clips in CLIPS:
        held = dict.fromkeys(truth, 0)
        for run in range(RUNS):
            found = values(*drawn(rng, clips), Settings(draws=DRAWS, seed=run))
            for name, (_, low, high) in found.items():
                held[name] += low is not None and low <= truth[name] <= high  # type: ignore[operator]
        print(f"{clips:>3} clips: " + ", ".join(f"{name} {n / RUNS:.1%}" for name, n in held.items()))


if __name__ == "__main__":
    main()
