"""A RiTTA data set that is no longer the one that was made is refused, by row and file."""

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest

from earwitness import audio
from earwitness.errors import InputFaults, UserError
from earwitness.tasks import ritta_sources
from ritta_runs import make_data, make_silence


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("ritta") / "DATA", per_relation=2)


@pytest.fixture
def data(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "DATA"))


def read(data: Path) -> None:
    ritta_sources.manifest(data, {}, silence=make_silence(data.parent / "silence.wav"))


def faults_of(data: Path) -> str:
    with pytest.raises(InputFaults) as caught:
        read(data)
    return str(caught.value)


def table(data: Path) -> list[dict[str, str]]:
    with (data / "metadata.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(data: Path, rows: list[dict[str, str]]) -> None:
    with (data / "metadata.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def test_the_data_set_as_it_was_made_is_read(data: Path) -> None:
    read(data)


def test_mixes_that_changed_places_are_named(data: Path) -> None:
    one, other = data / "audio" / "before-00000.wav", data / "audio" / "before-00001.wav"
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)
    told = faults_of(data)
    assert "2 faults" in told
    assert str(one) in told
    assert str(other) in told
    assert "not the sound that was made" in told


def test_a_mix_of_another_length_and_one_that_cannot_be_read_are_named(data: Path) -> None:
    short, broken = data / "audio" / "and-00000.wav", data / "audio" / "and-00001.wav"
    audio.write_wav(short, np.zeros((1, 8000), np.float32), 16_000)
    broken.write_bytes(b"")
    told = faults_of(data)
    assert f"{short} is not as long as its scene" in told
    assert f"{broken}: the file has 0 bytes" in told


def test_rows_that_are_gone_are_counted(data: Path) -> None:
    write(data, table(data)[:-3])
    assert "there are 19 rows, but make.json says that the data set was made with 22 prompts" in faults_of(
        data
    )


def test_what_is_asked_for_may_be_any_nonsense(data: Path) -> None:
    rows = table(data)
    for row, nonsense in zip(rows, ("[" * 100_000, "{}", "7", "", '{"relation": "near"}'), strict=False):
        row["expected"] = nonsense
    write(data, rows)
    told = faults_of(data)
    for row in range(2, 7):
        assert f"row {row}: " in told


def test_a_folder_that_is_no_data_set_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="bench ritta make"):
        read(tmp_path)
