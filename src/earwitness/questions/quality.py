"""The question ``quality``: what can be measured of a recording's faults, without understanding it?

A listener that measures answers it beside ``events``. Which of the figures make a flag is decided when
scoring (scores.describing).
"""

from typing import Annotated

from pydantic import Field

from earwitness.questions.base import Question, Reply

Share = Annotated[float, Field(ge=0, le=1)]


class QualityReply(Reply):
    """Figures of one clip.

    Attributes:
        peak_dbfs, level_dbfs: Greatest sample and RMS level over all channels; null for digital silence.
        clipped_share: Share of the samples at full scale.
        silent_share: Share of the clip's time in which no channel rises above the stated level.
        bandwidth_hz: Up to which frequency there is sound; null for digital silence.
    """

    rate_hz: Annotated[int, Field(gt=0)]
    peak_dbfs: float | None
    level_dbfs: float | None
    clipped_share: Share
    silent_share: Share
    bandwidth_hz: Annotated[float, Field(ge=0)] | None


QUALITY = Question("quality", "", QualityReply)
