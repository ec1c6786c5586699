"""Which sounds of a data set a trained detector was fitted to, and that nobody reads a score without it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earwitness.api.request import Request
from earwitness.api.scenes import make_scenes
from earwitness.backbones import open_backbone
from earwitness.errors import UserError
from earwitness.listeners import open_listener, trained_model
from earwitness.listeners.trained_model import (
    BackboneCard,
    ClassCard,
    Fitted,
    Model,
    Weights,
    called,
    read,
    sealed,
    sha256,
)
from earwitness.report.panel import slug
from earwitness.scenes.bank import Bank
from earwitness.training import tuning
from earwitness.training.overlap import Overlap, Sound, counted, overlap, sounds_in

A, B, C, D, E = (letter * 64 for letter in "abcde")
Build = Callable[[Path, dict[str, Any]], Path]


@pytest.fixture
def build() -> Build:
    """Writes a linear layer that was never trained, with what is said of its making."""

    def built(folder: Path, made: dict[str, Any]) -> Path:
        layer = {"centre": np.zeros(1024), "scale": np.ones(1024), "last": np.zeros((1024, 2))}
        layer["last_bias"] = np.zeros(2)
        weights = Weights({name: array.astype(np.float32) for name, array in layer.items()})
        card = sealed(
            format="earwitness-detector",
            version=2,
            backbone=BackboneCard(name="yamnet", version=open_backbone("yamnet").version, rate_hz=16_000),
            hop_s=tuning.RULES.hop_s,
            classes=tuple(
                ClassCard(name=name, label=name, threshold=0.5, before=None, after=None)
                for name in ("Dog", "Siren")
            ),
            rules=tuning.as_data(tuning.RULES),
            weights_sha256=sha256(weights.to_bytes()),
            measured="on nothing.",
            made=made,
        )
        folder.mkdir(parents=True)
        trained_model.write(folder, Model(card, weights), "# A detector\n")
        return folder

    return built


def fitted(
    *sounds: str, recordings: tuple[str, ...] = (), unknown: int = 0, pieces: tuple[str, ...] = ()
) -> Any:
    return {
        "sounds": [one[:16] for one in sounds],
        "recordings": list(recordings),
        "unknown": unknown,
        "pieces": list(pieces),
    }


def test_every_sound_is_counted_once_by_the_best_evidence() -> None:
    kept = Fitted(
        sounds=frozenset({A[:16]}), recordings=frozenset({"r1"}), unknown=3, pieces=frozenset({"horn/x"})
    )
    used = {
        Sound(A, "r1", "horn/x"),
        Sound(A, "under another label", ""),
        Sound(B, "r1", "horn/x"),
        Sound(C, "r3", "horn/x"),
        Sound(D, "r4", ""),
    }
    found = counted(kept, used)
    assert found == Overlap(4, same=1, related=1, alike=1, unknown=3)
    assert found.sentence == (
        "CAUTION: 1 of the data set's 4 sounds was in the listener's training; 2 more may be of recordings "
        "that were (1 by recording id and 1 by name): what it reaches here, its ceiling included, is too "
        "high. Pieces of one recording may be on both sides unseen: of 3 clips that it was trained on the "
        "recordings are not known."
    )


@pytest.mark.parametrize(
    ("found", "short"),
    [
        (Overlap(5), ""),
        (Overlap(5, unknown=None), ""),
        (
            Overlap(5, same=2),
            "2 of the data set's 5 sounds were in the listener's training: its ceiling is too high.",
        ),
        (
            Overlap(5, same=2, alike=3),
            "2 of the data set's 5 sounds were in the listener's training; 3 more may be of recordings that "
            "were: its ceiling is too high.",
        ),
        (
            Overlap(1_000, same=1, related=1),
            "1 of the data set's 1,000 sounds was in the listener's training; 1 more may be of a recording "
            "that was: its ceiling is too high.",
        ),
        (
            Overlap(5, related=1),
            "1 of the data set's 5 sounds may be of a recording that was in the listener's training: its "
            "ceiling may be too high.",
        ),
        (
            Overlap(5, alike=3),
            "3 of the data set's 5 sounds may be of recordings that were in the listener's training: its "
            "ceiling may be too high.",
        ),
    ],
)
def test_only_the_same_sound_is_certain(found: Overlap, short: str) -> None:
    """The same id in another bank, and a name that looks like a piece's, are told as what they are."""
    assert found.short == short
    counted, _, ceiling = short.partition(": its ceiling ")
    assert found.sentence.startswith(f"CAUTION: {counted}") == bool(short)
    assert f"what it reaches here, its ceiling included, {ceiling}" in found.sentence or not short


