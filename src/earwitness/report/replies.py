"""``replies.csv``: one row per item, side and repeat, with what the listener answered."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from earwitness.report.cells import csv_rows, safe

COLUMNS = ("task", "system", "sample_id", "side", "caption", "listener", "repeat", "reason")
"""The columns of every reply; ``reason`` is empty when the item was heard."""


def write_replies(path: Path, rows: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> None:
    """Write the rows one at a time, as UTF-8 with LF line ends.

    Args:
        rows: Values by column; a missing or null value is an empty cell, true and false are written
            as JSON writes them, lists and objects as JSON text.
        fields: The reply's own columns, which follow :data:`COLUMNS`.

    Raises:
        ValueError: For a value no column is given for, a field given twice, or a number that is not
            finite; the column is named.
    """
    columns = (*COLUMNS, *fields)
    if len(set(columns)) < len(columns):
        raise ValueError(f"a column is given twice among {', '.join(columns)}")
    with path.open("w", encoding="utf-8", newline="") as file:
        write = csv_rows(file)
        write(columns)
        for row in rows:
            unknown = [name for name in row if name not in columns]
            if unknown:
                raise ValueError(f"no column is given for {', '.join(unknown)}")
            write([_cell(name, row.get(name)) for name in columns])


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return safe(value)
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as fault:
        raise ValueError(f"{name}: {fault}") from fault
