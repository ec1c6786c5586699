"""What sources of events say of their clips, as they lie on disk.

Conventions
-----------
What is read: a DCASE table (.tsv, .csv, .txt: filename, onset, offset, event_label, or with a header of the
names of :data:`COLUMNS` in any order), a folder of earwitness event tables (.json) or Audacity label tracks
(.txt), a data set of scenes, a run of ``earwitness label``, whose systems are a source each. A clip is known
by its path without the ending, relative to the folder, in Unicode's composed form (NFC); two names that would
be one clip are a fault, as is a name or label that UTF-8 cannot hold. All faults of a source are raised at
once, with file and row.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from earwitness import audio, events
from earwitness.errors import InputFaults, UserError
from earwitness.events import Event
from earwitness.files import INPUTS
from earwitness.manifest import AUDIO_EXTENSIONS
from earwitness.manifest.table import near_path, read_table, text_fault
from earwitness.scenes import scene

DCASE, TABLES, AUDACITY, SCENES, LABELS = "DCASE table", "event tables", "label tracks", "scenes", "label run"
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "filename": ("file", "file_name", "audio"),
    "onset": ("onset_s", "start", "start_s"),
    "offset": ("offset_s", "end", "end_s"),
    "event_label": ("label",),
}
"""Columns of a DCASE table in their usual order, and other names of them, of any case."""
_RESULTS = {"events.json": "events", "distances.json": "distance"}
"""Files by which the results of other commands are known, if they say what they were made of."""
_ENDINGS = (*AUDIO_EXTENSIONS, ".json", ".txt")
_ONE_CELL_EVENT = re.compile(r"[\s,;]\d[\d.]*[\s,;]+\d[\d.]*[\s,;]+\S")
"""Two times and a label in what should be a file name: the table is parted otherwise than its first row."""


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
    path = PurePosixPath(unicodedata.normalize("NFC", name).replace("\\", "/"))
    return str(path.with_suffix("") if path.suffix.lower() in _ENDINGS else path)


def only_clip_of(name: str, names: dict[str, str]) -> str:
    """The clip that a file name stands for, if no other name of the same source does.

    Args:
        names: Clip -> its name, so far; the name is added.

    Raises:
        ValueError: Naming both; or if the name is no valid Unicode.
    """
    if fault := text_fault(name):
        raise ValueError(f"a name {fault}")
    clip = clip_of(name)
    if (first := names.setdefault(clip, name)) != name:
        raise ValueError(f"{name!r} and {first!r} would be one clip, {clip!r}; rename one, or leave it out")
    return clip


def _known(clip: str, events_: Iterable[Event]) -> list[Event]:
    """The events of a clip.

    Raises:
        ValueError: If a label cannot be written.
    """
    found = list(events_)
    for event in found:
        if fault := text_fault(event.label):
            raise ValueError(f"{clip}: a label {fault}")
    return found


def read(path: Path) -> dict[str, Source]:
    """Read a source of events: by system where it is a label run of several, else under the name "".

    Raises:
        UserError: If it is nothing that can be read.
        InputFaults: Listing every row or file that is no event.
    """
    faults: list[str] = []
    if not path.exists():
        raise UserError(
            f"{path}: no such file or folder{near_path(path)}.",
            "Name a DCASE table (.tsv), or a folder of tables, scenes or labels.",
        )
    if path.is_dir():
        found = _folder(path, faults)
    elif path.name == "labels.jsonl":
        found = _label_run(path, path, faults)
    elif path.suffix.lower() in (".tsv", ".csv", ".txt"):
        found = {"": Source(path, DCASE, _dcase(path, faults))}
    else:
        raise UserError(
            f"{path}: no file with events.",
            "Name a DCASE table (.tsv), or a folder of tables, scenes or labels.",
        )
    if faults:
        raise InputFaults(str(path), faults)
    return found


def read_truth(path: Path) -> Source:
    """Read a source of events that can be a truth.

    Raises:
        UserError, InputFaults: See :func:`read`; or if it holds what several systems say.
    """
    found = read(path)
    if len(found) > 1:
        raise UserError(
            f"{path} holds what {len(found)} systems say, {', '.join(map(repr, found))}: that is no truth.",
            "Name a run of one system.",
        )
    (only,) = found.values()
    return only


def _folder(path: Path, faults: list[str]) -> dict[str, Source]:
    for lines in (path / "labels" / "labels.jsonl", path / "labels.jsonl"):
        if lines.is_file():
            return _label_run(path, lines, faults)
    if (path / "scenes").is_dir():
        return {"": _scenes(path, faults)}
    _refuse_runs(path)
    files = sorted(one for one in path.rglob("*") if one.suffix in (".json", ".txt") and one.is_file())
    kinds = {one.suffix for one in files}
    if len(kinds) != 1:
        what = (
            "both .json and .txt files" if kinds else "neither event tables (.json) nor label tracks (.txt)"
        )
        raise UserError(f"{path} has {what}.", "Name a folder with one such file a clip.")
    found: dict[str, list[Event]] = {}
    durations: dict[str, float] = {}
    names: dict[str, str] = {}
    for one in files:
        try:
            clip = only_clip_of(one.relative_to(path).as_posix(), names)
            if one.suffix == ".json":
                table = events.read_json(one)
                durations[clip] = table.duration_s
            else:
                table = events.read_audacity(one, audio.MAX_S)
            found[clip] = _known(clip, table)
        except UserError as fault:
            faults.append(fault.message)
        except ValueError as fault:
            faults.append(str(fault))
    return {"": Source(path, TABLES if ".json" in kinds else AUDACITY, found, durations)}


def _refuse_runs(path: Path) -> None:
    """Refuse the folder of a run or a result that says no events, and one of several runs.

    Raises:
        UserError: Naming what it is, and what to name instead.
    """
    inner = [str(one.parent.parent) for one in sorted(path.glob("*/labels/labels.jsonl"))]
    if inner:
        raise UserError(f"{path} holds runs of earwitness label.", f"Name them apart: {', '.join(inner)}")
    for name, verb in _RESULTS.items():
        if INPUTS in _object(path / name) and not (path / "run.json").exists():
            raise UserError(
                f"{path} is a result of earwitness {verb}, which holds no event tables.",
                f"Name the tables or clips that it was made of: {path / name}, {INPUTS!r}.",
            )
    task = _object(path / "run.json").get("task")
    if task is None:
        return
    verb = {"ritta": "bench ritta score", "label": "label"}.get(task, f"judge {task}")
    how = "Label the clips, and name that run: earwitness label CLIPS -o labels"
    raise UserError(
        f"{path} is a run of earwitness {verb}, which holds no event tables.",
        f"Its own numbers: {path / 'index.html'}. {how}." if task != "label" else "Finish it: run it again.",
    )


def _object(path: Path) -> Mapping[str, Any]:
    """The object of a JSON file; empty if it holds none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _scenes(path: Path, faults: list[str]) -> Source:
    found: dict[str, list[Event]] = {}
    durations: dict[str, float] = {}
    names: dict[str, str] = {}
    for one in sorted((path / "scenes").glob("*.json")):
        try:
            clip = only_clip_of(one.name, names)
            table = scene.read(one).truth()
            found[clip], durations[clip] = _known(clip, table), table.duration_s
        except UserError as fault:
            faults.append(fault.message)
        except ValueError as fault:
            faults.append(str(fault))
    return Source(path, SCENES, found, durations)


