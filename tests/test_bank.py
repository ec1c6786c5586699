"""The built-in sounds are reproducible and varied; a user's bank is read whole or refused with its faults."""

import json
import os
from itertools import pairwise

import numpy as np
import pytest

from earwitness import audio
from earwitness.errors import InputFaults, UserError
from earwitness.scenes import bank, synth
from earwitness.scenes.bank import Bank


def tone(path, seconds=0.5, rate_hz=44_100, channels=1, hz=440):
    path.parent.mkdir(parents=True, exist_ok=True)
    wave = 0.3 * np.sin(2 * np.pi * hz * np.arange(int(seconds * rate_hz)) / rate_hz)
    audio.write_wav(path, np.tile(wave.astype(np.float32), (channels, 1)), rate_hz)


def spectrum(sound):
    """Shares of power in 24 bands of about a third of an octave."""
    power = np.abs(np.fft.rfft(sound, 65536)) ** 2
    edges = np.geomspace(60, 8000, 25) / synth.RATE_HZ * 65536
    bands = np.array([power[int(a) : int(b)].sum() for a, b in pairwise(edges)])
    return bands / bands.sum()


@pytest.mark.parametrize("label", synth.CLASSES)
def test_a_sound_is_well_formed(label):
    for seed in range(2):
        sound = synth.render(label, seed)
        assert sound.dtype == np.float32
        assert np.isfinite(sound).all()
        assert np.abs(sound).max() == pytest.approx(synth.PEAK, rel=1e-6)
        assert 1.6 <= len(sound) / synth.RATE_HZ <= 2.8
        loud = np.flatnonzero(np.abs(sound) > 0.05 * synth.PEAK)
        assert loud[0] < 0.1 * synth.RATE_HZ, "it must begin at once: its place is its onset"
        assert np.abs(sound[-16:]).max() < 0.01 * synth.PEAK


@pytest.mark.parametrize("label", synth.CLASSES)
def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_sound(label):
    assert synth.render(label, 5).tobytes() == synth.render(label, 5).tobytes()
    sounds = [synth.render(label, seed) for seed in range(5)]
    assert len({len(s) for s in sounds}) == 5
    spectra = [spectrum(s) for s in sounds]
    differences = [np.abs(a - b).sum() for i, a in enumerate(spectra) for b in spectra[:i]]
    assert min(differences) > 0.005
    assert np.mean(differences) > 0.04


@pytest.mark.parametrize("label", synth.CLASSES)
def test_a_stated_duration_is_kept_to_the_sample(label):
    for seconds in (synth.MIN_S, 3.7):
        assert len(synth.render(label, 1, seconds)) == round(seconds * synth.RATE_HZ)


def test_there_are_enough_classes_with_labels():
    assert len(synth.CLASSES) >= 10
    assert all(sound.labels for sound in synth.CLASSES.values())


def test_an_unknown_sound_is_refused_with_a_near_name():
    with pytest.raises(UserError, match="siren"):
        synth.render("sirren", 0)
    with pytest.raises(ValueError, match="duration_s"):
        synth.render("siren", 0, 0.2)


def test_the_builtin_bank_holds_different_sounds_for_every_seed():
    one, other = Bank.builtin(per_class=5, seed=0), Bank.builtin(per_class=5, seed=1)
    assert set(one.sources) == set(synth.CLASSES)
    for label in one.sources:
        mine, theirs = one.of(label), other.of(label)
        assert len({s.recording_id for s in mine + theirs}) == 10
        assert not any(s.licence for s in mine)
    source = one.of("siren")[2]
    assert np.array_equal(bank.clip(source), synth.render("siren", source.seed))
    assert len(bank.clip(source, 32_000, 2.0)) == 64_000


def test_a_folder_of_labels_is_a_bank(tmp_path):
    for name in ("dog/a.wav", "dog/b.wav", "church bell/ü 1.wav"):
        tone(tmp_path / name, channels=2)
    (tmp_path / "dog" / "notes.txt").write_text("x")
    (tmp_path / ".cache").mkdir()
    found = Bank.open(tmp_path)
    assert list(found.sources) == ["church bell", "dog"]
    assert [s.recording_id for s in found.of("dog")] == ["dog/a", "dog/b"]
    sound = bank.clip(found.of("dog")[0], 16_000)
    assert sound.shape == (8000,)
    assert np.abs(sound).max() == pytest.approx(0.3, abs=0.01)
    assert len(bank.clip(found.of("dog")[0], 16_000, 0.2)) == 3200
    assert len(bank.clip(found.of("dog")[0], 16_000, 2.0)) == 8000


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_folder_with_metadata_is_a_bank(tmp_path, form):
    tone(tmp_path / "x" / "1.wav")
    tone(tmp_path / "x" / "2.wav")
    rows = [
        {"file_name": "x/1.wav", "label": "dog", "recording_id": "r9", "licence": "CC0", "author": "Ada"},
        {"file_name": "x/2.wav", "label": "dog", "recording_id": "", "licence": "", "author": ""},
    ]
    if form == "csv":
        lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    else:
        lines = [json.dumps(row) for row in rows]
    (tmp_path / f"metadata.{form}").write_text("\n".join(lines) + "\n")
    one, other = Bank.open(tmp_path).of("dog")
    assert (one.recording_id, one.licence, one.path) == ("r9", "CC0", tmp_path / "x" / "1.wav")
    assert (one.author, one.name) == ("Ada", "x/1.wav")
    assert (other.recording_id, other.author, other.name) == ("x/2", "", "x/2.wav")


