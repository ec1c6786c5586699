"""Building blocks of computed sounds.

Conventions
-----------
Everything is 16 kHz mono, float64 of shape (n,); times are seconds, frequencies Hz, decays the time to
fall by 60 dB.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, fftconvolve, sosfilt

RATE_HZ = 16_000
Sound = NDArray[np.float64]
Spectrum = Callable[[Sound], Sound]

_TOP_HZ = 7800.0  # partials above are left out, so nothing folds over at 8 kHz


def times(seconds: float) -> Sound:
    """The time of every sample, from 0."""
    return np.arange(int(seconds * RATE_HZ)) / RATE_HZ


def glide(n: int, *points: tuple[float, float]) -> Sound:
    """A smooth curve through (share of the length, value) points: half a cosine between neighbours."""
    at, value = (np.array(column) for column in zip(*points, strict=True))
    u = np.linspace(0, 1, n)
    i = np.clip(np.searchsorted(at, u, side="right") - 1, 0, len(at) - 2)
    share = np.clip((u - at[i]) / (at[i + 1] - at[i]), 0, 1)
    return np.asarray(value[i] + (value[i + 1] - value[i]) * (1 - np.cos(np.pi * share)) / 2)


def drift(rng: np.random.Generator, n: int, rate_hz: float) -> Sound:
    """Random smooth movement around 0 with about ``rate_hz`` new values a second."""
    k = int(n / RATE_HZ * rate_hz) + 4
    return glide(n, *zip(np.linspace(0, 1, k), rng.standard_normal(k), strict=True))


def band(sound: Sound, low: float, high: float, order: int = 1) -> Sound:
    """What lies between two frequencies (Butterworth; the slopes are 6 dB an octave times the order)."""
    return np.asarray(sosfilt(butter(order, [low, high], "band", fs=RATE_HZ, output="sos"), sound))


def noise(rng: np.random.Generator, n: int, low: float, high: float, order: int = 1) -> Sound:
    """Band-limited noise of unit level."""
    return unit_level(band(rng.standard_normal(n), low, min(high, _TOP_HZ), order))


def unit_level(sound: Sound) -> Sound:
    """Scaled to a standard deviation of 1."""
    return np.asarray(sound / sound.std())


def unit_peak(sound: Sound) -> Sound:
    """Scaled to a peak of 1."""
    return np.asarray(sound / np.abs(sound).max())


def fade(n: int, rise_s: float, fall_s: float) -> Sound:
    """A gain that rises over the first seconds and falls over the last, as a quarter of a sine."""
    gain = np.ones(n)
    rise, fall = min(int(rise_s * RATE_HZ), n), min(int(fall_s * RATE_HZ), n)
    gain[:rise] *= np.sin(np.linspace(0, np.pi / 2, rise))
    gain[n - fall :] *= np.cos(np.linspace(0, np.pi / 2, fall))
    return gain


def decay(n: int, t60: float) -> Sound:
    """An exponential from 1, 60 dB down after ``t60``."""
    return np.asarray(10 ** (-3 * np.arange(n) / RATE_HZ / t60))


def burst(rng: np.random.Generator, seconds: float, low: float, high: float, t60: float) -> Sound:
    """A noise that starts at once and decays, peak 1."""
    n = int(seconds * RATE_HZ)
    return unit_peak(noise(rng, n, low, high) * decay(n, t60))


def formants(
    centres: Sequence[float | Sound], widths: Sequence[float], gains: Sequence[float], db_per_octave: float
) -> Spectrum:
    """Resonances of a throat or a box over a falling source; a centre may move in time."""

    def spectrum(f: Sound) -> Sound:
        bumps = sum(
            g / (1 + ((f - c) / (w / 2)) ** 2) for c, w, g in zip(centres, widths, gains, strict=True)
        )
        return np.asarray((f / 500) ** (db_per_octave / 6.02) * (bumps + 0.02))

    return spectrum


def voiced(f0: Sound, spectrum: Spectrum) -> Sound:
    """All harmonics of a moving pitch under a spectrum, unit level."""
    turn = np.exp(2j * np.pi * np.cumsum(f0) / RATE_HZ)
    partial = np.ones(len(f0), complex)
    out = np.zeros(len(f0))
    for k in range(1, int(_TOP_HZ / f0.min()) + 1):
        f = k * f0
        partial *= turn
        out += np.where(f < _TOP_HZ, spectrum(f), 0) * (partial * np.exp(0.7j * k * k)).imag
    return unit_level(out)


def ring(n: int, partials: Sound, t60: Sound, gains: Sound, rng: np.random.Generator | None = None) -> Sound:
    """Struck partials that decay; with ``rng`` their phases are random, else they start at 0."""
    t = np.arange(n) / RATE_HZ
    out = np.zeros(n)
    for f, fall, gain in zip(partials, t60, gains, strict=True):
        if f < _TOP_HZ:
            phase = rng.uniform(0, 2 * np.pi) if rng else 0.0
            out += gain * np.sin(2 * np.pi * f * t + phase) * decay(n, fall)
    return out


def spread(rng: np.random.Generator, low: float, high: float, k: int) -> Sound:
    """``k`` frequencies, even on a logarithmic scale."""
    return np.asarray(np.exp(rng.uniform(np.log(low), np.log(high), k)))


def place(out: Sound, sound: Sound, at_s: float) -> None:
    """Add a sound into ``out`` from a time on; what reaches beyond the end is cut."""
    start = int(at_s * RATE_HZ)
    part = sound[: max(len(out) - start, 0)]
    out[start : start + len(part)] += part


def room(rng: np.random.Generator, sound: Sound, t60: float, wet: float) -> Sound:
    """Add a diffuse room: exponentially decaying noise (Moorer, 1979)."""
    n = int(t60 * RATE_HZ)
    tail = band(rng.standard_normal(n) * decay(n, t60), 150, 6000)
    tail /= np.sqrt((tail**2).sum())
    return np.asarray(sound + wet * fftconvolve(sound, tail)[: len(sound)])
