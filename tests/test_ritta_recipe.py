"""Scenes of RiTTA hold what their prompts ask for, come out even, and depend on their key alone."""

import dataclasses
import json
import math
import pickle
from collections import Counter

import numpy as np
import pytest

from earwitness import audio
from earwitness.errors import InputFaults, UserError
from earwitness.listeners.levels import measured
from earwitness.scenes.bank import Bank
from earwitness.scenes.render import render
from earwitness.scenes.ritta.classes import CLASSES, GROUPS
from earwitness.scenes.ritta.recipe import recipe
from earwitness.scores import ritta
from earwitness.scores.frame_levels import FrameLevels, TrueLevels
from earwitness.scores.relations import RELATIONS, SPATIAL, from_json
from earwitness.scores.ritta_rules import MODES, rules
from sounds import noise

RATE = 16_000
EACH = 24
"""Prompts a relation whose scenes are looked at."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All classes, three recordings each, of 1.1 to 6.5 s."""
    folder = tmp_path_factory.mktemp("bank")
    for at, name in enumerate(CLASSES):
        for take in range(3):
            noise(folder / name / f"{take}.wav", 3 * at + take, 1.1 + 0.9 * ((at + 2 * take) % 7))
    return folder


@pytest.fixture(scope="module")
def bank(folder):
    return Bank.open(folder)


@pytest.fixture(scope="module")
def made(bank):
    return recipe(bank, split="all", per_relation=EACH)


@pytest.fixture(scope="module")
def drawn(made):
    return {key: made.draw(key) for key in keys(made)}


def keys(made, relation=""):
    return [key for key in made.keys() if key.startswith(relation)]  # noqa: SIM118


def of(drawn, *names):
    """The scenes that answer the prompts of some relations."""
    return [scenes["audio"] for key, scenes in drawn.items() if key.rpartition("-")[0] in names]


def judged(scene, mode="default"):
    """The true events of a scene against its prompt."""
    levels = TrueLevels({(e.label, e.onset / scene.rate_hz): e.level_db for e in scene.events})
    return ritta.judged(scene.expected, scene.truth().events, levels, rules({"mode": mode}))


# --- what a scene holds ---------------------------------------------------------------------------------


def test_the_true_events_of_every_scene_meet_its_prompt(drawn):
    for key, scenes in drawn.items():
        assert set(scenes) == ({"audio", "references"} if key[:2] in ("or", "if") else {"audio"})
        for role, scene in scenes.items():
            for found in judged(scene):
                assert (found.presence, found.relation, found.parsimony) == (1, 1, 1), (key, role, found)
                assert (found.missing, found.extra) == (0, 0)


