"""What a reader must know before any table, if no system has a number: that, why, and what helps.

It stands among the notes of the summary, each such note beginning with :data:`NOTHING`, so that files have it
too; the terminal and the page show these notes first and the others in their place.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from earwitness.tasks.rows import NOT_APPLICABLE, UNHEARD, ItemRow, Summary

NOTHING = "Nothing could be scored"
_TOLD = 3
"""How many reasons are named of what is not applicable, and of what is unheard."""
_WORDS = {NOT_APPLICABLE: "not applicable", UNHEARD: "unheard"}


@dataclass(slots=True)
class Unscored:
    """The reasons of a run's unscored items by status, counted as its rows go by."""

    _reasons: dict[str, Counter[str]] = field(default_factory=dict)

    def counted(self, rows: Iterable[ItemRow], baselines: Iterable[str]) -> Iterator[ItemRow]:
        """The rows as they are; baselines are scored even where nothing is heard, and are not counted."""
        left_out = frozenset(baselines)
        for row in rows:
            if row.system not in left_out:
                self._reasons.setdefault(row.status, Counter())[row.reason.replace("_", " ")] += 1
            yield row

    def notes(self) -> list[str]:
        """That nothing is scored, with the most frequent reasons; nothing if anything is scored."""
        if not self._reasons or self._reasons.keys() - _WORDS.keys():
            return []
        told = []
        for status, words in _WORDS.items():
            if count := self._reasons.get(status):
                named = ", ".join(f"{reason} ({n:,})" for reason, n in count.most_common(_TOLD))
                told.append(f"{count.total():,} are {words}: {named}{', ...' * (len(count) > _TOLD)}")
        every = sum(count.total() for count in self._reasons.values())
        return [f"{NOTHING}. Of {every:,} clips {'; '.join(told)}. items.csv has the reason of every clip."]


def first(summary: Summary) -> list[str]:
    """The notes that come before any table, below :data:`NOTHING` as their head."""
    return [note.removeprefix(NOTHING).lstrip(":. ") for note in summary.notes if note.startswith(NOTHING)]


def others(summary: Summary) -> list[str]:
    """The notes that keep their place."""
    return [note for note in summary.notes if not note.startswith(NOTHING)]
