"""Distances as tables: markdown, LaTeX, CSV, and cells for a terminal.

Conventions
-----------
The first table has a line for every set and a column for every metric. Where sets have parts, a table a
metric follows, with the parts across. Sets are in the order given, the anchors (tasks.distances.ANCHORS)
after them; an anchor is never best. A number that does not exist is ``--``, with the letter of a note that
says why. The recipe is part of every caption: without it a distance means nothing.
"""

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase

from earwitness.report import latex, tables
from earwitness.report.cells import csv_rows, one_line, safe
from earwitness.report.tables import Cell, TableOptions, markdown_cell, markdown_text
from earwitness.tasks.distances import ALL, ANCHORS, METRICS, Coverage, Distance, Distances, Recipe
from earwitness.tasks.rows import Metric, MetricSpec

SPECS: Mapping[str, MetricSpec] = {
    spec.name: spec
    for spec in (
        MetricSpec("fad", "FAD", "Fréchet distance of the frames", -1, scale=None),
        MetricSpec("fd", "FD", "Fréchet distance of the clips", -1, scale=None),
        MetricSpec("kad", "KAD", "kernel distance (unbiased MMD²) of the clips", -1, scale=None, decimals=4),
        MetricSpec("kl", "KL", "mean KL(reference || clip) of paired clips, in nats", -1, scale=None),
        MetricSpec("is", "IS", "Inception Score of the clips alone", 1, scale=None),
        MetricSpec("clap", "CLAP", "mean cosine of clip and caption", 1, scale=None),
    )
}
CSV_HEAD = ("system", "part", "metric", "value", "low", "high", "n", "reference_n", "reason", "recipe")
_ARROWS = {-1: "↓", 1: "↑"}
_USUAL = TableOptions()
_NAME = 24  # columns of a terminal that names may take before they fold


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table.

    Attributes:
        metrics: What its columns hold; one metric alone where the parts stand across.
        heads: Of the names first.
        lines: Of every set the name and its cells.
        notes: Why numbers are missing.
    """

    title: str
    metrics: tuple[str, ...]
    heads: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Cell, ...]], ...]
    notes: tuple[str, ...]


def sheets(
    distances: Distances, options: TableOptions = _USUAL, baselines: Collection[str] = ()
) -> tuple[Sheet, ...]:
    """The table of the whole sets, then one with the parts across for each metric that has numbers of parts.

    Args:
        options: Names, decimals, bold_best and interval are heeded.
        baselines: Systems that stand after the others and, like anchors, are never best.
    """
    found = {(row.system, row.part, row.metric): row for row in distances.rows}
    metrics = [name for name in METRICS if any(row.metric == name for row in distances.rows)]
    parts = list(dict.fromkeys(row.part for row in distances.rows if row.part != ALL))
    systems = _systems(distances, baselines)
    contest = [system not in ANCHORS and system not in baselines for system in systems]
    shown = (distances, found, dict(zip(systems, contest, strict=True)))
    whole = _sheet(*shown, "All clips", [(ALL, name) for name in metrics], options)
    across = [*parts, ALL]
    broken_down = {row.metric for row in distances.rows if row.part != ALL and row.value is not None}
    by_part = [
        _sheet(*shown, f"{SPECS[name].title} by part", [(part, name) for part in across], options)
        for name in metrics
        if name in broken_down
    ]
    return (whole, *by_part)


def _sheet(
    distances: Distances,
    found: Mapping[tuple[str, str, str], Distance],
    contest: Mapping[str, bool],
    title: str,
    columns: Sequence[tuple[str, str]],
    options: TableOptions,
) -> Sheet:
    """A line a system, which may be best if it is in the contest; a column for each part and metric."""
    systems = list(contest)
    letters: dict[str, str] = {}
    cells: list[list[Cell]] = []
    for part, name in columns:
        rows = [found.get((system, part, name)) for system in systems]
        metrics = [Metric(r.value, r.low, r.high, n=r.n) if r else Metric(None) for r in rows]
        column = tables.written(metrics, list(contest.values()), SPECS[name], options)
        for index, row in enumerate(rows):
            if row and row.value is None:
                letter = letters.setdefault(row.reason, _letter(len(letters)))
                column[index] = replace(column[index], part=f"({letter})")
        cells.append(column)
    counts = _counts(distances, found, systems) if title == "All clips" else {}
    heads = [_head(part, name, by_part=not counts) for part, name in columns]
    names = [one_line(options.names.get(system, system)) for system in systems]
    lines = zip(names, zip(*counts.values(), *cells, strict=True), strict=True)
    notes = [f"({letter}) {one_line(reason)}" for reason, letter in letters.items()]
    metrics_shown = tuple(dict.fromkeys(name for _, name in columns))
    return Sheet(title, metrics_shown, ("Set", *counts, *heads), tuple(lines), tuple(notes))


def _counts(
    distances: Distances, found: Mapping[tuple[str, str, str], Distance], systems: Sequence[str]
) -> dict[str, list[Cell]]:
    """How many clips a set has, and how many frames if any number rests on them."""
    covered = {row.system: row for row in distances.coverage}
    frames = [found[(s, ALL, "fad")].n if (s, ALL, "fad") in found else 0 for s in systems]
    columns = {"Clips": [_clips(covered.get(system)) for system in systems]}
    if any(frames):
        columns["Frames"] = [Cell(f"{n:,}" if n else tables.NONE) for n in frames]
    return columns


def _clips(row: Coverage | None) -> Cell:
    if row is None:
        return Cell(tables.NONE)
    return Cell(f"{row.used:,}" if row.used == row.clips else f"{row.used:,}/{row.clips:,}")


def _systems(distances: Distances, baselines: Collection[str]) -> list[str]:
    """The sets in the order given, then baselines, then the anchors that there are."""
    there = dict.fromkeys(row.system for row in distances.rows)
    sets = sorted((name for name in there if name not in ANCHORS), key=lambda name: name in baselines)
    return [*sets, *(name for name in ANCHORS if name in there)]


def _head(part: str, name: str, by_part: bool) -> str:
    if by_part:
        return one_line(part.replace("_", " "))
    return f"{SPECS[name].title} {_ARROWS[SPECS[name].better]}"


def _letter(index: int) -> str:
    """a to z, then aa, ab and so on."""
    rest, last = divmod(index, len(ascii_lowercase))
    return (_letter(rest - 1) if rest else "") + ascii_lowercase[last]


def recipe_words(recipe: Recipe) -> str:
    """What decides a number beside the clips that are measured, in a sentence."""
    settings = ", ".join(
        f"{name.replace('_', ' ')} {_plain(value)}" for name, value in recipe.settings.items()
    )
    return (
        f"Embeddings: {recipe.backbone}, weights {recipe.version} ({settings}). Reference "
        f"{recipe.reference[:16]}: {recipe.reference_clips:,} clips. Policy: {recipe.policy}. "
        f"Recipe {recipe.key}."
    )


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key} {_plain(each)}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return "/".join(map(_plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def caption(distances: Distances, metrics: Sequence[str] = METRICS) -> str:
    """What a table needs to be read: what its metrics and anchors are, the intervals' level, the recipe."""
    rows = [row for row in distances.rows if row.metric in metrics]
    shown = [SPECS[name] for name in METRICS if any(row.metric == name for row in rows)]
    said = ["; ".join(f"{spec.title}: {spec.meaning}" for spec in shown) + "."]
    if any(row.low is not None for row in rows):
        said.append(f"In brackets: {100 * distances.level:g} % confidence intervals over clips.")
    there = {row.system for row in rows}
    said += [f"{name.capitalize()}: {what}." for name, what in ANCHORS.items() if name in there]
    return one_line(" ".join([*said, recipe_words(distances.recipe)]))


