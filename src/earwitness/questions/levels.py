"""The question ``levels``: how loud is every moment of the clip? Measured from the samples, never judged."""

from typing import Annotated

from pydantic import Field

from earwitness.questions.base import Question, Reply


class LevelsReply(Reply):
    """Levels of consecutive frames of the mono clip; the last frame may be shorter.

    Attributes:
        frame_s: Length of a frame in seconds.
        dbfs: RMS level of every frame in dBFS; null for digital silence.
    """

    frame_s: Annotated[float, Field(gt=0)]
    dbfs: tuple[float | None, ...]


LEVELS = Question("levels", "", LevelsReply)
