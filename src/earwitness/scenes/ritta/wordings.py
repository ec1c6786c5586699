"""How a prompt says a relation: wordings with slots for the roles, each with its stated reading.

Conventions
-----------
``wordings.tsv`` holds the built-in ones; a user's file has the same columns. A slot names a role, never a
place in the text, so what a wording asks for does not depend on how it is put:

- ``{first}`` and ``{second}`` are the sounds of ``before`` and ``after`` in the order of time. An ``after``
  wording names the later sound first or says "after"; without either it would be a ``before`` wording.
- ``{one}`` and ``{other}``: the sounds of ``together``, ``and`` and ``or``, in no order.
- ``{n}`` and ``{sounds}``: how many sounds ``count`` asks for, as a word or a digit, and their list.
- ``{sound}``, ``{first_m}`` and ``{second_m}``: the sound of ``closefirst`` and ``farfirst``, and its
  distances in the order of time, with their unit; ``{sound}`` and ``{first_m}`` for ``equaldist``.
- ``{sound}``: what ``not`` excludes.
- ``{condition}``, ``{then}`` and ``{otherwise}`` of ``if_then_else``.

The reading of each is one of :data:`READINGS`; only ``or`` has two. Whether a text says what its slots and
its reading state is checked by :mod:`.saying`, as far as words show it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from string import Formatter
from types import MappingProxyType

from earwitness.manifest.table import near, read_table
from earwitness.scenes.ritta import saying
from earwitness.scenes.ritta.classes import CLASSES
from earwitness.scenes.ritta.saying import EXCLUSIVE, INCLUSIVE
from earwitness.scores.relations import RELATIONS, Expected

SLOTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "count": ("n", "sounds"),
        "before": ("first", "second"),
        "after": ("first", "second"),
        "together": ("one", "other"),
        "closefirst": ("sound", "first_m", "second_m"),
        "farfirst": ("sound", "first_m", "second_m"),
        "equaldist": ("sound", "first_m"),
        "and": ("one", "other"),
        "or": ("one", "other"),
        "not": ("sound",),
        "if_then_else": ("condition", "then", "otherwise"),
    }
)
"""Relation -> the slots that each of its wordings must have."""

READINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "count": ("one_of_each",),
        "before": ("in_order",),
        "after": ("in_order",),
        "together": ("at_once",),
        "closefirst": ("near_then_far",),
        "farfirst": ("far_then_near",),
        "equaldist": ("same_distance",),
        "and": ("both",),
        "or": (EXCLUSIVE, INCLUSIVE),
        "not": ("absent",),
        "if_then_else": ("either_branch",),
    }
)
"""Relation -> how its wordings may be meant.

``exclusive``: one sound and not the other; ``inclusive``: one of them or both. ``either_branch``: the
condition and what follows from it without the alternative, or the alternative alone.
"""

NUMBERS = ("zero", "one", "two", "three", "four", "five")


@dataclass(frozen=True, slots=True)
class Wording:
    """One way to say a relation; ``text`` has the relation's :data:`SLOTS` in braces."""

    relation: str
    reading: str
    text: str

    def said(self, expected: Expected, *, digits: bool = False) -> str:
        """The prompt that asks for ``expected``, its first letter a capital.

        Args:
            expected: Of this wording's relation.
            digits: Write the number of ``count`` as a digit.
        """
        text = self.text.format_map(roles(expected, digits=digits))
        return text[0].upper() + text[1:]


def roles(expected: Expected, *, digits: bool = False) -> dict[str, str]:
    """What stands in each slot of a wording that asks for ``expected``: phrases, number, distances."""
    alternatives = expected.alternatives
    said = [CLASSES[name].phrase for name in alternatives[0].present]
    match expected.relation:
        case "count":
            number = str(len(said)) if digits else NUMBERS[len(said)]
            return {"n": number, "sounds": listed(said)}
        case "not":
            return {"sound": CLASSES[alternatives[0].absent[0]].phrase}
        case "or" | "if_then_else":
            said.append(CLASSES[alternatives[1].present[0]].phrase)
    slots = SLOTS[expected.relation]
    if expected.distances_m is not None:
        return {"sound": said[0]} | dict(zip(slots[1:], map(metres, expected.distances_m), strict=False))
    return dict(zip(slots, said, strict=True))


