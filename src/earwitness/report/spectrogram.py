"""A clip as a small picture: log-mel energy over time, drawn the same way for every clip.

Conventions
-----------
The picture is :data:`WIDTH` x :data:`HEIGHT` pixels whatever the clip's length: time runs left to
right over the whole clip, frequency bottom to top from :data:`LOW_HZ` to :data:`HIGH_HZ`, evenly in
mel (O'Shaughnessy's 2595 log10(1 + f / 700)). Levels are dB below a full-scale sine; the shades span
:data:`RANGE_DB` below the clip's loudest cell, or below :data:`QUIETEST_TOP_DB` when the clip is
quieter than that, so that near-silence looks dark. Same samples, same bytes.
"""

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import fft, sparse

from earwitness.files import whole

WIDTH, HEIGHT = 800, 128
RATE_HZ = 16_000
LOW_HZ, HIGH_HZ = 50.0, 8000.0
RANGE_DB = 70.0
QUIETEST_TOP_DB = -50.0

_WINDOW = 1024  # 64 ms: narrow enough in frequency for the lowest mel bands
_SHADES = 64  # more cannot be told apart, and the files would be larger
_INKS = ("#0b0f17", "#16263a", "#2b4a66", "#587f99", "#a3bfca", "#f4f1e6")

Floats = NDArray[np.float32]


def log_mel(sound: Floats) -> Floats:
    """Levels in dB, shape (HEIGHT, WIDTH), highest band first.

    Args:
        sound: (n,) mono samples at :data:`RATE_HZ`, n >= 1.
    """
    window, bands = _window(), _bands()
    padded = np.pad(sound.astype(np.float32, copy=False), _WINDOW // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)
    # A column longer than half a window is looked at several times and keeps its loudest moment, so
    # that a click in a long clip is not stepped over.
    looks = max(1, math.ceil(len(sound) / WIDTH / (_WINDOW // 2)))
    loudest = np.zeros((HEIGHT, WIDTH), dtype=np.float32)
    for look in range(looks):
        centres = (np.arange(WIDTH) + (look + 0.5) / looks) * (len(sound) / WIDTH)
        spectrum = fft.rfft(frames[centres.astype(np.int64)] * window)
        power = spectrum.real**2 + spectrum.imag**2
        np.maximum(loudest, bands @ power.T, out=loudest)
    return np.asarray(10 * np.log10(loudest + 1e-12), dtype=np.float32)


def draw(path: Path, sound: Floats) -> None:
    """Write the picture of ``sound`` ((n,) mono at :data:`RATE_HZ`) as a PNG; never half a file."""
    levels = log_mel(sound)
    floor = max(float(levels.max()), QUIETEST_TOP_DB) - RANGE_DB
    shades = np.clip((levels - floor) / RANGE_DB, 0, 1) * (_SHADES - 1)
    picture = Image.fromarray(shades.round().astype(np.uint8))
    picture.putpalette(_palette())
    with whole(path) as part:
        picture.save(part, format="PNG", compress_level=3)


@cache
def _window() -> Floats:
    """A Hann window scaled so that a full-scale sine peaks at 0 dB."""
    window = np.hanning(_WINDOW + 1)[:-1]
    return np.asarray(window * (2 / window.sum()), dtype=np.float32)


@cache
def _bands() -> Any:
    """Triangular mel bands of height 1, shape (HEIGHT, bins), highest first; nearly all of it is zero."""
    low, high = (2595 * math.log10(1 + hz / 700) for hz in (LOW_HZ, HIGH_HZ))
    edges = 700 * (10 ** (np.linspace(low, high, HEIGHT + 2) / 2595) - 1)
    bins = fft.rfftfreq(_WINDOW, 1 / RATE_HZ)[:, None]
    rise = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    fall = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    bands = np.clip(np.minimum(rise, fall), 0, None)
    # The lowest bands can lie between two bins: each takes at least its nearest bin.
    nearest = np.abs(bins - edges[1:-1]).argmin(axis=0)
    columns = np.arange(HEIGHT)
    bands[nearest, columns] = np.maximum(bands[nearest, columns], 0.5)
    return sparse.csr_array(bands.T[::-1].astype(np.float32))


@cache
def _palette() -> bytes:
    inks = np.array([[int(ink[i : i + 2], 16) for i in (1, 3, 5)] for ink in _INKS])
    at = np.linspace(0, len(_INKS) - 1, _SHADES)
    ramp = np.stack([np.interp(at, range(len(_INKS)), inks[:, channel]) for channel in range(3)], axis=1)
    return ramp.round().astype(np.uint8).tobytes()
