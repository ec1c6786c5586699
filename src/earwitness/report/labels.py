"""The label task's own files: descriptions to keep beside the clips, and event lists other tools read.

Conventions
-----------
``labels.csv`` and ``labels.jsonl`` have one row a clip, unheard ones with their reason and no
description. ``metadata.csv`` (AudioFolder: clips named relative to the folder that holds it),
``events.tsv`` (DCASE) and ``audacity/`` have the described clips alone; ``metadata.csv`` and ``events.tsv``
have a file that several samples share once. ``caption_source`` says in all of them who made a caption:
``template`` (a rule) or ``judge``. In these files times are rounded to milliseconds and no event reaches
beyond its clip: a judge may round its times up, and what exceeds the end is cut off.

In CSV files lists are joined by ``; ``, and cells that a spreadsheet would run begin with an apostrophe;
file names get ``./`` instead, so that they stay paths. JSON Lines has everything to the letter.
"""

import json
import math
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from earwitness.events import Event, EventTable, to_json, write_audacity, write_dcase
from earwitness.files import whole, write_text
from earwitness.report.cells import csv_rows, one_line, safe
from earwitness.tasks import label
from earwitness.tasks.rows import SCORED, ItemRow
from earwitness.tasks.task import Hearer

COLUMNS = (
    "system", "sample_id", "file_name", "duration_s", "status", "reason", "detail", "caption",
    "caption_source", "given_caption", "tags", "ordered", "sequence", "quality_flags", "events",
)  # fmt: skip
"""Fields of a clip in ``labels.csv`` and ``labels.jsonl``."""
METADATA = ("file_name", "system", "sample_id", "caption", "tags", "ordered", "sequence", "quality_flags",
            "caption_source")  # fmt: skip
LISTED = 50
"""More clips than this are counted in the README; ``labels.csv`` has them all."""


@dataclass(frozen=True, slots=True)
class Written:
    """What the files hold.

    Attributes:
        described: Number of clips with a description.
        files: Number of files these are in.
        silent: Clips in which nothing was heard, so without a row in ``events.tsv``.
        unheard: Clips without a description.
    """

    described: int
    files: int
    silent: tuple[str, ...]
    unheard: tuple[str, ...]


def write_all(
    folder: Path,
    rows: Callable[[], Iterable[ItemRow]],
    hearer: Hearer,
    meta: Mapping[str, Any],
    *,
    ordered_only: bool = False,
) -> None:
    """Write all files of a label run, with a README, into a folder of their own.

    File names are relative to the deepest folder that holds all clips; the README says which.

    Args:
        rows: The run's items, anew with each call; never held.
        meta: The run's settings, as ledger.Ledger.meta gives them.
        ordered_only: Leave out every clip that is not ordered.
    """
    root = _common_folder(row.audio for row in rows() if row.audio)
    within = root.is_relative_to(folder.absolute().parent)  # a run given away with its clips
    shown = Path(os.path.relpath(root, folder)) if within else root
    told = write(folder, rows(), hearer, root, ordered_only=ordered_only)
    what = "ordered clips" if ordered_only else "clips"
    shared = ""
    if told.files < told.described:
        shared = (
            f"The manifest names some files more than once: `metadata.csv` and `events.tsv` have each of the "
            f"{told.files} files once, with the description of its first clip.\n\n"
        )
    write_text(
        folder / "README.md",
        f"# {told.described} {what} described\n\n{made_by(hearer, meta)}\n\n{FILES}\n"
        f"{shared}{without_events(told)}"
        f"Clips are named relative to `{shown}`; metadata.csv belongs there, beside them.\n",
    )


def write(
    folder: Path, rows: Iterable[ItemRow], hearer: Hearer, root: Path, *, ordered_only: bool = False
) -> Written:
    """Write the files but the README, in place of what the folder held of them.

    Args:
        rows: The run's items, drawn once. One without ``audio`` gets no file name.
        ordered_only: Leave out every clip that is not ordered.
        root: The folder that file names are relative to.
    """
    tracks = folder / "audacity"
    tracks.mkdir(parents=True, exist_ok=True)
    tables: dict[str, EventTable] = {}
    written, silent, unheard = set(), [], []
    with ExitStack() as stack:

        def opened(name: str) -> Any:
            part = stack.enter_context(whole(folder / name))
            return stack.enter_context(part.open("w", encoding="utf-8", newline=""))

        lines = opened("labels.jsonl")
        listed, described = csv_rows(opened("labels.csv")), csv_rows(opened("metadata.csv"))
        listed(COLUMNS)
        described(METADATA)
        for row in rows:
            if ordered_only and row.verdict != label.ORDERED:
                continue
            clip = description(row, hearer, root)
            lines.write(json.dumps(clip, ensure_ascii=False, allow_nan=False) + "\n")
            listed([_cell(name, clip[name]) for name in COLUMNS])
            if row.status != SCORED:
                unheard.append(clip["file_name"] or row.sample_id)
                continue
            table, name = events(row), _dcase_name(clip["file_name"], row)
            if name not in tables:
                described([_cell(column, clip[column]) for column in METADATA])
                tables[name] = table
                silent += [] if len(table) else [name]
            written.add(f"{clip_name(row)}.txt")
            write_audacity(tracks / f"{clip_name(row)}.txt", table)
    with whole(folder / "events.tsv") as part:
        write_dcase(part, tables)
    for old in tracks.glob("*.txt"):
        if old.name not in written:
            old.unlink()
    return Written(len(written), len(tables), tuple(silent), tuple(unheard))


