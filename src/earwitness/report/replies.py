"""``replies.csv``: one row per item, side and repeat, with what the listener answered."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from earwitness.files import whole
from earwitness.ledger import Ledger
from earwitness.report.cells import csv_rows, safe
from earwitness.tasks.task import NOT_HEARD_YET, Hearer, Task

COLUMNS = (
    "task", "system", "sample_id", "side", "question", "caption", "listener", "repeat", "reason",
)  # fmt: skip
"""The columns of every reply; ``reason`` is empty when the item was heard."""

EDIT_COLUMNS = ("source_caption", "instruction")
"""What stands beside the caption, which is then the target caption, where edits are judged."""


def of_item(ledger: Ledger, task: Task, hearer: Hearer, item_id: int) -> Iterator[dict[str, Any]]:
    """Every recorded reply about one item by column, or a row that says why there is none."""
    item = ledger.item(item_id).item
    base = {"task": task.name, "system": item.system, "sample_id": item.sample_id, "listener": hearer.name}
    if _of_edits(task, hearer):
        base |= {"source_caption": item.source_caption, "instruction": item.instruction}
    heard = ledger.heard(item_id)
    if not heard:
        not_asked = task.not_asked(item, hearer)
        why = {"reason": "not_applicable", "detail": not_asked} if not_asked else NOT_HEARD_YET
        yield {**base, "side": "", "question": "", "caption": item.caption, "repeat": "", **why}
    for h in heard:
        shown = h.texts.get("caption", h.texts.get("target_caption", item.caption))
        row = {**base, "side": h.side, "question": h.question, "caption": shown, "repeat": h.repeat}
        yield {**row, "reason": h.reason, "detail": h.detail, **_without_clash(h.reply)}


def fields(task: Task, hearer: Hearer) -> list[str]:
    """The columns that follow :data:`COLUMNS` for such a task and listener."""
    named = [_own(name) for question in task.questions(hearer) for name in question.reply.model_fields]
    return list(dict.fromkeys([*(EDIT_COLUMNS if _of_edits(task, hearer) else ()), "detail", *named]))


def _of_edits(task: Task, hearer: Hearer) -> bool:
    return any(len(question.clip_names) > 1 for question in task.questions(hearer))


def _without_clash(reply: Mapping[str, Any]) -> dict[str, Any]:
    return {_own(name): value for name, value in reply.items()}


def _own(name: str) -> str:
    """A reply's field as a column: what the listener wrote is kept apart from what it was shown."""
    return f"reply_{name}" if name in (*COLUMNS, *EDIT_COLUMNS) else name


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
    with whole(path) as part, part.open("w", encoding="utf-8", newline="") as file:
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
