"""Whole runs of the label task: what judges and detectors say becomes rows, files and bundles."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from scipy.signal import butter, sosfilt

import earwitness
from earwitness import audio
from earwitness.errors import InputFaults, UserError
from earwitness.events import read_audacity, read_dcase
from earwitness.ledger import Ledger
from earwitness.manifest import read_manifest
from earwitness.report.build import Options
from earwitness.report.clips import bundle_clips
from earwitness.scenes import synth
from sounds import RATE_HZ, events_reply, noise, script

FINE = {
    "rate_hz": RATE_HZ, "peak_dbfs": -10.5, "level_dbfs": -15.0, "clipped_share": 0.0, "silent_share": 0.0,
    "bandwidth_hz": 8000.0,
}  # fmt: skip
IN_ORDER = events_reply(("Bark", 0.0, 0.9), ("Vehicle horn, car horn, honking", 1.2, 1.9), duration_s=2.0)
TOGETHER = events_reply(("Rain", 0.0, 2.0), ("Speech", 0.1, 2.0), duration_s=2.0)
QUICK = Options(spectrograms=0, draws=50)


def said(
    ordered: bool = False,
    flags: tuple[str, ...] = (),
    tags: tuple[str, ...] = ("dog", "rain", "car"),
    **more: Any,
) -> dict[str, Any]:
    """A judge's reply."""
    events = [{"label": "dog bark", "onset_s": 0.0, "offset_s": 1.0, "confidence": 0.9},
              {"label": "rain", "onset_s": 0.5, "offset_s": 2.0, "confidence": 0.5}]  # fmt: skip
    return {"caption": "A dog barks in the rain.", "events": events, "tags": list(tags), "ordered": ordered,
            "quality_flags": list(flags)} | more  # fmt: skip


def judge(path: Path, *replies: dict[str, Any], clip: str = "*") -> str:
    """A script that gives one reply a repeat to every clip."""
    lines = [
        {"pcm_hash": clip, "question": "label", "repeat": repeat}
        | (reply if "reason" in reply else {"reply": reply})
        for repeat, reply in enumerate(replies)
    ]
    return script(path, lines)


def detector(path: Path, clips: dict[str, dict[str, Any]]) -> str:
    """A script of a detector: events by PCM hash, every recording without fault."""
    lines = [
        {"pcm_hash": pcm, "question": "events"} | (reply if "reason" in reply else {"reply": reply})
        for pcm, reply in clips.items()
    ]
    return script(path, [*lines, {"pcm_hash": "*", "question": "quality", "reply": FINE}])


def run(clips: Path, out: Path, listener: str, options: Options = QUICK, **more: Any) -> list[dict[str, Any]]:
    """Label a folder; what labels.jsonl holds."""
    earwitness.label(clips, run=out, listener=listener, options=options, **more)
    return lines(out / "labels" / "labels.jsonl")


def lines(path: Path) -> list[dict[str, Any]]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{path} holds {name}")

    return [json.loads(row, parse_constant=refuse) for row in path.read_text("utf-8").splitlines()]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# Judges


def test_what_most_repeats_say_counts(tmp_path: Path) -> None:
    noise(tmp_path / "clips" / "a.wav", 0, 2.0)
    name = judge(
        tmp_path / "s.jsonl",
        said(True, ("muffled", "artifacts"), ("Dog", "rain", "wind")),
        said(True, ("artifacts",), ("dog", "rain", "bird"), caption="Another."),
        said(False, (), ("rain", "car", "bus")),
    )
    (clip,) = run(tmp_path / "clips", tmp_path / "run", name, repeats=3)
    assert (clip["caption"], clip["caption_source"]) == ("A dog barks in the rain.", "judge")
    assert clip["ordered"] is True
    assert clip["sequence"] == ["dog bark", "rain"]
    assert clip["quality_flags"] == ["artifacts"]
    assert clip["tags"] == ["rain", "Dog", "wind"]  # three votes, two, then the first of those with one
    (item,) = rows(tmp_path / "run" / "items.csv")
    assert float(item["flip_rate"]) == pytest.approx(2 / 3)
    assert item["caption_source"] == "judge"


