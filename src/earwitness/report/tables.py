"""The summary as tables for reading: how numbers are written, and markdown (LaTeX: report.latex; in full:
report.summary_files).

Conventions
-----------
Systems are ranked by the key metric, best first, unscored last, and after all of them come the baselines in
the task's own order; ``--`` stands for what does not exist. A system with less than 95 % of its applicable
items scored is marked with a dagger, a value that rests on part of the scored items with their number. Where
a task names a ceiling, its baselines are called ceilings (what can be reached) and floors (what comes of no
work), and its numbers are broken down by stratum too (report.relation_tables).

A value is bold, in any table here and elsewhere, only if it is the best of its kind and its system is ahead
of every other in the paired comparisons of that metric (:func:`winner`). What is not tested is never bold.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from earwitness.errors import UserError, choices, nearest
from earwitness.manifest.plain import markdown_text as markdown_text
from earwitness.report.cells import one_line
from earwitness.tasks.rows import (
    LOW_COVERAGE,
    Comparison,
    Measures,
    Metric,
    MetricSpec,
    Summary,
    SystemRow,
)

LOW_COVERAGE_NOTE = "Fewer than 95 % of the applicable items were scored."
PART_NOTE = "(n=...): this value rests on so many of the scored items; it is not defined for the others."
BOLD_NOTE = "Bold: best, and ahead of every other system in the paired comparisons (p corrected by Holm)."
NONE = "--"

COUNTS = {"n": "n", "not_applicable": "n.a.", "unheard": "Unheard", "scored": "Scored"}
_COVERAGE = MetricSpec("coverage", "Coverage", "scored / (n - not applicable)", better=0)


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How the markdown and LaTeX tables look.

    Attributes:
        columns: Metrics and counts by name or title, in order; None for the task's usual ones.
        decimals: Digits after the point, of whatever is shown; None for each metric's own.
        names: Display name by system; a system without one keeps its own. The terminal and the page use
            them too.
        bold_best: Set the best value of a column in bold where its system wins every paired comparison.
        percent: Show shares as percentages. A metric whose scale goes beyond 1 is no share.
        caption: Plain text; empty for a caption that names task and listener.
        label: LaTeX label; empty for ``tab:TASK``.
        interval: Intervals in brackets, as a subscript (LaTeX only), or not at all.
    """

    columns: tuple[str, ...] | None = None
    decimals: int | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    bold_best: bool = True
    percent: bool = False
    caption: str = ""
    label: str = ""
    interval: Literal["brackets", "subscript", "none"] = "brackets"


@dataclass(frozen=True, slots=True)
class Cell:
    """A number as it is written, its bounds if it has any, and whether it is bold (``best``).

    ``part`` is :func:`part`.
    """

    text: str
    low: str = ""
    high: str = ""
    best: bool = False
    part: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table ready to be written: column heads, then a row of cells for every system, ranked."""

    heads: tuple[str, ...]
    systems: tuple[SystemRow, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]


def key_spec(summary: Summary) -> MetricSpec:
    """How the key metric is shown."""
    return spec_of(summary, summary.key_metric)


def ranked(summary: Summary) -> tuple[SystemRow, ...]:
    """Systems by the key metric, best first; unscored last; equals by name; then baselines, which compete
    with nobody, as the task lists them.
    """
    better = key_spec(summary).better
    places = {name: index for index, name in enumerate(summary.measures.baselines, 1)}

    def rank(row: SystemRow) -> tuple[int, bool, float, str]:
        value = row.metrics[summary.key_metric].value
        place = places.get(row.system, 0) if row.baseline else 0
        return place, value is None, 0.0 if value is None else -better * value, row.system

    return tuple(sorted(summary.rows, key=rank))


def spec_of(summary: Summary, metric: str) -> MetricSpec:
    """How a metric is shown."""
    return next(spec for spec in summary.specs if spec.name == metric)


def low_coverage(row: SystemRow) -> bool:
    """True if so few items were scored that the row must be marked."""
    return row.coverage is not None and row.coverage < LOW_COVERAGE


def part(row: SystemRow, metric: Metric) -> str:
    """``(n=5)`` if a value rests on only 5 of the system's scored items, else empty."""
    return f"(n={metric.n})" if metric.value is not None and metric.n < row.scored else ""


CEILING, FLOOR, BASELINE = "ceiling", "floor", "baseline"


def role(measures: Measures, row: SystemRow) -> str:
    """What a baseline is there for: ``ceiling`` or ``floor`` where there is a ceiling, else ``baseline``;
    empty for a contestant.
    """
    if not row.baseline or not measures.ceiling:
        return BASELINE if row.baseline else ""
    return CEILING if row.system in (measures.ceiling, measures.oracle) else FLOOR


