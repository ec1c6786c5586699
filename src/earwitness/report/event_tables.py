"""Event metrics as tables (terminal, markdown, LaTeX, CSV, JSON).

Conventions
-----------
Systems stand in the order given. A number that does not exist is ``--`` in tables, null in JSON and empty in
CSV, with the reason beside it. What is bold: :mod:`.tables`; systems are compared by F1 over all clips.
``events.json`` has everything, strictly; ``events.csv`` a row a system and metric, ``classes.csv`` a row a
system and class, ``clips.csv`` the counts of every clip, of which all rates are made. What the reader of a
table must know stands below it (report.event_words).
"""

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earwitness.files import INPUTS, write_text
from earwitness.report import event_words, latex, tables
from earwitness.report.cells import csv_rows, one_line, safe
from earwitness.report.summary_files import write_json
from earwitness.report.tables import Cell, TableOptions, markdown_cell, markdown_text
from earwitness.report.terminal_table import table
from earwitness.tasks.event_result import COLUMNS, EventScores
from earwitness.tasks.event_scores import CLASS_METRICS, COUNTS, EVENT, SEGMENT, SPECS, Part
from earwitness.tasks.rows import Metric, MetricSpec

if TYPE_CHECKING:
    from rich.table import Table

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Events": ("event_f1", "event_precision", "event_recall", "event_er"),
    "Segments": ("segment_f1", "segment_precision", "segment_recall", "segment_er"),
    "Macro and lenient": ("event_f1_macro", "segment_f1_macro", "lenient_f1", "lenient_recall"),
    "Onsets of matched events": ("onset_bias_s", "onset_mae_s", "onset_median_s", "onset_p90_s"),
    "Offsets of matched events": ("offset_bias_s", "offset_mae_s", "offset_median_s", "offset_p90_s"),
}
"""Tables of systems, by title: four numbers with intervals stand beside each other in 80 columns."""
CLASS_COUNTS = tuple(f"{prefix}_{name}" for prefix in (EVENT, SEGMENT) for name in COUNTS[:3])
CLIP_COUNTS = tuple(f"{prefix}_{name}" for prefix in (EVENT, SEGMENT) for name in COUNTS)
TABLES = ("events.json", "events.csv", "classes.csv", "clips.csv", "events.md", "events.tex", "protocol.md")
INDEX = "index.html"
FILES = (*TABLES, INDEX, "page")
"""All that a folder of results holds: the tables, and the page of report.event_page."""
_USUAL = TableOptions()


