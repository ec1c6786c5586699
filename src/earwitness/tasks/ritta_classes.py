"""Which class of RiTTA does a listener's label name, and which classes does the listener know?

Conventions
-----------
A detector's label that is one of AudioSet's names the class whose AudioSet labels hold it (their kinds too,
see labels.heard_as); any other label names a class by the class's own name or an alias. A judge chooses its
words freely; they name a class by its name or an alias, or else as scores.named reads them, if they name only
one. Words for a thing that sounds in many ways do not name the class: "paper" is no shredder and "ship" no
horn, though a detector that says "Ship" has no word for the horn. What names no class is no event: RiTTA
counts its 25 classes alone. A judge's words that name none are told, see :mod:`.ritta_unread`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from earwitness import labels
from earwitness.captions.words import WORD, stem
from earwitness.events import Event
from earwitness.scenes.ritta.classes import CLASSES, RittaClass, named
from earwitness.scores.named import names
from earwitness.tasks.task import Hearer


@cache
def audioset(name: str) -> frozenset[str]:
    """The AudioSet labels that count as hearing the class; empty if AudioSet has none for it."""
    return labels.heard_as(CLASSES[name].labels)


@cache
def _by_label() -> dict[str, str]:
    return {label: name for name in CLASSES for label in audioset(name)}


@lru_cache(maxsize=16384)
def of_detector(label: str) -> str | None:
    """The class that a detector's label names; None if it is none of the 25."""
    return _by_label().get(label) if label in labels.names() else named(label)


@lru_cache(maxsize=16384)
def of_judge(label: str) -> str | None:
    """The class that a judge's words name; None if it is none of the 25, or could be several."""
    if (exact := named(label)) is not None:
        return exact
    found = [name for name, one in CLASSES.items() if _says(label, one)]
    return found[0] if len(found) == 1 else None


_THINGS = (frozenset(("Ship",)),)
"""What a detector says for a sound, but words name only a thing by."""


def _says(label: str, one: RittaClass) -> bool:
    """Whether words name the sound of a class, and not just a thing that takes part in it."""
    if one.labels:
        return labels.find(label) not in _THINGS and names(label, one.phrase)
    thing = one.name.replace("_", " ")
    return _stems(thing) <= _stems(label) and names(label, thing)


def _stems(text: str) -> set[str]:
    return {stem(word.lower()) for word in WORD.findall(text)}


@lru_cache(maxsize=64)
def claimed(known_labels: frozenset[str]) -> frozenset[str]:
    """The classes that a listener with such labels claims to know; all if it names no labels."""
    if not known_labels:
        return frozenset(CLASSES)
    return frozenset(name for label in known_labels if (name := of_detector(label)) is not None)


def unmapped(asked: Iterable[str], hearer: Hearer) -> str:
    """Why a listener cannot be asked about these classes, or empty."""
    known = claimed(hearer.known_labels)
    for name in asked:
        if name in known:
            continue
        phrase, sets = CLASSES[name].phrase, sorted(audioset(name))
        if not sets:
            return f"no label is known for {phrase!r}"
        if not hearer.unclaimed:
            return f"{phrase!r} ({', '.join(sets)}) is outside the labels the listener claims to know"
    return ""


@dataclass(frozen=True, slots=True)
class Classed:
    """What was heard, as events of classes, and the classes that were heard under more than one label."""

    events: tuple[Event, ...]
    mixed: frozenset[str] = frozenset()


def classed(events: Iterable[Event], asked: Iterable[str], hearer: Hearer) -> Classed:
    """What a listener heard, read as RiTTA's classes.

    Only those count that the listener claims to know and those that are asked for: what it says of others
    was never measured, and must not tell against a clip. All count if the hearer is ``unclaimed``.
    """
    counting = frozenset(CLASSES) if hearer.unclaimed else claimed(hearer.known_labels).union(asked)
    of_label = of_detector if hearer.detector else of_judge
    found: list[Event] = []
    labels_of: dict[str, set[str]] = {}
    for event in events:
        name = of_label(event.label)
        if name is not None and name in counting:
            found.append(Event(name, event.onset_s, event.offset_s, event.confidence))
            labels_of.setdefault(name, set()).add(event.label)
    return Classed(tuple(found), frozenset(name for name, its in labels_of.items() if len(its) > 1))