def markdown(distances: Distances, options: TableOptions = _USUAL, baselines: Collection[str] = ()) -> str:
    """All tables, coverage and notes as GitHub-flavoured markdown, everything from outside escaped."""
    blocks = [markdown_text(caption(distances))]
    for sheet in (*sheets(distances, options, baselines), coverage_sheet(distances)):
        lines = ["| " + " | ".join(map(markdown_text, sheet.heads)) + " |"]
        lines.append("|:--" + "|--:" * (len(sheet.heads) - 1) + "|")
        lines += [
            "| " + " | ".join([markdown_text(name), *map(markdown_cell, cells)]) + " |"
            for name, cells in sheet.lines
        ]
        blocks += [f"## {markdown_text(sheet.title)}", "\n".join(lines)]
        blocks += [markdown_text(note) for note in sheet.notes]
    if distances.notes:
        blocks += ["## Notes", "\n".join(f"- {markdown_text(note)}" for note in distances.notes)]
    return "\n\n".join(blocks) + "\n"


def latex_tables(
    distances: Distances,
    options: TableOptions = _USUAL,
    baselines: Collection[str] = (),
    *,
    label: str = "tab:distances",
    extra: str = "",
) -> str:
    """Every table as LaTeX for booktabs, everything from outside escaped; the caption carries the recipe.

    Args:
        extra: Words at the start of the caption.
    """
    lines = [r"% needs \usepackage{booktabs}"]
    for index, sheet in enumerate(sheets(distances, options, baselines)):
        heads = [latex.latex_text(head.rstrip(" ↓↑")) + _latex_arrow(head) for head in sheet.heads]
        rows = [" & ".join(heads) + r" \\", r"\midrule"]
        anchored = False
        for name, cells in sheet.lines:
            if name in ANCHORS and not anchored and len(rows) > 2:
                rows.append(r"\midrule")
            anchored = anchored or name in ANCHORS
            shown = [latex.latex_cell(cell, options) for cell in cells]
            rows.append(" & ".join([latex.latex_text(name), *shown]) + r" \\")
        title = " ".join(filter(None, [extra, f"{sheet.title}.", caption(distances, sheet.metrics)]))
        lines += [
            "",
            *latex.environment(
                "table*",
                title,
                label if not index else f"{label}:{sheet.metrics[0]}",
                "l" + "r" * (len(sheet.heads) - 1),
                rows,
                [latex.latex_text(note) for note in sheet.notes],
                style=(r"\footnotesize", r"\setlength{\tabcolsep}{4pt}"),
            ),
        ]
    return "\n".join(lines) + "\n"


