"""ESC-50, UrbanSound8K and FSD50K are read as they lie on disk; small copies with tones stand for them."""

import json

import numpy as np
import pytest

from earwitness import audio, labels
from earwitness.errors import InputFaults, UserError
from earwitness.scenes import splits
from earwitness.scenes.bank import Bank, clip


def tone(path, hz=440.0, seconds=0.5, rate_hz=44_100):
    path.parent.mkdir(parents=True, exist_ok=True)
    wave = 0.3 * np.sin(2 * np.pi * hz * np.arange(int(seconds * rate_hz)) / rate_hz)
    audio.write_wav(path, wave[np.newaxis].astype(np.float32), rate_hz)


def text(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


ESC50 = (
    "filename,fold,target,category,esc10,src_file,take",
    "1-100032-A-0.wav,1,0,dog,True,100032,A",
    "1-100032-B-0.wav,1,0,dog,True,100032,B",
    "5-251971-A-10.wav,5,10,sheep,False,251971,A",
)


def test_esc50_keeps_the_takes_of_a_recording_together(tmp_path):
    text(tmp_path / "meta" / "esc50.csv", *ESC50)
    for line in ESC50[1:]:
        tone(tmp_path / "audio" / line.split(",")[0])
    found = Bank.open(tmp_path)
    assert list(found.sources) == ["dog", "sheep"]
    assert [s.recording_id for s in found.of("dog")] == ["100032", "100032"]
    assert {s.licence for s in found.of("dog")} == {"CC BY 3.0"}
    (sheep,) = found.of("sheep")
    assert (sheep.licence, sheep.name) == ("CC BY-NC 3.0", "audio/5-251971-A-10.wav")
    assert len(clip(sheep)) == 8000


def test_urbansound8k_uses_what_stands_in_the_foreground(tmp_path):
    text(
        tmp_path / "metadata" / "UrbanSound8K.csv",
        "slice_file_name,fsID,start,end,salience,fold,classID,class",
        "100032-3-0-0.wav,100032,0.0,0.317551,1,5,3,dog_bark",
        "100263-2-0-117.wav,100263,58.5,62.5,2,5,2,children_playing",
        "100648-1-0-0.wav,100648,4.823402,5.471927,1,10,1,car_horn",
    )
    tone(tmp_path / "audio" / "fold5" / "100032-3-0-0.wav")
    tone(tmp_path / "audio" / "fold10" / "100648-1-0-0.wav")
    found = Bank.open(tmp_path)
    assert list(found.sources) == ["car_horn", "dog_bark"]
    (horn,) = found.of("car_horn")
    assert (horn.recording_id, horn.licence) == ("100648", "CC BY-NC 3.0")
    assert horn.name == "audio/fold10/100648-1-0-0.wav"
    assert found.left_out == {"not in the foreground (salience other than 1)": 1}
    assert found.notes == (
        "1 of the bank's clips is left out: not in the foreground (salience other than 1).",
    )


def fsd50k(folder, dev, eval_=None, info=None):
    """``dev`` and ``eval_``: name -> labels."""
    for part, rows in (("dev", dev), ("eval", eval_)):
        if rows is None:
            continue
        split = part == "dev"
        lines = [f'{name},"{given}","/m/x"{",train" if split else ""}' for name, given in rows.items()]
        text(
            folder / "FSD50K.ground_truth" / f"{part}.csv",
            "fname,labels,mids" + (",split" if split else ""),
            *lines,
        )
        for name in rows:
            tone(folder / f"FSD50K.{part}_audio" / f"{name}.wav")
    if info is not None:
        folder = folder / "FSD50K.metadata"
        text(folder / "dev_clips_info_FSD50K.json", json.dumps(info))


def test_fsd50k_uses_clips_of_one_sound_by_their_most_specific_label(tmp_path):
    fsd50k(
        tmp_path,
        {
            "64760": "Electric_guitar,Guitar,Plucked_string_instrument,Musical_instrument,Music",
            "5312": "Electric_guitar,Bass_guitar,Guitar,Plucked_string_instrument,Musical_instrument,Music",
            "77": "Dishes_and_pots_and_pans,Domestic_sounds_and_home_sounds",
            "78": "Doorbell,Door,Domestic_sounds_and_home_sounds,Alarm",
            "79": "Bark,Dog,Speech,Human_voice,Domestic_animals_and_pets,Animal",
        },
        {"9": "Chicken_and_rooster,Fowl,Livestock_and_farm_animals_and_working_animals,Animal"},
        {"64760": {"license": "http://creativecommons.org/licenses/by/3.0/", "uploader": "someone"}},
    )
    found = Bank.open(tmp_path)
    assert list(found.sources) == [
        "Chicken, rooster",
        "Dishes, pots, and pans",
        "Doorbell",
        "Electric guitar",
    ]
    (guitar,) = found.of("Electric guitar")
    assert (guitar.recording_id, guitar.author) == ("64760", "someone")
    assert guitar.licence == "http://creativecommons.org/licenses/by/3.0/"
    (rooster,) = found.of("Chicken, rooster")
    assert (rooster.name, rooster.licence) == ("FSD50K.eval_audio/9.wav", "")
    assert all(labels.check(label) for label in found.sources)
    (note,) = found.notes
    assert note == "2 of the bank's clips are left out: not of one sound, by their labels."


def test_one_part_of_fsd50k_is_enough_and_none_is_refused(tmp_path):
    fsd50k(tmp_path / "a", {"1": "Bark,Dog,Domestic_animals_and_pets,Animal"})
    assert list(Bank.open(tmp_path / "a").sources) == ["Bark"]
    text(tmp_path / "b" / "FSD50K.ground_truth" / "dev.csv", "fname,labels", "1,Bark")
    with pytest.raises(UserError, match="neither FSD50K"):
        Bank.open(tmp_path / "b")


def test_faults_of_a_corpus_name_rows_and_files(tmp_path):
    text(tmp_path / "e" / "meta" / "esc50.csv", *ESC50)
    tone(tmp_path / "e" / "audio" / "1-100032-A-0.wav")
    with pytest.raises(InputFaults) as raised:
        Bank.open(tmp_path / "e")
    assert len(raised.value.faults) == 2
    assert "row 4: no such file" in raised.value.faults[1]
    text(tmp_path / "u" / "metadata" / "UrbanSound8K.csv", "slice_file_name,fsID", "a.wav,1")
    with pytest.raises(InputFaults, match="no column 'salience'"):
        Bank.open(tmp_path / "u")
    fsd50k(tmp_path / "f", {"1": "Bark,Dogs", "2": "Bark,Dog,Domestic_animals_and_pets,Animal"}, info={})
    with pytest.raises(InputFaults, match="row 2: 'Dogs' is no label of AudioSet"):
        Bank.open(tmp_path / "f")
    (tmp_path / "f" / "FSD50K.metadata" / "dev_clips_info_FSD50K.json").write_text("[1]")
    with pytest.raises(UserError, match="is no table of clips"):
        Bank.open(tmp_path / "f")
    text(
        tmp_path / "g" / "metadata" / "UrbanSound8K.csv",
        "slice_file_name,fsID,salience,fold,class",
        "a,1,2,1,x",
    )
    with pytest.raises(InputFaults, match="no row lists a clip"):
        Bank.open(tmp_path / "g")


@pytest.mark.parametrize(
    "written",
    [
        "Accelerating_and_revving_and_vroom", "Bathtub_(filling_or_washing)", "Boat_and_Water_vehicle",
        "Bird_vocalization_and_bird_call_and_bird_song", "Crying_and_sobbing", "Gunshot_and_gunfire",
        "Fixed-wing_aircraft_and_airplane", "Hi-hat", "Human_voice", "Keys_jangling", "Tick-tock",
        "Livestock_and_farm_animals_and_working_animals", "Marimba_and_xylophone", "Motor_vehicle_(road)",
        "Rattle_(instrument)", "Vehicle_horn_and_car_horn_and_honking", "Walk_and_footsteps", "Wild_animals",
        "Wind_instrument_and_woodwind_instrument", "Zipper_(clothing)",
    ],
)  # fmt: skip
def test_labels_of_fsd50k_are_labels_of_audioset(tmp_path, written):
    fsd50k(tmp_path, {"1": written})
    (label,) = Bank.open(tmp_path).sources
    assert labels.check(label).replace(",", " and").replace(" ", "_") == written


def test_metadata_of_the_users_own_comes_first(tmp_path):
    text(tmp_path / "meta" / "esc50.csv", *ESC50)
    tone(tmp_path / "audio" / "x.wav")
    text(tmp_path / "metadata.csv", "file_name,label,author", "audio/x.wav,hound,me")
    (hound,) = Bank.open(tmp_path).of("hound")
    assert (hound.author, hound.recording_id) == ("me", "audio/x")
    assert hound.path == tmp_path / "audio" / "x.wav"


def test_what_a_bank_left_out_stays_with_its_parts(tmp_path):
    bark = "Bark,Dog,Domestic_animals_and_pets,Animal"
    fsd50k(tmp_path, {"1": bark, "2": bark, "3": f"{bark},Speech,Human_voice", "4": "Doorbell,Speech"})
    whole = Bank.open(tmp_path)
    assert list(whole.left_out.values()) == [2]
    parts = [
        whole.relabelled({"Bark": "dog"}),
        splits.split(whole, "train").bank,
        splits.split(whole, "all").bank,
    ]
    assert all(part.left_out == whole.left_out for part in parts)
    assert list(whole.joined(whole).left_out.values()) == [4]
    assert whole.joined(Bank.builtin(1)).notes == whole.notes


def test_a_corpus_lists_nothing_from_beyond_its_folder(tmp_path):
    tone(tmp_path / "out.wav")
    bank = tmp_path / "bank"
    rows = [f"{name},1,0,dog,True,7,A" for name in ("../../out.wav", tmp_path / "out.wav")]
    text(bank / "meta" / "esc50.csv", ESC50[0], *rows)
    (bank / "audio").mkdir()
    with pytest.raises(InputFaults) as raised:
        Bank.open(bank)
    first, second = raised.value.faults
    assert "row 2: 'audio/../../out.wav' is no path within" in first
    assert "row 3: " in second
