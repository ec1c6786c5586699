"""A caption's events and their stated order."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from earwitness.captions import connectives as c
from earwitness.captions.clauses import Piece, cut, straightened, whole
from earwitness.captions.clean import clean, no_caption
from earwitness.captions.events import distinct, glued

_CONDITION = re.compile(r"(?<!as )(?<!even )\bif\b.*\b(?:then|else|otherwise)\b", re.IGNORECASE)
_NEGATED_ORDER = re.compile(c.NEGATED_ORDER, re.IGNORECASE)
_PHRASE_HEAD = re.compile(c.PHRASE_HEAD, re.IGNORECASE)
_PHRASE_TAIL = re.compile(c.PHRASE_TAIL, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """One event of a caption.

    Attributes:
        text: The event's words, without article, filler and stated time.
        onset_s: First stated onset in seconds from the start of the clip, if the caption is timed.
        offset_s: The offset stated with it.
    """

    text: str
    onset_s: float | None = None
    offset_s: float | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a caption states.

    Attributes:
        text: The caption without markup, white space folded.
        phrases: The events, earliest group first, in mention order within a group; at the end, those
            in no group.
        precedences: Pairs (i, j): phrase i is stated to begin before phrase j. Given for adjacent
            groups; the rest follows.
        groups: Indices of phrases: the stated sequence. Within a group no order is stated. What sounds
            all along or in the background of others may begin at any time and is in no group.
        reason: "" when an order is stated, else why not.
    """

    text: str
    phrases: tuple[Phrase, ...]
    precedences: tuple[tuple[int, int], ...]
    groups: tuple[tuple[int, ...], ...]
    reason: str


@dataclass(slots=True)
class Told:
    """A cleaned caption, the text it was read as, and its events as pieces of that, in their groups."""

    caption: str
    text: str
    groups: list[list[Piece]] = field(default_factory=list)
    reason: str = ""
    asides: list[Piece] = field(default_factory=list)  # events that may begin at any time
    retold: bool = False  # some event is told more than once


def parse(caption: str) -> Parsed:
    """The events a caption names and the order it states for them, by the rules of this package.

    Never raises: a caption that states no order says why in ``reason``.
    """
    told = read(caption)
    phrases: list[Phrase] = []
    groups: list[tuple[int, ...]] = []
    for group in told.groups:
        groups.append(tuple(range(len(phrases), len(phrases) + len(group))))
        phrases += (Phrase(phrase_text(told.text, piece), piece.onset_s, piece.offset_s) for piece in group)
    phrases += (Phrase(phrase_text(told.text, piece), piece.onset_s, piece.offset_s) for piece in told.asides)
    precedences = tuple((i, j) for one, other in pairwise(groups) for i in one for j in other)
    return Parsed(told.caption, tuple(phrases), precedences, tuple(groups), told.reason)


def read(caption: str) -> Told:
    """What :func:`parse` gives out, with the events' places in the text."""
    cleaned = clean(caption)
    text = straightened(cleaned)
    told = Told(cleaned, text, reason=no_caption(cleaned))
    if told.reason:
        return told
    pieces, ordered = cut(text)
    _settle(pieces, ordered)
    events, told.retold = distinct(glued(pieces))
    if not events:
        told.reason = "no event is named"
        return told
    negated = _NEGATED_ORDER.search(text)
    if negated or _CONDITION.search(text):
        told.groups = [events]
    elif all(piece.onset_s is not None for piece in events):
        told.groups = _timed(events)
    else:
        told.groups, told.asides = _apart(events)
    if len(told.groups) > 1:
        return told
    if negated:
        told.reason = "the caption negates an order, so it states none"
    elif any(piece.negated for piece in pieces):
        told.reason = "an event is negated, and no order is stated between others"
    elif len(events) == 1:
        told.reason = "one event"
    else:
        told.reason = "no order is stated between the events"
    return told


def _timed(events: list[Piece]) -> list[list[Piece]]:
    onsets = sorted({piece.onset_s for piece in events if piece.onset_s is not None})
    return [[piece for piece in events if piece.onset_s == onset] for onset in onsets]


def _apart(events: list[Piece]) -> tuple[list[list[Piece]], list[Piece]]:
    """The groups, and the events that may begin at any time.

    Those are what sounds all along, and what sounds in the background of others in its group. A
    background told alone in its place is ordered: "a dog barks, then music plays in the background".
    """
    for piece, following in pairwise(events):
        if piece.aside == "ever" and piece.tie != "join" and following.tie == "join":
            following.tie = piece.tie
    ordered = [piece for piece in events if piece.aside != "ever"] or events
    ahead = [piece for piece in ordered if not piece.aside]
    if ahead and all(piece.onset_s is not None for piece in ahead):
        groups = _timed(ahead)
    else:
        groups = [[p for p in group if p.aside != "background"] or group for group in _sequence(ordered)]
    placed = [id(piece) for group in groups for piece in group]
    return groups, [piece for piece in events if id(piece) not in placed]


def phrase_text(text: str, piece: Piece) -> str:
    """A piece as phrase: without article, filler and count, and without the capital of a sentence."""
    start, end = piece.start, piece.end
    while True:
        if mark := _PHRASE_HEAD.match(text, start, end):
            start = mark.end()
        elif (mark := _PHRASE_TAIL.search(text, start, end)) and mark.start() > start:
            end = mark.start()
        else:
            break
    start, end = whole(text, start, end)
    words = text[start:end]
    first = words.split(" ", 1)[0]
    return first.lower() + words[len(first) :] if first[:1].isupper() and first[1:].islower() else words


def _settle(pieces: list[Piece], ordered: set[int]) -> None:
    """Turn joins into orders where a mark on an event or its list says so."""
    explicit = any(piece.tie != "join" or piece.mark == "later" for piece in pieces[1:])
    opened = bool(pieces) and pieces[0].mark in ("first", "early")
    late = bool(pieces) and pieces[0].tie == "next"  # "The second sound is a cough and the first a sneeze"
    for left, piece in pairwise(pieces):
        if piece.tie == "join":
            listed = piece.sentence in ordered and left.sentence == piece.sentence
            begun = opened and not explicit and piece.glue in ("comma", "semicolon", "stop")
            if piece.mark == "later" or begun or (listed and piece.glue in ("comma", "semicolon", "and")):
                piece.tie = "next"
            # "A cat meows, a dog barks first"; "a cat in the end, a dog at first".
            elif (piece.mark == "early" and not explicit) or (
                piece.mark == "first" and (left.mark == "later" or (late and left is pieces[0]))
            ):
                piece.tie = "prev"
        opened = opened or piece.mark in ("first", "early")


def _sequence(events: list[Piece]) -> list[list[Piece]]:
    """Groups from the ties; what is joined goes where the event before it went."""
    groups: list[list[Piece]] = []
    at = 0
    for piece in events:
        if not groups or piece.tie == "next":
            groups.append([piece])
            at = len(groups) - 1
        elif piece.tie == "join":
            groups[at].append(piece)
        elif at == 0:
            groups.insert(0, [piece])
        else:  # "A then B after C": C begins before B, and nothing orders it and A
            at -= 1
            groups[at].append(piece)
    return groups