def test_every_fault_of_a_bank_is_listed_at_once(tmp_path):
    tone(tmp_path / "1.wav")
    (tmp_path / "metadata.csv").write_text("file_name,label\n1.wav,\n2.wav,dog\n1.wav,cat\n")
    with pytest.raises(InputFaults) as raised:
        Bank.open(tmp_path)
    assert len(raised.value.faults) == 3
    assert ["row 2" in raised.value.faults[0], "2.wav" in raised.value.faults[1]] == [True, True]
    assert "rows 2 and 4" in raised.value.faults[2]


@pytest.mark.parametrize("name", ["../out.wav", "dog/../../out.wav", "{out}", ".", ""])
def test_a_table_lists_nothing_from_beyond_its_folder(tmp_path, name):
    tone(tmp_path / "out.wav")
    tone(tmp_path / "bank" / "dog" / "a.wav")
    name = name.format(out=tmp_path / "out.wav")
    (tmp_path / "bank" / "metadata.csv").write_text(f"file_name,label\ndog/a.wav,dog\n{name},cat\n")
    with pytest.raises(InputFaults) as raised:
        Bank.open(tmp_path / "bank")
    (fault,) = raised.value.faults
    assert fault.startswith("row 3: ")


def test_a_table_without_labels_is_refused_without_an_option_that_no_command_on_banks_has(tmp_path):
    tone(tmp_path / "1.wav")
    (tmp_path / "metadata.csv").write_text("file_name,class\n1.wav,dog\n")
    with pytest.raises(
        InputFaults, match=r"no column 'label'[^$]*columns found are: file_name, class"
    ) as one:
        Bank.open(tmp_path)
    (tmp_path / "metadata.csv").write_text("file_name,audio,label\n1.wav,1.wav,dog\n")
    with pytest.raises(InputFaults, match="'audio' and 'file_name' are both columns; keep one") as other:
        Bank.open(tmp_path)
    assert "--map" not in f"{one.value}{other.value}"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_among_the_clips_is_refused_not_waited_for(tmp_path):
    tone(tmp_path / "dog" / "a.wav")
    os.mkfifo(tmp_path / "dog" / "b.wav")
    (tmp_path / "dog" / "c.wav").symlink_to(tmp_path / "gone.wav")
    with pytest.raises(InputFaults) as raised:
        Bank.open(tmp_path)
    assert [fault.split(" is a ")[0][-5:] for fault in raised.value.faults] == ["b.wav", "c.wav"]


def test_clips_in_folders_below_a_label_are_counted_and_told(tmp_path):
    for name in (
        "dog/a.wav",
        "dog/session1/b.wav",
        "dog/session1/take/c.wav",
        "dog/.cache/d.wav",
        "cat/e.wav",
    ):
        tone(tmp_path / name)
    (tmp_path / "dog" / "session1" / "notes.txt").write_text("x")
    found = Bank.open(tmp_path)
    assert [s.name for s in found.of("dog")] == ["dog/a.wav"]
    assert found.notes[0] == "2 of the bank's clips are left out: in a folder below that of the label."
    (tmp_path / "dog" / "a.wav").unlink()
    with pytest.raises(InputFaults, match=r"'dog' holds no sound: .*\(clips in folders below it: 2\)"):
        Bank.open(tmp_path)


def test_an_empty_label_an_empty_folder_and_no_folder_are_refused(tmp_path):
    with pytest.raises(UserError, match="no such folder"):
        Bank.open(tmp_path / "none")
    with pytest.raises(InputFaults, match="no folder with sound"):
        Bank.open(tmp_path)
    tone(tmp_path / "dog" / "a.wav")
    (tmp_path / "cat").mkdir()
    with pytest.raises(InputFaults, match="'cat' holds no sound"):
        Bank.open(tmp_path)


def test_a_label_the_bank_lacks_and_a_file_it_cannot_read_are_named(tmp_path):
    tone(tmp_path / "dog" / "a.wav")
    (tmp_path / "dog" / "b.wav").write_bytes(b"this is no sound")
    found = Bank.open(tmp_path)
    with pytest.raises(UserError, match=r"'dig'.*'dog'"):
        found.of("dig")
    with pytest.raises(UserError, match=r"b\.wav"):
        bank.clip(found.of("dog")[1])


def test_opening_a_bank_decodes_nothing(tmp_path):
    for number in range(3):
        (tmp_path / "dog").mkdir(exist_ok=True)
        (tmp_path / "dog" / f"{number}.wav").write_bytes(b"this is no sound")
    assert len(Bank.open(tmp_path).of("dog")) == 3


