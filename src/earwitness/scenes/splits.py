"""Splits: the training and the test side of a bank, which share no recording.

Conventions
-----------
The recordings of a class are ordered by the length of their longest clip, as its header states it, the long
ones first, then by the sha256 of their ids, and dealt in turn, the first to training: so both sides get their
share of what is long enough to be used. Nothing else decides: a bank that lists them in another order is
split alike, whatever the scenes' rate. A recording that several classes share goes where the first of them,
by name, puts it; so do recordings that hold the same sound, of one class or of several.
A class all of whose recordings would lie on one side (mostly because it has only one) is shared by rule:
its clips are dealt in turn, and a single clip goes to both sides. Every such class is named.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import soundfile

from earwitness.errors import UserError
from earwitness.manifest.table import near
from earwitness.scenes.bank import Bank, Source, decoded

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
    return Split(replace(bank, sources=kept), shared)


def _dealt(bank: Bank) -> Mapping[str, str]:
    """Recording id -> its side."""
    headers = {source: _header(source) for sources in bank.sources.values() for source in sources}
    twins = twinned(_sounds(headers))
    dealt: dict[str, str] = {}
    for label in sorted(bank.sources):
        sources = bank.sources[label]
        longest: dict[str, float] = {}
        for source in sources:
            frames, rate_hz = headers[source]
            longest[source.recording_id] = max(longest.get(source.recording_id, 0.0), frames / rate_hz)
        count = {"train": 0, "test": 0}
        for recording in longest.keys() & dealt.keys():
            count[dealt[recording]] += 1
        for recording in sorted(longest.keys() - dealt.keys(), key=lambda r: (-longest[r], order(r))):
            side = dealt.get(recording) or ("train" if count["train"] <= count["test"] else "test")
            dealt |= dict.fromkeys(twins.get(recording, {recording}), side)
            count[side] += 1
    return dealt


def _header(source: Source) -> tuple[int, int]:
    """Frames and rate that a clip's header states; none of a computed sound or a file without a header."""
    if source.path is None:
        return 0, 1
    try:
        info = soundfile.info(source.path)
    except soundfile.SoundFileError:
        return 0, 1
    return info.frames, info.samplerate


def _sounds(headers: Mapping[Source, tuple[int, int]]) -> Iterable[set[str]]:
    """For every sound that several recordings might hold, the ids of those that do."""
    alike: dict[tuple[int, int], list[Source]] = {}
    for source, header in headers.items():
        if header[0]:
            alike.setdefault(header, []).append(source)
    of_sound: dict[str, set[str]] = {}
    for (_, rate_hz), found in alike.items():
        if len({source.recording_id for source in found}) > 1:  # nothing else needs to be decoded
            for source in found:
                if (sound := _sound(source, rate_hz)) is not None:
                    of_sound.setdefault(sound, set()).add(source.recording_id)
    return of_sound.values()


def twinned(of_sound: Iterable[set[str]]) -> Mapping[str, set[str]]:
    """Recording id -> all that must lie where it does, itself among them; given those that share a sound."""
    twins: dict[str, set[str]] = {}
    for recordings in of_sound:
        joined = recordings.union(*(twins.get(recording, ()) for recording in recordings))
        twins |= dict.fromkeys(joined, joined)
    return twins


def _sound(source: Source, rate_hz: int) -> str | None:
    try:
        return decoded(source, rate_hz).pcm_hash
    except UserError:  # cutting names it: no side gets anything of it
        return None


def _by_rule(sources: Sequence[Source], side: str) -> tuple[tuple[Source, ...], str]:
    """What a side gets of a class that cannot be split by recording, and why."""
    recordings = len({source.recording_id for source in sources})
    what = "it has one recording" if recordings == 1 else f"its {recordings} recordings lie on one side"
    if len(sources) == 1:
        return tuple(sources), f"{what} in one clip, which both sides use"
    ordered = sorted(sources, key=lambda source: order(source.name))
    mine = ordered[0 if side == "train" else 1 :: 2]
    return tuple(mine), f"{what}, whose {len(sources)} clips are dealt in turn to both sides"


def order(name: str) -> str:
    """What names are sorted by, so that neither their spelling nor their place in a list decides."""
    return hashlib.sha256(name.encode()).hexdigest()
