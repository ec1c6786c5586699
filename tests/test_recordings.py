"""Whether it is known which clips come from one recording, and what is said where it is not."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earwitness.api.bench import make_ritta
from earwitness.api.scenes import make_scenes
from earwitness.audio import write_wav
from earwitness.errors import InputFaults
from earwitness.scenes.bank import Bank, Source
from earwitness.scenes.making import UNKNOWN
from earwitness.scenes.recordings import piece_of, recordings
from earwitness.training import card, sides


def noise(path: Path, seed: int, seconds: float = 1.5) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = 0.3 * np.random.default_rng(seed).uniform(-1, 1, (1, round(16_000 * seconds)))
    write_wav(path, samples.astype(np.float32), 16_000)


def pieces(folder: Path, *labels: str, takes: int = 4) -> Path:
    """A bank without metadata: every label has so many takes, each cut in two."""
    for at, label in enumerate(labels):
        for take in range(takes):
            for part in (1, 2):
                noise(folder / label / f"take-no{take}-of-{label}_{part}.wav", 100 * at + 2 * take + part)
    return folder


def clip(name: str, known: bool = False) -> Source:
    return Source(name.partition("/")[0], name, name=name, recording_known=known)


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("horn/keweldog__car-horn_1.wav", "horn/keweldog__car-horn"),
        ("horn/keweldog__car-horn-2.flac", "horn/keweldog__car-horn"),
        ("horn/street.3.wav", "horn/street"),
        ("horn/street b.wav", "horn/street"),
        ("horn/street (12).wav", "horn/street"),
        ("horn/street-02_1.wav", "horn/street-02"),
        ("horn/horn_1.wav", ""),
        ("car_horn/Car-Horn 7.wav", ""),
        ("horn/clip_001.wav", ""),
        ("horn/street1.wav", ""),
        ("horn/street_2019.wav", ""),
        ("horn/1.wav", ""),
    ],
)
def test_a_piece_is_told_by_the_end_of_its_name(name: str, whole: str) -> None:
    label = name.partition("/")[0]
    assert piece_of(name, label) == whole
    assert recordings([clip(name, known=True), clip(name, known=True)]).alike == {}


def test_it_is_louder_where_names_look_like_pieces() -> None:
    plain = recordings([clip("horn/a.wav"), clip("horn/b_1.wav"), clip("horn/c.wav", known=True)])
    assert plain.note.startswith("Recordings are not known for 2 of 3 clips: each is taken as a recording of")
    loud = recordings(
        map(clip, ("horn/a_1.wav", "horn/a_2.wav", "horn/b-1.wav", "horn/b-2.wav", "horn/x.wav"))
    )
    assert loud.note.startswith("CAUTION: recordings are not known for 5 of 5 clips, and 4 of them look")
    for said in ("pieces of 2 recordings", "horn/a_1.wav and horn/a_2.wav; horn/b-1.wav", "recording_id"):
        assert said in loud.note
    known = recordings([clip("horn/a_1.wav", known=True), clip("horn/a_2.wav", known=True)])
    assert known.note == ""


def test_metadata_may_state_some_and_nothing_is_said_where_all_are_known(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        noise(tmp_path / f"{number}.wav", number)
    table = tmp_path / "metadata.csv"
    table.write_text("file_name,label,recording_id\n1.wav,siren,s\n2.wav,siren,\n3.wav,siren,s\n")
    assert Bank.open(tmp_path).recordings.unknown == 1
    table.write_text(table.read_text().replace("siren,\n", "siren,t\n"))
    assert Bank.open(tmp_path).notes == ()
    assert Bank.builtin(2).notes == ()


def test_the_split_stays_and_what_is_measured_is_doubted(tmp_path: Path) -> None:
    """Clips are dealt as before; how many of the tested ones look like pieces of trained ones is counted."""
    bank = Bank.open(pieces(tmp_path, "siren", "rain"))
    found = sides.sides(bank, "held-out")
    trained = {piece for side in (found.train, found.held) for of in side.values() for piece in of}
    tested = [name for of in found.test.values() for name in of]
    alike = [name for name in tested if {name[:-1] + end for end in "12"} & trained]
    assert found.alike == (len(alike), len(tested))
    assert len(alike) > 2
    said = " ".join(found.notes)
    assert f"CAUTION: {len(alike)} of the {len(tested)} recordings tested on look" in said
    assert "recordings are not known for 16 of 16 clips" in said
    assert f"{len(alike)} of the {len(tested)} tested on look by their names" in card.where(found)
    assert "recordings it was not trained on" not in card.where(found)
    known = sides.sides(Bank.builtin(4), "held-out")
    assert card.where(known) == "recordings it was not trained on (split held-out)"
    assert not any("CAUTION" in note for note in known.notes)


def test_data_sets_say_it_in_notes_card_and_settings(tmp_path: Path) -> None:
    bank = pieces(tmp_path / "bank", "siren", "dog_barking", "talking", "car_horn", "glass_drop")
    made = [
        make_scenes("order", bank=bank, out=tmp_path / "order", pairs=1, workers=1),
        make_ritta(bank, tmp_path / "ritta", per_relation=1, leave_out_missing=True, workers=1),
    ]
    for one, clips in zip(made, (40, 32), strict=True):  # RiTTA has no siren
        [note] = [note for note in one.notes if "ecordings are not known" in note]
        assert f"for {clips} of {clips} clips" in note
        assert note in (one.folder / "README.md").read_text(encoding="utf-8")
        settings = json.loads((one.folder / "make.json").read_text(encoding="utf-8"))["settings"]
        assert settings["clips_of_unknown_recording"] == clips
    assert "share no recording, as far as" in (tmp_path / "ritta/README.md").read_text(encoding="utf-8")


def test_a_data_set_begun_before_that_was_counted_goes_on(tmp_path: Path) -> None:
    """Its make.json lacks the count; once it is there it holds, and so does all else as ever."""
    bank = pieces(tmp_path / "bank", "siren", "dog_barking")
    file = tmp_path / "data" / "make.json"

    def more(pairs: int) -> dict[str, Any]:
        make_scenes("order", bank=bank, out=tmp_path / "data", pairs=pairs, workers=1)
        made: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return made

    made = more(1)
    assert made["settings"].pop(UNKNOWN) == 16
    file.write_text(json.dumps(made), encoding="utf-8")
    made = more(2)
    assert made["settings"][UNKNOWN] == 16
    made["settings"][UNKNOWN] = 0
    file.write_text(json.dumps(made), encoding="utf-8")
    with pytest.raises(InputFaults, match="other clips than before whose recordings are not known: 0 before"):
        more(2)
    del made["settings"][UNKNOWN], made["settings"]["measure"]
    file.write_text(json.dumps(made), encoding="utf-8")
    with pytest.raises(InputFaults, match="measure: nothing before"):
        more(2)
