"""Reading an item of the order task: the order its caption states, decided before anything is heard."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from earwitness import captions, labels
from earwitness.manifest import Item

ANY_TIME = -1
"""Place of a sound that the caption names outside its order, such as music in the background."""


@dataclass(frozen=True, slots=True)
class Stated:
    """The order an item states: its phrases, their precedences, the reversal; or why there is none.

    ``places`` numbers the phrases along the stated sequence; those of one place come in any order.
    """

    caption: str
    reversed_caption: str
    phrases: tuple[str, ...]
    places: tuple[int, ...]
    precedences: tuple[tuple[int, int], ...]
    not_applicable: str
    cluster: str


@lru_cache(maxsize=16384)
def stated(caption: str, reversed_caption: str, first: str, second: str, pair_id: str) -> Stated:
    """Read an order from ``first`` and ``second`` or else from the caption."""
    parsed = captions.parse(caption)
    if first and second:
        said = _of_columns(parsed, caption, first, second)
    else:
        said = _of_caption(parsed, caption)
    fault, reversal = said.not_applicable, reversed_caption
    if not fault and not reversal:
        try:
            reversal = _reversal(parsed, said)
        except ValueError as cannot:
            fault = f"the caption cannot be reversed: {cannot}"
    if not fault and reversed_caption:
        fault = _no_reversal(said, captions.parse(reversed_caption))
    cluster = pair_id or " ".join(said.caption.casefold().split())
    return replace(said, reversed_caption=reversal, not_applicable=fault, cluster=cluster)


def of_item(item: Item) -> Stated:
    """The order an item states (see :func:`stated`)."""
    return stated(item.caption, item.reversed_caption, item.first, item.second, item.pair_id)


def _of_caption(parsed: captions.Parsed, caption: str) -> Stated:
    places = [ANY_TIME] * len(parsed.phrases)
    for place, group in enumerate(parsed.groups):
        for index in group:
            places[index] = place
    phrases = tuple(phrase.text for phrase in parsed.phrases)
    return Stated(caption, "", phrases, tuple(places), parsed.precedences, parsed.reason, "")


def _of_columns(parsed: captions.Parsed, caption: str, first: str, second: str) -> Stated:
    """The two columns state the order; a caption that states the reverse is a fault of the data."""
    fault = ""
    if _same(first, second):
        fault = "the columns first and second name the same sound"
    elif not parsed.reason and _same_groups([[second], [first]], [[text] for text in _sequence(parsed)]):
        fault = "the caption states the order of the columns first and second the other way round"
    caption = caption or f"{first} followed by {second}"
    return Stated(caption, "", (first, second), (0, 1), ((0, 1),), fault, "")


def _reversal(parsed: captions.Parsed, said: Stated) -> str:
    """The reversed caption, in the caption's own words where they state what the item states."""
    if _same_groups([[phrase] for phrase in said.phrases], [[text] for text in _sequence(parsed)]):
        return captions.reverse(said.caption)
    if len(said.phrases) == 2 and said.precedences == ((0, 1),):
        return f"{said.phrases[1]} followed by {said.phrases[0]}"
    return captions.reverse(said.caption)


def _no_reversal(said: Stated, reversal: captions.Parsed) -> str:
    """Why a given reversed caption does not reverse the caption, or empty."""
    if reversal.reason:
        return f"the reversed caption states no order: {reversal.reason}"
    groups: dict[int, list[str]] = {}
    for phrase, place in zip(said.phrases, said.places, strict=True):
        groups.setdefault(place, []).append(phrase)
    groups.pop(ANY_TIME, None)
    forward = [groups[place] for place in sorted(groups)]
    backward = [[reversal.phrases[index].text for index in group] for group in reversal.groups]
    if _same_groups(forward[::-1], backward):
        return ""
    if _same_groups(forward, backward):
        return "the reversed caption states the same order as the caption"
    return "the reversed caption does not state the caption's events in reversed order"


def _same_groups(some: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> bool:
    return len(some) == len(others) and all(
        len(a) == len(b) and all(any(_same(x, y) for y in b) for x in a)
        for a, b in zip(some, others, strict=True)
    )


def _same(phrase: str, other: str) -> bool:
    """Two phrases for one sound: they ask for a label in common, or share a word if either has none."""
    mine, theirs = labels.find(phrase), labels.find(other)
    if mine and theirs:
        return not mine.isdisjoint(theirs)
    words = set(phrase.casefold().split()) & set(other.casefold().split())
    return bool(words - {"a", "an", "the", "of", "is", "sound"})


def _sequence(parsed: captions.Parsed) -> list[str]:
    return [parsed.phrases[index].text for group in parsed.groups for index in group]
