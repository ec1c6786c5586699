"""Event metrics as tables (terminal, markdown, LaTeX, CSV, JSON) and as the paragraph for the paper.

Conventions
-----------
Systems stand in the order given. A number that does not exist is ``--`` in tables, null in JSON and empty in
CSV, with the reason beside it. What is bold: :mod:`.tables`; systems are compared by F1 over all clips.
``events.json`` has everything, strictly; ``events.csv`` a row a system and metric, ``classes.csv`` a row a
system and class, ``clips.csv`` the counts of every clip, of which all rates are made.
"""

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earwitness.files import INPUTS, write_text
from earwitness.report import latex, tables
from earwitness.report.cells import csv_rows, one_line, safe
from earwitness.report.summary_files import write_json
from earwitness.report.tables import Cell, TableOptions, markdown_cell, markdown_text
from earwitness.report.terminal_table import table
from earwitness.tasks.event_scores import (
    CLASS_METRICS,
    COUNTS,
    EVENT,
    LEAVE,
    SEGMENT,
    SPECS,
    Part,
    Settings,
    SystemScores,
)
from earwitness.tasks.rows import Comparison, Metric, MetricSpec

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
LISTED = 10
_USUAL = TableOptions()


@dataclass(frozen=True, slots=True)
class EventScores:
    """Systems held against one truth.

    Attributes:
        truth: Where it lies, as it was named.
        classes: Labels of the truth.
        comparisons: Every pair of systems, on the clips that both heard.
        notes: What a reader must know about the input.
        inputs: What the files were made of (files.refuse_other); empty where none were written.
    """

    truth: str
    clips: int
    duration_s: float
    classes: tuple[str, ...]
    settings: Settings
    systems: tuple[SystemScores, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    command: str = ""
    version: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)


def write(folder: Path, scores: EventScores) -> None:
    """Write every table into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / TABLES[0], to_json(scores))
    texts = (_metrics_csv, _classes_csv, _clips_csv, markdown, latex_tables, protocol)
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
    rows = (
        [safe(one.system), name, m.value, m.low, m.high, m.n, one.whole.reasons.get(name, "")]
        for one in scores.systems
        for name, m in one.whole.metrics.items()
    )
    return _csv(("system", "metric", "value", "low", "high", "n", "reason"), rows)


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
    """A table: its title, the head of every column, and rows of a name and cells."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    specs: tuple[MetricSpec, ...] = ()


def sheets(scores: EventScores, names: Mapping[str, str] | None = None) -> tuple[Sheet, ...]:
    """Systems by the numbers of :data:`GROUPS`; then F1 by class, systems across."""
    names = names or {}
    shown = [one_line(names.get(one.system, one.system)) for one in scores.systems]
    found = []
    for title, wanted in GROUPS.items():
        specs = tuple(SPECS[name] for name in wanted)
        columns = [_column(scores, spec) for spec in specs]
        rows = [
            (
                f"{name} ({one.heard}/{one.clips})" if one.heard < one.clips else name,
                tuple(c[at] for c in columns),
            )
            for at, (name, one) in enumerate(zip(shown, scores.systems, strict=True))
        ]
        found.append(Sheet(title, ("System", *(spec.title for spec in specs)), tuple(rows), specs))
    every = dict.fromkeys(name for one in scores.systems for name in one.classes)
    for metric, count in (("event_f1", "event_true"), ("segment_f1", "segment_true")):
        lines = []
        for name in sorted(every, key=lambda name: (name not in scores.classes, name)):
            parts = [one.classes.get(name) for one in scores.systems]
            true = max(part.counts[count] for part in parts if part)
            metrics = [part.metrics[metric] if part else Metric(None) for part in parts]
            cells = tables.written(metrics, [False] * len(metrics), SPECS[metric], _USUAL)
            lines.append((one_line(name), (Cell(str(true)), *cells)))
        found.append(Sheet(f"{SPECS[metric].title} by class", ("Class", "True", *shown), tuple(lines)))
    return tuple(found)


def _column(scores: EventScores, spec: MetricSpec) -> list[Cell]:
    """A number of every system, over all its clips."""
    metrics = {one.system: one.whole.metrics[spec.name] for one in scores.systems}
    values = {name: metric.value for name, metric in metrics.items()}
    best = tables.winner(scores.comparisons, spec, values)
    return tables.written(list(metrics.values()), [name == best for name in metrics], spec, _USUAL)


def _bold_notes(sheet: Sheet) -> list[str]:
    return [tables.BOLD_NOTE] * any(cell.best for _, cells in sheet.rows for cell in cells)


def terminal(scores: EventScores, names: Mapping[str, str] | None = None) -> list["Table"]:
    """The tables for a terminal, intervals below their values."""
    found = []
    for sheet in sheets(scores, names):
        rows = [[name, *([c.text, *([f"[{c.low}, {c.high}]"] if c.low else [])] for c in cells)]
                for name, cells in sheet.rows]  # fmt: skip
        heads = [head.split(" ", 1) if len(head) > 10 and at else head for at, head in enumerate(sheet.heads)]
        found.append(table(sheet.title, heads, rows))
    return found


