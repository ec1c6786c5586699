"""Events in time: what was asked, rendered or heard.

Conventions
-----------
Times are seconds from the start of the clip. ``onset_s <= offset_s``; both are finite and not
negative. Confidence lies in [0, 1] or is ``None`` where nobody states one (rendered truth).
A table is sorted by onset, then offset, then label. A clip's duration is always stated, never inferred
from its last event, so a clip without events is a legal table. Times that differ by :data:`EPSILON_S` or
less are equal. Files hold times in full, so what is written is read back unchanged.
"""

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from earwitness.errors import UserError

EPSILON_S = 1e-6
"""Below one sample at any rate in use: a gap of 1.3 - 1.0 s is no longer than one of 0.3 s."""


@dataclass(frozen=True, slots=True)
class Event:
    """One sound in time.

    Raises:
        ValueError: If a time is negative or not finite, the offset lies before the onset, the
            label is empty or the confidence is outside [0, 1].
    """

    label: str
    onset_s: float
    offset_s: float
    confidence: float | None = None

    def __post_init__(self) -> None:
        if not self.label.strip():
            raise ValueError("an event needs a label")
        for name, value in (("onset_s", self.onset_s), ("offset_s", self.offset_s)):
            if not math.isfinite(value) or value < 0:
                raise ValueError(f"{name} of {self.label!r} must be a finite number >= 0, not {value!r}")
        if self.offset_s < self.onset_s:
            raise ValueError(
                f"{self.label!r} ends at {self.offset_s} s, before it starts at {self.onset_s} s"
            )
        if self.confidence is not None and not 0.0 <= self.confidence <= 1.0:
            raise ValueError(f"confidence of {self.label!r} must lie in [0, 1], not {self.confidence!r}")

    @property
    def duration_s(self) -> float:
        return self.offset_s - self.onset_s


@dataclass(frozen=True, slots=True)
class EventTable:
    """The events of one clip, sorted, with the clip's duration.

    Raises:
        ValueError: If the duration is negative or not finite, or an event starts after the clip's end.
    """

    events: tuple[Event, ...]
    duration_s: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.duration_s) or self.duration_s < 0:
            raise ValueError(f"a clip's duration must be a finite number >= 0, not {self.duration_s!r}")
        ordered = tuple(sorted(self.events, key=lambda e: (e.onset_s, e.offset_s, e.label)))
        object.__setattr__(self, "events", ordered)
        for event in ordered:
            if event.onset_s > self.duration_s:
                raise ValueError(
                    f"{event.label!r} starts at {event.onset_s} s, after the clip's end ({self.duration_s} s)"
                )

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def with_labels(self, labels: Iterable[str]) -> "EventTable":
        """The events whose label is one of ``labels``."""
        wanted = frozenset(labels)
        return EventTable(tuple(e for e in self.events if e.label in wanted), self.duration_s)

    def merged(self, gap_s: float = 0.0) -> "EventTable":
        """Same-label events at most ``gap_s`` apart become one; the highest confidence is kept."""
        out: list[Event] = []
        last: dict[str, int] = {}
        for event in self.events:
            at = last.get(event.label)
            if at is not None and event.onset_s - out[at].offset_s <= gap_s + EPSILON_S:
                before = out[at]
                sure = [c for c in (before.confidence, event.confidence) if c is not None]
                out[at] = Event(
                    event.label,
                    before.onset_s,
                    max(before.offset_s, event.offset_s),
                    max(sure) if sure else None,
                )
            else:
                last[event.label] = len(out)
                out.append(event)
        return EventTable(tuple(out), self.duration_s)


def to_json(table: EventTable) -> list[dict[str, Any]]:
    """Plain data, one object an event; ``confidence`` is null where nobody stated one."""
    return [
        {"label": e.label, "onset_s": e.onset_s, "offset_s": e.offset_s, "confidence": e.confidence}
        for e in table
    ]


def from_json(rows: Sequence[Mapping[str, Any]], duration_s: float) -> EventTable:
    """The inverse of :func:`to_json`.

    Raises:
        ValueError: If a row is no valid event; the row's index is named.
    """
    events = []
    for index, row in enumerate(rows):
        try:
            label, sure = row["label"], row.get("confidence")
            if not isinstance(label, str):
                raise TypeError(f"{label!r} is no label")
            onset_s, offset_s = _number(row["onset_s"]), _number(row["offset_s"])
            events.append(Event(label, onset_s, offset_s, None if sure is None else _number(sure)))
        except KeyError as fault:
            raise ValueError(f"event {index} has no {fault}") from fault
        except (TypeError, ValueError, OverflowError) as fault:
            raise ValueError(f"event {index}: {fault}") from fault
    return EventTable(tuple(events), duration_s)


