"""A run packed to be given away: whole in itself, with nothing in it that must not be."""

import csv
import json
import re
import shutil
import zlib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import earwitness
from earwitness import audio
from earwitness.errors import InputFaults, UserError
from earwitness.report.build import Options
from earwitness.report.bundle import bundle
from edited import Edits, answers, edit_reply
from shared_runs import FEW, edit_run, order_run
from sounds import manifest, script

SKILL = {"TangoFlux": 5, "Resonate": 2, "ours-d128": 4}


@pytest.fixture(scope="module")
def skilled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that no test changes; one clip is unheard, and the detail names its path."""
    folder = tmp_path_factory.mktemp("skilled")
    order_run(folder, SKILL, unheard={("Resonate", 5)}, command=f"earwitness judge order {folder}/m.csv")
    return folder


@pytest.fixture(scope="module")
def telling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run whose sample ids and captions name systems."""
    folder = tmp_path_factory.mktemp("telling")
    caption = "A dog barks followed by a cat meowing to tangoflux"
    order_run(folder, SKILL, ids="{system}_{index}", caption=caption)
    return folder


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def everything(folder: Path) -> bytes:
    """All bytes of a folder, names of files included, with the streams of PDFs and PNGs unpacked too."""
    parts = []
    for path in sorted(folder.rglob("*")):
        parts.append(path.relative_to(folder).as_posix().encode())
        if path.is_file():
            data = path.read_bytes()
            parts.append(data)
            if path.suffix == ".pdf":
                parts += [_inflated(one) for one in re.findall(rb"stream\r?\n(.*?)endstream", data, re.S)]
    return b"\n".join(parts)


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return stream


def test_a_bundle_is_whole_in_itself(skilled: Path, tmp_path: Path) -> None:
    made = bundle(skilled / "run", tmp_path / "release", options=Options(spectrograms=3, draws=1000))
    folder = tmp_path / "release"
    assert {p.name for p in folder.iterdir()} == {
        "README.md", "audio", "audio.csv", "figures", "index.html", "items.csv", "page", "prompts.csv",
        "protocol.md", "replies.csv", "run.json", "summary.csv", "summary.json", "tables",
    }  # fmt: skip
    assert made.missing == ()
    assert made.key is None
    assert made.size_bytes == sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    items = table(folder / "items.csv")
    assert len(items) == len(made.packed) == 18
    for item in items:
        heard = audio.read(folder / item["audio"])
        assert heard.duration_s == pytest.approx(float(item["duration_s"]), abs=1e-3)
    assert items[0]["audio"] == "audio/TangoFlux/0.ogg"
    before = (skilled / "run" / "summary.json").read_bytes()
    assert (folder / "summary.json").read_bytes() == before
    assert [row["sample_id"] for row in table(folder / "prompts.csv")] == [str(index) for index in range(6)]
    packed = {row["file"]: row for row in table(folder / "audio.csv")}
    original = audio.read(skilled / "clips" / "Resonate" / "2.wav")
    assert packed["audio/Resonate/2.ogg"]["original_pcm_sha256"] == original.pcm_hash
    assert "TODO" in (folder / "README.md").read_text(encoding="utf-8")
    assert len(list((folder / "page" / "spectrograms").iterdir())) == 3


@pytest.mark.parametrize("anonymous", [False, True])
def test_nothing_names_a_place_on_the_machine(skilled: Path, tmp_path: Path, anonymous: bool) -> None:
    bundle(skilled / "run", tmp_path / "out", anonymous=anonymous, options=FEW)
    data = everything(tmp_path / "out")
    for secret in (str(tmp_path), str(skilled), str(Path.home()) + "/", "clips/", "judge order /"):
        assert secret.encode() not in data
    assert b"could not listen to [path]" in data


