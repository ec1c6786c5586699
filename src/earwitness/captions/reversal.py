"""A caption that states the reversed sequence."""

import re
from collections.abc import Iterator
from itertools import pairwise

from earwitness.captions import connectives as c
from earwitness.captions.order import Told, parse, phrase_text, read

_FIXED = re.compile(c.FIXED, re.IGNORECASE)


def reverse(caption: str) -> str:
    """A caption in which the stated sequence runs backwards, with each event's words as they were.

    The events change places inside the caption's own sentence where that states the reversal ("First
    a dog barks, then a cat meows" becomes "First a cat meows, then a dog barks"; stated times stay
    where they are); otherwise it is told as "B, then A". Either way the result is parsed again
    before it is given out: it names the same phrases, in groups of reversed order; what may begin at
    any time stays so.

    Raises:
        ValueError: If the caption states no order, with :attr:`Parsed.reason`; or if no wording tried
            states exactly the reversed sequence.
    """
    told = read(caption)
    if told.reason:
        raise ValueError(told.reason)
    wanted = [[phrase_text(told.text, piece) for piece in group] for group in reversed(told.groups)]
    asides = sorted(phrase_text(told.text, piece) for piece in told.asides)
    for wording in _wordings(told):
        parsed = parse(wording)
        ordered = [[parsed.phrases[i].text for i in group] for group in parsed.groups]
        rest = [phrase.text for phrase in parsed.phrases[sum(map(len, wanted)) :]]
        if ordered == wanted and sorted(rest) == asides:
            return wording
    raise ValueError("no wording was found that states exactly the reversed sequence")


def _wordings(told: Told) -> Iterator[str]:
    """Ways to tell the reversal, the closest to the caption first."""
    spans = sorted((min(p.start for p in group), max(p.end for p in group)) for group in told.groups)
    apart = all(one[1] <= other[0] for one, other in pairwise(spans))
    if apart and not told.retold and not _FIXED.search(told.text):
        yield _exchanged(told)
    for join, then in ((" and ", ", then "), (" while ", ", then "), (" while ", ". Then ")):
        yield _retold(told, join, then)


def _exchanged(told: Told) -> str:
    """Each group's words in the place of its mirror image."""
    text = told.text
    places = [(min(p.start for p in group), max(p.end for p in group)) for group in told.groups]
    moves = sorted(zip(places, reversed(places), strict=True))
    out = []
    at = 0
    for (start, end), (other_start, other_end) in moves:
        out += [text[at:start], _cased(text, other_start, other_end, start)]
        at = end
    return "".join(out) + text[at:]


def _retold(told: Told, join: str, then: str) -> str:
    groups = ([_cased(told.text, p.start, p.end, 1) for p in group] for group in reversed(told.groups))
    sentence = then.join(join.join(group) for group in groups)
    if told.asides:
        sentence += ", all while " + " and ".join(_cased(told.text, p.start, p.end, 1) for p in told.asides)
    return sentence[:1].upper() + sentence[1:] if told.text[:1].isupper() else sentence


def _cased(text: str, start: int, end: int, place: int) -> str:
    """``text[start:end]`` with the capital that its new place asks for."""
    words = text[start:end]
    first = words.split(" ", 1)[0]
    if _opens_sentence(text, place) and text[:1].isupper():
        return words[:1].upper() + words[1:]
    if _opens_sentence(text, start) and (first[1:].islower() or (first == "A" and len(words) > 1)):
        return words[:1].lower() + words[1:]
    return words


def _opens_sentence(text: str, at: int) -> bool:
    return at == 0 or text[:at].rstrip().endswith((".", "!", "?"))