def test_a_source_is_found_by_name_or_by_its_sound(tmp_path):
    for number in range(3):
        tone(tmp_path / "dog" / f"{number}.wav", seconds=0.5 + number / 10)
    found = Bank.open(tmp_path)
    wanted = [bank.decoded(source, 16_000).pcm_hash for source in found.of("dog")]
    assert wanted[0] == audio.read(tmp_path / "dog" / "0.wav").pcm_hash
    assert found.find("dog/1.wav", wanted[1]) == found.of("dog")[1]
    assert found.find("moved/elsewhere.wav", wanted[2]) == found.of("dog")[2]
    with pytest.raises(UserError, match=r"no clip 'cat/1\.wav', nor that sound"):
        found.find("cat/1.wav", "0" * 64)


def test_a_file_whose_sound_changed_is_named_before_any_other_is_decoded(tmp_path, monkeypatch):
    for number in range(4):
        tone(tmp_path / "dog" / f"{number}.wav", seconds=0.5 + number / 10)
    found = Bank.open(tmp_path)
    read = []
    decode = audio.read
    monkeypatch.setattr(audio, "read", lambda path: read.append(path.name) or decode(path))
    with pytest.raises(UserError, match=r"2\.wav holds another sound"):
        found.find("dog/2.wav", "0" * 64)
    assert read == ["2.wav"]


def test_a_file_whose_sound_changed_is_named(tmp_path):
    tone(tmp_path / "dog" / "a.wav")
    (tmp_path / "dog" / "b.wav").write_bytes(b"this is no sound")
    found = Bank.open(tmp_path)
    before = bank.decoded(found.of("dog")[0], 16_000).pcm_hash
    tone(tmp_path / "dog" / "a.wav", seconds=0.6)
    with pytest.raises(UserError, match=r"a\.wav holds another sound than when the scene was drawn"):
        found.find("dog/a.wav", before)
    with pytest.raises(UserError, match=r"b\.wav cannot be used"):
        found.find("dog/b.wav", before)
    changed = bank.decoded(found.of("dog")[0], 16_000).pcm_hash
    tone(tmp_path / "dog" / "a.wav", seconds=0.6, hz=880)
    os.utime(tmp_path / "dog" / "a.wav", (1, 1))
    assert bank.decoded(found.of("dog")[0], 16_000).pcm_hash != changed
    (tmp_path / "dog" / "a.wav").unlink()
    with pytest.raises(UserError, match=r"a\.wav cannot be used: No such file"):
        found.find("dog/a.wav", before)


def test_decoded_sound_cannot_be_changed_and_is_kept_within_bounds(tmp_path, monkeypatch):
    monkeypatch.setattr(bank, "CACHE_BYTES", 4 * 8000 * 3)
    monkeypatch.setattr(bank, "_CACHE", bank._Cache())
    for number in range(5):
        tone(tmp_path / "dog" / f"{number}.wav")
    sources = Bank.open(tmp_path).of("dog")
    first = bank.decoded(sources[0], 16_000)
    with pytest.raises(ValueError, match="read-only"):
        first.samples[0] = 1
    assert bank.decoded(sources[0], 16_000) is first
    assert bank.decoded(sources[0], 8_000).samples.shape == (4000,)
    for source in sources:
        bank.decoded(source, 16_000)
    assert bank._CACHE._bytes <= bank.CACHE_BYTES
    again = bank.decoded(sources[0], 16_000)
    assert again is not first
    assert np.array_equal(again.samples, first.samples)


def test_labels_can_be_renamed_joined_and_left_out(tmp_path):
    for name in ("hound/a.wav", "puppy/b.wav", "cat/c.wav"):
        tone(tmp_path / "one" / name)
    tone(tmp_path / "two" / "rain" / "d.wav")
    whole = Bank.open(tmp_path / "one")
    dogs = whole.relabelled({"hound": "dog", "puppy": "dog", "cow": "cow"})
    assert {label: [s.name for s in sources] for label, sources in dogs.sources.items()} == {
        "dog": ["hound/a.wav", "puppy/b.wav"]
    }
    assert {s.label for s in dogs.of("dog")} == {"dog"}
    both = whole.joined(Bank.open(tmp_path / "two"))
    assert list(both.sources) == ["cat", "hound", "puppy", "rain"]
    rain = bank.decoded(both.of("rain")[0], 16_000).pcm_hash
    assert both.find("rain/d.wav", rain).label == "rain"


def test_a_computed_sound_keeps_its_name_under_another_label():
    computed = Bank.builtin(per_class=1).relabelled({"siren": "alarm"})
    (source,) = computed.of("alarm")
    assert source.name == f"builtin/siren/{source.seed}"
    assert np.array_equal(bank.clip(source), synth.render("siren", source.seed))
    assert computed.find(source.name, bank.decoded(source, 16_000).pcm_hash) == source


def test_the_shared_clips_open_as_a_bank(shared_data):
    found = Bank.open(shared_data / "clips")
    assert len(found.sources) > 40
    recordings = {s.recording_id for s in found.of("dog_barking")}
    assert 1 < len(recordings) < len(found.of("dog_barking"))
    assert len(bank.clip(found.of("siren")[0])) > 1000