def _label_run(path: Path, lines: Path, faults: list[str]) -> dict[str, Source]:
    table = read_table(lines)
    faults += table.faults
    systems: dict[str, tuple[dict[str, list[Event]], dict[str, float], dict[str, str]]] = {}
    names: dict[str, dict[str, str]] = {}
    for number, row in table.rows:
        system = str(row.get("system") or "")
        found, durations, unheard = systems.setdefault(system, ({}, {}, {}))
        try:
            clip = only_clip_of(str(row["file_name"] or row["sample_id"]), names.setdefault(system, {}))
            if clip in found or clip in unheard:
                raise ValueError(f"the clip {clip!r} is there twice")
            why = "" if row["events"] is not None else str(row["reason"] or row["status"])
            for column, text in (("system", system), ("reason", why)):
                if fault := text_fault(text):
                    raise ValueError(f"{column} {fault}")
            if row["events"] is None:
                unheard[clip] = why
                continue
            heard = events.from_json(row["events"], float(row["duration_s"]))  # type: ignore[arg-type]
            found[clip], durations[clip] = _known(clip, heard), heard.duration_s
        except (KeyError, TypeError, ValueError) as fault:
            faults.append(f"{lines.name}, row {number}: {fault}")
    sources = {name: Source(path, LABELS, *each) for name, each in systems.items()}
    return sources if len(sources) > 1 else {"": next(iter(sources.values()), Source(path, LABELS, {}))}


