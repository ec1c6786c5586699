"""Splits: the training and the test side of a bank, which share no recording.

Conventions
-----------
The recordings of a class are ordered by the sha256 of their ids and dealt in turn, the first to training;
so the split depends on ids alone, and a bank that lists them in another order is split alike. A recording
that several classes share goes where the first of them, by name, puts it.
A class all of whose recordings would lie on one side (mostly because it has only one) is shared by rule:
its clips are dealt in turn, and a single clip goes to both sides. Every such class is named.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from earwitness.errors import UserError
from earwitness.manifest.table import near
from earwitness.scenes.bank import Bank, Source

Side = Literal["train", "test", "all"]
SIDES: tuple[str, ...] = get_args(Side)


@dataclass(frozen=True, slots=True)
class Split:
    """One side of a bank, and why a class is shared with the other side, by its label."""

    bank: Bank
    shared: Mapping[str, str]


def split(bank: Bank, side: str) -> Split:
    """The sources of one side; ``all`` is the bank itself, of which nothing is shared.

    Raises:
        UserError: If there is no such side.
    """
    if side not in SIDES:
        raise UserError(f"{side!r} is no side of a split{near(side, SIDES)}.", f"Use {', '.join(SIDES)}.")
    if side == "all":
        return Split(bank, {})
    dealt = _dealt(bank)
    kept: dict[str, tuple[Source, ...]] = {}
    shared: dict[str, str] = {}
    for label in sorted(bank.sources):
        sources = bank.sources[label]
        sides = {dealt[source.recording_id] for source in sources}
        if len(sides) == 2:
            kept[label] = tuple(source for source in sources if dealt[source.recording_id] == side)
        else:
            kept[label], shared[label] = _by_rule(sources, side)
    return Split(Bank(kept), shared)


def _dealt(bank: Bank) -> Mapping[str, str]:
    """Recording id -> its side."""
    dealt: dict[str, str] = {}
    for label in sorted(bank.sources):
        recordings = {source.recording_id for source in bank.sources[label]}
        count = {"train": 0, "test": 0}
        for recording in recordings & dealt.keys():
            count[dealt[recording]] += 1
        for recording in sorted(recordings - dealt.keys(), key=_order):
            dealt[recording] = "train" if count["train"] <= count["test"] else "test"
            count[dealt[recording]] += 1
    return dealt


def _by_rule(sources: Sequence[Source], side: str) -> tuple[tuple[Source, ...], str]:
    """What a side gets of a class that cannot be split by recording, and why."""
    recordings = len({source.recording_id for source in sources})
    what = "it has one recording" if recordings == 1 else f"its {recordings} recordings lie on one side"
    if len(sources) == 1:
        return tuple(sources), f"{what} in one clip, which both sides use"
    ordered = sorted(sources, key=lambda source: _order(source.name))
    mine = ordered[0 if side == "train" else 1 :: 2]
    return tuple(mine), f"{what}, whose {len(sources)} clips are dealt in turn to both sides"


def _order(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
