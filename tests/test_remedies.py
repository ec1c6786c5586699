"""What a message tells the user to do can be done, and what the command line prints can be read."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from earwitness.api.bench import systems_of
from earwitness.cli.main import app
from earwitness.errors import InputFaults, UserError
from earwitness.manifest import from_outputs, read_manifest
from earwitness.manifest.edits import read_edits
from earwitness.manifest.table import near_path

RITTA = "file_name,prompt_id,prompt,relation,main_relation,expected\na.wav,a,A dog,count,Count,{}\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_ritta_data_set_is_called_one_and_names_its_command(tmp_path: Path) -> None:
    data = write(tmp_path / "rt" / "metadata.csv", RITTA).parent
    for read, path in ((read_manifest, data), (read_manifest, data / "metadata.csv"), (read_edits, data)):
        with pytest.raises(UserError, match="is a RiTTA data set") as fault:
            read(path)
        assert f"earwitness bench ritta score {data} NAME=FOLDER" in fault.value.remedy
        assert "did you mean" not in str(fault.value)
    (data / "a.wav").write_bytes(b"RIFF")
    assert read_manifest(data, rename={"caption": "prompt"}).items, "who says what the caption is, is heeded"
    assert read_manifest(data, captions=False).items, "clips can be labelled all the same"


def test_captions_without_clips_point_to_prompts(tmp_path: Path) -> None:
    path = write(tmp_path / "test.csv", "audiocap_id,youtube_id,start_time,caption\n1,x,0,A dog barks\n")
    with pytest.raises(UserError, match="nothing names clips") as fault:
        read_manifest(path)
    assert f"--prompts {path} --outputs NAME=FOLDER" in fault.value.remedy
    assert "did you mean" not in str(fault.value)


def test_a_column_is_suggested_by_its_whole_name(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "sample_id,edited_audio,source,licence\n1,b.wav,freesound,cc0\n")
    with pytest.raises(InputFaults) as fault:
        read_edits(path)
    assert fault.value.faults == ("no column 'source_audio'",)
    assert fault.value.remedy.endswith("say so: --map source_audio=COLUMN.")
    write(path, "sample_id,edited_audio,source_adio,licence\n1,b.wav,a.wav,cc0\n")
    with pytest.raises(InputFaults) as fault:
        read_edits(path)
    assert fault.value.faults == ("no column 'source_audio' (did you mean 'source_adio'?)",)
    assert "--map source_audio=source_adio" in fault.value.remedy


@pytest.mark.parametrize(
    ("columns", "offered"),
    [
        ("prompt_id,prompt", "caption=prompt."),
        ("prompt_id,prompt,relation,prompt_text", "caption=prompt."),
        ("prompt_id,beschreibung", "caption=beschreibung."),
        ("prompt_id,capton,prompt", "caption=capton."),
        ("prompt_id,a,b", "caption=COLUMN."),
    ],
)
def test_the_column_that_map_is_shown_with_is_there(tmp_path: Path, columns: str, offered: str) -> None:
    path = write(tmp_path / "p.csv", f"{columns}\n" + ",".join("x" for _ in columns.split(",")) + "\n")
    with pytest.raises(InputFaults) as fault:
        from_outputs(path, {"ours": tmp_path})
    assert fault.value.remedy.endswith(f"--map {offered}")


def test_a_folder_that_is_not_there_has_its_neighbour_named(tmp_path: Path) -> None:
    (tmp_path / "out" / "ours").mkdir(parents=True)
    with pytest.raises(InputFaults, match=r"no such folder: .*out/our \(did you mean 'ours'\?\)"):
        systems_of([f"ours={tmp_path}/out/our"])
    assert near_path(tmp_path / "nowhere" / "x") == ""


@pytest.mark.parametrize(
    ("verb", "usage"),
    [
        ("events", "events [OPTIONS] TRUTH [NAME=]ESTIMATED..."),
        ("distance", "distance [OPTIONS] REFERENCE [[NAME=]FOLDER]..."),
        ("judge order", "judge order [OPTIONS] [MANIFEST]"),
        ("bench ritta score", "bench ritta score [OPTIONS] DATA [[NAME=]FOLDER]..."),
        ("compare", "compare [OPTIONS] FIRST SECOND"),
        ("scenes bank", "scenes bank [OPTIONS] DIR"),
    ],
)
def test_usage_is_written_as_documents_write_it(verb: str, usage: str) -> None:
    said = CliRunner().invoke(app, [*verb.split(), "--help"], env={"COLUMNS": "120"}).stdout
    assert said.splitlines()[0] == f"Usage: earwitness {usage}"


def test_prompts_check_answers_first_and_is_short(tmp_path: Path) -> None:
    """Of 2,000 prompts with as many sounds that nobody knows: the answer, ten reasons, and how many more."""
    unknown = "".join(f"a dog barking followed by a blorp{row}\n" for row in range(2000))
    path = write(
        tmp_path / "p.csv", f"caption\n{unknown}A dog barking followed by a cat meowing\n" + "Rain\n" * 12
    )
    lines = CliRunner().invoke(app, ["prompts", "check", str(path)]).stdout.splitlines()
    assert lines[0] == "1 of 2,013 prompts can be judged by yamnet."
    assert lines[1] == "2,012 cannot, the 10 most frequent of 2,001 reasons:"
    assert [line.split() for line in lines[2:4]] == [
        ["12", "one", "event"],
        ["row", "2003,", "row", "2004,", "row", "2005", "and", "9", "more"],
    ]
    assert lines[-1].split() == ["1,991", "for", "1,991", "more", "reasons"]
    assert len(lines) == 2 + 2 * 10 + 1
