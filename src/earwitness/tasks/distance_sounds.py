"""What distances are made of: every clip embedded once, its frames in a file, the rest in memory."""

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from earwitness import audio
from earwitness.backbones.base import Backbone
from earwitness.backbones.embedding import embedded
from earwitness.errors import UnusableAudio

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Sound:
    """A clip that was embedded.

    Attributes:
        digital_silence: Share of its time, as in backbones.embedding.Embedded.
        clip, logits: As in backbones.base.Embedding.
        frames: How many there are; the frames themselves are in :class:`Frames`.
    """

    pcm_hash: str
    duration_s: float
    rate_hz: int
    silent: bool
    digital_silence: float
    frames: int
    clip: Floats
    logits: Floats | None


class Frames:
    """Frames of many clips in a temporary file, by the hash of their sound.

    Memory holds only where they begin. The file lies where temporary files do (``TMPDIR``) and is gone with
    the ``with`` block.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._rows = 0
        self._spans: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> "Frames":
        self._file = tempfile.TemporaryFile(prefix="earwitness-frames-", buffering=0).__enter__()
        return self

    def __exit__(self, *fault: object) -> None:
        self._file.close()

    def keep(self, pcm_hash: str, frames: Floats) -> None:
        """Keep the frames (m, width) of a sound; those of a sound that is there are the same."""
        if pcm_hash in self._spans:
            return
        left = memoryview(np.ascontiguousarray(frames, np.float32).tobytes())
        while left:
            left = left[self._file.write(left) :]
        self._spans[pcm_hash] = self._rows, len(frames)
        self._rows += len(frames)

    def __getitem__(self, pcm_hash: str) -> Floats:
        start, count = self._spans[pcm_hash]
        row = 4 * self._width
        data = os.pread(self._file.fileno(), count * row, start * row)
        return np.frombuffer(data, np.float32).reshape(count, self._width)


def heard(
    files: Iterable[Path],
    backbone: Backbone,
    frames: Frames | None,
    *,
    workers: int | None = None,
    engine: str = "local",
    progress: Callable[[int, int], None] | None = None,
    cache: bool = True,
) -> tuple[dict[Path, Sound], dict[Path, str]]:
    """Embed every file once: what could be embedded, and why the others could not.

    Args:
        frames: Where frames are kept; None if nobody will ask for them.
    """
    every = list(dict.fromkeys(files))
    sounds: dict[Path, Sound] = {}
    unusable: dict[Path, str] = {}
    found_all = embedded(every, backbone, workers=workers, engine=engine, progress=progress, cache=cache)
    for index, found in found_all:
        if isinstance(found, UnusableAudio):
            unusable[every[index]] = str(found)
            continue
        if frames is not None:
            frames.keep(found.pcm_hash, found.embedding.frames)
        sounds[every[index]] = Sound(
            found.pcm_hash,
            found.duration_s,
            found.rate_hz,
            found.silent,
            found.digital_silence,
            len(found.embedding.frames),
            found.embedding.clip,
            found.embedding.logits,
        )
    return sounds, unusable


def nearest(clip: Path, references: Sequence[Path]) -> Path | None:
    """Of several references the one whose samples are nearest; None of none.

    The distance is L2 in the time domain (arXiv 2412.15922, section 5.2) between mono samples at the
    reference's rate, the clip cut or padded with zeros to the reference's length. Of equals the first counts.

    Raises:
        UnusableAudio: If one of several files cannot be read.
    """
    if len(references) < 2:
        return references[0] if references else None
    made = audio.read(clip)

    def distance(path: Path) -> float:
        wanted = audio.read(path)
        samples = audio.mono(wanted, wanted.rate_hz).astype(np.float64)
        heard = audio.mono(made, wanted.rate_hz)[: len(samples)]
        samples[: len(heard)] -= heard
        return float(np.linalg.norm(samples))

    return min(references, key=distance)
