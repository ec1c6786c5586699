"""Does a wording say the opposite of what its slots and its reading state?

Conventions
-----------
The slots of a wording are filled with sounds that the caption parser knows, and what it reads is compared
with what the slots say. Refused are:

- ``before`` and ``after``: an order that is not that of the slots; an ``after`` that could be a ``before``;
- ``closefirst`` and ``farfirst``: distances in an order that is not that of the slots. This is probed twice:
  with sounds in place of the metres, and with another sound wherever ``{sound}`` stands;
- ``together``, ``and`` and ``count``: any order;
- ``count``: a bound ("at least", "up to") where one of each is asked for;
- ``or``: "not both" where both will do, "or both" where they will not.

Not checked, so that the writer answers for it: an order that the parser does not see ("with {second} on its
heels", "{second_m} the second time"); whether a text that states no order names its sounds in the order of
time; "near" and "far" in words; an order in ``or``, ``not``, ``if_then_else`` and ``equaldist``; which sound
of ``if_then_else`` has which role; whether a ``not`` negates, an ``equaldist`` asks for two sounds, or a
``together`` for more than both; and readings put in other words ("a single one of the two").
"""

import re
from collections.abc import Iterator

from earwitness import captions

EXCLUSIVE, INCLUSIVE = "exclusive", "inclusive"
"""How ``or`` may be meant."""

_DOG, _CAT, _RAIN = "dog barking", "cat meowing", "rain falling"
_NEAR, _FAR = "1 metre", "5 metres"

_SAYS_AFTER = re.compile(r"\bafter\b", re.IGNORECASE)
_SAME = (  # what the parser does not know, in words that it does
    (re.compile(r"\bsucceed(?:s|ing)\b", re.IGNORECASE), "follows"),
    (re.compile(r"\b(?:well )?ahead of\b", re.IGNORECASE), "before"),
    (
        re.compile(
            r"\b(?:once|as soon as|when) (\{\w+\}) (?:is|has|was|had)(?: been)? "
            r"(?:over|done|finished|ended|stopped|passed|gone|heard)\b",
            re.IGNORECASE,
        ),
        r"after \1",
    ),
)
_BOUND = re.compile(
    r"\b(?:at (?:the )?(?:least|most)|up to|(?:or|and) (?:more|fewer|less)\b(?! than)|minimum|maximum|"
    r"(?<!and )(?<!nor )(?:no|not) (?:more|fewer|less) than|(?<!not )(?<!no )(?:more|fewer|less) than)",
    re.IGNORECASE,
)
_NOT_BOTH = re.compile(
    r"(?<!if )\b(?:not|never)(?: have| play| use)?(?: the)? (?:both|two|together)\b|"
    r"\b(?:only|just|exactly) one\b|\bmutually exclusive\b",
    re.IGNORECASE,
)
_OR_BOTH = re.compile(
    r"\bor (?:(?:even|perhaps|maybe|possibly|else|also) )*(?:both|the (?:two|pair))\b|\band ?/ ?or\b|"
    r"\bat least one\b|\bone or more\b",
    re.IGNORECASE,
)


def faults(relation: str, reading: str, text: str) -> Iterator[str]:
    """What of a wording contradicts its relation or its reading, one sentence each.

    Args:
        text: With every slot of its relation, and no other.
    """
    match relation:
        case "before" | "after":
            yield from _in_time(relation, text)
        case "closefirst" | "farfirst":
            yield from _in_space(text)
        case "together" | "and" | "count":
            sounds = {"one": _DOG, "other": _CAT, "n": "three", "sounds": f"{_DOG}, {_CAT} and {_RAIN}"}
            if captions.parse(_filled(text, **sounds)).precedences:
                yield f"{text!r} states an order, and {relation!r} has none"
    if relation == "count" and (found := _BOUND.search(text)):
        yield f"{found[0]!r} is a bound, and 'count' asks for one of each"
    if relation == "or" and reading == INCLUSIVE and (found := _NOT_BOTH.search(text)):
        yield f"{found[0]!r} is {EXCLUSIVE}, not {INCLUSIVE}"
    if relation == "or" and reading == EXCLUSIVE and (found := _OR_BOTH.search(text)):
        yield f"{found[0]!r} is {INCLUSIVE}, not {EXCLUSIVE}"


def _in_time(relation: str, text: str) -> Iterator[str]:
    if _reversed(_filled(text, first=_DOG, second=_CAT), _DOG, _CAT):
        yield f"{text!r} puts {{second}} before {{first}}; the slots are in the order of time"
    elif (
        relation == "after"
        and text.index("{first}") < text.index("{second}")
        and not _SAYS_AFTER.search(text)
    ):
        yield "an 'after' names the later sound first or says 'after'; as it stands it is a 'before'"


def _in_space(text: str) -> Iterator[str]:
    as_sounds = _filled(text, sound=_RAIN, first_m=_DOG, second_m=_CAT)
    others = iter((_DOG, _CAT))
    apart = re.sub(r"\{sound\}", lambda _: next(others, _RAIN), text)
    if _reversed(as_sounds, _DOG, _CAT) or _reversed(
        _filled(apart, first_m=_NEAR, second_m=_FAR), _NEAR, _FAR
    ):
        yield f"{text!r} puts {{second_m}} before {{first_m}}; the slots are in the order of time"


def _filled(text: str, **sounds: str) -> str:
    """The text with its slots filled, in words that the parser knows."""
    for pattern, known in _SAME:
        text = pattern.sub(known, text)
    return text.format_map(sounds)


def _reversed(said: str, first: str, second: str) -> bool:
    """Whether the words put what is ``second`` before what is ``first``."""
    parsed = captions.parse(said)
    place = {
        what: at
        for at, group in enumerate(parsed.groups)
        for i in group
        for what in (first, second)
        if what in parsed.phrases[i].text
    }
    return len(place) == 2 and place[first] > place[second]
