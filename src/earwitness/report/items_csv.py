"""``items.csv``: one row an item with its verdict, reason and every number, for the user's own analysis."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from earwitness.files import whole
from earwitness.report.cells import csv_rows, safe
from earwitness.tasks.rows import ItemRow, MetricSpec

HEAD = ("system", "sample_id", "status", "reason", "verdict", "error_kind", "detail", "caption",
        "reversed_caption", "audio", "duration_s", "cluster")  # fmt: skip


def write_items(
    path: Path, rows: Iterable[ItemRow], specs: Sequence[MetricSpec], extra: Sequence[str]
) -> None:
    """Write the rows one at a time, as UTF-8 with LF line ends.

    A file within the folder of the CSV is named relative to it, any other by its absolute path.

    Args:
        specs: The metrics, each a column.
        extra: What else the run's items have, from :func:`extra_columns`.
    """
    names = [spec.name for spec in specs]
    if "alignment" in names:
        names.insert(names.index("alignment") + 1, "alignment_reversed")
    folder = path.absolute().parent
    with whole(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        write = csv_rows(file)
        write([*HEAD, *extra, *names, "warnings"])
        for row in rows:
            more = _extra(row)
            texts = (row.system, row.sample_id, row.status, row.reason, row.verdict, row.error_kind,
                     row.detail, row.caption, row.reversed_caption,
                     _named(row.audio, folder))  # fmt: skip
            others = (row.cluster, *(_named(more.get(name, ""), folder) for name in extra))
            numbers = [row.values.get(name) for name in names]
            write(
                [safe(text) for text in texts]
                + ["" if row.duration_s is None else row.duration_s]
                + [safe(text) for text in others]
                + ["" if number is None else number for number in numbers]
                + [safe("; ".join(row.warnings))]
            )


def extra_columns(row: ItemRow) -> list[str]:
    """Columns beyond the usual ones that an item fills: its source clip, its further texts, its tags."""
    return list(_extra(row))


def _extra(row: ItemRow) -> dict[str, str]:
    source = {"source_audio": row.source.audio} if row.source else {}
    texts = {re.sub(r"\W+", "_", heading.lower()): text for heading, text in row.texts.items()}
    return source | texts | ({"tags": "; ".join(row.tags)} if row.tags else {})


def _named(path: str, folder: Path) -> str:
    return path.removeprefix(f"{folder}/")