def markdown(scores: EventScores) -> str:
    """Every table as GitHub-flavoured markdown."""
    blocks = [markdown_text(caption(scores))]
    for sheet in sheets(scores):
        lines = ["| " + " | ".join(map(markdown_text, sheet.heads)) + " |"]
        lines.append("|:--" + "|--:" * (len(sheet.heads) - 1) + "|")
        lines += ["| " + " | ".join([markdown_text(name), *map(markdown_cell, cells)]) + " |"
                  for name, cells in sheet.rows]  # fmt: skip
        meanings = "; ".join(f"{spec.title}: {spec.meaning}" for spec in sheet.specs)
        blocks += [f"## {markdown_text(sheet.title)}", *([f"{markdown_text(meanings)}."] if meanings else [])]
        blocks += ["\n".join(lines), *_bold_notes(sheet)]
    blocks += ["\n".join(f"- {markdown_text(note)}" for note in (*sentences(scores), *notes(scores)))]
    return "\n\n".join(filter(None, blocks)) + "\n"


def latex_tables(scores: EventScores) -> str:
    """Every table as LaTeX for booktabs."""
    lines = [r"% needs \usepackage{booktabs}"]
    for at, sheet in enumerate(sheets(scores)):
        rows = [" & ".join(map(latex.latex_text, sheet.heads)) + r" \\", r"\midrule"]
        for name, cells in sheet.rows:
            shown = [latex.latex_text(name), *(latex.latex_cell(cell, _USUAL) for cell in cells)]
            rows.append(" & ".join(shown) + r" \\")
        title = f"{sheet.title}. {caption(scores)}"
        columns = "l" + "r" * (len(sheet.heads) - 1)
        notes = map(latex.latex_text, _bold_notes(sheet))
        lines += ["", *latex.environment("table*", title, f"tab:events:{at + 1}", columns, rows, list(notes))]
    return "\n".join(lines) + "\n"


def caption(scores: EventScores, intervals: str = "in brackets") -> str:
    """What the tables show, in one sentence; where they have their intervals."""
    return (
        f"{scores.clips} clips, {len(scores.classes)} classes; {_rule(scores)}; segments of "
        f"{scores.settings.segment_s:g} s; intervals at {100 * scores.settings.level:g} % {intervals}."
    )


def _rule(scores: EventScores) -> str:
    rule = scores.settings.rule
    onset = f"onsets within ±{rule.onset_collar_s:g} s"
    if not rule.offset:
        return f"{onset}, offsets not asked for"
    share = f"{100 * rule.offset_share:g} % of the true event"
    return f"{onset}, offsets within ±{rule.offset_collar_s:g} s or {share}, whichever is more"


def notes(scores: EventScores) -> list[str]:
    """What a reader must know: of the input, of clips left out, of labels read otherwise or outside."""
    said = list(scores.notes)
    for one in scores.systems:
        if one.left_out:
            clips = _listed(f"{clip} ({why})" for clip, why in one.left_out.items())
            said.append(
                f"{one.system}: {len(one.left_out)} of {one.clips} clips are unheard and not scored: {clips}."
            )
        if one.read_as:
            said.append(
                f"{one.system}: read as classes: {_listed(f'{a} as {b}' for a, b in one.read_as.items())}."
            )
        if one.outside:
            what = "left out" if one.outside_is == LEAVE else "counted as false alarms"
            labels = _listed(f"{name} ({count})" for name, count in one.outside.items())
            total = sum(one.outside.values())
            events = "event" if total == 1 else "events"
            said.append(f"{one.system}: {total} {events} outside the truth's classes, {what}: {labels}.")
        missing = {why: [SPECS[name].title for name, its in one.whole.reasons.items() if its == why]
                   for why in one.whole.reasons.values()}  # fmt: skip
        said += (f"{one.system}: {why}, so unscored: {', '.join(which)}." for why, which in missing.items())
    return said


def sentences(scores: EventScores) -> list[str]:
    """What every comparison of two systems says."""
    return [
        f"{SPECS[one.metric].title}: {tables.sentence(one, SPECS[one.metric])}" for one in scores.comparisons
    ]


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - LISTED} more" if len(every) > LISTED else ""
    return ", ".join(every[:LISTED]) + more


def protocol(scores: EventScores) -> str:
    """The paragraph for the paper, and what is needed to do it again."""
    set_ = scores.settings
    said = [
        f"Event tables of {len(scores.systems)} systems were held against the truth of {scores.clips} clips "
        f"({scores.duration_s:.1f} s, {len(scores.classes)} classes).",
        f"An estimated event is a hit if its class is the true one's and it fits in time: {_rule(scores)}; "
        "events are matched one to one, as many as can be.",
        "A pair left over that fits in time but not in class is a substitution, counted as sed_eval does; "
        "the error rate is (substitutions + deletions + insertions) / true events.",
        f"Segment-based numbers count classes active in segments of {set_.segment_s:g} s.",
        "Counts are summed over clips (micro); macro F1 is the mean over the classes of the truth.",
        "Lenient numbers let a label above or below the class in AudioSet's tree be a hit.",
        f"Intervals are percentile bootstraps over clips at {100 * set_.level:g} % ({set_.draws} draws, seed "
        f"{set_.seed}); where no clip alone changes a share, the Wilson bound at the number of its clips.",
        "Times closer than a microsecond are equal.",
    ]
    if scores.comparisons:
        said.append(
            "Systems were compared on the clips that both heard, by a test that swaps their names clip by "
            "clip, corrected by Holm."
        )
    blocks = [
        markdown_text(" ".join(said)),
        *(f"- {markdown_text(note)}" for note in (*sentences(scores), *notes(scores))),
    ]
    if scores.command:
        blocks.append(f"Command: `{one_line(scores.command)}`")
    if scores.version:
        blocks.append(f"Made with earwitness {scores.version}.")
    return "\n\n".join(blocks) + "\n"
