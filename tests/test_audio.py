"""Reading whatever generators write, refusing what nobody can hear, and writing without loss."""

import io
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness import audio
from earwitness.errors import UnusableAudio

RATE_HZ = 16_000


def tone(seconds: float = 1.0, rate_hz: int = RATE_HZ, hz: float = 440.0, gain: float = 0.3) -> np.ndarray:
    return (gain * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate_hz)) / rate_hz)).astype(np.float32)


def noise(seconds: float = 1.0, rate_hz: int = RATE_HZ, channels: int = 1, seed: int = 0) -> np.ndarray:
    shape = (channels, round(seconds * rate_hz))
    return np.random.default_rng(seed).uniform(-0.3, 0.3, shape).astype(np.float32)


def refusal(path: Path) -> UnusableAudio:
    with pytest.raises(UnusableAudio) as caught:
        audio.read(path)
    return caught.value


def wav_bytes(data_size: int, riff_size: int, before: bytes = b"", data: bytes | None = None) -> bytes:
    """One second of a 16-bit mono tone whose header states what we like."""
    pcm = (tone() * 32767).astype("<i2").tobytes() if data is None else data
    head = struct.pack(
        "<4sI4s4sIHHIIHH", b"RIFF", riff_size, b"WAVE", b"fmt ", 16, 1, 1, RATE_HZ, 32000, 2, 16
    )
    return head + before + struct.pack("<4sI", b"data", data_size) + pcm


# Formats


@pytest.mark.parametrize(
    ("name", "subtype"),
    [
        ("a.wav", "PCM_U8"),
        ("a.wav", "PCM_16"),
        ("a.wav", "PCM_24"),
        ("a.wav", "PCM_32"),
        ("a.wav", "FLOAT"),
        ("a.wav", "DOUBLE"),
        ("a.wav", "ULAW"),
        ("a.wav", "MS_ADPCM"),
        ("a.flac", "PCM_16"),
        ("a.flac", "PCM_24"),
        ("a.ogg", "VORBIS"),
        ("a.ogg", "OPUS"),
        ("a.mp3", "MPEG_LAYER_III"),
    ],
)
@pytest.mark.parametrize("channels", [1, 2])
def test_formats_give_the_same_sound(tmp_path: Path, name: str, subtype: str, channels: int) -> None:
    sound = np.stack([tone(hz=440.0 + 200 * c) for c in range(channels)])
    soundfile.write(tmp_path / name, sound.T, RATE_HZ, subtype=subtype)
    clip = audio.read(tmp_path / name)
    assert clip.samples.dtype == np.float32
    assert clip.samples.shape[0] == channels
    assert clip.duration_s == pytest.approx(1.0, abs=0.06)  # ADPCM fills its last block
    assert clip.warnings == ()
    middle = slice(RATE_HZ // 4, 3 * RATE_HZ // 4)
    mixed, wanted = audio.mono(clip, RATE_HZ)[middle], sound.mean(axis=0)[middle]
    assert np.corrcoef(mixed, wanted)[0, 1] > 0.99


@pytest.mark.parametrize("rate_hz", [8000, 11025, 22050, 44100, 48000, 96000])
def test_any_rate_and_many_channels(tmp_path: Path, rate_hz: int) -> None:
    soundfile.write(tmp_path / "a.wav", noise(1.0, rate_hz, channels=6).T, rate_hz)
    clip = audio.read(tmp_path / "a.wav")
    assert (clip.samples.shape, clip.rate_hz) == ((6, rate_hz), rate_hz)
    assert audio.mono(clip, RATE_HZ).shape == (RATE_HZ,)


def test_the_content_decides_not_the_name(tmp_path: Path) -> None:
    flac = tmp_path / "a.flac"
    soundfile.write(flac, noise().T, RATE_HZ)
    for name in ("clip.wav", "clip.raw", "clip", "clip.MP3"):
        (tmp_path / name).write_bytes(flac.read_bytes())
        assert audio.read(tmp_path / name).pcm_hash == audio.read(flac).pcm_hash


@pytest.mark.parametrize(
    "name", ["é 音.wav", "🐕, then 🔔.wav", "a b,c;d'e\"f.wav", os.fsdecode(b"bad\xff.wav")]
)
def test_unicode_paths(tmp_path: Path, name: str) -> None:
    plain = tmp_path / "plain.wav"
    audio.write_wav(plain, noise(), RATE_HZ)
    (tmp_path / name).write_bytes(plain.read_bytes())
    assert audio.read(tmp_path / name).pcm_hash == audio.read(plain).pcm_hash


def test_symbolic_link_is_followed(tmp_path: Path) -> None:
    audio.write_wav(tmp_path / "a.wav", noise(), RATE_HZ)
    (tmp_path / "link.wav").symlink_to(tmp_path / "a.wav")
    assert audio.read(tmp_path / "link.wav").duration_s == 1.0


@pytest.mark.realdata
def test_real_clips_read_clean(shared_data: Path) -> None:
    found = [audio.read(p) for p in sorted((shared_data / "generated").rglob("*.flac"))[::7]]
    assert len(found) > 20
    assert all(np.isfinite(clip.samples).all() and 1 < clip.duration_s < 60 for clip in found)


# What cannot be heard


def test_empty_file_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "zero.wav").touch()
    soundfile.write(tmp_path / "header.wav", np.zeros((0, 1)), RATE_HZ)
    assert refusal(tmp_path / "zero.wav").reason == "empty"
    assert refusal(tmp_path / "header.wav").reason == "empty"


