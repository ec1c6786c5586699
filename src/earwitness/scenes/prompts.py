"""Prompt sets for the order task, and which of them a listener can judge.

Conventions
-----------
A prompt states the order of two sounds in words. Its reversal uses the same wording with the sounds
exchanged, and is itself the other prompt of the pair; both share a ``pair_id``. "Forward" is the
alphabetical order of the class names and means nothing else. Everything about a pair depends on the
seed and its two names alone, so a longer list of classes or a larger sample adds prompts and changes
none: a sample of N pairs is the first N of every larger one.
"""

import csv
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from types import MappingProxyType

from earwitness import captions
from earwitness.errors import UserError
from earwitness.manifest.table import MAP, read_table
from earwitness.questions.events import unmapped
from earwitness.scenes.classes import SoundClass, admissible_pairs, builtin, load_classes

WORDINGS = (
    "{a} followed by {b}",
    "{a}, and then {b}",
    "first {a}, then {b}",
    "{a} before {b}",
    "{b} right after {a}",
    "{b}, preceded by {a}",
    "{a}, and after that {b}",
    "the sound of {a}, followed by the sound of {b}",
    "{a}, which is followed by {b}",
)
"""How a caption says that ``a`` comes first. Two of them name the later sound first."""

_NO_RENAME: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Prompt:
    """One row of a prompt file, its fields in the order of the columns.

    Attributes:
        prompt_id: Safe as a file's stem, e.g. ``dog_bark-then-siren``.
        pair_id: Shared by the two directions of a pair.
        direction: ``forward`` or ``reverse``.
        first, second: The two sounds as :func:`earwitness.captions.parse` reads them from the caption.
    """

    prompt_id: str
    pair_id: str
    direction: str
    first: str
    second: str
    caption: str
    reversed_caption: str


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a listener can judge a prompt; ``reason`` says why not and is empty if it can."""

    prompt_id: str
    caption: str
    reason: str


def order_prompts(
    *,
    classes: Path | Sequence[SoundClass] | None = None,
    seed: int = 0,
    pairs: int | None = None,
    known: frozenset[str] | None = None,
) -> list[Prompt]:
    """Both directions of every pair of classes that can be told apart.

    Args:
        classes: The classes, or the user's file of them (see :func:`.classes.load_classes`); the built-in
            list by default.
        seed: Decides the wording of each pair and the order of the pairs.
        pairs: Sample this many pairs; all by default. A smaller sample is the start of a larger one.
        known: Labels a listener claims to know: leave out classes that ask for none of them.

    Raises:
        UserError: If there are no two classes to tell apart, fewer pairs than asked for, or a phrase
            whose captions would not be read back as the two sounds in their order.
        InputFaults: If the user's file has faults.
    """
    if isinstance(classes, Path):
        given: Sequence[SoundClass] = load_classes(classes)
    else:
        given = tuple(builtin().values()) if classes is None else classes
    if known is not None:
        given = [sound for sound in given if not known.isdisjoint(sound.labels)]
    possible = admissible_pairs(given)
    if not possible:
        raise UserError(
            f"No two of the {len(given)} classes can be told apart.",
            "List at least two; a built-in class needs only its name: " + ", ".join(builtin()) + ".",
        )
    if pairs is not None and not 1 <= pairs <= len(possible):
        raise UserError(f"pairs must be 1 to {len(possible)}, the number of pairs, not {pairs}.")
    drawn = sorted((_draw(seed, a, b), a, b) for a, b in possible)[:pairs]
    return [prompt for draw, a, b in drawn for prompt in _both(a, b, WORDINGS[draw[1] % len(WORDINGS)])]


def _draw(seed: int, a: SoundClass, b: SoundClass) -> tuple[int, int]:
    """Two numbers that depend on nothing but the seed and the names: place in the list, wording."""
    digest = hashlib.sha256(f"{seed}/{a.name}/{b.name}".encode()).digest()
    return int.from_bytes(digest[:8]), int.from_bytes(digest[8:16])


def _both(a: SoundClass, b: SoundClass, wording: str) -> tuple[Prompt, Prompt]:
    pair_id = f"{a.name}-{b.name}"
    forward, reverse = _caption(wording, a, b), _caption(wording, b, a)
    names = ((a, b, "forward", forward, reverse), (b, a, "reverse", reverse, forward))
    one, other = (
        Prompt(f"{x.name}-then-{y.name}", pair_id, way, bare(x.phrase), bare(y.phrase), caption, reversal)
        for x, y, way, caption, reversal in names
    )
    return one, other


def _caption(wording: str, first: SoundClass, second: SoundClass) -> str:
    text = wording.format(a=first.phrase, b=second.phrase)
    caption = text[0].upper() + text[1:]
    parsed = captions.parse(caption)
    read, meant = [p.text for p in parsed.phrases], [bare(first.phrase), bare(second.phrase)]
    if read != meant or parsed.precedences != ((0, 1),):
        raise UserError(
            f"The caption {caption!r} would not be read as {meant[0]!r} before {meant[1]!r} but as "
            + (" before ".join(map(repr, read)) if not parsed.reason else parsed.reason)
            + ".",
            f"Reword the phrase of {first.name!r} or {second.name!r}: one sound, no word of order or time.",
        )
    return caption


def bare(phrase: str) -> str:
    """The phrase without its article, as it is read from a caption."""
    return re.sub(r"^(?:an?|the|some) ", "", phrase)


def write_csv(path: Path, prompts: Sequence[Prompt]) -> None:
    """Write prompts as UTF-8 CSV with a header; the same prompts give the same bytes."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(field.name for field in fields(Prompt))
        out.writerows(map(astuple, prompts))


def read_csv(path: Path, *, rename: Mapping[str, str] = _NO_RENAME) -> list[dict[str, str]]:
    """Read any file of prompts: ``caption``, optional ``prompt_id``, ``first``, ``second``.

    A row without ``prompt_id`` is named by its number.

    Raises:
        InputFaults: Listing every fault of the table.
        UserError: If the file cannot be read.
    """
    table = read_table(path)
    columns = table.choose(("caption",), ("prompt_id", "first", "second"), rename, option=MAP)
    rows = [
        {**cells, "prompt_id": cells.get("prompt_id") or f"row {row}"}
        for row, cells in table.texts(columns, ("caption",))
    ]
    table.raise_faults()
    return rows


def check_prompts(rows: Sequence[Mapping[str, str]], listener_known: frozenset[str]) -> list[Check]:
    """Whether each prompt can be judged: it states an order, and its sounds are known and distinct.

    The rules are those by which the order task leaves items unscored (design: the order task, exactly).

    Args:
        rows: With ``caption``, ``prompt_id`` and optional ``first`` and ``second`` (see :func:`read_csv`).
        listener_known: The labels a detector claims to know. Empty for a listener that reads the caption
            itself and needs no labels: then only the stated order is checked.
    """
    return [Check(row["prompt_id"], row["caption"], _fault(row, listener_known)) for row in rows]


def _fault(row: Mapping[str, str], known: frozenset[str]) -> str:
    first, second = row.get("first", ""), row.get("second", "")
    parsed = captions.parse(row["caption"])
    if first and second:
        phrases = [first, second]
    elif parsed.reason:
        return parsed.reason
    else:
        phrases = [phrase.text for phrase in parsed.phrases]
    return unmapped(phrases, known) if known else ""
