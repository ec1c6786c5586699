"""A CSV or JSON Lines file to rows of text, with the faults found on the way.

Rows are numbered as a spreadsheet numbers them: the header of a CSV file is row 1; in JSON Lines the
first line is row 1.
"""

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from earwitness.errors import InputFaults, UserError, nearest

NAMES = ("system", "sample_id", "prompt_id", "pair_id")
"""Columns that hold names: spaces around them are dropped, and JSON may give them as integers."""

NUMBERS = ("edit_start_s", "edit_end_s")
"""Columns that hold numbers, which JSON may give as such; their reader checks the text."""

ALIASES: Mapping[str, tuple[str, ...]] = {"audio": ("file_name",)}
"""Other names under which a column of ours is known."""

USUAL: Mapping[str, tuple[str, ...]] = {"caption": ("prompt", "prompt_text", "text")}
"""Columns that are often a column of ours; they are offered, never taken unasked."""

_ALIKE = 0.75
"""Two names of columns are nearly spelt the same; a shared beginning (source, source_audio) is less."""

MAP = "--map"
"""The option of commands by which a user names the columns of a table."""

_KINDS: Mapping[str, tuple[type, ...]] = dict.fromkeys(NAMES, (int,)) | dict.fromkeys(NUMBERS, (int, float))

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_RUN = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]")

