"""Clips as browsers play them: length and level kept, samples kept where the form is lossless, same bytes."""

from pathlib import Path

import numpy as np
import pytest

from earwitness import audio
from earwitness.report.encode import FORMATS, NotEncoded, encode


def clip(rate_hz: int = 16_000, channels: int = 1, seconds: float = 1.7, scale: float = 0.3) -> audio.Clip:
    """Tones with a decay over faint noise: what a clip is like, and hard on no codec."""
    at = np.arange(int(seconds * rate_hz)) / rate_hz
    tones = sum(np.sin(2 * np.pi * f * at) * np.exp(-at) for f in (220, 660, 1500))
    noise = np.random.default_rng(0).normal(0, 0.01, (channels, len(at)))
    samples = (scale * (tones / 3 + noise)).astype(np.float32)
    return audio.Clip(samples, rate_hz, audio.pcm_hash(samples, rate_hz))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("rate_hz", "channels"), [(8000, 1), (16_000, 1), (24_000, 2), (44_100, 2), (48_000, 1)]
)
def test_length_and_level_are_kept(tmp_path: Path, form: str, rate_hz: int, channels: int) -> None:
    given, path = clip(rate_hz, channels), tmp_path / f"clip.{form}"
    told = encode(path, given, form)
    heard = audio.read(path)
    assert (heard.rate_hz, heard.samples.shape[0]) == (rate_hz, channels)
    assert told.longer_s == heard.duration_s - given.duration_s
    assert abs(told.longer_s) < 0.05
    before, after = audio.level_dbfs(given.samples), audio.level_dbfs(heard.samples)
    assert before is not None
    assert after is not None
    assert told.louder_db == pytest.approx(after - before)
    assert abs(told.louder_db) < 0.5


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_samples_give_the_same_bytes(tmp_path: Path, form: str) -> None:
    for name in ("one", "two"):
        encode(tmp_path / name, clip(), form)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    # The Ogg library drops every page whose checksum is wrong, so what is whole has right ones.
    assert len(audio.read(tmp_path / "one").samples[0]) == len(clip().samples[0])


@pytest.mark.parametrize("form", ["flac", "wav"])
def test_lossless_forms_keep_the_samples(tmp_path: Path, form: str) -> None:
    coarse = np.rint(clip().samples * 2**15) / 2**15
    fine = np.rint(clip().samples * 2**23) / 2**23
    for name, samples in (("16", coarse), ("24", fine)):
        given = audio.Clip(samples.astype(np.float32), 16_000, audio.pcm_hash(samples, 16_000))
        encode(tmp_path / name, given, form)
        assert np.array_equal(audio.read(tmp_path / name).samples, given.samples)
    loud = clip(scale=6.0)
    encode(tmp_path / "loud", loud, form)
    assert audio.peak(audio.read(tmp_path / "loud").samples) <= 1.0


def test_what_a_form_cannot_hold_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotEncoded, match="mp3 does not take 1 channels at 96000 Hz"):
        encode(tmp_path / "clip.mp3", clip(96_000), "mp3")
    assert not (tmp_path / "clip.mp3").exists()
