"""What the user has of edits: a source clip, the clip that each system made of it, and what was asked.

Conventions
-----------
An edit is one :class:`~earwitness.manifest.Item`: ``audio`` is the edited clip, ``source_audio`` what it
was made from, ``caption`` the target caption. Samples are told apart by ``sample_id`` alone, so the same
one given to several systems is the same edit of the same sound. Which texts a row needs is decided by the
question that is asked; the manifest takes rows without any.
"""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from earwitness.manifest import Item, Manifest, metadata_of, notes_on_sets, refuse_relations
from earwitness.manifest.table import MAP, NUMBERS, listing, read_table

ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType({"system": ("method",), "edit_type": ("task",)})
"""Other names under which a column of an edit manifest is known."""

_REQUIRED = ("sample_id", "source_audio", "edited_audio")
_REMEDY = (
    f"Name a CSV or JSONL file of edits, or add a metadata.csv with the columns {', '.join(_REQUIRED)} and "
    "source_caption with target_caption, or instruction."
)
_OPTIONAL = (
    "system", "source_caption", "target_caption", "instruction", "added", "removed", *NUMBERS, "edit_type",
)  # fmt: skip


def read_edits(path: Path, *, rename: Mapping[str, str] = MappingProxyType({})) -> Manifest:
    """Read a manifest of edits.

    Columns: ``sample_id``, ``source_audio`` and ``edited_audio`` (absolute, or relative to the manifest's
    folder); ``system`` or ``method`` (default: the folder's name); optional ``source_caption``,
    ``target_caption``, ``instruction``, ``added`` and ``removed`` (phrases of what the edit brings in or
    takes away, ``;`` between several), ``edit_start_s`` and ``edit_end_s`` (the edited span, both or
    neither), ``edit_type`` or ``task``.

    Args:
        rename: Our column name to theirs, see :func:`earwitness.manifest.parse_rename`.

    Raises:
        InputFaults: With every fault of the table: columns missing, rows with too many or too few cells,
            empty names, values that are no text, files not found, spans that are none, samples or edited
            files listed twice.
        UserError: If there is no manifest to read.
    """
    table = read_table(metadata_of(path, _REMEDY) if os.path.isdir(path) else path)
    refuse_relations(table, path, rename)
    folder = table.path.parent.resolve()
    columns = table.choose(_REQUIRED, _OPTIONAL, rename, ALIASES, option=MAP)
    items: list[Item] = []
    by_id: dict[tuple[str, str], int] = {}
    by_file: dict[tuple[str, str], int] = {}
    for row, cells in table.texts(columns, _REQUIRED):
        needed = [name for name in (*_REQUIRED, "system") if name in columns]
        empty = [columns[name] for name in needed if not cells[name].strip()]
        if empty:
            table.faults.append(f"row {row}: {listing(empty)} must not be empty")
            continue
        system, sample_id = cells.pop("system", folder.name or "system"), cells.pop("sample_id")
        source, edited = folder / cells.pop("source_audio"), folder / cells.pop("edited_audio")
        for file in dict.fromkeys((source, edited)):
            if not os.path.isfile(file):
                what = "a folder, not a file" if os.path.isdir(file) else "no such file"
                table.faults.append(f"row {row}: {what}: {file}")
        if (seen := by_id.setdefault((system, sample_id), row)) != row:
            table.faults.append(f"rows {seen} and {row}: {system!r} has the sample {sample_id!r} twice")
        elif (seen := by_file.setdefault((system, os.path.normpath(edited)), row)) != row:
            table.faults.append(
                f"rows {seen} and {row}: {system!r} lists the same edited file twice: {edited}"
            )
        start_s, end_s, fault = _span(cells, columns)
        if fault:
            table.faults.append(f"row {row}: {fault}")
        items.append(
            Item(
                system,
                sample_id,
                edited,
                cells.pop("target_caption", ""),
                source_audio=source,
                edit_start_s=start_s,
                edit_end_s=end_s,
                row=row,
                **cells,
            )
        )
    table.raise_faults()
    return Manifest(tuple(items), (*_notes_on_copies(items), *notes_on_sets(items)), str(path))


def _span(cells: dict[str, Any], columns: Mapping[str, str]) -> tuple[float | None, float | None, str]:
    """The edited span, taken out of the cells, and what is wrong with it."""
    texts = [cells.pop(name, "").strip() for name in NUMBERS]
    if not any(texts):
        return None, None, ""
    if not all(texts):
        return None, None, "edit_start_s and edit_end_s go together: give both or neither"
    seconds = []
    for name, text in zip(NUMBERS, texts, strict=True):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < 0:
            why = f"{columns[name]} must be seconds from the clip's start, 0 or more, not {text!r}"
            return None, None, why
        seconds.append(value)
    start_s, end_s = seconds
    if end_s <= start_s:
        return None, None, f"the edited span ends at {end_s:g} s, not after its start at {start_s:g} s"
    return start_s, end_s, ""


def _notes_on_copies(items: list[Item]) -> list[str]:
    """What to know when a row gives the source file itself as its result: most often a wrong column."""
    copies = [item.row for item in items if item.audio == item.source_audio]
    if not copies:
        return []
    rows = f"row {copies[0]}" if len(copies) == 1 else f"rows {listing(map(str, copies))}"
    return [f"the edited file is the source file itself in {rows}"]
