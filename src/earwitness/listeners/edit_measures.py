"""What changed between two clips, measured from their samples: the answer to ``edit_measures``.

Conventions: both clips are mixed to mono and resampled to 16 kHz, so nothing above 8 kHz counts. A frame
is :data:`FRAME_S` long; frame k covers ``k FRAME_S`` to ``(k + 1) FRAME_S`` of the clip. Clips of different
length are compared over what both have; no frame of the longer one is stretched or dropped elsewhere.

Log-spectral distance of a frame (Gray and Markel, Distance measures for speech processing, IEEE TASSP
24(5), 1976, the root mean square over frequency), here over mel bands in place of single bins:

    lsd = sqrt( (1/B) sum_b (S_b - E_b)^2 ),   S_b = 10 log10 max(P_b, floor)

with P_b the power in band b of B = 64 (triangles on HTK's mel scale, 50 to 8000 Hz), averaged over the
nine spectra of the frame (25 ms Hann windows that all lie within it). Averaging over bands and over 0.1 s
keeps two takes of one noise close, where single bins of single spectra would differ by 7 to 8 dB whatever
was done to them. The floor is :data:`FLOOR_DB` from a full-scale sine, so silence is defined and inaudible
residue counts nothing. A mere gain of g dB has a distance of |g| where both lie above the floor.
"""

import math
from functools import cache
from typing import Any

import numpy as np
import scipy.fft
import scipy.sparse
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from earwitness import audio
from earwitness.audio import Clip

Array = NDArray[np.float32]

FRAME_S = 0.1
FLOOR_DB = -80.0
RATE_HZ = 16_000

_FRAME = 1600
_WINDOW, _STEP, _FFT = 400, 150, 512
_BANDS, _LOW_HZ, _HIGH_HZ = 64, 50.0, 8000.0
_BLOCK = 64  # frames whose spectra are held at a time


def measured(source: Clip, edited: Clip) -> dict[str, Any]:
    """A reply to the question ``edit_measures``; distances and levels to a thousandth of a dB."""
    before, after = audio.mono(source, RATE_HZ), audio.mono(edited, RATE_HZ)
    common = min(len(before), len(after))
    distances = log_spectral_distance(before[:common], after[:common])
    return {
        "frame_s": FRAME_S,
        "lsd_db": [round(float(value), 3) for value in distances],
        "source_dbfs": _levels(before),
        "edited_dbfs": _levels(after),
        "source_s": source.duration_s,
        "edited_s": edited.duration_s,
    }


def log_spectral_distance(first: Array, second: Array) -> NDArray[np.float64]:
    """Distance of every frame in dB, at least 0.

    Args:
        first, second: (n,) samples each at 16 kHz, full scale 1.

    Returns:
        (ceil(n / 1600),) values; 0 where both frames have the same spectrum above the floor.
    """
    gap = band_levels(first) - band_levels(second)
    distances: NDArray[np.float64] = np.sqrt(np.mean(np.square(gap), axis=1))
    return distances


def band_levels(samples: Array) -> NDArray[np.float64]:
    """(frames, 64) levels in dB of the mel bands, 0 for a full-scale sine, at least :data:`FLOOR_DB`."""
    frames = math.ceil(len(samples) / _FRAME)
    padded = np.zeros((frames, _FRAME), dtype=np.float32)
    padded.ravel()[: len(samples)] = samples
    power = np.empty((frames, _BANDS))
    for start in range(0, frames, _BLOCK):
        windows = sliding_window_view(padded[start : start + _BLOCK], _WINDOW, axis=1)[:, ::_STEP]
        spectra = np.abs(scipy.fft.rfft(windows * _hann(), _FFT, axis=2))
        lines = np.square(spectra, dtype=np.float64).mean(axis=1)
        power[start : start + _BLOCK] = (_mel_bands() @ lines.T).T
    full_scale = float(np.sum(_hann())) ** 2 / 4  # power of the peak line of a full-scale sine
    return 10 * np.log10(np.maximum(power / full_scale, 10 ** (FLOOR_DB / 10)))


def _levels(samples: Array) -> list[float | None]:
    """RMS level of every frame in dBFS, None for silence."""
    levels = (audio.level_dbfs(samples[start : start + _FRAME]) for start in range(0, len(samples), _FRAME))
    return [None if level is None else round(level, 3) for level in levels]


@cache
def _hann() -> Array:
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_WINDOW) / _WINDOW)).astype(np.float32)


@cache
def _mel_bands() -> scipy.sparse.csr_array:
    """(64, 257) triangles, linear on HTK's mel scale; the lowest bands hold a line each at least."""
    hz = np.linspace(0.0, RATE_HZ / 2, _FFT // 2 + 1)
    low, high = (2595 * math.log10(1 + edge / 700) for edge in (_LOW_HZ, _HIGH_HZ))
    edges = 700 * (10 ** (np.linspace(low, high, _BANDS + 2)[:, np.newaxis] / 2595) - 1)
    rising = (hz - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - hz) / (edges[2:] - edges[1:-1])
    return scipy.sparse.csr_array(np.maximum(0.0, np.minimum(rising, falling)))
