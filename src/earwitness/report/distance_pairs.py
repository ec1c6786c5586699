"""Which of two sets is nearer, as a table.

Conventions
-----------
A line for every pair of sets and metric, in the order of the metrics: the difference of the first less the
second with its interval, the p value corrected over the pairs of that metric, and what that says. A set is
nearer (with CLAP: higher) only where the interval leaves zero out and the corrected p is below 0.05.
Where the reference are the sources of edits a smaller distance means little change, and is so called.
"""

from dataclasses import dataclass

from earwitness.report import tables
from earwitness.report.cells import one_line
from earwitness.report.distance_words import SPECS
from earwitness.report.tables import Cell, TableOptions
from earwitness.tasks.distances import BETTER, Distances
from earwitness.tasks.rows import Comparison

FILE = "distance_pairs.csv"
"""Holds every pair in full."""
NEITHER = "not told apart"
HEADS = ("Sets", "Metric", "Clips", "Difference", "p (Holm)", "Says")
HOW = (
    "Over the clips of one name that both have where they share any; FAD and FD without the bias of few "
    "clips, so not quite the difference of the numbers above; IS is not compared."
)


@dataclass(frozen=True, slots=True)
class Words:
    """What a smaller distance is called, where it means one thing or the other."""

    title: str
    smaller: str
    how: str


NEARER = Words("Which set is nearer?", "nearer", f"{HOW} Nearer is not better.")
MOVED = Words(
    "Which set moved less from the sources?",
    "moved less",
    f"{HOW} To have moved less is no merit: an edit that does what it should has to move.",
)


def words(distances: Distances) -> Words:
    """Those that suit the reference."""
    return MOVED if distances.of_sources else NEARER


def line(
    pair: Comparison, shown: Cell, letter: str, options: TableOptions, said: Words = NEARER
) -> tuple[str, tuple[Cell, ...]]:
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
        Cell(_says(pair, options, said), part=letter),
    )
    return f"{first} less {second}", cells


def _says(pair: Comparison, options: TableOptions, said: Words) -> str:
    if pair.difference is None:
        return tables.NONE
    if not pair.winner:
        return NEITHER
    name = one_line(options.names.get(pair.winner, pair.winner))
    return f"{name} {said.smaller if BETTER[pair.metric] < 0 else 'higher'}"
