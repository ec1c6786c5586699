"""Distances as CSV: every number in full, with the key of its recipe."""

import io
from dataclasses import fields

from earwitness.report.cells import csv_rows, safe
from earwitness.tasks.distances import Distances
from earwitness.tasks.rows import Comparison

CSV_HEAD = (
    "system",
    "part",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "reference_n",
    "reason",
    "no_interval",
    "recipe",
)
PAIRS_HEAD = tuple(field.name for field in fields(Comparison))


def csv_text(distances: Distances) -> str:
    """Every number in full, with its reason if there is none, and the key of the recipe."""
    text = io.StringIO()
    write = csv_rows(text)
    write(CSV_HEAD)
    for row in distances.rows:
        names = (safe(row.system), safe(row.part), row.metric)
        numbers = (row.value, row.low, row.high, row.n, row.reference_n)
        write([*names, *numbers, safe(row.reason), safe(row.no_interval), distances.recipe.key])
    return text.getvalue()


def left_out_csv(distances: Distances) -> str:
    """Every clip that could not be embedded, or paired, and why."""
    text = io.StringIO()
    write = csv_rows(text)
    write(("system", "file", "reason"))
    for row in distances.left_out:
        write([safe(cell) for cell in row])
    return text.getvalue()


def pairs_csv(distances: Distances) -> str:
    """Every comparison in full, with the key of the recipe."""
    text = io.StringIO()
    write = csv_rows(text)
    write((*PAIRS_HEAD, "recipe"))
    for pair in distances.comparisons:
        values = (getattr(pair, name) for name in PAIRS_HEAD)
        write([*(safe(each) if isinstance(each, str) else each for each in values), distances.recipe.key])
    return text.getvalue()
