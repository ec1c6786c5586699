"""What must not leave the house: paths of the machine and, where systems are anonymous, their names.

Conventions
-----------
A system's name is looked for in any case and with any signs between its words (``Stable Audio``,
``stable_audio``); a name of five characters or more, without these signs, also within other words, a
shorter one only as a word of its own, digits and underscores not being part of one. A name of one or two
characters, or one of :data:`ORDINARY`, is an ordinary word: reports and captions are full of it, so it can
neither be taken out of them nor searched for. The names of baselines are no secret.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from earwitness.tasks.edit_sources import BASELINES, IDENTITY
from earwitness.tasks.rows import ItemRow, Measures

NAME, PATH, ADDRESS = "[name]", "[path]", "[address]"
"""What stands where a system's name, a path or the address of a server stood."""

_LONG, _SHORTEST = 5, 3
_PATH = re.compile(r"(?<![\w.:/\\-])(?:/[^\s/'\",;:()]+){2,}/?|\b[A-Za-z]:\\[^\s'\",;]+")
_TEXTS = (".csv", ".css", ".html", ".js", ".json", ".jsonl", ".md", ".svg", ".tex", ".tsv", ".txt")

_ORDINARY = (
    "added all any audio bad base baseline best both bound caption captions case changed clip clips "
    "clusters control default detector difference down early edit edited edits end error errors event "
    "events exchange failed false fast few file files first free full good ground half heard high holm "
    "identity input instruct instruction interval item items joint judge kept kind label labels large last "
    "late left level light listener long low lower main max mean median method metric mix model music name "
    "natural naturalness new noise none normal note notes null old one open order ordered original other "
    "others ours output outside page pair pairs part plain preservation pro prompt public random rate real "
    "reason recipe reference removed reply result results reverse reversed right run same sample samples "
    "second set short silence simple single small sound sounds source speech start strong success swap "
    "system systems table target task test text three tie time timing tiny tone true truth tuned two "
    "unknown unordered unrelated value verdict version whole winner with without wrong yes zero"
)
ORDINARY = frozenset(_ORDINARY.split())
"""Words that stand in reports for other reasons and that systems are called by all the same."""

Change = Callable[[str], str]


def aliases(systems: Iterable[str], secret: bytes) -> dict[str, str]:
    """``System A``, ``System B``, ... by name, in an order that only who has ``secret`` can work out."""
    known = sorted(set(systems))
    order = np.random.default_rng(list(secret)).permutation(len(known))
    return {known[index]: f"System {_letters(place)}" for place, index in enumerate(order)}


def baselines(rows: Sequence[ItemRow], measures: Measures) -> list[str]:
    """The systems whose names are no secret: ``identity``, where it hands back the source files themselves,
    and what comes with it; a user's own system of such a name does not. Ceilings and floors too, whose
    names no system can have, and without which there are no numbers."""
    if measures.ceiling:
        return list(dict.fromkeys(row.system for row in rows if row.system in measures.baselines))
    unchanged = [row.source is not None and row.audio == row.source.audio for row in rows
                 if row.system == IDENTITY]  # fmt: skip
    there = {row.system for row in rows}
    return [name for name in BASELINES if name in there] if unchanged and all(unchanged) else []


def _letters(number: int) -> str:
    """A, B, ..., Z, AA, AB, ..."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def without_paths(folders: Iterable[Path]) -> Change:
    """Takes out these folders and files, and home and working folder, wherever a text names them."""
    known = {str(folder) for folder in (*folders, Path.home(), Path.cwd()) if len(folder.parts) > 1}
    longest_first = sorted(known, key=len, reverse=True)
    pattern = re.compile("|".join(re.escape(path) + r"(?:/[^\s'\",;:()]*)?" for path in longest_first))
    return lambda text: pattern.sub(PATH, text)


def without_any_path(text: str) -> str:
    """Takes out whatever looks like an absolute path; for texts that are ours, not the user's captions."""
    return _PATH.sub(PATH, text)


def without_addresses(text: str) -> str:
    """Takes out addresses of servers."""
    return re.sub(r"https?://[^\s'\",;)]+", ADDRESS, text)


def without_names(names: Iterable[str]) -> Change:
    """Takes out the names of systems wherever a text has them."""
    patterns = [_pattern(name) for name in sorted(names, key=lambda name: (-len(name), name))]

    def change(text: str) -> str:
        for pattern in patterns:
            text = pattern.sub(NAME, text)
        return text

    return change


def ordinary(names: Iterable[str]) -> list[str]:
    """The names that are ordinary words."""
    return [name for name in names if len(name) < _SHORTEST or name.casefold() in ORDINARY]


def _pattern(name: str) -> re.Pattern[str]:
    words = [word for word in re.split(r"[\W_]+", name) if word] or [name]
    joined = r"[\W_]*".join(map(re.escape, words))
    within = sum(map(len, words)) >= _LONG
    return re.compile(joined if within else rf"(?<![^\W\d_]){joined}(?![^\W\d_])", re.IGNORECASE)


def through(value: Any, change: Change) -> Any:
    """The same data with every text changed, keys of mappings left as they are."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: through(inner, change) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(through(inner, change) for inner in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {one.name: through(getattr(value, one.name), change) for one in fields(value)}
        return replace(value, **changed)
    return value


def found(folder: Path, names: Sequence[str]) -> list[str]:
    """Where these names are still to be found in a folder, in words.

    Lines that are earwitness's own are passed over. Sound and pictures are searched for long names alone:
    a short one is in any large enough file by chance.
    """
    sought = {name: _pattern(name) for name in names}
    return [
        f"{path.relative_to(folder).as_posix()} holds {name!r}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for name, pattern in sought.items()
        if _holds(path, path.relative_to(folder).as_posix(), name, pattern)
    ]


def naming(folder: Path, paths: Iterable[str]) -> list[str]:
    """The files in a folder that hold one of these paths of the machine."""
    sought = [path.encode(errors="surrogateescape") for path in paths]
    files_of = (path for path in sorted(folder.rglob("*")) if path.suffix in _TEXTS)
    return [
        path.relative_to(folder).as_posix()
        for path in files_of
        if (data := path.read_bytes()) and any(one in data for one in sought)
    ]


def _holds(path: Path, where: str, name: str, pattern: re.Pattern[str]) -> bool:
    if pattern.search(where):
        return True
    if path.suffix in _TEXTS:
        escaped = {json.dumps(name)[1:-1], quote(name), html.escape(name)} - {name}
        with path.open(encoding="utf-8", errors="replace") as lines:
            return any(
                pattern.search(line) or any(form in line for form in escaped)
                for line in lines
                if line.strip() not in _own_lines()
            )
    data = path.read_bytes()
    return len(name) >= _LONG and any(form.encode() in data for form in {name, name.lower(), name.upper()})


@cache
def _own_lines() -> frozenset[str]:
    """Every line of the pages' templates and scripts."""
    return frozenset(
        line.strip()
        for one in (files("earwitness.report") / "templates").iterdir()
        for line in one.read_text(encoding="utf-8").splitlines()
    )
