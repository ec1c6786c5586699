"""Sound as it is sent to a model: PCM16 mono WAV, each clip encoded once for neighbouring calls."""

import io
import wave
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from earwitness import audio
from earwitness.audio import Clip

_KEPT = 4
"""Encoded clips kept: the calls about one item follow one another and share at most a few clips."""


@dataclass(frozen=True, slots=True)
class Sound:
    """A clip as it is sent: WAV bytes, and its length in seconds."""

    wav: bytes
    duration_s: float


def wav(clip: Clip, rate_hz: int) -> bytes:
    """The clip as PCM16 mono WAV; the same clip gives the same bytes.

    Samples are rounded to k / 2^15. What lies beyond full scale (float files, the filter's overshoot)
    is cut there, as any player would.
    """
    steps = np.rint(audio.mono(clip, rate_hz) * 32768.0)
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(np.clip(steps, -32768, 32767).astype("<i2").tobytes())
    return buffer.getvalue()


def introduced(name: str, duration_s: float) -> str:
    """What stands before a clip."""
    return f"{name} ({duration_s:.2f} s):"


class Encoder:
    """Encodes clips, and knows the last few by identity."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._kept: OrderedDict[int, tuple[Clip, Sound]] = OrderedDict()  # the clip keeps its id taken

    def __call__(self, clip: Clip) -> Sound:
        """The clip as :func:`wav` makes it."""
        found = self._kept.get(id(clip))
        if found is None:
            found = self._kept[id(clip)] = (clip, Sound(wav(clip, self._rate_hz), clip.duration_s))
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(id(clip))
        return found[1]