def test_an_even_split_is_named_and_does_not_count(tmp_path: Path) -> None:
    noise(tmp_path / "clips" / "a.wav", 0, 2.0)
    name = judge(tmp_path / "s.jsonl", said(True, ("muffled",)), said(False))
    (clip,) = run(tmp_path / "clips", tmp_path / "run", name, repeats=2)
    assert (clip["ordered"], clip["sequence"], clip["quality_flags"]) == (False, [], [])
    assert "tied over 'ordered'" in clip["detail"]
    assert "tied over 'muffled'" in clip["detail"]


def test_the_first_heard_repeat_is_shown(tmp_path: Path) -> None:
    noise(tmp_path / "clips" / "a.wav", 0, 2.0)
    lost = {"reason": "blocked", "detail": "by a filter"}
    name = judge(tmp_path / "s.jsonl", lost, said(caption="Second."), said(caption="Third."))
    (clip,) = run(tmp_path / "clips", tmp_path / "run", name, repeats=3)
    assert (clip["status"], clip["caption"]) == ("scored", "Second.")


def test_times_beyond_the_end_are_cut_in_the_files(tmp_path: Path) -> None:
    noise(tmp_path / "clips" / "a.wav", 0, 1.6)
    name = judge(tmp_path / "s.jsonl", said())  # the rain lasts until 2.0
    (clip,) = run(tmp_path / "clips", tmp_path / "run", name, repeats=1)
    assert [event["offset_s"] for event in clip["events"]] == [1.0, 1.6]
    assert "2.0" in rows(tmp_path / "run" / "replies.csv")[0]["events"]  # what the judge said is kept


def test_a_clip_that_no_repeat_heard_is_listed_and_not_described(tmp_path: Path) -> None:
    first = noise(tmp_path / "clips" / "a.wav", 0, 2.0)
    noise(tmp_path / "clips" / "b.wav", 1, 2.0)
    (tmp_path / "clips" / "c.wav").write_bytes(b"RIFF no sound")
    name = judge(tmp_path / "s.jsonl", said(), clip=first)
    good, unanswered, broken = run(tmp_path / "clips", tmp_path / "run", name, repeats=1)
    assert good["status"] == "scored"
    assert (unanswered["status"], unanswered["reason"]) == ("unheard", "unsupported")
    assert (broken["reason"], broken["caption"], broken["tags"], broken["ordered"]) == (
        "unreadable",
        None,
        None,
        None,
    )
    folder = tmp_path / "run" / "labels"
    assert [row["reason"] for row in rows(folder / "labels.csv")] == ["", "unsupported", "unreadable"]
    assert [row["sample_id"] for row in rows(folder / "metadata.csv")] == ["a"]
    (system,) = json.loads((tmp_path / "run" / "summary.json").read_text("utf-8"))["rows"]
    assert (system["n"], system["unheard"], system["scored"]) == (3, 2, 1)


# Detectors


def test_a_detector_must_have_answered_both_questions(tmp_path: Path) -> None:
    noise(tmp_path / "clips" / "a.wav", 0, 2.0)
    name = script(tmp_path / "s.jsonl", [{"pcm_hash": "*", "question": "events", "reply": IN_ORDER}])
    (clip,) = run(tmp_path / "clips", tmp_path / "run", name)
    assert (clip["status"], clip["reason"]) == ("unheard", "unsupported")


def test_the_manifests_own_caption_is_shown_beside(tmp_path: Path) -> None:
    pcm = noise(tmp_path / "a.wav", 0, 2.0)
    (tmp_path / "metadata.csv").write_text("file_name,caption\na.wav,asked for this\n", encoding="utf-8")
    (clip,) = run(tmp_path, tmp_path / "run", detector(tmp_path / "s.jsonl", {pcm: IN_ORDER}))
    assert (clip["caption"], clip["caption_source"]) == ("Bark, then vehicle horn.", "template")
    assert clip["given_caption"] == "asked for this"
    with Ledger.read(tmp_path / "run" / "ledger.sqlite") as ledger:
        assert [h.texts for h in ledger.heard(1)] == [{}, {}]  # and never told to the listener