@pytest.mark.parametrize("form", ["ogg", "mp3", "flac"])
def test_no_byte_names_an_anonymous_system(telling: Path, tmp_path: Path, form: str) -> None:
    folder, options = tmp_path / "supplement", Options(draws=100, spectrograms=20)
    made = bundle(telling / "run", folder, anonymous=True, audio=form, options=options)
    data = everything(folder).lower()
    for name in SKILL:
        assert name.lower().encode() not in data
    assert any("held a system's name" in note for note in made.notes)
    assert made.key == tmp_path / "supplement.key.json"
    key = json.loads(made.key.read_text(encoding="utf-8"))
    assert set(key["systems"]) == {"System A", "System B", "System C"}
    assert set(key["systems"].values()) == set(SKILL)
    toa = {row.system: row.metrics["toa"].value for row in made.summary.rows}
    assert {key["systems"][alias]: value for alias, value in toa.items()} == {
        name: right / 6 for name, right in SKILL.items()
    }
    assert key["originals"].keys() == {one.file for one in made.packed}
    assert "original_sha256" not in table(folder / "audio.csv")[0]


def test_order_and_times_of_files_tell_nothing(tmp_path: Path) -> None:
    names = [f"method{letter}" for letter in "vwxyz"]
    order_run(tmp_path, dict.fromkeys(names, 2), n=2)
    made = bundle(tmp_path / "run", tmp_path / "out", anonymous=True, options=FEW)
    items = table(tmp_path / "out" / "items.csv")
    shown = [row["system"] for row in items]
    assert shown == sorted(shown)
    assert made.key is not None
    key = json.loads(made.key.read_text(encoding="utf-8"))["systems"]
    assert list(key.values()) != names
    assert len({path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}) == 1
    clips = (tmp_path / "out" / "page" / "clips.js").read_text(encoding="utf-8")
    assert [int(number) for number in re.findall(r'"id":(\d+)', clips)] == list(range(1, 11))
    again = bundle(tmp_path / "run", tmp_path / "again", anonymous=True, options=FEW)
    assert again.key is not None
    assert again.key.read_bytes() == made.key.read_bytes()
    assert everything(tmp_path / "again") == everything(tmp_path / "out")
    again.key.write_text('{"systems": {"System A": "another"}}', encoding="utf-8")
    shutil.rmtree(tmp_path / "again")
    with pytest.raises(UserError, match="key of another bundle"):
        bundle(tmp_path / "run", tmp_path / "again", anonymous=True, options=FEW)
    assert not (tmp_path / "again").exists()


def test_notes_that_list_systems_in_their_order_are_left_out(tmp_path: Path) -> None:
    order_run(tmp_path, SKILL, n=3)
    rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()]
    fewer = manifest(
        tmp_path / "fewer.jsonl",
        [row for row in rows if row["sample_id"] != "2" or row["system"] != "Resonate"],
    )
    name = f"scripted:{tmp_path / 'run-script.jsonl'}"
    earwitness.judge("order", fewer, run=tmp_path / "uneven", listener=name, options=FEW)
    assert any("Resonate" in note for note in earwitness.rebuild(tmp_path / "uneven", FEW).summary.notes)
    made = bundle(tmp_path / "uneven", tmp_path / "out", anonymous=True, options=FEW)
    assert any("name systems and were left out" in note for note in made.summary.notes)
    assert not any("different samples" in note for note in made.summary.notes)


