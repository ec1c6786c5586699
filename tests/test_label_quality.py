"""What is measured of a recording: planted faults are found at every rate, sound ones are not accused."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt

from earwitness import audio
from earwitness.listeners.quality import bandwidth_hz, measured, silent_share
from earwitness.questions.quality import QUALITY
from earwitness.scores import describing

Samples = NDArray[np.float32]


def noise(rate_hz: int, seconds: float = 2.0, seed: int = 0, channels: int = 1) -> Samples:
    size = (channels, round(seconds * rate_hz))
    return np.random.default_rng(seed).uniform(-0.3, 0.3, size).astype(np.float32)


def low_passed(samples: Samples, rate_hz: int, hertz: float, order: int = 8) -> Samples:
    return sosfilt(butter(order, hertz, fs=rate_hz, output="sos"), samples).astype(np.float32)


def clip(samples: Samples, rate_hz: int) -> audio.Clip:
    return audio.Clip(samples, rate_hz, audio.pcm_hash(samples, rate_hz))


def flags(samples: Samples, rate_hz: int) -> list[str]:
    figures = measured(clip(samples, rate_hz))
    QUALITY.read(figures, [samples.shape[1] / rate_hz])
    return [flag for flag, there in describing.faults(figures).items() if there]


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 44_100, 48_000])
def test_noise_reaches_to_half_the_rate_and_has_no_fault(rate_hz: int) -> None:
    assert bandwidth_hz(noise(rate_hz), rate_hz) == pytest.approx(rate_hz / 2, abs=70)
    assert flags(noise(rate_hz), rate_hz) == []


@pytest.mark.parametrize("rate_hz", [16_000, 44_100, 48_000])
@pytest.mark.parametrize("cutoff_hz", [700, 1000])
def test_low_passed_noise_is_muffled_and_its_bandwidth_is_where_the_filter_is_60_db_down(
    rate_hz: int, cutoff_hz: int
) -> None:
    muffled = low_passed(noise(rate_hz), rate_hz, cutoff_hz)
    # Butterworth, eighth order, bilinear: |H|^2 = 1 / (1 + (tan(pi f / fs) / tan(pi fc / fs)) ^ 16)
    warped = math.tan(math.pi * cutoff_hz / rate_hz) * (10**6 - 1) ** (1 / 16)
    expected = rate_hz / math.pi * math.atan(warped)
    assert bandwidth_hz(muffled, rate_hz) == pytest.approx(expected, rel=0.05)
    assert flags(muffled, rate_hz) == ["muffled"]


def test_what_a_low_rate_cannot_hold_is_missing() -> None:
    assert flags(noise(4000), 4000) == ["muffled"]
    assert flags(noise(8000), 8000) == []  # a telephone's 4 kHz


@settings(max_examples=25, deadline=None)
@given(st.floats(-60, 0), st.sampled_from([800, 2500, 6000]))
def test_bandwidth_does_not_depend_on_level(gain_db: float, cutoff_hz: int) -> None:
    sound = low_passed(noise(16_000, 1.0), 16_000, cutoff_hz)
    quiet = (sound * 10 ** (gain_db / 20)).astype(np.float32)
    assert bandwidth_hz(quiet, 16_000) == bandwidth_hz(sound, 16_000)


def test_a_strong_deep_sound_does_not_make_a_clip_muffled() -> None:
    seconds = np.arange(32_000) / 16_000
    thump = 0.5 * np.sin(2 * np.pi * 80 * seconds)
    assert flags((thump + 0.05 * noise(16_000)).astype(np.float32), 16_000) == []
    offset = (0.5 + 0.01 * noise(16_000)).astype(np.float32)
    assert flags(offset, 16_000) == []


def test_channels_that_cancel_in_the_mean_are_still_sound() -> None:
    left = noise(16_000)
    figures = measured(clip(np.concatenate([left, -left]), 16_000))
    assert figures["silent_share"] == 0
    assert figures["bandwidth_hz"] > 7900


def test_clipping_is_found() -> None:
    loud = np.clip(6 * noise(16_000), -1, 1)
    assert flags(loud, 16_000) == ["clipping"]
    figures = measured(clip(loud, 16_000))
    assert figures["peak_dbfs"] == 0.0
    assert figures["clipped_share"] == pytest.approx(1 - 1 / 1.8, abs=0.02)  # uniform over +-1.8


def test_silence_is_found_and_has_no_level() -> None:
    nothing = np.zeros((1, 16_000), np.float32)
    assert measured(clip(nothing, 16_000)) == {
        "rate_hz": 16_000, "peak_dbfs": None, "level_dbfs": None,
        "clipped_share": 0.0, "silent_share": 1.0, "bandwidth_hz": None,
    }  # fmt: skip
    assert flags(nothing, 16_000) == ["silence"]


@settings(max_examples=25, deadline=None)
@given(st.floats(0, 1), st.sampled_from([8000, 16_000, 44_100]))
def test_the_silent_share_is_what_was_planted(share: float, rate_hz: int) -> None:
    samples = noise(rate_hz, 3.0, channels=2)
    samples[:, : round(share * samples.shape[1])] *= 1e-4
    assert silent_share(samples, rate_hz) == pytest.approx(share, abs=0.02 / 3.0 + 1e-3)


def test_the_shortest_clip_has_figures() -> None:
    flags(noise(8000, 0.025), 8000)


def test_a_clip_of_many_blocks_is_measured_as_a_whole() -> None:
    muffled = low_passed(noise(4000, 70.0), 4000, 300)
    muffled[:, 65 * 4000 :] = noise(4000, 5.0)  # the last block alone has high frequencies
    assert bandwidth_hz(muffled, 4000) > 1900


@pytest.mark.realdata
def test_real_sound_is_muffled_when_low_passed_and_seldom_otherwise(shared_data: Path) -> None:
    files = sorted((shared_data / "clips").rglob("*.flac"))[::12]
    accused = found = 0
    for file in files:
        sound = audio.read(file)
        accused += "muffled" in flags(sound.samples, sound.rate_hz)
        found += "muffled" in flags(low_passed(sound.samples, sound.rate_hz, 1000), sound.rate_hz)
    assert len(files) > 50
    assert accused <= 0.02 * len(files)
    assert found >= 0.95 * len(files)
