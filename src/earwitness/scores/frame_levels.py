"""How loud is a heard event?

Conventions
-----------
Frames follow one another from the start of the clip, ``frame_s`` seconds each; their level is the mean power
in dBFS, ``-inf`` for digital silence. A frame that an event covers in part counts with the share covered.

:meth:`FrameLevels.level_db` asks how loud a sound is while it sounds: the mean power over the event's active
frames, less the power of what lies under it.

- Only frames without another event count; where others overlap the event and leave less than
  :data:`LEAST_FREE_S` of it, the level is not measurable.
- The background is the :data:`BACKGROUND_QUANTILE` of the power of the frames that no event touches and that
  lie at most :data:`NEAR_S` from the event; without such a frame nothing is subtracted.
- A frame is active if its level is at least :data:`ABOVE_BACKGROUND_DB` above the background and at most
  :data:`BELOW_LOUDEST_DB` below the event's loudest frame. Relative to the event itself, so that a far copy
  of a sound is measured over the same frames as a near one, and that pauses and a listener's generous
  onsets and offsets dilute neither.

:meth:`FrameLevels.energy_db` is RiTTA's loudness, the L2 norm of the samples in dB: it grows with duration
and holds everything that sounds during the event.
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
ABOVE_BACKGROUND_DB = 3.0
BELOW_LOUDEST_DB = 20.0


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

    def level_db(self, event: Event, others: Sequence[Event]) -> float | None:
        """Mean power while the event sounds, less that of its background, in dBFS.

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
        free = np.where(taken, 0.0, shares)
        overlapped = bool((taken & (shares > 0)).any())
        if not free.any() or (overlapped and free.sum() * self.frame_s < LEAST_FREE_S - EPSILON_S):
            return None
        background = self._background(event, taken | (shares > 0))
        loudest = self._power[free > 0].max()
        least = max(background * 10 ** (ABOVE_BACKGROUND_DB / 10), loudest * 10 ** (-BELOW_LOUDEST_DB / 10))
        active = np.where(self._power >= least, free, 0.0)
        if loudest == 0.0 or not active.any():
            return None
        mean = float((active * self._power).sum() / active.sum())
        return 10.0 * math.log10(mean - background)

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
        quiet = self._power[near & ~touched]
        return float(np.quantile(quiet, BACKGROUND_QUANTILE)) if len(quiet) else 0.0


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