def test_names_that_are_ordinary_words_stay_in_captions_alone(tmp_path: Path) -> None:
    order_run(tmp_path, {"base": 4, "a": 2}, ids="{system}_{index}")
    made = bundle(tmp_path / "run", tmp_path / "out", anonymous=True, options=FEW)
    (said,) = [note for note in made.notes if "ordinary word" in note]
    assert "'base', 'a'" in said  # by name to the giver, and not a word of it in the folder
    assert "ordinary word" not in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    items = table(tmp_path / "out" / "items.csv")
    assert {row["sample_id"] for row in items} == {f"[name]_{index}" for index in range(6)}
    assert {row["caption"] for row in items} == {"A dog barks followed by a cat meowing"}
    names = [path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")]
    assert not any("base" in name for name in names)


def test_a_name_that_cannot_be_hidden_stops_the_bundle(tmp_path: Path) -> None:
    order_run(tmp_path, {"System A": 4, "Resonate": 2})
    with pytest.raises(UserError, match="as an anonymous one would be"):
        bundle(tmp_path / "run", tmp_path / "out", anonymous=True, options=FEW)
    assert sorted(p.name for p in tmp_path.iterdir() if "out" in p.name) == []


def test_models_that_our_own_sources_name_are_hidden(tmp_path: Path) -> None:
    caption = "A dog barks followed by a cat meowing, says AudioLM"
    order_run(tmp_path, {"AudioLM": 2, "EnCodec": 1}, n=2, caption=caption, generator_encoder="EnCodec")
    bundle(tmp_path / "run", tmp_path / "out", anonymous=True, options=FEW)
    data = everything(tmp_path / "out").lower()
    assert b"audiolm" not in data
    assert b"encodec" not in data
    assert {row["caption"] for row in table(tmp_path / "out" / "items.csv")} == {
        "A dog barks followed by a cat meowing, says [name]"
    }


def test_a_system_called_as_its_listener_is_refused_by_name(tmp_path: Path) -> None:
    order_run(tmp_path, {"Scripted": 2, "Resonate": 1}, n=2)
    with pytest.raises(InputFaults, match="give the system another name") as caught:
        bundle(tmp_path / "run", tmp_path / "out", anonymous=True, options=FEW)
    assert all("'Scripted'" in fault for fault in caught.value.faults)
    assert not (tmp_path / "out").exists()


def test_a_system_that_is_only_called_like_a_baseline_is_hidden(tmp_path: Path) -> None:
    edit_run(tmp_path, ["identity", "SDEdit"])
    made = bundle(tmp_path / "run", tmp_path / "out", anonymous=True, options=FEW)
    assert {row["system"] for row in table(tmp_path / "out" / "items.csv")} == {"System A", "System B"}
    assert made.key is not None
    assert "identity" in json.loads(made.key.read_text(encoding="utf-8"))["systems"].values()
    assert not any("identity" in path.name for path in (tmp_path / "out").rglob("*"))


def test_a_baseline_keeps_its_name_where_its_sound_is_of_a_sample_left_out(tmp_path: Path) -> None:
    edit_run(tmp_path, ["AUDIT", "SDEdit"], n=5, baselines=True, limit=1)
    bundle(tmp_path / "run", tmp_path / "out", anonymous=True, options=FEW)
    systems = {row["system"] for row in table(tmp_path / "out" / "items.csv")}
    assert systems == {"System A", "System B", "identity", "unrelated"}


def test_a_target_that_cannot_be_replaced_is_refused_and_the_parent_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order_run(tmp_path, SKILL, n=2)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for anonymous in (False, True):
        with pytest.raises(UserError, match="the folder you are in"):
            bundle(tmp_path / "run", ".", anonymous=anonymous, options=FEW)
    made = bundle(tmp_path / "run", "../here/../there/.", anonymous=True, options=FEW)
    assert made.key == tmp_path / "there.key.json"
    assert (tmp_path / "there" / "index.html").is_file()
    assert list((tmp_path / "here").iterdir()) == []


def test_an_instruction_is_no_caption(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    pcm = [edits.add("AUDIT", "s0", instruction="Add a dog"), edits.add("AUDIT", "s1", source_caption="rain",
           target_caption="rain and a dog")]  # fmt: skip
    lines = [line for one in pcm for line in answers(one, [edit_reply()])]
    listener = script(tmp_path / "script.jsonl", lines)
    earwitness.judge("edit", edits.write(), run=tmp_path / "run", listener=listener, repeats=1, options=FEW)
    bundle(tmp_path / "run", tmp_path / "out", options=FEW)
    for folder, name in (("run", "items"), ("run", "replies"), ("out", "items"), ("out", "prompts"),
                         ("out", "replies")):  # fmt: skip
        shown = [(row["caption"], row["instruction"]) for row in table(tmp_path / folder / f"{name}.csv")]
        assert shown == [("", "Add a dog"), ("rain and a dog", "")], (folder, name)


def test_missing_clips_are_listed_and_the_rest_goes_on(tmp_path: Path) -> None:
    order_run(tmp_path, SKILL)
    (tmp_path / "clips" / "Resonate" / "3.wav").unlink()
    made = bundle(tmp_path / "run", tmp_path / "out", options=FEW)
    (line,) = made.missing
    assert "Resonate, 3" in line
    assert "no such file" in line
    assert len(made.packed) == 17
    assert "Resonate, 3" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    row = next(
        r for r in table(tmp_path / "out" / "items.csv") if (r["system"], r["sample_id"]) == ("Resonate", "3")
    )
    assert "could not be packed" in row["warnings"]
    assert row["verdict"] == "wrong"  # it was heard when it was there


def test_refusals_leave_nothing_behind(tmp_path: Path) -> None:
    order_run(tmp_path, SKILL)
    full = tmp_path / "full"
    full.mkdir()
    (full / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="not empty"):
        bundle(tmp_path / "run", full)
    with pytest.raises(UserError, match="'aac'"):
        bundle(tmp_path / "run", tmp_path / "out", audio="aac")
    with pytest.raises(UserError, match="no run"):
        bundle(full, tmp_path / "out")
    clip = tmp_path / "clips" / "Resonate" / "3.wav"
    shutil.copy(tmp_path / "clips" / "Resonate" / "4.wav", clip)
    with pytest.raises(InputFaults, match="changed since they were heard"):
        bundle(tmp_path / "run", tmp_path / "out", options=FEW)
    assert not (tmp_path / "out").exists()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_edits_bring_their_sources_once(tmp_path: Path) -> None:
    edit_run(tmp_path, ["AUDIT", "SDEdit"], baselines=True)
    made = bundle(tmp_path / "run", tmp_path / "out", anonymous=True, options=FEW)
    files = sorted(one.file for one in made.packed)
    # Two systems of three edits and three sources: the baselines hand back sounds that are there already.
    assert len(files) == 9
    assert sum(file.startswith("audio/source/") or "identity" in file for file in files) == 3
    items = table(tmp_path / "out" / "items.csv")
    assert {row["system"] for row in items} == {"System A", "System B", "identity", "unrelated"}
    for row in items:
        audio.read(tmp_path / "out" / row["source_audio"])
        audio.read(tmp_path / "out" / row["audio"])
        assert row["instruction"].startswith("make it a cat")
    prompts = table(tmp_path / "out" / "prompts.csv")
    assert len(prompts) == 3
    assert prompts[0]["source_caption"] == "a dog barks"
    replies = table(tmp_path / "out" / "replies.csv")
    assert {row["verdict"] for row in replies} == {"good_edit"}
    assert {(row["caption"], row["source_caption"]) for row in replies} == {("a cat meows", "a dog barks")}
    data = everything(tmp_path / "out").lower()
    assert b"sdedit" not in data


def test_the_command_line_says_what_was_packed(tmp_path: Path) -> None:
    from typer import Typer

    from earwitness.cli import share

    app = Typer()
    app.command("bundle")(share.bundle)
    app.command("compare")(share.compare)
    order_run(tmp_path, SKILL, n=2)
    (tmp_path / "clips" / "Resonate" / "1.wav").unlink()
    out = tmp_path / "out"
    ran: Any = CliRunner().invoke(app, ["bundle", str(tmp_path / "run"), "-o", str(out), "--anonymous"])
    assert ran.exit_code == 0, ran.output
    assert "not packed: System" in ran.output
    assert "5 clips" in ran.output
    assert "Do not give that file away" in ran.output