@pytest.mark.parametrize(("samples", "usable"), [(1, False), (399, False), (400, True)])
def test_under_25_ms_is_too_short(tmp_path: Path, samples: int, usable: bool) -> None:
    audio.write_wav(tmp_path / "a.wav", np.full((1, samples), 0.1, np.float32), RATE_HZ)
    if usable:
        assert audio.read(tmp_path / "a.wav").duration_s == audio.MIN_S
    else:
        assert refusal(tmp_path / "a.wav").reason == "too_short"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_filled_is_unreadable(tmp_path: Path, value: float) -> None:
    sound = noise()
    sound[0, 100:103] = value
    soundfile.write(tmp_path / "a.wav", sound.T, RATE_HZ, subtype="FLOAT")
    fault = refusal(tmp_path / "a.wav")
    assert fault.reason == "unreadable"
    assert "3 of 16000 samples are NaN" in fault.detail


def test_what_is_no_sound_file_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "folder.wav").mkdir()
    (tmp_path / "text.wav").write_text("404: not found")
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "loop.wav").symlink_to(tmp_path / "loop.wav")
    for name in ("folder.wav", "text.wav", "pipe.wav", "loop.wav", "missing.wav", "n" * 300 + ".wav"):
        assert refusal(tmp_path / name).reason == "unreadable", name


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_no_permission_is_unreadable(tmp_path: Path) -> None:
    audio.write_wav(tmp_path / "a.wav", noise(), RATE_HZ)
    (tmp_path / "a.wav").chmod(0)
    assert refusal(tmp_path / "a.wav").detail == "Permission denied"


def test_absurdly_long_is_too_long_before_it_is_decoded(tmp_path: Path) -> None:
    with (tmp_path / "long.wav").open("wb") as file:  # 8 bits, 1 kHz, sparse
        n = int(audio.MAX_S * 1000) + 1000
        file.write(
            struct.pack("<4sI4s4sIHHIIHH", b"RIFF", n + 36, b"WAVE", b"fmt ", 16, 1, 1, 1000, 1000, 1, 8)
        )
        file.write(struct.pack("<4sI", b"data", n))
        file.truncate(44 + n)
    assert refusal(tmp_path / "long.wav").reason == "too_long"


# Headers that do not tell the truth


@pytest.mark.parametrize("stated", [0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF000, 0])
@pytest.mark.parametrize("before", [b"", struct.pack("<4sI", b"LIST", 26) + b"INFOISFT" + bytes(18)])
def test_streamed_wav_is_heard_whole(tmp_path: Path, stated: int, before: bytes) -> None:
    """Encoders that write to a pipe cannot go back to fill in the size."""
    (tmp_path / "a.wav").write_bytes(wav_bytes(stated, stated, before))
    (tmp_path / "whole.wav").write_bytes(wav_bytes(32000, 32036))
    clip, whole = audio.read(tmp_path / "a.wav"), audio.read(tmp_path / "whole.wav")
    assert clip.pcm_hash == whole.pcm_hash
    assert "states no length" in clip.warnings[0]
    assert whole.warnings == ()


