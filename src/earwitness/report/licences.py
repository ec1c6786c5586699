"""What data sets of scenes say of the licences of their clips, for whoever gives these clips away.

Conventions
-----------
A data set is a folder with a ``metadata.csv`` and a ``licences.csv`` (scenes.dataset), whose clips lie in it
or in a folder within. Its ``licences.csv`` is passed on as it is, and counted by scenes.card.licence_class.
"""

import csv
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from earwitness.scenes.bank import Source
from earwitness.scenes.card import licence_class

NAME = "licences.csv"


@dataclass(frozen=True, slots=True)
class Copied:
    """What was put into a folder.

    Attributes:
        files: Names of the files.
        warning: What they say, in a sentence; empty without files.
    """

    files: tuple[str, ...] = ()
    warning: str = ""


def datasets(clips: Iterable[Path]) -> list[Path]:
    """The data sets in which some of these clips lie."""
    folders = {folder for clip in clips for folder in list(clip.parents)[:2]}
    return [one for one in sorted(folders) if (one / NAME).is_file() and (one / "metadata.csv").is_file()]


def copy(folders: Sequence[Path], out: Path) -> Copied:
    """Copy what data sets say of licences into a folder, and count it by kind."""
    if not folders:
        return Copied()
    names = []
    kinds: Counter[str] = Counter()
    for number, folder in enumerate(folders, 1):
        names.append(NAME if number == 1 else f"{Path(NAME).stem}-{number}.csv")
        shutil.copyfile(folder / NAME, out / names[-1])
        with (folder / NAME).open(encoding="utf-8", newline="") as file:
            kinds.update(licence_class(_source(row)) for row in csv.DictReader(file))
    listed = ", ".join(f"{count} x {kind}" for kind, count in kinds.most_common())
    return Copied(
        tuple(names),
        "Clips of a data set are in here, each of which falls under the licences of all recordings that it "
        f"is mixed from. {' and '.join(names)} names these recordings with licence and author: {listed}.",
    )


def _source(row: dict[str, str]) -> Source:
    name = row.get("name") or ""
    return Source(
        label=row.get("label") or "",
        recording_id=row.get("recording_id") or "",
        licence=row.get("licence") or "",
        author=row.get("author") or "",
        path=None if name.startswith("builtin/") else Path(name),
        name=name,
    )
