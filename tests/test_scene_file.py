"""The scene file: what was written is read back, and what is no scene is refused with what is wrong."""

import json
import re
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
        ([placed(level_db=float("nan"))], "level_db of 'dog' .* must be a number within 200 dB"),
        ([placed(gain_db=3000)], "gain_db of 'dog' .* not 3000"),
        ([placed(distance_m=0.0)], "distance_m of 'dog' .* more than 0"),
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


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("samples", 10**13, r"samples must be 1 to 536,870,912, and at most 7,200 s"),
        ("samples", 7201 * RATE, "at most 7,200 s"),
        ("samples", 1.5, "samples must be a whole number, not 1.5"),
        ("rate_hz", 10**9, "rate_hz must lie in 1,000 to 384,000"),
        ("rate_hz", 16_000.0, "rate_hz must be a whole number"),
        ("gain_db", 1e6, "gain_db must be a number within 200 dB of 0"),
        ("gain_db", 10**400, "gain_db must be a number within 200 dB of 0"),
        ("gain_db", True, "gain_db must be a number, not True"),
        ("level", "zzz", "level must be lufs or rms, not 'zzz'"),
        ("scene_id", "../..", "scene_id cannot be the name of a file"),
        ("scene_id", "a" * 201, "scene_id cannot be the name of a file"),
        ("events", {}, r"events must be a list, not \{\}"),
        ("events", [[]], r"events\[0\] must be an object"),
        ("prompt", "\ud800", "prompt must be a text"),
        ("ambience", 3, "ambience must be an object or null"),
        ("expected", {"relation": "before"}, "expected: "),
        ("version", True, "version True"),
        ("more", 1, "there is no field 'more'"),
    ],
    ids=range(18),
)
def test_a_field_of_another_type_or_out_of_bounds_is_named(tmp_path, field, value, said):
    path = tmp_path / "bad.json"
    path.write_text(changed(scene.to_json(made(placed())), **{field: value}))
    with pytest.raises(UserError, match=said) as raised:
        scene.read(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("onset", True), ("start", 0.0), ("fade", 1.5), ("length", "9"), ("name", None), ("name", []),
        ("label", 3), ("looped", 1), ("distance_m", "near"), ("level_db", None),
    ],
)  # fmt: skip
def test_a_field_of_a_sound_is_named_with_its_place(tmp_path, field, value):
    data = scene.to_json(made(placed("cat"), placed("dog", RATE), ambience=placed("rain")))
    for where, one in (("events[1]", data["events"][1]), ("ambience", data["ambience"])):
        kept, one[field] = one[field], value
        (tmp_path / "bad.json").write_text(json.dumps(data))
        with pytest.raises(UserError, match=re.escape(f"bad.json: not a scene: {where}.{field} must be")):
            scene.read(tmp_path / "bad.json")
        one[field] = kept


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
def test_whatever_stands_in_a_file_it_is_a_scene_or_refused(tmp_path_factory, data):
    """Any JSON in place of any value of a scene, or of all of it."""
    asked = {"relation": "before", "alternatives": [{"present": ["dog", "cat"], "absent": []}]}
    whole = scene.to_json(made(placed(), ambience=placed("rain")))
    whole["expected"] = asked | {"distances_m": None}
    place = data.draw(
        st.sampled_from([None, whole, whole["events"][0], whole["ambience"], whole["expected"]])
    )
    if place is None:
        whole = data.draw(anything)
    else:
        place[data.draw(st.sampled_from(sorted(place)))] = data.draw(anything)
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(whole))
    try:
        found = scene.read(path)
    except UserError as fault:
        found = fault
    if isinstance(found, UserError):
        assert "any.json" in str(found)
    else:
        assert scene.to_json(found) == whole
        scene.write(path, found)
        assert scene.read(path) == found


def test_settings_that_no_scene_can_have_are_refused():
    good = {"rate_hz": 16_000, "duration_s": 10.0, "seed": 0}
    scene.check_settings(**good)
    for name, value, said in (
        ("rate_hz", 10**9, "1,000 to 384,000 Hz, not 1000000000"),
        ("rate_hz", 999, "1,000 to 384,000 Hz, not 999"),
        ("duration_s", 7201.0, "at most 7200 s, not 7201"),
        ("duration_s", float("nan"), "at most 7200 s, not nan"),
        ("seed", -1, "0 or more, not -1"),
    ):
        with pytest.raises(UserError, match=said):
            scene.check_settings(**good | {name: value})


def test_a_file_holds_no_number_that_json_lacks(tmp_path):
    scene.write(tmp_path / "s.json", made(placed()))
    assert "NaN" not in (tmp_path / "s.json").read_text()
    with pytest.raises(ValueError, match="gain_db must be a number within 200 dB of 0, not inf"):
        replace(made(placed()), gain_db=float("inf"))
