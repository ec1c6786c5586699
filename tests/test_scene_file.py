"""The scene file: what was written is read back, and what is no scene is refused with what is wrong."""

import json
from contextlib import nullcontext
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.errors import UserError
from earwitness.scenes import scene
from earwitness.scenes.scene import Placed, Scene

RATE = 16_000


def placed(label="dog", onset=0, length=RATE, **other):
    facts = {"source": "ab", "name": f"{label}/1.wav", "recording_id": "r", "start": 3, "fade": 160}
    levels = {"gain_db": -3.5, "level_db": -20.0}
    return Placed(label, onset=onset, length=length, **(facts | levels | other))


def made(*events, **other):
    facts = {"prompt": "a dog — «wuff»", "seed": 7}
    return Scene("s1", "ritta", RATE, 10 * RATE, "lufs", -0.25, events, **(facts | other))


numbers = st.floats(-200, 200)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 5 * RATE), st.integers(400, 5 * RATE), numbers, numbers, st.text(max_size=9)
        ),
        max_size=5,
    ),
    st.booleans(),
    words,
)
def test_a_scene_is_read_back_as_it_was(tmp_path_factory, events, under, prompt):
    sounds = [
        Placed(f"{i}{name}", "ab", f"{name}.wav", "r", 0, onset, length, 160, gain, level, float(i + 1))
        for i, (onset, length, gain, level, name) in enumerate(events)
    ]
    ambience = placed("rain", 0, 10 * RATE, looped=True) if under else None
    whole = made(*sounds, prompt=prompt, ambience=ambience)
    path = tmp_path_factory.mktemp("scene") / "s1.json"
    scene.write(path, whole)
    first = path.read_bytes()
    assert scene.read(path) == whole
    scene.write(path, scene.read(path))
    assert path.read_bytes() == first


def test_events_are_kept_in_order_of_onset_and_stems_end_with_the_ambience():
    rain = placed("rain", 0, 10 * RATE, looped=True)
    whole = made(placed("cat", 5 * RATE), placed("dog", RATE), ambience=rain)
    assert [sound.label for sound in whole.sounds] == ["dog", "cat", "rain"]
    assert [event.label for event in whole.truth().events] == ["dog", "cat"]
    assert whole.truth().events[0].onset_s == 1.0


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([placed(onset=-1)], "does not lie within its 160000 samples"),
        ([placed(onset=10 * RATE - 5)], "samples 159995 to 175995"),
        ([placed(length=0, fade=0)], "does not lie within"),
        ([placed(start=-2)], "does not lie within"),
        ([placed(fade=RATE)], "a fade of 16000 samples, more than half"),
        ([placed(level_db=float("nan"))], "no number"),
        (
            [placed(onset=0), placed(onset=RATE - 1)],
            "'dog' overlaps itself: it starts at 15999, before 16000",
        ),
    ],
)
def test_a_scene_that_cannot_be_is_refused_with_the_numbers(events, said):
    with pytest.raises((ValueError, TypeError), match=said):
        made(*events)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 90), st.integers(1, 60)), max_size=6))
def test_no_sound_overlaps_another_of_its_label(drawn):
    """Accepted exactly if no two sounds of one label share a sample, however long the others are."""
    sounds = [Placed(label, "ab", "n", "r", 0, onset, length, 0, 0.0, 0.0) for label, onset, length in drawn]
    shares = any(
        a is not b and a.label == b.label and a.onset < b.end and b.onset < a.end
        for a in sounds
        for b in sounds
    )
    with pytest.raises(ValueError, match="overlaps itself") if shares else nullcontext():
        Scene("s", "ritta", RATE, 150, "lufs", 0.0, tuple(sounds), "", 0)


def changed(data, **other):
    return json.dumps(data | other)


def test_what_is_no_scene_is_refused_by_name(tmp_path):
    good = scene.to_json(made(placed()))
    event = good["events"][0]
    for number, (text, said) in enumerate(
        [
            ("{", "Expecting"),
            ("[1]", "not a scene"),
            ("{}", "not a scene"),
            (changed(good, version=99), "version 99; version 1 is read"),
            (changed(good, more=1), "not a scene"),
            (changed(good, events=[event | {"onset": -5}]), "does not lie within"),
            (changed(good, events=[{"label": "dog"}]), "not a scene"),
            (changed(good, events=[event | {"gain_db": "loud"}]), "not a scene"),
            (changed(good, events=None), "not a scene"),
        ]
    ):
        path = tmp_path / f"{number}.json"
        path.write_text(text)
        with pytest.raises(UserError, match=said) as raised:
            scene.read(path)
        assert f"{number}.json" in str(raised.value)
    with pytest.raises(UserError, match="cannot be read"):
        scene.read(tmp_path / "none.json")


def test_a_file_holds_no_number_that_json_lacks(tmp_path):
    scene.write(tmp_path / "s.json", made(placed()))
    assert "NaN" not in (tmp_path / "s.json").read_text()
    with pytest.raises(ValueError, match="no number"):
        replace(made(placed()), gain_db=float("inf"))
