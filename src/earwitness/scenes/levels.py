"""How loud a sound is, as one number.

Conventions
-----------
``lufs`` is the gated loudness of ITU-R BS.1770-4 of a mono sound, by pyloudnorm with the weighting filters
that De Man derived (they are the standard's at 48 kHz): a full-scale sine of 997 Hz has -3.01. It is
measured after scaling the sound to a peak of 1 and corrected back, so that the gate (-70 LUFS) does not
depend on how quietly a sound was recorded and gains add exactly. A sound shorter than one block of 0.4 s has
no block: its level is the K-weighted mean square over the whole sound, without blocks or gate, on the same
scale (-0.691 + 10 lg).
``rms`` is the RMS level in dBFS: a full-scale sine has -3.01.
Silence has no level.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness import audio

MEASURES = ("lufs", "rms")
BLOCK_S = 0.4


def level_db(samples: NDArray[np.floating[Any]], rate_hz: int, measure: str) -> float:
    """The level of a mono sound.

    Args:
        samples: (n,), full scale 1.
        measure: One of :data:`MEASURES`.

    Returns:
        LUFS or dBFS.

    Raises:
        ValueError: If there is no such measure, a sample is not finite, or the sound is silent or nothing
            of it passes the gate (inaudibly low sound alone).
    """
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {', '.join(MEASURES)}, not {measure!r}")
    top = audio.peak(samples)
    if not math.isfinite(top):
        raise ValueError("samples must be finite; some are NaN or infinite")
    if top == 0:
        raise ValueError("silence has no level")
    scaled = samples.astype(np.float64) / top
    level = _loudness(scaled, rate_hz) if measure == "lufs" else audio.level_dbfs(scaled)
    if level is None or not math.isfinite(level):
        raise ValueError("nothing in the sound is loud enough for the gate of BS.1770, even at full scale")
    return level + 20 * math.log10(top)


def _loudness(samples: NDArray[np.float64], rate_hz: int) -> float:
    meter = _meter(rate_hz)
    if len(samples) >= BLOCK_S * rate_hz:
        return float(meter.integrated_loudness(samples))
    for stage in meter._filters.values():
        samples = stage.apply_filter(samples)
    return -0.691 + 10 * math.log10(float(np.mean(np.square(samples))))


@lru_cache(maxsize=8)
def _meter(rate_hz: int) -> Any:
    import pyloudnorm  # takes longer than all else that a worker needs, and workers measure nothing

    return pyloudnorm.Meter(rate_hz, filter_class="DeMan", block_size=BLOCK_S)
