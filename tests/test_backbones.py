"""Embedding models: their framing and networks, and that a clip is the same alone or among others."""

import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import softmax

import tiny_backbones
from earwitness import labels
from earwitness.backbones import NAMES, open_backbone
from earwitness.backbones.base import Backbone
from earwitness.backbones.checkpoints import Source, Tensors
from earwitness.backbones.panns import MAX_S, Panns, audioset_classes
from earwitness.backbones.yamnet import Network
from earwitness.backbones.yamnet_features import log_mel_from_start, patches
from earwitness.errors import MissingExtra, UnusableAudio, UserError

Samples = NDArray[np.float32]
SOURCE = Source("tiny", "https://weights.example", "a tensor named layer")


def noise(backbone: Any, seconds: float, seed: int = 0, peak: float = 0.3) -> Samples:
    count = round(seconds * backbone.rate_hz)
    return np.random.default_rng(seed).uniform(-peak, peak, count).astype(np.float32)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path | None]:
    """Of every backbone, by name."""
    folder = tmp_path_factory.mktemp("weights")
    torch.save(tiny_backbones.vggish(), folder / "vggish.pth")
    torch.save({"iteration": 1, "model": tiny_backbones.panns()}, folder / "panns.pth")
    return {
        "yamnet": None,
        "vggish": folder / "vggish.pth",
        "panns": folder / "panns.pth",
        "panns-framewise": folder / "panns.pth",
        "clap": tiny_backbones.clap(folder / "clap"),
    }


@pytest.fixture(scope="module")
def backbones(weights: dict[str, Path | None]) -> dict[str, Any]:
    return {name: open_backbone(name, weights=path) for name, path in weights.items()}


@pytest.fixture(params=list(NAMES))
def backbone(request: pytest.FixtureRequest, backbones: dict[str, Any]) -> Any:
    return backbones[request.param]


# Every backbone


@pytest.mark.parametrize("seconds", [0.025, 0.05, 0.96, 5.3])
@pytest.mark.parametrize("peak", [0.0, 0.3])
def test_50ms_clips_silence_and_long_ones_give_finite_numbers(
    backbone: Backbone, seconds: float, peak: float
) -> None:
    made = backbone.embed(noise(backbone, seconds, peak=peak))
    assert made.frames.shape == (len(made.frames), backbone.width)
    assert len(made.frames) >= 1
    assert made.clip.ndim == 1
    assert (made.logits is None) == (not backbone.classes)
    for part in (made.frames, made.clip, made.logits):
        if part is not None:
            assert part.dtype == np.float32
            assert np.isfinite(part).all()
    if made.logits is not None:
        assert made.logits.shape == (len(backbone.classes),)


def test_same_clip_same_vector_alone_or_among_others(backbone: Backbone) -> None:
    """Of a copy sent to another process too, and whatever random numbers were drawn before."""
    clips = [noise(backbone, seconds, seed) for seed, seconds in enumerate((5.3, 0.3, 2.5))]
    np.random.seed(1)
    among = [backbone.embed(clip) for clip in clips]
    np.random.seed(2)
    copy = pickle.loads(pickle.dumps(backbone))  # noqa: S301
    for clip, first in zip(reversed(clips), reversed(among), strict=True):
        for again in (backbone.embed(clip), copy.embed(clip)):
            assert pickle.dumps(again) == pickle.dumps(first)


def test_what_it_states_is_plain_data_and_what_it_gives(backbone: Backbone) -> None:
    import json

    assert json.loads(json.dumps(backbone.settings)) == backbone.settings
    assert backbone.settings["rate_hz"] == backbone.rate_hz
    about = NAMES[backbone.name]
    assert ("kl" in about.serves) == ("is" in about.serves) == bool(backbone.classes)
    assert ("clap" in about.serves) == hasattr(backbone, "words")


