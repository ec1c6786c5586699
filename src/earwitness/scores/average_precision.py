"""Average precision: how well scores rank what is there above what is not.

Conventions
-----------
AP of a class is the sum over the distinct scores, from the highest down, of precision times the rise in
recall, ``sum_n (R_n - R_(n-1)) P_n``, without interpolation, as scikit-learn's ``average_precision_score``
defines it: equal scores are one step, so their order does not matter. A class that is nowhere there has no
recall and is unscored (None), never 0 or 1; the mean (mAP) is over the scored classes. Chance level of a
class is the share of cells in which it is there.

*Frame mAP* pools the cells of all clips of a class. Cells of one clip are no independent draws, so
:func:`resampled` draws whole clips.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def average_precision(truth: NDArray[np.bool_], scores: NDArray[np.floating]) -> float | None:
    """Of one class.

    Args:
        truth: (n,) whether it is there.
        scores: (n,) finite, higher means surer.

    Returns:
        In [0, 1]; None if it is nowhere there.

    Raises:
        ValueError: If the shapes differ or a score is not finite.
    """
    ranked = _Ranked(truth, scores)
    return ranked.precision(np.ones(len(truth))) if truth.any() else None


def by_class(truth: Bools, scores: NDArray[np.floating], names: Sequence[str]) -> dict[str, float | None]:
    """Frame AP of every class.

    Args:
        truth, scores: (clips, cells, classes).
        names: Of the classes.
    """
    return {
        name: average_precision(truth[..., number].ravel(), scores[..., number].ravel())
        for number, name in enumerate(names)
    }


def mean(values: Mapping[str, float | None], names: Sequence[str] | None = None) -> float | None:
    """The mean over the scored classes (of those named); None if there is none."""
    scored = [v for name, v in values.items() if v is not None and (names is None or name in names)]
    return float(np.mean(scored)) if scored else None


def resampled(truth: Bools, scores: NDArray[np.floating], *, draws: int, rng: np.random.Generator) -> Floats:
    """AP of every class in ``draws`` bootstrap samples of whole clips, (draws, classes).

    NaN where a sample has no cell of a class; :func:`numpy.nanmean` over classes is the mAP of a sample.

    Args:
        truth, scores: (clips, cells, classes).
    """
    clips, cells, classes = truth.shape
    times = rng.multinomial(clips, np.full(clips, 1 / clips), size=draws)
    out = np.full((draws, classes), np.nan)
    for number in range(classes):
        if not truth[..., number].any():
            continue
        ranked = _Ranked(truth[..., number].ravel(), scores[..., number].ravel())
        there = truth[..., number].any(axis=1)
        for draw in range(draws):
            if times[draw, there].any():
                out[draw, number] = ranked.precision(np.repeat(times[draw], cells).astype(np.float64))
    return out


class _Ranked:
    """The cells of one class in falling order of score, sorted once for many samples."""

    def __init__(self, truth: NDArray[np.bool_], scores: NDArray[np.floating]) -> None:
        if truth.shape != scores.shape or truth.ndim != 1:
            raise ValueError(f"truth {truth.shape} and scores {scores.shape} must be alike, of one dimension")
        if not np.isfinite(scores).all():
            raise ValueError("scores must be finite")
        self._order = np.argsort(-scores, kind="stable")
        falling = scores[self._order]
        self._ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
        self._truth = truth[self._order]

    def precision(self, weights: Floats) -> float:
        """AP with a weight for every cell, some cell of the class having one above 0."""
        ordered = weights[self._order]
        found = np.cumsum(ordered * self._truth)[self._ends]
        said = np.cumsum(ordered)[self._ends]
        gained = np.diff(found, prepend=0.0)
        steps = gained > 0
        return float((gained[steps] / found[-1] * found[steps] / said[steps]).sum())
