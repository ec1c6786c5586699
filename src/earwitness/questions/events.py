"""The question ``events``: which sounds, when? A detector answers it once per clip."""

from collections.abc import Sequence, Set
from typing import Annotated

from pydantic import Field, model_validator

from earwitness import labels
from earwitness.questions.base import Question, Reply

Seconds = Annotated[float, Field(ge=0)]


class HeardEvent(Reply):
    """One heard sound; times in seconds from the start of the clip."""

    label: Annotated[str, Field(pattern=r"\S")]
    onset_s: Seconds
    offset_s: Seconds
    confidence: Annotated[float, Field(ge=0, le=1)]

    @model_validator(mode="after")
    def _in_order(self) -> "HeardEvent":
        if self.offset_s < self.onset_s:
            raise ValueError(
                f"{self.label!r} ends at {self.offset_s} s, before it starts at {self.onset_s} s"
            )
        return self


class EventsReply(Reply):
    """Every sound heard in the clip, and how long the clip is."""

    events: tuple[HeardEvent, ...]
    duration_s: Annotated[float, Field(gt=0)]

    @model_validator(mode="after")
    def _inside(self) -> "EventsReply":
        for event in self.events:
            if event.offset_s > self.duration_s + 1e-6:
                raise ValueError(
                    f"{event.label!r} ends at {event.offset_s} s, after the clip's end at {self.duration_s} s"
                )
        return self


EVENTS = Question("events", "", EventsReply)


def unmapped(phrases: Sequence[str], known_labels: Set[str]) -> str:
    """Why a detector's answer cannot be read for these phrases together, or empty.

    Each phrase must ask for labels, at least one of them known, and no label may answer two phrases.

    Args:
        known_labels: What the detector claims to know; empty if that is not asked.
    """
    answers: dict[str, str] = {}
    for phrase in phrases:
        exact = labels.find(phrase)
        if not exact:
            return f"no label is known for {phrase!r}"
        if known_labels and exact.isdisjoint(known_labels):
            return (
                f"{phrase!r} ({', '.join(sorted(exact))}) is outside the labels the listener claims to know"
            )
        wanted = labels.heard_as(exact)
        shared = sorted(wanted & answers.keys())
        if shared:
            other = answers[shared[0]]
            return f"{other!r} and {phrase!r} share labels ({', '.join(shared[:3])}) and cannot be told apart"
        answers |= dict.fromkeys(wanted, phrase)
    return ""