@pytest.mark.parametrize("name", [name for name, about in NAMES.items() if about.timed])
@pytest.mark.parametrize("seconds", [0.05, 0.49, 0.5, 2.3])
def test_features_in_time_are_there_for_every_hop(
    name: str, seconds: float, backbones: dict[str, Any]
) -> None:
    backbone = backbones[name]
    samples = noise(backbone, seconds)
    features, scores = backbone.timed(samples, 0.5), backbone.class_scores(samples, 0.5)
    rows = int(seconds / 0.5) + 1
    assert features.shape == (rows, backbone.width)
    assert scores.shape == (rows, len(backbone.classes))
    quieter = samples * np.float32(0.1)  # a detector must not miss what is quiet
    np.testing.assert_allclose(backbone.timed(quieter, 0.5), features, rtol=1e-3, atol=1e-3)
    assert not np.allclose(backbone.embed(quieter).clip, backbone.embed(samples).clip, rtol=1e-2, atol=1e-2)
    with pytest.raises(UserError, match="hop_s"):
        backbone.timed(samples, 0.0)


@pytest.mark.parametrize("name", [name for name, about in NAMES.items() if about.timed])
def test_features_in_time_change_where_the_sound_does(name: str, backbones: dict[str, Any]) -> None:
    backbone = backbones[name]
    samples = noise(backbone, 12.0, peak=0.1)
    samples[0] = 0.9  # the level both are brought to
    changed = samples.copy()
    burst = slice(round(6.0 * backbone.rate_hz), round(6.5 * backbone.rate_hz))
    changed[burst] += np.sin(np.arange(burst.stop - burst.start)).astype(np.float32) * 0.5
    apart = np.abs(backbone.timed(samples, 0.1) - backbone.timed(changed, 0.1)).sum(axis=1)
    times_s = np.arange(len(apart)) * 0.1
    assert np.average(times_s, weights=apart) == pytest.approx(6.25, abs=0.2)


# YAMNet


@given(st.integers(400, 60_000))
@settings(max_examples=25, deadline=None)
def test_windows_begin_with_the_clip_and_take_in_every_sample(count: int) -> None:
    views = patches(log_mel_from_start(np.zeros(count, np.float32), 48), 48)
    last_end = (len(views) - 1) * 7680 + 15600
    assert last_end >= count
    assert last_end - 7680 < count or len(views) == 1


