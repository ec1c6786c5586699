"""Events in time: what was asked, rendered or heard.

Conventions
-----------
Times are seconds from the start of the clip. ``onset_s <= offset_s``; both are finite and not
negative. Confidence lies in [0, 1] or is ``None`` where nobody states one (rendered truth).
A table is sorted by onset, then offset, then label.
"""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from earwitness.errors import UserError


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
        ValueError: If an event starts after the end of the clip.
    """

    events: tuple[Event, ...]
    duration_s: float

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.events, key=lambda e: (e.onset_s, e.offset_s, e.label)))
        object.__setattr__(self, "events", ordered)
        for event in ordered:
            if event.onset_s > self.duration_s:
                raise ValueError(
                    f"{event.label!r} starts at {event.onset_s} s, after the clip's end at {self.duration_s} s"
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
            if at is not None and event.onset_s - out[at].offset_s <= gap_s:
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


def from_json(rows: Sequence[dict[str, Any]], duration_s: float) -> EventTable:
    """The inverse of :func:`to_json`.

    Raises:
        ValueError: If a row is no valid event; the row's index is named.
    """
    events = []
    for index, row in enumerate(rows):
        try:
            events.append(Event(row["label"], row["onset_s"], row["offset_s"], row.get("confidence")))
        except (KeyError, TypeError, ValueError) as fault:
            raise ValueError(f"event {index}: {fault}") from fault
    return EventTable(tuple(events), duration_s)


def write_json(path: Path, table: EventTable) -> None:
    """Write ``{"duration_s", "events"}`` as strict JSON."""
    data = {"duration_s": table.duration_s, "events": to_json(table)}
    path.write_text(json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n", encoding="utf-8")


def read_json(path: Path) -> EventTable:
    """Read what :func:`write_json` wrote; a fault is a UserError that names the file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return from_json(data["events"], data["duration_s"])
    except (KeyError, TypeError, ValueError) as fault:
        raise UserError(f"{path}: not an event table: {fault}") from fault


def write_audacity(path: Path, table: EventTable) -> None:
    """Write an Audacity label track: onset, offset and label, tab-separated, no header."""
    lines = (f"{e.onset_s:.6f}\t{e.offset_s:.6f}\t{_one_line(e.label)}\n" for e in table)
    path.write_text("".join(lines), encoding="utf-8")


def read_audacity(path: Path, duration_s: float) -> EventTable:
    """Read an Audacity label track; the clip's duration is given, never inferred."""
    events = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("\\"):  # a backslash row holds a frequency range
            continue
        cells = line.split("\t")
        try:
            events.append(Event(cells[2], float(cells[0]), float(cells[1])))
        except (IndexError, ValueError) as fault:
            raise UserError(f"{path}, line {number}: not an Audacity label: {fault}") from fault
    return EventTable(tuple(events), duration_s)


def write_dcase(path: Path, tables: dict[str, EventTable]) -> None:
    """Write the DCASE strong-label TSV: filename, onset, offset, event_label."""
    rows = ["filename\tonset\toffset\tevent_label\n"]
    for name, table in tables.items():
        rows += (f"{_one_line(name)}\t{e.onset_s:.3f}\t{e.offset_s:.3f}\t{_one_line(e.label)}\n" for e in table)
    path.write_text("".join(rows), encoding="utf-8")


def read_dcase(path: Path, durations_s: dict[str, float]) -> dict[str, EventTable]:
    """Read the DCASE strong-label TSV.

    Args:
        durations_s: The duration of every clip, by file name; a clip without rows is empty.

    Raises:
        UserError: Naming the file and line of a row that is no event or has no duration.
    """
    found: dict[str, list[Event]] = {name: [] for name in durations_s}
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if not line.strip() or (number == 1 and cells[0] == "filename"):
            continue
        try:
            if len(cells) == 1 or not any(cells[1:]):  # DCASE lists an event-free clip by its name alone
                found[cells[0]]
                continue
            found[cells[0]].append(Event(cells[3], float(cells[1]), float(cells[2])))
        except KeyError as fault:
            raise UserError(f"{path}, line {number}: no duration is given for {fault}") from fault
        except (IndexError, ValueError) as fault:
            raise UserError(f"{path}, line {number}: not a DCASE row: {fault}") from fault
    return {name: EventTable(tuple(events), durations_s[name]) for name, events in found.items()}


def _one_line(text: str) -> str:
    return " ".join(text.split())
