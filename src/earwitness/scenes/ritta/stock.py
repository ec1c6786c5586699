"""What one side of a bank has to offer for these scenes: its classes, their slices, and what is missing."""

import hashlib
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from earwitness.errors import InputFaults, UserError
from earwitness.manifest.table import listing
from earwitness.scenes import levels, placing, slices, splits
from earwitness.scenes.bank import Bank
from earwitness.scenes.recordings import Recordings
from earwitness.scenes.ritta.classes import CLASSES, GROUPS, computed, named
from earwitness.scenes.ritta.deal import Groups
from earwitness.scenes.ritta.staging import (
    LONGER_S,
    LOUDEST_DB,
    QUIETEST_DB,
    SPATIAL_GAP_S,
    Stage,
    fits_twice,
)
from earwitness.scenes.scene import Placed, check_settings
from earwitness.scenes.slices import Slice, Slices

AMBIENCE_DB = -50.0
"""Level of an ambience by default, 21 dB below the quietest sound at 1 m."""

LEAVE_OUT = "--leave-out-missing"
_FEW = 3
"""Missing classes of which more is said than the name."""
SHORTEST_S, LONGEST_S = 1.0, 5.0
"""Bounds of a slice, RiTTA's."""
LOWEST_HZ = 8_000
SOFTEST_DB = -120.0
"""An ambience below it would be lost in 16 bits many times over."""


@dataclass(frozen=True, slots=True)
class Stock:
    """One side of a bank, cut.

    Attributes:
        bank: Its sources, by class.
        shared: Class -> why its clips could not be split by recording.
        listener: Name of the listener whose classes alone are used; empty if all are.
        unknown: Classes that it does not claim to know.
        missing: Other classes without any slice.
        shortened: Classes cut into shorter slices than others, as none of theirs would have fitted twice.
        unused: Labels of the bank that stand for none of the classes.
        left_out: Class -> reason -> how many clips gave no slice.
        refused: Name of each clip that nobody could hear -> why.
        notes: What was left out of the bank, and whether its recordings are known, on either side.
        recordings: How well the recordings of the classes are known, on either side.
    """

    bank: Bank
    slices: Slices
    split: str
    rate_hz: int
    samples: int
    measure: str
    shared: Mapping[str, str]
    listener: str
    unknown: tuple[str, ...]
    missing: tuple[str, ...]
    shortened: tuple[str, ...]
    unused: tuple[str, ...]
    left_out: Mapping[str, Mapping[str, int]]
    refused: Mapping[str, str]
    notes: tuple[str, ...]
    recordings: Recordings

    @property
    def groups(self) -> Groups:
        """The classes that are there, by main group."""
        here = {group: [name for name in names if name in self.slices] for group, names in GROUPS.items()}
        return {group: names for group, names in here.items() if names}

    def fingerprint(self) -> str:
        """Changes with any slice: with the sound of the bank, its split and how it was cut."""
        digest = hashlib.sha256()
        for label in sorted(self.slices):
            for piece in self.slices[label]:
                facts = (label, piece.pcm_hash, piece.start, piece.length, piece.fade)
                digest.update(f"{facts}\n".encode())
        return digest.hexdigest()

    def settings(self) -> dict[str, Any]:
        """What a draw depends on, as plain data."""
        return {
            "split": self.split,
            "rate_hz": self.rate_hz,
            "samples": self.samples,
            "measure": self.measure,
            "listener": self.listener,
            "classes": sorted(self.slices),
            "missing_classes": list(self.missing),
            "shortened_classes": list(self.shortened),
            "shared_by_rule": dict(self.shared),
            **self.recordings.settings(),
            "slices_sha256": self.fingerprint(),
        }


