"""Events of a source placed in the clips of the truth, whose lengths are known.

Conventions
-----------
Where the truth and another source have other folders, a clip is known by its name alone, if no other clip
has it. A clip's length is stated by the source (event tables, scenes, label runs) or given (``durations``),
never inferred. In a DCASE table a clip without rows has no events; the durations say which clips there are.
All faults are raised at once.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

from earwitness import audio
from earwitness.errors import InputFaults, UnusableAudio, UserError
from earwitness.events import EPSILON_S, Event, EventTable
from earwitness.manifest import AUDIO_EXTENSIONS
from earwitness.manifest.table import listing, near, read_table
from earwitness.tasks.event_sources import DCASE, Source, only_clip_of

BEYOND_S = 0.1
"""A true event that ends later than this after its clip is a fault. Other ends beyond a clip are cut off."""
_ALIASES = {"file": ("filename", "file_name", "audio"), "duration_s": ("duration", "length", "length_s")}
_LENGTHS = "Give lengths: --durations FILE (columns file, duration_s), --audio DIR, or --duration SECONDS."


def durations_in(path: Path) -> dict[str, float]:
    """Length of every clip: of the audio files of a folder, or by a table with columns file and duration_s.

    Raises:
        UserError, InputFaults: Naming what cannot be read, files and rows.
    """
    if not path.is_dir():
        table = read_table(path)
        columns = table.choose(("file", "duration_s"), (), {}, _ALIASES)
        rows = (
            (f"row {number}", str(row.get(columns["file"])), row.get(columns["duration_s"]))
            for number, row in table.rows
        )
        return _stated(str(path), rows, table.faults)
    found: dict[str, float] = {}
    names: dict[str, str] = {}
    faults = []
    for one in sorted(path.rglob("*")):
        if one.suffix.lower() in AUDIO_EXTENSIONS:
            try:
                clip = only_clip_of(one.relative_to(path).as_posix(), names)
                found[clip] = audio.read(one).duration_s
            except UnusableAudio as fault:
                faults.append(f"{one.relative_to(path)}: {fault}")
            except ValueError as fault:
                faults.append(str(fault))
    if faults or not found:
        raise InputFaults(str(path), faults or ["no audio files"], "Leave them out, or use --durations FILE.")
    return found


def durations_of(given: Mapping[str, object]) -> dict[str, float]:
    """Length of every clip, from lengths by file name.

    Raises:
        InputFaults: Naming every one that is no length, and names that would be one clip.
    """
    return _stated("durations", ((name, name, length) for name, length in given.items()), [])


def seconds(length: object) -> float:
    """A clip's length, from a number or the text of one.

    Raises:
        TypeError, ValueError, OverflowError: If it is none.
    """
    if isinstance(length, bool) or not isinstance(length, str | Real):
        raise TypeError(f"{length!r} is no number")
    return EventTable((), float(length)).duration_s


def _stated(what: str, rows: Iterable[tuple[str, str, object]], faults: list[str]) -> dict[str, float]:
    """Clip -> length, from (where, file name, length)."""
    found: dict[str, float] = {}
    names: dict[str, str] = {}
    for where, name, length in rows:
        try:
            clip = only_clip_of(name, names)
            if clip in found:
                raise ValueError(f"{name!r} is there twice")
            found[clip] = seconds(length)
        except (TypeError, ValueError, OverflowError) as fault:
            faults.append(f"{where}: {fault}")
    if faults:
        raise InputFaults(what, faults)
    return found


@dataclass(frozen=True, slots=True)
class Placed:
    """The events of clips whose length is known.

    Attributes:
        tables: Clip -> events.
        cut: Events that reached beyond their clip and were cut off at its end.
    """

    tables: Mapping[str, EventTable]
    cut: int


def truth(source: Source, durations_s: Mapping[str, float] | float | None) -> Placed:
    """The truth, every clip with its length.

    Args:
        durations_s: Where the source does not state lengths: of every clip (those without events too), or one
            length for all clips that the source names.

    Raises:
        UserError: If lengths are given twice.
        InputFaults: Listing clips without a length and events beyond their clip.
    """
    if source.durations_s and durations_s is not None:
        raise UserError(f"{source.path} states the lengths of its clips itself.", "Leave out the other ones.")
    faults = [f"{clip}: unheard ({why}), so there is no truth" for clip, why in source.unheard.items()]
    if isinstance(durations_s, float):
        lengths: Mapping[str, float] = dict.fromkeys(source.events, durations_s)
        names = {clip: clip for clip in source.events}
    elif durations_s is not None:
        lengths, names = durations_s, aligned(durations_s, source.events)
    else:
        lengths, names = source.durations_s, {clip: clip for clip in source.events}
    lacking = [clip for clip in source.events if names.get(clip) not in lengths]
    faults += [f"{clip}: its length is not known{_why(clip, lengths)}" for clip in lacking]
    known = {names[clip]: found for clip, found in source.events.items() if clip not in set(lacking)}
    placed = _placed({clip: known.get(clip, []) for clip in lengths}, lengths, BEYOND_S, faults)
    if faults or not placed.tables:
        no_clips = "no clips: a truth whose clips hold no event names them by --durations FILE or --audio DIR"
        raise InputFaults(str(source.path), faults or [no_clips], _LENGTHS if lacking else "")
    return placed


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a source says of the truth's clips: those it has, and why it has not the others."""

    placed: Placed
    left_out: Mapping[str, str]


