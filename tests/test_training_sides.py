"""What a detector is trained on, held and tested on: planted sounds that must not leak, and what is said."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from earwitness.api.training import train_listener
from earwitness.audio import write_wav
from earwitness.errors import UserError
from earwitness.scenes.bank import Bank
from earwitness.training import sides
from earwitness.training.mixtures import Pools


def noise(path: Path, seed: int, seconds: float = 1.5, gain: float = 0.3) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = gain * np.random.default_rng(seed).uniform(-1, 1, (1, round(16_000 * seconds)))
    write_wav(path, samples.astype(np.float32), 16_000)


def hashes(side: Pools, *but: str) -> set[str]:
    return {
        piece.pcm_hash
        for label, recordings in side.items()
        if label not in but
        for pieces in recordings.values()
        for piece in pieces
    }


def test_one_sound_under_two_labels_is_on_one_side(tmp_path: Path) -> None:
    for number in range(8):
        for label in ("alarm", "siren"):
            noise(tmp_path / f"{label}/{label[0]}{number}.wav", number)
    for number in range(8):
        noise(tmp_path / f"rain/{number}.wav", 50 + number)
    found = sides.sides(Bank.open(tmp_path), "held-out")
    seen = [hashes(side) for side in (found.train, found.held, found.test)]
    assert sum(map(len, seen)) == len(set.union(*seen)) == 16
    assert (dict(found.shared), found.unheld) == ({}, frozenset())


def test_a_class_tested_on_what_another_is_trained_on_is_in_no_mean(tmp_path: Path) -> None:
    """The lone recording of a class is on both sides by rule: here it is one of another class's, too."""
    for number in range(8):
        for label in ("bark", "rain"):
            noise(tmp_path / f"{label}/{number}.wav", number + 100 * (label == "rain"))
    bank = Bank.open(tmp_path)
    tested = sides.sides(bank, "held-out").test["bark"]
    [name, *_] = tested
    [source] = [one for one in bank.sources["bark"] if one.recording_id == name]
    lone = (replace(source, label="yelp"),)
    found = sides.sides(replace(bank, sources={**bank.sources, "yelp": lone}), "held-out")
    assert set(found.shared) == {"bark", "yelp"}
    assert name in found.shared["bark"]
    assert any(note.startswith("bark is in no mean") for note in found.notes)
    assert not hashes(found.test, *found.shared) & (hashes(found.train) | hashes(found.held))


def test_classes_without_recordings_to_hold_are_named(tmp_path: Path) -> None:
    for number in range(6):
        noise(tmp_path / f"rain/{number}.wav", number)
    for number in range(2):
        noise(tmp_path / f"siren/{number}.wav", 10 + number)
    found = sides.sides(Bank.open(tmp_path), "held-out")
    assert found.unheld == {"siren"}
    assert any("neither when to stop nor a threshold: siren." in note for note in found.notes)
    for number in range(2, 6):
        (tmp_path / f"rain/{number}.wav").unlink()
    found = sides.sides(Bank.open(tmp_path), "held-out")
    assert found.unheld == {"rain", "siren"}
    assert any(note.startswith("No class had recordings to hold back") for note in found.notes)


@pytest.mark.parametrize("split", sides.SPLITS)
def test_what_the_bank_loses_is_told(tmp_path: Path, split: str) -> None:
    for number in range(4):
        for label in ("siren", "rain"):
            noise(tmp_path / f"{label}/{number}.wav", number + 100 * (label == "rain"))
    noise(tmp_path / "rain/short.wav", 7, 0.3)
    (tmp_path / "siren/broken.wav").write_bytes(b"no sound")
    said = " ".join(sides.sides(Bank.open(tmp_path), split).notes)
    assert "shorter than 1 s: rain 1." in said
    assert "not decodable: siren 1." in said
    assert "broken.wav (" in said


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"workers": -1}, "workers must be at least 1"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"seed": 2**65}, "seed must be at most"),
    ],
)
def test_numbers_out_of_bounds_are_told_first(tmp_path: Path, how: dict[str, int], said: str) -> None:
    with pytest.raises(UserError, match=said):
        train_listener("nowhere", tmp_path / "m", **how)  # type: ignore[arg-type]
