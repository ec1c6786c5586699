"""Many files through a backbone: order, what cannot be heard, and a cache that never lies."""

import hashlib
import io
import logging
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from earwitness.audio import write_wav
from earwitness.backbones import embedding, open_backbone
from earwitness.backbones.base import Backbone
from earwitness.backbones.embedding import Embedded, cache_for, embedded
from earwitness.errors import UnusableAudio, UserError
from earwitness.weights import cache_folder
from earwitness.weights import yamnet as yamnet_weights

RATE_HZ = 16_000


def noise(seed: int, seconds: float = 1.0, channels: int = 1, rate_hz: int = RATE_HZ) -> NDArray[np.float32]:
    drawn = np.random.default_rng(seed).uniform(-0.5, 0.5, (channels, round(seconds * rate_hz)))
    return drawn.astype(np.float32)


def wav(path: Path, samples: NDArray[np.float32], rate_hz: int = RATE_HZ) -> Path:
    write_wav(path, samples, rate_hz)
    return path


@pytest.fixture
def yamnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Backbone:
    """With a cache of embeddings that is empty; the model comes from the cache there was."""
    model = yamnet_weights().model
    monkeypatch.setenv("EARWITNESS_CACHE", str(tmp_path / "cache"))
    return open_backbone("yamnet", weights=model)


def one(path: Path, backbone: Backbone, *, cache: bool = True) -> Embedded:
    [(index, result)] = embedded([path], backbone, cache=cache)
    assert index == 0
    assert isinstance(result, Embedded), result
    return result


def same(first: Embedded | UnusableAudio, second: Embedded | UnusableAudio) -> bool:
    """Equal to the last bit."""
    return pickle.dumps(first) == pickle.dumps(second)


def kept(backbone: Backbone) -> list[Path]:
    return sorted(cache_for(backbone).rglob("*.*"))


def test_results_come_in_the_order_of_the_files_whoever_makes_them(tmp_path: Path, yamnet: Backbone) -> None:
    files = [wav(tmp_path / f"{seed}.wav", noise(seed, 0.3 + 0.2 * (seed % 3))) for seed in range(36)]
    files.insert(5, files[0])
    files.insert(20, tmp_path / "nowhere.wav")
    steps: list[tuple[int, int]] = []
    alone = list(embedded(files, yamnet, cache=False, progress=lambda *step: steps.append(step)))
    spread = list(embedded(files, yamnet, workers=2))
    again = list(embedded(files, yamnet))
    assert [index for index, _ in alone] == list(range(len(files)))
    assert steps == [(done, len(files)) for done in range(1, len(files) + 1)]
    for results in (spread, again):
        assert all(a[0] == b[0] and same(a[1], b[1]) for a, b in zip(alone, results, strict=True))
    assert len(kept(yamnet)) == 36
    assert same(alone[0][1], alone[5][1])
    hashes = {result.pcm_hash for _, result in alone if isinstance(result, Embedded)}
    assert len(hashes) == 36


def test_what_nobody_can_hear_comes_back_as_the_reason(tmp_path: Path, yamnet: Backbone) -> None:
    nan = noise(1)
    nan[0, 7] = np.nan
    soundfile.write(tmp_path / "nan.wav", nan.T, RATE_HZ, subtype="FLOAT")
    (tmp_path / "empty.wav").write_bytes(b"")
    (tmp_path / "text.wav").write_text("no sound")
    wav(tmp_path / "short.wav", noise(2, 0.02))
    wav(tmp_path / "good.wav", noise(3))
    names = ["nan", "good", "empty", "text", "short", "gone"]
    found = dict(embedded([tmp_path / f"{name}.wav" for name in names], yamnet))
    reasons = {names[i]: r.reason for i, r in found.items() if isinstance(r, UnusableAudio)}
    assert reasons == {
        "nan": "unreadable",
        "empty": "empty",
        "text": "unreadable",
        "short": "too_short",
        "gone": "unreadable",
    }
    good = found[1]
    assert isinstance(good, Embedded)
    assert same(good, one(tmp_path / "good.wav", yamnet, cache=False))


def test_50ms_clip_and_silence_are_embedded(tmp_path: Path, yamnet: Backbone) -> None:
    short = one(wav(tmp_path / "short.wav", noise(0, 0.05)), yamnet)
    silent = one(wav(tmp_path / "silent.wav", np.zeros((1, RATE_HZ), np.float32)), yamnet)
    assert short.embedding.frames.shape == (1, yamnet.width)
    assert (short.silent, silent.silent) == (False, True)
    assert (short.digital_silence, silent.digital_silence) == (0, 1)
    assert short.duration_s == 0.05
    assert np.isfinite(silent.embedding.frames).all()


def test_channels_and_rates_are_brought_to_those_of_the_backbone(tmp_path: Path, yamnet: Backbone) -> None:
    import soxr

    mono = noise(4, 2.0, rate_hz=44_100)[0]
    stereo = one(wav(tmp_path / "stereo.wav", np.stack([mono, mono]), 44_100), yamnet)
    plain = one(wav(tmp_path / "mono.wav", mono[np.newaxis], 44_100), yamnet)
    np.testing.assert_array_equal(stereo.embedding.frames, plain.embedding.frames)
    assert stereo.pcm_hash != plain.pcm_hash
    soundfile.write(tmp_path / "16k.wav", soxr.resample(mono, 44_100, RATE_HZ), RATE_HZ, subtype="FLOAT")
    low = one(tmp_path / "16k.wav", yamnet)
    np.testing.assert_allclose(low.embedding.clip, plain.embedding.clip, atol=0.01)


