"""Figures of a recording: levels, clipped and silent shares, and how far up its sound reaches.

Conventions
-----------
All channels count, each for itself: nothing is downmixed, so sound that cancels in the mean is still
sound. Levels are dBFS (0 = a full-scale square wave), shares lie in [0, 1].

Bandwidth is the highest frequency at which the clip's mean power spectrum lies within
:data:`RANGE_DB` of its peak, both above :data:`LOWEST_HZ`. A share of the energy (99 % or 99.9 % below a
"roll-off") would call every clip muffled whose loudest sound is deep; 60 dB below the peak, a recording
still has its noise and room, and a low-pass filter has taken them away. On 651 real and generated
clips at 16 kHz the lowest bandwidth was 2.9 kHz, and 98 % were above 4.1 kHz; after an eighth-order
low-pass at 1 kHz 95 % were below 2.4 kHz.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import welch

from earwitness import audio

RANGE_DB = 60.0
"""Parts of the spectrum that lie further below its peak are not counted as sound."""
LOWEST_HZ = 50.0
"""Below this there is hum, wind on the microphone and offset, which are often the strongest of all."""
SILENT_DBFS = -60.0
"""A stretch of :data:`FRAME_S` in which no sample rises above this is silent."""
FRAME_S = 0.02

_WINDOW_S = 0.032  # about 31 Hz between the spectrum's points
_BLOCK_S = 60.0  # spectra are made of so much at a time, so that memory stays small


def measured(clip: audio.Clip) -> dict[str, Any]:
    """The figures that the question ``quality`` asks for (see questions.quality.QualityReply)."""
    peak = audio.peak(clip.samples)
    level = audio.level_dbfs(clip.samples)
    return {
        "rate_hz": clip.rate_hz,
        "peak_dbfs": 20 * math.log10(peak) if peak > 0 else None,
        "level_dbfs": level,
        "clipped_share": audio.clipped_share(clip.samples),
        "silent_share": silent_share(clip.samples, clip.rate_hz),
        "bandwidth_hz": bandwidth_hz(clip.samples, clip.rate_hz),
    }


def silent_share(samples: audio.Samples, rate_hz: int) -> float:
    """Share of the time of (channels, n) samples in which every channel stays below SILENT_DBFS."""
    loudest = np.abs(samples).max(axis=0)
    width = max(1, round(FRAME_S * rate_hz))
    starts = np.arange(0, len(loudest), width)
    lengths = np.diff([*starts, len(loudest)])
    silent = np.maximum.reduceat(loudest, starts) < 10 ** (SILENT_DBFS / 20)
    return float(lengths[silent].sum() / len(loudest))


def bandwidth_hz(samples: audio.Samples, rate_hz: int) -> float | None:
    """Up to which frequency (channels, n) samples hold sound; None if there is none above LOWEST_HZ."""
    hertz, power = _spectrum(samples, rate_hz)
    heard = power[hertz >= LOWEST_HZ]
    if not heard.any():
        return None
    reached = np.flatnonzero(heard >= heard.max() * 10 ** (-RANGE_DB / 10))[-1]
    return float(hertz[hertz >= LOWEST_HZ][reached])


def _spectrum(samples: audio.Samples, rate_hz: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Frequencies and mean power of all channels over the whole clip."""
    width = min(samples.shape[1], max(8, round(_WINDOW_S * rate_hz)))
    block = max(width, round(_BLOCK_S * rate_hz))
    total = np.zeros(width // 2 + 1)
    hertz = np.zeros_like(total)
    for start in range(0, samples.shape[1], block):
        part = samples[:, start : start + block].astype(np.float64)
        if part.shape[1] >= width:
            hertz, power = welch(part, rate_hz, nperseg=width, detrend=False)
            total += power.mean(axis=0) * part.shape[1]
    return hertz, total
