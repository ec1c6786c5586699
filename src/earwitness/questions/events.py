"""The question ``events``: which sounds, when? A detector answers it once per clip.

Here also: the shape of one heard sound, which every question about events shares.
"""

from collections.abc import Sequence, Set
from typing import Annotated

from pydantic import Field, ValidationInfo, model_validator

from earwitness import labels
from earwitness.questions.base import Question, Reply
from earwitness.questions.times import SLACK_S, Seconds, duration_s

Text = Annotated[str, Field(pattern=r"\S")]
"""Text that says something."""


class TimedEvent(Reply):
    """One sound with its place; times in seconds from the start of the clip."""

    label: Text
    onset_s: Seconds
    offset_s: Seconds

    @model_validator(mode="after")
    def _in_order(self) -> "TimedEvent":
        if self.offset_s < self.onset_s:
            raise ValueError(
                f"{self.label!r} ends at {self.offset_s:g} s, before it starts at {self.onset_s:g} s"
            )
        return self


class HeardEvent(TimedEvent):
    """One heard sound, and how sure the listener is of it."""

    confidence: Annotated[float, Field(ge=0, le=1)]


def check_times(events: Sequence[TimedEvent], info: ValidationInfo, clip_name: str | None = None) -> None:
    """Make sure that events can lie in the clip they were heard in, as far as its length is known.

    Raises:
        ValueError: If an event lies beyond the clip's end, or no event takes any time at all.
    """
    length = duration_s(info, clip_name)
    for event in events:
        if length is not None and event.offset_s > length + SLACK_S:
            raise ValueError(
                f"{event.label!r} ends at {event.offset_s:g} s, but the clip is {length:.2f} s long"
            )
    if events and all(event.offset_s == 0 for event in events):
        raise ValueError("every event is placed at 0 s: the times were not given")


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
