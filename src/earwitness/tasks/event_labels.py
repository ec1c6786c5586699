"""Which class of the truth does an estimated label name, exactly or leniently?

Conventions
-----------
The classes are the truth's labels. A label names the class that is spelt the same. Where vocabularies differ
it is read: a class that is no AudioSet name ("dog_barking", of a bank or of RiTTA) stands for the AudioSet
labels of its phrase, and is named by each of them and by their kinds (labels.heard_as); words that are no
AudioSet name are looked up first (labels.find). A class that *is* an AudioSet name is named by itself alone.
A label that fits several classes names the narrowest of them, or none. A table of the user's goes first.

Leniently a class may be met by what is above or below it in AudioSet's tree, too (labels.lenient): "Animal"
or "Bark" where "Dog" is true. A label outside AudioSet's tree has nothing above or below it.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from earwitness import labels
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


@lru_cache(maxsize=4096)
def _heard(name: str) -> frozenset[str]:
    """What counts as hearing a class that is no AudioSet name; empty for one that is, or is unknown."""
    if name in labels.names() or not audioset(name):
        return frozenset()
    return labels.heard_as(audioset(name))


def _narrowest(meant: frozenset[str]) -> frozenset[str]:
    return frozenset(labels.most_specific(meant))