def test_files_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    names = ["=1+1", "ein Käuzchen", "雨", "a, b", "tab\there", "deep/er/x", "deep/x"]
    hashes = [noise(tmp_path / "clips" / f"{name}.wav", seed, 2.0) for seed, name in enumerate(names)]
    answers = {pcm: (IN_ORDER, TOGETHER)[seed % 2] for seed, pcm in enumerate(hashes)}
    found = run(tmp_path / "clips", tmp_path / "run", detector(tmp_path / "s.jsonl", answers))
    folder = tmp_path / "run" / "labels"
    assert {clip["file_name"] for clip in found} == {f"{name}.wav" for name in names}

    tracks = sorted((folder / "audacity").iterdir())
    assert len(tracks) == len(names)
    assert all(track.name.isascii() and " " not in track.name for track in tracks)
    for clip, track in zip(found, tracks, strict=True):
        said = [(e["onset_s"], e["offset_s"], e["label"]) for e in clip["events"]]
        assert [(e.onset_s, e.offset_s, e.label) for e in read_audacity(track, 2.0)] == said

    kept = [clip for clip in found if "\t" not in clip["file_name"]]
    lines = (folder / "events.tsv").read_text("utf-8").splitlines()[1:]
    tables = read_dcase(folder / "events.tsv", {line.split("\t")[0]: 2.0 for line in lines})
    assert len(tables) == len(names)
    for clip in kept:
        assert [e.label for e in tables[clip["file_name"]]] == [e["label"] for e in clip["events"]]

    assert f"`{tmp_path / 'clips'}`" in (folder / "README.md").read_text("utf-8")
    shutil.copy(folder / "metadata.csv", tmp_path / "clips")
    manifest = read_manifest(tmp_path / "clips")
    assert {item.audio.resolve() for item in manifest.items} == {
        (tmp_path / "clips" / f"{name}.wav").resolve() for name in names
    }
    assert {item.caption for item in manifest.items} == {"Bark, then vehicle horn.", "Rain and speech."}
    cells = [cell for row in rows(folder / "labels.csv") for cell in row.values()]
    assert not [cell for cell in cells if cell.startswith("=")]


def test_only_ordered_clips_are_written_if_asked(tmp_path: Path) -> None:
    first = noise(tmp_path / "clips" / "a.wav", 0, 2.0)
    second = noise(tmp_path / "clips" / "b.wav", 1, 2.0)
    name = detector(tmp_path / "s.jsonl", {first: IN_ORDER, second: TOGETHER})
    assert len(run(tmp_path / "clips", tmp_path / "run", name)) == 2
    only = Options(spectrograms=0, draws=50, ordered_only=True)
    (clip,) = run(tmp_path / "clips", tmp_path / "run", name, only)
    assert (clip["sample_id"], clip["sequence"]) == ("a", ["bark", "vehicle horn"])
    assert len(list((tmp_path / "run" / "labels" / "audacity").iterdir())) == 1
    assert len(rows(tmp_path / "run" / "items.csv")) == 2  # the run itself keeps all


def test_copies_of_one_sound_are_heard_once_and_each_described(tmp_path: Path) -> None:
    pcm = noise(tmp_path / "clips" / "a.wav", 0, 2.0)
    shutil.copy(tmp_path / "clips" / "a.wav", tmp_path / "clips" / "b.wav")
    result = earwitness.label(
        tmp_path / "clips", run=tmp_path / "run", options=QUICK,
        listener=detector(tmp_path / "s.jsonl", {pcm: TOGETHER}),
    )  # fmt: skip
    assert result.counts is not None
    assert (result.counts.asked, result.counts.reused) == (2, 2)
    assert len(lines(tmp_path / "run" / "labels" / "labels.jsonl")) == 2


def test_files_and_counts_agree_where_samples_share_a_sound_or_a_file(tmp_path: Path) -> None:
    pcm = noise(tmp_path / "clips" / "a.wav", 0, 2.0)
    shutil.copy(tmp_path / "clips" / "a.wav", tmp_path / "clips" / "b.wav")
    name = detector(tmp_path / "s.jsonl", {pcm: TOGETHER})
    run(tmp_path / "clips", tmp_path / "copies", name)
    earwitness.bundle(tmp_path / "copies", tmp_path / "out", options=QUICK)
    named = [row["file_name"] for row in rows(tmp_path / "out" / "labels" / "metadata.csv")]
    assert sorted(named) == ["a.ogg", "b.ogg"]
    packed = rows(tmp_path / "out" / "audio.csv")
    assert {row["file"].split("/")[-1] for row in packed} == set(named)
    assert "# 2 clips described" in (tmp_path / "out" / "labels" / "README.md").read_text("utf-8")

    twice = tmp_path / "twice.csv"
    twice.write_text("audio,system,sample_id\nclips/a.wav,x,1\nclips/a.wav,y,1\n", encoding="utf-8")
    assert len(run(twice, tmp_path / "shared", name)) == 2
    assert len(rows(tmp_path / "shared" / "labels" / "metadata.csv")) == 1
    assert len((tmp_path / "shared" / "labels" / "events.tsv").read_text("utf-8").splitlines()) == 3
    readme = (tmp_path / "shared" / "labels" / "README.md").read_text("utf-8")
    assert "# 2 clips described" in readme
    assert "each of the 1 files once" in readme


