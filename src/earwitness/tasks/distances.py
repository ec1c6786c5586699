"""How far are a system's clips from reference clips, as sets and one by one?

Conventions
-----------
FAD is the Fréchet distance between Gaussians fitted to all *frames* of either set; FD the same of *clip*
embeddings, one a clip. KAD is a kernel distance (MMD) of clip embeddings, for sets too small for a Fréchet
distance. KL is the mean over pairs of clip and reference of KL(reference || clip) between softmax
distributions over the classifier's classes; IS is the Inception Score of the clips alone; CLAP is the mean
cosine between a clip and its caption. A number is None with the reason where it cannot be had: it is never a
default. Every number belongs to a :class:`Recipe`, and numbers of two recipes never share a table.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ALL = "all"
"""The part that holds every clip."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A clip and what it is held against.

    Attributes:
        system: The set it belongs to.
        clip_id: Its name in the set; the same in every set and in the reference where clips are paired.
        audio: The clip.
        references: Its counterparts: none if the sets are not paired, several where the prompt allows
            several answers (the nearest in time is taken, see the docs).
        part: Name of the part of the set, such as a main relation.
        caption: What it was made from; empty if unknown.
        cluster: Clips of one cluster stand or fall together (stats.resampling).
    """

    system: str
    clip_id: str
    audio: Path
    references: tuple[Path, ...] = ()
    part: str = ""
    caption: str = ""
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides a distance but the clips that are measured.

    Attributes:
        backbone: Name of the embedding model.
        version: Of its weights, by hash.
        settings: Of the backbone (rate, window, hop, ...).
        reference: sha256 over the sorted sound hashes of all reference clips that could be used.
        reference_clips: How many these are.
        policy: How clips were chosen (all, or a seeded sample).
    """

    backbone: str
    version: str
    settings: Mapping[str, Any]
    reference: str
    reference_clips: int
    policy: str = "all clips, whole"

    @property
    def key(self) -> str:
        """The same for equal recipes alone."""
        text = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Distance:
    """One number of one set, or the reason why there is none.

    Attributes:
        metric: A key of :data:`METRICS`.
        part: A part of the set, or :data:`ALL`.
        value, low, high: The number and its confidence interval; None where there is none.
        n, reference_n: Embeddings the number rests on (frames for FAD, clips else).
        reason: Why there is no number; empty if there is one.
    """

    system: str
    part: str
    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    reference_n: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What of a set could be used, and how long its clips are (seconds)."""

    system: str
    clips: int
    used: int
    paired: int
    shortest_s: float | None
    mean_s: float | None
    longest_s: float | None


@dataclass(frozen=True, slots=True)
class Distances:
    """All numbers of a comparison, of one recipe.

    Attributes:
        rows: By system, part and metric. Includes the system :data:`FLOOR`.
        coverage: One row a set, the reference among them.
        left_out: (system, file name, reason) of every clip that could not be embedded.
        level: Confidence level of the intervals.
        notes: What a reader must know.
    """

    recipe: Recipe
    rows: tuple[Distance, ...]
    coverage: tuple[Coverage, ...]
    left_out: tuple[tuple[str, str, str], ...] = ()
    level: float = 0.95
    seed: int = 0
    notes: tuple[str, ...] = field(default_factory=tuple)


METRICS: Sequence[str] = ("fad", "fd", "kad", "kl", "is", "clap")
FLOOR = "reference, halved"
"""Two disjoint halves of the reference set: what the number of clips alone does to a distance."""