def test_numbers_of_sounds_are_those_of_the_paper(drawn):
    asked = {name: Counter(len(s.expected.labels) for s in of(drawn, name)) for name in RELATIONS}
    assert asked.pop("count") == dict.fromkeys((2, 3, 4, 5), EACH // 4)
    assert asked.pop("if_then_else") == {3: EACH}
    for name in ("not", *SPATIAL):
        assert asked.pop(name) == {1: EACH}
    assert len(asked) == 5
    assert all(found == {2: EACH} for found in asked.values())


def test_sounds_of_one_prompt_are_of_different_groups(drawn):
    for key, scenes in drawn.items():
        labels = {*scenes["audio"].expected.labels, *(e.label for e in scenes["audio"].events)}
        assert len({CLASSES[label].group for label in labels}) == len(labels), key


def test_one_sound_follows_the_other_with_a_gap(drawn):
    for scene in of(drawn, "before", "after", *SPATIAL):
        first, second = scene.events
        (asked,) = scene.expected.alternatives
        assert (first.label, second.label) == asked.present
        least = 1.5 if scene.expected.distances_m else 0.5
        assert second.onset - first.end >= least * RATE


def test_together_the_shorter_sound_lies_within_the_longer(drawn):
    for scene in of(drawn, "together"):
        short, long = sorted(scene.events, key=lambda event: event.length)
        assert long.onset <= short.onset <= long.onset + 0.5 * RATE
        assert short.end <= long.end


def test_distance_is_heard_as_level(made, drawn):
    for scene in of(drawn, *SPATIAL):
        first, second = scene.events
        assert (first.source, first.start, first.length) == (second.source, second.start, second.length)
        assert (first.distance_m, second.distance_m) == scene.expected.distances_m
        ratio = second.distance_m / first.distance_m
        assert first.level_db - second.level_db == pytest.approx(20 * math.log10(ratio), abs=1e-9)
        assert ratio == 1 or max(ratio, 1 / ratio) >= 2
        near, far = (np.sqrt(np.mean(np.square(stem))) for stem in render(scene, made.bank).stems)
        assert near / far == pytest.approx(ratio, rel=1e-3)


def test_levels_lie_in_their_range(drawn):
    for scene in of(drawn, *RELATIONS):
        for event in scene.events:
            at_1_m = event.level_db + 20 * math.log10(event.distance_m or 1)
            assert -29 <= at_1_m <= -19


def test_the_clip_of_a_not_holds_another_sound(drawn):
    for scene in of(drawn, "not"):
        (heard,) = scene.events
        assert CLASSES[heard.label].group != CLASSES[scene.expected.labels[0]].group


def test_alternatives_are_apart(drawn):
    for key, scenes in drawn.items():
        if "references" in scenes:
            expected = scenes["audio"].expected
            for scene, one in zip(scenes.values(), expected.alternatives, strict=False):
                assert Counter(event.label for event in scene.events) == Counter(one.present), key


def test_lengths_and_starts_vary(drawn):
    events = [event for scene in of(drawn, *RELATIONS) for event in scene.events]
    assert min(e.length for e in events) >= RATE
    assert 4 * RATE < max(e.length for e in events) <= 5 * RATE
    assert len({e.onset for e in events}) > 0.9 * len(events)
    assert min(e.onset for e in events) < RATE
    assert max(e.onset for e in events) > 8 * RATE


def test_rows_say_what_was_asked(made, drawn):
    for key, scenes in drawn.items():
        row = made.row(key, scenes)
        assert tuple(row) == tuple(made.columns)
        assert row["relation"] == key.rpartition("-")[0]
        assert from_json(json.loads(row["expected"])) == scenes["audio"].expected
        assert tuple(row["events"].split(";")) == scenes["audio"].expected.labels
        assert (row["reading"] in ("exclusive", "inclusive")) == (row["relation"] == "or")
    exclusive = [k for k in drawn if made.row(k, drawn[k])["reading"] == "exclusive"]
    assert len(exclusive) == EACH // 2
    assert all(drawn[key]["audio"].expected.alternatives[0].absent for key in exclusive)


# --- what a draw depends on -----------------------------------------------------------------------------


def test_more_prompts_change_none(bank, made, drawn):
    more = recipe(bank, split="all", per_relation=EACH + 7)
    assert set(made.keys()) < set(more.keys())
    assert more.settings == made.settings
    for key in reversed(made.keys()):
        assert more.draw(key) == drawn[key]


def test_a_recipe_from_another_process_draws_the_same(made, drawn):
    again = pickle.loads(pickle.dumps(made))  # noqa: S301
    assert again.settings == made.settings
    for key in keys(made)[::17]:
        assert again.draw(key) == drawn[key]


def test_seed_and_split_give_others(bank, made):
    for other in (recipe(bank, split="all", per_relation=EACH, seed=1), recipe(bank, split="train", seed=0)):
        assert other.settings != made.settings
        assert sum(other.asked(key) == made.asked(key) for key in keys(made)) < 0.1 * len(made.keys())


def test_own_wordings_change_no_sound(bank, made, drawn, tmp_path):
    own = tmp_path / "own.csv"
    own.write_text("relation,text\nbefore,hark: {first} precedes {second}\n")
    other = recipe(bank, split="all", per_relation=EACH, phrasings=own)
    prompts = [other.asked(key).prompt for key in keys(other)]
    assert sum(prompt.startswith("Hark: ") for prompt in prompts) == EACH // 8
    assert other.settings["wordings_sha256"] != made.settings["wordings_sha256"]
    for key in keys(other)[::13]:
        for scene, before in zip(other.draw(key).values(), drawn[key].values(), strict=True):
            assert scene.events == before.events


def test_a_changed_clip_changes_the_settings(folder, made, tmp_path):
    changed = tmp_path / "bank"
    for path in folder.rglob("*.wav"):
        target = changed / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    same = recipe(Bank.open(changed), split="all", per_relation=1)
    assert same.settings == made.settings
    noise(changed / "talking" / "1.wav", 999, 2.0)
    other = recipe(Bank.open(changed), split="all", per_relation=1)
    differing = {name for name in made.settings if made.settings[name] != other.settings[name]}
    assert differing == {"slices_sha256"}


# --- evenness -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
def test_720_prompts_use_all_classes_and_wordings_evenly(bank, relation):
    made = recipe(bank, split="all", per_relation=720)
    asked = [made.asked(key) for key in keys(made, f"{relation}-")]
    labels = Counter(label for one in asked for label in one.expected.labels)
    assert len(labels) == 25
    assert max(labels.values()) <= 1.1 * min(labels.values())
    if relation != "count":
        roles = Counter(one.expected.alternatives[0].present[:1] or one.heard for one in asked)
        assert len(roles) == 25
        assert max(roles.values()) - min(roles.values()) <= 1
    said = Counter()
    for one in asked:
        fitting = [
            wording
            for wording in made.prompts.wordings[relation]
            if one.prompt in (wording.said(one.expected), wording.said(one.expected, digits=True))
        ]
        assert len(fitting) == 1, one.prompt
        said[fitting[0]] += 1
    assert max(said.values()) - min(said.values()) <= 1
    assert set(said) == set(made.prompts.wordings[relation])


def test_a_count_of_one_group_draws_all_from_it(bank):
    made = recipe(bank, split="all", per_relation=720, count_groups="same")
    asked = [made.asked(key).expected.labels for key in keys(made, "count-")]
    assert Counter(map(len, asked)) == dict.fromkeys((2, 3, 4, 5), 180)
    assert all(len({CLASSES[label].group for label in labels}) == 1 for labels in asked)
    assert Counter(CLASSES[labels[0]].group for labels in asked) == dict.fromkeys(GROUPS, 144)
    counts = Counter(label for labels in asked for label in labels)
    assert max(counts.values()) <= 1.1 * min(counts.values())
    other = recipe(bank, split="all", per_relation=1)
    assert made.settings["count_groups"] != other.settings["count_groups"]
    assert made.asked("before-00003") == other.asked("before-00003")


# --- banks that lack something --------------------------------------------------------------------------


def part(bank, *names):
    return dataclasses.replace(bank, sources={name: bank.sources[name] for name in names})


def test_missing_classes_are_named_all_at_once_or_left_out(bank):
    some = part(bank, *(n for n in CLASSES if n not in ("talking", "dog_barking", *GROUPS["machinery"])))
    with pytest.raises(InputFaults, match="--leave-out-missing") as raised:
        recipe(some, per_relation=1)
    [fault] = raised.value.faults
    assert fault.startswith("it has no clip of 7 of the 25 classes: 'dog_barking', ")
    with pytest.raises(InputFaults, match=r"no clip of 'dog_barking' \(also called dog bark; dog; bark\)"):
        recipe(part(bank, *(name for name in CLASSES if name != "dog_barking")), per_relation=1)
    made = recipe(some, per_relation=4, leave_out_missing=True)
    assert made.settings["missing_classes"] == [
        name for name in CLASSES if name in ("talking", "dog_barking", *GROUPS["machinery"])
    ]
    assert made.settings["count_numbers"] == [2, 3, 4]
    assert "`paper_shredder`" in made.card
    assert "2 to 4 sounds" in made.card
    for key in keys(made):
        for scene in made.draw(key).values():
            assert all(found.msr == 1.0 for found in judged(scene))


def test_a_class_without_a_long_enough_clip_is_named(folder, bank, tmp_path):
    noise(tmp_path / "dog_barking" / "a.wav", 1, 0.9)
    short = dict(bank.sources) | Bank.open(tmp_path).sources
    with pytest.raises(InputFaults, match="'dog_barking' gives no slice"):
        recipe(Bank(short), split="all", per_relation=1)
    made = recipe(Bank(short), split="all", per_relation=1, leave_out_missing=True)
    assert made.settings["missing_classes"] == ["dog_barking"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"per_relation": 0}, "at least 1 prompt a relation, not 0"),
        ({"split": "tset"}, "did you mean 'test'"),
        ({"count_groups": "sam"}, "did you mean 'same'"),
        ({"measure": "lkfs"}, "lufs, rms"),
        ({"rate_hz": 0}, "not 0"),
        (
            {"duration_s": 2.5},
            r"2\.5 s are too short: two sounds of at least 1 s with a gap of 1\.5 s .* 3\.5 s",
        ),
        ({"duration_s": float("nan")}, "nan"),
    ],
)
def test_impossible_recipes_are_refused_with_the_numbers(bank, given, message):
    with pytest.raises(UserError, match=message):
        recipe(bank, **{"per_relation": 1, **given})


