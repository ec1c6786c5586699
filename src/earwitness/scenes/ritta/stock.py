"""What one side of a bank has to offer for these scenes: its classes, their slices, and what is missing."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from earwitness.errors import InputFaults, UserError
from earwitness.manifest.table import listing
from earwitness.scenes import levels, slices, splits
from earwitness.scenes.bank import Bank, Source, decoded
from earwitness.scenes.ritta.classes import CLASSES, GROUPS, named
from earwitness.scenes.ritta.deal import Groups
from earwitness.scenes.ritta.staging import Stage
from earwitness.scenes.slices import Slices

AMBIENCE_DB = -50.0
"""Level of an ambience by default, 21 dB below the quietest sound at 1 m."""

LEAVE_OUT = "--leave-out-missing"


@dataclass(frozen=True, slots=True)
class Stock:
    """One side of a bank, cut.

    Attributes:
        bank: Its sources, by class.
        shared: Class -> why its clips could not be split by recording.
        missing: Classes without any slice.
        unused: Labels of the bank that stand for none of the classes.
        left_out: Class -> reason -> how many clips gave no slice.
    """

    bank: Bank
    slices: Slices
    split: str
    rate_hz: int
    measure: str
    shared: Mapping[str, str]
    missing: tuple[str, ...]
    unused: tuple[str, ...]
    left_out: Mapping[str, Mapping[str, int]]

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
            "measure": self.measure,
            "classes": sorted(self.slices),
            "missing_classes": list(self.missing),
            "shared_by_rule": dict(self.shared),
            "slices_sha256": self.fingerprint(),
        }


def stock(
    bank: Bank,
    *,
    split: str,
    rate_hz: int = 16_000,
    measure: str = "lufs",
    leave_out_missing: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Stock:
    """Name the bank's labels by class, take one side of it and cut that into slices.

    Args:
        bank: With its own labels, see :func:`.classes.named`.
        split: ``train``, ``test`` or ``all``.
        leave_out_missing: Go on without the classes that the bank lacks or that give no slice.
        progress: Called with clips cut and clips in all.

    Raises:
        InputFaults: Listing every class that the bank lacks, or that gives no slice.
        UserError: If there is no such split or measure, or none of the classes is there.
    """
    if measure not in levels.MEASURES:
        raise UserError(f"The measure must be one of {', '.join(levels.MEASURES)}, not {measure!r}.")
    if rate_hz < 1:
        raise UserError(f"The rate must be at least 1 Hz, not {rate_hz}.")
    names = {label: name for label in bank.sources if (name := named(label)) is not None}
    lacking = [name for name in CLASSES if name not in names.values()]
    if len(lacking) == len(CLASSES):
        raise UserError(
            f"None of the bank's labels is one of the 25 classes: {listing(bank.sources)}.",
            f"Name its labels: {', '.join(CLASSES)}.",
        )
    if lacking and not leave_out_missing:
        faults = [f"it has no clip of {name!r}{_also(name)}" for name in lacking]
        raise InputFaults("The bank", faults, f"Add clips of these classes, or leave them out: {LEAVE_OUT}.")
    side = splits.split(bank.relabelled(names), split)
    cut = slices.cut(
        side.bank, rate_hz=rate_hz, measure=measure, leave_out_empty=leave_out_missing, progress=progress
    )
    return Stock(
        bank=side.bank,
        slices=cut.slices,
        split=split,
        rate_hz=rate_hz,
        measure=measure,
        shared=dict(side.shared),
        missing=tuple(name for name in CLASSES if name not in cut.slices),
        unused=tuple(label for label in bank.sources if label not in names),
        left_out=cut.left_out,
    )


def _also(name: str) -> str:
    aliases = CLASSES[name].aliases
    return f" (also called {', '.join(aliases)})" if aliases else ""


def stage(stock: Stock, *, duration_s: float, ambience: Path | None, ambience_db: float) -> Stage:
    """Where the scenes are placed.

    Raises:
        UserError: If not every class fits, or the ambience is no bank of clips that can be heard.
    """
    under: tuple[Source, ...] = ()
    bank = stock.bank
    if ambience is not None:
        clips = Bank.open(ambience)
        bank = bank.joined(clips)
        under = tuple(source for sources in clips.sources.values() for source in sources)
        for source in under:
            _check_ambience(source, stock)
    found = Stage(
        bank=bank,
        slices=stock.slices,
        rate_hz=stock.rate_hz,
        samples=round(duration_s * stock.rate_hz),
        measure=stock.measure,
        ambience=under,
        ambience_db=ambience_db,
    )
    found.check()
    return found


def _check_ambience(source: Source, stock: Stock) -> None:
    try:
        levels.level_db(decoded(source, stock.rate_hz).samples, stock.rate_hz, stock.measure)
    except ValueError as fault:
        raise UserError(f"{source.path}: {fault}.", "Take it out of the ambience.") from fault


def ambience_settings(stage: Stage) -> dict[str, Any] | None:
    """The ambience as part of a draw's settings."""
    if not stage.ambience:
        return None
    hashes = sorted(decoded(source, stage.rate_hz).pcm_hash for source in stage.ambience)
    digest = hashlib.sha256("\n".join(hashes).encode()).hexdigest()
    return {"clips": len(hashes), "clips_sha256": digest, "level_db": stage.ambience_db}
