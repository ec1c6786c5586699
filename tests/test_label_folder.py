"""Which clips a folder or manifest gives when no captions are needed."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness.errors import InputFaults, UserError
from earwitness.manifest import read_manifest
from earwitness.manifest.folder import from_folder, read_clips


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"sound")


def test_every_audio_file_below_is_a_clip_of_one_system(tmp_path: Path) -> None:
    touch(tmp_path / "zoo", "lion.wav", "birds/wren.FLAC", "notes.txt", ".hidden/x.wav", "birds/.y.mp3")
    found = read_clips(tmp_path / "zoo")
    assert [(item.system, item.sample_id, item.caption) for item in found.items] == [
        ("zoo", "birds/wren", ""),
        ("zoo", "lion", ""),
    ]
    assert all(item.audio.is_absolute() and item.audio.is_file() for item in found.items)
    (note,) = found.notes
    assert "notes.txt" in note


def test_files_of_one_stem_are_told_apart_by_their_ending(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav", "a.mp3", "b.ogg")
    assert [item.sample_id for item in from_folder(tmp_path).items] == ["a.mp3", "a.wav", "b"]


@settings(max_examples=60, deadline=None)
@given(st.sets(st.from_regex(r"(d/)?[ab](\.wav){0,2}\.(wav|mp3)", fullmatch=True), min_size=1, max_size=8))
def test_no_two_clips_share_a_name(names: set[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        touch(Path(folder), *names)
        items = from_folder(Path(folder)).items
        assert len({item.sample_id for item in items}) == len(names)
        assert {item.audio.relative_to(Path(folder).resolve()).as_posix() for item in items} == names


def test_odd_names_are_kept_to_the_letter(tmp_path: Path) -> None:
    names = ["=1+1.wav", "ein Käuzchen.wav", "雨 の音.wav", "a, b.wav", "tab\there.wav", "🐕.wav"]
    touch(tmp_path, *names)
    assert {f"{item.sample_id}.wav" for item in from_folder(tmp_path).items} == set(names)


def test_a_folder_without_audio_or_that_is_not_there_is_refused(tmp_path: Path) -> None:
    touch(tmp_path / "clips", "readme.txt")
    with pytest.raises(UserError, match="no audio"):
        read_clips(tmp_path / "clips")
    with pytest.raises(UserError, match=r"did you mean 'clips'"):
        from_folder(tmp_path / "clip")


def test_a_link_to_nothing_is_named(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav")
    (tmp_path / "gone.wav").symlink_to(tmp_path / "nowhere.wav")
    with pytest.raises(InputFaults, match=r"link to nothing.*gone\.wav"):
        from_folder(tmp_path)


def test_metadata_that_names_clips_is_a_manifest_even_without_captions(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav", "b.wav", "more/c.wav")
    (tmp_path / "metadata.csv").write_text("file_name,speaker\nb.wav,x\na.wav,y\n", encoding="utf-8")
    found = read_clips(tmp_path)
    assert [item.sample_id for item in found.items] == ["b", "a"]
    (note,) = found.notes
    assert "more/c.wav" in note  # what the manifest leaves out is said, not labelled
    with pytest.raises(InputFaults, match="caption"):
        read_manifest(tmp_path)


def test_captions_of_a_manifest_are_kept(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav")
    (tmp_path / "m.jsonl").write_text('{"audio": "a.wav", "text": "a dog"}\n', encoding="utf-8")
    assert read_clips(tmp_path / "m.jsonl", rename={"caption": "text"}).items[0].caption == "a dog"


def test_other_metadata_is_no_manifest(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav")
    (tmp_path / "metadata.csv").write_text("licence,year\nCC0,2020\n", encoding="utf-8")
    assert [item.sample_id for item in read_clips(tmp_path).items] == ["a"]
    with pytest.raises(UserError, match="--map"):
        read_clips(tmp_path, rename={"caption": "licence"})


def test_clips_may_be_named_by_a_renamed_column(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav", "b.wav")
    (tmp_path / "metadata.csv").write_text("sound\na.wav\n", encoding="utf-8")
    assert [item.sample_id for item in read_clips(tmp_path, rename={"audio": "sound"}).items] == ["a"]


def test_what_is_no_folder_is_told_with_its_remedy(tmp_path: Path) -> None:
    touch(tmp_path, "clips/a.wav")
    with pytest.raises(UserError, match=r"nosuch: no such file or folder\.") as caught:
        read_clips(tmp_path / "nosuch")
    assert "jsonl" not in str(caught.value)
    with pytest.raises(UserError, match="did you mean 'clips'"):
        read_clips(tmp_path / "clisp")
    with pytest.raises(UserError, match=rf"is one clip\.\s+Name its folder: {tmp_path / 'clips'}$"):
        read_clips(tmp_path / "clips" / "a.wav")
