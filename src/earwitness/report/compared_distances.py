"""Distances of two runs side by side, if they may stand there."""

from dataclasses import dataclass

from earwitness.errors import UserError
from earwitness.report.distance_tables import cell
from earwitness.report.distance_words import SPECS
from earwitness.tasks.distances import ALL, Distance, Distances, same_recipe


@dataclass(frozen=True, slots=True)
class Pair:
    """A number of each of two runs; both of the same system, part and metric."""

    first: Distance
    second: Distance


def pairs(first: Distances | None, second: Distances | None) -> tuple[tuple[Pair, ...], tuple[str, ...]]:
    """What both runs have, and why there is nothing, if that is to be told."""
    if first is None or second is None:
        if first is second:
            return (), ()
        return (), (f"The {'first' if second is None else 'second'} run alone has distances.",)
    try:
        same_recipe(first, second)
    except UserError as fault:
        _, *differences = fault.message.splitlines()
        told = "; ".join(line.removeprefix("  - ") for line in differences)
        return (), (f"Distances do not stand side by side, for their recipes differ. {told}.",)
    other = {(row.system, row.part, row.metric): row for row in second.rows}
    keyed = [(row, other.get((row.system, row.part, row.metric))) for row in first.rows]
    return tuple(Pair(row, found) for row, found in keyed if found is not None), ()


def table(found: tuple[Pair, ...]) -> list[list[str]]:
    """Distances of whole sets as they are to be shown, heads first."""
    rows = [["System", "Metric", "First", "Second"]]
    for pair in found:
        if pair.first.part == ALL:
            sides = [_shown(pair.first), _shown(pair.second)]
            rows.append([pair.first.system, SPECS[pair.first.metric].title, *sides])
    return rows


def _shown(row: Distance) -> str:
    found = cell(row)
    return f"{found.text} [{found.low}, {found.high}]" if found.low else found.text