def test_clips_without_events_are_listed_and_times_are_short(tmp_path: Path) -> None:
    long = events_reply(("Rain", 0.1 + 0.2, 9 * 0.1 + 0.3000000001), duration_s=2.0)
    answers = {
        noise(tmp_path / "clips" / 'a "quoted".wav', 0, 2.0): long,
        noise(tmp_path / "clips" / "quiet.wav", 1, 2.0): events_reply(duration_s=2.0),
        noise(tmp_path / "clips" / "lost.wav", 2, 2.0): {"reason": "transport", "detail": "gone"},
    }
    run(tmp_path / "clips", tmp_path / "run", detector(tmp_path / "s.jsonl", answers))
    folder = tmp_path / "run" / "labels"
    readme = (folder / "README.md").read_text("utf-8")
    assert "Without events (1; nothing was heard in them): `quiet.wav`." in readme
    assert "Without events (1; unheard, so not described): `lost.wav`." in readme
    table = polars.read_csv(folder / "events.tsv", separator="\t")
    assert table.rows() == [('a "quoted".wav', 0.3, 1.2, "Rain")]
    found = read_dcase(folder / "events.tsv", {'a "quoted".wav': 2.0, "quiet.wav": 2.0})
    assert [len(one) for one in found.values()] == [1, 0]
    (line,) = (folder / "audacity").joinpath("00001_a_quoted.txt").read_text("utf-8").splitlines()
    assert line == "0.3\t1.2\tRain"
    assert json.loads(rows(folder / "labels.csv")[0]["events"])[0]["onset_s"] == 0.3


# Bundles


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    clips = tmp_path / "clips"
    answers = {
        noise(clips / "one.wav", 0, 2.0): IN_ORDER,
        noise(clips / "sub" / "one.wav", 1, 2.0): TOGETHER,
        noise(clips / "=two 雨.wav", 2, 2.0): TOGETHER,
        noise(clips / "lost.wav", 3, 2.0): {"reason": "transport", "detail": f"{clips}: gone"},
    }
    run(clips, tmp_path / "run", detector(tmp_path / "s.jsonl", answers))
    return tmp_path / "run"


def test_a_bundle_stands_alone(labelled: Path, tmp_path: Path) -> None:
    sound = {audio.read(path).pcm_hash for path in (tmp_path / "clips").rglob("*.wav") if path.stem != "lost"}
    target = tmp_path / "to send"
    assert bundle_clips(labelled, target) == 3
    shutil.rmtree(tmp_path / "clips")
    shutil.rmtree(labelled)

    manifest = read_manifest(target)
    assert {audio.read(item.audio).pcm_hash for item in manifest.items} == sound
    assert all(item.audio.parent == target / "audio" for item in manifest.items)
    assert len(list((target / "audio").iterdir())) == 3
    described = lines(target / "labels.jsonl")
    assert [clip["status"] for clip in described].count("unheard") == 1
    for clip in described:
        assert clip["file_name"].isascii()
        assert (target / clip["file_name"]).is_file() == (clip["status"] == "scored")
    tables = read_dcase(
        target / "events.tsv", {clip["file_name"]: 2.0 for clip in described if clip["file_name"]}
    )
    assert all(len(table) == 2 for table in tables.values())
    readme = (target / "README.md").read_text("utf-8")
    assert "scripted" in readme
    assert "templates" in readme
    assert "Licence" in readme
    for file in target.rglob("*"):
        if file.is_file() and file.suffix != ".wav":
            assert str(tmp_path) not in file.read_text("utf-8"), file


def test_a_bundle_of_ordered_clips(labelled: Path, tmp_path: Path) -> None:
    assert bundle_clips(labelled, tmp_path / "out", ordered_only=True) == 1
    (row,) = rows(tmp_path / "out" / "metadata.csv")
    assert (row["sample_id"], row["sequence"]) == ("one", "bark; vehicle horn")


