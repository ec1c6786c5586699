"""The question ``events``: which sounds, when? A detector answers it once per clip."""

from typing import Annotated

from pydantic import Field, model_validator

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
