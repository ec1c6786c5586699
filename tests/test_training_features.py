"""What a backbone makes of mixtures, on disk: whole, or made anew; and a disk that is full."""

import errno
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from earwitness.errors import UserError
from earwitness.scenes import slices
from earwitness.scenes.bank import Bank
from earwitness.training import features
from earwitness.training.mixtures import Mixing, Mixture, pools, rendered

SOURCE = features.Source("yamnet")


@pytest.fixture
def of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> features.Mixtures:
    monkeypatch.setattr(features, "cache_folder", lambda: tmp_path)
    whole = Bank.builtin(1)
    cut = slices.cut(replace(whole, sources={name: whole.sources[name] for name in ("siren", "rain")}))
    return features.Mixtures(pools(cut.slices), Mixing(duration_s=5.0, most=1), 0, 3)


def made(of: features.Mixtures) -> tuple[np.ndarray, list[int]]:
    """The rows, and how many mixtures were done whenever some were heard."""
    told: list[int] = []
    rows = np.array(features.rows(of, SOURCE, workers=1, progress=lambda done, _: told.append(done)))
    return rows, told


def test_damaged_rows_and_no_others_are_made_anew(of: features.Mixtures, tmp_path: Path) -> None:
    first, told = made(of)
    assert told == [3]
    [folder] = (tmp_path / features.FOLDER).iterdir()
    kept = np.memmap(folder / "rows.f16", np.float16, "r+", shape=first.shape)
    kept[1, 5, 7] = np.nan
    kept[0, 0, 0] += 1
    kept.flush()
    heard: list[int] = []

    def counted(one: Mixture) -> np.ndarray:
        heard.append(1)
        return rendered(one)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(features, "rendered", counted)
        again, told = made(of)
    assert len(heard) == 2
    assert told == [3]
    assert np.array_equal(first, again)
    (folder / "crc.u32").unlink()
    assert made(of)[1] == [3]
    assert made(of)[1] == []


def test_a_full_disk_is_told_before_a_row_is_written(
    of: features.Mixtures, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(UserError, match="No space left on device"):
        made(of)


def test_all_the_room_is_taken_at_once(of: features.Mixtures, tmp_path: Path) -> None:
    """A file with holes would end the process when the disk is full and a hole is written to."""
    rows, _ = made(of)
    more = replace(of, number=500)
    [folder] = (tmp_path / features.FOLDER).iterdir()
    features._kept(folder, (more.number, *rows.shape[1:]))
    assert (folder / "rows.f16").stat().st_blocks * 512 >= 500 * rows[0].nbytes


def test_numbers_that_no_half_float_holds_are_refused(of: features.Mixtures) -> None:
    work = features._Work(of, SOURCE, False)

    class Loud:
        def timed(self, samples: np.ndarray, hop_s: float) -> np.ndarray:
            return np.full((len(samples) // round(hop_s * 16_000) + 1, 4), 1e6, np.float32)

    work.__dict__["_model"] = Loud()
    with pytest.raises(UserError, match="NaN or infinite"):
        work([0])
