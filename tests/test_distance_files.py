"""The folder of a comparison: what is never written over, and what its words count."""

from pathlib import Path

import pytest

import earwitness
from banded import Bands, folder
from earwitness.api.distances import Measured, join_distances
from earwitness.errors import InputFaults
from earwitness.report.distance_files import FILES


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    return folder(tmp_path / "clean", ["uno", "due", "tre", "quattro"])[0].parent


def measure(reference: Path, **how: object) -> Measured:
    return earwitness.distance(
        reference, {"ours": reference}, backbone=Bands(), metrics=["kl"], workers=1, cache=False, **how
    )


@pytest.mark.parametrize("name", FILES[1:])
def test_files_that_are_not_of_distances_are_neither_replaced_nor_removed(
    clean: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("mine")
    measure(clean, out=tmp_path / "one")
    with pytest.raises(InputFaults, match=r"is of another result and would be lost"):
        measure(clean, out=out)
    with pytest.raises(InputFaults, match=r"is of another result and would be lost"):
        join_distances([tmp_path / "one"], out=out)
    assert {path.name: path.read_text() for path in out.iterdir()} == {name: "mine"}


def test_all_files_of_distances_are_known_and_replaced_by_the_same(clean: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (clean / "gone.wav").symlink_to(tmp_path / "nothing.wav")
    found = measure(clean, out=out).distances
    assert {path.name for path in out.iterdir()} <= set(FILES)
    assert "a link to nothing" in (out / "left_out.csv").read_text()
    assert measure(clean, out=out).distances.rows == found.rows
    (ours,) = [row for row in found.coverage if row.system == "ours"]
    assert (ours.clips, ours.paired) == (5, 4)
    assert any("by name: 4 of 5 of ours" in note for note in found.notes)