def estimate(source: Source, truth: Mapping[str, EventTable], missing: str) -> Estimate:
    """What a source says of the clips of the truth.

    Args:
        missing: What a clip is that the source does not name: ``error``, ``empty`` (nothing was heard in
            it) or ``unheard`` (it is left out). In a DCASE table it is always empty.

    Raises:
        InputFaults: Listing clips that the truth does not have, clips that are missing, events that begin
            after their clip ends, and lengths that are not the truth's.
    """
    given = [*source.events, *source.unheard]
    names = aligned(truth, given)
    faults = [f"{clip} is not in the truth{_why(clip, truth)}" for clip in given if clip not in names]
    there = {names[clip]: found for clip, found in source.events.items() if clip in names}
    left_out = {names[clip]: why for clip, why in source.unheard.items() if clip in names}
    for clip in truth.keys() - there.keys() - left_out.keys():
        if source.kind == DCASE or missing == "empty":
            there[clip] = []
        elif missing == "unheard":
            left_out[clip] = "missing"
        else:
            faults.append(f"the clip {clip!r} of the truth is missing")
    for clip, stated_s in source.durations_s.items():
        true_s = truth[names[clip]].duration_s if clip in names else stated_s
        if abs(stated_s - true_s) > BEYOND_S:
            faults.append(f"{clip}: {stated_s:g} s long here, {true_s:g} s in the truth")
    lengths = {clip: truth[clip].duration_s for clip in truth if clip in there}
    placed = _placed({clip: there[clip] for clip in lengths}, lengths, None, faults)
    if faults:
        how = "Name every clip as the truth does; --missing empty or unheard says what a missing one is."
        raise InputFaults(str(source.path), sorted(faults), how)
    return Estimate(placed, {clip: left_out[clip] for clip in truth if clip in left_out})


def aligned(known: Iterable[str], given: Iterable[str]) -> dict[str, str]:
    """Each given clip that is known -> its name there: the same path, or else the same name, if unique."""
    whole, others = set(known), list(given)
    if all(clip in whole for clip in others):
        return {clip: clip for clip in others}
    stems, counts = Counter(map(_stem, whole)), Counter(map(_stem, others))
    by_stem = {_stem(clip): clip for clip in whole if stems[_stem(clip)] == 1}
    found = {}
    for clip in others:
        if clip in whole:
            found[clip] = clip
        elif counts[_stem(clip)] == 1 and _stem(clip) in by_stem:
            found[clip] = by_stem[_stem(clip)]
    return found


def _why(clip: str, known: Iterable[str]) -> str:
    """Why a clip is not among those known, or what it may have been; empty if nothing is like it."""
    others = list(known)
    alike = sorted(other for other in others if _stem(other) == _stem(clip))
    if len(alike) > 1:
        return f", as it may be {listing(alike, 3)}: name its folder"
    if alike:
        return f", as other clips may be {alike[0]!r}, too: name their folders"
    return near(clip, others)


def _stem(clip: str) -> str:
    return clip.rpartition("/")[2]


def _placed(
    found: Mapping[str, Iterable[Event]],
    lengths: Mapping[str, float],
    most_s: float | None,
    faults: list[str],
) -> Placed:
    """Events in their clips; with ``most_s`` what ends later than that after its clip is a fault."""
    tables: dict[str, EventTable] = {}
    cut = 0
    for clip, given in found.items():
        end_s, kept = lengths[clip], []
        for event in given:
            late_s = event.offset_s - end_s
            if event.onset_s > end_s + EPSILON_S or (most_s is not None and late_s > most_s):
                where = f"{event.label!r} ({event.onset_s:g} to {event.offset_s:g} s)"
                faults.append(f"{clip}: {where} lies beyond the clip's end ({end_s:g} s)")
                continue
            cut += late_s > EPSILON_S
            kept.append(
                Event(event.label, min(event.onset_s, end_s), min(event.offset_s, end_s), event.confidence)
            )
        tables[clip] = EventTable(tuple(kept), end_s)
    return Placed(tables, cut)


def overlapping(tables: Mapping[str, EventTable]) -> dict[str, str]:
    """Clip -> the first two events of one class in it that overlap, in words."""
    found: dict[str, str] = {}
    for clip, table in tables.items():
        last: dict[str, Event] = {}
        for event in table:
            before = last.get(event.label)
            if before is not None and event.onset_s < before.offset_s - EPSILON_S:
                times = " and ".join(f"{one.onset_s:g}-{one.offset_s:g}" for one in (before, event))
                found[clip] = f"{event.label} {times} s"
                break
            if before is None or event.offset_s > before.offset_s:
                last[event.label] = event
    return found
