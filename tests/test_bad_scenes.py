"""What makers of scenes get wrong, one test each: levels, clipping, overlap, moved events, stems, odd banks.

The first seven are complaints about other tools of this field; what they were is said at each.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

import ritta_runs
from earwitness import audio
from earwitness.errors import InputFaults, UserError
from earwitness.scenes import dataset, levels, placing, render, scene, slices, splits
from earwitness.scenes.bank import Bank, decoded
from earwitness.scenes.ritta import recipe as ritta
from earwitness.scenes.ritta.classes import CLASSES
from earwitness.scenes.scene import Scene
from earwitness.scores.relations import RELATIONS, SPATIAL
from earwitness.tasks import ritta_sources
from sounds import events_reply

RATE_HZ = 16_000
STEPS = 1 << 15
FEW = settings(max_examples=25, deadline=None)


def tone(seconds, peak=0.3, hz=1000.0):
    return (peak * np.sin(2 * np.pi * hz * np.arange(round(seconds * RATE_HZ)) / RATE_HZ)).astype(np.float32)


def save(folder, label, name, samples, rate_hz=RATE_HZ):
    path = folder / label / f"{name}.wav"
    path.parent.mkdir(parents=True, exist_ok=True)
    audio.write_wav(path, np.atleast_2d(samples), rate_hz)


def bank_of(folder, clips):
    """A bank of label -> sounds."""
    for label, sounds in clips.items():
        for number, samples in enumerate(sounds):
            save(folder, label, str(number), samples)
    return Bank.open(folder)


def noise(seed, seconds, peak=0.3):
    samples = np.random.default_rng(seed).uniform(-peak, peak, round(seconds * RATE_HZ))
    samples[[0, -1]] = peak
    return samples.astype(np.float32)


@pytest.fixture(scope="module")
def whole_bank(tmp_path_factory):
    """All 25 classes, two recordings each, 1.0 to 4.5 s long, quiet and loud."""
    lengths, peaks = (1.0, 1.4, 2.2, 3.1, 4.5), (0.02, 0.3, 0.99)
    clips = {
        label: [noise(2 * i + j, lengths[(i + j) % 5], peaks[(i + j) % 3]) for j in range(2)]
        for i, label in enumerate(CLASSES)
    }
    return bank_of(tmp_path_factory.mktemp("bank"), clips)


@pytest.fixture(scope="module")
def made(whole_bank):
    """A recipe whose scenes the properties are tested on."""
    return ritta.recipe(whole_bank, split="all", per_relation=200, seed=3)


@pytest.fixture(scope="module")
def piece(whole_bank):
    """A slice of each class."""
    cut = slices.cut(whole_bank).slices
    return lambda label: cut[label][0]


def drawn(recipe, relation, index):
    return recipe.draw(f"{relation}-{index:05d}")


PROMPTS = st.tuples(st.sampled_from(RELATIONS), st.integers(0, 199))


# --- levels ---------------------------------------------------------------------------------------------


def test_short_event_level(tmp_path):
    """Loudness was wrong under half a second, and measured before the clip was trimmed."""
    quiet = np.zeros(2 * RATE_HZ, np.float32)
    found = bank_of(tmp_path, {"short": [np.concatenate([quiet, tone(0.3), quiet])], "long": [tone(3.0)]})
    cut = slices.cut(found, shortest_s=0.2, longest_s=3.0).slices
    (short,), long = cut["short"], cut["long"][0]
    assert short.start == pytest.approx(2 * RATE_HZ, abs=16)
    assert short.length == pytest.approx(0.3 * RATE_HZ, abs=32)
    assert short.level_db == pytest.approx(long.level_db, abs=0.5), "the same tone is as loud, however long"
    placed = placing.placed("short", short, 1000, gain_db=6.0)
    one = Scene("a", "test", RATE_HZ, RATE_HZ, "lufs", 0.0, (placed,), "", 0)
    heard = render.render(one, found).stems[0][placed.onset : placed.end]
    assert levels.level_db(heard, RATE_HZ, "lufs") == pytest.approx(placed.level_db, abs=0.01)


@pytest.mark.parametrize("measure", levels.MEASURES)
@pytest.mark.parametrize("seconds", [0.001, 0.01, 0.1, 0.399, 0.4])
def test_100ms_click_has_level(seconds, measure):
    """Anything under 400 ms raised."""
    click = noise(5, seconds)
    level = levels.level_db(click, RATE_HZ, measure)
    assert np.isfinite(level)
    assert levels.level_db(2 * click, RATE_HZ, measure) == pytest.approx(level + 20 * np.log10(2))


@FEW
@given(
    data=st.data(), gain_db=st.floats(-20, 45), below_db=st.lists(st.floats(0, 25), min_size=1, max_size=5)
)
def test_mix_never_clips(whole_bank, piece, data, gain_db, below_db):
    """Bringing sounds to their levels clipped the mix, or changed one level and not the others."""
    labels = data.draw(st.permutations(list(CLASSES)))[: len(below_db)]
    events = tuple(
        placing.placed(label, piece(label), data.draw(st.integers(0, 60_000)), gain_db - less_db)
        for label, less_db in zip(labels, below_db, strict=True)
    )
    asked = Scene("a", "test", RATE_HZ, 160_000, "lufs", 0.0, events, "", 0)
    one = render.settled(asked, whole_bank)
    assert one == replace(asked, gain_db=one.gain_db), "one gain for the whole scene, and nothing else"
    assert one.gain_db <= 0
    rendered = render.render(one, whole_bank)
    assert np.abs(rendered.mix).max() <= render.PEAK
    assert all(np.abs(stem).max() < 1 for stem in rendered.stems)
    for sound, stem in zip(one.sounds, rendered.stems, strict=True):
        if sound.level_db + one.gain_db > -60:  # below, the steps of 16 bits are heard
            level = levels.level_db(stem[sound.onset : sound.end], RATE_HZ, "lufs")
            assert level == pytest.approx(sound.level_db + one.gain_db, abs=0.05)


# --- what lies where ------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(prompt=PROMPTS)
def test_overlap_rule_holds(made, prompt):
    """Sounds of one label overlapped, and nothing could be said about it."""
    relation, index = prompt
    for one in drawn(made, relation, index).values():
        events = one.events
        same = [(a, b) for a in events for b in events if a.onset < b.onset and a.label == b.label]
        assert all(b.onset >= a.end for a, b in same)
        if relation in SPATIAL:
            first, second = events
            assert first.label == second.label
            assert second.onset - first.end >= RATE_HZ
            assert (first.source, first.start, first.length) == (second.source, second.start, second.length)
        elif relation in ("before", "after"):
            first, second = events
            assert (first.label, second.label) == one.expected.alternatives[0].present
            assert second.onset - first.end >= RATE_HZ // 2
        elif relation == "together":
            short, long = sorted(events, key=lambda e: e.length)
            assert long.onset <= short.onset <= long.onset + RATE_HZ // 2
            assert short.end <= long.end
        else:
            assert not same, "its sounds are of different classes"


@FEW
@given(prompt=PROMPTS)
def test_truth_equals_audio(made, prompt):
    """A duration was shortened or an onset moved to fit, and the truth kept what was asked for."""
    for one in drawn(made, *prompt).values():
        stems = render.render(one, made.bank).stems
        for sound, stem in zip(one.sounds, stems, strict=True):
            assert not stem[: sound.onset].any()
            assert not stem[sound.end :].any()
            heard = np.flatnonzero(np.abs(stem) > 0.01 * np.abs(stem).max())
            assert heard[0] - sound.onset <= sound.fade, "it is heard from its onset on"
            assert sound.end - 1 - heard[-1] <= sound.fade, "and to its offset"
        times = [(e.label, e.onset / RATE_HZ, e.end / RATE_HZ) for e in one.events]
        assert [(e.label, e.onset_s, e.offset_s) for e in one.truth()] == times
        assert one.truth().duration_s == len(stems[0]) / RATE_HZ == 10.0


@FEW
@given(prompt=PROMPTS)
def test_stems_sum_to_mix(made, prompt):
    """Stems were a sample longer than the mix, or summed to something else."""
    for one in drawn(made, *prompt).values():
        rendered = render.render(one, made.bank)
        assert {len(stem) for stem in rendered.stems} == {len(rendered.mix)} == {one.samples}
        assert np.array_equal(np.sum(rendered.stems, axis=0), rendered.mix)


def test_stems_sum_to_mix_in_the_files(tmp_path, whole_bank):
    few = ritta.recipe(whole_bank, split="all", per_relation=2, seed=1)
    dataset.write(tmp_path / "set", few, few.bank, stems=True, workers=1)
    mixes = sorted(path for role in ("audio", "references") for path in (tmp_path / "set" / role).iterdir())
    assert len(mixes) == 2 * len(RELATIONS) + 2 * 2
    for mix in mixes:
        inner = "" if mix.parent.name == "audio" else mix.parent.name
        stems = (tmp_path / "set" / "stems" / mix.stem / inner).glob("*.wav")
        read = [soundfile.read(stem, dtype="int16")[0].astype(np.int32) for stem in stems]
        total, _ = soundfile.read(mix, dtype="int16")
        assert read
        assert np.array_equal(np.sum(read, axis=0), total)


def test_overlapping_truth_named(tmp_path, made):
    """Published truth held events of one class that overlap, and the metric refused without a name."""
    one = drawn(made, "closefirst", 0)["audio"]
    data = scene.to_json(one)
    first, second = data["events"]
    second["onset"] = first["onset"] + 100
    path = tmp_path / "closefirst-00000.json"
    path.write_text(json.dumps(data))
    with pytest.raises(UserError) as raised:
        scene.read(path)
    told = str(raised.value)
    assert str(path) in told
    assert first["label"] in told
    assert str(second["onset"]) in told
    assert str(first["onset"] + first["length"]) in told


# --- impossible recipes ---------------------------------------------------------------------------------


def test_sounds_that_do_not_fit_are_refused_with_the_numbers():
    rng = np.random.default_rng(0)
    with pytest.raises(UserError, match=r"3\.0 and 4\.0 s.*0\.5 s.*7\.0 s"):
        placing.apart(rng, [48_000, 64_000], 112_000, 8_000, RATE_HZ)
    assert placing.apart(rng, [48_000, 64_000], 120_000, 8_000, RATE_HZ) == [0, 56_000]


def test_a_scene_too_short_for_its_relations_is_refused_with_the_numbers(whole_bank):
    with pytest.raises(UserError, match=r"2\.5 s") as raised:
        ritta.recipe(whole_bank, split="all", per_relation=1, duration_s=2.5)
    assert len({word for word in str(raised.value).split() if word[0].isdigit()}) >= 3


def test_a_bank_with_classes_of_two_groups_only_is_refused_with_the_numbers(tmp_path):
    animals = ("dog_barking", "cat_meowing", "baby_crying", "coughing")
    few = bank_of(tmp_path, {label: [noise(i, 2.0)] for i, label in enumerate(animals)})
    with pytest.raises(
        UserError, match=r"3 .*has 2.*animal \(2\), human \(2\)|3 .*has 2.*human \(2\), animal"
    ):
        ritta.recipe(few, split="all", per_relation=1, leave_out_missing=True)


def test_missing_classes_are_all_named(tmp_path):
    few = bank_of(tmp_path, {"dog_barking": [noise(0, 2.0)], "bagpipes": [noise(1, 2.0)]})
    with pytest.raises(InputFaults) as raised:
        ritta.recipe(few, split="all", per_relation=1)
    told = "\n".join(raised.value.faults)
    assert all(name in told for name in CLASSES if name != "dog_barking")
    assert "24 of the 25 classes" in told
    assert "'dog_barking'" not in told
    assert len(raised.value.faults) == 1


# --- too few recordings ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scarce(tmp_path_factory):
    """Of two classes there is one recording: three variants of the one, a single clip of the other."""
    folder = tmp_path_factory.mktemp("scarce")
    rows = []
    for i, label in enumerate(CLASSES):
        count = {"cat_meowing": 3, "door_bell": 1}.get(label, 4)
        for j in range(count):
            recording = label if count < 4 else f"{label}-{j // 2}"
            save(folder, label, str(j), noise(10 * i + j, 2.0))
            rows.append(f"{label}/{j}.wav,{label},{recording}")
    (folder / "metadata.csv").write_text("file_name,label,recording_id\n" + "\n".join(rows) + "\n")
    return Bank.open(folder)


def test_a_class_with_too_few_recordings_is_named(scarce, tmp_path):
    test, train = (splits.split(scarce, side) for side in ("test", "train"))
    assert set(test.shared) == set(train.shared) == {"cat_meowing", "door_bell"}
    for label in CLASSES:
        sides = [{s.recording_id for s in side.bank.of(label)} for side in (test, train)]
        assert bool(sides[0] & sides[1]) == (label in test.shared)
        assert set(scarce.of(label)) == {*test.bank.of(label), *train.bank.of(label)}
    few = ritta.recipe(scarce, split="test", per_relation=1)
    assert set(few.settings["shared_by_rule"]) == {"cat_meowing", "door_bell"}
    dataset.write(tmp_path / "set", few, few.bank, workers=1)
    for name in ("README.md", "make.json"):
        text = (tmp_path / "set" / name).read_text()
        assert "cat_meowing" in text
        assert "door_bell" in text


# --- odd clips in a bank --------------------------------------------------------------------------------


ODD = {
    "silence": np.zeros(2 * RATE_HZ, np.float32),
    "50 ms": noise(1, 0.05),
    "10 ms": noise(1, 0.01),
    "cancelled": np.stack([noise(2, 2.0), -noise(2, 2.0)]),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_clip_that_gives_no_sound_is_counted_and_a_label_of_such_is_named(tmp_path, kind):
    save(tmp_path / "a", "dog", "good", noise(7, 2.0))
    save(tmp_path / "a", "dog", "odd", ODD[kind])
    cut = slices.cut(Bank.open(tmp_path / "a"))
    assert {piece.source.name for piece in cut.slices["dog"]} == {"dog/good.wav"}
    assert sum(cut.left_out["dog"].values()) == 1
    refused = [] if kind.endswith("ms") else ["dog/odd.wav"]  # a short clip is sound, just not enough of it
    assert list(cut.refused) == refused
    save(tmp_path / "b", "cat", "odd", ODD[kind])
    save(tmp_path / "b", "dog", "good", noise(7, 2.0))
    with pytest.raises(InputFaults, match=r"'cat'.*1 "):
        slices.cut(Bank.open(tmp_path / "b"))


def test_a_50_ms_clip_works_where_slices_may_be_as_short(tmp_path):
    found = bank_of(tmp_path, {"click": [noise(1, 0.05)]})
    (piece,) = slices.cut(found, shortest_s=0.05, longest_s=1.0).slices["click"]
    placed = placing.placed("click", piece, 4000, gain_db=-20.0 - piece.level_db)
    one = Scene("a", "test", RATE_HZ, 8000, "lufs", 0.0, (placed,), "", 0)
    mix = render.mix(render.settled(one, found), found)
    assert levels.level_db(mix[placed.onset : placed.end], RATE_HZ, "lufs") == pytest.approx(-20, abs=0.05)


def test_stereo_at_another_rate_is_made_mono_with_what_either_channel_holds(tmp_path):
    right = np.stack([np.zeros(88_200, np.float32), np.tile(noise(3, 1.0)[:14_700], 6)])
    save(tmp_path, "dog", "right", right, rate_hz=44_100)
    found = Bank.open(tmp_path)
    (piece, *_) = slices.cut(found, longest_s=2.0).slices["dog"]
    sound = decoded(piece.source, RATE_HZ).samples
    assert sound.shape == (2 * RATE_HZ,)
    assert audio.peak(sound) > 0.05
    placed = placing.placed("dog", piece, 0, gain_db=0.0)
    one = Scene("a", "test", RATE_HZ, 3 * RATE_HZ, "lufs", 0.0, (placed,), "", 0)
    level = levels.level_db(render.mix(one, found)[: placed.end], RATE_HZ, "lufs")
    assert level == pytest.approx(piece.level_db, abs=0.05)


# --- truncated sets of outputs --------------------------------------------------------------------------


def test_missing_short_and_long_clips_are_listed_and_none_is_cropped(tmp_path, whole_bank):
    few = ritta.recipe(whole_bank, split="all", per_relation=2)
    data = dataset.write(tmp_path / "data", few, few.bank, workers=1).folder
    lines = []
    for seed, name in enumerate(("whole", "broken")):
        folder = tmp_path / name
        lines += ritta_runs.system_lines(folder, data, lambda key, one: ritta_runs.true_events(one), seed)
    (tmp_path / "broken" / "and-00001.wav").unlink()
    (tmp_path / "broken" / "before-00000.wav").unlink()
    audio.write_wav(tmp_path / "broken" / "stray.wav", noise(1, 1.0)[np.newaxis], RATE_HZ)
    changed = {"count-00000": 4.0, "or-00001": 13.0}
    for key, seconds in changed.items():
        path = tmp_path / "broken" / f"{key}.wav"
        audio.write_wav(path, noise(2, seconds)[np.newaxis], RATE_HZ)
        reply = events_reply(("dog_barking", seconds - 1.0, seconds), duration_s=seconds)
        lines.append({"pcm_hash": audio.read(path).pcm_hash, "question": "events", "reply": reply})
    silence = ritta_runs.make_silence(tmp_path / "silence.wav")
    lines += ritta_runs.reference_lines(data) + ritta_runs.silence_lines(silence)
    folders = {name: tmp_path / name for name in ("whole", "broken")}
    found = ritta_sources.manifest(data, folders, silence=silence)
    ritta_runs.hear(tmp_path / "run", ritta_runs.listener(tmp_path / "ear.jsonl", lines), found)

    summary = ritta_runs.summary_of(tmp_path / "run")
    by_name = {row.system: row for row in summary.rows}
    told = "\n".join(note for note in summary.notes if "broken" in note)
    assert "prompts without a file (2): " in told
    assert "and-00001" in told
    assert "before-00000" in told
    assert "files without a prompt (1): stray.wav" in told
    assert "shorter" in told
    assert "longer" in told
    assert by_name["whole"].n == 2 * len(RELATIONS)
    assert by_name["broken"].n == by_name["whole"].n - 2
    rows, _ = ritta_runs.rows_of(tmp_path / "run")
    mine = {row.sample_id: row for row in rows if row.system == "broken"}
    assert {key: mine[key].duration_s for key in changed} == changed
    assert {key: mine[key].heard[0].offset_s for key in changed} == changed, "its last second counts"
