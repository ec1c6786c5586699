"""What an edit is to bring in and take away, read from the columns, the instruction or the captions.

The reading is timid: an instruction of another form than those below gives no targets, with the reason,
rather than a guess. "Add X", "Drop X", "Remove X", "Delete X", "Replace X with Y" (also "by", "to"), each
with or without a colon; X and Y may join sounds with "and" or commas. A text with a second sentence, a
second verb of editing, or words that place one sound against another ("while", "after", "over") names
sounds that are no targets, and is not read.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from earwitness import captions, labels
from earwitness.manifest import Item

_VERBS = "add|drop|remove|delete|replace"
_INSTRUCTION = re.compile(rf"(?:please )?({_VERBS})\b ?:? (.+?)[.!]?", re.IGNORECASE)
_ANOTHER = re.compile(rf"\b(?:{_VERBS}|keep|not|no|but|except|instead)\b|[.;!?]", re.IGNORECASE)
_PLACED = re.compile(
    r"\b(?:while|as|when|after|before|then|followed|until|during|over|under|behind|between|with)\b",
    re.IGNORECASE,
)
_REPLACED = re.compile(r" (?:with|by|to) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Targets:
    """Phrases of what an edit brings in and takes away, or why they cannot be told."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    why: str = ""


def of_item(item: Item) -> Targets:
    """An item's targets: the columns where given, else the instruction, else the captions' difference."""
    return _read(item.added, item.removed, item.instruction, item.source_caption, item.caption)


@lru_cache(maxsize=16384)
def _read(added: str, removed: str, instruction: str, source_caption: str, target_caption: str) -> Targets:
    if added.strip() or removed.strip():
        return Targets(_listed(added), _listed(removed))
    told = of_instruction(instruction) if instruction.strip() else Targets(why="there is no instruction")
    if not told.why or not (source_caption.strip() and target_caption.strip()):
        return told
    compared = of_captions(source_caption, target_caption)
    return Targets(why=f"{told.why}; {compared.why}") if compared.why else compared


def of_instruction(text: str) -> Targets:
    """What an instruction tells to bring in and take away."""
    found = _INSTRUCTION.fullmatch(" ".join(text.split()))
    if not found:
        return Targets(why=f"the instruction {text.strip()!r} is not of a form that is read")
    verb, rest = found[1].casefold(), found[2]
    if _ANOTHER.search(rest):
        return Targets(why=f"the instruction {text.strip()!r} asks for more than one thing")
    if verb != "replace":
        phrases = _sounds(rest)
        if not phrases:
            return Targets(
                why=f"the instruction {text.strip()!r} names no sound, or sounds that only tell where"
            )
        return Targets(added=phrases) if verb == "add" else Targets(removed=phrases)
    sides = _REPLACED.split(rest)
    if len(sides) != 2:
        return Targets(why=f"the instruction {text.strip()!r} does not say plainly what replaces what")
    old, new = _sounds(sides[0]), _sounds(sides[1])
    if not old or not new:
        return Targets(why=f"the instruction {text.strip()!r} does not name the sounds to exchange")
    return Targets(new, old)


def of_captions(source: str, target: str) -> Targets:
    """What the target caption names beyond the source caption, and the other way round."""
    before, after = _phrases(source), _phrases(target)
    added = tuple(phrase for phrase in after if not any(_same(phrase, other) for other in before))
    removed = tuple(phrase for phrase in before if not any(_same(phrase, other) for other in after))
    if not added and not removed:
        return Targets(why="the captions name the same sounds")
    return Targets(added, removed)


def _listed(cell: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in cell.split(";") if phrase.strip())


def _sounds(text: str) -> tuple[str, ...]:
    """The sounds that a part of an instruction joins; none if it orders or places them."""
    parsed = captions.parse(text)
    if _PLACED.search(text) or len(parsed.groups) != 1 or len(parsed.groups[0]) != len(parsed.phrases):
        return ()
    return tuple(phrase.text for phrase in parsed.phrases)


def _phrases(caption: str) -> tuple[str, ...]:
    return tuple(phrase.text for phrase in captions.parse(caption).phrases)


def _same(phrase: str, other: str) -> bool:
    """Two phrases for one sound: they ask for the same labels, or are the same words if for none."""
    mine, theirs = labels.find(phrase), labels.find(other)
    return mine == theirs if mine or theirs else phrase.casefold() == other.casefold()