def without_events(told: Written) -> str:
    """Which clips have no row in ``events.tsv`` and why, for a README; empty if all have."""
    said = ""
    for names, why in (
        (told.silent, "nothing was heard in them"),
        (told.unheard, "unheard, so not described"),
    ):
        if names:
            more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
            listed = ", ".join(f"`{one_line(name)}`" for name in names[:LISTED])
            said += f"Without events ({len(names)}; {why}): {listed}{more}.\n\n"
    return said


def description(row: ItemRow, hearer: Hearer, root: Path) -> dict[str, Any]:
    """All that is said of one clip, as plain data under :data:`COLUMNS`; null where nothing is said."""
    heard = row.status == SCORED
    return {
        "system": row.system,
        "sample_id": row.sample_id,
        "file_name": Path(os.path.relpath(row.audio, root)).as_posix() if row.audio else "",
        "duration_s": row.duration_s,
        "status": row.status,
        "reason": row.reason,
        "detail": row.detail,
        "caption": row.caption if heard else None,
        "caption_source": label.caption_source(hearer) if heard else None,
        "given_caption": row.texts.get(label.GIVEN, ""),
        "tags": list(row.tags) if heard else None,
        "ordered": row.verdict == label.ORDERED if heard else None,
        "sequence": list(label.sequence(row, hearer)) if heard else None,
        "quality_flags": list(label.flags(row)) if heard else None,
        "events": to_json(events(row)) if heard else None,
    }


def events(row: ItemRow) -> EventTable:
    """A described clip's events, to the millisecond, cut off at its end."""
    end = row.duration_s or 0.0
    last = math.floor(1000 * end) / 1000

    def placed(seconds: float) -> float:
        return min(round(seconds, 3), last)

    cut = (Event(e.label, placed(e.onset_s), placed(e.offset_s), e.confidence) for e in row.heard)
    return EventTable(tuple(cut), end)


def clip_name(row: ItemRow) -> str:
    """A file name (without ending) for a clip that every system takes and no other clip of the run has."""
    plain = unicodedata.normalize("NFKD", row.sample_id).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9.-]+", "_", plain).strip("._-")[:60]
    return f"{row.item_id:05d}_{slug or 'clip'}"


def made_by(hearer: Hearer, meta: Mapping[str, Any]) -> str:
    """Who described the clips, when, and what that is worth, in plain sentences."""
    made = (
        f"Made with earwitness {meta['versions']['earwitness']}; listener {hearer.name}, "
        f"version {hearer.version}; {meta['started']}."
    )
    if hearer.detector:
        return (
            f"{made} The captions are templates: a rule made them from the labels that the detector heard. "
            "Events and tags are the detector's, quality flags are measured. No person has checked them."
        )
    times = "once" if hearer.repeats == 1 else f"{hearer.repeats} times"
    return (
        f"{made} Every clip was judged {times}. Captions, events, tags and flags are the judge's. "
        "No person has checked them."
    )


FILES = """\
| file | what |
|:--|:--|
| `labels.csv`, `labels.jsonl` | caption, tags, events, ordered, sequence, flags; why a clip is unheard |
| `metadata.csv` | the same in brief, in the AudioFolder convention |
| `events.tsv` | events, DCASE strong labels (filename, onset, offset, event_label); none, no row |
| `audacity/` | events, one label track a clip |
"""


def _common_folder(paths: Iterable[str]) -> Path:
    folders = {os.path.dirname(os.path.abspath(path)) for path in paths}
    return Path(os.path.commonpath(folders)) if folders else Path.cwd()


def _dcase_name(file_name: str, row: ItemRow) -> str:
    """The clip's file name; where it holds a tab or line break, which the format cannot keep, another."""
    if any(c in file_name for c in "\t\r\n"):
        return clip_name(row) + Path(file_name).suffix
    return file_name


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name == "events" or not isinstance(value, str | list):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    text = value if isinstance(value, str) else "; ".join(value)
    harmless = safe(text)
    return f"./{text}" if name == "file_name" and harmless != text else harmless
