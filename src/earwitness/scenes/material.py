"""What order and edit pairs are drawn from: the slices of a bank by class of sound.

Conventions
-----------
A class has a name for ids and a phrase for captions. A bank's label stands for a class if it is one of the
built-in names, or one of RiTTA's 25 by any of its spellings (see :mod:`.ritta.classes`: those of ESC-50,
FSD50K and UrbanSound8K too), or if the user's own table names it. A sound that both lists know has the
built-in name, under which the pairs that cannot be told apart are stated, and RiTTA's phrase, which claims
no more than any recording of it holds.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.errors import UserError
from earwitness.manifest.table import listing
from earwitness.scenes import classes, levels, slices, splits
from earwitness.scenes.bank import Bank, decoded
from earwitness.scenes.classes import SoundClass
from earwitness.scenes.ritta import classes as ritta
from earwitness.scenes.slices import Slice, Slices

LEVELS_DB = (-29.0, -23.0)
"""Levels of sounds are drawn from this range, in the measure of the scene."""
GAP_S = 0.5
"""Least quiet between two sounds that stand in an order."""

SHORTEST_S, LONGEST_S = 1.0, 5.0
"""Of slices; scenes of several sounds have shorter ones, see :func:`longest_slice`."""
MIN_HZ, MAX_HZ = 4_000, 192_000
MAX_S = 3600.0
"""Longest scene."""

_OWN_CLASSES = "Name your labels in a table of your own: --classes FILE with the columns class and phrase."


@dataclass(frozen=True, slots=True)
class Material:
    """Slices by class.

    Attributes:
        bank: The sources they come from, labelled by class.
        classes: By name, in alphabetical order; each has slices.
        notes: What was left out or shared, and why, one sentence each.
        settings: What all this depends on.
    """

    bank: Bank
    classes: Mapping[str, SoundClass]
    slices: Slices
    notes: tuple[str, ...]
    settings: Mapping[str, Any]

    @property
    def rate_hz(self) -> int:
        return int(self.settings["rate_hz"])


def gather(
    bank: Bank,
    *,
    seed: int,
    duration_s: float,
    sounds: int,
    split: str = "all",
    rate_hz: int = 16_000,
    measure: str = "lufs",
    own: Path | None = None,
    known: frozenset[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Material:
    """Cut what a bank holds of known classes.

    Args:
        duration_s: Length of a scene.
        sounds: Most sounds that stand one after another in a scene: no slice is longer than fits so often.
        split: ``train``, ``test`` or ``all``, see :mod:`.splits`.
        measure: ``lufs`` or ``rms``, see :mod:`.levels`.
        own: The user's table of classes (see :func:`.classes.load_classes`); only these are used.
        known: AudioSet labels that a listener claims to know: leave out classes that ask for none of them.

    Raises:
        UserError: If the bank holds no two known classes that can be told apart with sound long enough, there
            is no such side, a scene is too short for its sounds, or a number is out of range.
        InputFaults: If the user's table has faults.
    """
    if seed < 0:
        raise UserError(f"The seed must be 0 or more, not {seed}.")
    if not MIN_HZ <= rate_hz <= MAX_HZ:
        raise UserError(f"The rate must lie in {MIN_HZ} to {MAX_HZ} Hz, not {rate_hz}.")
    longest = longest_slice(duration_s, rate_hz, sounds)
    if measure not in levels.MEASURES:
        raise UserError(f"There is no measure {measure!r}.", f"Use {' or '.join(levels.MEASURES)}.")
    table = None if own is None else {sound.name: sound for sound in classes.load_classes(own)}
    meant = {
        label: _known(label) if table is None else table.get(classes.safe(label)) for label in bank.sources
    }
    named = {label: sound for label, sound in meant.items() if sound is not None}
    notes = list(bank.losses)
    if unknown := [label for label in bank.sources if label not in named]:
        notes.append(f"Labels that stand for no known class are left out: {', '.join(unknown)}.")
    if table and (unheard := table.keys() - {sound.name for sound in named.values()}):
        notes.append(f"Classes of the table of which the bank has no label: {', '.join(sorted(unheard))}.")
    if known is not None:
        beyond = sorted({sound.name for sound in named.values() if known.isdisjoint(sound.labels)})
        named = {label: sound for label, sound in named.items() if sound.name not in beyond}
        if beyond:
            notes.append(f"Classes that the listener does not claim to know: {', '.join(beyond)}.")
    used = bank.relabelled({label: sound.name for label, sound in named.items()})
    side = splits.split(used, split)
    notes += (f"{label} is shared by train and test: {why}." for label, why in side.shared.items())
    cut = slices.cut(
        side.bank,
        rate_hz=rate_hz,
        shortest_s=SHORTEST_S,
        longest_s=longest / rate_hz,
        measure=measure,
        seed=seed,
        leave_out_empty=True,
        progress=progress,
    )
    notes += (
        f"{label} is left out, none of its clips gives a slice: "
        + ", ".join(f"{count} {why}" for why, count in cut.left_out[label].items())
        + "."
        for label in side.bank.sources
        if label not in cut.slices
    )
    if cut.refused:
        notes.append(f"Clips that are silent or cannot be decoded are left out: {listing(cut.refused)}.")
    if not cut.slices:
        raise UserError(
            "The bank holds no sound of a known class that can be used. " + " ".join(notes),
            _OWN_CLASSES,
        )
    found = {sound.name: sound for sound in named.values() if sound.name in cut.slices}
    chosen = {name: found[name] for name in sorted(found)}
    if not classes.admissible_pairs(chosen.values()):
        raise UserError(
            " ".join([f"No two classes of the bank can be told apart; it has {listing(chosen)}.", *notes]),
            f"Add sounds of other classes. {_OWN_CLASSES}",
        )
    settings = {
        "seed": seed,
        "split": split,
        "rate_hz": rate_hz,
        "measure": measure,
        "levels_db": list(LEVELS_DB),
        "classes": {name: sound.phrase for name, sound in chosen.items()},
        **used.recordings.settings(),
        "slices_sha256": _digest(cut.slices),
    }
    if bank.recordings.note:
        notes.append(bank.recordings.note)
    return Material(side.bank, chosen, cut.slices, tuple(notes), settings)


def longest_slice(duration_s: float, rate_hz: int, sounds: int) -> int:
    """Samples of the longest slices of which any ``sounds`` fit into a scene, :data:`GAP_S` apart.

    Raises:
        UserError: If there are none of at least :data:`SHORTEST_S`, or the scene is over :data:`MAX_S`.
    """
    if not 0 < duration_s <= MAX_S:
        raise UserError(f"The duration must be over 0 and at most {MAX_S:g} s, not {duration_s:g}.")
    room = round(duration_s * rate_hz) - (sounds - 1) * round(GAP_S * rate_hz)
    if room < sounds * SHORTEST_S * rate_hz:
        raise UserError(
            f"{sounds} sounds of {SHORTEST_S:g} s or more, {GAP_S:g} s apart, do not fit into "
            f"{duration_s:g} s.",
            "Make the scenes longer.",
        )
    return min(round(LONGEST_S * rate_hz), room // sounds)


def generator(seed: int, name: str) -> np.random.Generator:
    """Random numbers that depend on a seed and a name alone."""
    return np.random.default_rng([seed, int.from_bytes(hashlib.sha256(name.encode()).digest()[:16])])


def level(rng: np.random.Generator) -> float:
    """A level drawn from :data:`LEVELS_DB`."""
    return float(rng.uniform(*LEVELS_DB))


def shortened(piece: Slice, length: int, rate_hz: int, measure: str) -> Slice:
    """The first ``length`` samples of a slice, faded at their new end and measured anew.

    Raises:
        ValueError: If they have no level (see :func:`.levels.level_db`).
    """
    if length == piece.length:
        return piece
    sound = decoded(piece.source, rate_hz).samples[piece.start : piece.start + length]
    pause = slices.longest_pause(sound)
    faded = sound * slices.ramps(length, piece.fade)
    measured = levels.level_db(faded, rate_hz, measure)
    return Slice(piece.source, piece.pcm_hash, piece.start, length, measured, piece.fade, pause)


def sentence(phrases: list[str]) -> str:
    """Sounds in the order of time as a caption."""
    text = ", then ".join(phrases)
    return text[0].upper() + text[1:]


def _known(label: str) -> SoundClass | None:
    known = ritta.computed(label)
    if known is None:
        return classes.builtin().get(classes.safe(label))
    return SoundClass(_builtin_names().get(known, known), ritta.CLASSES[known].phrase)


@cache
def _builtin_names() -> Mapping[str, str]:
    """RiTTA's name of a class -> the built-in one for the same sound."""
    return {known: name for name in classes.builtin() if (known := ritta.computed(name)) is not None}


def _digest(found: Slices) -> str:
    """Of every slice: what a draw may choose from."""
    lines = (
        f"{label}\t{piece.source.name}\t{piece.pcm_hash}\t{piece.start}\t{piece.length}\t{piece.level_db!r}\n"
        for label, pieces in sorted(found.items())
        for piece in pieces
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()
