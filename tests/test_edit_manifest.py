"""Manifests of edits, the check that every system had the same source, and the baselines."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from earwitness.errors import InputFaults, UserError
from earwitness.manifest import Manifest, limited
from earwitness.manifest.edits import read_edits
from earwitness.tasks.edit import check_sources, with_baselines
from edited import Edits
from sounds import noise


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_columns_are_read_under_their_names_and_aliases(tmp_path: Path) -> None:
    noise(tmp_path / "s.wav", 0)
    noise(tmp_path / "e.wav", 1)
    row = {"method": "ours", "task": "add", "sample_id": "1", "source_audio": "s.wav",
           "edited_audio": "e.wav", "source_caption": "rain", "target_caption": "rain and a dog",
           "instruction": "Add a dog", "added": "dog", "removed": "", "edit_start_s": "1.5",
           "edit_end_s": "2", "licence": "ignored"}  # fmt: skip
    table(tmp_path / "metadata.csv", [row])
    (item,) = read_edits(tmp_path).items
    assert (item.system, item.sample_id, item.edit_type) == ("ours", "1", "add")
    assert (item.audio, item.source_audio) == (tmp_path / "e.wav", tmp_path / "s.wav")
    assert (item.source_caption, item.caption, item.instruction) == ("rain", "rain and a dog", "Add a dog")
    assert (item.added, item.removed, item.edit_start_s, item.edit_end_s) == ("dog", "", 1.5, 2.0)


def test_their_columns_are_renamed_and_json_may_hold_numbers(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    edits.add("a", "1", prompt="Add rain", edit_start_s=0, edit_end_s=0.25, edit_type="add")
    (item,) = read_edits(edits.write(), rename={"instruction": "prompt"}).items
    assert (item.instruction, item.edit_start_s, item.edit_end_s) == ("Add rain", 0.0, 0.25)


def test_every_fault_is_listed_at_once(tmp_path: Path) -> None:
    for name in ("s.wav", "e.wav", "f.wav", "g.wav"):
        noise(tmp_path / name, 0)
    rows = [
        {"system": "a", "sample_id": "1", "source_audio": "s.wav", "edited_audio": "e.wav"},
        {"system": "a", "sample_id": "1", "source_audio": "s.wav", "edited_audio": "f.wav"},
        {"system": "a", "sample_id": "2", "source_audio": "s.wav", "edited_audio": "e.wav"},
        {"system": "a", "sample_id": "3", "source_audio": "gone.wav", "edited_audio": "."},
        {"system": "", "sample_id": "4", "source_audio": "s.wav", "edited_audio": " "},
        {"system": "b", "sample_id": "1", "source_audio": "s.wav", "edited_audio": "f.wav",
         "edit_start_s": "2"},
        {"system": "b", "sample_id": "2", "source_audio": "s.wav", "edited_audio": "g.wav",
         "edit_start_s": "2", "edit_end_s": "2"},
        {"system": "c", "sample_id": "1", "source_audio": "s.wav", "edited_audio": "g.wav",
         "edit_start_s": "0:02", "edit_end_s": "3"},
        {"system": "c", "sample_id": "2", "source_audio": "s.wav", "edited_audio": "f.wav",
         "edit_start_s": "nan", "edit_end_s": "3"},
    ]  # fmt: skip
    with pytest.raises(InputFaults) as caught:
        read_edits(table(tmp_path / "m.csv", rows))
    faults = caught.value.faults
    assert [fault.partition(":")[0] for fault in faults] == [
        "rows 2 and 3", "rows 2 and 4", "row 5", "row 5", "row 6", "row 7", "row 8", "row 9", "row 10",
    ]  # fmt: skip
    assert "has the sample '1' twice" in faults[0]
    assert "the same edited file twice" in faults[1]
    assert "gone.wav" in faults[2]
    assert "a folder, not a file" in faults[3]
    assert "edited_audio, system must not be empty" in faults[4]
    assert "both or neither" in faults[5]
    assert "ends at 2 s, not after its start" in faults[6]
    assert "'0:02'" in faults[7]
    assert "'nan'" in faults[8]


def test_missing_columns_are_named_with_those_found(tmp_path: Path) -> None:
    with pytest.raises(InputFaults, match="no column 'edited_audio'") as caught:
        read_edits(table(tmp_path / "m.csv", [{"sample_id": "1", "source_audio": "s.wav", "out": "e"}]))
    assert "sample_id, source_audio, out" in caught.value.remedy


def test_a_result_that_is_the_source_file_is_noted(tmp_path: Path) -> None:
    noise(tmp_path / "s.wav", 0)
    row = {"system": "a", "sample_id": "1", "source_audio": "s.wav", "edited_audio": "s.wav"}
    assert read_edits(table(tmp_path / "m.csv", [row])).notes == (
        "the edited file is the source file itself in row 2",
    )


def same_sample(tmp_path: Path, sources: dict[str, str]) -> Manifest:
    """One sample edited by several systems, each with a source file of its own."""
    rows = []
    for index, (system, source) in enumerate(sources.items()):
        noise(tmp_path / f"{system}.wav", 50 + index)
        rows.append({"system": system, "sample_id": "x", "source_audio": source,
                     "edited_audio": f"{system}.wav"})  # fmt: skip
    return read_edits(table(tmp_path / "m.csv", rows))


def test_the_same_sound_in_other_files_is_the_same_source(tmp_path: Path) -> None:
    noise(tmp_path / "s.wav", 0)
    samples, rate_hz = soundfile.read(tmp_path / "s.wav", dtype="int16")
    soundfile.write(tmp_path / "s.flac", samples, rate_hz)
    (tmp_path / "copy.wav").write_bytes((tmp_path / "s.wav").read_bytes())
    check_sources(same_sample(tmp_path, {"a": "s.wav", "b": "copy.wav", "c": "s.flac", "d": "./s.wav"}))


def test_different_sources_of_one_sample_stop_the_run(tmp_path: Path) -> None:
    noise(tmp_path / "s.wav", 0)
    noise(tmp_path / "t.wav", 1)
    manifest = same_sample(tmp_path, {"a": "s.wav", "b": "t.wav", "c": "s.wav"})
    with pytest.raises(InputFaults, match="sample 'x' has 2 different source sounds") as caught:
        check_sources(manifest)
    assert "s.wav (a, c)" in caught.value.faults[0]
    assert "t.wav (b)" in caught.value.faults[0]


def test_one_changed_sample_is_another_sound(tmp_path: Path) -> None:
    noise(tmp_path / "s.wav", 0)
    samples, rate_hz = soundfile.read(tmp_path / "s.wav", dtype="int16")
    samples[100] += 1
    soundfile.write(tmp_path / "t.wav", samples, rate_hz)
    with pytest.raises(InputFaults):
        check_sources(same_sample(tmp_path, {"a": "s.wav", "b": "t.wav"}))


def test_a_source_that_cannot_be_read_is_left_to_the_run(tmp_path: Path) -> None:
    noise(tmp_path / "s.wav", 0)
    (tmp_path / "broken.wav").write_bytes(b"RIFF, or is it?")
    check_sources(same_sample(tmp_path, {"a": "s.wav", "b": "broken.wav"}))


def three_samples(tmp_path: Path, samples: int = 3) -> Manifest:
    edits = Edits(tmp_path)
    for system in ("a", "b"):
        for k in range(samples):
            edits.add(system, f"s{k}", instruction=f"Add sound {k}")
    return read_edits(edits.write())


def test_baselines_have_every_sample_once(tmp_path: Path) -> None:
    manifest = with_baselines(three_samples(tmp_path), 0)
    assert len(manifest.items) == 12
    by_system = {name: [i for i in manifest.items if i.system == name] for name in ("identity", "unrelated")}
    sources = {item.sample_id: item.source_audio for item in manifest.items}
    for items in by_system.values():
        assert [item.sample_id for item in items] == ["s0", "s1", "s2"]
        assert [item.instruction for item in items] == ["Add sound 0", "Add sound 1", "Add sound 2"]
    assert all(item.audio == item.source_audio for item in by_system["identity"])
    for item in by_system["unrelated"]:
        assert item.source_audio == sources[item.sample_id] != item.audio
        assert item.audio in sources.values()


def test_an_unrelated_clip_has_another_sound_even_under_another_name(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    for k in range(4):
        edits.add("a", f"s{k}")
    for k in (1, 2):  # three of the four samples have one sound
        (tmp_path / "sources" / f"s{k}.wav").write_bytes((tmp_path / "sources" / "s0.wav").read_bytes())
    for item in with_baselines(read_edits(edits.write()), 0).items:
        if item.system == "unrelated":
            assert item.source_audio is not None
            assert item.audio.read_bytes() != item.source_audio.read_bytes()


def test_a_copy_in_another_container_is_no_other_sound(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    edits.add("a", "1")
    edits.add("a", "2")
    samples, rate_hz = soundfile.read(tmp_path / "sources" / "1.wav", dtype="int16")
    soundfile.write(tmp_path / "sources" / "1.flac", samples, rate_hz, subtype="PCM_16")
    edits.rows[1]["source_audio"] = str(tmp_path / "sources" / "1.flac")
    with pytest.raises(UserError, match="same source sound"):
        with_baselines(read_edits(edits.write()), 0)


def test_the_draw_depends_on_the_seed_and_not_on_samples_added_later(tmp_path: Path) -> None:
    def drawn(manifest: Manifest, seed: int = 0) -> dict[str, Path]:
        found = with_baselines(manifest, seed).items
        return {item.sample_id: item.audio for item in found if item.system == "unrelated"}

    whole = three_samples(tmp_path, 12)
    first = Manifest(tuple(i for i in whole.items if int(i.sample_id[1:]) < 8), (), whole.source)
    assert drawn(whole) == drawn(whole)
    assert drawn(whole) != drawn(whole, seed=1)
    assert drawn(first).items() <= drawn(whole).items()
    kept = limited(with_baselines(whole, 0), 5, 0).items
    assert all(drawn(whole)[item.sample_id] == item.audio for item in kept if item.system == "unrelated")


def test_a_system_with_the_name_of_a_baseline_is_refused(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    edits.add("identity", "1")
    edits.add("identity", "2")
    with pytest.raises(UserError, match="a system 'identity'"):
        with_baselines(read_edits(edits.write()), 0)


def test_without_a_second_sound_nothing_is_unrelated(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    edits.add("a", "1")
    with pytest.raises(UserError, match="same source sound"):
        with_baselines(read_edits(edits.write()), 0)


def test_the_same_source_may_serve_several_samples(tmp_path: Path) -> None:
    for name, seed in (("s.wav", 0), ("e.wav", 1), ("f.wav", 2)):
        noise(tmp_path / name, seed)
    rows = [{"system": "a", "sample_id": name, "source_audio": "s.wav", "edited_audio": f"{name}.wav"}
            for name in ("e", "f")]  # fmt: skip
    manifest = read_edits(table(tmp_path / "m.csv", rows))
    check_sources(manifest)
    assert len(manifest.items) == 2


def test_real_edits_are_read_and_share_their_sources(shared_data: Path) -> None:
    manifest = read_edits(shared_data / "edits")
    assert len(manifest.items) == 69
    assert {item.edit_type for item in manifest.items} == {"add", "drop", "replace"}
    check_sources(manifest)
    with_both = with_baselines(manifest, 0)
    samples = {item.sample_id for item in manifest.items}
    assert len(with_both.items) == 69 + 2 * len(samples)
    assert np.unique([item.system for item in with_both.items]).size == 6


def test_a_folder_without_a_manifest_of_edits_is_told_what_one_has(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="sample_id, source_audio, edited_audio") as caught:
        read_edits(tmp_path)
    assert "--prompts" not in str(caught.value)
