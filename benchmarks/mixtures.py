"""Two-event mixtures with known truth from a folder of clips, and the split that keeps tuning honest.

Split: the recordings of one label are ordered by the sha256 of their ``recording_id`` and dealt in
turn to ``tune`` and ``test``. No recording (nor any variant cut from it) is on both sides, every
label with two recordings has one on each, and nothing but the ids decides.

Mixture: 10 s at 16 kHz. Each of two clips of different labels loses its leading part below -40 dB of
its peak, is cut to its length in the mixture with 10 ms ramps and set to its peak level; both lie one
after the other over steady noise. The truth is where their first and last audible samples were put.
"""

import csv
import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import soundfile as sf
from numpy.typing import NDArray

T = TypeVar("T")
Samples = NDArray[np.float32]
Side = Literal["tune", "test"]
Pool = Mapping[str, Mapping[str, Sequence[Path]]]
"""label -> recording_id -> clips cut from it."""

RATE_HZ = 16000
CLIP_S = 10.0
EVENT_S = (0.5, 4.0)
PEAK_DBFS = (-20.0, -1.0)
NOISE_DBFS = (-70.0, -50.0)
GAPS_S = ((0.0, 0.25, 0.25), (0.25, 1.0, 0.35), (1.0, 3.0, 0.4))
"""Ranges of the silence between the events, each with its share of the mixtures."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One event of a mixture; times in seconds."""

    label: str
    recording_id: str
    onset_s: float
    offset_s: float


@dataclass(frozen=True, slots=True)
class Mixture:
    """``samples`` is (n,) float32 at 16 kHz; ``events`` are in order of time."""

    samples: Samples
    events: tuple[Placed, Placed]
    gap_s: float


def split(recordings: Mapping[str, str]) -> dict[str, Side]:
    """Side of every recording, given its label (see the module's head)."""
    by_label: dict[str, list[str]] = defaultdict(list)
    for recording, label in recordings.items():
        by_label[label].append(recording)
    sides: dict[str, Side] = {}
    for ids in by_label.values():
        ids.sort(key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        sides |= {name: "test" if index % 2 else "tune" for index, name in enumerate(ids)}
    return sides


def pool(clips: Path, side: Side) -> Pool:
    """Clips of one side that are long enough to be an event, by label and recording."""
    rows = _rows(clips)
    sides = split({row["recording_id"]: row["label"] for row in rows})
    found: dict[str, dict[str, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        path = clips / row["file_name"]
        if sides[row["recording_id"]] == side and len(_sound(path)) >= EVENT_S[0] * RATE_HZ:
            found[row["label"]][row["recording_id"]].append(path)
    return found


def labels(clips: Path) -> set[str]:
    """Every label of the folder, with or without a usable clip."""
    return {row["label"] for row in _rows(clips)}


def _rows(clips: Path) -> list[dict[str, str]]:
    with (clips / "metadata.csv").open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def mixtures(rng: np.random.Generator, clips: Pool, labels: Sequence[str], n: int) -> Iterator[Mixture]:
    """``n`` mixtures of two different labels; labels, then recordings, then clips are drawn evenly."""
    for _ in range(n):
        chosen = [labels[i] for i in rng.choice(len(labels), size=2, replace=False)]
        recordings = [_pick(rng, sorted(clips[label])) for label in chosen]
        sounds = [_sound(_pick(rng, clips[c][r])) for c, r in zip(chosen, recordings, strict=True)]
        yield mix(rng, sounds, chosen, recordings)


def mix(
    rng: np.random.Generator, sounds: Sequence[Samples], labels: Sequence[str], recordings: Sequence[str]
) -> Mixture:
    """Two sounds one after the other; lengths, levels, gap, place and noise are drawn."""
    total = round(CLIP_S * RATE_HZ)
    parts = [_leveled(sound[: round(rng.uniform(*EVENT_S) * RATE_HZ)], rng) for sound in sounds]
    low, high, _ = GAPS_S[rng.choice(len(GAPS_S), p=[share for *_, share in GAPS_S])]
    spare = total - sum(map(len, parts))
    gap = min(round(rng.uniform(low, high) * RATE_HZ), spare)
    noise = rng.standard_normal(total).astype(np.float32)
    samples = noise * np.float32(10 ** (rng.uniform(*NOISE_DBFS) / 20))
    start = int(rng.integers(spare - gap + 1))
    events = []
    for part, label, recording in zip(parts, labels, recordings, strict=True):
        samples[start : start + len(part)] += part
        events.append(Placed(label, recording, start / RATE_HZ, (start + len(part)) / RATE_HZ))
        start += len(part) + gap
    return Mixture(samples, (events[0], events[1]), gap / RATE_HZ)


def _pick(rng: np.random.Generator, options: Sequence[T]) -> T:
    return options[int(rng.integers(len(options)))]


def _leveled(sound: Samples, rng: np.random.Generator) -> Samples:
    ramp = np.linspace(0, 1, RATE_HZ // 100, dtype=np.float32)
    out = sound.copy()
    out[: len(ramp)] *= ramp
    out[-len(ramp) :] *= ramp[::-1]
    return out * np.float32(10 ** (rng.uniform(*PEAK_DBFS) / 20) / np.abs(out).max())


@lru_cache(maxsize=1000)
def _sound(path: Path) -> Samples:
    """The clip from its first to its last sample above -40 dB of its peak."""
    samples, rate = sf.read(path, dtype="float32")
    if rate != RATE_HZ or samples.ndim != 1:
        raise ValueError(f"{path}: mixtures are made of 16 kHz mono clips")
    loud = np.flatnonzero(np.abs(samples) > np.abs(samples).max() / 100)
    trimmed: Samples = samples[loud[0] : loud[-1] + 1]
    return trimmed