def listed(phrases: Sequence[str]) -> str:
    """``a, b and c``."""
    *others, last = phrases
    return f"{', '.join(others)} and {last}" if others else last


def metres(distance_m: float) -> str:
    """``1 metre``, ``5 metres``, ``2.5 metres``."""
    return f"{distance_m:g} metre{'' if distance_m == 1 else 's'}"


@cache
def builtin() -> tuple[Wording, ...]:
    """The built-in wordings, at least seven a relation."""
    with as_file(files(__package__) / "wordings.tsv") as path:
        return _read(path, ())


def load(path: Path) -> tuple[Wording, ...]:
    """Read a user's wordings (.tsv, .csv or .jsonl), to be used beside the built-in ones.

    Columns ``relation``, ``text`` and ``reading``; the reading may be empty where a relation has only one.

    Raises:
        InputFaults: Listing every row with an unknown relation or reading, a slot that is missing or
            unknown, a text that is there already, or words that contradict the slots or the reading, as far
            as :mod:`.saying` can tell; what it does not check is stated there.
        UserError: If the file cannot be read.
    """
    return _read(path, builtin())


def _read(path: Path, known: Sequence[Wording]) -> tuple[Wording, ...]:
    table = read_table(path)
    columns = table.choose(("relation", "text"), ("reading",), {})
    found: list[Wording] = []
    seen = {_same(wording): "is built in" for wording in known}
    for row, cells in table.texts(columns, ("relation", "text")):
        relation = cells["relation"].strip()
        if relation not in RELATIONS:
            table.faults.append(f"row {row}: no relation {relation!r}{near(relation, RELATIONS)}")
            continue
        readings = READINGS[relation]
        reading = cells.get("reading", "").strip() or (readings[0] if len(readings) == 1 else "")
        wording = Wording(relation, reading, " ".join(cells["text"].split()))
        faults = list(_faults(wording))
        if reading not in readings:
            faults.append(f"{relation!r} is read as {' or '.join(readings)}, not {reading!r}")
        if earlier := seen.get(_same(wording)):
            faults.append(f"this wording of {relation!r} {earlier}")
        seen.setdefault(_same(wording), f"is in row {row} already")
        table.faults.extend(f"row {row}: {fault}" for fault in faults)
        found.append(wording)
    table.raise_faults(
        "Slots by relation: " + "; ".join(f"{name} {_braced(slots)}" for name, slots in SLOTS.items()) + "."
    )
    return tuple(found)


def _same(wording: Wording) -> tuple[str, str]:
    return wording.relation, wording.text.casefold()


def _braced(slots: Sequence[str]) -> str:
    return " ".join(f"{{{slot}}}" for slot in slots)


def _faults(wording: Wording) -> Iterator[str]:
    """What is wrong with the text for its relation."""
    try:
        parts = list(Formatter().parse(wording.text))
    except ValueError as fault:
        yield f"braces must stand in pairs around a slot: {fault}"
        return
    needed = SLOTS[wording.relation]
    used = [slot for _, slot, _, _ in parts if slot is not None]
    for slot in dict.fromkeys(used):
        if slot not in needed:
            yield f"{wording.relation!r} has no slot {{{slot}}}{near(slot, needed)}"
    if missing := [slot for slot in needed if slot not in used]:
        yield f"the text has no {_braced(missing)}"
    if any(form or conversion for _, _, form, conversion in parts):
        yield "a slot is a name in braces and nothing else"
    elif set(used) == set(needed):
        yield from saying.faults(wording.relation, wording.reading, wording.text)
