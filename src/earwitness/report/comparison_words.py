"""What a paired comparison of two systems says, in a sentence."""

from collections.abc import Mapping

from earwitness.report.cells import one_line
from earwitness.report.tables import number, p_text
from earwitness.tasks.rows import Comparison, MetricSpec
from earwitness.tasks.summary import ALPHA


def sentence(
    comparison: Comparison,
    spec: MetricSpec,
    names: Mapping[str, str] | None = None,
    *,
    clips: bool = False,
) -> str:
    """What a paired comparison says: who is ahead by how much, or that no winner can be named.

    Args:
        clips: Items are clips, each a cluster of its own; those in which nothing can be compared are none.
    """
    names = names or {}
    first, second = (one_line(names.get(one, one)) for one in (comparison.first, comparison.second))
    if comparison.difference is None or comparison.low is None or comparison.high is None:
        return f"{first} and {second} cannot be compared: {comparison.note or 'they share too few items'}."
    difference, low, high = comparison.difference, comparison.low, comparison.high
    if comparison.winner and comparison.winner == comparison.second:
        first, second = second, first
    if comparison.winner and difference < 0:
        difference, low, high = -difference, -high, -low
    shown = f"{number(difference, spec)} [{number(low, spec)}, {number(high, spec)}]"
    tests = [] if comparison.p_holm is None else [f"{p_text(comparison.p_holm)} (Holm)"]
    shared = f"{comparison.items} shared items in {comparison.clusters} clusters"
    if clips:
        shared = f"{comparison.items} shared {'clip' if comparison.items == 1 else 'clips'}"
        if comparison.clusters < comparison.items:
            shared += f", {comparison.clusters} of them with events"
    tail = ", ".join([shown, *tests, shared])
    note = f" ({comparison.note})" if comparison.note else ""
    if comparison.winner:
        return f"{first} is ahead of {second} by {tail}{note}."
    return f"No winner between {first} and {second}: difference {tail}{note}{_too_few(comparison, clips)}."


def _too_few(comparison: Comparison, clips: bool) -> str:
    """Why an interval that leaves zero out names no winner, if it is that there are too few clusters.

    Of the 2^k ways to swap k clusters, two show a difference as large as any: as they are, and all swapped.
    """
    apart = (comparison.low or 0) > 0 or (comparison.high or 0) < 0
    least = 2.0 ** (1 - comparison.clusters)
    each = "clips" if clips else "clusters"
    if not apart or least < ALPHA:
        return ""
    return (
        f"; the interval leaves zero out, but with {comparison.clusters} {each} the test cannot give a p "
        f"below {least:.3g}, however large the difference"
    )
