"""How loud is a heard event?

Conventions
-----------
Frames follow one another from the start of the clip, ``frame_s`` seconds each; their level is the mean power
in dBFS, ``-inf`` for digital silence.

:meth:`FrameLevels.level_db` asks how loud a sound is while it sounds: with p the power of the event's frames
less that of the background, smoothed over :data:`SMOOTH_S`, it is the power-weighted mean, sum p^2 / sum p.
No frame is chosen as sounding, so pauses, soft tails and a listener's generous onsets and offsets weigh next
to nothing, and a far copy of a sound is weighed as a near one. The smoothing makes the level independent of
where a sound falls on the frames: a hit of 5 ms that straddles two frames of 10 ms has half the power in
each, and without smoothing would be up to 3 dB softer.

- A frame that the event touches counts whole. What other events touch is left out, there and in the
  smoothing; where that leaves less than :data:`LEAST_FREE_S` of the event, its level is not measurable.
- The background is the :data:`BACKGROUND_QUANTILE` of the smoothed power of the frames that no event touches
  and that lie at most :data:`NEAR_S` from the event; without such a frame nothing is subtracted. A low
  quantile, as sounds that nobody heard may lie there. An event that nowhere rises by more than
  :data:`LEAST_RISE` of its background is not measurable: a steady clip's rounding errors are no level.

:meth:`FrameLevels.energy_db` is RiTTA's loudness, the L2 norm of the samples in dB: it grows with duration
and holds everything that sounds during the event. A frame that the event covers in part counts with the
share covered.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earwitness.events import EPSILON_S, Event

LEAST_FREE_S = 0.2
BACKGROUND_QUANTILE = 0.1
NEAR_S = 2.0
LEAST_RISE = 1e-6
SMOOTH_S = 0.2
"""Width of the raised cosine; frames as long as it or longer are not smoothed."""


class Levels(Protocol):
    """How loud the events of one clip are."""

    def level_db(self, event: Event, others: Sequence[Event]) -> float | None:
        """Level while the event sounds, dB; None if it is not measurable beside the others."""
        ...

    def energy_db(self, event: Event) -> float | None:
        """Energy of all that sounds during the event, dB re one second at full scale; None if silent."""
        ...


class FrameLevels:
    """Levels measured on the frames of a clip.

    Args:
        frame_s: Length of a frame in seconds, positive.
        dbfs: Mean power of every frame in dBFS, shape (frames,); ``-inf`` for digital silence.

    Raises:
        ValueError: If a frame has no length or a level is not a number.
    """

    def __init__(self, frame_s: float, dbfs: ArrayLike) -> None:
        levels = np.asarray(dbfs, dtype=np.float64)
        if not (math.isfinite(frame_s) and frame_s > 0):
            raise ValueError(f"a frame must last longer than 0 s, not {frame_s!r}")
        if levels.ndim != 1 or np.isnan(levels).any() or np.isposinf(levels).any():
            raise ValueError("levels of frames must be one row of numbers or -inf")
        self.frame_s = frame_s
        self._power: NDArray[np.float64] = 10.0 ** (levels / 10.0)
        self._starts = np.arange(len(levels)) * frame_s
        self._window = np.hanning(3 + 2 * int(SMOOTH_S / (2 * frame_s) + EPSILON_S))[1:-1]

    def level_db(self, event: Event, others: Sequence[Event]) -> float | None:
        """Power-weighted mean of the power while the event sounds, less that of its background, in dBFS.

        Args:
            event: The event.
            others: Every other event of the clip, of whatever label.

        Returns:
            None if it is not measurable: too little of it is free of others, or none of it rises
            above the background.
        """
        taken = np.zeros(len(self._power), dtype=bool)
        for other in others:
            taken |= self._shares(other) > 0
        shares = self._shares(event)
        own = (shares > 0) & ~taken
        overlapped = bool((taken & (shares > 0)).any())
        if overlapped and shares[own].sum() * self.frame_s < LEAST_FREE_S - EPSILON_S:
            return None
        background = self._background(event, taken | own)
        above = np.where(own, self._power - background, 0.0)
        around = len(self._window)  # beyond the clip is silence, so that its edges are as any others
        smooth = self._smoothed(np.pad(above, around), np.pad(~taken, around, constant_values=True)).clip(0.0)
        if smooth.max() <= LEAST_RISE * background:
            return None
        return 10.0 * math.log10(float((smooth**2).sum() / smooth.sum()))

    def energy_db(self, event: Event) -> float | None:
        """Energy over the event's extent, nothing left out or subtracted; None if it is silent."""
        energy = float((self._shares(event) * self._power).sum()) * self.frame_s
        return 10.0 * math.log10(energy) if energy > 0 else None

    def _shares(self, event: Event) -> NDArray[np.float64]:
        """Share of every frame that the event covers, in [0, 1]; less than :data:`EPSILON_S` is nothing."""
        ends = np.minimum(self._starts + self.frame_s, event.offset_s)
        covered = ends - np.maximum(self._starts, event.onset_s)
        return np.where(covered > EPSILON_S, covered / self.frame_s, 0.0).clip(0.0, 1.0)

    def _background(self, event: Event, touched: NDArray[np.bool_]) -> float:
        near = (self._starts + self.frame_s > event.onset_s - NEAR_S) & (
            self._starts < event.offset_s + NEAR_S
        )
        quiet = near & ~touched
        return (
            float(np.quantile(self._smoothed(self._power, quiet), BACKGROUND_QUANTILE))
            if quiet.any()
            else 0.0
        )

    def _smoothed(self, values: NDArray[np.float64], counted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Weighted mean of the counted values within the window, at every counted one."""
        half = len(self._window) // 2
        sums, weights = (
            np.convolve(each, self._window)[half : half + len(values)][counted]
            for each in (np.where(counted, values, 0.0), counted.astype(np.float64))
        )
        return np.asarray(sums / weights)


class TrueLevels:
    """Levels known from a scene, not measured: nothing overlaps them.

    Args:
        levels_db: Level of every event, by label and onset in seconds.
    """

    def __init__(self, levels_db: Mapping[tuple[str, float], float]) -> None:
        self._levels_db = dict(levels_db)

    def level_db(self, event: Event, others: Sequence[Event]) -> float:
        """The event's level in dB.

        Raises:
            ValueError: If the scene has no such event.
        """
        for (label, onset_s), level_db in self._levels_db.items():
            if label == event.label and abs(onset_s - event.onset_s) <= EPSILON_S:
                return level_db
        raise ValueError(f"no level is known of {event.label!r} at {event.onset_s} s")

    def energy_db(self, event: Event) -> float:
        """The level over the event's duration: 10 log10 of power x seconds, dB."""
        return self.level_db(event, ()) + 10.0 * math.log10(event.duration_s)
