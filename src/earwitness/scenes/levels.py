"""How loud a sound is, as one number.

Conventions
-----------
``lufs`` is the gated loudness of ITU-R BS.1770-4 of a mono sound, with the weighting filters that De Man
derived (they are the standard's at 48 kHz), in blocks as pyloudnorm takes them: a full-scale sine of 997 Hz
has -3.01. The gate is at -70 LUFS for a sound that peaks at 1 and moves with the peak, so that it does not
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
from scipy.signal import sosfilt

from earwitness import audio

MEASURES = ("lufs", "rms")
BLOCK_S = 0.4

_GATE_LUFS, _OFFSET_DB = -70.0, -0.691


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
    level = _loudness(samples, rate_hz, top) if measure == "lufs" else audio.level_dbfs(samples)
    if level is None:
        raise ValueError("nothing in the sound is loud enough for the gate of BS.1770, even at full scale")
    return level


def _loudness(samples: NDArray[np.floating[Any]], rate_hz: int, top: float) -> float | None:
    """Gated loudness, or None if nothing passes the gate; pyloudnorm's blocks, in a third of its time.

    No dot product, whose last bits depend on how many threads BLAS has. A block ends where the fourth after
    it begins, so quarters are summed once.
    """
    squares = np.square(sosfilt(_weighting(rate_hz), samples.astype(np.float64, copy=False)))
    if len(squares) < BLOCK_S * rate_hz:
        return _lufs(float(squares.mean()))
    count = round((len(squares) / rate_hz - BLOCK_S) / (BLOCK_S / 4)) + 1
    *begins, end = (int(BLOCK_S * (i * 0.25) * rate_hz) for i in range(count + 4))
    quarters = np.add.reduceat(squares[:end], begins)
    powers = (quarters[:-3] + quarters[1:-2] + quarters[2:-1] + quarters[3:]) / (BLOCK_S * rate_hz)
    powers = powers[powers >= top**2 * 10 ** ((_GATE_LUFS - _OFFSET_DB) / 10)]
    return _lufs(float(powers[powers > powers.mean() / 10].mean())) if len(powers) else None


def _lufs(power: float) -> float:
    return _OFFSET_DB + 10 * math.log10(power)


@lru_cache(maxsize=8)
def _weighting(rate_hz: int) -> NDArray[np.float64]:
    """The two stages of K-weighting as second-order sections, (2, 6)."""
    import pyloudnorm  # takes longer to load than all else that a worker needs, and few workers measure

    meter = pyloudnorm.Meter(rate_hz, filter_class="DeMan")
    return np.array([np.concatenate([stage.b, stage.a]) for stage in meter._filters.values()])