def roles(summary: Summary) -> dict[str, str]:
    """What every baseline is called beside its name."""
    return {row.system: role(summary.measures, row) for row in summary.rows if row.baseline}


def shown_name(summary: Summary, row: SystemRow, names: Mapping[str, str]) -> str:
    """A system's name for display; a baseline is called what it is."""
    name, what = one_line(names.get(row.system, row.system)), role(summary.measures, row)
    return f"{name} ({what})" if what else name


def signs(summary: Summary, row: SystemRow) -> str:
    """The signs that a system's name bears, a space before them; empty for most."""
    found = "".join(mark.sign for mark in summary.marks if row.system in mark.systems)
    return f" {found}" if found else ""


def number(value: float | None, spec: MetricSpec, decimals: int | None = None, percent: bool = False) -> str:
    """A value as the metric is shown; ``--`` if there is none."""
    if value is None:
        return NONE
    percent = percent or spec.percent
    if decimals is None:
        decimals = spec.decimals if spec.percent == percent else max(0, spec.decimals - 2)
    return f"{100 * value if percent else value:z.{decimals}f}"


def p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def comparisons(summary: Summary) -> list[tuple[MetricSpec, list[Comparison]]]:
    """The paired comparisons by metric, the key metric first.

    Where more is neither better nor worse there is no winner to name, and such a metric is left out.
    """
    groups: dict[str, list[Comparison]] = {}
    for comparison in summary.comparisons:
        groups.setdefault(comparison.metric, []).append(comparison)
    order = sorted(groups, key=lambda metric: metric != summary.key_metric)
    specs = [spec_of(summary, metric) for metric in order]
    return [(spec, groups[spec.name]) for spec in specs if spec.better]


def winner(comparisons: Iterable[Comparison], spec: MetricSpec, values: Mapping[str, float | None]) -> str:
    """The system with the best value, if it is ahead of every other in the paired comparisons; else empty.

    Args:
        comparisons: Of whatever metrics.
        values: Those of the metric by system, without baselines. Who has none is nobody to be ahead of.
    """
    known = {name: value for name, value in values.items() if value is not None}
    if len(known) < 2 or not spec.better:
        return ""
    best = max(known, key=lambda name: spec.better * known[name])
    beaten = {
        name
        for pair in comparisons
        if pair.metric == spec.name and pair.winner == best
        for name in (pair.first, pair.second)
    }
    return best if beaten >= known.keys() - {best} else ""


def leader(summary: Summary, spec: MetricSpec) -> str:
    """Whose value of a metric, over the whole run, is bold; empty if nobody's."""
    contest = [row for row in summary.rows if not row.baseline]
    return winner(summary.comparisons, spec, {row.system: row.metrics[spec.name].value for row in contest})


def check(options: TableOptions, specs: Sequence[MetricSpec], systems: Sequence[str]) -> None:
    """Make sure that a table can be made, before anything is heard for it.

    Raises:
        UserError: Naming a column or system that does not exist, or decimals out of range.
    """
    named(options, specs)
    _check("system", options.names, systems)
    if options.decimals is not None and not 0 <= options.decimals <= 12:
        raise UserError(f"{options.decimals} decimals cannot be shown.", "Give a number from 0 to 12.")


def named(options: TableOptions, specs: Sequence[MetricSpec]) -> TableOptions:
    """The options with every column by its name, where it was given by its title, as tables show it.

    Raises:
        UserError: Naming a column that does not exist.
    """
    if options.columns is None:
        return options
    names = {spec.name: spec.title for spec in (*specs, _COVERAGE)} | COUNTS
    by_title = {title.casefold(): name for name, title in reversed(names.items())}
    columns = [name if name in names else by_title.get(name.casefold(), name) for name in options.columns]
    _check("column", columns, list(names))
    return replace(options, columns=tuple(columns))


def grid(summary: Summary, options: TableOptions) -> Grid:
    """The table that the options describe.

    Raises:
        UserError: As :func:`check`.
    """
    options = named(options, summary.specs)
    check(options, summary.specs, [row.system for row in summary.rows])
    specs = {spec.name: spec for spec in (*summary.specs, _COVERAGE)}
    columns = summary.measures.columns if options.columns is None else options.columns
    rows = ranked(summary)
    shown = [
        _count_column(rows, name) if name in COUNTS else _metric_column(summary, rows, specs[name], options)
        for name in columns
    ]
    return Grid(
        heads=("System", *(head for head, _ in shown)),
        systems=rows,
        names=tuple(shown_name(summary, row, options.names) + signs(summary, row) for row in rows),
        cells=tuple(tuple(cells[index] for _, cells in shown) for index in range(len(rows))),
    )


