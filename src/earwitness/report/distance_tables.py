"""Distances as tables: markdown, LaTeX, and cells for a terminal.

Conventions
-----------
The first table has a line for every set and a column for every metric. Where sets have parts, a table a
metric follows, with the parts across. Sets are in the order given, the anchors (tasks.distances.ANCHORS)
after them; one of which fewer clips could be used than of others is marked ``¶``. A number that does not
exist is ``--``, with the letter of a note that says why; a column in which no set has a number is left out,
with one note. Numbers have three significant digits, counted at the largest of value and bounds. Nothing is
bold: which of two sets is nearer is told pair by pair in a table of its own (report.distance_pairs), the
second. Every table carries the recipe: without it a distance means nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, log10
from string import ascii_lowercase
from types import MappingProxyType

from earwitness.report import distance_pairs, latex, tables
from earwitness.report.cells import one_line
from earwitness.report.distance_words import SPECS, caption
from earwitness.report.tables import Cell, TableOptions, markdown_cell, markdown_text
from earwitness.report.terminal_table import folded
from earwitness.tasks.distances import ALL, ANCHORS, FLOOR, METRICS, REFERENCE, Distance, Distances

PAIRS = "pairs"
"""Key of the table of pairs."""
MOST_PAIRS = 15
"""Lines that a terminal shows of it: first those that tell sets apart, last those without a difference."""
FEWER = "¶"
FEWER_NOTE = f"{FEWER} Fewer clips could be used than of other sets: a number is not of the same clips."
_ARROWS = {-1: "↓", 1: "↑"}
_USUAL = TableOptions()
_NO_ROLES: Mapping[str, str] = MappingProxyType({})
_DIGITS, _MOST_DECIMALS = 3, 4
_NAME, _BOTH, _SAYS = 24, 16, 16  # columns of a terminal that names, both of a pair, and words may take


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table.

    Attributes:
        metrics: What its columns hold; one metric alone where the parts stand across.
        heads: Of the names first.
        lines: Of every set the name and its cells.
        notes: Why numbers and columns are missing.
        key: Names the table where it is referred to.
    """

    title: str
    metrics: tuple[str, ...]
    heads: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Cell, ...]], ...]
    notes: tuple[str, ...]
    key: str = ""


def sheets(
    distances: Distances, options: TableOptions = _USUAL, roles: Mapping[str, str] = _NO_ROLES
) -> tuple[Sheet, ...]:
    """The table of the whole sets, that of their pairs if they were compared, then one with the parts across
    for each metric that has numbers of parts.

    Args:
        options: Names, decimals and interval are heeded.
        roles: What baselines are called beside their names; they stand after the other sets.
    """
    found = {(row.system, row.part, row.metric): row for row in distances.rows}
    metrics = [name for name in METRICS if any(row.metric == name for row in distances.rows)]
    parts = list(dict.fromkeys(row.part for row in distances.rows if row.part != ALL))
    whole = _sheet(distances, found, "All clips", [(ALL, name) for name in metrics], options, roles)
    across = [*parts, ALL]
    broken_down = {row.metric for row in distances.rows if row.part != ALL and row.value is not None}
    by_part = [
        _sheet(
            distances,
            found,
            f"{SPECS[name].title} by part",
            [(part, name) for part in across],
            options,
            roles,
        )
        for name in metrics
        if name in broken_down
    ]
    return (whole, *_pairs(distances, options), *by_part)


def _pairs(distances: Distances, options: TableOptions) -> list[Sheet]:
    letters: dict[str, str] = {}
    lines = []
    words = distance_pairs.words(distances)
    for pair in distances.comparisons:
        letter = letters.setdefault(pair.note, _letter(len(letters))) if pair.note else ""
        number = Distance(pair.first, ALL, pair.metric, pair.difference, pair.low, pair.high)
        shown = cell(number, replace(options, interval=_USUAL.interval))
        lines.append(distance_pairs.line(pair, shown, letter and f"({letter})", options, words))
    if not lines:
        return []
    notes = [words.how, *(f"({letter}) {one_line(note)}" for note, letter in letters.items())]
    metrics = tuple(dict.fromkeys(pair.metric for pair in distances.comparisons))
    return [Sheet(words.title, metrics, distance_pairs.HEADS, tuple(lines), tuple(notes), PAIRS)]