# The cache


def test_changed_file_changes_key(tmp_path: Path, yamnet: Backbone) -> None:
    path = wav(tmp_path / "clip.wav", noise(0))
    before = one(path, yamnet)
    wav(path, noise(1))
    after = one(path, yamnet)
    assert after.pcm_hash != before.pcm_hash
    assert same(after, one(path, yamnet, cache=False))
    assert not np.array_equal(after.embedding.clip, before.embedding.clip)
    wav(path, noise(0))
    assert same(one(path, yamnet), before)


def test_what_is_kept_is_used_and_is_what_was_computed(
    tmp_path: Path, yamnet: Backbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = wav(tmp_path / "clip.wav", noise(0))
    fresh = one(path, yamnet)
    monkeypatch.setattr(type(yamnet), "embed", None)  # nothing can be computed any more
    assert same(one(path, yamnet), fresh)


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _flip(data: bytes) -> bytes:
    at = len(data) // 3
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize("damage", [_cut, _flip, lambda data: b"", lambda data: b"PK\x03\x04 nothing"])
def test_a_damaged_file_is_made_anew_and_said_so(
    tmp_path: Path, yamnet: Backbone, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    path = wav(tmp_path / "clip.wav", noise(0))
    fresh = one(path, yamnet)
    [file] = kept(yamnet)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    with caplog.at_level(logging.WARNING):
        assert same(one(path, yamnet), fresh)
    assert "damaged" in caplog.text
    assert file.read_bytes() == whole


Arrays = dict[str, NDArray[np.float32]]


@pytest.mark.parametrize(
    "change",
    [
        lambda a: {**a, "frames": a["frames"][:, :9], "clip": a["clip"][:9]},
        lambda a: {**a, "clip": a["clip"][np.newaxis]},
        lambda a: {**a, "frames": a["frames"] * np.nan},
        lambda a: {**a, "frames": a["frames"][0]},
        lambda a: {**a, "frames": a["frames"].astype(np.float64)},
        lambda a: {name: array for name, array in a.items() if name != "logits"},
        lambda a: {**a, "logits": a["logits"][:5]},
    ],
)
def test_numbers_that_are_not_this_backbone_s_are_made_anew(
    tmp_path: Path, yamnet: Backbone, change: Callable[[Arrays], Arrays]
) -> None:
    path = wav(tmp_path / "clip.wav", noise(0))
    fresh = one(path, yamnet)
    [file] = kept(yamnet)
    whole = file.read_bytes()
    with np.load(file) as arrays:
        made = io.BytesIO()
        np.savez(made, **change(dict(arrays)))
    file.write_bytes(made.getvalue() + hashlib.sha256(made.getvalue()).digest())
    assert same(one(path, yamnet), fresh)
    assert file.read_bytes() == whole


def test_no_byte_of_a_kept_file_can_be_changed_unnoticed(
    tmp_path: Path, yamnet: Backbone, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor does any stop the work: zip headers, names of members, numpy's headers, numbers."""
    path = wav(tmp_path / "clip.wav", noise(0, 0.5))
    fresh = one(path, yamnet).embedding
    [file] = kept(yamnet)
    whole = file.read_bytes()
    places = {*range(400), *range(len(whole) - 500, len(whole)), *range(400, len(whole), 200)}
    for at in sorted(places):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x5A]) + whole[at + 1 :])
        found = embedding._load(file, yamnet)
        assert found is None or pickle.dumps(found) == pickle.dumps(fresh), at
    with file.open("wb") as out:
        np.save(out, np.zeros(3))
    assert embedding._load(file, yamnet) is None


def test_two_backbones_never_share_what_is_kept(
    tmp_path: Path, yamnet: Backbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = wav(tmp_path / "clip.wav", noise(0))
    one(path, yamnet)
    first = cache_for(yamnet)
    stated = {**yamnet.settings, "hop_s": 0.96}
    monkeypatch.setattr(type(yamnet), "settings", property(lambda self: stated))
    assert cache_for(yamnet) != first
    one(path, yamnet)
    assert len(kept(yamnet)) == 1


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, yamnet: Backbone) -> None:
    cache_folder().mkdir(parents=True)
    (cache_folder() / "embeddings").write_text("a file where a folder is needed")
    path = wav(tmp_path / "clip.wav", noise(0))
    with pytest.raises(UserError, match=r"cache.*cannot be written(.|\n)*EARWITNESS_CACHE"):
        one(path, yamnet)
    assert one(path, yamnet, cache=False).duration_s == 1.0


def test_no_worker_is_too_few(yamnet: Backbone) -> None:
    files: Sequence[Path] = ()
    with pytest.raises(UserError, match="at least 1"):
        list(embedded(files, yamnet, workers=0))
    assert list(embedded(files, yamnet)) == []
