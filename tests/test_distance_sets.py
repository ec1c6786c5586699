"""Folders to sets: which clips are pairs, whose captions count, and what is wrong told at once."""

import unicodedata
from pathlib import Path

import pytest

from earwitness.errors import InputFaults
from earwitness.manifest.folder import read_clips
from earwitness.tasks.distance_sets import read_sets


def touch(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"sound")
    return folder


def pairs(found) -> dict[str, str | None]:
    return {item.audio.name: item.references[0].name if item.references else None for item in found.items}


def test_equal_names_are_pairs_whatever_the_ending(tmp_path):
    truth = touch(tmp_path / "truth", "a.wav", "più/雨 の音.flac", "c.wav")
    ours = touch(tmp_path / "ours", "a.mp3", "più/雨 の音.wav", "d.wav", "notes.txt")
    found = read_sets(truth, {"ours": ours})
    assert pairs(found) == {"a.mp3": "a.wav", "雨 の音.wav": "雨 の音.flac", "d.wav": None}
    assert {item.clip_id for item in found.items} == {"a", "più/雨 の音", "d"}
    assert {path.name for path in found.reference} == {"a.wav", "雨 の音.flac", "c.wav"}
    said = " ".join(found.notes())
    assert "Clips paired with the reference by name: 2 of 3 of ours." in said
    assert "Clips without a counterpart in the reference: 1 of ours ('d')." in said
    assert "Clips of the reference without a counterpart: 1 in ours ('c')." in said
    assert "notes.txt" in said
    for gone in (truth / "a.wav", ours / "a.mp3"):  # either side of a pair
        assert "by name: 1 of 3 of ours." in " ".join(found.notes([gone]))


def test_pairs_can_be_refused_or_demanded(tmp_path):
    truth, ours = touch(tmp_path / "truth", "1.wav"), touch(tmp_path / "ours", "1.wav")
    assert pairs(read_sets(truth, {"ours": ours}, paired=False)) == {"1.wav": None}
    others = touch(tmp_path / "others", "x.wav")
    assert pairs(read_sets(truth, {"others": others})) == {"x.wav": None}
    with pytest.raises(InputFaults, match=r"others shares no name with the reference.*it has x; .* 1"):
        read_sets(truth, {"ours": ours, "others": others}, paired=True)


def test_clips_that_lie_in_other_folders_are_paired_by_file_name_alone(tmp_path):
    truth = touch(tmp_path / "truth", "audio/1.wav", "audio/2.wav")
    ours = touch(tmp_path / "ours", "1.wav", "2.wav", "3.wav")
    found = read_sets(truth, {"ours": ours})
    assert pairs(found) == {"1.wav": "1.wav", "2.wav": "2.wav", "3.wav": None}
    assert [item.clip_id for item in found.items] == ["audio/1", "audio/2", "3"]
    assert "by file name alone" in " ".join(found.notes())
    twice = touch(tmp_path / "twice", "x/1.wav", "y/1.wav")
    assert set(pairs(read_sets(truth, {"twice": twice})).values()) == {None}


def test_clips_of_one_stem_are_not_confused(tmp_path):
    truth = touch(tmp_path / "truth", "a.wav", "a.mp3")
    ours = touch(tmp_path / "ours", "a.wav", "a.mp3")
    assert pairs(read_sets(truth, {"ours": ours})) == {"a.wav": "a.wav", "a.mp3": "a.mp3"}
    single = touch(tmp_path / "single", "a.ogg")
    assert pairs(read_sets(truth, {"single": single})) == {"a.ogg": None}


