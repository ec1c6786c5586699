"""The summary in full, for programs: ``summary.json`` and ``summary.csv``.

Conventions
-----------
Systems are in the run's order; a number that does not exist is null or an empty cell, and a note says why.
"""

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from earwitness.report.cells import csv_rows, safe
from earwitness.report.tables import COUNTS
from earwitness.tasks import distances
from earwitness.tasks.rows import Summary, SystemRow


def summary_json(summary: Summary) -> dict[str, Any]:
    """The summary as plain data, in the shape that ``summary.json`` promises.

    A metric without a value has null in all its fields; the notes say why.
    """
    return {
        "task": summary.task,
        "listener": summary.listener,
        "key_metric": summary.key_metric,
        "rows": [_row_json(row) for row in summary.rows],
        "comparisons": [asdict(comparison) for comparison in summary.comparisons],
        "notes": [*summary.notes, *_unscored_notes(summary)],
        "distances": None if summary.distances is None else distances.to_json(summary.distances),
    }


def _row_json(row: SystemRow) -> dict[str, Any]:
    fixed = {
        "system": row.system,
        "baseline": row.baseline,
        "n": row.n,
        "not_applicable": row.not_applicable,
        "unheard": row.unheard,
        "scored": row.scored,
        "coverage": row.coverage,
        "errors": dict(row.errors),
        "unheard_reasons": dict(row.unheard_reasons),
        "metric_n": {name: metric.n for name, metric in row.metrics.items()},
    }
    metrics = {
        name: {part: getattr(metric, part) for part in ("value", "low", "high", "worst", "best")}
        for name, metric in row.metrics.items()
    }
    return fixed | metrics | ({"parts": _parts_json(row)} if row.parts else {})


def _parts_json(row: SystemRow) -> dict[str, Any]:
    """Every metric by stratum and by group of strata."""
    return {
        part: {
            name: {key: getattr(metric, key) for key in ("value", "low", "high", "n")}
            for name, metric in metrics.items()
        }
        for part, metrics in row.parts.items()
    }


def _unscored_notes(summary: Summary) -> list[str]:
    """Why a system that has scored items still lacks a metric; one without any is the task's to explain."""
    notes = []
    for spec in summary.specs:
        lacking = [row.system for row in summary.rows if row.scored and not _defined(row, spec.name)]
        if lacking:
            notes.append(f"{spec.name} is unscored for {', '.join(lacking)}: no scored item defines it.")
    return notes


def _defined(row: SystemRow, metric: str) -> bool:
    """Whether the system has such a number, of all its items or of those of some stratum."""
    return any(of[metric].value is not None for of in (row.metrics, *row.parts.values()))


def write_json(path: Path, data: Any) -> None:
    """Write strict JSON as UTF-8.

    Raises:
        ValueError: If a number is not finite.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def summary_csv(summary: Summary) -> str:
    """One row a system: counts, every metric with its bounds, errors by kind, unheard by reason."""
    kinds = sorted({kind for row in summary.rows for kind in row.errors})
    reasons = sorted({reason for row in summary.rows for reason in row.unheard_reasons})
    parts = {"": "value", "_low": "low", "_high": "high", "_worst": "worst", "_best": "best", "_n": "n"}
    head = ["system", *COUNTS, "coverage"]
    head += [spec.name + suffix for spec in summary.specs for suffix in parts]
    head += [f"error_{kind}" for kind in kinds] + [f"unheard_{reason}" for reason in reasons]
    text = io.StringIO()
    write = csv_rows(text)
    write(head)
    for row in summary.rows:
        cells: list[Any] = [safe(row.system), *(getattr(row, name) for name in COUNTS), row.coverage]
        cells += [getattr(row.metrics[spec.name], part) for spec in summary.specs for part in parts.values()]
        cells += [row.errors.get(kind, 0) for kind in kinds]
        cells += [row.unheard_reasons.get(reason, 0) for reason in reasons]
        write(cells)
    return text.getvalue()
