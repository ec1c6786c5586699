"""What the embedded listener measures between two clips."""

import numpy as np
import pytest
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness.audio import Clip, Samples, pcm_hash
from earwitness.listeners import edit_measures
from earwitness.listeners.edit_measures import FLOOR_DB, band_levels, log_spectral_distance, measured
from earwitness.questions.base import InvalidReply
from earwitness.questions.edit_measures import EDIT_MEASURES


def clip(samples: Samples, rate_hz: int = 16_000) -> Clip:
    both = np.atleast_2d(samples).astype(np.float32)
    return Clip(both, rate_hz, pcm_hash(both, rate_hz))


def noise(seed: int, seconds: float = 1.0, level: float = 0.1) -> Samples:
    rng = np.random.default_rng(seed)
    return (level * rng.standard_normal(round(seconds * 16_000))).astype(np.float32)


def tone(hz: float, seconds: float = 1.0, rate_hz: int = 16_000) -> Samples:
    t = np.arange(round(seconds * rate_hz)) / rate_hz
    return np.sin(2 * np.pi * hz * t).astype(np.float32)


def test_a_clip_is_at_no_distance_from_itself() -> None:
    reply = measured(clip(noise(0)), clip(noise(0)))
    assert reply["lsd_db"] == [0.0] * 10
    assert reply["source_dbfs"] == reply["edited_dbfs"]


@pytest.mark.parametrize("gain_db", [-12.0, -3.0, 6.0])
def test_a_gain_is_a_distance_of_its_decibels(gain_db: float) -> None:
    louder = noise(0) * np.float32(10 ** (gain_db / 20))
    np.testing.assert_allclose(log_spectral_distance(noise(0), louder), abs(gain_db), atol=1e-3)


def test_silence_is_defined_and_has_no_level() -> None:
    reply = measured(clip(np.zeros(8000, np.float32)), clip(np.zeros(8000, np.float32)))
    assert reply["lsd_db"] == [0.0] * 5
    assert reply["source_dbfs"] == [None] * 5
    assert np.all(band_levels(np.zeros(8000, np.float32)) == FLOOR_DB)


def test_what_nobody_hears_counts_nothing() -> None:
    np.testing.assert_array_equal(
        log_spectral_distance(noise(0, level=1e-5), np.zeros(16_000, np.float32)), 0
    )


def test_two_takes_of_one_noise_are_near_and_another_sound_is_far() -> None:
    assert log_spectral_distance(noise(0), noise(1)).mean() < 2
    assert log_spectral_distance(noise(0), tone(1000)).mean() > 20


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_it_is_a_distance(a: int, b: int, c: int) -> None:
    x, y, z = (noise(seed, 0.25, level=0.3 / (1 + seed % 7)) for seed in (a, b, c))
    xy = log_spectral_distance(x, y)
    np.testing.assert_allclose(xy, log_spectral_distance(y, x))
    assert np.all(xy <= log_spectral_distance(x, z) + log_spectral_distance(z, y) + 1e-9)
    assert np.all(xy <= -FLOOR_DB + 30)


def test_bands_are_those_of_an_independent_short_time_transform() -> None:
    """The same frame through scipy's STFT, and triangles written out from the definition."""

    def lines(samples: Samples) -> np.ndarray:
        _, _, found = scipy.signal.stft(
            samples, 16_000, nperseg=400, noverlap=250, nfft=512, boundary=None, padded=False
        )
        assert found.shape == (257, 9)
        return 4 * np.abs(found) ** 2  # a sine has two lines of half its amplitude

    assert 10 * np.log10(lines(tone(1000, 0.1)).max()) == pytest.approx(0.0, abs=0.01)

    x = noise(3, 0.1)
    mels = np.linspace(*(2595 * np.log10(1 + f / 700) for f in (50, 8000)), 66)
    edges = 700 * (10 ** (mels / 2595) - 1)
    hz = np.arange(257) * 16_000 / 512
    triangles = [np.interp(hz, edges[k : k + 3], [0, 1, 0]) for k in range(64)]
    expected = [10 * np.log10((triangle @ lines(x)).mean()) for triangle in triangles]
    np.testing.assert_allclose(band_levels(x)[0], expected, atol=1e-3)


def test_other_rates_and_channels_are_brought_together() -> None:
    source = clip(np.stack([tone(440, rate_hz=44_100)] * 2), 44_100)
    reply = measured(source, clip(tone(440)))
    assert max(reply["lsd_db"][1:-1]) < 2.5
    assert (reply["source_s"], reply["edited_s"]) == (1.0, 1.0)


def test_clips_of_other_lengths_are_compared_over_what_both_have() -> None:
    long = noise(0, 1.33)
    reply = measured(clip(long), clip(long[:12_000]))
    assert reply["lsd_db"] == [0.0] * 8
    assert (len(reply["source_dbfs"]), len(reply["edited_dbfs"])) == (14, 8)
    assert reply["source_s"] - reply["edited_s"] == pytest.approx(0.58)


def test_a_change_is_found_in_its_frames_and_nowhere_else() -> None:
    x = noise(0)
    y = x.copy()
    y[4800:6400] = 0
    distances = measured(clip(x), clip(y))["lsd_db"]
    assert distances[3] > 20  # down to the floor
    assert all(value == 0.0 for k, value in enumerate(distances) if k != 3)


def test_long_clips_go_block_by_block_to_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = band_levels(noise(0, 2.05))
    monkeypatch.setattr(edit_measures, "_BLOCK", 3)
    np.testing.assert_allclose(band_levels(noise(0, 2.05)), whole, rtol=1e-6)


def test_the_reply_fits_its_question_and_others_do_not() -> None:
    reply = measured(clip(noise(0)), clip(noise(1)))
    assert EDIT_MEASURES.read(reply, (1.0, 1.0))["frame_s"] == 0.1
    for wrong, message in (
        ({"lsd_db": reply["lsd_db"][:-1]}, "9 frames; the clips have 10"),
        ({"lsd_db": [-1.0] * 10}, "greater than or equal to 0"),
        ({"edited_s": 3.0}, "the EDITED AUDIO is 1.00 s long, not 3 s"),
        ({"frame_s": 0.0}, "frame_s"),
    ):
        with pytest.raises(InvalidReply, match=message):
            EDIT_MEASURES.read(reply | wrong, (1.0, 1.0))
