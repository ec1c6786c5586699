"""Which pairs of events to match, of those that may be? One to one, and as many as can be.

Of equally many pairs those that hold most of the better ones are taken, and of these the ones of least
misfit. Nearly all events meet one partner, or several that meet nobody else; only what is left is a matter
for the assignment problem, component by component.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def paired(t: Ints, e: Ints, better: Flags, misfit: Floats) -> Ints:
    """The pairs to take.

    Args:
        t, e: Numbers of the true and the estimated event of each possible pair, shape (pairs,).
        better: Pairs to take before others.
        misfit: Of each pair, >= 0.

    Returns:
        Indices of pairs, rising.
    """
    if not len(t):
        return np.zeros(0, np.int64)
    of_t, of_e = np.bincount(t), np.bincount(e)
    free_t = np.bincount(t, weights=of_e[e] > 1) == 0  # its partners have no other
    free_e = np.bincount(e, weights=of_t[t] > 1) == 0
    order = np.lexsort((e, t, misfit, ~better))
    taken = []
    for ends, free in ((t, free_t), (e, free_e)):
        star = order[free[ends[order]]]
        taken.append(star[np.unique(ends[star], return_index=True)[1]])
    rest = np.flatnonzero(~free_t[t] & ~free_e[e])
    if len(rest):
        taken.append(rest[_assigned(t[rest], e[rest], better[rest], misfit[rest])])
    return np.unique(np.concatenate(taken))


def _assigned(t: Ints, e: Ints, better: Flags, misfit: Floats) -> Ints:
    t, e = (np.unique(each, return_inverse=True)[1] for each in (t, e))
    cut = t.max() + 1
    nodes = cut + e.max() + 1
    graph = coo_array((np.ones(len(t)), (t, e + cut)), shape=(nodes, nodes))
    of_node = connected_components(graph, directed=False)[1]
    component = of_node[t]
    (rows, heights), (cols, widths) = _places(of_node[:cut]), _places(of_node[cut:])
    order = np.argsort(component, kind="stable")
    chosen = []
    for group in np.split(order, np.flatnonzero(np.diff(component[order])) + 1):
        shape = heights[component[group[0]]], widths[component[group[0]]]
        r, c = rows[t[group]], cols[e[group]]
        step = min(shape) + 1  # more than all lesser aims together
        worth = np.zeros(shape)
        index = np.full(shape, -1)
        worth[r, c] = (step + better[group]) * step - misfit[group] / (1 + misfit[group].max())
        index[r, c] = group
        picked = index[linear_sum_assignment(worth, maximize=True)]
        chosen.append(picked[picked >= 0])
    return np.concatenate(chosen)


def _places(component: Ints) -> tuple[Ints, Ints]:
    """Each node's place among those of its component, and how many each component has."""
    sizes = np.bincount(component)
    order = np.argsort(component, kind="stable")
    places = np.empty(len(component), np.int64)
    places[order] = np.arange(len(component)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places, sizes
