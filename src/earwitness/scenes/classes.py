"""Classes of sound: the name used in ids and folders, the words used in captions, and which pairs of
them nobody should be asked to tell apart.

``classes.tsv`` holds the built-in list and ``confusable.tsv`` the pairs left out, each with its acoustic
reason. Which AudioSet labels a class has is decided in one place only, :func:`earwitness.labels.find`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from itertools import combinations
from pathlib import Path

from earwitness import labels
from earwitness.errors import UserError
from earwitness.manifest.table import near, read_table
from earwitness.scenes.ritta import classes as ritta


@dataclass(frozen=True, slots=True)
class SoundClass:
    """A kind of sound.

    Attributes:
        name: Short and safe in a file name, e.g. ``dog_bark``.
        phrase: How a caption names it, with its article, e.g. ``a dog barking``.
        confusable: Names of further classes it cannot be told from (the user's own table).
    """

    name: str
    phrase: str
    confusable: frozenset[str] = frozenset()

    @property
    def labels(self) -> frozenset[str]:
        """The AudioSet labels of the phrase; empty if there are none."""
        return labels.find(self.phrase)


@cache
def builtin() -> dict[str, SoundClass]:
    """The built-in classes by name, in the order of ``classes.tsv``."""
    with as_file(files(__package__) / "classes.tsv") as path:
        return {found.name: found for found in _read(path, {})}


def load_classes(path: Path) -> list[SoundClass]:
    """Read a user's list of classes (.tsv, .csv or .jsonl).

    Column ``class``: the name; other characters than letters, digits, ``-`` and ``_`` become ``_``.
    Optional ``phrase``: how captions name it; a built-in class needs none. Optional ``confusable``: names
    of classes it cannot be told from, separated by semicolons.

    Raises:
        InputFaults: Listing every row without a name or phrase, names given twice, unknown names in
            ``confusable``.
        UserError: If the file cannot be read.
    """
    return _read(path, builtin())


def _read(path: Path, known: dict[str, SoundClass]) -> list[SoundClass]:
    table = read_table(path)
    columns = table.choose(("class",), ("phrase", "confusable"), {})
    found: dict[str, SoundClass] = {}
    rows: list[tuple[int, SoundClass]] = []
    for row, cells in table.texts(columns, ("class",)):
        name = safe(cells["class"])
        phrase = " ".join(cells.get("phrase", "").split())
        if not phrase and name in known:
            phrase = known[name].phrase
        unlike = frozenset(map(safe, cells.get("confusable", "").split(";"))) - {""}
        if not name:
            table.faults.append(f"row {row}: 'class' must not be empty")
        elif name in found:
            table.faults.append(f"row {row}: the class {name!r} is there twice")
        elif not phrase:
            table.faults.append(f"row {row}: {name!r} is not built in and needs a phrase{near(name, known)}")
        else:
            found[name] = SoundClass(name, phrase, unlike)
            rows.append((row, found[name]))
    every = found.keys() | known.keys()
    for row, sound in rows:
        for other in sorted(sound.confusable - every):
            table.faults.append(f"row {row}: {other!r} in 'confusable' is no class{near(other, every)}")
    table.raise_faults()
    return list(found.values())


def safe(name: str) -> str:
    """The name as ids and folders have it."""
    return re.sub(r"[^\w-]+", "_", name.strip()).strip("_").lower()


@cache
def confusable_pairs() -> dict[frozenset[str], str]:
    """The stated table: pair of names, built-in or RiTTA's -> why they cannot be told apart."""
    with as_file(files(__package__) / "confusable.tsv") as path:
        table = read_table(path)
    pairs = {}
    for row, cells in table.rows:
        a, b, why = (str(cells[column]) for column in ("a", "b", "why"))
        if not {a, b} <= builtin().keys() | ritta.CLASSES.keys():
            raise UserError(f"{path}, row {row}: {a!r} or {b!r} is no class of classes.tsv.")
        pairs[frozenset((a, b))] = why
    return pairs


def confusable(a: SoundClass, b: SoundClass) -> str:
    """Why two classes cannot be told apart; empty if they can.

    Stated in ``confusable.tsv`` or the user's own table, or their AudioSet labels meet, so that hearing
    one may be hearing the other.
    """
    if stated := confusable_pairs().get(frozenset((a.name, b.name))):
        return stated
    if a.name in b.confusable or b.name in a.confusable:
        return "stated in your own table of classes"
    shared = labels.heard_as(a.labels) & labels.heard_as(b.labels)
    return f"both may be heard as {', '.join(sorted(shared))}" if shared else ""


def admissible_pairs(classes: Iterable[SoundClass]) -> Sequence[tuple[SoundClass, SoundClass]]:
    """Every pair of classes that can be told apart, each in alphabetical order of the names."""
    by_name = sorted(classes, key=lambda sound: sound.name)
    return [(a, b) for a, b in combinations(by_name, 2) if not confusable(a, b)]
