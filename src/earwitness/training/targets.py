"""What a detector should say of every cell of a clip.

Conventions
-----------
Cell k covers ``k CELL_S`` to ``(k + 1) CELL_S``; a class is there if its events cover at least half of the
cell together. A backbone's features are asked for every :data:`HOP_S`, so each cell has a row at its centre
and one at its beginning, and rows see beyond their cell.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from earwitness.events import EventTable

CELL_S = 0.5
HOP_S = 0.25
CENTRES = slice(1, None, 2)
"""The rows at the centres of the cells, of all rows from 0 s on."""

_STEPS = 50  # a cell is looked at so finely: 10 ms


def cells(events: EventTable, classes: Sequence[str]) -> NDArray[np.bool_]:
    """(cells, classes): which class is there in which cell.

    Raises:
        ValueError: If the clip is no whole number of cells, or an event is of no class.
    """
    count = round(events.duration_s / CELL_S)
    if abs(count * CELL_S - events.duration_s) > 1e-9:
        raise ValueError(f"{events.duration_s:g} s are no whole number of cells of {CELL_S:g} s")
    there = np.zeros((count * _STEPS, len(classes)), dtype=np.bool_)
    for one in events.events:
        if one.label not in classes:
            raise ValueError(f"{one.label!r} is none of the classes")
        first, last = (round(at / CELL_S * _STEPS) for at in (one.onset_s, one.offset_s))
        there[first:last, classes.index(one.label)] = True
    found: NDArray[np.bool_] = there.reshape(count, _STEPS, -1).mean(axis=1) >= 0.5
    return found
