"""Data sets of scenes: the same bytes whatever happened on the way, and refusals that say what to do."""

import csv
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from earwitness import __version__, audio
from earwitness.errors import InputFaults, UserError
from earwitness.scenes import card, dataset, edit_pairs, order_pairs, scene
from earwitness.scenes.bank import Bank, Source, clip
from earwitness.scenes.render import mix
from earwitness.scenes.ritta import recipe as ritta

PAIRS = 40
SCRIPT = """
import os, resource, signal, sys
from pathlib import Path
from earwitness.scenes import dataset, edit_pairs
from earwitness.scenes.bank import Bank

def stop(done, total):
    if done >= 16:
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text()
        print(children, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    folder, workers, limit = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    recipe = edit_pairs.recipe(Bank.builtin(3), pairs=40)
    dataset.write(folder, recipe, recipe.bank, stems=True, workers=workers, progress=None if limit else stop)
"""


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def edits():
    return edit_pairs.recipe(Bank.builtin(3), pairs=PAIRS)


@pytest.fixture(scope="module")
def written(edits, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "data"
    calls = []
    made = dataset.write(
        folder, edits, edits.bank, stems=True, workers=1, progress=lambda *call: calls.append(call)
    )
    assert (made.made, made.kept) == (PAIRS, 0)
    assert calls == [(16, PAIRS), (32, PAIRS), (PAIRS, PAIRS)]
    return folder


@pytest.fixture
def copy(written, tmp_path):
    """A finished data set that a test may damage."""
    for name, data in contents(written).items():
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_bytes(data)
    return tmp_path / "data"


# What is in the folder


def test_rows_state_what_the_files_hold(written):
    found = rows_of(written / "metadata.csv")
    assert len(found) == PAIRS
    for row in found:
        assert row["pcm_hash"] == audio.read(written / row["file_name"]).pcm_hash
        assert row["prompt"] == scene.read(written / "scenes" / f"{row['prompt_id']}.json").prompt
    prompts = rows_of(written / "prompts.csv")
    assert [(p["prompt_id"], p["caption"]) for p in prompts] == [(r["prompt_id"], r["prompt"]) for r in found]


def test_a_scene_file_and_the_bank_give_the_mix_again(written):
    bank = Bank.builtin(3)  # not the recipe's: labels and order differ
    for path in sorted(written.glob("scenes/**/*.json"))[::7]:
        one = scene.read(path)
        role = path.parent.name if path.parent.name != "scenes" else "audio"
        again = mix(one, bank)[np.newaxis]
        assert np.array_equal(again, audio.read(dataset.mix_path(written, role, one.scene_id)).samples)


def test_stems_in_the_files_add_up_to_the_mix_bit_for_bit(written):
    for role in ("audio", "source"):
        for path in sorted((written / role).iterdir()):
            one = scene.read(dataset.scene_path(written, role, path.stem))
            stems = [audio.read(stem).samples for stem in dataset.stem_paths(written, role, one)]
            assert np.array_equal(sum(stems), audio.read(path).samples)


def test_licences_name_every_clip_that_is_heard_and_in_how_many_scenes(written):
    scenes = [scene.read(path) for path in written.glob("scenes/**/*.json")]
    counts = {row["name"]: int(row["scenes"]) for row in rows_of(written / "licences.csv")}
    heard = {sound.name for one in scenes for sound in one.sounds}
    assert counts == {name: sum(any(s.name == name for s in one.sounds) for one in scenes) for name in heard}
    assert card._COMPUTED in (written / "README.md").read_text()


@pytest.mark.parametrize(
    ("licence", "kind"),
    [
        ("http://creativecommons.org/licenses/by-nc/3.0/", "not for commercial use"),
        ("http://creativecommons.org/publicdomain/zero/1.0/", "Public domain or CC0"),
        ("https://creativecommons.org/licenses/sampling+/1.0/", "Sampling Plus"),
        ("CC BY 4.0 (VCTK)", "attribution (BY)"),
        ("CC-BY-SA-3.0", "share alike"),
        ("cc0", "Public domain or CC0"),
        ("GPL-2+ or LGPL-2+", "GPL family"),
        ("UNVERIFIED: per clip (CC0|CC BY)", "UNVERIFIED"),
        ("", "not stated"),
        ("Nobody knows", "Other"),
    ],
)
def test_kinds_of_licences_go_by_their_most_demanding_words(licence, kind):
    assert kind in card.licence_class(Source("dog", "1", licence, path=Path("dog.wav")))


def test_prompts_without_sound_name_no_files(tmp_path):
    row = {"prompt_id": "a-1", "prompt": "a dog, then a cat", "relation": "before"}
    made = {
        "columns": ("relation",),
        "settings": {"family": "published"},
        "about": "# Prompts\n\nAll of them.",
    }
    dataset.write_prompts_only(tmp_path / "data", [row], **made)
    assert rows_of(tmp_path / "data" / "metadata.csv") == [{**row, "file_name": "", "pcm_hash": ""}]
    assert rows_of(tmp_path / "data" / "prompts.csv") == [
        {"prompt_id": "a-1", "caption": "a dog, then a cat"}
    ]
    assert 'pretty_name: "Prompts"' in (tmp_path / "data" / "README.md").read_text()
    with pytest.raises(UserError, match="'a-1' is there twice"):
        dataset.write_prompts_only(tmp_path / "other", [row, row], **made)


# The same bytes


def test_two_workers_write_what_one_writes(written, edits, tmp_path):
    dataset.write(tmp_path / "data", edits, edits.bank, stems=True, workers=2)
    assert contents(tmp_path / "data") == contents(written)


def test_a_run_killed_half_way_goes_on_to_the_same_bytes(written, edits, tmp_path):
    folder, script = tmp_path / "data", tmp_path / "run.py"
    script.write_text(SCRIPT)
    run = subprocess.run(
        [sys.executable, script, folder, "2", "0"], stdout=subprocess.PIPE, text=True, check=False
    )
    assert run.returncode == -signal.SIGKILL
    assert not (folder / "metadata.csv").exists()
    orphans = [Path("/proc", pid) for pid in run.stdout.split()]
    assert len(orphans) >= 2
    deadline = time.monotonic() + 20
    while any(map(_alive, orphans)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(_alive, orphans))
    done = dataset.write(folder, edits, edits.bank, stems=True, workers=1)
    assert done.kept >= 16
    assert done.made > 0
    assert contents(folder) == contents(written)


def _alive(process):
    try:
        return process.joinpath("stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_was_damaged_is_made_again_and_nothing_else(written, edits, copy):
    keys = edits.keys()
    wav = copy / "audio" / f"{keys[0]}.wav"
    wav.write_bytes(wav.read_bytes()[:-2])
    (copy / "source" / f"{keys[1]}.wav").unlink()
    (copy / "scenes" / f"{keys[2]}.json").write_text("{")
    next((copy / "stems" / keys[3]).glob("*.wav")).unlink()
    other = scene.read(copy / "scenes" / "source" / f"{keys[4]}.json")
    scene.write(copy / "scenes" / "source" / f"{keys[5]}.json", other)
    (copy / "audio" / f"{keys[6]}.wav").write_bytes(bytes(wav.stat().st_size + 2))
    done = dataset.write(copy, edits, edits.bank, stems=True, workers=1)
    assert (done.made, done.kept) == (6, PAIRS - 6)
    assert contents(copy) == contents(written)


def test_sound_altered_without_another_length_is_made_again(written, edits, copy):
    keys = edits.keys()
    for number, name in enumerate((f"audio/{keys[0]}.wav", f"source/{keys[1]}.wav")):
        other = copy / "audio" / f"{keys[number + 2]}.wav"
        (copy / name).write_bytes(other.read_bytes())
    stem = sorted((copy / "stems" / keys[4]).glob("*.wav"))[0]
    *sound, last = stem.read_bytes()
    stem.write_bytes(bytes([*sound, last ^ 1]))
    header = copy / "audio" / f"{keys[5]}.wav"
    header.write_bytes(header.read_bytes().replace(b"WAVE", b"WAVX"))
    (copy / "metadata.csv").unlink()
    done = dataset.write(copy, edits, edits.bank, stems=True, workers=1)
    assert (done.made, done.kept) == (4, PAIRS - 4)
    assert contents(copy) == contents(written)


def test_checksums_are_those_that_sha256sum_checks(written):
    listed = sorted((written / "checksums").iterdir())
    assert len(listed) == PAIRS
    text = "".join(path.read_text() for path in listed)
    command = ["sha256sum", "--check", "--strict", "--quiet"]
    subprocess.run(command, input=text, text=True, cwd=written, check=True)
    assert {line.split("  ")[1] for line in text.splitlines()} == {
        path.relative_to(written).as_posix() for path in written.rglob("*.wav")
    }


def test_a_smaller_set_grows_to_what_a_larger_one_is(written, edits, tmp_path):
    bank = Bank.builtin(3)
    some = edit_pairs.recipe(bank, pairs=10)
    dataset.write(tmp_path / "data", some, some.bank, stems=True, workers=1)
    done = dataset.write(tmp_path / "data", edits, edits.bank, stems=True, workers=1)
    assert (done.made, done.kept) == (PAIRS - 10, 10)
    assert contents(tmp_path / "data") == contents(written)


# Refusals


def test_other_settings_are_refused_with_every_difference(copy):
    before = contents(copy)
    other = edit_pairs.recipe(Bank.builtin(3), pairs=5, seed=1, kind="add", split="test")
    with pytest.raises(InputFaults) as caught:
        dataset.write(copy, other, other.bank, stems=False)
    told = "\n".join(caught.value.faults)
    assert "seed: 0 before, now 1" in told
    assert 'split: "all" before, now "test"' in told
    assert 'kinds: ["add", "delete", "replace"] before, now ["add"]' in told
    assert "stems: true before, now false" in told
    assert f"prompts: {PAIRS} before, now 5" in told
    assert any(line.startswith("slices_sha256: other pieces") for line in caught.value.faults)
    assert contents(copy) == before


def test_a_bank_that_changed_is_told_in_words(edits, copy):
    made = json.loads((copy / "make.json").read_text())
    made["settings"]["slices_sha256"] = "0" * 64
    (copy / "make.json").write_text(json.dumps(made))
    with pytest.raises(InputFaults, match="Put the bank back as it was") as caught:
        dataset.write(copy, edits, edits.bank, stems=True)
    [fault] = caught.value.faults
    assert fault.startswith("the clips of the bank changed since")


def test_other_versions_are_refused(edits, copy):
    made = json.loads((copy / "make.json").read_text())
    made["versions"]["numpy"] = "1.0"
    (copy / "make.json").write_text(json.dumps(made))
    with pytest.raises(InputFaults, match=r'versions\.numpy: "1\.0" before'):
        dataset.write(copy, edits, edits.bank, stems=True)


def test_a_folder_of_something_else_is_left_alone(edits, tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UserError, match=r"not empty and no data set.*thesis\.tex"):
        dataset.write(tmp_path, edits, edits.bank)
    (tmp_path / "make.json").write_text('{"mine": 1}')
    with pytest.raises(UserError, match="was not written by earwitness"):
        dataset.write(tmp_path, edits, edits.bank)
    assert {p.name for p in tmp_path.iterdir()} == {"thesis.tex", "make.json"}


@pytest.mark.parametrize("inner", ["out", "dog_bark/out", "."])
def test_a_folder_within_the_bank_is_refused(tmp_path, inner):
    bank = own_bank(tmp_path / "bank")
    before = contents(tmp_path / "bank")
    recipe = order_pairs.recipe(bank, pairs=2)
    with pytest.raises(UserError, match=r"lies within the bank, .*/bank.*\n.*outside the bank"):
        dataset.write(tmp_path / "bank" / inner, recipe, recipe.bank)
    assert contents(tmp_path / "bank") == before
    assert len(Bank.open(tmp_path / "bank").sources) == 2


@pytest.mark.parametrize("asked", [{"seed": -1}, {"duration_s": 1e9}, {"duration_s": 7300.0}])
def test_settings_that_no_scene_can_have_leave_no_folder(tmp_path, asked):
    def make():
        recipe = ritta.recipe(Bank.builtin(2), per_relation=1, split="all", leave_out_missing=True, **asked)
        dataset.write(tmp_path / "data", recipe, recipe.bank)

    with pytest.raises(UserError, match=r"seed must be 0 or more|lasts at most 7200 s"):
        make()
    assert os.listdir(tmp_path) == []


def test_make_json_states_the_version_that_ran(written):
    assert json.loads((written / "make.json").read_text())["versions"]["earwitness"] == __version__


def test_a_long_label_gives_a_stem_that_can_be_written(tmp_path):
    for label in ("x" * 300, "\U00010400" * 300):
        name = dataset.stem_name(7, label)
        (tmp_path / f"{name}.part").write_text("")
        assert name.startswith(f"07-{label[0]}")


def test_a_key_too_long_for_a_file_is_refused_at_the_start(tmp_path):
    row = {"prompt_id": "a" * 250, "prompt": "a dog"}
    with pytest.raises(UserError, match="cannot be the name of a file"):
        dataset.write_prompts_only(tmp_path / "d", [row], columns=(), settings={}, about="")
    assert os.listdir(tmp_path) == []


def test_the_lock_stays_so_that_all_wait_for_the_same_one(edits, copy):
    before = (copy / "make.lock").stat().st_ino
    dataset.write(copy, edits, edits.bank, stems=True, workers=1)
    assert (copy / "make.lock").stat().st_ino == before


def test_a_place_that_cannot_be_written_is_named(edits, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file/data cannot be written: Not a directory"):
        dataset.write(tmp_path / "file" / "data", edits, edits.bank)


def test_a_disk_that_takes_no_more_ends_in_words_and_the_run_goes_on(written, edits, tmp_path):
    """A limit on the size of a file stands in for a full disk: the write itself fails."""
    folder, script = tmp_path / "data", tmp_path / "run.py"
    script.write_text(SCRIPT)
    run = subprocess.run(
        [sys.executable, script, folder, "1", "100000"], capture_output=True, text=True, check=False
    )
    assert "UserError" in run.stderr
    assert f"{folder} cannot be written: File too large" in run.stderr
    dataset.write(folder, edits, edits.bank, stems=True, workers=1)
    assert contents(folder) == contents(written)


def test_a_folder_that_another_process_writes_is_refused(edits, copy):
    with (copy / "make.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UserError, match="being written by another process"):
            dataset.write(copy, edits, edits.bank, stems=True)


def own_bank(folder):
    for label in ("dog_bark", "siren"):
        (folder / label).mkdir(parents=True)
        for number in range(2):
            sound = Bank.builtin(2).of(label)[number]
            audio.write_wav(folder / label / f"{number}.wav", clip(sound)[np.newaxis], 16_000)
    return Bank.open(folder)


def test_a_clip_that_vanished_is_named_by_a_worker(tmp_path):
    recipe = order_pairs.recipe(own_bank(tmp_path / "bank"), pairs=20)
    (tmp_path / "bank" / "siren" / "0.wav").unlink()
    (tmp_path / "bank" / "siren" / "1.wav").unlink()
    with pytest.raises(UserError, match=r"siren/\d\.wav cannot be used"):
        dataset.write(tmp_path / "data", recipe, recipe.bank, workers=2)


def test_keys_must_be_names_of_files(edits, tmp_path):
    row = {"prompt_id": "../a", "prompt": "a dog"}
    with pytest.raises(UserError, match=r"'\.\./a' cannot be the name of a file"):
        dataset.write_prompts_only(tmp_path / "d", [row], columns=(), settings={}, about="")
    assert os.listdir(tmp_path) == []
