"""A run's numbers by stratum (for RiTTA, by relation): markdown, LaTeX, CSV.

Conventions
-----------
One table a metric: the strata down, each below the group it belongs to, and the whole run last; the systems
across, best first, then the ceilings (what the reference and the truth itself reach), then the floors (what
comes of no work). So no number is read without what could have been reached in its place. A group of one
stratum is that stratum, and has one line. ``n`` is how many clips a value rests on, but for the oracle's,
which are always all; where systems differ in it, it is a range, and ``relations.csv`` has the number of each.
A value that does not exist is ``--``. A system that must be marked (Summary.marks) bears its signs here too.
Systems are compared over the whole run alone, so only its line can have a value in bold (tables.winner).
"""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from earwitness.report import latex, tables
from earwitness.report.cells import csv_rows, one_line, safe
from earwitness.tasks.rows import Measures, Metric, MetricSpec, Summary, SystemRow

ALL = "all"
Find = Callable[[SystemRow, str], Metric]
"""A system and the name of a part -> a number."""
BOLD_NOTE = f"{tables.BOLD_NOTE} Single relations are not compared, so nothing is bold there."
_SMALL = (r"\footnotesize", r"\setlength{\tabcolsep}{4pt}")  # eight systems fit the width of a page
CSV_HEAD = ("system", "part", "main", "metric", "value", "low", "high", "n")


@dataclass(frozen=True, slots=True)
class Part:
    """A stratum, a group of strata, or the whole run.

    Attributes:
        name: Key of SystemRow.parts; :data:`ALL` for the whole run.
        main: The group; empty for the whole run.
        title: Its name for the reader.
        within: True for a stratum below the line of its group.
        stratum: The one stratum that the line stands for; empty for several.
    """

    name: str
    main: str
    title: str
    within: bool = False
    stratum: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The table of one metric: a line for every part with a cell for every system."""

    spec: MetricSpec
    systems: tuple[SystemRow, ...]
    lines: tuple["Line", ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A part of the run: its cells, and the least and the most clips that a system's value rests on."""

    part: Part
    least: int
    most: int
    cells: tuple[tables.Cell, ...]

    @property
    def n(self) -> str:
        return str(self.most) if self.least == self.most else f"{self.least}-{self.most}"


def parts(measures: Measures) -> tuple[Part, ...]:
    """What the tables have a line for, in order."""
    found = []
    for main, strata in measures.strata.items():
        if len(strata) == 1:
            found.append(Part(main, main, _words(main), stratum=strata[0]))
            continue
        found.append(Part(main, main, _words(main)))
        found += [Part(name, main, _words(name), within=True, stratum=name) for name in strata]
    return (*found, Part(ALL, "", ALL))


def metric_of(row: SystemRow, part: str, metric: str) -> Metric:
    """A system's number in a part of the run; one without a value if nothing of that part was scored."""
    return row.metrics[metric] if part == ALL else row.parts.get(part, {}).get(metric, Metric(None))


def across(summary: Summary) -> tuple[SystemRow, ...]:
    """The systems as they stand across: contestants by the key metric, then ceilings, then floors."""
    roles = ("", tables.CEILING, tables.FLOOR)
    known = list(summary.measures.baselines)
    baselines = sorted(
        (row for row in summary.rows if row.baseline),
        key=lambda row: (roles.index(tables.role(summary.measures, row)), known.index(row.system)),
    )
    return (*(row for row in tables.ranked(summary) if not row.baseline), *baselines)


def specs(summary: Summary, options: tables.TableOptions) -> tuple[MetricSpec, ...]:
    """The metrics that are broken down: those of the usual table, or of the columns that were chosen."""
    chosen = summary.measures.columns if options.columns is None else options.columns
    known = {spec.name: spec for spec in summary.specs}
    return tuple(known[name] for name in chosen if name in known)


def sheets(summary: Summary, options: tables.TableOptions) -> tuple[Sheet, ...]:
    """The tables of all metrics that are broken down."""
    return tuple(sheet(summary, spec, options) for spec in specs(summary, options))


def sheet(
    summary: Summary, spec: MetricSpec, options: tables.TableOptions, find: Find | None = None
) -> Sheet:
    """The table of one metric, or of whatever ``find`` gives for a system and a part."""
    systems = across(summary)
    leader = "" if find else tables.leader(summary, spec)
    lines = []
    for part in parts(summary.measures):
        metrics = [find(row, part.name) if find else metric_of(row, part.name, spec.name) for row in systems]
        pairs = list(zip(systems, metrics, strict=True))
        heard = [metric.n for row, metric in pairs if row.system != summary.measures.oracle]
        counts = heard or [metric.n for metric in metrics]
        bold = [part.name == ALL and row.system == leader for row in systems]
        cells = tuple(tables.written(metrics, bold, spec, options))
        lines.append(Line(part, min(counts), max(counts), cells))
    return Sheet(spec, systems, tuple(lines))


def has_bold(found: Sheet) -> bool:
    """Whether :data:`BOLD_NOTE` belongs below the table."""
    return any(cell.best for line in found.lines for cell in line.cells)


