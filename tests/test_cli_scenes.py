"""``earwitness scenes`` and its twins in Python: make, render again, look into a bank."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from earwitness import audio
from earwitness.api import scenes as api
from earwitness.cli.scenes import app
from earwitness.errors import UserError
from earwitness.scenes.bank import Bank, clip
from sounds import noise


def said(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    """A user's folder; ``hum`` is no known class, ``bell`` too short, one siren silent and one no sound."""
    folder = tmp_path_factory.mktemp("bank")
    lines = ["file_name,label,recording_id,licence,author"]
    for label in ("dog_bark", "siren", "baby_cry", "applause"):
        for number, source in enumerate(Bank.builtin(4).of(label)):
            audio.write_wav(folder / f"{label}{number}.wav", clip(source)[np.newaxis], 16_000)
            lines.append(f"{label}{number}.wav,{label},{label}-{number // 2},CC BY 4.0,=someone()")
    audio.write_wav(folder / "hum.wav", np.full((1, 32_000), 0.1, np.float32), 16_000)
    audio.write_wav(folder / "bell.wav", np.full((1, 800), 0.1, np.float32), 16_000)
    audio.write_wav(folder / "silence.wav", np.zeros((1, 32_000), np.float32), 16_000)
    (folder / "text.wav").write_text("no sound")
    lines += ["hum.wav,hum,h1,,", "bell.wav,church bell,b1,cc0,"]
    lines += ["silence.wav,siren,siren-0,cc0,", "text.wav,siren,siren-0,cc0,"]
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def pairs(bank, tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "pairs"
    return out, said("make", "order", "--bank", bank, "--pairs", 4, "-o", out)


def test_make_says_what_was_made_and_left_out_and_what_to_do_next(pairs, bank):
    out, result = pairs
    assert result.exit_code == 0
    assert f"{out}: 8 clips made." in result.stdout
    assert f"earwitness judge order {out}" in result.stdout
    assert "left out: hum." in result.stdout
    assert "church_bell is left out, none of its clips gives a slice: 1 shorter than 1 s." in result.stdout
    assert "cannot be decoded are left out: silence.wav, text.wav." in result.stdout
    card = (out / "README.md").read_text()
    assert "left out: hum." in card
    assert "attribution (BY)" in card
    assert ",CC BY 4.0,'=someone()," in (out / "licences.csv").read_text()  # no formula for a spreadsheet
    again = said("make", "order", "--bank", bank, "--pairs", 5, "-o", out)
    assert "2 clips made, 8 were there" in again.stdout


def test_every_example_of_the_help_is_a_command(pairs, tmp_path, monkeypatch):
    for words in (["make", "order"], ["make", "edit"], ["render"], ["bank"]):
        text = said(*words, "--help").stdout
        assert "Example" in text
        assert "earwitness scenes " + " ".join(words) in text


def test_render_gives_the_samples_that_the_data_set_states(pairs, bank, tmp_path):
    out, _ = pairs
    scene = sorted((out / "scenes").glob("*.json"))[0]
    result = said("render", scene, "--bank", bank, "-o", tmp_path / "again.wav", "--stems")
    assert "The same samples as metadata.csv states." in result.stdout
    assert (tmp_path / "again.wav").read_bytes() == (out / "audio" / f"{scene.stem}.wav").read_bytes()
    stems = [audio.read(path).samples for path in (tmp_path / "again-stems").iterdir()]
    assert np.array_equal(sum(stems), audio.read(tmp_path / "again.wav").samples)


def test_render_tells_a_scene_that_is_not_the_data_sets(pairs, bank, tmp_path):
    out, _ = pairs
    one, other, *_ = sorted((out / "scenes").glob("*.json"))
    (tmp_path / "scenes").mkdir()
    (tmp_path / "scenes" / one.name).write_text(other.read_text())
    alone = said("render", tmp_path / "scenes" / one.name, "--bank", bank, "-o", tmp_path / "a.wav")
    assert "No metadata.csv beside the scene" in alone.stdout
    (tmp_path / "metadata.csv").write_bytes((out / "metadata.csv").read_bytes())
    wrong = said("render", tmp_path / "scenes" / one.name, "--bank", bank, "-o", tmp_path / "a.wav")
    assert wrong.exit_code == 1
    assert "NOT the samples" in wrong.stderr


def test_render_names_what_it_cannot_use(pairs, bank, tmp_path):
    out, _ = pairs
    scene = sorted((out / "scenes").glob("*.json"))[0]
    (tmp_path / "other" / "cat").mkdir(parents=True)
    (tmp_path / "other" / "cat" / "1.wav").write_bytes((bank / "hum.wav").read_bytes())
    with pytest.raises(UserError, match=r"no clip '\w+\.wav'"):
        said("render", scene, "--bank", tmp_path / "other", "-o", tmp_path / "a.wav")
    with pytest.raises(UserError, match=r"README\.md"):
        said("render", out / "README.md", "--bank", bank, "-o", tmp_path / "a.wav")
    assert not (tmp_path / "a.wav").exists()


def test_render_never_writes_into_the_bank_nor_leaves_a_part(pairs, bank, tmp_path):
    out, _ = pairs
    scene = sorted((out / "scenes").glob("*.json"))[0]
    before = {path.name: path.read_bytes() for path in bank.iterdir()}
    (tmp_path / "link.wav").symlink_to(bank / "siren0.wav")
    for target in (bank / "siren0.wav", bank / "new" / "a.wav", tmp_path / "link.wav"):
        with pytest.raises(UserError, match="within the bank"):
            said("render", scene, "--bank", bank, "-o", target, "--stems")
    assert {path.name: path.read_bytes() for path in bank.iterdir()} == before
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match="folder is a folder"):
        said("render", scene, "--bank", bank, "-o", tmp_path / "folder")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"a\.wav cannot be written: "):
        said("render", scene, "--bank", bank, "-o", tmp_path / "file" / "a.wav")
    assert {path.name for path in tmp_path.iterdir()} == {"link.wav", "folder", "file"}