def _latex_arrow(head: str) -> str:
    return {"↓": r" $\downarrow$", "↑": r" $\uparrow$"}.get(head[-1:], "")


def pieces(sheet: Sheet, width: int) -> Iterator[tuple[str, list[str], list[list[str | list[str]]]]]:
    """Title, heads and lines of tables that fit a terminal: as many columns side by side as have room,
    intervals below their values.
    """
    columns = [[_stacked(cells[at]) for _, cells in sheet.lines] for at in range(len(sheet.heads) - 1)]
    names = [name for name, _ in sheet.lines]
    widths = [
        max(map(len, [head, *(line for cell in column for line in cell)]))
        for head, column in zip(sheet.heads[1:], columns, strict=True)
    ]
    room = width - min(_NAME, max(map(len, [*names, sheet.heads[0]]))) - 2
    start = 0
    while start < len(columns):
        stop = start + 1
        while stop < len(columns) and sum(widths[start : stop + 1]) + 2 * (stop + 1 - start) <= room:
            stop += 1
        lines: list[list[str | list[str]]] = [
            [name, *(column[at] for column in columns[start:stop])] for at, name in enumerate(names)
        ]
        yield "" if start else sheet.title, [sheet.heads[0], *sheet.heads[start + 1 : stop + 1]], lines
        start = stop


def _stacked(cell: Cell) -> list[str]:
    value = " ".join(filter(None, [cell.text, cell.part]))
    return [value, f"[{cell.low}, {cell.high}]"] if cell.low else [value]


def coverage_sheet(distances: Distances) -> Sheet:
    """How many clips every set has and how long they are, in seconds."""

    def seconds(value: float | None) -> Cell:
        return Cell(tables.NONE if value is None else f"{value:.2f}")

    lines = [
        (
            one_line(row.system),
            (
                *(Cell(f"{n:,}") for n in (row.clips, row.used, row.paired)),
                *map(seconds, (row.shortest_s, row.mean_s, row.longest_s)),
            ),
        )
        for row in distances.coverage
    ]
    heads = ("Set", "Clips", "Used", "Paired", "Shortest (s)", "Mean (s)", "Longest (s)")
    return Sheet("Clips and durations", (), heads, tuple(lines), ())


def csv_text(distances: Distances) -> str:
    """Every number in full, with its reason if there is none, and the key of the recipe."""
    text = io.StringIO()
    write = csv_rows(text)
    write(CSV_HEAD)
    for row in distances.rows:
        names = (safe(row.system), safe(row.part), row.metric)
        numbers = (row.value, row.low, row.high, row.n, row.reference_n)
        write([*names, *numbers, safe(row.reason), distances.recipe.key])
    return text.getvalue()


def left_out_csv(distances: Distances) -> str:
    """Every clip that could not be embedded, and why."""
    text = io.StringIO()
    write = csv_rows(text)
    write(("system", "file", "reason"))
    for row in distances.left_out:
        write([safe(cell) for cell in row])
    return text.getvalue()