def test_too_few_groups_are_refused_with_the_numbers(bank):
    with pytest.raises(UserError, match=r"3 main groups; the bank has 2.*animal \(2\), human \(1\)"):
        recipe(
            part(bank, "talking", "dog_barking", "cat_meowing"),
            split="all",
            per_relation=1,
            leave_out_missing=True,
        )
    alone = part(bank, "talking", "dog_barking", "car_horn")
    with pytest.raises(UserError, match="No main group has the 2 classes"):
        recipe(alone, split="all", per_relation=1, count_groups="same", leave_out_missing=True)
    assert recipe(alone, split="all", per_relation=1, leave_out_missing=True).prompts.numbers == (2, 3)


def test_a_bank_of_other_sounds_is_refused(folder):
    bank = Bank({"rain": Bank.open(folder).sources["talking"]})
    with pytest.raises(UserError, match="None of the bank's labels is one of the 25 classes: rain"):
        recipe(bank, per_relation=1, leave_out_missing=True)


def test_a_key_of_another_recipe_is_refused(made):
    for key in ("beside-00001", "before", "before-x"):
        with pytest.raises(UserError, match="no prompt of this recipe"):
            made.draw(key)


def test_sides_share_no_recording_but_by_rule(bank, tmp_path):
    noise(tmp_path / "dog_barking" / "a.wav", 1, 3.0)
    scarce = Bank(dict(bank.sources) | Bank.open(tmp_path).sources)
    sides = [recipe(scarce, split=side, per_relation=8) for side in ("train", "test")]
    used = []
    for made in sides:
        scenes = [scene for key in keys(made) for scene in made.draw(key).values()]
        used.append({(e.label, e.recording_id) for scene in scenes for e in scene.events})
        assert list(made.settings["shared_by_rule"]) == ["dog_barking"]
        assert "`dog_barking`: it has one recording" in made.card
    assert {label for label, _ in used[0] & used[1]} <= {"dog_barking"}


