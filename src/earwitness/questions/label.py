"""The question ``label``: what is in the clip, in a sentence, as events and as tags?

Fields and their vocabulary are those of the labelling protocol; no caption is given.
"""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, model_validator

from earwitness.questions.base import Question, Reply
from earwitness.questions.events import HeardEvent, Text, check_times

Flag = Literal["clipping", "silence", "artifacts", "muffled"]
FLAGS: tuple[Flag, ...] = ("clipping", "silence", "artifacts", "muffled")
"""Audible faults that a clip can have."""


class LabelReply(Reply):
    """A description of one clip."""

    caption: Text
    events: tuple[HeardEvent, ...]
    tags: Annotated[tuple[Text, ...], Field(min_length=3, max_length=6)]
    ordered: bool
    quality_flags: tuple[Flag, ...]

    @model_validator(mode="after")
    def _times(self, info: ValidationInfo) -> "LabelReply":
        check_times(self.events, info)
        return self


PROMPT = """\
You will hear one audio clip; there is no text with it. Describe what you hear and nothing more: no causes
or places that the sound itself does not tell.

events: every separate sound, sorted by when it begins, with a short label, onset_s and offset_s (roughly,
in seconds from the start of the clip, as decimal numbers), and how sure you are from 0 to 1. caption: one
plain sentence, as in the AudioCaps collection, that names the main sounds and, where it is clear, the
order in which they come. tags: three to six short keywords, of one or two words each. ordered: true
if distinct sounds follow one another in a clear sequence, else false. quality_flags: which of "clipping",
"silence", "artifacts" and "muffled" you hear as a fault of the recording; an empty list if none.

Reply with one JSON object of these fields and nothing around it.
"""

LABEL = Question("label", PROMPT, LabelReply)
