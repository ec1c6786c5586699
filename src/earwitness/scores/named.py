"""Which phrase of a caption does an event name, when a judge chose the event's words freely?

Conventions
-----------
Where the AudioSet table knows both texts, it decides alone: the event names the phrase if one of the most
specific labels of the event counts as hearing the phrase. "Man speaking" is no woman speaking, though the
table asks for plain speech beside either; "speech" is either.

Where it does not know one of them, their content words decide, endings, articles and words such as "loud"
left out. They must be the same, or the ones must be among the others; then there must be two of them, or
one that the table does not know either: "tumbleweed" names "a tumbleweed rolls", "dog" does not name
"a hot dog sizzles". A text that negates names nothing.

One event never serves two phrases: one that names several serves none of them, and if any of these is
named by no other event, it stays open which was heard. So it does if two phrases cannot be told apart at
all. Synonyms that neither the table nor words connect count as different sounds: a figure made from names
is a check on the judge's own, not the truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from earwitness import labels
from earwitness.captions.words import GENERIC, WORD, stem, tells
from earwitness.events import Event

_NEGATIONS = frozenset(
    ("no", "not", "without", "never", "none", "nor", "absent", "absence", "silence", "silent")
)


@dataclass(frozen=True, slots=True)
class Named:
    """What a judge's list of events says of a caption's phrases.

    Attributes:
        onsets_s: First onset of every phrase in seconds, None where no event names it.
        recall: Share of phrases that an event names, in [0, 1]; None where that is open.
        precision: Share of events that the caption implies, in [0, 1]; None if none is listed.
        doubt: Why it is open which phrases were heard; empty if it is not.
    """

    onsets_s: tuple[float | None, ...]
    recall: float | None
    precision: float | None
    doubt: str


def read(phrases: Sequence[str], events: Sequence[Event]) -> Named:
    """Find the phrases of a caption among the events that a judge lists.

    An event is implied if it names any phrase, exactly or under a wider or narrower label ("animal" beside
    a dog), as in :mod:`earwitness.scores.presence`.

    Raises:
        ValueError: Without a phrase.
    """
    if not phrases:
        raise ValueError("a caption without phrases cannot be looked for among events")
    served = [[i for i, phrase in enumerate(phrases) if names(event.label, phrase)] for event in events]
    onsets = tuple(
        min((e.onset_s for e, its in zip(events, served, strict=True) if its == [index]), default=None)
        for index in range(len(phrases))
    )
    doubt = not_told_apart(phrases)
    for event, its in zip(events, served, strict=True):
        if not doubt and len(its) > 1 and any(onsets[index] is None for index in its):
            doubt = f"{event.label!r} may be {' or '.join(repr(phrases[index]) for index in its)}"
    implied = sum(any(_implies(phrase, event.label) for phrase in phrases) for event in events)
    return Named(
        onsets_s=onsets,
        recall=None if doubt else sum(onset is not None for onset in onsets) / len(phrases),
        precision=implied / len(events) if events else None,
        doubt=doubt,
    )


@lru_cache(maxsize=16384)
def names(label: str, phrase: str) -> bool:
    """Whether an event's label names the sound that a phrase asks for."""
    heard, asked = labels.find(label), labels.find(phrase)
    if heard and asked:
        return not labels.heard_as(asked).isdisjoint(labels.most_specific(heard))
    return _same_words(label, phrase)


def not_told_apart(phrases: Sequence[str]) -> str:
    """Why the phrases cannot be told apart by names, or empty."""
    for phrase in phrases:
        if not labels.find(phrase) and not _content(phrase):
            return f"{phrase!r} has no word to know it by"
    for one, other in combinations(phrases, 2):
        if _meet(one, other):
            return f"{one!r} and {other!r} cannot be told apart by names"
    return ""


@lru_cache(maxsize=16384)
def _meet(one: str, other: str) -> bool:
    mine, theirs = labels.find(one), labels.find(other)
    if mine and theirs:
        kinds = labels.heard_as(labels.most_specific(mine))
        return not kinds.isdisjoint(labels.heard_as(labels.most_specific(theirs)))
    return _same_words(one, other)


@lru_cache(maxsize=16384)
def _implies(phrase: str, label: str) -> bool:
    heard, asked = labels.find(label), labels.find(phrase)
    if heard and asked:
        return not labels.lenient(asked).isdisjoint(labels.most_specific(heard))
    return _same_words(label, phrase)


def _same_words(one: str, other: str) -> bool:
    fewer, more = sorted((_content(one), _content(other)), key=len)
    if not fewer or not fewer.keys() <= more.keys():
        return False
    return len(fewer) == len(more) or len(fewer) > 1 or not any(map(labels.find, fewer.values()))


@lru_cache(maxsize=16384)
def _content(text: str) -> dict[str, str]:
    """The words that tell what is heard, by their stems; none where something is said to be absent."""
    words = [word.lower() for word in WORD.findall(text)]
    if not _NEGATIONS.isdisjoint(words):
        return {}
    told = {stem(word): word for word in words if tells(word)}
    return {key: word for key, word in told.items() if key not in GENERIC}
