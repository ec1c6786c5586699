"""The small picture of a clip: right place, right time, same bytes."""

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from earwitness.report import spectrogram
from earwitness.report.spectrogram import HEIGHT, HIGH_HZ, LOW_HZ, RATE_HZ, WIDTH


def tone(hz: float, seconds: float, level: float = 1.0) -> np.ndarray:
    return (level * np.sin(2 * np.pi * hz * np.arange(int(seconds * RATE_HZ)) / RATE_HZ)).astype(np.float32)


def mel(hz: float) -> float:
    return 2595 * math.log10(1 + hz / 700)


@pytest.mark.parametrize("hz", [60, 250, 1000, 4000, 7800])
def test_a_tone_is_brightest_at_its_height_and_a_full_scale_one_is_near_0_db(hz: float) -> None:
    levels = spectrogram.log_mel(tone(hz, 2.0))
    middle = levels[:, WIDTH // 2]
    from_bottom = (mel(hz) - mel(LOW_HZ)) / (mel(HIGH_HZ) - mel(LOW_HZ)) * (HEIGHT + 1) - 1
    assert abs((HEIGHT - 1 - middle.argmax()) - from_bottom) <= 1.5
    assert -7 < middle.max() < 6


@pytest.mark.parametrize("seconds", [0.025, 1.0, 10.0, 600.0])
def test_a_click_shows_at_its_time_however_long_the_clip(seconds: float) -> None:
    sound = np.zeros(int(seconds * RATE_HZ), dtype=np.float32)
    sound[int(0.75 * len(sound))] = 1.0
    levels = spectrogram.log_mel(sound)
    assert levels.shape == (HEIGHT, WIDTH)
    half_window = 512 / len(sound) * WIDTH
    loudest = levels.max(axis=0)
    assert abs(loudest.argmax() - 0.75 * WIDTH) <= half_window + 1
    far = np.abs(np.arange(WIDTH) - 0.75 * WIDTH) > half_window + 2
    assert not far.any() or loudest[far].max() < loudest.max() - 40


def test_one_sample_is_enough() -> None:
    assert np.isfinite(spectrogram.log_mel(np.ones(1, dtype=np.float32))).all()


def test_the_picture_is_small_the_same_every_time_and_dark_for_near_silence(tmp_path: Path) -> None:
    sound = np.random.default_rng(0).normal(0, 0.1, 5 * RATE_HZ).astype(np.float32)
    for name in ("a", "b"):
        spectrogram.draw(tmp_path / f"{name}.png", sound)
    spectrogram.draw(tmp_path / "quiet.png", sound * 1e-5)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.png", "quiet.png"]
    loud, quiet = (np.asarray(Image.open(tmp_path / f"{name}.png").convert("L")) for name in ("a", "quiet"))
    assert loud.shape == (HEIGHT, WIDTH)
    assert loud.mean() > 3 * quiet.mean()