def told_apart(sheet: Sheet) -> Sheet:
    """A table of pairs cut to what a terminal has room for; any other is left as it is."""
    if sheet.key != PAIRS or len(sheet.lines) <= MOST_PAIRS:
        return sheet
    least = {distance_pairs.NEITHER: 1, tables.NONE: 2}
    lines = sorted(sheet.lines, key=lambda line: least.get(line[1][-1].text, 0))
    shown = tuple(lines[:MOST_PAIRS])
    left = len(lines) - MOST_PAIRS
    more = f"{left:,} more {'line is' if left == 1 else 'lines are'} in {distance_pairs.FILE}."
    how, *notes = sheet.notes
    letters = {cells[-1].part for _, cells in shown}
    told = (note for note in notes if note.partition(" ")[0] in letters)
    return replace(sheet, lines=shown, notes=(more, how, *told))


def _sheet(
    distances: Distances,
    found: Mapping[tuple[str, str, str], Distance],
    title: str,
    columns: Sequence[tuple[str, str]],
    options: TableOptions,
    roles: Mapping[str, str],
) -> Sheet:
    """A line a system; a column for each part and metric of which some set has a number."""
    whole = title == "All clips"
    known = {key for key, row in found.items() if row.value is not None}
    systems = _systems(distances, roles)
    sets = [system for system in systems if system not in ANCHORS]
    shown = [column for column in columns if any((system, *column) in known for system in sets)]
    lines = [one for one in systems if one in sets or any((one, *column) in known for column in shown)]
    counts = _counts(distances, found, lines, frames=(ALL, "fad") in shown) if whole else {}
    letters: dict[str, str] = {}
    cells: list[list[Cell]] = []
    for part, name in shown:
        column = []
        for system in lines:
            row = found.get((system, part, name))
            reason = _kind(row.reason) if row and row.value is None else ""
            letter = letters.setdefault(reason, _letter(len(letters))) if reason else ""
            column.append(cell(row, options, letter and f"({letter})"))
        cells.append(column)
    heads = [_head(part, name, not whole, distances.of_sources) for part, name in shown]
    marked = fewer(distances, roles)
    names = [
        one_line(options.names.get(name, name))
        + _role(roles.get(name))
        + (f" {FEWER}" if name in marked else "")
        for name in lines
    ]
    notes = [f"({letter}) {one_line(reason)}" for reason, letter in letters.items()]
    notes += [FEWER_NOTE] if marked.intersection(lines) else []
    notes += _absent(found, sets, [column for column in columns if column not in shown], by_part=not whole)
    table = zip(names, zip(*counts.values(), *cells, strict=True), strict=True)
    metrics = tuple(dict.fromkeys(name for _, name in shown))
    return Sheet(title, metrics, ("Set", *counts, *heads), tuple(table), tuple(notes))


def fewer(distances: Distances, roles: Mapping[str, str] = _NO_ROLES) -> frozenset[str]:
    """The sets, baselines aside, of which fewer clips could be used than of another."""
    used = {c.system: c.used for c in distances.coverage if c.system not in ANCHORS and c.system not in roles}
    return frozenset(name for name, count in used.items() if count < max(used.values()))


def _absent(
    found: Mapping[tuple[str, str, str], Distance],
    sets: Sequence[str],
    columns: Sequence[tuple[str, str]],
    by_part: bool,
) -> list[str]:
    """A note of the columns that no set has a number in, with the reason that the first set has none."""
    told: dict[str, list[str]] = {}
    for part, name in columns:
        reasons = [found[system, part, name].reason for system in sets if (system, part, name) in found]
        if reasons:
            told.setdefault(one_line(_kind(reasons[0])), []).append(_head(part, name, by_part).rstrip(" ↓↑"))
    absent = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in told.items())
    return [f"Without a column, as no set has a number: {absent}."] if absent else []


