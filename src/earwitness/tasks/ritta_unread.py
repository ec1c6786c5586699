"""What a judge says it hears, in words that name none of RiTTA's classes: counted, so that it is not lost.

A judge chooses its words freely. "Door closing hard" is no event of any class (see ritta_classes), so a sound
that was heard may count as missing. The clip says which words, the run which are the most frequent.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from earwitness.events import Event
from earwitness.tasks.ritta_classes import of_judge
from earwitness.tasks.ritta_measures import ORACLE
from earwitness.tasks.rows import SCORED, ItemRow

_TOLD = 5
"""How many are named."""


def unread(events: Iterable[Event]) -> tuple[str, ...]:
    """A judge's words that name none of the classes, each once, in the order of the events."""
    return tuple(dict.fromkeys(event.label for event in events if of_judge(event.label) is None))


def warning(words: Iterable[str]) -> Iterator[str]:
    """What to say of a clip with such words."""
    if told := ", ".join(map(repr, words)):
        yield f"heard in words that name none of the 25 sounds, not counted: {told}"


@dataclass(slots=True)
class Unread:
    """Such words of a judged run, counted as its rows go by: those of each item's first hearing."""

    _clips: dict[str, set[str]] = field(default_factory=dict)
    _all: set[str] = field(default_factory=set)

    def counted(self, rows: Iterable[ItemRow]) -> Iterator[ItemRow]:
        """The rows as they are."""
        for row in rows:
            if row.status == SCORED and row.system != ORACLE:  # which nobody heard
                self._all.add(row.audio)
                for words in unread(row.heard):
                    self._clips.setdefault(words.casefold(), set()).add(row.audio)
            yield row

    def notes(self) -> list[str]:
        """The most frequent ones, and in how many clips they are; nothing if all could be read."""
        if not self._clips:
            return []
        ranked = sorted(self._clips.items(), key=lambda item: (-len(item[1]), item[0]))
        told = ", ".join(f"{words!r} ({len(clips)})" for words, clips in ranked[:_TOLD])
        more = f" and {len(ranked) - _TOLD} more" if len(ranked) > _TOLD else ""
        clips = len(set().union(*self._clips.values()))
        return [
            f"Words that name none of the 25 sounds, not counted as heard, in {clips} of "
            f"{len(self._all)} clips heard (the number of clips with each): {told}{more}. An asked sound "
            "named so counts as missing."
        ]
