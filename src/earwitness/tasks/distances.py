"""How far are a system's clips from reference clips, as sets and one by one?

Conventions
-----------
FAD is the Fréchet distance between Gaussians fitted to all *frames* of either set; FD the same of *clip*
embeddings, one a clip. KAD is a kernel distance (MMD) of clip embeddings, for sets too small for a Fréchet
distance. KL is the mean over pairs of clip and reference of KL(reference || clip) between softmax
distributions over the classifier's classes; IS is the Inception Score of the clips alone; CLAP is the mean
cosine between a clip and its caption. A number is None with the reason where it cannot be had: it is never a
default. Every number belongs to a :class:`Recipe`, and numbers of two recipes never share a table.
They are measured in :mod:`earwitness.tasks.distance_measures`.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from earwitness.errors import UserError
from earwitness.files import INPUTS
from earwitness.tasks.rows import Comparison

ALL = "all"
"""The part that holds every clip."""
DRAWS = 10_000
"""Bootstrap samples, if nothing else is asked for."""
_HASH, _SHOWN = re.compile(r"\b[0-9a-f]{64}\b"), 12  # digits enough to tell hashes apart


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
        pairing: How clips were held against single references, see tasks.distance_measures.
        captions: sha256 over the names of clips and their captions; empty if no number rests on words.
        seed: Of the halves, of unrelated pairs and of the bootstrap.
        draws: Of the bootstrap.
    """

    backbone: str
    version: str
    settings: Mapping[str, Any]
    reference: str
    reference_clips: int
    policy: str = "all clips, whole"
    pairing: str = "none"
    captions: str = ""
    seed: int = 0
    draws: int = DRAWS

    @property
    def key(self) -> str:
        """The same for equal recipes alone."""
        told = asdict(self)
        if self.draws == DRAWS:  # as in results that were kept before recipes had draws
            del told["draws"]
        text = json.dumps(told, sort_keys=True, ensure_ascii=False)
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
        no_interval: Why a number has no interval; empty if it has one, or if there is no number.
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
    no_interval: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What of a set could be used, and how long its clips are (seconds).

    ``digital_silence`` is the mean share of their time (audio.digital_silence); None in results that were
    kept before it was measured.
    """

    system: str
    clips: int
    used: int
    paired: int
    shortest_s: float | None
    mean_s: float | None
    longest_s: float | None
    digital_silence: float | None = None


@dataclass(frozen=True, slots=True)
class Distances:
    """All numbers of a comparison, of one recipe.

    Attributes:
        rows: By system, part and metric. Includes the system :data:`FLOOR`.
        coverage: One row a set, the reference among them.
        left_out: (system, file name, reason) of every clip that could not be embedded, or not be paired
            because a reference of several could not.
        level: Confidence level of the intervals.
        notes: What a reader must know.
        comparisons: Sets against each other, over all clips, by every metric that both have a number of;
            baselines and anchors are no contestants. Empty if they were not compared.
        of_sources: Whether the reference are the sources that the clips were made of: a set that is near
            them moved little, and that is no merit.
    """

    recipe: Recipe
    rows: tuple[Distance, ...]
    coverage: tuple[Coverage, ...]
    left_out: tuple[tuple[str, str, str], ...] = ()
    level: float = 0.95
    notes: tuple[str, ...] = field(default_factory=tuple)
    comparisons: tuple[Comparison, ...] = ()
    of_sources: bool = False


BETTER: Mapping[str, int] = {"fad": -1, "fd": -1, "kad": -1, "kl": -1, "is": 1, "clap": 1}
"""Of every metric -1 if less is nearer, 1 if more is better."""
METRICS: Sequence[str] = tuple(BETTER)
FLOOR = "reference, halved"
"""Two disjoint halves of the reference set: what the number of clips alone does to a distance."""
REFERENCE = "reference, whole"
"""The reference set itself: what IS and CLAP give for it."""
EXCHANGED = "reference, exchanged"
"""Every reference clip with another of them, or another's caption: what KL and CLAP give for pairs that have
nothing to do with each other."""
ANCHORS: Mapping[str, str] = {
    REFERENCE: "the reference set itself",
    FLOOR: "two disjoint halves of the reference set: what the number of clips alone does",
    EXCHANGED: "reference clips with another of them, or with its caption: unrelated pairs",
}
"""Systems that stand beside the sets that are measured, and what each is."""

NOT_ACROSS = (
    "Sets of different results are not compared with each other, as their clips are needed for that: measure "
    "them together to know which is nearer."
)


def in_clips(count: int, what: str = "") -> str:
    """``1 clip``, ``2 clips``; with ``what`` before the noun."""
    return f"{count:,} {what and f'{what} '}clip{'' if count == 1 else 's'}"


def to_json(distances: Distances) -> dict[str, Any]:
    """As plain data for strict JSON, with the key of the recipe and a hash over everything else
    (files.INPUTS, which may be beside it, left out).

    :func:`from_json` reads it. The hash tells that a number, a count, a name or a note is not what was
    written; it is no signature, and whoever makes a new hash can change anything.
    """
    data = {**asdict(distances), "recipe_key": distances.recipe.key}
    return {**data, "sha256": _digest(data)}


def _digest(data: Mapping[str, Any]) -> str:
    told = {name: value for name, value in data.items() if name not in ("sha256", INPUTS)}
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def from_json(data: Mapping[str, Any], source: str = "the distances") -> Distances:
    """What :func:`to_json` wrote.

    Args:
        source: Name of the file, for the message.

    Raises:
        UserError: If the data are no distances, or anything in them was changed by hand.
    """
    try:
        found = Distances(
            recipe=Recipe(**data["recipe"]),
            rows=tuple(Distance(**row) for row in data["rows"]),
            coverage=tuple(Coverage(**row) for row in data["coverage"]),
            left_out=tuple((str(system), str(file), str(why)) for system, file, why in data["left_out"]),
            level=float(data["level"]),
            notes=tuple(map(str, data["notes"])),
            comparisons=tuple(Comparison(**pair) for pair in data.get("comparisons", ())),
            of_sources=bool(data.get("of_sources", False)),
        )
        key, digest = data["recipe_key"], data["sha256"]
    except (KeyError, TypeError, ValueError) as fault:
        raise UserError(f"{source} holds no distances: {fault!r}.", "Measure them anew.") from fault
    if found.recipe.key != key:
        raise UserError(f"{source}: the recipe is not the one the numbers came from.", "Measure them anew.")
    if _digest(data) != digest:
        raise UserError(f"{source}: the numbers are not those that were measured.", "Measure them anew.")
    return found


def same_recipe(*distances: Distances) -> None:
    """Make sure that numbers may stand in one table.

    Raises:
        UserError: Listing everything in which the recipes differ.
    """
    differing: list[str] = []
    if distances:
        told = [_told(each) for each in distances]
        for name in dict.fromkeys(name for one in told for name in one):
            values = [one.get(name, "nothing") for one in told]
            if len(set(values)) > 1:
                shown = _HASH.sub(lambda found: found[0][:_SHOWN], " / ".join(dict.fromkeys(values)))
                differing.append(f"{name}: {shown}")
    if differing:
        lines = "\n".join(f"  - {line}" for line in differing)
        raise UserError(
            f"these distances were made by different recipes:\n{lines}",
            "A distance has no scale of its own: another model, other weights, reference clips, pairs or "
            "captions give another number for the same sound, and another seed gives other halves. Measure "
            "all sets in one way to put them in one table.",
        )


def _told(distances: Distances) -> dict[str, str]:
    """Everything in which recipes can differ, as text."""
    recipe = distances.recipe
    plain = {f.name: getattr(recipe, f.name) for f in fields(recipe) if f.name != "settings"}
    settings = {f"settings.{name}": value for name, value in recipe.settings.items()}
    every = {**plain, **settings, "confidence level": distances.level}
    return {name: json.dumps(value, sort_keys=True, ensure_ascii=False) for name, value in every.items()}


def joined(*distances: Distances) -> Distances:
    """Finished results as one; an anchor's number is that of the first result that has it.

    Comparisons are as they were, p corrected within their own results (see distance_pairs.corrected).

    Raises:
        UserError: As :func:`same_recipe`, or if a system is in two of them.
    """
    same_recipe(*distances)
    systems = Counter(s for each in distances for s in dict.fromkeys(r.system for r in each.rows))
    if twice := [name for name, count in systems.items() if count > 1 and name not in ANCHORS]:
        raise UserError(
            f"in more than one of the results: {', '.join(map(repr, twice))}.",
            "Give every set a name of its own (NAME=FOLDER) when it is measured.",
        )
    notes = dict.fromkeys(note for each in distances for note in each.notes)
    if len(distances) > 1:
        notes[NOT_ACROSS] = None
    rows: dict[tuple[str, str, str], Distance] = {}
    coverage: dict[str, Coverage] = {}
    for each in distances:
        for row in each.rows:
            rows.setdefault((row.system, row.part, row.metric), row)
        for covered in each.coverage:
            coverage.setdefault(covered.system, covered)
    return Distances(
        distances[0].recipe,
        tuple(rows.values()),
        tuple(coverage.values()),
        tuple(dict.fromkeys(row for each in distances for row in each.left_out)),
        distances[0].level,
        tuple(notes),
        tuple(pair for each in distances for pair in each.comparisons),
        any(each.of_sources for each in distances),
    )
