"""Event tables of many clips, as they lie on disk.

Conventions
-----------
What is read: a DCASE table (.tsv, .csv, .txt: filename, onset, offset, event_label; with or without a
header), a folder of earwitness event tables (.json) or Audacity label tracks (.txt), a data set of scenes, a
run of ``earwitness label``. A clip is known by its path without the ending, relative to the folder; where two
sources have other folders, by its name alone, if no other clip has it.

A clip's length is stated by the source (event tables, scenes, label runs) or given (``durations``), never
inferred. In a DCASE table a clip without rows has no events; the durations say which clips there are.
All faults of a source are raised at once, with file and row.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from earwitness import audio, events
from earwitness.errors import InputFaults, UnusableAudio, UserError
from earwitness.events import EPSILON_S, Event, EventTable
from earwitness.manifest import AUDIO_EXTENSIONS
from earwitness.manifest.table import near, read_table
from earwitness.scenes import scene

DCASE, TABLES, AUDACITY, SCENES, LABELS = "DCASE table", "event tables", "label tracks", "scenes", "label run"
BEYOND_S = 0.1
"""A true event that ends later than this after its clip is a fault. Other ends beyond a clip are cut off."""
_ENDINGS = (*AUDIO_EXTENSIONS, ".json", ".txt")
_ALIASES = {"file": ("filename", "file_name", "audio"), "duration_s": ("duration", "length", "length_s")}
_LENGTHS = "Give lengths: --durations FILE (columns file, duration_s), --audio DIR, or --duration SECONDS."


@dataclass(frozen=True, slots=True)
class Source:
    """What a source states, before it is placed in clips of known length.

    Attributes:
        kind: One of the kinds above.
        events: Clip -> its events.
        durations_s: Clip -> its length, where the source states it.
        unheard: Clip -> why nobody knows its events.
    """

    path: Path
    kind: str
    events: Mapping[str, list[Event]]
    durations_s: Mapping[str, float] = field(default_factory=dict)
    unheard: Mapping[str, str] = field(default_factory=dict)


def clip_of(name: str) -> str:
    """The clip that a file name stands for."""
    path = PurePosixPath(name.replace("\\", "/"))
    return str(path.with_suffix("") if path.suffix.lower() in _ENDINGS else path)


def read(path: Path) -> Source:
    """Read a source of events.

    Raises:
        UserError: If it is nothing that can be read.
        InputFaults: Listing every row or file that is no event.
    """
    faults: list[str] = []
    if path.is_dir():
        found = _folder(path, faults)
    elif path.name == "labels.jsonl":
        found = _label_run(path, path, faults)
    elif path.suffix.lower() in (".tsv", ".csv", ".txt"):
        found = Source(path, DCASE, _dcase(path, faults))
    else:
        what = "no file with events" if path.exists() else "no such file or folder"
        raise UserError(
            f"{path}: {what}.", "Name a DCASE table (.tsv), or a folder of tables, scenes or labels."
        )
    if faults:
        raise InputFaults(str(path), faults)
    return found


def _folder(path: Path, faults: list[str]) -> Source:
    for lines in (path / "labels" / "labels.jsonl", path / "labels.jsonl"):
        if lines.is_file():
            return _label_run(path, lines, faults)
    if (path / "scenes").is_dir():
        return _scenes(path, faults)
    files = sorted(one for one in path.rglob("*") if one.suffix in (".json", ".txt") and one.is_file())
    kinds = {one.suffix for one in files}
    if len(kinds) != 1:
        what = (
            "both .json and .txt files" if kinds else "neither event tables (.json) nor label tracks (.txt)"
        )
        raise UserError(f"{path} has {what}.", "Name a folder with one such file a clip.")
    found: dict[str, list[Event]] = {}
    durations: dict[str, float] = {}
    for one in files:
        clip = clip_of(one.relative_to(path).as_posix())
        try:
            if one.suffix == ".json":
                table = events.read_json(one)
                durations[clip] = table.duration_s
            else:
                table = events.read_audacity(one, audio.MAX_S)
            found[clip] = list(table)
        except UserError as fault:
            faults.append(fault.message)
    return Source(path, TABLES if ".json" in kinds else AUDACITY, found, durations)


def _scenes(path: Path, faults: list[str]) -> Source:
    found: dict[str, list[Event]] = {}
    durations: dict[str, float] = {}
    for one in sorted((path / "scenes").glob("*.json")):
        try:
            table = scene.read(one).truth()
        except UserError as fault:
            faults.append(fault.message)
            continue
        found[one.stem], durations[one.stem] = list(table), table.duration_s
    return Source(path, SCENES, found, durations)


def _label_run(path: Path, lines: Path, faults: list[str]) -> Source:
    found: dict[str, list[Event]] = {}
    durations: dict[str, float] = {}
    unheard: dict[str, str] = {}
    table = read_table(lines)
    faults += table.faults
    for number, row in table.rows:
        try:
            clip = clip_of(str(row["file_name"] or row["sample_id"]))
            if clip in found or clip in unheard:
                raise ValueError(f"the clip {clip!r} is there twice")
            if row["events"] is None:
                unheard[clip] = str(row["reason"] or row["status"])
                continue
            heard = events.from_json(row["events"], float(row["duration_s"]))  # type: ignore[arg-type]
            found[clip], durations[clip] = list(heard), heard.duration_s
        except (KeyError, TypeError, ValueError) as fault:
            faults.append(f"{lines.name}, row {number}: {fault}")
    return Source(path, LABELS, found, durations, unheard)


def _dcase(path: Path, faults: list[str]) -> dict[str, list[Event]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise UserError(f"{path} cannot be read: {fault}.") from fault
    lines = text.splitlines()
    delimiter = max("\t,;", key=(lines or [""])[0].count)
    order = {"filename": 0, "onset": 1, "offset": 2, "event_label": 3}
    found: dict[str, list[Event]] = {}
    for number, cells in enumerate(csv.reader(lines, delimiter=delimiter), 1):
        if number == 1 and any(cell.strip() in ("onset", "onset_s") for cell in cells):
            heads = {_head(cell.strip()): at for at, cell in enumerate(cells)}
            if missing := order.keys() - heads.keys():
                raise UserError(f"{path} has no column {', '.join(sorted(missing))}.")
            order = {name: heads[name] for name in order}
            continue
        if not any(cell.strip() for cell in cells):
            continue
        try:
            name, onset, offset, label = ([*cells, "", "", ""][order[name]].strip() for name in order)
            here = found.setdefault(clip_of(name), [])
            if onset or offset or label:  # DCASE lists a clip without events by its name alone
                here.append(Event(label, float(onset), float(offset)))
        except (IndexError, ValueError) as fault:
            faults.append(f"row {number}: {fault}")
    return found


def _head(cell: str) -> str:
    names = {"file": "filename", "file_name": "filename", "onset_s": "onset", "offset_s": "offset"}
    return names.get(cell, "event_label" if cell == "label" else cell)


def durations_in(path: Path) -> dict[str, float]:
    """Length of every clip: of the audio files of a folder, or by a table with columns file and duration_s.

    Raises:
        UserError, InputFaults: Naming what cannot be read, files and rows.
    """
    if not path.is_dir():
        return _durations_of(path)
    found: dict[str, float] = {}
    faults = []
    for one in sorted(path.rglob("*")):
        if one.suffix.lower() in AUDIO_EXTENSIONS:
            try:
                found[clip_of(one.relative_to(path).as_posix())] = audio.read(one).duration_s
            except UnusableAudio as fault:
                faults.append(f"{one.relative_to(path)}: {fault}")
    if faults or not found:
        raise InputFaults(str(path), faults or ["no audio files"], "Leave them out, or use --durations FILE.")
    return found


def _durations_of(path: Path) -> dict[str, float]:
    table = read_table(path)
    columns = table.choose(("file", "duration_s"), (), {}, _ALIASES)
    found: dict[str, float] = {}
    for number, row in table.rows:
        clip, text = clip_of(str(row[columns["file"]])), str(row[columns["duration_s"]])
        try:
            found[clip] = EventTable((), float(text)).duration_s
        except ValueError as fault:
            table.faults.append(f"row {number}: {fault}")
    table.raise_faults()
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
    faults += [f"{clip}: its length is not known{near(clip, lengths)}" for clip in lacking]
    known = {names[clip]: found for clip, found in source.events.items() if clip not in set(lacking)}
    placed = _placed({clip: known.get(clip, []) for clip in lengths}, lengths, BEYOND_S, faults)
    if faults or not placed.tables:
        raise InputFaults(str(source.path), faults or ["no clips"], _LENGTHS if lacking else "")
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
    faults = [f"{clip} is not in the truth{near(clip, truth)}" for clip in given if clip not in names]
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


def own_labels(path: Path) -> dict[str, str]:
    """The user's table of labels: label -> class; an empty class leaves the label out.

    Raises:
        UserError, InputFaults: If it is no table with columns label and class.
    """
    table = read_table(path)
    columns = table.choose(("label", "class"), (), {})
    found = {row["label"]: row["class"].strip() for _, row in table.texts(columns, ())}
    table.raise_faults()
    return found


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
