"""The summary as tables for a terminal. Only the command line prints them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from earwitness.report.cells import one_line
from earwitness.report.tables import (
    LOW_COVERAGE_NOTE,
    key_spec,
    low_coverage,
    number,
    ranked,
    sentence,
    spec_of,
)
from earwitness.tasks.rows import Metric, MetricSpec, Summary, SystemRow

if TYPE_CHECKING:
    from rich.table import Table

MOST_COMPARISONS = 15
"""More pairs than this are cut down to those of the leading system."""


def tables(summary: Summary) -> list["Table"]:
    """Systems by the key metric, their kinds of error, and what the paired comparisons say.

    The second and third are left out when there is nothing to say.
    """
    found = [_systems(summary)]
    if any(count for row in summary.rows for count in row.errors.values()):
        found.append(_errors(summary))
    if summary.comparisons:
        found.append(_comparisons(summary))
    return found


def _systems(summary: Summary) -> "Table":
    key = key_spec(summary)
    rows = ranked(summary)
    bounded = any(row.unheard and row.metrics[key.name].worst is not None for row in rows)
    heads = ["System", f"{key.title} [interval]", *(["worst, best"] if bounded else [])]
    heads += ["scored/n", "n.a.", "unheard", "coverage"]
    cells = []
    for row in rows:
        metric = row.metrics[key.name]
        bounds = [f"{number(metric.worst, key)}, {number(metric.best, key)}"] if bounded else []
        counts = [f"{row.scored}/{row.n}", str(row.not_applicable), str(row.unheard), _coverage(row)]
        cells.append([row.system, _with_interval(metric, key), *bounds, *counts])
    caption = ["Worst, best: if every unheard item were wrong, or right."] if bounded else []
    caption += [f"† {LOW_COVERAGE_NOTE}"] if any(map(low_coverage, rows)) else []
    return _table(f"{summary.task}: {summary.listener}", heads, cells, " ".join(caption))


def _with_interval(metric: Metric, spec: MetricSpec) -> str:
    if metric.low is None or metric.high is None:
        return number(metric.value, spec)
    return f"{number(metric.value, spec)} [{number(metric.low, spec)}, {number(metric.high, spec)}]"


def _coverage(row: SystemRow) -> str:
    share = "--" if row.coverage is None else f"{row.coverage:.1%}"
    return f"{share}†" if low_coverage(row) else share


def _errors(summary: Summary) -> "Table":
    kinds = list(dict.fromkeys(kind for row in summary.rows for kind in row.errors))
    cells = [
        [row.system, *(str(row.errors.get(kind, 0)) for kind in kinds), str(row.scored)]
        for row in ranked(summary)
    ]
    return _table("Kinds of error", ["System", *kinds, "of scored"], cells)


def _comparisons(summary: Summary) -> "Table":
    shown = tuple(c for c in summary.comparisons if c.difference is not None)
    captions = []
    if len(shown) > MOST_COMPARISONS:
        leader = ranked(summary)[0].system
        rest = len(shown)
        shown = tuple(c for c in shown if leader in (c.first, c.second))
        more = rest - len(shown)
        captions.append(f"Those with {leader}, the first above; {more} more are in summary.json.")
    apart = sum(c.difference is None for c in summary.comparisons)
    if apart:
        captions.append(f"{apart} pairs share too few scored clusters to be compared.")
    caption = " ".join(captions)
    return _table(
        "Paired comparisons", [""], [[sentence(c, spec_of(summary, c.metric))] for c in shown], caption
    )


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> "Table":
    """Every cell as plain text: nothing from outside is read as markup or as a terminal sequence."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    def plain(text: str) -> Text:
        return Text(one_line(text))

    table = Table(
        title=plain(title),
        caption=plain(caption) if caption else None,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        show_header=any(heads),
    )
    for index, head in enumerate(heads):  # in 80 columns names fold, and pairs of numbers break at the comma
        justify: Literal["left", "right"] = "right" if index else "left"
        table.add_column(plain(head), justify=justify, overflow="fold", no_wrap=index > 0 and "," not in head)
    for row in rows:
        table.add_row(*map(plain, row))
    return table
