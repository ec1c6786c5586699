"""What a backbone makes of many mixtures, made once and kept.

Conventions
-----------
A mixture of n samples gives ``floor(n / hop) + 1`` rows of a backbone's numbers, kept as float16 (half the
room; what is learned of them does not change). The rows of a set of mixtures lie in one file in the cache and
are read a few mixtures at a time, so memory does not grow with their number. Its folder is named by all that
the numbers depend on: the slices, how they are mixed, the seed, the backbone. What an interrupted run has
made is kept, and another run on the same mixtures, more or fewer of them, finds its features there. A CRC
of each mixture's rows lies beside them: rows that have another one, or none yet, are made anew.
"""

import hashlib
import json
import math
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.backbones import NAMES, open_backbone
from earwitness.backbones.base import Timed, finite
from earwitness.errors import UserError
from earwitness.events import EventTable
from earwitness.training.mixtures import Mixing, Mixture, Pools, fingerprint, mixture, rendered
from earwitness.training.targets import HOP_S, cells
from earwitness.weights import cache_folder
from earwitness.workers import parts

VERSION = 1
"""Raised when the same sounds and settings give other numbers."""
FOLDER = "training"
"""Of the cache."""

Halves = NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class Source:
    """The backbone that hears, and the user's weights for it."""

    name: str
    weights: Path | None = None

    def open(self) -> Timed:
        """The backbone.

        Raises:
            UserError: If there is none of that name, it hears whole clips only, or its weights are missing.
        """
        found: Any = open_backbone(self.name, weights=self.weights)
        if not NAMES[self.name].timed:
            known = ", ".join(name for name, about in NAMES.items() if about.timed)
            raise UserError(
                f"The backbone {self.name!r} has no features in time, which a detector needs.",
                f"These have: {known}.",
            )
        timed: Timed = found
        timed.ready()
        return timed


@dataclass(frozen=True)
class Mixtures:
    """A set of mixtures: of which sounds, how mixed, which seed, how many."""

    pools: Pools
    mixing: Mixing
    seed: int
    number: int

    def __len__(self) -> int:
        return self.number

    def __getitem__(self, number: int) -> Mixture:
        return mixture(self.pools, self.mixing, self.seed, number)

    def events(self) -> tuple[EventTable, ...]:
        """What is heard in each."""
        return tuple(self[number].events for number in range(self.number))

    def truth(self, classes: Sequence[str]) -> NDArray[np.bool_]:
        """(mixtures, cells, classes): what is there in which cell."""
        return np.stack([cells(table, classes) for table in self.events()])


@dataclass(frozen=True)
class _Work:
    """Pickled once for each worker, which opens the backbone itself."""

    of: Mixtures
    source: Source
    plain: bool

    def __call__(self, numbers: Sequence[int]) -> list[Halves]:
        hear = self._model.class_scores if self.plain else self._model.timed
        found = []
        for number in numbers:
            with np.errstate(over="ignore"):  # told by finite
                half = hear(rendered(self.of[number]), HOP_S).astype(np.float16)
            finite(half.astype(np.float32), f"The backbone {self.source.name}")
            found.append(half)
        return found

    @cached_property
    def _model(self) -> Timed:
        return self.source.open()


def rows(
    of: Mixtures,
    source: Source,
    *,
    plain: bool = False,
    workers: int | None = None,
    engine: str = "local",
    progress: Callable[[int, int], None] | None = None,
) -> Halves:
    """(mixtures, rows, features) of a set of mixtures, on disk; made as far as they are not there.

    Args:
        plain: The backbone's class scores (logits) in place of its features.
        workers: Processes; one a core by default. They change no number.
        progress: Called with mixtures done and mixtures in all.

    Raises:
        UserError: If the backbone cannot be opened, or the cache not be written.
    """
    backbone = source.open()
    hear = backbone.class_scores if plain else backbone.timed
    one = hear(np.zeros(of.mixing.samples, np.float32), HOP_S)
    folder = cache_folder() / FOLDER / _key(of, backbone, plain)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found, sums = _kept(folder, (of.number, *one.shape))
        missing = [number for number in range(of.number) if sums[number] != _sum(found[number])]
        at = 0
        for part in parts(_Work(of, source, plain), missing, workers, engine):
            now = missing[at : at + len(part)]
            found[now] = part
            sums[now] = [_sum(one) for one in part]
            found.flush()
            sums.flush()
            at += len(part)
            if progress is not None:
                progress(of.number - len(missing) + at, of.number)
        made: Halves = found
    except OSError as fault:
        raise UserError(
            f"The cache folder {folder} cannot be written: {fault.strerror}.",
            "Set EARWITNESS_CACHE to a folder that has some gigabytes of room.",
        ) from fault
    return made


def _key(of: Mixtures, backbone: Timed, plain: bool) -> str:
    facts = {
        "version": VERSION,
        "sounds": fingerprint(of.pools),
        "mixing": asdict(of.mixing),
        "seed": of.seed,
        "backbone": [backbone.name, backbone.version, dict(backbone.settings)],
        "hop_s": HOP_S,
        "plain": plain,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def _kept(folder: Path, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """The rows, and the CRC of those that are made: by earlier runs, of fewer or more mixtures, or none."""
    number = shape[0]
    paths = folder / "rows.f16", folder / "crc.u32"
    for path, size in zip(paths, (number * 2 * math.prod(shape[1:]), number * 4), strict=True):
        with path.open("ab") as file:
            os.posix_fallocate(file.fileno(), 0, size)  # a full disk is told here, not when a page is written
    return (
        np.memmap(paths[0], np.float16, "r+", shape=shape),
        np.memmap(paths[1], np.uint32, "r+", shape=(number,)),
    )


def _sum(rows: Halves) -> int:
    """Their CRC-32; never 0, which stands for rows that are not made."""
    return zlib.crc32(rows.tobytes()) or 1