def _check(what: str, given: Sequence[str] | Mapping[str, str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise UserError(f"there is no {what} {name!r}.", choices(nearest(name, known), known))


def _count_column(rows: Sequence[SystemRow], name: str) -> tuple[str, list[Cell]]:
    return COUNTS[name], [Cell(str(getattr(row, name))) for row in rows]


def _metric_column(
    summary: Summary, rows: Sequence[SystemRow], spec: MetricSpec, options: TableOptions
) -> tuple[str, list[Cell]]:
    if spec is _COVERAGE:
        metrics, best = [Metric(row.coverage, n=row.scored) for row in rows], ""
    else:
        metrics, best = [row.metrics[spec.name] for row in rows], leader(summary, spec)
    cells = written(metrics, [row.system == best for row in rows], spec, options)
    parts = [part(row, metric) for row, metric in zip(rows, metrics, strict=True)]
    return head(spec, options), [replace(cell, part=p) for cell, p in zip(cells, parts, strict=True)]


def _as_percent(spec: MetricSpec, options: TableOptions) -> bool:
    return options.percent and spec.scale is not None and max(map(abs, spec.scale)) <= 1


def head(spec: MetricSpec, options: TableOptions) -> str:
    """What a column or table of the metric is called."""
    return spec.title + (" (%)" if _as_percent(spec, options) or spec.percent else "")


def written(
    metrics: Sequence[Metric], bold: Sequence[bool], spec: MetricSpec, options: TableOptions
) -> list[Cell]:
    """Values of one metric that are read side by side, as cells.

    Args:
        bold: Which of them belongs to the one that :func:`winner` or :func:`leader` names.
    """
    percent = _as_percent(spec, options)

    def text(value: float | None) -> str:
        return number(value, spec, options.decimals, percent)

    cells = []
    for m, wins in zip(metrics, bold, strict=True):
        bounded = options.interval != "none" and m.low is not None and m.high is not None
        low, high = (text(m.low), text(m.high)) if bounded else ("", "")
        cells.append(Cell(text(m.value), low, high, wins and options.bold_best))
    return cells


def caption(summary: Summary, options: TableOptions) -> str:
    """The user's caption, or one that names task and listener; then what the signs beside names mean."""
    usual = f"The {summary.task} task, heard by {summary.listener}"
    if options.interval != "none":
        usual += "; confidence intervals in brackets"
    marks = [f"{mark.sign} {mark.meaning}" for mark in summary.marks]
    return " ".join([one_line(options.caption) or one_line(usual) + ".", *marks])


def markdown(summary: Summary, options: TableOptions) -> str:
    """The table as GitHub-flavoured markdown, everything from outside escaped.

    Raises:
        UserError: As :func:`grid`.
    """
    return markdown_of(grid(summary, options), caption(summary, options))


def markdown_of(table: Grid, caption: str) -> str:
    """Any table of systems as GitHub-flavoured markdown, everything from outside escaped."""
    lines = [markdown_text(caption), ""]
    lines.append("| " + " | ".join(markdown_text(head) for head in table.heads) + " |")
    lines.append("|:--" + "|--:" * (len(table.heads) - 1) + "|")
    for row, name, cells in zip(table.systems, table.names, table.cells, strict=True):
        first = markdown_text(name) + (" †" if low_coverage(row) else "")
        lines.append("| " + " | ".join([first, *map(markdown_cell, cells)]) + " |")
    return "\n".join([*lines, *_markdown_notes(table)]) + "\n"


def _markdown_notes(table: Grid) -> list[str]:
    notes = [f"† {LOW_COVERAGE_NOTE}"] if any(map(low_coverage, table.systems)) else []
    return [line for note in (*notes, *cell_notes(table)) for line in ("", note)]


def markdown_cell(cell: Cell) -> str:
    """A cell as markdown."""
    value = f"**{cell.text}**" if cell.best else cell.text
    interval = f"[{cell.low}, {cell.high}]" if cell.low else ""
    return " ".join(filter(None, [value, interval, cell.part]))


def cell_notes(table: Grid) -> list[str]:
    """What is to be said below a table of its cells: parts, and bold ones, where there are any."""
    cells = [cell for row in table.cells for cell in row]
    return [PART_NOTE] * any(cell.part for cell in cells) + [BOLD_NOTE] * any(cell.best for cell in cells)