def stock(
    bank: Bank,
    *,
    split: str,
    rate_hz: int,
    duration_s: float,
    measure: str,
    known: Set[str] | None = None,
    listener: str = "",
    leave_out_missing: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Stock:
    """Name the bank's labels by class, take one side of it and cut that into slices.

    Args:
        bank: With its own labels, see :func:`.classes.named`.
        split: ``train``, ``test`` or ``all``.
        rate_hz, duration_s: Of the scenes.
        known: Names of the only classes to use: those that a listener claims to know; by default all.
        listener: That listener's name.
        leave_out_missing: Go on without the classes that the bank lacks or that give no slice.
        progress: Called with clips cut and clips in all.

    Raises:
        InputFaults: Listing every class that the bank lacks, that gives no slice, or none that fits twice.
        UserError: If there is no such split or measure, none of the classes is there, or a scene is too short
            for two sounds.
    """
    if measure not in levels.MEASURES:
        raise UserError(f"The measure must be one of {', '.join(levels.MEASURES)}, not {measure!r}.")
    if rate_hz < LOWEST_HZ:
        raise UserError(f"The rate must be at least {LOWEST_HZ:,} Hz, not {rate_hz}.")
    check_settings(rate_hz=rate_hz, duration_s=duration_s, seed=0)  # before anything is cut
    limit_s = (duration_s - SPATIAL_GAP_S) / 2
    if limit_s < SHORTEST_S:
        raise UserError(
            f"Scenes of {duration_s:g} s are too short: two sounds of at least {SHORTEST_S:g} s with a gap "
            f"of {SPATIAL_GAP_S:g} s between them need {2 * SHORTEST_S + SPATIAL_GAP_S:g} s."
        )
    wanted = [name for name in CLASSES if known is None or name in known]
    every = {label: name for label in bank.sources if (name := _class_of(label, bank)) is not None}
    names = {label: name for label, name in every.items() if name in wanted}
    lacking = [name for name in wanted if name not in names.values()]
    if not names:
        which = f"the {len(wanted)} classes" + (f" that {listener} claims to know" if listener else "")
        raise UserError(
            f"None of the bank's labels is one of {which}: {listing(bank.sources)}.",
            f"Name its labels: {', '.join(wanted or CLASSES)}.",
        )
    if lacking and not leave_out_missing:
        raise _lacking(lacking, wanted)
    classed = bank.relabelled(names)
    side = splits.split(classed, split)
    cut = partial(
        slices.cut, rate_hz=rate_hz, shortest_s=SHORTEST_S, measure=measure, leave_out_empty=leave_out_missing
    )
    whole = cut(side.bank, longest_s=LONGEST_S, progress=progress)
    samples = round(duration_s * rate_hz)
    fitting, long = _parted(whole.slices, samples, rate_hz)
    again = cut(
        Bank({label: side.bank.sources[label] for label in long}), longest_s=int(limit_s * rate_hz) / rate_hz
    )
    shortened, paused = _parted(again.slices, samples, rate_hz)
    if paused and not leave_out_missing:
        raise _paused(paused, duration_s, rate_hz)
    found = {**fitting, **shortened}
    return Stock(
        bank=side.bank,
        slices=found,
        split=split,
        rate_hz=rate_hz,
        samples=samples,
        measure=measure,
        shared=dict(side.shared),
        listener=listener,
        unknown=tuple(name for name in CLASSES if name not in wanted),
        missing=tuple(name for name in wanted if name not in found),
        shortened=tuple(shortened),
        unused=tuple(label for label in bank.sources if label not in every),
        left_out={
            **whole.left_out,
            **again.left_out,
            **{label: _unplaced(paused[label]) for label in paused},
        },
        refused=whole.refused,
        notes=classed.notes,
        recordings=classed.recordings,
    )


def _class_of(label: str, bank: Bank) -> str | None:
    """What a label stands for; the built-in bank's stand for what was computed."""
    return computed(label) if all(one.path is None for one in bank.of(label)) else named(label)


def _parted(found: Slices, samples: int, rate_hz: int) -> tuple[Slices, Slices]:
    """The labels with a slice that fits twice, and those without."""
    fits = {label for label, pieces in found.items() if any(fits_twice(p, samples, rate_hz) for p in pieces)}
    with_one = {label: pieces for label, pieces in found.items() if label in fits}
    return with_one, {label: pieces for label, pieces in found.items() if label not in fits}


def _paused(paused: Slices, duration_s: float, rate_hz: int) -> InputFaults:
    faults = []
    for label, pieces in paused.items():
        best = min(pieces, key=lambda piece: 2 * piece.length + piece.pause)
        faults.append(
            f"no slice of {label!r} fits twice into {duration_s:g} s: the best lasts "
            f"{best.length / rate_hz:.1f} s, and with a pause of {best.pause / rate_hz:.1f} s within it the "
            f"gap must be {best.pause / rate_hz + LONGER_S:.1f} s"
        )
    return InputFaults(
        "The bank",
        faults,
        "Add clips of these classes with shorter pauses, make the scenes longer, or leave the classes out: "
        f"{LEAVE_OUT}.",
    )


def _unplaced(pieces: Sequence[Slice]) -> Mapping[str, int]:
    return {"with pauses too long to be placed twice": len({piece.source.name for piece in pieces})}


def _lacking(lacking: Sequence[str], wanted: Sequence[str]) -> InputFaults:
    """Of a few classes also what else their folders may be called."""
    few = len(lacking) <= _FEW
    names = ", ".join(f"{name!r}{_also(name) if few else ''}" for name in lacking)
    of = "" if few else f"{len(lacking)} of the {len(wanted)} classes: "
    return InputFaults(
        "The bank",
        [f"it has no clip of {of}{names}"],
        f"Add clips of these classes, or do without them: {LEAVE_OUT}. See what the bank has: earwitness "
        "scenes bank.",
    )


def _also(name: str) -> str:
    aliases = CLASSES[name].aliases
    return f" (also called {'; '.join(aliases)})" if aliases else ""


def stage(stock: Stock, *, ambience: Path | None, ambience_db: float) -> Stage:
    """Where the scenes are placed.

    Raises:
        UserError: If the ambience is no bank of clips that can be heard.
    """
    if not SOFTEST_DB <= ambience_db <= 0:
        raise UserError(f"The level of an ambience must lie in {SOFTEST_DB:g} to 0 dB, not {ambience_db:g}.")
    under: tuple[Placed, ...] = ()
    bank = stock.bank
    if ambience is not None:
        clips = Bank.open(ambience)
        bank = bank.joined(clips)
        under = tuple(
            placing.ambience(source, stock.samples, ambience_db, rate_hz=stock.rate_hz, measure=stock.measure)
            for sources in clips.sources.values()
            for source in sources
        )
    return Stage(
        bank=bank,
        slices=stock.slices,
        rate_hz=stock.rate_hz,
        samples=stock.samples,
        measure=stock.measure,
        ambience=under,
    )


def stage_settings(stage: Stage) -> dict[str, Any]:
    """What a draw depends on beside the stock, as plain data."""
    under = "\n".join(sorted(one.source for one in stage.ambience))
    return {
        "event_level_db": [QUIETEST_DB, LOUDEST_DB],
        "ambience_level_db": stage.ambience[0].level_db if stage.ambience else None,
        "ambience_sha256": hashlib.sha256(under.encode()).hexdigest() if stage.ambience else None,
    }