def _dcase(path: Path, faults: list[str]) -> dict[str, list[Event]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as fault:
        raise UserError(f"{path} cannot be read: {fault.strerror}.") from fault
    except UnicodeDecodeError as fault:
        raise UserError(f"{path} cannot be read: {fault}.", "Save it with the encoding UTF-8.") from fault
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    first = next((line for _, line in lines if not _is_comment(line)), "")
    delimiter = max("\t,;", key=first.count)
    if delimiter not in first and len(_places(first.split())) > 1:
        raise UserError(f"{path}: its columns are parted by spaces.", "Part them by tabs.")
    order = {name: at for at, name in enumerate(COLUMNS)}
    found: dict[str, list[Event]] = {}
    names: dict[str, str] = {}
    for number, line in lines:
        try:
            if _is_comment(line):
                raise ValueError(f"{line.strip()!r} reads as a comment, which these tables do not have")
            cells = [cell.strip() for cell in events.dcase_cells(line, delimiter)]
            if line is first and _is_header(cells):
                order = _order(path, cells)
                continue
            if not any(cells):
                continue
            name, onset, offset, label = ([*cells, "", "", ""][order[name]] for name in order)
            empty = not (onset or offset or label)  # DCASE lists a clip without events by its name alone
            if empty and _ONE_CELL_EVENT.search(name) and not _is_audio(name):
                raise ValueError(
                    f"{name!r} is one cell, but reads as an event; part the columns of all rows by tabs"
                )
            here = found.setdefault(only_clip_of(name, names), [])
            if not empty:
                here.append(Event(label, _seconds("onset", onset), _seconds("offset", offset)))
        except (IndexError, ValueError) as fault:
            faults.append(f"row {number}: {fault}")
    return found


def _is_comment(line: str) -> bool:
    """``# made by x``; a file may be called ``#1.wav``."""
    return line.startswith("#") and "\t" not in line and not _is_audio(re.split("[,;]", line)[0])


def _is_audio(name: str) -> bool:
    return PurePosixPath(name.strip().strip('"')).suffix.lower() in AUDIO_EXTENSIONS


def _places(cells: Sequence[str]) -> dict[str, list[int]]:
    """Column -> where it stands in a header; more than once if several cells name it."""
    found: dict[str, list[int]] = {}
    for at, cell in enumerate(cells):
        for name, others in COLUMNS.items():
            if cell.casefold() in (name, *others):
                found.setdefault(name, []).append(at)
    return found


def _is_header(cells: Sequence[str]) -> bool:
    """Whether a first row names columns: there is no number in it, and no file where times would be."""
    if any(map(_is_number, cells)):
        return False
    named = _places(cells).keys() & {"onset", "offset"}
    return bool(named) or (all([*cells[1:3], len(cells) > 2]) and not any(map(_is_audio, cells)))


def _order(path: Path, cells: Sequence[str]) -> dict[str, int]:
    """Where each column stands.

    Raises:
        UserError: Naming columns that are missing or there twice, those that are needed and those found.
    """
    places = _places(cells)
    missing = [name for name in COLUMNS if name not in places]
    faults = [f"no column {', '.join(missing)}"] if missing else []
    for name, where in places.items():
        if len(where) > 1:
            faults.append(f"{len(where)} columns for {name} ({', '.join(cells[at] for at in where)})")
    if faults:
        needed = ", ".join(f"{name} (or {', '.join(others)})" for name, others in COLUMNS.items())
        raise UserError(
            f"{path}: the header has {' and '.join(faults)}. Found: {', '.join(cells)}.",
            f"Needed: {needed}. Rename them in the file; --map renames labels, not columns.",
        )
    return {name: places[name][0] for name in COLUMNS}


def _seconds(column: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        comma = "; decimals take a point" if _is_number(cell.replace(",", ".", 1)) else ""
        raise ValueError(f"{column}: {cell!r} is no number of seconds{comma}") from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
