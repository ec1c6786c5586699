"""Which of two sets is nearer, as a table.

Conventions
-----------
A line for every pair of sets and metric, in the order of the metrics: the difference of the first less the
second with its interval, the p value corrected over the pairs of that metric, and what that says. A set is
nearer (with IS and CLAP: higher) only where the interval leaves zero out and the corrected p is below 0.05.
"""

from earwitness.report import tables
from earwitness.report.cells import one_line
from earwitness.report.distance_words import SPECS
from earwitness.report.tables import Cell, TableOptions
from earwitness.tasks.distances import BETTER
from earwitness.tasks.rows import Comparison

FILE = "distance_pairs.csv"
"""Holds every pair in full."""
NEITHER = "not told apart"
TITLE = "Which set is nearer?"
HEADS = ("First, second", "Metric", "Clips", "Difference", "p (Holm)", "Says")
HOW = (
    "Differences are the first less the second, over the clips of one name that both have where they share "
    "any; in FAD, FD and IS the bias of few clips is taken off, so that they are not quite those of the "
    "numbers above. p is corrected over the pairs of a metric. Nearer is not better."
)


def line(pair: Comparison, shown: Cell, letter: str, options: TableOptions) -> tuple[str, tuple[Cell, ...]]:
    """Both names and the cells.

    Args:
        shown: The difference.
        letter: Of the note below the table, if there is one.
    """
    first, second = (one_line(options.names.get(one, one)) for one in (pair.first, pair.second))
    p = tables.NONE if pair.p_holm is None else tables.p_text(pair.p_holm).removeprefix("p ")
    cells = (
        Cell(SPECS[pair.metric].title),
        Cell(f"{pair.items:,}" if pair.items else "all"),
        shown,
        Cell(p.removeprefix("= ")),
        Cell(_says(pair, options), part=letter),
    )
    return f"{first}, {second}", cells


def _says(pair: Comparison, options: TableOptions) -> str:
    if pair.difference is None:
        return tables.NONE
    if not pair.winner:
        return NEITHER
    name = one_line(options.names.get(pair.winner, pair.winner))
    return f"{name} {'nearer' if BETTER[pair.metric] < 0 else 'higher'}"