def test_lying_header(tmp_path: Path) -> None:
    """A clip lasts as long as its samples; a chunk of tags behind them changes nothing."""
    tags = struct.pack("<4sI", b"LIST", 12) + b"INFOISFT" + bytes(4)
    pcm = (tone() * 32767).astype("<i2").tobytes()
    (tmp_path / "tags.wav").write_bytes(wav_bytes(32000, 32056, data=pcm + tags))
    (tmp_path / "riff.wav").write_bytes(wav_bytes(32000, 99999))
    (tmp_path / "few.wav").write_bytes(
        wav_bytes(32400, 32436)
    )  # 1 % more than there is: a rounding, not a cut
    for name in ("tags.wav", "riff.wav", "few.wav"):
        assert audio.read(tmp_path / name).duration_s == 1.0, name


def test_truly_empty_data_chunk_is_not_taken_for_a_stream(tmp_path: Path) -> None:
    tags = struct.pack("<4sI", b"LIST", 12) + b"INFOISFT" + bytes(4)
    (tmp_path / "a.wav").write_bytes(wav_bytes(0, 36 + len(tags), data=tags))
    assert refusal(tmp_path / "a.wav").reason == "empty"


def test_cut_wav_is_unreadable_with_both_figures(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(wav_bytes(32000, 32036)[: 44 + 16000])
    fault = refusal(tmp_path / "a.wav")
    assert fault.reason == "unreadable"
    assert "0.50 s of the 1.00 s" in fault.detail


@pytest.mark.parametrize("extension", ["flac", "mp3"])
def test_cut_compressed_file_is_unreadable_with_both_figures(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a.{extension}"
    soundfile.write(path, noise(8.0).T, RATE_HZ)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    fault = refusal(path)
    assert fault.reason == "unreadable"
    assert "of the 8.00 s its header states" in fault.detail


def test_decoder_returning_nothing(tmp_path: Path) -> None:
    """A header with no frame behind it: some decoders give an empty array and no error."""
    for extension in ("flac", "ogg", "mp3"):
        path = tmp_path / f"a.{extension}"
        soundfile.write(path, noise(4.0).T, RATE_HZ)
        path.write_bytes(path.read_bytes()[:200])
        assert refusal(path).reason in ("unreadable", "empty"), extension


def test_flac_stream_of_unknown_length_is_heard_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.flac"
    soundfile.write(path, noise(3.0).T, RATE_HZ)
    whole = audio.read(path).pcm_hash
    data = bytearray(path.read_bytes())
    data[21] &= 0xF0  # STREAMINFO's 36-bit sample count, zero when the encoder wrote to a pipe
    data[22:26] = bytes(4)
    path.write_bytes(data)
    assert audio.read(path).pcm_hash == whole


def _mp3_frames(mode: str) -> tuple[bytes, bytes]:
    """An mp3 file, quiet then loud, as (its frame with the Xing or Info header, the rest)."""
    file = io.BytesIO()
    sound = np.concatenate([tone(6.0), noise(6.0)[0]])
    with soundfile.SoundFile(
        file, "w", RATE_HZ, 1, "MPEG_LAYER_III", format="MP3", compression_level=0.5, bitrate_mode=mode
    ) as out:
        out.write(sound)
    data = file.getvalue()
    second = data.index(data[:2], 100)
    return data[:second], data[second:]


def test_mp3_without_a_length_header_is_heard_whole_or_refused(tmp_path: Path) -> None:
    """libsndfile guesses the length from the first frame and would drop most of a variable-rate file."""
    _, constant = _mp3_frames("CONSTANT")
    _, variable = _mp3_frames("VARIABLE")
    (tmp_path / "constant.mp3").write_bytes(constant)
    (tmp_path / "variable.mp3").write_bytes(variable)
    assert audio.read(tmp_path / "constant.mp3").duration_s == pytest.approx(12.0, abs=0.2)
    fault = refusal(tmp_path / "variable.mp3")
    assert fault.reason == "unreadable"
    assert "re-encode" in fault.detail


def test_mp3_files_glued_together_are_refused(tmp_path: Path) -> None:
    whole = b"".join(_mp3_frames("VARIABLE"))
    (tmp_path / "one.mp3").write_bytes(whole + b"TAG" + bytes(125))
    (tmp_path / "two.mp3").write_bytes(whole + whole)
    assert audio.read(tmp_path / "one.mp3").duration_s == 12.0
    assert refusal(tmp_path / "two.mp3").reason == "unreadable"


def test_mp3_samples_equal_a_decode_in_one_piece(tmp_path: Path) -> None:
    """Seeking between blocks disturbs an mp3 decoder; a whole read through soundfile does not seek midway."""
    path = tmp_path / "a.mp3"
    path.write_bytes(_mp3_frames("CONSTANT")[1])
    whole, _ = soundfile.read(path, dtype="float32")
    assert np.array_equal(audio.read(path).samples[0], whole)


_VALID = {}
for _format, _subtype in (
    ("WAV", "PCM_16"),
    ("FLAC", "PCM_16"),
    ("OGG", "VORBIS"),
    ("MP3", "MPEG_LAYER_III"),
):
    _file = io.BytesIO()
    soundfile.write(_file, noise(0.4).T, RATE_HZ, format=_format, subtype=_subtype)
    _VALID[_format] = _file.getvalue()


@given(
    kind=st.sampled_from(sorted(_VALID)),
    edits=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 255)), max_size=8),
    keep=st.integers(0, 20_000),
)
@settings(max_examples=300, deadline=None)
def test_damaged_files_are_heard_or_refused_never_worse(
    tmp_path_factory: pytest.TempPathFactory, kind: str, edits: list[tuple[int, int]], keep: int
) -> None:
    data = bytearray(_VALID[kind][:keep])
    for at, value in edits:
        if at < len(data):
            data[at] = value
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(data)
    try:
        clip = audio.read(path)
    except UnusableAudio as fault:
        detail = fault.detail
    else:
        detail = f"{clip.duration_s:.3f} s"
        assert np.isfinite(clip.samples).all()
        assert audio.MIN_S <= clip.duration_s <= audio.MAX_S
    assert detail
    assert str(path) not in detail