def write_json(path: Path, table: EventTable) -> None:
    """Write ``{"duration_s", "events"}`` as strict JSON."""
    data = {"duration_s": table.duration_s, "events": to_json(table)}
    path.write_text(json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n", encoding="utf-8")


def read_json(path: Path) -> EventTable:
    """Read what :func:`write_json` wrote.

    Raises:
        UserError: Naming the file, if it cannot be read or is no event table.
    """
    try:
        data = json.loads(_text(path))
        return from_json(data["events"], _number(data["duration_s"]))
    except KeyError as fault:
        raise UserError(f"{path}: not an event table: it has no {fault}") from fault
    except (TypeError, ValueError, OverflowError, RecursionError) as fault:
        raise UserError(f"{path}: not an event table: {fault}") from fault


def write_audacity(path: Path, table: EventTable) -> None:
    """Write an Audacity label track: onset, offset and label, tab-separated, no header.

    White space within a label becomes one space, as the format has no other; confidences are not kept.
    """
    lines = (f"{_plain(e.onset_s)}\t{_plain(e.offset_s)}\t{_one_line(e.label)}\n" for e in table)
    path.write_text("".join(lines), encoding="utf-8")


def read_audacity(path: Path, duration_s: float) -> EventTable:
    """Read an Audacity label track; the clip's duration is given, never inferred.

    Raises:
        UserError: Naming the file and line of a row that is no event of a clip that long.
    """
    events = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip() or line.startswith("\\"):  # a backslash row holds a frequency range
            continue
        cells = line.split("\t")
        try:
            events.append(_placed(cells[2], cells[0], cells[1], duration_s))
        except (IndexError, ValueError) as fault:
            raise UserError(f"{path}, line {number}: not an Audacity label: {fault}") from fault
    return EventTable(tuple(events), duration_s)


def write_dcase(path: Path, tables: Mapping[str, EventTable]) -> None:
    """Write the DCASE strong-label TSV: filename, onset, offset, event_label.

    A clip without events has no row. White space within a label becomes one space. A cell with a double
    quote is quoted as in CSV, which is how table readers take it.

    Raises:
        ValueError: If a file name is empty or holds a tab or a line break, which the format cannot keep.
    """
    rows = ["filename\tonset\toffset\tevent_label\n"]
    for name, table in tables.items():
        if not name.strip() or any(c in name for c in "\t\r\n"):
            raise ValueError(f"a DCASE table cannot hold the file name {name!r}")
        rows += (
            f"{_quoted(name)}\t{_plain(e.onset_s)}\t{_plain(e.offset_s)}\t{_quoted(_one_line(e.label))}\n"
            for e in table
        )
    path.write_text("".join(rows), encoding="utf-8")


def read_dcase(path: Path, durations_s: Mapping[str, float]) -> dict[str, EventTable]:
    """Read the DCASE strong-label TSV.

    Args:
        durations_s: The duration of every clip, by file name; a clip without rows is empty.

    Raises:
        UserError: Naming the file and line of a row that is no event of its clip or has no duration.
    """
    found: dict[str, list[Event]] = {name: [] for name in durations_s}
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            name, *cells = dcase_cells(line)
        except ValueError as fault:
            raise UserError(f"{path}, line {number}: not a DCASE row: {fault}") from fault
        if number == 1 and name == "filename":
            continue
        if name not in found:
            raise UserError(f"{path}, line {number}: no duration is given for {name!r}")
        if not any(cells):  # DCASE lists a clip without events by its name alone
            continue
        try:
            found[name].append(_placed(cells[2], cells[0], cells[1], durations_s[name]))
        except (IndexError, ValueError) as fault:
            raise UserError(f"{path}, line {number}: not a DCASE row: {fault}") from fault
    return {name: EventTable(tuple(events), durations_s[name]) for name, events in found.items()}


def dcase_cells(line: str, delimiter: str = "\t") -> list[str]:
    """The cells of one line. None spans lines, so that one stray quote cannot swallow the rows below it.

    Raises:
        ValueError: If a cell begins with a quote and is not quoted as a whole.
    """
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error as fault:
        raise ValueError(
            f"{fault}: a cell that begins with a double quote ends with one, and those within are doubled"
        ) from fault


def _number(value: object) -> float:
    """A number of plain JSON data as a float; text and truth values are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def _placed(label: str, onset_s: str, offset_s: str, duration_s: float) -> Event:
    event = Event(label, float(onset_s), float(offset_s))
    EventTable((event,), duration_s)
    return event


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as fault:
        raise UserError(f"{path} cannot be read: {fault.strerror}.") from fault
    except UnicodeDecodeError as fault:
        raise UserError(f"{path} is not UTF-8 text: {fault}.") from fault


def _plain(seconds: float) -> str:
    """All digits, no exponent."""
    return format(Decimal(repr(float(seconds))), "f")


def _quoted(cell: str) -> str:
    """A cell of a TSV file as table readers take it."""
    doubled = cell.replace('"', '""')
    return f'"{doubled}"' if '"' in cell else cell


def _one_line(text: str) -> str:
    return " ".join(text.split())
