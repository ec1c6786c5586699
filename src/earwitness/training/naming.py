"""Which classes a detector is trained on, and what it says when it hears one.

Conventions
-----------
It says an AudioSet name where there is one, so that every task knows it. The labels of a class are those that
:func:`earwitness.labels.find` gives for its phrase: RiTTA's for its classes, that of the built-in classes for
theirs, else its name in words. Of these the most specific is said; of several the one above them all if it is
one of the class's ("Dog" for barks and yips), else the one spelt most like the phrase. A class that is
called by an AudioSet name says that one. One without a label, or whose label another class says already or
could be taken for, says its own name.
"""

import difflib
from collections.abc import Mapping, Sequence

from earwitness import labels
from earwitness.errors import InputFaults
from earwitness.manifest.table import near
from earwitness.scenes import classes as builtin
from earwitness.scenes.bank import Bank
from earwitness.scenes.ritta.classes import CLASSES, computed, named


def phrase(name: str) -> str:
    """How a caption names a class."""
    if name in CLASSES:
        return CLASSES[name].phrase
    if name in builtin.builtin():
        return builtin.builtin()[name].phrase
    return name.replace("_", " ")


def audioset(name: str) -> frozenset[str]:
    """The AudioSet labels that count as hearing a class; empty if it has none."""
    own = frozenset([name]) if name in labels.names() else labels.find(phrase(name))
    return labels.heard_as(own)


def said(classes: Sequence[str]) -> Mapping[str, str]:
    """What is said of each class; no two say the same."""
    found = {name: name for name in classes}
    own = found.keys() & labels.names()
    taken = set(own).union(*map(audioset, own))
    for name in classes:
        if name not in own:
            label = _label(name)
            if label is not None and label not in taken:
                found[name] = label
            taken |= audioset(name) | {found[name]}
    return found


def _label(name: str) -> str | None:
    given = labels.find(phrase(name))
    specific = sorted(labels.most_specific(given))
    if len(specific) <= 1:
        return specific[0] if specific else None
    above = [one for one in sorted(given) if labels.descendants(one) >= set(specific) - {one}]
    if above:
        return above[0]

    def alike(label: str) -> float:
        return difflib.SequenceMatcher(None, phrase(name).lower(), label.lower()).ratio()

    return max(specific, key=alike)


ALL, RITTA = "all", "ritta"


def chosen(bank: Bank, classes: str) -> tuple[Bank, tuple[str, ...]]:
    """The sources of a bank by class, and what of the classes it lacks.

    Args:
        classes: ``ritta``: those of the 25 classes that the bank has, whatever it calls them; ``all``: every
            label of the bank; or labels of the bank, or RiTTA's classes, separated by commas.

    Raises:
        InputFaults: Naming every class asked for that the bank lacks, with the nearest.
    """
    own = {label: label for label in bank.sources}
    ritta = {label: name for label in bank.sources if (name := _ritta(label, bank)) is not None}
    if classes == ALL:
        return bank, ()
    if classes == RITTA:
        missing = tuple(name for name in CLASSES if name not in ritta.values())
        return bank.relabelled(ritta), missing
    wanted = tuple(dict.fromkeys(name.strip() for name in classes.split(",") if name.strip()))
    known = own.keys() | set(ritta.values())
    if faults := [f"it has no {name!r}{near(name, known)}" for name in wanted if name not in known]:
        raise InputFaults("The bank", faults, f"It has: {', '.join(own)}.")
    mapped = {label: name for label, name in {**own, **ritta}.items() if name in wanted}
    return bank.relabelled({**{name: name for name in wanted if name in own}, **mapped}), ()


def _ritta(label: str, bank: Bank) -> str | None:
    return computed(label) if all(one.path is None for one in bank.of(label)) else named(label)