# Warnings


def test_event_only_in_right_channel(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.stack([np.zeros(RATE_HZ), tone()]).T, RATE_HZ)
    clip = audio.read(tmp_path / "a.wav")
    assert clip.warnings == ("channel 1 of 2 is silent; the mean downmix lowers the level",)
    assert audio.peak(audio.mono(clip, RATE_HZ)) == pytest.approx(0.15, abs=1e-3)


def test_silence_clipping_and_cancelling_are_said(tmp_path: Path) -> None:
    loud = np.clip(tone(gain=4.0), -1, 1)
    normalised = tone(gain=1.0) * 0.99
    normalised[100] = 1.0
    for name, channels, words in (
        ("silent", [np.zeros(RATE_HZ), np.zeros(RATE_HZ)], "the clip is silent"),
        ("clipped", [loud], "% of the samples are clipped"),
        ("opposite", [tone(), -tone()], "cancel each other"),
    ):
        soundfile.write(tmp_path / f"{name}.wav", np.stack(channels).T, RATE_HZ)
        (warning,) = audio.read(tmp_path / f"{name}.wav").warnings
        assert words in warning
    for name, channels in (("peak", [normalised]), ("wide", list(noise(channels=8)))):
        soundfile.write(tmp_path / f"{name}.wav", np.stack(channels).T, RATE_HZ)
        assert audio.read(tmp_path / f"{name}.wav").warnings == (), name


# Downmix and rate


def test_stereo_44k_to_16k(tmp_path: Path) -> None:
    """Two channels are two channels, not two samples."""
    sound = np.stack([tone(2.0, 44100), tone(2.0, 44100)])
    soundfile.write(tmp_path / "a.wav", sound.T, 44100)
    mixed = audio.mono(audio.read(tmp_path / "a.wav"), RATE_HZ)
    assert mixed.shape == (32000,)
    assert mixed.dtype == np.float32
    inner = slice(1000, -1000)
    assert mixed[inner] == pytest.approx(tone(2.0)[inner], abs=1e-3)


def test_same_rate_is_left_alone() -> None:
    sound = noise()
    assert np.array_equal(audio.mono(audio.Clip(sound, RATE_HZ, ""), RATE_HZ), sound[0])


def test_what_lies_above_the_new_rate_is_filtered_not_folded() -> None:
    clip = audio.Clip(tone(1.0, 48000, hz=10_000.0)[None], 48000, "")
    level = audio.level_dbfs(audio.mono(clip, RATE_HZ)[500:-500])
    assert level is None or level < -90


@given(
    n=st.integers(1, 5000),
    source_hz=st.sampled_from([8000, 11025, 22050, 44100, 48000]),
    rate_hz=st.sampled_from([8000, 16000, 32000, 44100]),
)
def test_resampled_length(n: int, source_hz: int, rate_hz: int) -> None:
    mixed = audio.mono(audio.Clip(np.zeros((1, n), np.float32), source_hz, ""), rate_hz)
    assert len(mixed) == round(n * rate_hz / source_hz)


# Levels


