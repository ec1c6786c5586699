"""Mixtures that a detector learns from: one to five sounds of a bank at random places in ten seconds.

Conventions
-----------
Sounds are slices of a bank's clips (see scenes.slices), so where an event begins and ends there is sound. A
mixture is drawn from its seed and number alone: how many sounds, each evenly; of which class, all alike
likely; of which recording, all recordings of the class alike likely, however many clips each has; which
slice; how loud, evenly in :attr:`Mixing.quietest_db` to ``loudest_db`` (LUFS); and where, every place within
the clip alike likely. Sounds may overlap, those of one class too.

With ``augment`` some sounds are changed as another recording of the same thing might differ: played faster or
slower, with another balance of low and high, in another room; and some mixtures have a floor of noise.
A mixture is turned down if it would exceed full scale.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import soxr
from numpy.typing import NDArray
from scipy.signal import fftconvolve

from earwitness.events import Event, EventTable
from earwitness.scenes.bank import decoded
from earwitness.scenes.slices import Slice, ramps

Floats = NDArray[np.float64]

PEAK = 0.9
_LOWEST_HZ, _BANDS = 60.0, 5  # of the random balance: so many points from there to half the rate


@dataclass(frozen=True, slots=True)
class Mixing:
    """How mixtures are drawn.

    Attributes:
        most: Sounds in a mixture: 1 to this many.
        quietest_db, loudest_db: Bounds of a sound's level, LUFS.
        augment: Change the sounds, as the module tells; never where something is measured.
    """

    rate_hz: int = 16_000
    duration_s: float = 10.0
    most: int = 5
    quietest_db: float = -32.0
    loudest_db: float = -19.0
    augment: bool = False

    @property
    def samples(self) -> int:
        return round(self.duration_s * self.rate_hz)


Pools = Mapping[str, Mapping[str, tuple[Slice, ...]]]
"""Class -> recording -> its slices."""


def pools(*cuts: Mapping[str, Sequence[Slice]]) -> Pools:
    """The slices of several cuts of one bank together, by class and recording."""
    found: dict[str, dict[str, list[Slice]]] = {}
    for cut in cuts:
        for label, pieces in cut.items():
            for piece in pieces:
                found.setdefault(label, {}).setdefault(piece.source.recording_id, []).append(piece)
    return {
        label: {recording: tuple(found[label][recording]) for recording in sorted(found[label])}
        for label in sorted(found)
    }


def fingerprint(of: Pools) -> str:
    """Changes with the sound of any slice."""
    digest = hashlib.sha256()
    for label, recordings in of.items():
        for recording, pieces in recordings.items():
            for piece in pieces:
                facts = (label, recording, piece.pcm_hash, piece.start, piece.length, piece.level_db)
                digest.update(f"{facts}\n".encode())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Planted:
    """A slice in a mixture.

    Attributes:
        speed: How much faster than recorded it is played.
        onset, length: In samples of the mixture.
        level_db: How loud it will be, LUFS.
        seed: Of its other changes; None if it stays as it is.
    """

    piece: Slice
    speed: float
    onset: int
    length: int
    level_db: float
    seed: int | None


@dataclass(frozen=True, slots=True)
class Mixture:
    """What is heard when, before a sample is made.

    Attributes:
        sounds: As they were drawn.
        noise: Seed of the noise under them; None without.
    """

    sounds: tuple[Planted, ...]
    noise: int | None
    mixing: Mixing

    @property
    def events(self) -> EventTable:
        """The truth, in seconds."""
        rate = self.mixing.rate_hz
        found = (
            Event(one.piece.source.label, one.onset / rate, (one.onset + one.length) / rate)
            for one in self.sounds
        )
        return EventTable(tuple(found), self.mixing.duration_s)


def mixture(of: Pools, mixing: Mixing, seed: int, number: int) -> Mixture:
    """Mixture ``number`` of those with that seed."""
    rng = np.random.default_rng([seed, number])
    labels = list(of)
    sounds = []
    for _ in range(int(rng.integers(1, mixing.most, endpoint=True))):
        recordings = of[labels[int(rng.integers(len(labels)))]]
        pieces = recordings[list(recordings)[int(rng.integers(len(recordings)))]]
        piece = pieces[int(rng.integers(len(pieces)))]
        speed = 1.0
        if mixing.augment and rng.random() < 0.6:
            speed = float(2 ** rng.uniform(-0.35, 0.35))
        length = min(round(piece.length / speed), mixing.samples)
        onset = int(rng.integers(0, mixing.samples - length, endpoint=True))
        level_db = float(rng.uniform(mixing.quietest_db, mixing.loudest_db))
        changes = int(rng.integers(2**31)) if mixing.augment else None
        sounds.append(Planted(piece, speed, onset, length, level_db, changes))
    noise = int(rng.integers(2**31)) if mixing.augment and rng.random() < 0.5 else None
    return Mixture(tuple(sounds), noise, mixing)


def rendered(one: Mixture) -> NDArray[np.float32]:
    """The samples, (n,) mono; the same mixture gives the same.

    Raises:
        UserError: If a clip of the bank cannot be used any more.
    """
    out = np.zeros(one.mixing.samples)
    for sound in one.sounds:
        out[sound.onset : sound.onset + sound.length] += _sound(sound, one.mixing.rate_hz)
    if one.noise is not None:
        out += _noise(len(out), one.mixing.rate_hz, np.random.default_rng(one.noise))
    top = float(np.abs(out).max())
    samples: NDArray[np.float32] = (out * min(1.0, PEAK / top)).astype(np.float32)
    return samples


def _sound(planted: Planted, rate_hz: int) -> Floats:
    """A slice at its level. (A change moves the loudness by its power, which is near enough.)"""
    piece = planted.piece
    clip = decoded(piece.source, rate_hz).samples[piece.start : piece.start + piece.length]
    sound: Floats = clip * ramps(len(clip), piece.fade)
    before = float(np.square(sound).mean())
    if planted.speed != 1.0:
        sound = soxr.resample(sound, rate_hz * planted.speed, rate_hz, quality="QQ")
        sound = np.pad(sound, (0, max(0, planted.length - len(sound))))[: planted.length]
    if planted.seed is not None:
        sound = _changed(sound, rate_hz, np.random.default_rng(planted.seed))
    gain_db = planted.level_db - piece.level_db
    gain = 10 ** (gain_db / 20) * np.sqrt(before / max(float(np.square(sound).mean()), 1e-12))
    loud: Floats = sound * gain
    return loud


def _changed(sound: Floats, rate_hz: int, rng: np.random.Generator) -> Floats:
    """The sound with another balance of low and high, or in another room, or as it is."""
    if rng.random() < 0.7:
        n = 1 << (len(sound) - 1).bit_length()
        octave = np.log2(np.maximum(np.fft.rfftfreq(n, 1 / rate_hz), _LOWEST_HZ))
        points = np.linspace(np.log2(_LOWEST_HZ), np.log2(rate_hz / 2), _BANDS)
        gain = 10 ** (np.interp(octave, points, rng.normal(0.0, 4.0, _BANDS)) / 20)
        sound = np.fft.irfft(np.fft.rfft(sound, n) * gain, n)[: len(sound)]
    if rng.random() < 0.3:
        length = int(rng.uniform(0.05, 0.3) * rate_hz)
        echo = rng.normal(size=length) * np.exp(-6 * np.arange(length) / length)
        echo *= rng.uniform(0.1, 0.6) / np.sqrt(np.square(echo).sum())
        echo[0] = 1.0
        sound = fftconvolve(sound, echo)[: len(sound)]
    return sound


def _noise(samples: int, rate_hz: int, rng: np.random.Generator) -> Floats:
    """Noise between white and a little more than pink, at -70 to -35 dBFS."""
    hertz = np.maximum(np.fft.rfftfreq(samples, 1 / rate_hz), 50.0)
    spectrum = rng.normal(size=len(hertz)) + 1j * rng.normal(size=len(hertz))
    noise: Floats = np.fft.irfft(spectrum * hertz ** -rng.uniform(0.0, 1.2), samples)
    noise *= 10 ** (rng.uniform(-70.0, -35.0) / 20) / noise.std()
    return noise
