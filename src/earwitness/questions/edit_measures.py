"""The question ``edit_measures``: what changed between two clips, measured from their samples?

It has no prompt: a listener that works on samples answers it, and what the numbers say about an edit is
derived when scoring. Frames follow one another without overlap from the start of the clip; a last frame
may be shorter.
"""

from typing import Annotated

from pydantic import Field, ValidationInfo, model_validator

from earwitness.questions.base import Question, Reply
from earwitness.questions.edit import EDITED, SOURCE
from earwitness.questions.times import duration_s

Seconds = Annotated[float, Field(gt=0)]
Distance = Annotated[float, Field(ge=0)]


class EditMeasuresReply(Reply):
    """A source clip and its edited version, frame by frame.

    Attributes:
        frame_s: Length of a frame in seconds.
        lsd_db: Log-spectral distance of every frame that both clips have, in dB (0 = the same spectrum).
        source_dbfs, edited_dbfs: Level of every frame of each clip in dBFS; null for silence.
        source_s, edited_s: Length of each clip in seconds.
    """

    frame_s: Seconds
    lsd_db: tuple[Distance, ...]
    source_dbfs: tuple[float | None, ...]
    edited_dbfs: tuple[float | None, ...]
    source_s: Seconds
    edited_s: Seconds

    @model_validator(mode="after")
    def _fits(self, info: ValidationInfo) -> "EditMeasuresReply":
        common = min(len(self.source_dbfs), len(self.edited_dbfs))
        if not self.lsd_db or len(self.lsd_db) != common:
            raise ValueError(f"lsd_db has {len(self.lsd_db)} frames; the clips have {common} in common")
        for name, stated_s in ((SOURCE, self.source_s), (EDITED, self.edited_s)):
            length = duration_s(info, name)
            if length is not None and abs(length - stated_s) > self.frame_s:
                raise ValueError(f"the {name} is {length:.2f} s long, not {stated_s:g} s")
        return self


EDIT_MEASURES = Question("edit_measures", "", EditMeasuresReply, (SOURCE, EDITED))