def bursts(path, pause_s, seed=0):
    """Noise, a pause, noise: 1.2 s of sound."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    one, other = rng.uniform(-0.3, 0.3, (2, 9600)).astype(np.float32)
    sound = np.concatenate([one, np.zeros(round(pause_s * RATE), np.float32), other])
    audio.write_wav(path, sound[np.newaxis], RATE)


def test_two_copies_lie_farther_apart_than_any_two_parts_of_one(tmp_path):
    """So that a listener that splits its events at the longest pause finds the two copies."""
    for take, pause_s in enumerate((0.3, 1.2, 1.6, 2.0)):
        for name in ("dog_barking", "car_horn", "talking"):
            bursts(tmp_path / name / f"{take}.wav", pause_s, take)
    made = recipe(Bank.open(tmp_path), split="all", per_relation=60, leave_out_missing=True)
    gaps = []
    for key in keys(made):
        if key.rpartition("-")[0] not in SPATIAL:
            continue
        scene = made.draw(key)["audio"]
        heard = np.flatnonzero(np.abs(render(scene, made.bank).mix) > 0.002)
        silences = np.diff(heard) - 1
        first, second = scene.events
        between = second.onset - first.end
        assert np.sort(silences)[-1] == pytest.approx(between, abs=RATE / 100)
        assert between >= max(1.5 * RATE, np.sort(silences)[-2] + 0.49 * RATE)
        gaps.append(np.sort(silences)[-2] / RATE)
    assert {round(gap, 1) for gap in gaps} == {0.3, 1.2, 1.6, 2.0}


def test_a_class_whose_pauses_are_too_long_for_two_copies_is_named(bank, tmp_path):
    bursts(tmp_path / "dog_barking" / "a.wav", 2.0)
    paused = Bank(dict(bank.sources) | Bank.open(tmp_path).sources)
    assert recipe(paused, split="all", per_relation=1).settings["missing_classes"] == []
    with pytest.raises(InputFaults) as raised:
        recipe(paused, split="all", per_relation=1, duration_s=8.5)
    (fault,) = raised.value.faults
    assert "no slice of 'dog_barking' fits twice into 8.5 s" in fault
    assert "a pause of 2.0 s within it the gap must be 2.5 s" in fault
    made = recipe(paused, split="all", per_relation=1, duration_s=8.5, leave_out_missing=True)
    assert made.settings["missing_classes"] == ["dog_barking"]
    assert "`dog_barking`: 1 with pauses too long to be placed twice" in made.card


def test_short_scenes_get_shorter_slices(bank):
    made = recipe(bank, split="all", per_relation=2, duration_s=4.0)
    assert set(made.settings["shortened_classes"]) < set(CLASSES)
    assert "Cut shorter, as no slice would have fitted twice: `" in made.card
    for key in keys(made):
        for scene in made.draw(key).values():
            assert scene.duration_s == 4.0
            assert all(found.msr == 1.0 for found in judged(scene))


def test_an_ambience_lies_under_every_scene(bank, tmp_path):
    for take in range(2):
        noise(tmp_path / "rain" / f"{take}.wav", 900 + take, 3.0)
    made = recipe(bank, split="all", per_relation=3, ambience=tmp_path, ambience_db=-45.0)
    assert made.settings["ambience_level_db"] == -45.0
    assert "-45 LUFS" in made.card
    names = set()
    for key in keys(made):
        scene = made.draw(key)["audio"]
        names.add(scene.ambience.name)
        assert (scene.ambience.onset, scene.ambience.length) == (0, scene.samples)
        rendered = render(scene, made.bank)
        assert audio.peak(rendered.mix) <= 0.9
        assert len(rendered.stems) == len(scene.events) + 1
    assert names == {"rain/0.wav", "rain/1.wav"}


# --- real clips -----------------------------------------------------------------------------------------


@pytest.mark.realdata
def test_the_real_bank_gives_every_relation(shared_data):
    made = recipe(Bank.open(shared_data / "clips"), split="test", per_relation=3)
    assert made.settings["missing_classes"] == []
    assert list(made.settings["shared_by_rule"]) == ["key_jingling"]
    for key in keys(made):
        for scene in made.draw(key).values():
            for mode in MODES:
                assert judged(scene, mode)
            assert all(found.msr == 1.0 for found in judged(scene))
            assert audio.peak(render(scene, made.bank).mix) <= 0.9


@pytest.mark.realdata
def test_distances_are_measured_on_real_sounds(shared_data):
    made = recipe(Bank.open(shared_data / "clips"), split="all", per_relation=10, seed=4)
    for key in keys(made):
        if key.rpartition("-")[0] not in SPATIAL:
            continue
        scene = made.draw(key)["audio"]
        reply = measured(audio.Clip(render(scene, made.bank).mix[np.newaxis], RATE, ""))
        levels = FrameLevels(reply["frame_s"], [-math.inf if db is None else db for db in reply["dbfs"]])
        heard = scene.truth().events
        near, far = scene.expected.distances_m
        for found in ritta.judged(scene.expected, heard, levels, rules({})):
            assert found.relation == 1.0, key
            assert found.level_difference_db == pytest.approx(20 * math.log10(far / near), abs=0.3), key
