"""The words of RiTTA's published prompts, read by pattern: the role of each sound, and how it is meant."""

import re
from collections.abc import Callable, Mapping, Sequence

from earwitness.scenes.ritta.classes import CLASSES
from earwitness.scenes.ritta.saying import EXCLUSIVE, INCLUSIVE
from earwitness.scenes.ritta.wordings import READINGS
from earwitness.scores import relations
from earwitness.scores.relations import Expected

SPELT: Mapping[str, str] = {one.published.replace("_", " "): one.name for one in CLASSES.values()}
"""How the prompts name a class -> its name."""

_SOUND = re.compile(rf"\b(?:{'|'.join(sorted(SPELT, key=len, reverse=True))})\b")
_HERE = "@"  # stands for a sound while the words around it are read
_METRES = re.compile(r"(\d+(?:\.\d+)?) meters?\b")
_LATER_FIRST = re.compile(r"@.* preceded by .*@")
_EARLIER_FIRST = re.compile(r"@.*(?: followed by |, then |@ audio afterwards|@ audio coming next)")
_AT_ONCE = re.compile(r"@.* and @.*(?:concurrently|simultaneously|together|at the same time|in parallel)$")
_COUNT = re.compile(r"\b(\d+) audios?\b.*@ and @$")
_NOT = re.compile(r"\b(?:not generate|not create|skip generating|avoid generating) @")
_BRANCHES = (  # which sound is the condition, which follows, which is the alternative
    (re.compile(r"@.* if can not .*@.* else .*@"), (1, 2, 0)),
    (re.compile(r"^if .*@.* then .*@.* else .*@"), (0, 1, 2)),
    (re.compile(r"@.* if .*@.* (?:else|otherwise) .*@"), (1, 0, 2)),
)

Read = tuple[Expected, str]
"""What a prompt asks for, and its reading."""


class Unread(Exception):
    """Why a prompt cannot be read."""


def sounds(text: str) -> list[str]:
    """The classes that a prompt names, in its order; one that is named twice is there twice."""
    return [SPELT[found] for found in _SOUND.findall(text)]


def read(sub: str, text: str) -> Read:
    """What the words of a prompt ask for.

    Args:
        sub: The sub-relation it is filed under: only ``before`` and ``after``, and the spatial ones, can be
            told from each other by their words. ``and`` and ``together`` cannot where both say "together"
            (see :func:`says_together`): they are what they are filed under.

    Raises:
        Unread: If they fit no pattern of that family.
    """
    return _READERS[sub](_SOUND.sub(_HERE, text), sounds(text))


def says_together(text: str) -> bool:
    """Whether a prompt says "together", which those of ``and`` and of ``together`` do alike."""
    return bool(re.search(r"\btogether\b", text))


def _only(relation: str) -> str:
    (reading,) = READINGS[relation]
    return reading


def _mentions(text: str, said: Sequence[str], count: int) -> None:
    if len(said) != count:
        raise Unread(f"{text!r} names {len(said)} sounds, not {count}")


def _unfit(text: str) -> Unread:
    return Unread(f"the words of {text!r} fit no known pattern")


def _later_is_first(text: str) -> bool:
    """Whether the sound that is named second comes first in time."""
    if _LATER_FIRST.search(text):
        return True
    if _EARLIER_FIRST.search(text):
        return False
    raise _unfit(text)


def _in_time(text: str, said: Sequence[str]) -> Read:
    _mentions(text, said, 2)
    if _later_is_first(text):
        return relations.in_order("after", said[1], said[0]), _only("after")
    return relations.in_order("before", said[0], said[1]), _only("before")


def _in_space(text: str, said: Sequence[str]) -> Read:
    _mentions(text, said, 2)
    metres = [float(number) for number in _METRES.findall(text)]
    if len(metres) != 2:
        raise Unread(f"{text!r} states {len(metres)} distances, not 2")
    if _later_is_first(text):
        metres.reverse()
    expected = relations.spatial(said[0], metres[0], metres[1])
    return expected, _only(expected.relation)


def _counted(text: str, said: Sequence[str]) -> Read:
    number = _COUNT.search(text)
    if not number:
        raise _unfit(text)
    _mentions(text, said, int(number[1]))
    return relations.count(said), _only("count")


def _at_once(text: str, said: Sequence[str]) -> Read:
    _mentions(text, said, 2)
    if not _AT_ONCE.search(text):
        raise _unfit(text)
    return relations.together(said[0], said[1]), _only("together")


def _both(text: str, said: Sequence[str]) -> Read:
    _mentions(text, said, 2)
    if not re.search(r"@.* and @", text):
        raise _unfit(text)
    return relations.both(said[0], said[1]), _only("and")


def _either(text: str, said: Sequence[str]) -> Read:
    _mentions(text, said, 2)
    if not re.search(r"@.* or .*@", text):
        raise _unfit(text)
    reading = EXCLUSIVE if "not both" in text else INCLUSIVE
    return relations.either(said[0], said[1], exclusive=reading == EXCLUSIVE), reading


def _without(text: str, said: Sequence[str]) -> Read:
    _mentions(text, said, 1)
    if not _NOT.search(text):
        raise _unfit(text)
    return relations.without(said[0]), _only("not")


def _branches(text: str, said: Sequence[str]) -> Read:
    _mentions(text, said, 3)
    for pattern, places in _BRANCHES:
        if pattern.search(text):
            condition, then, otherwise = (said[place] for place in places)
            return relations.if_then_else(condition, then, otherwise), _only("if_then_else")
    raise _unfit(text)


_READERS: Mapping[str, Callable[[str, Sequence[str]], Read]] = {
    "count": _counted,
    "before": _in_time,
    "after": _in_time,
    "together": _at_once,
    "closefirst": _in_space,
    "farfirst": _in_space,
    "equaldist": _in_space,
    "and": _both,
    "or": _either,
    "not": _without,
    "if_then_else": _branches,
}