def test_names_of_several_clips_are_told_where_they_stop_pairs(tmp_path):
    truth = touch(tmp_path / "truth", "a.wav", "v1.0.wav", "c.wav", "c.ogg")
    mix = touch(tmp_path / "mix", "a.flac", "a.mp3", "v1.0.wav", "c.wav", "d.wav", "d.mp3")
    found = read_sets(truth, {"mix": mix})
    said = " ".join(found.notes())
    assert "not paired: 1 of mix ('a'); 1 of the reference beside mix ('c')." in said
    assert {name for name, partner in pairs(found).items() if partner} == {"v1.0.wav"}
    double = touch(tmp_path / "double", "a.flac", "a.mp3")
    with pytest.raises(InputFaults, match="double has several clips of one name but for the ending"):
        read_sets(truth, {"double": double}, paired=True)
    assert "several" not in " ".join(read_sets(truth, {"double": double}, paired=False).notes())


def test_the_reference_among_the_sets_is_told(tmp_path):
    truth = touch(tmp_path / "truth", "a.wav")
    found = read_sets(truth, {"truth": truth / ".." / "truth"})
    assert "The folder of the reference itself: truth." in found.notes()


def test_captions_come_from_prompts_then_the_folder_then_the_counterpart(tmp_path):
    truth = touch(tmp_path / "truth", "a.wav", "b.wav", "c.wav")
    (truth / "metadata.csv").write_text(
        "file_name,caption,system\na.wav,truth a,x\nb.wav,truth b,x\nc.wav,truth c,y\n", encoding="utf-8"
    )
    ours = touch(tmp_path / "ours", "a.wav", "b.wav", "c.wav")
    (ours / "metadata.csv").write_text(
        "file_name,caption\na.wav,own a\nb.wav,own b\nc.wav,\n", encoding="utf-8"
    )
    prompts = tmp_path / "prompts.csv"
    prompts.write_text("prompt_id,caption\na,prompt a\n", encoding="utf-8")
    found = read_sets(truth, {"ours": ours}, prompts=prompts)
    assert {item.clip_id: item.caption for item in found.items} == {
        "a": "prompt a",
        "b": "own b",
        "c": "truth c",
    }


def test_a_link_to_nothing_is_a_clip_like_any_that_cannot_be_read(tmp_path):
    truth, ours = touch(tmp_path / "truth", "a.wav", "b.wav"), touch(tmp_path / "ours", "a.wav")
    (ours / "b.wav").symlink_to(tmp_path / "nothing.wav")
    assert pairs(read_sets(truth, {"ours": ours})) == {"a.wav": "a.wav", "b.wav": "b.wav"}
    with pytest.raises(InputFaults, match="link to nothing"):
        read_clips(ours)


def test_every_fault_is_told_at_once(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    prompts = tmp_path / "prompts.csv"
    prompts.write_text("id,text\n1,x\n", encoding="utf-8")
    with pytest.raises(InputFaults) as raised:
        read_sets(
            tmp_path / "gone",
            {"empty": empty, "reference, halved": empty, "missing": tmp_path / "nowhere"},
            prompts=prompts,
            faults=["something else"],
        )
    said = str(raised.value)
    for part in ("something else", "gone: no such", "no audio in", "nowhere: no such", "prompt_id"):
        assert part in said
    assert "a set cannot be called 'reference, halved'" in said
    with pytest.raises(InputFaults, match="no set is named"):
        read_sets(touch(tmp_path / "truth", "a.wav"), {})


def test_prompts_of_other_clips_are_refused(tmp_path):
    truth, ours = touch(tmp_path / "truth", "1.wav"), touch(tmp_path / "ours", "1.wav")
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt_id": 7, "caption": "a dog"}\n', encoding="utf-8")
    with pytest.raises(InputFaults, match="no prompt_id is the name of a clip"):
        read_sets(truth, {"ours": ours}, prompts=prompts)


def test_accents_stored_in_two_ways_are_one_name(tmp_path):
    composed, apart = (unicodedata.normalize(form, "é.wav") for form in ("NFC", "NFD"))
    truth, ours = touch(tmp_path / "truth", composed), touch(tmp_path / "ours", apart)
    assert pairs(read_sets(truth, {"ours": ours})) == {apart: composed}
    both = touch(tmp_path / "both", composed, apart)
    with pytest.raises(InputFaults, match="two clips are called 'é"):
        read_sets(truth, {"both": both})
