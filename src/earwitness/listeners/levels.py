"""How loud every moment of a clip is: the answer to the question ``levels``.

Conventions: the clip is mixed to mono (mean of its channels) and not resampled. Frame k covers
``k FRAME_S`` to ``(k + 1) FRAME_S``, to the nearest sample; the last may be shorter. Levels are RMS in dBFS
(0 = a full-scale square wave), to a hundredth of a dB; digital silence has none. Frames are short, so that
what is made of them (see scores.frame_levels) hardly depends on where a sound falls on them.
"""

import math
from typing import Any

import numpy as np

from earwitness import audio

FRAME_S = 0.01


def measured(clip: audio.Clip) -> dict[str, Any]:
    """A reply to the question ``levels`` (see questions.levels.LevelsReply)."""
    samples = audio.mono(clip, clip.rate_hz)
    frame = FRAME_S * clip.rate_hz
    starts = np.rint(np.arange(len(samples) / frame) * frame).astype(np.intp)
    starts = starts[starts < len(samples)]
    lengths = np.diff(starts, append=len(samples))
    power = np.add.reduceat(np.square(samples, dtype=np.float64), starts) / lengths
    levels = [10 * math.log10(each) if each > 0 else None for each in power.tolist()]
    return {"frame_s": FRAME_S, "dbfs": [None if each is None else round(each, 2) for each in levels]}
