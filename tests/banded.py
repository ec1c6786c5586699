"""Embedding models that a test can afford, and folders of clips for them.

They are real ones: levels of eight bands of the spectrum, a frame every quarter of a second. Few dimensions
make Fréchet distances possible with few clips.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from earwitness import audio
from earwitness.backbones.base import Embedding, Floats

RATE_HZ = 16_000
WIDTH = 8


class Bands:
    """Levels of eight bands; their mean is the clip, and stands for the logits of eight classes."""

    name, version, rate_hz, width = "bands", "v1", RATE_HZ, WIDTH
    classes: tuple[str, ...] = tuple(f"band {number}" for number in range(WIDTH))

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"rate_hz": RATE_HZ, "window_s": 0.25}

    def ready(self) -> None:
        """Nothing to load."""

    def embed(self, samples: Floats) -> Embedding:
        size = RATE_HZ // 4
        padded = np.pad(samples, (0, -len(samples) % size)).reshape(-1, size)
        power = np.abs(np.fft.rfft(padded, axis=1))[:, 1:] ** 2 / size
        bands = power.reshape(len(power), WIDTH, -1).mean(axis=2)
        frames = np.log(bands + 1e-6).astype(np.float32)
        mean = frames.mean(axis=0)
        return Embedding(frames, mean, mean)


class Tagless(Bands):
    """The same, but no classifier."""

    name, classes = "tagless", ()

    def embed(self, samples: Floats) -> Embedding:
        found = super().embed(samples)
        return Embedding(found.frames, found.clip, None)


class Worded(Bands):
    """The same, and words: a caption ``band 3`` lies where the third band is loud."""

    name = "worded"

    def words(self, texts: Sequence[str]) -> Floats:
        rows = [[5.0 if f"band {band}" in text else -5.0 for band in range(WIDTH)] for text in texts]
        return np.array(rows, np.float32)


def band(number: int, seed: int, seconds: float = 1.0, gain: float = 0.05) -> Floats:
    """Noise within one band of the spectrum, (n,)."""
    n = round(seconds * RATE_HZ)
    rng = np.random.default_rng(seed)
    spectrum = np.fft.rfft(rng.standard_normal(n))
    edges = np.linspace(0, len(spectrum), WIDTH + 1).astype(int)
    spectrum[: edges[number]] = 0
    spectrum[edges[number + 1] :] = 0
    samples = np.fft.irfft(spectrum, n)
    return (gain * samples / np.abs(samples).max() + 1e-3 * rng.standard_normal(n)).astype(np.float32)


def write(path: Path, samples: Floats, rate_hz: int = RATE_HZ) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    audio.write_wav(path, samples[np.newaxis].astype(np.float32), rate_hz)
    return path


def folder(path: Path, names: Iterable[str], seed: int = 0, **how: Any) -> list[Path]:
    """A clip for every name, each in the band of its place."""
    return [
        write(path / f"{name}.wav", band(at % WIDTH, 1000 * seed + at, **how))
        for at, name in enumerate(names)
    ]