def test_nothing_in_common_is_one_short_sentence_and_what_is_not_known_a_warning() -> None:
    none = Overlap(4)
    assert none.sentence == "None of the data set's 4 sounds was in the listener's training."
    assert Overlap(4, unknown=1).sentence.endswith(
        "of 1 clip that it was trained on the recording is not known."
    )
    assert "is not known" in counted(None, {Sound(A, "r", "")}).sentence


def test_scenes_made_for_a_listener_say_what_it_was_trained_on(build: Build, tmp_path: Path) -> None:
    how: dict[str, Any] = {"bank": Bank.builtin(1), "pairs": 3, "workers": 1}
    data = make_scenes("order", out=tmp_path / "data", **how).folder
    sounds = sorted(sounds_in(data))
    assert len(sounds) > 3
    first, second, *_ = sounds
    made = {"fitted_to": fitted(first.pcm_hash, E, recordings=(first.recording_id, second.recording_id))}
    ears = str(build(tmp_path / "ears", made))
    expected = Overlap(len(sounds), same=1, related=1)
    assert (
        overlap(ears, data)
        == overlap(ears, data / "metadata.csv")
        == overlap(ears, data / "audio")
        == expected
    )
    assert overlap("yamnet", data) is None
    assert overlap(ears, tmp_path) is None
    told = make_scenes("order", out=tmp_path / "for", listener=ears, **how | {"pairs": 1}).notes
    assert "in the listener's training" in told[-1]


def test_an_older_model_opens_and_its_training_is_not_known(build: Build, tmp_path: Path) -> None:
    ears = build(tmp_path / "ears", {"seed": 0})
    data = make_scenes("order", bank=Bank.builtin(1), pairs=1, out=tmp_path / "data", workers=1).folder
    found = overlap(str(ears), data)
    assert found is not None
    assert found.unknown is None
    assert open_listener(str(ears)).name == f"trained:yamnet-{read(ears).version[:8]}"


@pytest.mark.parametrize(
    "made", [{"fitted_to": fitted("no hash")}, {"fitted_to": {"sounds": []}}, {"name": "a\nb"}, {"name": 3}]
)
def test_a_record_of_training_that_makes_no_sense_is_refused(
    build: Build, tmp_path: Path, made: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match="made"):
        build(tmp_path / "ears", made)


def test_it_is_called_by_its_own_name_wherever_it_lies(build: Build, tmp_path: Path) -> None:
    one = build(tmp_path / "here", {"name": "my-ears"})
    other = build(tmp_path / "there", {"name": "yours"})
    assert open_listener(str(one)).name == f"trained:my-ears-on-yamnet-{read(one).version[:8]}"
    assert open_listener(str(one)).version == open_listener(str(other)).version
    assert called(tmp_path / "..my ears (2)*") == "my-ears-2"
    assert called(Path("/")) == ""


def test_its_run_in_a_panel_lies_where_it_is_looked_for(build: Build, tmp_path: Path) -> None:
    ears = str(build(tmp_path / "My Ears", {"name": "my-ears"}))
    request = Request("order", listener=(ears, "yamnet"))
    assert request.folder(tmp_path, ears).name == slug(open_listener(ears).name)
    assert request.folder(tmp_path, "yamnet").name == "yamnet"


def test_a_model_beside_is_suggested(build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path / "models/ears", {})
    (tmp_path / "models/eary").mkdir()  # holds no model
    monkeypatch.chdir(tmp_path / "models")
    for name in ("earz", "trained:earz"):
        with pytest.raises(UserError, match=r"Did you mean 'ears'\? Known: yamnet, FOLDER, "):
            open_listener(name)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"Did you mean 'models/ears'\?"):
        open_listener("models/earz")
