"""The 25 classes of sound of RiTTA in their five main groups (the paper's Table 3).

``classes.tsv`` has one row a class, in the order of the published label numbers. A label of a bank is taken
for a class if it is its name, its published spelling or one of its aliases: what ESC-50, AudioSet, FSD50K,
UrbanSound8K and the built-in bank call that sound. Which AudioSet labels a class has is decided in one place
only, :func:`earwitness.labels.find`; a paper shredder has none. A phrase names a sound, not what makes it, so
that it can stand wherever a prompt names one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from types import MappingProxyType

from earwitness import labels
from earwitness.manifest.table import read_table


@dataclass(frozen=True, slots=True)
class RittaClass:
    """A class of sound.

    Attributes:
        name: Safe in a file name, e.g. ``dog_barking``.
        group: Its main group: ``human``, ``animal``, ``machinery``, ``human_object`` (a person acts on a
            thing) or ``object_object`` (things act on each other).
        phrase: How a prompt names it, without article, e.g. ``dog barking``.
        published: How the published prompts spell the name.
        aliases: What else banks call it.
    """

    name: str
    group: str
    phrase: str
    published: str
    aliases: tuple[str, ...] = ()

    @property
    def labels(self) -> frozenset[str]:
        """The AudioSet labels of the phrase; empty if there are none."""
        return labels.find(self.phrase)


def _read() -> dict[str, RittaClass]:
    with as_file(files(__package__) / "classes.tsv") as path:
        rows = read_table(path).rows
    found = {}
    for _, cells in rows:
        name, group, phrase, published, aliases = map(str, cells.values())
        found[name] = RittaClass(
            name, group, phrase, published, tuple(alias for alias in aliases.split(";") if alias)
        )
    return found


CLASSES: Mapping[str, RittaClass] = MappingProxyType(_read())
"""Every class by name."""

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        group: tuple(one.name for one in CLASSES.values() if one.group == group)
        for group in dict.fromkeys(one.group for one in CLASSES.values())
    }
)
"""Main group -> names of its classes."""


def _key(label: str) -> str:
    """FSD50K writes "Walk_and_footsteps" where AudioSet has "Walk, footsteps"."""
    return re.sub(r"[\s_,-]+(?:and[\s_-]+)?", " ", label).strip().casefold()


_NAMES: Mapping[str, str] = {
    _key(spelling): one.name
    for one in CLASSES.values()
    for spelling in (one.name, one.published, one.phrase, *one.aliases)
}


def named(label: str) -> str | None:
    """The name of the class that a bank's label stands for; None if it is none of the 25.

    Case makes no difference, nor whether words are joined by spaces, underscores, hyphens, commas or "and".
    """
    return _NAMES.get(_key(label))


def computed(label: str) -> str | None:
    """The same for a label of the built-in bank, whose whistle is a person's and no object."""
    return "whistling" if label == "whistle" else named(label)