def _kind(reason: str) -> str:
    """A reason without the counts of one set, which stand in the table."""
    return reason.partition(";")[0]


def cell(row: Distance | None, options: TableOptions = _USUAL, part: str = "") -> Cell:
    """A number as it is shown, with its interval if the options ask for that.

    Args:
        part: What stands beside it.
    """
    if row is None or row.value is None:
        return Cell(tables.NONE, part=part)
    decimals = options.decimals
    if decimals is None:
        largest = max(abs(bound) for bound in (row.value, row.low, row.high) if bound is not None)
        nothing = row.value == 0 and largest < 10**-_MOST_DECIMALS
        digits = 0 if nothing else _DIGITS - 1 - floor(log10(largest))
        decimals = min(max(digits, 0), _MOST_DECIMALS)

    def text(value: float) -> str:
        return tables.number(value, SPECS[row.metric], decimals)

    if options.interval == "none" or row.low is None or row.high is None:
        return Cell(text(row.value), part=part)
    return Cell(text(row.value), text(row.low), text(row.high), part=part)


def _role(role: str | None) -> str:
    return f" ({role})" if role else ""


def _counts(
    distances: Distances,
    found: Mapping[tuple[str, str, str], Distance],
    systems: Sequence[str],
    *,
    frames: bool,
) -> dict[str, list[Cell]]:
    """How many clips a set has, and how many frames if any number rests on them; both of the halves."""
    columns = {"Clips": [Cell(_clips(distances, found, system)) for system in systems]}
    if frames:
        columns["Frames"] = [Cell(_frames(distances, found, system)) for system in systems]
    for name, head in (("kad", "Ref. clips"), *([("fad", "Ref. frames")] if frames else [])):
        rows = {system: found.get((system, ALL, name)) for system in systems if system not in ANCHORS}
        counts = {system: row.reference_n for system, row in rows.items() if row and row.reference_n}
        if len(set(counts.values())) > 1:  # they are not all held against the same
            shown = [f"{counts[system]:,}" if system in counts else tables.NONE for system in systems]
            columns[head] = list(map(Cell, shown))
    return columns


def _clips(distances: Distances, found: Mapping[tuple[str, str, str], Distance], system: str) -> str:
    common = _common(found, ("fd", "kad")) if system == REFERENCE else 0
    for row in distances.coverage:
        if row.system == system:
            if 0 < common < row.used:  # of several references of a prompt one counts
                return f"{common:,}"
            return f"{row.used:,}" if row.used == row.clips else f"{row.used:,}/{row.clips:,}"
    rows = [found.get((system, ALL, name)) for name in ("fd", "kad")] if system == FLOOR else []
    return next((f"{row.n:,} + {row.reference_n:,}" for row in rows if row), tables.NONE)


def _frames(distances: Distances, found: Mapping[tuple[str, str, str], Distance], system: str) -> str:
    if system == REFERENCE:
        return f"{common:,}" if (common := _common(found, ("fad",))) else tables.NONE
    row = found.get((system, ALL, "fad"))
    if row is None or not row.n:
        return tables.NONE
    return f"{row.n:,} + {row.reference_n:,}" if system == FLOOR else f"{row.n:,}"


def _common(found: Mapping[tuple[str, str, str], Distance], metrics: Sequence[str]) -> int:
    """How many embeddings of the reference every set is held against; 0 if sets differ in that."""
    rows = [row for (name, part, metric), row in found.items() if part == ALL and metric in metrics]
    counts = {row.reference_n for row in rows if row.system not in ANCHORS and row.reference_n}
    return min(counts) if len(counts) == 1 else 0


def _systems(distances: Distances, roles: Mapping[str, str]) -> list[str]:
    """The sets in the order given, then baselines, then the anchors that there are."""
    there = dict.fromkeys(row.system for row in distances.rows)
    sets = sorted((name for name in there if name not in ANCHORS), key=lambda name: name in roles)
    return [*sets, *(name for name in ANCHORS if name in there)]


