"""``earwitness bench ritta make`` and ``import``: which sounds are used, and what is said of them."""

import csv
import json

import pytest
from typer.testing import CliRunner

from earwitness.api.bench import LISTENER, import_ritta, make_ritta, systems_of
from earwitness.cli.bench import app
from earwitness.errors import InputFaults, UserError
from earwitness.listeners import open_listener
from earwitness.scenes.ritta.classes import CLASSES
from earwitness.tasks.ritta_classes import claimed
from sounds import noise


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    """Every class, one clip each."""
    folder = tmp_path_factory.mktemp("bank")
    for at, name in enumerate(CLASSES):
        noise(folder / name / "1.wav", at, 1.2)
    return folder


@pytest.fixture(scope="module")
def known():
    return claimed(open_listener(LISTENER).known_labels)


def said(*words):
    result = CliRunner().invoke(app, ["ritta", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return " ".join(result.stdout.split())


def events(folder):
    with (folder / "metadata.csv").open(encoding="utf-8", newline="") as file:
        return [set(row["events"].split(";")) for row in csv.DictReader(file)]


def test_make_says_how_many_prompts_the_usual_listener_can_be_asked_about(bank, known, tmp_path):
    told = said("make", "--bank", bank, "--split", "all", "--per-relation", 4, "--workers", 1, "-o", tmp_path)
    made = events(tmp_path)
    number = sum(its <= known for its in made)
    assert 0 < number < len(made) == 44
    assert f"yamnet can be asked about {number} of 44 prompts" in told
    assert "with --listener yamnet only such prompts are made" in told


def test_make_for_a_listener_uses_only_sounds_that_it_claims_to_know(bank, known, tmp_path):
    told = said(
        *("make", "--bank", bank, "--split", "all", "--per-relation", 4, "--workers", 1),
        *("--listener", "yamnet", "-o", tmp_path),
    )
    assert len(known) == 13, "as the help says"
    assert "can be asked about" not in told
    unknown = ", ".join(name for name in CLASSES if name not in known)
    assert f"Not used, as yamnet does not claim to know them: {unknown}." in told
    assert all(its <= known for its in events(tmp_path))
    scenes = [json.loads(path.read_text()) for path in (tmp_path / "scenes").rglob("*.json")]
    assert {event["label"] for scene in scenes for event in scene["events"]} <= known
    settings = json.loads((tmp_path / "make.json").read_text())["settings"]
    assert settings["listener"] == "yamnet"
    assert set(settings["classes"]) == known
    assert (
        "Only classes that the listener `yamnet` claims to know were used."
        in (tmp_path / "README.md").read_text()
    )
    with pytest.raises(UserError, match="made otherwise") as raised:
        make_ritta(bank, tmp_path, split="all", per_relation=4, workers=1)
    assert 'listener: "yamnet" before, now ""' in str(raised.value)


def test_a_bank_may_lack_what_the_listener_does_not_know(known, tmp_path):
    for at, name in enumerate(sorted(known)):
        noise(tmp_path / "bank" / name / "1.wav", at, 1.2)
    how = {"split": "all", "per_relation": 1, "workers": 1}
    assert make_ritta(tmp_path / "bank", tmp_path / "made", listener="yamnet", **how).made == 11
    with pytest.raises(UserError, match=r"1 fault\n.*it has no clip of 12 of the 25 classes: 'door_slam'"):
        make_ritta(tmp_path / "bank", tmp_path / "all", **how)


def test_fewer_prompts_are_refused_as_prompts(bank, tmp_path):
    how = {"split": "all", "workers": 1}
    make_ritta(bank, tmp_path, per_relation=2, **how)
    with pytest.raises(UserError) as raised:
        make_ritta(bank, tmp_path, per_relation=1, **how)
    told = f"{raised.value} {raised.value.remedy}"
    assert "prompts: 22 before, now 11" in told
    assert "there may be more prompts" in told
    assert "keys" not in told


def test_import_chooses_prompts_for_a_listener_only_as_it_makes_their_clips(bank, tmp_path):
    rows = [
        {
            "text_prompt": f"do not generate {name} audio",
            "audio_name_list": [name],
            "reference_audio": "a.wav",
        }
        for name in ("talking", "boat horn")
    ]
    path = tmp_path / "prompts.json"
    path.write_text(json.dumps({"Compositionality": {"not": rows}}))
    how = {"split": "all", "workers": 1}
    every = import_ritta(path, tmp_path / "every", bank=bank, **how)
    assert every.prompts == 2
    assert any("yamnet can be asked about 1 of 2 prompts" in note for note in every.notes)
    assert import_ritta(path, tmp_path / "some", bank=bank, listener="yamnet", **how).prompts == 1
    with pytest.raises(UserError, match="Name a bank"):
        said("import", path, "--listener", "yamnet", "-o", tmp_path / "alone")
    assert not (tmp_path / "alone").exists()


def test_without_a_bank_nothing_of_a_bank_can_be_set(tmp_path):
    with pytest.raises(UserError, match="without --bank there is nothing to set: split, rate_hz, stems"):
        said(
            "import", tmp_path / "p.json", "--split", "train", "--rate", 8000, "--stems", "-o", tmp_path / "x"
        )
    assert not (tmp_path / "x").exists()


def test_systems_are_folders_of_clips_each_by_name(tmp_path):
    for name in ("ours", "base"):
        noise(tmp_path / "out" / name / "and-00000.wav", 0, 0.2)
    out = tmp_path / "out"
    assert systems_of([str(out)]) == {"base": out / "base", "ours": out / "ours"}
    assert systems_of([f"mine={out / 'ours'}", str(out / "base")]) == {
        "mine": out / "ours",
        "base": out / "base",
    }
    (out / "crashed").mkdir()
    with pytest.raises(InputFaults, match=f"no audio in {out / 'crashed'}"):
        systems_of([str(out)])
    for text, told in (
        ("x=", "x= names no folder"),
        ("x=nowhere", "no such folder: nowhere"),
        (str(tmp_path / "no"), "no such folder"),
        (str(out / "ours" / "and-00000.wav"), "and-00000.wav is a file; name the folder"),
    ):
        with pytest.raises(InputFaults, match=told):
            systems_of([text])
    with pytest.raises(InputFaults, match="two systems are called 'ours'"):
        systems_of([f"ours={out / 'base'}", str(out / "ours")])