def test_a_frame_of_yamnet_is_its_window_alone(backbones: dict[str, Any]) -> None:
    yamnet = backbones["yamnet"]
    samples = noise(yamnet, 2.2)
    made, network = yamnet.embed(samples), Network()
    padded = np.concatenate([samples, np.zeros(15600, np.float32)])
    logits = []
    for k, frame in enumerate(made.frames):
        window = padded[7680 * k :][:15600]
        embeddings, scores = network(patches(log_mel_from_start(window, 48), 48), "embeddings", "logits")
        np.testing.assert_allclose(frame, embeddings[0], atol=1e-4)
        logits.append(scores[0])
    np.testing.assert_allclose(made.clip, made.frames.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(
        softmax(made.logits), softmax(np.array(logits), axis=1).mean(axis=0), atol=1e-5
    )
    assert len(yamnet.classes) == 521
    assert set(yamnet.classes) <= set(labels.names())


def test_a_clip_that_ends_in_silence_is_not_silence_to_yamnet(backbones: dict[str, Any]) -> None:
    """Digital silence has so large a logit that a mean of logits would take any such clip for silence."""
    yamnet = backbones["yamnet"]
    tone = 0.3 * np.sin(2 * np.pi * 1000 * np.arange(48_000) / yamnet.rate_hz).astype(np.float32)
    sounding, cut = softmax(yamnet.embed(tone).logits), np.concatenate([tone, np.zeros_like(tone)])
    silent, both = softmax(yamnet.embed(np.zeros_like(tone)).logits), softmax(yamnet.embed(cut).logits)
    np.testing.assert_allclose(both, (sounding + silent) / 2, atol=0.2)


def test_a_finer_hop_of_yamnet_holds_the_coarser_one(backbones: dict[str, Any]) -> None:
    samples = noise(backbones["yamnet"], 2.3)
    fine, coarse = (backbones["yamnet"].timed(samples, hop_s) for hop_s in (0.1, 0.5))
    np.testing.assert_allclose(fine[::5], coarse, atol=1e-4)
    with pytest.raises(UserError, match=r"multiple of 0\.01"):
        backbones["yamnet"].timed(samples, 0.125)


# VGGish


def test_vggish_is_the_published_network_on_the_published_front_end(backbones: dict[str, Any]) -> None:
    """Against layers of torch and a direct computation of the features in double precision."""
    samples = noise(backbones["vggish"], 2.5)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    starts = range(0, 2 * 15360, 160)
    spectra = np.abs([np.fft.rfft(samples[s : s + 400] * window, 512) for s in starts])
    hz = np.arange(257) * 16000 / 512
    low, high = (2595 * np.log10(1 + edge / 700) for edge in (125, 7500))
    edges = np.linspace(low, high, 66)
    mel = 2595 * np.log10(1 + hz / 700)
    bands = [np.interp(mel, edges[k : k + 3], [0, 1, 0], left=0, right=0) for k in range(64)]
    features = np.log(spectra @ np.array(bands).T + 0.01).reshape(2, 1, 96, 64)
    layers: list[torch.nn.Module] = []
    size = 1
    for channels in (4, "M", 4, "M", 6, 6, "M", 8, 8, "M"):
        if isinstance(channels, int):
            layers += [torch.nn.Conv2d(size, channels, 3, padding=1), torch.nn.ReLU()]
            size = channels
        else:
            layers.append(torch.nn.MaxPool2d(2))
    network = torch.nn.ModuleDict(
        {
            "features": torch.nn.Sequential(*layers),
            "embeddings": torch.nn.Sequential(
                torch.nn.Linear(192, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16), torch.nn.ReLU(),
                torch.nn.Linear(16, 12),
            ),
        }
    )  # fmt: skip
    network.load_state_dict(tiny_backbones.vggish())
    with torch.no_grad():
        x = network["features"](torch.tensor(features, dtype=torch.float32))
        wanted = network["embeddings"](x.permute(0, 2, 3, 1).reshape(2, -1)).numpy()
    made = backbones["vggish"].embed(samples)
    np.testing.assert_allclose(made.frames, wanted, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(made.clip, wanted.mean(axis=0), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("samples", "frames"), [(400, 1), (15600, 1), (30959, 1), (30960, 2), (160_000, 10)])
def test_vggish_takes_whole_windows_only(samples: int, frames: int, backbones: dict[str, Any]) -> None:
    assert len(backbones["vggish"].embed(np.zeros(samples, np.float32)).frames) == frames


# PANNs


class Reference(torch.nn.Module):
    """Cnn14 of layers of torch, with the sizes of the small weights."""

    def __init__(self) -> None:
        super().__init__()
        self.bn0 = torch.nn.BatchNorm2d(64)
        size = 1
        for block, channels in enumerate(tiny_backbones.PANNS_CHANNELS, 1):
            layers = {}
            for part in (1, 2):
                layers[f"conv{part}"] = torch.nn.Conv2d(size, channels, 3, padding=1, bias=False)
                layers[f"bn{part}"] = torch.nn.BatchNorm2d(channels)
                size = channels
            self.add_module(f"conv_block{block}", torch.nn.ModuleDict(layers))
        self.fc1 = torch.nn.Linear(size, tiny_backbones.WIDTH)
        self.fc_audioset = torch.nn.Linear(tiny_backbones.WIDTH, 527)
        self.load_state_dict(tiny_backbones.panns(), strict=False)
        self.eval()

    def blocks(self, mel: NDArray[np.float32]) -> torch.Tensor:
        x = torch.from_numpy(mel)[None, None]
        x = self.bn0(x.transpose(1, 3)).transpose(1, 3)
        for block in range(1, 7):
            layers = getattr(self, f"conv_block{block}")
            for part in (1, 2):
                x = torch.relu(layers[f"bn{part}"](layers[f"conv{part}"](x)))
            x = torch.nn.functional.avg_pool2d(x, 2 if block < 6 else 1)
        return x.mean(dim=3)

    def forward(self, x: torch.Tensor) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        embedding = torch.relu(self.fc1(x))
        return embedding.numpy(), self.fc_audioset(embedding).numpy()


def panns_mel(samples: Samples, window: int, hop: int) -> NDArray[np.float32]:
    """Frame by frame in double precision."""
    padded = np.pad(samples.astype(float), window // 2, mode="reflect")
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)
    frames = range(0, len(padded) - window + 1, hop)
    power = np.array([np.abs(np.fft.rfft(padded[at : at + window] * hann)) ** 2 for at in frames])
    found = 10 * np.log10(np.maximum(power @ tiny_backbones.mel_bands(window), 1e-10))
    return np.asarray(found, np.float32)


@torch.no_grad()
def test_panns_are_the_published_networks(backbones: dict[str, Any]) -> None:
    samples = noise(backbones["panns"], 2.5)
    reference = Reference()
    x = reference.blocks(panns_mel(samples, 1024, 320))
    clip, logits = reference(x.max(dim=2).values + x.mean(dim=2))
    tagged = backbones["panns"].embed(samples)
    np.testing.assert_allclose(tagged.clip, clip[0], atol=1e-3)
    np.testing.assert_allclose(tagged.logits, logits[0], atol=1e-3)
    np.testing.assert_array_equal(tagged.frames, tagged.clip[np.newaxis])
    x = torch.nn.functional.max_pool1d(x, 3, 1, 1) + torch.nn.functional.avg_pool1d(x, 3, 1, 1)
    frames, logits = reference(x.transpose(1, 2))
    framewise = backbones["panns-framewise"].embed(samples)
    assert framewise.frames.shape == (7, tiny_backbones.WIDTH)
    np.testing.assert_allclose(framewise.frames, frames[0], atol=1e-3)
    np.testing.assert_allclose(framewise.logits, logits[0].max(axis=0), atol=1e-3)


@pytest.mark.parametrize(("window", "rate_hz"), [(1024, 32_000), (512, 16_000), (256, 8_000)])
def test_rate_and_front_end_follow_the_weights(tmp_path: Path, window: int, rate_hz: int) -> None:
    torch.save({"model": tiny_backbones.panns(window=window)}, tmp_path / "w.pth")
    panns = Panns(weights=tmp_path / "w.pth")
    assert panns.rate_hz == rate_hz
    samples = noise(panns, 0.8)
    np.testing.assert_allclose(
        panns._network.log_mel(samples), panns_mel(samples, window, rate_hz // 100), atol=1e-2
    )
    assert len(panns._network.log_mel(samples[:100])) == 32  # one segment, the shortest there is


def test_times_of_framewise_panns_lie_between_the_segments(backbones: dict[str, Any]) -> None:
    framewise = backbones["panns-framewise"]
    samples = noise(framewise, 3.2)
    samples[:2] = 10 ** (-1 / 20), -(10 ** (-1 / 20))  # its level is that of timed features already
    segments, timed = framewise.embed(samples).frames, framewise.timed(samples, 0.005)
    centres = (np.arange(len(segments)) * 32 + 15.5) * 2
    np.testing.assert_allclose(timed[centres.astype(int)], segments, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(timed[0], timed[31])  # before the first centre it is the first's
    np.testing.assert_allclose(timed[63], (segments[0] + segments[1]) / 2, rtol=1e-3, atol=1e-4)


def test_tagger_refused_for_times(backbones: dict[str, Any]) -> None:
    panns = backbones["panns"]
    for ask in (panns.timed, panns.class_scores):
        with pytest.raises(UserError, match=r"no times(.|\n)*panns-framewise"):
            ask(noise(panns, 1.0), 0.5)


def test_a_clip_too_long_for_panns_is_said_so(backbones: dict[str, Any]) -> None:
    long = np.zeros(round((MAX_S + 1) * 32_000), np.float32)
    with pytest.raises(UnusableAudio, match="too_long: 121 s"):
        backbones["panns"].embed(long)


def test_the_classes_of_audioset_are_all_there_in_their_order(backbones: dict[str, Any]) -> None:
    names = audioset_classes()
    assert len(set(names)) == len(names) == 527
    assert set(names) <= set(labels.names())
    yamnets = backbones["yamnet"].classes  # the same order, six left out
    assert tuple(name for name in names if name in yamnets) == yamnets
    places = {0: "Speech", 74: "Dog", 137: "Music", 283: "Wind", 396: "Siren", 500: "Silence"}
    assert {at: names[at] for at in places} == places
    assert names[526] == "Field recording"


# CLAP


def test_windows_of_clap_cover_the_clip_and_have_length_1(backbones: dict[str, Any]) -> None:
    clap = backbones["clap"]
    samples = noise(clap, 5.3)
    made = clap.embed(samples)
    assert made.frames.shape == (3, 8)
    np.testing.assert_allclose(np.linalg.norm(made.frames, axis=1), 1, rtol=1e-5)
    mean = made.frames.mean(axis=0)
    np.testing.assert_allclose(made.clip, mean / np.linalg.norm(mean), rtol=1e-5)
    for frame, start_s in zip(made.frames, (0.0, 2.0, 3.3), strict=True):
        start = round(start_s * clap.rate_hz)
        np.testing.assert_array_equal(clap.embed(samples[start : start + 2 * clap.rate_hz]).clip, frame)


def test_words_of_clap_are_the_same_alone_or_among_others(backbones: dict[str, Any]) -> None:
    clap = backbones["clap"]
    made = clap.words(["a dog barks", "rain", "a dog barks"])
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(clap.words(["rain"])[0], made[1])
    np.testing.assert_array_equal(made[0], made[2])
    assert not np.array_equal(made[0], made[1])
    assert clap.words([]).shape == (0, 8)
    with pytest.raises(UserError, match="takes at most 64"):
        clap.words(["a dog barks " * 20])


def test_a_fused_clap_is_no_more_random(tmp_path: Path) -> None:
    clap: Any = open_backbone("clap", weights=tiny_backbones.clap(tmp_path / "fused", fused=True))
    samples = noise(clap, 5.3)
    np.testing.assert_array_equal(clap.embed(samples).clip, clap.embed(samples).clip)


def test_a_folder_that_lacks_weights_of_clap_is_refused_with_the_versions(tmp_path: Path) -> None:
    import transformers
    from safetensors.torch import load_file, save_file

    folder = tiny_backbones.clap(tmp_path / "clap")
    held = load_file(folder / "model.safetensors")
    del held["audio_projection.linear1.weight"]
    save_file(held, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=rf"transformers {transformers.__version__}.*audio_projection"):
        open_backbone("clap", weights=folder).ready()
    (folder / "config.json").write_text("{")
    with pytest.raises(UserError, match=rf"transformers {transformers.__version__} here, an unknown version"):
        open_backbone("clap", weights=folder).ready()


# Weights


def test_a_name_that_is_none_gets_the_nearest() -> None:
    with pytest.raises(UserError, match="Did you mean 'vggish'"):
        open_backbone("vgish")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "yamnet"])
def test_missing_weights_message(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"'{name}' needs weights(.|\n)*https://(.|\n)*Expected is"):
        open_backbone(name)
    with pytest.raises(UserError, match=r"nowhere(.|\n)*https://(.|\n)*Expected is"):
        open_backbone(name, weights=tmp_path / "nowhere")


def test_version_is_that_of_the_content(weights: dict[str, Path | None], tmp_path: Path) -> None:
    source = weights["vggish"]
    assert source
    copy = tmp_path / "other name.pth"
    copy.write_bytes(source.read_bytes())
    first = open_backbone("vggish", weights=source).version
    assert open_backbone("vggish", weights=copy).version == first
    torch.save(tiny_backbones.vggish(1), copy)
    assert open_backbone("vggish", weights=copy).version != first


def test_safetensors_give_what_a_torch_file_gives(backbones: dict[str, Any], tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file(tiny_backbones.panns(), tmp_path / "panns.safetensors")
    samples = noise(backbones["panns"], 1.0)
    found = open_backbone("panns", weights=tmp_path / "panns.safetensors").embed(samples)
    np.testing.assert_array_equal(found.clip, backbones["panns"].embed(samples).clip)


def test_arrays_that_training_left_in_the_file_do_no_harm(tmp_path: Path) -> None:
    """The published PANNs hold the state of their sampler, which torch's safe loading refuses by itself."""
    sampler = {"indexes": np.arange(5), "pointer": np.int64(3), "weights": np.zeros(2, np.float32)}
    torch.save({"model": tiny_backbones.panns(), "sampler": sampler}, tmp_path / "w.pth")
    open_backbone("panns", weights=tmp_path / "w.pth").ready()


class Planted:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return exec, ("raise SystemExit('code in weights was run')",)


def test_weights_that_would_run_code_are_refused(tmp_path: Path) -> None:
    torch.save({"model": Planted()}, tmp_path / "w.pth")
    with pytest.raises(UserError, match=r"w\.pth cannot be read as weights"):
        open_backbone("panns", weights=tmp_path / "w.pth").ready()


@pytest.mark.parametrize("suffix", ["pth", "safetensors"])
def test_a_file_that_is_no_weights_is_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"page.{suffix}"
    path.write_text("<html>not found</html>")
    with pytest.raises(UserError, match=rf"page\.{suffix} cannot be read as weights(.|\n)*https://"):
        open_backbone("vggish", weights=path).ready()


@pytest.mark.parametrize(
    ("name", "key", "shape"),
    [
        ("vggish", "features.6.weight", None),
        ("vggish", "embeddings.0.weight", (16, 100)),
        ("vggish", "features.3.bias", (5,)),
        ("panns", "bn0.running_mean", (32,)),
        ("panns-framewise", "conv_block4.bn2.running_var", None),
        ("panns", "fc_audioset.weight", (10, tiny_backbones.WIDTH)),
        ("panns", "logmel_extractor.melW", (600, 64)),
    ],
)
def test_incorrect_weights_name_the_key(
    name: str, key: str, shape: tuple[int, ...] | None, tmp_path: Path
) -> None:
    held = tiny_backbones.vggish() if name == "vggish" else tiny_backbones.panns()
    if shape is None:
        del held[key]
    else:
        held[key] = torch.zeros(shape)
    torch.save(held, tmp_path / "w.pth")
    with pytest.raises(UserError, match=rf"w\.pth.*'{key}'"):
        open_backbone(name, weights=tmp_path / "w.pth").ready()


@pytest.mark.filterwarnings("ignore:.*(quantiz|sparse|Sparse|type_promotion|TypedStorage)")
@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("sparse", lambda whole: whole.to_sparse()),
        ("sparse", lambda whole: whole.to_sparse_csr()),
        ("quantised", lambda whole: torch.quantize_per_tensor(whole, 0.1, 0, torch.qint8)),
        ("of type complex64", lambda whole: whole.to(torch.complex64)),
        ("of type int8", lambda whole: whole.to(torch.int8)),
        ("without data", lambda whole: whole.to("meta")),
    ],
)
def test_tensors_that_are_no_plain_real_numbers_are_refused(
    kind: str, made: Callable[[torch.Tensor], torch.Tensor], tmp_path: Path
) -> None:
    torch.save({"layer": made(torch.ones(2, 3))}, tmp_path / "w.pth")
    held = Tensors(tmp_path / "w.pth", SOURCE)
    with pytest.raises(UserError, match=rf"w\.pth: 'layer' is {kind}, not plain floating-point"):
        held.take("layer", 2, 3)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("zipped", [True, False])
def test_damaged_weights_are_said_to_be(zipped: bool, tmp_path: Path) -> None:
    path = tmp_path / "w.pth"
    torch.save({"layer": torch.ones(2, 3)}, path, _use_new_zipfile_serialization=zipped)
    whole, rng, told = path.read_bytes(), np.random.default_rng(0), list[str]()
    for _ in range(60):
        damaged = bytearray(whole)
        for place in rng.integers(0, min(400, len(whole)), size=5):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            Tensors(path, SOURCE)
        except UserError as fault:
            told.append(fault.message)
    assert len(told) > 30
    assert all(re.search(r"w\.pth (cannot be read as weights: .*[a-z]{5}|holds )", one) for one in told)


@pytest.mark.parametrize("name", ["vggish", "panns", "panns-framewise"])
def test_weights_that_give_nan_are_named(name: str, tmp_path: Path) -> None:
    held = tiny_backbones.vggish() if name == "vggish" else tiny_backbones.panns()
    held["embeddings.4.bias" if name == "vggish" else "fc1.bias"][0] = torch.nan
    torch.save(held, tmp_path / "w.pth")
    backbone = open_backbone(name, weights=tmp_path / "w.pth")
    with pytest.raises(UserError, match=rf"{name} with .*w\.pth gave NaN or infinite"):
        backbone.embed(noise(backbone, 1.0))


@pytest.mark.parametrize(
    ("name", "module"),
    [("vggish", "torch"), ("panns", "torch"), ("clap", "transformers"), ("clap", "torch")],
)
def test_a_package_that_is_not_installed_is_named_with_its_extra(
    name: str, module: str, weights: dict[str, Path | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    extra = "clap" if name == "clap" else "torch"
    with pytest.raises(MissingExtra, match=rf"'{name}' needs(.|\n)*pip install 'earwitness\[{extra}\]'"):
        open_backbone(name, weights=weights[name]).ready()
