"""A run's distances as a bundle gives them away: under other names, in the order of these."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from earwitness.tasks import run_distances
from earwitness.tasks.distance_pairs import turned
from earwitness.tasks.distances import METRICS, Coverage, Distance, Distances
from earwitness.tasks.rows import Comparison

Place = tuple[int, int, str]
_COUNTS = re.compile(r"of ([\d,]+) and ([\d,]+)")  # of the first and the second set of a pair


def renamed(
    found: Distances,
    aliases: Mapping[str, str],
    place: Callable[[str], Place],
    hidden: Callable[[str], str],
    packed: Callable[[str], str],
) -> Distances:
    """The distances with every system under its alias; anchors keep their names.

    Notes that name a system are left out, and counted: they list the systems in the order of the run.

    Args:
        place: Of a system among the others.
        hidden: A text without what must not be told.
        packed: A text without any name, with clips' files called as they are in the bundle.
    """

    def name(system: str) -> str:
        return aliases.get(system, system)

    def of_row(row: Distance | Coverage) -> Place:
        return place(row.system) if row.system in aliases else (2, 0, "")

    def pair(one: Comparison) -> Comparison:
        return replace(one, first=name(one.first), second=name(one.second), winner=name(one.winner))

    def of_pair(one: Comparison) -> tuple[int, Place, Place]:
        return METRICS.index(one.metric), place(one.first), place(one.second)

    # the order of two sets, too, would tell who is who
    pairs = [_turned(one) if place(one.second) < place(one.first) else one for one in found.comparisons]
    whose = {
        run_distances.reference_note(old): run_distances.reference_note(new) for old, new in aliases.items()
    }
    told = [whose.get(note) or hidden(note) for note in found.notes if note in whose or packed(note) == note]
    if unsaid := len(found.notes) - len(told):
        told.append(f"{unsaid} {'note' if unsaid == 1 else 'notes'} on the sets named systems: left out.")
    left_out = [
        (name(system), packed(Path(file).name), hidden(reason)) for system, file, reason in found.left_out
    ]
    parts = _apart((row.part for row in found.rows), hidden)
    return replace(
        found,
        rows=tuple(
            replace(
                row,
                system=name(row.system),
                part=parts[row.part],
                reason=hidden(row.reason),
                no_interval=hidden(row.no_interval),
            )
            for row in sorted(found.rows, key=of_row)
        ),
        coverage=tuple(replace(row, system=name(row.system)) for row in sorted(found.coverage, key=of_row)),
        left_out=tuple(sorted(left_out)),
        notes=tuple(told),
        comparisons=tuple(map(pair, sorted(pairs, key=of_pair))),
    )


def _turned(pair: Comparison) -> Comparison:
    """The same with the second set first, in its note too."""
    return replace(turned(pair), note=_COUNTS.sub(r"of \2 and \1", pair.note))


def _apart(parts: Iterable[str], hidden: Callable[[str], str]) -> dict[str, str]:
    """What every part is called, numbered where nothing but a name told two of them apart."""
    shown: dict[str, str] = {}
    for part in dict.fromkeys(parts):
        text = hidden(part)
        alike = sum(one == text or one.startswith(f"{text} (") for one in shown.values())
        shown[part] = f"{text} ({alike + 1})" if alike else text
    return shown
