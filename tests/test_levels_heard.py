"""How loud every moment of a clip is, as listeners measure it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from earwitness import audio
from earwitness.listeners.base import Call, Hearing
from earwitness.listeners.levels import FRAME_S, measured
from earwitness.listeners.yamnet import Yamnet
from earwitness.questions.levels import LEVELS


def levels(samples: NDArray[np.float32], rate_hz: int) -> list[float | None]:
    found = audio.Clip(samples, rate_hz, audio.pcm_hash(samples, rate_hz))
    reply = LEVELS.read(measured(found), [found.duration_s])
    assert reply["frame_s"] == FRAME_S
    dbfs: list[float | None] = reply["dbfs"]
    return dbfs


@given(st.integers(1, 60_000), st.sampled_from([8_000, 11_025, 16_000, 22_050, 44_100, 48_000]))
@settings(max_examples=60, deadline=None)
def test_frames_cover_the_clip_and_hold_its_level(n: int, rate_hz: int) -> None:
    found = levels(np.full((1, n), 0.5, np.float32), rate_hz)
    assert abs(len(found) * FRAME_S - n / rate_hz) <= FRAME_S
    assert set(found) == {-6.02}


def test_silence_has_no_level_and_a_step_of_6_db_is_one() -> None:
    samples = np.zeros((1, 16_000), np.float32)
    samples[0, 4_000:8_000], samples[0, 8_000:12_000] = 0.5, 0.25
    found = levels(samples, 16_000)
    assert found == [None] * 25 + [-6.02] * 25 + [-12.04] * 25 + [None] * 25


def test_channels_are_mixed_before_they_are_measured() -> None:
    one = np.random.default_rng(0).uniform(-0.5, 0.5, 8_000).astype(np.float32)
    both, alone = (levels(np.stack([one, other]), 16_000) for other in (one, np.zeros_like(one)))
    assert both == levels(one[np.newaxis], 16_000)
    assert [a - b for a, b in zip(both, alone, strict=True) if a and b] == pytest.approx(
        [6.02] * 50, abs=0.02
    )


def test_the_embedded_listener_answers_with_the_clips_own_levels() -> None:
    samples = np.random.default_rng(1).uniform(-0.5, 0.5, (2, 44_100)).astype(np.float32)
    found = audio.Clip(samples, 44_100, audio.pcm_hash(samples, 44_100))
    assert LEVELS.name in Yamnet.needs.questions
    [(_, answer)] = Yamnet(workers=1).hear([Call("clip", (found,), LEVELS)])
    assert isinstance(answer, Hearing)
    assert LEVELS.read(answer.reply, [1.0]) == measured(found)
