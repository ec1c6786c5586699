"""Which of several systems' event tables are nearer the truth?

Conventions
-----------
Two systems are compared on the clips that both heard, by pooled F1: the difference of ratios of sums, its
interval drawn from the same clips for both, and a test that swaps the two systems' names clip by clip
(stats.intervals). p values are corrected by Holm over all pairs and metrics. A winner is named only where
tasks.summary would.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from earwitness.stats import intervals, resampling
from earwitness.tasks.event_scores import EVENT, SEGMENT, Settings, SystemScores
from earwitness.tasks.rows import Comparison
from earwitness.tasks.summary import decided


def compared(systems: Sequence[SystemScores], settings: Settings) -> tuple[Comparison, ...]:
    """Every pair of systems, by event-based and by segment-based F1."""
    found = [
        _pair(prefix, *pair, settings) for prefix in (EVENT, SEGMENT) for pair in combinations(systems, 2)
    ]
    corrected = iter(intervals.holm([one.p for one in found if one.p is not None]))
    return tuple(one if one.p is None else decided(one, next(corrected)) for one in found)


def _pair(prefix: str, first: SystemScores, second: SystemScores, settings: Settings) -> Comparison:
    clips = [clip for clip in first.by_clip if clip in second.by_clip]
    rows = np.array([[*_f1_of(prefix, first, clip), *_f1_of(prefix, second, clip)] for clip in clips], float)
    rows = rows.reshape(-1, 4)
    rows = rows[(rows[:, 1] > 0) | (rows[:, 3] > 0)]  # a clip with nothing on either side says nothing
    plain = Comparison(
        f"{prefix}_f1", first.system, second.system, len(rows), None, None, None, None, None, items=len(clips)
    )
    if len(rows) < 2 or any(not one.whole.counts[f"{prefix}_true"] for one in (first, second)):
        return replace(plain, note="fewer than two clips of both have true events")
    kinds, counts = resampling.kinds_of(rows)
    rng = np.random.default_rng(settings.seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = intervals.difference_interval(kinds, counts, settings.level, settings.draws, rng, 1.0)
    if bounds is None or not np.isfinite(bounds).all():
        return replace(plain, note="too few clips have events of both")
    difference = float(intervals.difference_of_means(counts @ kinds))
    return replace(
        plain,
        difference=difference,
        low=bounds[0],
        high=bounds[1],
        p=intervals.swap_test(kinds, counts, settings.draws, rng),
    )


def _f1_of(prefix: str, system: SystemScores, clip: str) -> tuple[int, int]:
    """Numerator and denominator of a clip's F1."""
    counts = system.by_clip[clip]
    return 2 * counts[f"{prefix}_hits"], counts[f"{prefix}_true"] + counts[f"{prefix}_estimated"]
