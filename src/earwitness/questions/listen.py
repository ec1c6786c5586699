"""The question ``listen``: what is in the clip? Asked blind, before any caption is shown.

Where alignment is asked in two steps, the list it gives is shared by the caption and its reversal, so
that neither can colour what is heard.
"""

from pydantic import ValidationInfo, model_validator

from earwitness.questions.base import Question, Reply
from earwitness.questions.events import HeardEvent, check_times


class ListenReply(Reply):
    """Every sound a judge heard, with no caption in sight."""

    events_heard: tuple[HeardEvent, ...]
    notes: str

    @model_validator(mode="after")
    def _times(self, info: ValidationInfo) -> "ListenReply":
        check_times(self.events_heard, info)
        return self


PROMPT = """\
You will hear one audio clip. Nothing is known of how it was made or of what it should contain.

events_heard: every separate sound that you hear, sorted by when it begins, with a short label (two or
three plain words: what sounds, and how), onset_s and offset_s (roughly, in seconds from the start of the
clip, as decimal numbers), and how sure you are from 0 to 1. List a sound again when it comes again after a
pause. If you are in doubt, say so with a low confidence; list nothing that you cannot hear. An empty list
is a good answer for a silent clip. notes: one short sentence on anything that makes the clip hard to judge.

Reply with one JSON object of these fields and nothing around it.
"""

LISTEN = Question("listen", PROMPT, ListenReply)