def test_levels_have_stated_zero() -> None:
    assert audio.level_dbfs(np.ones((2, 100), np.float32)) == 0.0
    assert audio.level_dbfs(tone(gain=1.0)) == pytest.approx(-3.01, abs=0.01)
    assert audio.level_dbfs(np.zeros(100, np.float32)) is None
    assert audio.level_dbfs(np.zeros(0, np.float32)) is None
    assert audio.peak(np.array([[0.25, -0.5]], np.float32)) == 0.5
    assert audio.peak(np.zeros((1, 0), np.float32)) == 0.0


# Hash


def test_pcm_hash_follows_the_sound_only(tmp_path: Path) -> None:
    sound = noise(channels=2)
    audio.write_wav(tmp_path / "a.wav", sound, RATE_HZ)
    samples = audio.read(tmp_path / "a.wav").samples
    soundfile.write(tmp_path / "copy.flac", samples.T, RATE_HZ, subtype="PCM_16")
    with soundfile.SoundFile(tmp_path / "float.wav", "w", RATE_HZ, 2, "FLOAT") as file:
        file.title = "a title"
        file.write(samples.T)
    hashes = {audio.read(tmp_path / n).pcm_hash for n in ("a.wav", "copy.flac", "float.wav")}
    assert len(hashes) == 1
    assert hashes == {audio.pcm_hash(samples, RATE_HZ)}


def test_pcm_hash_tells_different_sound_apart() -> None:
    sound = noise(channels=2)
    other = sound.copy()
    other[1, -1] += 1e-3
    hashes = [
        audio.pcm_hash(sound, RATE_HZ),
        audio.pcm_hash(sound, 8000),
        audio.pcm_hash(sound[::-1], RATE_HZ),
        audio.pcm_hash(sound.reshape(1, -1), RATE_HZ),
        audio.pcm_hash(sound[:, :-1], RATE_HZ),
        audio.pcm_hash(other, RATE_HZ),
    ]
    assert len(set(hashes)) == len(hashes)


# Writing


@pytest.mark.parametrize(("subtype", "bits"), [("PCM_16", 16), ("PCM_24", 24)])
def test_written_samples_come_back_and_stay(tmp_path: Path, subtype: str, bits: int) -> None:
    sound = noise(channels=2)
    sound[0, :3] = (1.0, -1.0, 0.0)
    audio.write_wav(tmp_path / "a.wav", sound, RATE_HZ, subtype)
    clip = audio.read(tmp_path / "a.wav")
    step = 2.0 ** (1 - bits)
    assert np.abs(clip.samples - sound).max() <= step
    assert np.abs(clip.samples - sound)[:, 3:].max() <= step / 2
    audio.write_wav(tmp_path / "b.wav", clip.samples, RATE_HZ, subtype)
    assert (tmp_path / "a.wav").read_bytes() == (tmp_path / "b.wav").read_bytes()


@pytest.mark.parametrize(("subtype", "width"), [("PCM_16", 2), ("PCM_24", 3)])
@pytest.mark.parametrize(("channels", "samples"), [(1, 801), (2, 800), (3, 7)])
def test_files_are_those_that_libsndfile_writes(
    tmp_path: Path, subtype: str, width: int, channels: int, samples: int
) -> None:
    steps = 2 ** (8 * width - 1)
    whole = np.random.default_rng(0).integers(-steps, steps, (channels, samples), dtype=np.int32)
    audio.write_wav(tmp_path / "ours.wav", (whole / steps).astype(np.float32), RATE_HZ, subtype)
    soundfile.write(tmp_path / "theirs.wav", (whole << (32 - 8 * width)).T, RATE_HZ, subtype)
    assert (tmp_path / "ours.wav").read_bytes() == (tmp_path / "theirs.wav").read_bytes()


def test_writing_never_clips_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with pytest.raises(ValueError, match=r"peak 1\.2000 .* 1\.58 dB"):
        audio.write_wav(path, np.full((1, 800), -1.2, np.float32), RATE_HZ)
    with pytest.raises(ValueError, match="finite"):
        audio.write_wav(path, np.full((1, 800), np.nan, np.float32), RATE_HZ)
    with pytest.raises(ValueError, match="shape"):
        audio.write_wav(path, np.zeros(800, np.float32), RATE_HZ)
    with pytest.raises(ValueError, match="PCM_16, PCM_24"):
        audio.write_wav(path, noise(), RATE_HZ, "FLOAT")
    assert not path.exists()