Row = tuple[int, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a file as read (number, values by their column names), and the faults found so far."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    faults: list[str]

    def choose(
        self,
        required: Sequence[str],
        optional: Sequence[str],
        rename: Mapping[str, str],
        aliases: Mapping[str, tuple[str, ...]] = ALIASES,
        *,
        option: str = "",
    ) -> dict[str, str]:
        """Our name to theirs for each column that is present, by ``rename``, our own name or an alias.

        Args:
            option: The option by which a user gives ``rename``, e.g. :data:`MAP`; empty if there is none.

        Raises:
            InputFaults: At once if a required column or every row is missing, as all rows would fail.
        """
        if not self.rows:
            self.faults.append("there are no rows")
            self.raise_faults()
        known = (*required, *optional)
        for ours, theirs in rename.items():
            if ours not in known:
                self.faults.append(f"{option} {ours}={theirs}: {ours!r} is none of {', '.join(known)}")
            elif theirs not in self.columns:
                self.faults.append(f"{option} {ours}={theirs}: no such column{near(theirs, self.columns)}")
        chosen = {}
        spare = [name for name in self.columns if name not in {*known, *rename.values()}]
        for ours in known:
            names = (rename[ours],) if ours in rename else (ours, *aliases.get(ours, ()))
            present = [name for name in names if name in self.columns]
            if present:
                chosen[ours] = present[0]
            elif ours in required and ours not in rename:
                self.faults.append(f"no column {' or '.join(map(repr, names))}{near(ours, spare, _ALIKE)}")
            if len(present) > 1:
                both = " and ".join(map(repr, present))
                choice = f"choose one: {option} {ours}={present[0]}" if option else "keep one"
                self.faults.append(f"{both} are both columns; {choice}")
        if missing := [ours for ours in required if ours not in chosen]:
            how = _how_to_name(missing[0], spare, option) if option else ""
            self.raise_faults(f"The columns found are: {listing(self.columns, 40)}. {how}".rstrip())
        return chosen

    def texts(
        self, columns: Mapping[str, str], required: Sequence[str]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Each row's number and its values as text under our names; null and absent optional values are "".

        A row with a value that is no text adds its faults and is left out.
        """
        for number, values in self.rows:
            cells = {}
            for ours, theirs in columns.items():
                value = values.get(theirs, None)
                if value is None:
                    value = ""
                elif isinstance(value, _KINDS.get(ours, ())) and not isinstance(value, bool):
                    value = str(value)
                fault = text_fault(value)
                if theirs not in values and ours in required:
                    fault = "is missing"
                if fault:
                    self.faults.append(f"row {number}: {theirs!r} {fault}")
                else:
                    cells[ours] = str(value).strip() if ours in NAMES else str(value)
            if len(cells) == len(columns):
                yield number, cells

    def raise_faults(self, remedy: str = "") -> None:
        """Raise InputFaults if there is any fault."""
        if self.faults:
            raise InputFaults(str(self.path), self.faults, remedy)


def read_table(path: Path) -> Table:
    """Read a .csv or .tsv (comma, tab or semicolon, whichever the header has most of) or .jsonl file.

    Faults of single rows are collected in the table.

    Raises:
        UserError: If the file is not there, cannot be read or has another ending.
        InputFaults: If it is no UTF-8 text (a byte order mark is accepted).
    """
    reader = {".csv": _read_csv, ".tsv": _read_csv, ".jsonl": _read_jsonl}.get(path.suffix.lower())
    if reader is None:
        raise UserError(f"{path} is no .csv, .tsv or .jsonl file.", "Name a manifest, or a folder with one.")
    if fault := text_fault(str(path.absolute())):
        raise UserError(f"the manifest's path {fault}", "Rename it.")
    try:
        data = path.read_bytes()
    except FileNotFoundError as missing:
        raise UserError(f"{path}: no such file{near_path(path)}.") from missing
    except OSError as failed:
        raise UserError(f"{path} cannot be read: {failed.strerror}.") from failed
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as bad:
        line = data.count(b"\n", 0, bad.start) + 1
        faults = [f"line {line}: byte 0x{data[bad.start]:02x} is not UTF-8"]
        raise InputFaults(str(path), faults, "Save the file with the encoding UTF-8.") from bad
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        faults = [f"line {line}: holds a NUL character"]
        raise InputFaults(str(path), faults, "Save the file as text with the encoding UTF-8.")
    columns, rows, faults = reader(text)
    return Table(path, tuple(columns), tuple(rows), faults)


def _read_csv(text: str) -> tuple[Iterable[str], list[Row], list[str]]:
    head = re.match(r"[^\r\n]*", text.lstrip("\r\n"))
    delimiter = max(",\t;", key=head[0].count if head else "".count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    faults: list[str] = []
    header: list[str] = []
    number = 0
    try:
        for number, cells in enumerate(lines, 1):
            if not cells:
                continue
            if not header:
                header = [cell.strip() for cell in cells]
            elif len(cells) != len(header):
                hint = "; is text with a comma unquoted?" if len(cells) > len(header) else ""
                faults.append(f"row {number} has {len(cells)} cells, the header has {len(header)}{hint}")
            else:
                rows.append((number, dict(zip(header, cells, strict=True))))
    except csv.Error as fault:
        faults.append(f"row {number + 1}, which ends near line {lines.line_num}, is no valid CSV: {fault}")
    columns = dict.fromkeys(name for name in header if name)  # pandas leaves its index column unnamed
    faults += (f"the header has the column {name!r} twice" for name in columns if header.count(name) > 1)
    return columns, rows, faults


def _read_jsonl(text: str) -> tuple[Iterable[str], list[Row], list[str]]:
    rows: list[Row] = []
    faults: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):  # splitlines would cut at U+2028 inside a string
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as fault:
            faults.append(f"row {number} is no valid JSON: {fault}")
            continue
        if isinstance(values, dict):
            rows.append((number, values))
        else:
            faults.append(f'row {number} is no JSON object such as {{"audio": "a.wav", "caption": "..."}}')
    return dict.fromkeys(name for _, values in rows for name in values), rows, faults


def text_fault(value: object) -> str:
    """Why a value is no text that can be stored and printed; empty if it is."""
    if not isinstance(value, str):
        return f"must be text, not {json.dumps(value)[:80]}"
    if "\0" in value:
        return "holds a NUL character"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"is not valid Unicode: {ascii(value)[:200]}"
    return ""


def listing(names: Iterable[str], most: int = 10) -> str:
    """The first names and the count of the rest; set apart by semicolons if a name holds a comma."""
    every = list(names)
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ("; " if any("," in name for name in every[:most]) else ", ").join(every[:most]) + more


def _how_to_name(ours: str, spare: Sequence[str], option: str) -> str:
    """How a column gets the name that is missing, with one that is there if it may be the one."""
    usual = [name for name in USUAL.get(ours, ()) if name in spare] or (spare if len(spare) == 1 else [""])
    theirs = nearest(ours, spare, _ALIKE) or usual[0]
    if theirs:
        return f"Name yours with {option}, e.g. {option} {ours}={theirs}."
    return f"If one of them is meant, say so: {option} {ours}=COLUMN."


def near(name: str, names: Iterable[str], alike: float = 0.6) -> str:
    """`` (did you mean 'x'?)`` if one of the names is close, else empty; see errors.nearest."""
    close = nearest(name, names, alike)
    return f" (did you mean {close!r}?)" if close else ""


def near_path(path: Path) -> str:
    """`` (did you mean 'x'?)`` if something of a close name lies where the path points to, else empty."""
    try:
        return near(path.name, sorted(os.listdir(path.parent)))
    except OSError:
        return ""


def safe(cell: str) -> str:
    """The cell, with an apostrophe in front if a spreadsheet would run it.

    That is a cell that begins with ``=``, ``+``, ``-`` or ``@`` (full-width forms included), also
    after white space, or with a tab or carriage return. Plain numbers such as -0.5 stay.
    """
    return f"'{cell}" if _RUN.match(cell) and not _NUMBER.fullmatch(cell) else cell