def test_a_scene_that_would_clip_is_refused_by_name(pairs, bank, tmp_path):
    out, _ = pairs
    data = json.loads(sorted((out / "scenes").glob("*.json"))[0].read_text())
    scene = tmp_path / "loud.json"
    for gain_db in (60, 200):
        data["events"][0]["gain_db"] = data["gain_db"] = gain_db
        scene.write_text(json.dumps(data))
        with pytest.raises(UserError, match=r"loud\.json cannot be rendered: .* would be clipped"):
            said("render", scene, "--bank", bank, "-o", tmp_path / "a.wav")
    assert not (tmp_path / "a.wav").exists()


def test_the_builtin_bank_makes_scenes_that_render_again(tmp_path):
    api.make_scenes("edit", bank=Bank.builtin(2), pairs=3, kind="replace", out=tmp_path / "edits")
    scene = tmp_path / "edits" / "scenes" / "000001-replace.json"
    result = said("render", scene, "--bank", "builtin", "-o", tmp_path / "a.wav")
    assert "The same samples" in result.stdout


def test_bank_shows_labels_pieces_splits_and_licences(bank):
    shown = said("bank", bank).stdout
    assert "church bell" in shown
    assert "hum is shared by train and test" in shown
    assert "1 shorter than 1 s" in shown
    assert "16 Creative Commons, attribution (BY)" in shown
    found = {one.label: one for one in api.bank_summary(bank)}
    assert (found["siren"].clips, found["siren"].recordings) == (6, 2)
    assert (found["siren"].train, found["siren"].test, found["siren"].shared) == (1, 1, "")
    assert found["siren"].slices >= 4
    assert found["church bell"].slices == 0
    assert "both sides use" in found["hum"].shared


def test_what_is_not_known_is_refused_with_what_is(bank, tmp_path):
    with pytest.raises(UserError, match=r"no scenes 'ordr' \(did you mean 'order'\?\)"):
        api.make_scenes("ordr", bank=bank, out=tmp_path / "x")
    with pytest.raises(UserError, match=r"take no 'pair' \(did you mean 'pairs'\?\)"):
        api.make_scenes("order", bank=bank, out=tmp_path / "x", pair=3)
    with pytest.raises(UserError, match="no such folder"):
        said("make", "order", "--bank", tmp_path / "nothing", "-o", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_bank_says_which_of_its_clips_are_left_out(tmp_path):
    for name in ("dog/a.wav", "dog/old/b.wav"):
        noise(tmp_path / name, 0, 1.5)
    result = CliRunner().invoke(app, ["bank", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "1 of the bank's clips is left out" in " ".join(result.stdout.split())