def test_a_folder_with_something_in_it_is_left_alone(labelled: Path, tmp_path: Path) -> None:
    target = tmp_path / "full"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="is not empty"):
        bundle_clips(labelled, target)
    assert [path.name for path in target.iterdir()] == ["mine.txt"]


def test_an_interruption_leaves_nothing_that_blocks_the_next_try(
    labelled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("earwitness.report.labels.write_dcase", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bundle_clips(labelled, tmp_path / "out")
    assert not [path.name for path in tmp_path.iterdir() if "out" in path.name]
    assert bundle_clips(labelled, tmp_path / "out") == 3


def test_clips_that_are_gone_or_changed_are_all_named_and_nothing_is_packed(
    labelled: Path, tmp_path: Path
) -> None:
    (tmp_path / "clips" / "one.wav").unlink()
    noise(tmp_path / "clips" / "sub" / "one.wav", 99, 2.0)
    with pytest.raises(InputFaults) as caught:
        bundle_clips(labelled, tmp_path / "out")
    assert len(caught.value.faults) == 2
    assert not (tmp_path / "out").exists()


# The embedded listener


def test_the_embedded_listener_describes_scenes_and_finds_planted_faults(tmp_path: Path) -> None:
    siren, bark = synth.render("siren", 1, 2.5), synth.render("dog_bark", 1, 2.5)
    rain = synth.render("rain", 1, 4.0)
    gap = np.zeros(RATE_HZ // 2, np.float32)
    deep = sosfilt(butter(8, 900, fs=RATE_HZ, output="sos"), rain)
    planted = {
        "sequence": np.concatenate([bark, gap, siren]),
        "alone": siren,
        "clipped": np.clip(8 * rain, -1, 1),
        "deep": deep,
        "half": np.concatenate([rain, np.zeros(6 * RATE_HZ)]),
        "nothing": np.zeros(3 * RATE_HZ),
    }
    (tmp_path / "clips").mkdir()
    for name, samples in planted.items():
        audio.write_wav(tmp_path / "clips" / f"{name}.wav", samples[np.newaxis].astype(np.float32), RATE_HZ)
    found = {
        clip["sample_id"]: clip for clip in run(tmp_path / "clips", tmp_path / "run", "yamnet", workers=1)
    }
    flags = {name: clip["quality_flags"] for name, clip in found.items()}
    assert flags == {
        "sequence": [], "alone": [], "clipped": ["clipping"], "deep": ["muffled"], "half": ["silence"],
        "nothing": ["silence"],
    }  # fmt: skip
    assert found["sequence"]["ordered"] is True
    assert found["alone"]["ordered"] is False
    assert (found["nothing"]["caption"], found["nothing"]["tags"]) == ("Silence.", [])
    assert all(clip["caption_source"] == "template" for clip in found.values())
    (system,) = json.loads((tmp_path / "run" / "summary.json").read_text("utf-8"))["rows"]
    assert system["muffled"]["value"] == pytest.approx(1 / 6)
    assert "artifacts" not in system  # nobody measured them
    assert "Caption source" in (tmp_path / "run" / "page" / "clips.js").read_text("utf-8")


@pytest.mark.realdata
def test_real_clips_are_described(shared_data: Path, tmp_path: Path) -> None:
    found = run(shared_data / "generated", tmp_path / "run", "yamnet", limit=6, workers=1)
    assert found
    for clip in found:
        assert clip["status"] == "scored"
        assert len(clip["tags"]) <= 6
        heard = {event["label"] for event in clip["events"]}
        assert min(len(heard), 1) <= len(clip["tags"]) <= len(heard)
        assert (len(clip["sequence"]) > 1) == clip["ordered"]


def test_labels_move_with_a_release(labelled: Path, tmp_path: Path) -> None:
    earwitness.bundle(labelled, tmp_path / "release", audio="flac", options=QUICK)
    (tmp_path / "release").rename(tmp_path / "moved")
    assert "`../audio" in (tmp_path / "moved" / "labels" / "README.md").read_text("utf-8")
    for file in (tmp_path / "moved" / "labels").rglob("*"):
        assert file.is_dir() or str(tmp_path) not in file.read_text("utf-8"), file
