"""The summary as tables for a terminal. Only the command line prints them."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from earwitness.report import distance_tables, relation_tables, unscored
from earwitness.report.cells import one_line
from earwitness.report.comparison_words import sentence
from earwitness.report.tables import (
    LOW_COVERAGE_NOTE,
    NONE,
    PART_NOTE,
    TableOptions,
    comparisons,
    key_spec,
    low_coverage,
    number,
    part,
    ranked,
    role,
    roles,
    shown_name,
    signs,
)
from earwitness.report.terminal_table import Lines, folded, table
from earwitness.tasks.rows import Comparison, MetricSpec, Summary, SystemRow

if TYPE_CHECKING:
    from rich.table import Table

MOST_COMPARISONS = 15
"""More pairs of a metric than this are cut down to those of the leading system."""
MOST_OPEN = 3
"""More pairs without a winner than this are only counted."""
_ABREAST = 4  # metrics with intervals that stand beside each other in 80 columns
_WITH_INTERVALS, _WITHOUT = 2, 4  # systems that stand beside the ceilings and floors in 80 columns
_KINDS_WIDTH = 46  # columns of 80 for kinds of error
_NAME = 10  # columns of 80 that names of sets have at least
_NARROW = 5  # columns that a system then has at least
_COUNT = 7  # columns that a range of counts has at most, before it takes two lines

Names = Mapping[str, str]


def tables(summary: Summary, names: Names | None = None) -> list["Table"]:
    """Systems by the key metric, by the task's other usual metrics, their verdicts and kinds of error, and
    what the paired comparisons say.

    All but the first are left out when there is nothing to say. If no system has a number, that comes first,
    and of the rest only what was counted.

    Args:
        names: Display name by system; a system without one keeps its own.
    """
    names = names or {}
    if told := unscored.first(summary):
        why = table(unscored.NOTHING, [""], [[note] for note in told])
        return [why, _systems(summary, names), *_distances(summary, names)]
    found = [_systems(summary, names), *_measures(summary, names), *_relations(summary, names)]
    found += _distances(summary, names)
    if shares := _verdict_shares(summary):
        found.append(_verdicts(summary, shares, names))
    if any(count for row in summary.rows for count in row.errors.values()):
        found += _errors(summary, names)
    groups = comparisons(summary)
    if groups:
        found.append(_compared(summary, *groups[0], names))
    if groups[1:]:
        found.append(_compared_briefly(groups[1:], names))
    return found


def _systems(summary: Summary, names: Names) -> "Table":
    key = key_spec(summary)
    rows = ranked(summary)
    parts = any(part(row, row.metrics[name]) for row in rows for name in _shown_metrics(summary))
    bounded = any(row.unheard and row.metrics[key.name].worst is not None for row in rows)
    heads = ["System", f"{_head(key)} [interval]", *(["worst, best"] if bounded else [])]
    heads += ["scored/n", "n.a.", "unheard", "coverage"]
    cells = []
    for row in rows:
        metric = row.metrics[key.name]
        bounds = [f"{number(metric.worst, key)}, {number(metric.best, key)}"] if bounded else []
        counts = [f"{row.scored}/{row.n}", str(row.not_applicable), str(row.unheard), _coverage(row)]
        name = shown_name(summary, row, names) + signs(summary, row)
        cells.append([name, " ".join(_value(row, key)), *bounds, *counts])
    caption = ["Worst, best: if every unheard item were wrong, or right."] if bounded else []
    caption += [f"† {LOW_COVERAGE_NOTE}"] if any(map(low_coverage, rows)) else []
    caption += [f"{mark.sign} {mark.meaning}" for mark in summary.marks]
    caption += [PART_NOTE] if parts else []
    return table(f"{summary.task}: {summary.listener}", heads, cells, " ".join(caption))


def _measures(summary: Summary, names: Names) -> list["Table"]:
    """The task's usual metrics beside the key metric, a few abreast, intervals below their values."""
    columns = summary.measures.columns
    apart = {summary.key_metric, *(spec.name for spec in _verdict_shares(summary))}
    specs = [spec for spec in summary.specs if spec.name in columns and spec.name not in apart]
    specs.sort(key=lambda spec: columns.index(spec.name))
    rows = ranked(summary)
    found = []
    lines = -(-len(specs) // _ABREAST)
    for line in range(lines):
        abreast = specs[line * len(specs) // lines : (line + 1) * len(specs) // lines]
        cells = [[shown_name(summary, row, names), *(_value(row, spec) for spec in abreast)] for row in rows]
        widths = [
            max((len(line) for row in cells for line in row[i]), default=0)
            for i in range(1, len(abreast) + 1)
        ]
        heads = [
            textwrap.wrap(_head(spec), max(width, 8)) for spec, width in zip(abreast, widths, strict=True)
        ]
        found.append(table("", ["System", *heads], cells))
    return found


def _head(spec: MetricSpec) -> str:
    return f"{spec.title} (%)" if spec.percent else spec.title


def _shown_metrics(summary: Summary) -> list[str]:
    return [
        spec.name for spec in summary.specs if spec.name in (summary.key_metric, *summary.measures.columns)
    ]


def _verdict_shares(summary: Summary) -> list[MetricSpec]:
    """Those of the usual metrics that are shares of verdicts."""
    shares = [f"verdict_{verdict}" for verdict in summary.measures.verdicts]
    return [spec for spec in summary.specs if spec.name in shares and spec.name in summary.measures.columns]


def _verdicts(summary: Summary, shares: Sequence[MetricSpec], names: Names) -> "Table":
    """The shares of verdicts alone: with intervals they would not stand abreast."""
    cells = [
        [
            shown_name(summary, row, names),
            *(number(row.metrics[spec.name].value, spec) for spec in shares),
            str(row.scored),
        ]
        for row in ranked(summary)
    ]
    heads = ["System", *(spec.title for spec in shares), "of scored"]
    return table("Shares of verdicts", heads, cells, "Their intervals are in summary.json.")


def _value(row: SystemRow, spec: MetricSpec) -> list[str]:
    """The value, then its interval if it has one, then on how many items it rests if not on all scored."""
    metric = row.metrics[spec.name]
    lines = [number(metric.value, spec)]
    if metric.low is not None and metric.high is not None:
        lines.append(f"[{number(metric.low, spec)}, {number(metric.high, spec)}]")
    return [*lines, *filter(None, [part(row, metric)])]


def _coverage(row: SystemRow) -> str:
    share = "--" if row.coverage is None else f"{row.coverage:.1%}"
    return f"{share}†" if low_coverage(row) else share


def _relations(summary: Summary, names: Names) -> list["Table"]:
    """The usual metrics by stratum, ceilings and floors beside a few systems at a time.

    Intervals are shown of the key metric of up to four systems; of the others, four systems at most.
    """
    if not summary.measures.strata:
        return []
    found = []
    for sheet in relation_tables.sheets(summary, TableOptions(names=names)):
        key = sheet.spec.name == summary.key_metric
        systems = [index for index, row in enumerate(sheet.systems) if not row.baseline]
        bounds = [index for index, row in enumerate(sheet.systems) if row.baseline]
        intervals = key and len(systems) <= _WITHOUT
        abreast = _WITH_INTERVALS if intervals else _WITHOUT
        more = "" if intervals else f"Intervals: tables/{summary.task}_relations.md."
        if not key and len(systems) > _WITHOUT:
            more += " So are the other systems."
            systems = systems[:_WITHOUT]
        for start in range(0, max(1, len(systems)), abreast):
            shown = systems[start : start + abreast]
            found.append(_relation(summary, sheet, (*shown, *bounds), names, intervals, more))
    return found


def _relation(
    summary: Summary,
    sheet: relation_tables.Sheet,
    columns: Sequence[int],
    names: Names,
    intervals: bool,
    caption: str,
) -> "Table":
    heads: list[Lines] = ["", "n"]
    for index in columns:
        row = sheet.systems[index]
        name, what = one_line(names.get(row.system, row.system)), role(summary.measures, row)
        width = 11 if intervals else _NARROW
        name += signs(summary, row)
        heads.append([name, what] if what else textwrap.wrap(name, width) or [""])
    lines: list[list[Lines]] = []
    for line in sheet.lines:
        n = line.n if len(line.n) <= _COUNT else [f"{line.least}-", str(line.most)]
        shown: list[Lines] = [f" {line.part.title}" if line.part.within else line.part.title, n]
        for index in columns:
            cell = line.cells[index]
            bounded = intervals and cell.low and not sheet.systems[index].baseline
            shown.append([cell.text, f"{cell.low}-{cell.high}"] if bounded else cell.text)
        lines.append(shown)
    return table(["", f"{_head(sheet.spec)} by relation"], heads, lines, caption, dense=True)


def _distances(summary: Summary, names: Names) -> list["Table"]:
    """All metrics of the whole sets, which of two is nearer, and the first metric by part."""
    if summary.distances is None:
        return []
    options = TableOptions(names=names, interval="none")
    whole, *rest = distance_tables.sheets(summary.distances, options, roles(summary))
    by_part = [sheet for sheet in rest if sheet.key != distance_tables.PAIRS]
    caption = (
        f"Embeddings: {summary.distances.recipe.backbone}. The recipe, without which a distance means "
        f"nothing, intervals, and why there is no number ({NONE}): tables/{summary.task}_distances.md."
    )
    found = []
    for sheet in (whole, *by_part[:1]):
        title = "Distances to the reference" if sheet is whole else sheet.title
        heads = [textwrap.wrap(head, _NARROW, break_long_words=False) for head in sheet.heads]
        columns = zip(*(line for _, line in sheet.lines), strict=True)
        widths = [
            max(map(len, [*head, *(cell.text for cell in column)]))
            for head, column in zip(heads[1:], columns, strict=True)
        ]
        room = max(_NAME, 78 - sum(width + 2 for width in widths))
        cells = [[folded(name, room), *(cell.text for cell in line)] for name, line in sheet.lines]
        marks = [note for note in sheet.notes if note == distance_tables.FEWER_NOTE]
        found.append(table(title, heads, cells, " ".join([caption, *marks]) if sheet is whole else ""))
    pairs = [distance_tables.told_apart(sheet) for sheet in rest if sheet.key == distance_tables.PAIRS]
    for sheet in pairs:
        *first, last = distance_tables.pieces(sheet, 78)
        found[1:1] = [*(table(*piece) for piece in first), table(*last, " ".join(sheet.notes))]
    return found


def _errors(summary: Summary, names: Names) -> list["Table"]:
    """The kinds that occur, as many abreast as leave room for the systems."""
    kinds = [k for k in summary.measures.kinds if any(row.errors.get(k, 0) for row in summary.rows)]
    lines = -(-sum(len(kind) + 2 for kind in kinds) // _KINDS_WIDTH)
    found = []
    for line in range(lines):
        abreast = kinds[line * len(kinds) // lines : (line + 1) * len(kinds) // lines]
        cells = [
            [
                shown_name(summary, row, names),
                *(str(row.errors.get(kind, 0)) for kind in abreast),
                str(row.scored),
            ]
            for row in ranked(summary)
        ]
        found.append(table("" if line else "Kinds of error", ["System", *abreast, "of scored"], cells))
    return found


def _compared(summary: Summary, spec: MetricSpec, pairs: Sequence[Comparison], names: Names) -> "Table":
    """A sentence for every pair told apart; the others too if they are few."""
    shown = [pair for pair in pairs if pair.difference is not None]
    apart = len(pairs) - len(shown)
    captions = []
    if len(shown) > MOST_COMPARISONS:
        leader = ranked(summary)[0].system
        rest = len(shown)
        shown = [pair for pair in shown if leader in (pair.first, pair.second)]
        more = rest - len(shown)
        captions.append(
            f"Those with {names.get(leader, leader)}, the first above; {more} more are in summary.json."
        )
    won = [pair for pair in shown if pair.winner]
    unclear = [pair for pair in shown if not pair.winner]
    lines = [sentence(pair, spec, names) for pair in (won + unclear if len(unclear) <= MOST_OPEN else won)]
    if len(unclear) > MOST_OPEN:
        lines.append(f"No winner in {'the other ' if won else ''}{_pairs(len(unclear))} (summary.json).")
    if apart:
        captions.append(f"{_pairs(apart)} with too few shared items or clusters to be compared.")
    title = f"Paired comparisons: {spec.title}"
    return table(title, [""], [[line] for line in lines], " ".join(captions))


def _compared_briefly(groups: Sequence[tuple[MetricSpec, list[Comparison]]], names: Names) -> "Table":
    """A few words on each metric: who is ahead of whom."""
    cells = []
    for spec, pairs in groups:
        behind: dict[str, list[str]] = {}
        for pair in pairs:
            if pair.winner:
                other = pair.first if pair.winner == pair.second else pair.second
                behind.setdefault(pair.winner, []).append(names.get(other, other))
        said = [f"{names.get(first, first)} ahead of {', '.join(rest)}" for first, rest in behind.items()]
        apart = sum(pair.difference is None for pair in pairs)
        unclear = sum(not pair.winner for pair in pairs) - apart
        said += [f"no winner in {_pairs(unclear)}"] * (unclear > 0)
        said += [f"{_pairs(apart)} not comparable"] * (apart > 0)
        cells.append([f"{spec.title}: {'; '.join(said)}."])
    return table("Other comparisons", [""], cells, "Their differences and intervals are in summary.json.")


def _pairs(number: int) -> str:
    return f"{number} {'pair' if number == 1 else 'pairs'}"
