"""The folder of a trained detector: what was changed, or cannot be, is refused with a word on it."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earwitness.audio import Clip, pcm_hash
from earwitness.backbones import open_backbone
from earwitness.errors import UserError
from earwitness.listeners import trained_model
from earwitness.listeners.trained import Trained
from earwitness.listeners.trained_model import (
    CARD,
    WEIGHTS,
    BackboneCard,
    ClassCard,
    Model,
    Weights,
    read,
    seal,
    sealed,
    sha256,
)
from earwitness.training import tuning

Arrays = dict[str, np.ndarray]


def arrays() -> Arrays:
    rng = np.random.default_rng(0)
    shapes = {
        "centre": (1024,),
        "scale": (1024,),
        "first": (1024, 4),
        "first_bias": (4,),
        "second": (5, 4, 4),
        "second_bias": (4,),
        "last": (4, 2),
        "last_bias": (2,),
    }
    return {name: rng.uniform(0.1, 1, shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A detector of random numbers."""
    weights, backbone = Weights(arrays()), open_backbone("yamnet")
    card = sealed(
        format="earwitness-detector",
        version=2,
        backbone=BackboneCard(name="yamnet", version=backbone.version, rate_hz=16_000),
        hop_s=tuning.RULES.hop_s,
        classes=tuple(
            ClassCard(name=name, label=label, threshold=0.5, before=None, after=0.5)
            for name, label in (("dog_bark", "Dog"), ("siren", "Siren"))
        ),
        rules=tuning.as_data(tuning.RULES),
        weights_sha256=sha256(weights.to_bytes()),
        measured="on nothing.",
        made={"seed": 0},
    )
    trained_model.write(tmp_path, Model(card, weights), "# A detector\n")
    return tmp_path


def reseal(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    change(card)
    card["card_sha256"] = seal(card)
    (folder / CARD).write_text(json.dumps(card), encoding="utf-8")


def put(folder: Path, data: bytes) -> None:
    (folder / WEIGHTS).write_bytes(data)
    reseal(folder, lambda card: card.update(weights_sha256=sha256(data)))


def packed(given: Arrays) -> bytes:
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, **given)
    return out.getvalue()


def test_a_folder_as_it_was_written_opens(folder: Path) -> None:
    ear = Trained(folder)
    ear.ready()
    assert ear.known_labels == {"Dog", "Siren"}
    assert Weights.from_bytes(read(folder).weights.to_bytes()).to_bytes() == (folder / WEIGHTS).read_bytes()


@pytest.mark.parametrize("change", [{"measured": "perfect."}, {"made": {"seed": 1}}])
def test_what_it_is_said_to_reach_cannot_be_changed_unseen(folder: Path, change: dict[str, Any]) -> None:
    card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    (folder / CARD).write_text(json.dumps({**card, **change}), encoding="utf-8")
    with pytest.raises(UserError, match="was changed since it was written"):
        read(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda card: card.update(version=1), "version"),
        (lambda card: card.update(rules={}), "lack or add"),
        (lambda card: card["rules"].update(smooth_s=1e9), "smooth_s"),
        (lambda card: card["rules"].update(early_s=1e308), "early_s"),
        (lambda card: card["rules"].update(back_s=-9.0), "back_s"),
        (lambda card: card["rules"].update(rise=5.0), "rise"),
        (lambda card: card["rules"].update(floor_db=-1e308), "floor_db"),
        (lambda card: card["rules"].update(rival=1e300), "rival"),
        (lambda card: card.update(hop_s=0.1), "hop_s"),
        (lambda card: card["classes"][0].update(label=""), "label"),
        (lambda card: card["classes"][0].update(label="a\nb\x1b[31m"), "label"),
        (lambda card: card["classes"][0].update(label="Siren"), "same label"),
        (lambda card: card["classes"][0].update(name="siren"), "same name"),
        (lambda card: card["classes"][0].update(threshold=1e300), "threshold"),
        (lambda card: card["classes"][0].update(after=1.5), "after"),
        (lambda card: card["backbone"].update(rate_hz=-5), "rate_hz"),
        (lambda card: card.update(classes=[]), "classes"),
    ],
)
def test_a_card_out_of_bounds_is_refused(
    folder: Path, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    reseal(folder, change)
    with pytest.raises(UserError, match=said):
        read(folder)


def without_taps(given: Arrays) -> None:
    given["second"] = given["second"][:0]


def narrow(given: Arrays) -> None:
    given["centre"] = given["centre"][:512]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda given: given["scale"].fill(0), "scale must be above 0"),
        (lambda given: given["scale"].fill(np.nan), "finite"),
        (lambda given: given.update(second=given["second"][:4]), "odd number"),
        (without_taps, "second must have 3 axes"),
        (lambda given: given.update(second=np.float32(1)), "second must have 3 axes"),
        (lambda given: given.update(last_bias=np.float32(1)), "last_bias must have 1 axes"),
        (lambda given: given.update(last_bias=given["last_bias"][None]), "last_bias must have 1 axes"),
        (narrow, "do not fit"),
        (lambda given: given.update(first=given["first"].astype(np.float64)), "float32"),
        (lambda given: given.pop("first"), "not"),
    ],
)
def test_numbers_that_make_no_network_are_refused(
    folder: Path, change: Callable[[Arrays], object], said: str
) -> None:
    given = arrays()
    change(given)
    put(folder, packed(given))
    with pytest.raises(UserError, match=f"head.npz cannot be used: .*{said}"):
        read(folder)


def claims_more() -> bytes:
    """An array whose header claims four terabytes."""
    header, out = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("centre.npy", header.getvalue() + bytes(100))
    return out.getvalue()


def bare() -> bytes:
    out = io.BytesIO()
    np.save(out, np.zeros(3, np.float32))
    return out.getvalue()


def compressed() -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays())  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize("made", [claims_more, bare, compressed, bytes])
def test_a_file_that_is_no_such_archive_is_refused(folder: Path, made: Callable[[], bytes]) -> None:
    put(folder, made())
    with pytest.raises(UserError, match=r"head\.npz cannot be used"):
        read(folder)


def test_a_backbone_of_another_rate_or_width_is_refused(folder: Path) -> None:
    given = arrays()
    for name in ("centre", "scale", "first"):
        given[name] = given[name][:512]
    put(folder, packed(given))
    with pytest.raises(UserError, match="512 features of yamnet, which has 1024"):
        Trained(folder).ready()
    reseal(folder, lambda card: card["backbone"].update(rate_hz=8000))
    with pytest.raises(UserError, match="at 8000 Hz; it hears at 16000 Hz"):
        Trained(folder).ready()


def test_logits_that_are_no_numbers_are_no_silence(folder: Path) -> None:
    given = arrays()
    given["last"].fill(3e38)
    put(folder, packed(given))
    samples = np.random.default_rng(0).normal(0, 0.1, (1, 16_000)).astype(np.float32)
    with pytest.raises(UserError, match="NaN or infinite"):
        Trained(folder).events(Clip(samples, 16_000, pcm_hash(samples, 16_000)))
