"""Which true events were taken for another? Substitutions, counted as published error rates count them.

Conventions
-----------
sed_eval 0.2.1 (event-based, ``optimal`` matching) matches events of equal label first, and then goes through
the true events left over, in order: each takes the first estimated event left over that fits in time and is
free, whatever its label. So the count is a greedy one, and depends on the order of events and on which of
several equally good matchings is left: that of Hopcroft and Karp, begun with the first true event that is
free for each estimated one. Both are kept here, choice by choice, or error rates would not be comparable.

Events are taken in order of onset, then offset, so that the order of rows in a file does not matter (in
sed_eval it does). Events of equal times fit the same ones, so no count depends on the order of labels.

Source: Hopcroft, Karp, An n^5/2 algorithm for maximum matchings in bipartite graphs, SIAM J. Comput. 2 (1973)
225.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Graph = Mapping[int, Sequence[int]]
"""Estimated event -> the true ones of its label that it fits, in order."""
Pairs = dict[int, int]
"""True event -> its estimated one."""


def substituted(true: Ints, estimated: Ints, alike: Flags) -> tuple[Pairs, Pairs]:
    """The hits and the substitutions, as sed_eval pairs them.

    Args:
        true, estimated: Places of two events that fit in time, shape (pairs,): their numbers when all events
            of a side lie in order, file after file.
        alike: Whether the two have one label.
    """
    order = np.lexsort((estimated, true))
    rows = list(zip(true[order].tolist(), estimated[order].tolist(), alike[order].tolist(), strict=True))
    graph: dict[int, list[int]] = {}
    for at, other, same in rows:
        if same:
            graph.setdefault(other, []).append(at)
    partner = _matching(graph)
    taken = set(partner.values())
    confused: Pairs = {}
    for at, other, _ in rows:
        if at not in partner and at not in confused and other not in taken:
            confused[at] = other
            taken.add(other)
    return partner, confused


def _matching(graph: Graph) -> Pairs:
    """As many pairs as can be.

    Files, and events that fit nothing in common, do not touch each other's choices, so that all can be
    matched in one go.
    """
    partner: Pairs = {}
    for other, fitting in graph.items():
        free = next((at for at in fitting if at not in partner), None)
        if free is not None:
            partner[free] = other
    while True:
        before, entry, ends = _layers(graph, partner)
        if not ends:
            return partner
        for end in ends:
            _augment(end, before, entry, partner)


def _layers(
    graph: Graph, partner: Mapping[int, int]
) -> tuple[dict[int, list[int]], dict[int, int | None], list[int]]:
    """The shortest alternating paths from free estimated events to free true ones.

    Returns:
        True event -> the estimated ones a step before it; estimated event -> the true one a step before it,
        None if it is free; the free true events that are reached first.
    """
    taken = set(partner.values())
    layer = [other for other in graph if other not in taken]
    entry: dict[int, int | None] = dict.fromkeys(layer)
    before: dict[int, list[int]] = {}
    ends: list[int] = []
    while layer and not ends:
        reached: dict[int, list[int]] = {}
        for other in layer:
            for at in graph[other]:
                if at not in before:
                    reached.setdefault(at, []).append(other)
        before |= reached
        ends = [at for at in reached if at not in partner]
        layer = [partner[at] for at in reached if at in partner]
        entry |= {partner[at]: at for at in reached if at in partner}
    return before, entry, ends


def _augment(end: int, before: dict[int, list[int]], entry: dict[int, int | None], partner: Pairs) -> None:
    """Walk back from a free true event to a free estimated one, if there is still a way, and swap the pairs.

    Every event is walked through once a phase: it is taken out of ``before`` or ``entry``.
    """
    way: list[tuple[int, Iterator[int]]] = [(end, iter(before.pop(end)))]
    chosen: list[int] = []
    while way:
        other = next((other for other in way[-1][1] if other in entry), None)
        if other is None:
            way.pop()
            if chosen:
                chosen.pop()
            continue
        chosen.append(other)
        at = entry.pop(other)
        if at is None:
            partner.update(zip((each for each, _ in way), chosen, strict=True))
            return
        way.append((at, iter(before.pop(at, ()))))