def markdown(summary: Summary, options: tables.TableOptions) -> str:
    """Every table as GitHub-flavoured markdown, everything from outside escaped."""
    blocks = [tables.markdown_text(caption(summary, options))]
    for found in sheets(summary, options):
        head = tables.markdown_text(tables.head(found.spec, options))
        meaning = tables.markdown_text(found.spec.meaning)
        blocks += [f"## {head}", f"{head}: {meaning}.", markdown_of(summary, found, options)]
    return "\n\n".join(blocks) + "\n"


def markdown_of(summary: Summary, found: Sheet, options: tables.TableOptions) -> str:
    """One table as GitHub-flavoured markdown, everything from outside escaped."""
    names = [
        tables.shown_name(summary, row, options.names) + tables.signs(summary, row) for row in found.systems
    ]
    lines = ["| " + " | ".join(map(tables.markdown_text, ["Relation", "n", *names])) + " |"]
    lines.append("|:--" + "|--:" * (len(names) + 1) + "|")
    for line in found.lines:
        title = tables.markdown_text(line.part.title)
        first = title if line.part.within else f"**{title}**"
        lines.append("| " + " | ".join([first, line.n, *map(tables.markdown_cell, line.cells)]) + " |")
    if has_bold(found):
        lines += ["", BOLD_NOTE]
    return "\n".join(lines)


def latex_tables(summary: Summary, options: tables.TableOptions) -> str:
    """Every table as LaTeX for booktabs, across both columns of a page, everything from outside escaped."""
    lines = [r"% needs \usepackage{booktabs}"]
    for found in sheets(summary, options):
        head = tables.head(found.spec, options)
        heads = [r"Relation", "$n$", *(_latex_head(summary, row, options) for row in found.systems)]
        rows = [" & ".join(heads) + r" \\"]
        for line in found.lines:
            if not line.part.within:
                rows.append(r"\midrule" if len(rows) == 1 or line.part.name == ALL else r"\addlinespace")
            name = latex.latex_text(line.part.title)
            first = rf"\quad {name}" if line.part.within else name
            shown = [_stacked(cell, options) for cell in line.cells]
            rows.append(" & ".join([first, line.n.replace("-", "--"), *shown]) + r" \\")
        title = f"{head} by relation. {caption(summary, options)}"
        label = f"{options.label or f'tab:{summary.task}'}:{found.spec.name}"
        columns = "lr" + "r" * len(found.systems)
        notes = [latex.latex_text(BOLD_NOTE)] if has_bold(found) else []
        lines += ["", *latex.environment("table*", title, label, columns, rows, notes, style=_SMALL)]
    return "\n".join(lines) + "\n"


def csv_text(summary: Summary) -> str:
    """Every number in full: a row for each system, part and metric; of the whole run ``main`` is empty."""
    text = io.StringIO()
    write = csv_rows(text)
    write(CSV_HEAD)
    for row in summary.rows:
        for name, main in [(ALL, ""), *_named(summary.measures)]:
            for spec in summary.specs:
                found = metric_of(row, name, spec.name)
                where = (safe(row.system), safe(name), safe(main), spec.name)
                write([*where, found.value, found.low, found.high, found.n])
    return text.getvalue()


def _named(measures: Measures) -> list[tuple[str, str]]:
    """Every group and stratum with its group."""
    return [(name, main) for main, strata in measures.strata.items() for name in (main, *strata)]


def _words(name: str) -> str:
    return one_line(name.replace("_", " "))


def caption(summary: Summary, options: tables.TableOptions) -> str:
    """The usual caption, and what the ceilings and floors are."""
    said = [tables.caption(summary, options)]
    said += [f"{shown}: {words}." for shown, words in _roles(summary, options.names)]
    return " ".join(said)


def _roles(summary: Summary, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Ceilings and floors, and what each of their systems does."""
    told: dict[str, list[str]] = {}
    for row in across(summary):
        if what := tables.role(summary.measures, row):
            does = summary.measures.baselines[row.system]
            told.setdefault(f"{what.capitalize()}s", []).append(f"{names.get(row.system, row.system)} {does}")
    return [(what, "; ".join(each)) for what, each in told.items()]


def _latex_head(summary: Summary, row: SystemRow, options: tables.TableOptions) -> str:
    name = latex.latex_text(options.names.get(row.system, row.system) + tables.signs(summary, row))
    what = tables.role(summary.measures, row)
    return rf"\shortstack[r]{{{name} \\ {{\scriptsize ({what})}}}}" if what else name


def _stacked(cell: tables.Cell, options: tables.TableOptions) -> str:
    """A cell with its interval below it, since a line holds many systems."""
    if not cell.low or options.interval != "brackets":
        return latex.latex_cell(cell, options)
    value = latex.latex_cell(tables.Cell(cell.text, best=cell.best), options)
    low, high = (text.replace("-", "$-$") for text in (cell.low, cell.high))
    return rf"\shortstack[r]{{{value} \\ {{\scriptsize [{low}, {high}]}}}}"
