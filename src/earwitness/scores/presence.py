"""Is what was asked there, and was what is there asked for?

Conventions
-----------
Recall is over phrases: the share of asked phrases of which any event is heard. Precision is over
heard events: the share whose label names an asked phrase, exactly, as a descendant or as an
ancestor ("Animal" beside "Dog" is the same sound, not an extra one). Only labels that the listener
claims to know are held against a clip. Both lie in [0, 1]; a ratio over nothing is None.
"""

from collections.abc import Sequence, Set

from earwitness.events import Event


def event_recall(phrases: Sequence[Set[str]], events: Sequence[Event]) -> float | None:
    """Share of phrases heard; None without phrases."""
    if not phrases:
        return None
    heard = {e.label for e in events}
    return sum(not heard.isdisjoint(labels) for labels in phrases) / len(phrases)


def event_precision(
    implied: Sequence[Set[str]], known_labels: Set[str], events: Sequence[Event]
) -> float | None:
    """Share of heard events that a phrase implies; None if nothing countable is heard.

    Args:
        implied: For every phrase its labels with descendants and ancestors.
        known_labels: Labels the listener claims to know; empty means every label counts.
        events: What was heard.
    """
    wanted: set[str] = set().union(*implied)
    counted = [e for e in events if e.label in wanted or not known_labels or e.label in known_labels]
    if not counted:
        return None
    return sum(e.label in wanted for e in counted) / len(counted)
