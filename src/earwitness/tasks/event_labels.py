"""Which class of the truth does an estimated label name, exactly or leniently?

Conventions
-----------
The classes are the truth's labels. A label names the class that is spelt the same; if none is, the only one
that differs in capitals, underscores and spaces alone. Where vocabularies differ it is read: a class that is
no AudioSet name ("dog_barking", of a bank or of RiTTA) stands for the AudioSet labels of its phrase, and is
named by each of them and by their kinds (labels.heard_as); words that are no AudioSet name are looked up
first (labels.find). A class that *is* an AudioSet name is named by itself alone. A label that fits several
classes names the narrowest of them, or none. A table of the user's goes first.

Leniently a class may be met by what is above or below it in AudioSet's tree, too (labels.lenient): "Animal"
or "Bark" where "Dog" is true. A label outside AudioSet's tree has nothing above or below it.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from earwitness import labels
from earwitness.errors import InputFaults
from earwitness.manifest.table import listing, near, read_table
from earwitness.scenes import classes as sounds
from earwitness.scenes.ritta import classes as ritta


@lru_cache(maxsize=16384)
def audioset(name: str) -> frozenset[str]:
    """The AudioSet labels that a class, or a label, stands for; empty if none are known."""
    if name in labels.names():
        return frozenset([name])
    if name in sounds.builtin():
        return sounds.builtin()[name].labels
    if name in ritta.CLASSES:
        return ritta.CLASSES[name].labels
    return labels.find(name.replace("_", " "))


def class_of(label: str, classes: Iterable[str], own: Mapping[str, str]) -> str | None:
    """The class that a label names; None if it is outside them.

    Args:
        own: The user's table, label -> class.
    """
    if label in own:
        return own[label] or None
    known = frozenset(classes)
    if label in known:
        return label
    spelt = [name for name in known if _folded(name) == _folded(label)]
    if len(spelt) == 1:
        return spelt[0]
    meant = audioset(label)
    if not meant:
        return None
    named = {name: heard for name in known if (heard := _heard(name)) and _narrowest(meant) <= heard}
    inner = [name for name, heard in named.items() if all(heard <= other for other in named.values())]
    return inner[0] if len(inner) == 1 else None


def alike(classes: Iterable[str], named: Iterable[str]) -> NDArray[np.bool_]:
    """Whether a class (row) is met by a label (column), leniently."""
    wide = [(name, labels.lenient(audioset(name)) if audioset(name) else frozenset()) for name in classes]
    found = [(label, _narrowest(audioset(label))) for label in named]
    return np.array(
        [[label == name or bool(meant and meant <= reach) for label, meant in found] for name, reach in wide],
        dtype=bool,
    ).reshape(len(wide), len(found))


def own_labels(path: Path) -> dict[str, str]:
    """The user's table of labels: label -> class; an empty class leaves the label out.

    Raises:
        UserError, InputFaults: If it is no table with columns label and class, a label is empty, or one has
            two classes.
    """
    table = read_table(path)
    columns = table.choose(("label", "class"), (), {})
    found: dict[str, str] = {}
    for number, row in table.texts(columns, ()):
        label, name = row["label"].strip(), row["class"].strip()
        if not label:
            table.faults.append(f"row {number}: the label is empty")
        elif found.setdefault(label, name) != name:
            table.faults.append(f"row {number}: {label!r} is {name!r} here and {found[label]!r} above")
    table.raise_faults()
    return found


def unused(
    own: Mapping[str, str], what: str, classes: Iterable[str], true: Iterable[str], named: Iterable[str]
) -> str:
    """Hold the user's table against what is there: a note on its rows that no label needs, or empty.

    Args:
        what: What the table is called.
        classes: Of the truth, after the table was applied.
        true, named: Labels of the truth as it was read, and of all systems.

    Raises:
        InputFaults: Listing every label whose class is none of the truth's.
    """
    known, there = sorted(set(classes)), {*true, *named}
    faults = [
        f"{label!r} is to be {name!r}, which is no class of the truth{near(name, known)}"
        for label, name in own.items()
        if label in there and name and name not in known
    ]
    if faults:
        raise InputFaults(
            what, faults, "Classes are the truth's labels; leave the class empty to leave a label out."
        )
    spare = [f"{label}{near(label, sorted(there - own.keys()))}" for label in own if label not in there]
    rows = "1 row" if len(spare) == 1 else f"{len(spare)} rows"
    return f"{what}: {rows} for labels that nobody has: {listing(spare)}." if spare else ""


@lru_cache(maxsize=4096)
def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().replace("_", " ").split())


@lru_cache(maxsize=4096)
def _heard(name: str) -> frozenset[str]:
    """What counts as hearing a class that is no AudioSet name; empty for one that is, or is unknown."""
    if name in labels.names() or not audioset(name):
        return frozenset()
    return labels.heard_as(audioset(name))


def _narrowest(meant: frozenset[str]) -> frozenset[str]:
    return frozenset(labels.most_specific(meant))