def _head(part: str, name: str, by_part: bool, of_sources: bool = False) -> str:
    if by_part:
        return one_line(part.replace("_", " "))
    if of_sources and SPECS[name].better < 0:  # to have moved less is no merit
        return SPECS[name].title
    return f"{SPECS[name].title} {_ARROWS[SPECS[name].better]}"


def _letter(index: int) -> str:
    """a to z, then aa, ab and so on."""
    rest, last = divmod(index, len(ascii_lowercase))
    return (_letter(rest - 1) if rest else "") + ascii_lowercase[last]


def markdown(
    distances: Distances, options: TableOptions = _USUAL, roles: Mapping[str, str] = _NO_ROLES
) -> str:
    """All tables, coverage and notes as GitHub-flavoured markdown, everything from outside escaped."""
    blocks = [markdown_text(caption(distances))]
    for sheet in (*sheets(distances, options, roles), coverage_sheet(distances)):
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
    roles: Mapping[str, str] = _NO_ROLES,
    *,
    label: str = "tab:distances",
) -> str:
    """Every table as LaTeX for booktabs, everything from outside escaped.

    The caption names the recipe by its key; the note below the table spells it out. Intervals stand below
    their values, so that a table is no wider than a page.
    """
    lines = [r"% needs \usepackage{booktabs}"]
    recipe = distances.recipe
    against = f"{recipe.backbone} against {recipe.reference_clips:,} reference clips, recipe {recipe.key}"
    for index, sheet in enumerate(sheets(distances, options, roles)):
        heads = [latex.latex_text(head.rstrip(" ↓↑")) + _latex_arrow(head) for head in sheet.heads]
        rows = [" & ".join(heads) + r" \\", r"\midrule"]
        anchors = {one_line(options.names.get(name, name)) for name in ANCHORS}
        anchored = False
        for name, cells in sheet.lines:
            if name in anchors and not anchored and len(rows) > 2:
                rows.append(r"\midrule")
            anchored = anchored or name in anchors
            rows += latex.stacked(latex.latex_text(name), cells, options)
        notes = [*sheet.notes, caption(distances, sheet.metrics)]
        lines += [
            "",
            *latex.environment(
                "table*",
                f"{sheet.title}: {against}.",
                label if not index else f"{label}:{sheet.key or sheet.metrics[0]}",
                "l" + "r" * (len(sheet.heads) - 1),
                rows,
                [latex.latex_text(note) for note in notes],
                style=latex.SMALL,
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
    names = [folded(name, _BOTH if sheet.key == PAIRS else _NAME) for name, _ in sheet.lines]
    widths = [
        max(map(len, [head, *(line for cell in column for line in cell)]))
        for head, column in zip(sheet.heads[1:], columns, strict=True)
    ]
    room = width - max(map(len, [sheet.heads[0], *(line for name in names for line in name)])) - 2
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
    return [value, f"[{cell.low}, {cell.high}]"] if cell.low else folded(value, _SAYS)


def coverage_sheet(distances: Distances) -> Sheet:
    """How many clips every set has, how long they are in seconds, and how much of that is digital silence."""

    def seconds(value: float | None) -> Cell:
        return Cell(tables.NONE if value is None else f"{value:.2f}")

    def share(value: float | None) -> Cell:
        return Cell(tables.NONE if value is None else f"{100 * value:.0f} %")

    lines = [
        (
            one_line(row.system),
            (
                *(Cell(f"{n:,}") for n in (row.clips, row.used, row.paired)),
                *map(seconds, (row.shortest_s, row.mean_s, row.longest_s)),
                share(row.digital_silence),
            ),
        )
        for row in distances.coverage
    ]
    heads = ("Set", "Clips", "Used", "Paired", "Shortest (s)", "Mean (s)", "Longest (s)", "Digital silence")
    return Sheet("Clips and durations", (), heads, tuple(lines), ())