def write(folder: Path, scores: EventScores) -> None:
    """Write every table into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / TABLES[0], to_json(scores))
    texts = (_metrics_csv, _classes_csv, _clips_csv, markdown, latex_tables, event_words.protocol)
    for name, text in zip(TABLES[1:], texts, strict=True):
        write_text(folder / name, text(scores))


def to_json(scores: EventScores) -> dict[str, Any]:
    """Everything but the counts by clip, as plain data."""
    settings = asdict(scores.settings)
    return {
        "truth": scores.truth,
        "clips": scores.clips,
        "duration_s": scores.duration_s,
        "classes": list(scores.classes),
        "settings": settings,
        "systems": [
            {
                "system": one.system,
                "clips": one.clips,
                "heard": one.heard,
                "coverage": one.coverage,
                "left_out": dict(one.left_out),
                "outside": dict(one.outside),
                "outside_is": one.outside_is,
                "outside_left_out": one.outside_left_out,
                "read_as": dict(one.read_as),
                **_part_json(one.whole),
                "classes": {name: _part_json(part) for name, part in one.classes.items()},
            }
            for one in scores.systems
        ],
        "comparisons": [asdict(one) for one in scores.comparisons],
        "notes": list(scores.notes),
        "command": scores.command,
        "version": scores.version,
        INPUTS: scores.inputs,
    }


def _part_json(part: Part) -> dict[str, Any]:
    metrics = {
        name: {"value": m.value, "low": m.low, "high": m.high, "n": m.n, "reason": part.reasons.get(name, "")}
        for name, m in part.metrics.items()
    }
    return {"counts": dict(part.counts), "metrics": metrics}


def _metrics_csv(scores: EventScores) -> str:
    return _csv(COLUMNS, ([safe(system), *cells] for system, *cells in scores.rows()))


def _classes_csv(scores: EventScores) -> str:
    head = ["system", "class", *CLASS_COUNTS]
    head += [f"{name}{end}" for name in CLASS_METRICS for end in ("", "_low", "_high")]
    rows = (
        [
            *(safe(one.system), safe(name), *(part.counts[count] for count in CLASS_COUNTS)),
            *(getattr(part.metrics[m], end) for m in CLASS_METRICS for end in ("value", "low", "high")),
        ]
        for one in scores.systems
        for name, part in one.classes.items()
    )
    return _csv(head, rows)


def _clips_csv(scores: EventScores) -> str:
    rows: list[list[Any]] = []
    for one in scores.systems:
        rows += (
            [safe(one.system), safe(clip), "", *(counts[name] for name in CLIP_COUNTS)]
            for clip, counts in one.by_clip.items()
        )
        rows += (
            [safe(one.system), safe(clip), why, *[""] * len(CLIP_COUNTS)]
            for clip, why in one.left_out.items()
        )
    return _csv(("system", "clip", "unheard", *CLIP_COUNTS), rows)


def _csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    write = csv_rows(text)
    write(head)
    for row in rows:
        write(row)
    return text.getvalue()


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table.

    Attributes:
        heads: Of every column, that of the names first.
        rows: A name and its cells.
        legend: What signs and columns mean, for below the table.
        meanings: The same of single columns, by their heads.
        sortable: The cells as numbers; None for what does not exist.
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    legend: str
    meanings: Mapping[str, str]
    sortable: tuple[tuple[float | None, ...], ...] = ()

    @property
    def below(self) -> list[str]:
        """The legend, and what is bold if anything is."""
        return [self.legend, *[tables.BOLD_NOTE] * any(cell.best for _, cells in self.rows for cell in cells)]


def sheets(scores: EventScores, names: Mapping[str, str] | None = None) -> tuple[Sheet, ...]:
    """Systems by the numbers of :data:`GROUPS`; then F1 by class, systems across."""
    names = names or {}
    shown = [one_line(names.get(one.system, one.system)) for one in scores.systems]
    found = []
    for title, wanted in GROUPS.items():
        specs = tuple(SPECS[name] for name in wanted)
        counts = _counts(scores, title)
        heads = [event_words.head(spec) for spec in specs]
        numbers = [[one.whole.metrics[spec.name].value for one in scores.systems] for spec in specs]
        columns = [*([Cell(str(count)) for count in column] for column in counts.values()),
                   *(_column(scores, spec) for spec in specs)]  # fmt: skip
        names_ = [f"{name} ({one.heard}/{one.clips})" if one.heard < one.clips else name
                  for name, one in zip(shown, scores.systems, strict=True)]  # fmt: skip
        rows = tuple(zip(names_, zip(*columns, strict=True), strict=True))
        meanings = dict(zip(heads, (spec.meaning for spec in specs), strict=True))
        legend = event_words.legend(scores, title, [*counts, *heads], rows)
        sortable = tuple(zip(*counts.values(), *numbers, strict=True))
        found.append(Sheet(title, ("System", *counts, *heads), rows, legend, meanings, sortable))
    every = dict.fromkeys(name for one in scores.systems for name in one.classes)
    for metric, count in (("event_f1", "event_true"), ("segment_f1", "segment_true")):
        lines = []
        for name in sorted(every, key=lambda name: (name not in scores.classes, name)):
            parts = [one.classes.get(name) for one in scores.systems]
            true = max(part.counts[count] for part in parts if part)
            metrics = [part.metrics[metric] if part else Metric(None) for part in parts]
            cells = tables.written(metrics, [False] * len(metrics), SPECS[metric], _USUAL)
            lines.append((one_line(name), (Cell(str(true)), *cells)))
        title = f"{SPECS[metric].title} by class"
        legend = event_words.legend(scores, title, [], lines)
        found.append(Sheet(title, ("Class", "True", *shown), tuple(lines), legend, {}))
    return tuple(found)


def _counts(scores: EventScores, title: str) -> dict[str, list[int]]:
    """Columns of what the numbers of a table rest on, or leave out if anything."""
    if title.startswith(("Onsets", "Offsets")):
        return {event_words.MATCHES: [one.whole.counts["event_hits"] for one in scores.systems]}
    left_out = [one.outside_left_out for one in scores.systems]
    return {event_words.OUTSIDE: left_out} if title in event_words.HIDING and any(left_out) else {}


def _column(scores: EventScores, spec: MetricSpec) -> list[Cell]:
    """A number of every system, over all its clips."""
    metrics = {one.system: one.whole.metrics[spec.name] for one in scores.systems}
    values = {name: metric.value for name, metric in metrics.items()}
    best = tables.winner(scores.comparisons, spec, values)
    return tables.written(list(metrics.values()), [name == best for name in metrics], spec, _USUAL)


def terminal(scores: EventScores, names: Mapping[str, str] | None = None) -> list["Table"]:
    """The tables for a terminal, intervals below their values, and what is left out below the name: in 80
    columns there is no room for it beside four intervals."""
    found = []
    for sheet in sheets(scores, names):
        hidden = sheet.heads[1] == event_words.OUTSIDE
        rows = [
            [
                [name, *([f"{cells[0].text} outside"] if hidden else [])],
                *([c.text, *([f"[{c.low}, {c.high}]"] if c.low else [])] for c in cells[hidden:]),
            ]
            for name, cells in sheet.rows
        ]
        given = [sheet.heads[0], *sheet.heads[1 + hidden :]]
        heads = [head.split(" ", 1) if len(head) > 10 and at else head for at, head in enumerate(given)]
        found.append(table(sheet.title, heads, rows, sheet.legend))
    return found


def markdown(scores: EventScores) -> str:
    """Every table as GitHub-flavoured markdown."""
    blocks = [markdown_text(event_words.caption(scores))]
    for sheet in sheets(scores):
        lines = ["| " + " | ".join(map(markdown_text, sheet.heads)) + " |"]
        lines.append("|:--" + "|--:" * (len(sheet.heads) - 1) + "|")
        lines += ["| " + " | ".join([markdown_text(name), *map(markdown_cell, cells)]) + " |"
                  for name, cells in sheet.rows]  # fmt: skip
        blocks += [f"## {markdown_text(sheet.title)}", "\n".join(lines), *map(markdown_text, sheet.below)]
    told = (*event_words.sentences(scores), *event_words.notes(scores))
    blocks += ["\n".join(f"- {markdown_text(note)}" for note in told)]
    return "\n\n".join(filter(None, blocks)) + "\n"


def latex_tables(scores: EventScores) -> str:
    """Every table as LaTeX for booktabs."""
    lines = [r"% needs \usepackage{booktabs}"]
    for at, sheet in enumerate(sheets(scores)):
        rows = [" & ".join(map(latex.latex_text, sheet.heads)) + r" \\", r"\midrule"]
        for name, cells in sheet.rows:
            shown = [latex.latex_text(name), *(latex.latex_cell(cell, _USUAL) for cell in cells)]
            rows.append(" & ".join(shown) + r" \\")
        title = f"{sheet.title}. {event_words.caption(scores)}"
        columns = "l" + "r" * (len(sheet.heads) - 1)
        notes = list(map(latex.latex_text, sheet.below))
        lines += ["", *latex.environment("table*", title, f"tab:events:{at + 1}", columns, rows, notes)]
    return "\n".join(lines) + "\n"
