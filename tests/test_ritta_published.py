"""RiTTA's published prompts are read by their words, and what their labels get wrong is counted."""

import json
from collections import Counter

import pytest

from earwitness.errors import InputFaults, UserError
from earwitness.scenes.bank import Bank
from earwitness.scenes.ritta import published
from earwitness.scenes.ritta.classes import CLASSES
from earwitness.scores import relations, ritta
from earwitness.scores.frame_levels import TrueLevels
from earwitness.scores.relations import MAIN
from earwitness.scores.ritta_rules import rules
from sounds import noise

ALL = "captions/ritta_eval_data.json"
MAIN_OF = {sub: main for main, subs in MAIN.items() for sub in subs}


def row(prompt, *names):
    return {"text_prompt": prompt, "audio_name_list": list(names), "reference_audio": "a_refaudio_0.wav"}


def file(folder, **rows):
    """A file as published, with rows by sub-relation."""
    data = {"time": "now", "author": "someone"}
    for sub, listed in rows.items():
        data.setdefault(MAIN_OF[sub], {})[sub] = listed
    path = folder / "prompts.json"
    path.write_text(json.dumps(data))
    return path


def one(tmp_path, sub, prompt, *names):
    (found,) = published.read(file(tmp_path, **{sub: [row(prompt, *names)]})).prompts
    return found


# --- reading words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sub", "prompt", "names", "expected", "corrections"),
    [
        (
            "before",
            "play dog barking audio preceded by car horn audio",
            ("dog_barking", "car_horn"),
            relations.in_order("after", "car_horn", "dog_barking"),
            ("D2", "D3"),
        ),
        (
            "after",
            "play car horn audio preceded by dog barking audio",
            ("dog_barking", "car_horn"),
            relations.in_order("after", "dog_barking", "car_horn"),
            ("D2",),
        ),
        (
            "after",
            "play car horn audio followed by dog barking audio",
            ("dog_barking", "car_horn"),
            relations.in_order("before", "car_horn", "dog_barking"),
            ("D3",),
        ),
        (
            "before",
            "talking audio in the begining, with hammering nail audio coming next",
            ("talking", "hammering_nail"),
            relations.in_order("before", "talking", "hammer_nailing"),
            (),
        ),
        (
            "farfirst",
            "boat horn audio from 1 meter, followed by the same boat horn audio from 5 meters",
            ("boat_horn",),
            relations.spatial("boat_horn", 1, 5),
            ("D1",),
        ),
        (
            "farfirst",
            "emergent brake audio from 2 meters preceded by the same emergent brake audio from 3 meters",
            ("emergent_brake",),
            relations.spatial("emergency_brake", 3, 2),
            (),
        ),
        (
            "closefirst",
            "footstep audio from 2 meters preceded by the same footstep audio from 3 meters",
            ("footstep",),
            relations.spatial("footstep", 3, 2),
            ("D2",),
        ),
        (
            "equaldist",
            "door bell audio from 1 meter preceded by another door bell audio from 1 meter",
            ("door_bell",),
            relations.spatial("door_bell", 1, 1),
            (),
        ),
        (
            "if_then_else",
            "just play talking audio if can not play car horn audio else play coughing audio",
            ("talking", "car_horn", "coughing"),
            relations.if_then_else("car_horn", "coughing", "talking"),
            ("D4",),
        ),
        (
            "if_then_else",
            "if there is talking audio, then play car horn audio else play coughing audio",
            ("talking", "car_horn", "coughing"),
            relations.if_then_else("talking", "car_horn", "coughing"),
            (),
        ),
        (
            "if_then_else",
            "play talking audio if there is car horn audio, otherwise play coughing audio",
            ("talking", "car_horn", "coughing"),
            relations.if_then_else("car_horn", "talking", "coughing"),
            (),
        ),
        (
            "or",
            "play talking audio or car horn audio, not both",
            ("talking", "car_horn"),
            relations.either("talking", "car_horn", exclusive=True),
            (),
        ),
        (
            "or",
            "play talking audio or play car horn audio",
            ("talking", "car_horn"),
            relations.either("talking", "car_horn", exclusive=False),
            (),
        ),
        (
            "not",
            "please do not generate glass drop audio in this",
            ("glass_drop",),
            relations.without("glass_drop"),
            (),
        ),
        (
            "count",
            "play 3 audios: talking, car horn and coughing",
            ("talking", "car_horn", "coughing"),
            relations.count(("talking", "car_horn", "coughing")),
            (),
        ),
    ],
)
def test_roles_come_from_the_words(tmp_path, sub, prompt, names, expected, corrections):
    found = one(tmp_path, sub, prompt, *names)
    assert found.expected == expected
    assert found.corrections == corrections
    assert (found.prompt_id, found.prompt, found.published_relation) == (f"{sub}-0000", prompt, sub)


def test_rows_whose_words_fit_no_pattern_are_all_named(tmp_path):
    path = file(
        tmp_path,
        before=[
            row("generate talking audio followed by coughing audio", "talking", "coughing"),
            row("generate talking audio near coughing audio", "talking", "coughing"),
            row("generate talking audio followed by coughing audio", "talking", "car_horn"),
        ],
        count=[row("play 3 audios: talking and coughing", "talking", "coughing")],
        equaldist=[
            row("generate talking audio 1 meter away, followed by the same talking audio", "talking"),
            row("generate talking audio 1 meter away, followed by talking audio 7 meters away", "talking"),
        ],
        **{"not": [{"text_prompt": "do not generate talking audio"}]},
    )
    with pytest.raises(InputFaults) as raised:
        published.read(path)
    told = raised.value.faults
    assert str(path) in str(raised.value)
    parts = [
        ("before-0001", "fit no known pattern"),
        ("before-0002", "listed are talking, car_horn"),
        ("count-0000", "names 2 sounds, not 3"),
        ("equaldist-0000", "states 1 distances, not 2"),
        ("equaldist-0001", "asks for 'closefirst'"),
        ("not-0000", "it needs text_prompt, audio_name_list and reference_audio"),
    ]
    assert len(told) == len(parts), told
    for fault, (where, words) in zip(told, parts, strict=True):
        assert fault.startswith(where)
        assert words in fault


@pytest.mark.parametrize("text", ["", "[1, 2]", "{}", '{"Count": [], "Temporal_Order": {"before": 3}}'])
def test_a_file_of_something_else_is_refused_by_name(tmp_path, text):
    path = tmp_path / "prompts.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"prompts\.json"):
        published.read(path)
    with pytest.raises(UserError, match="cannot be read"):
        published.read(tmp_path / "none.json")


# --- clips for them -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A bank of eight classes of four groups."""
    folder = tmp_path_factory.mktemp("bank")
    for at, name in enumerate(
        (
            "talking",
            "coughing",
            "dog_barking",
            "cat_meowing",
            "car_horn",
            "boat_horn",
            "footstep",
            "door_slam",
        )
    ):
        for take in range(2):
            noise(folder / name / f"{take}.wav", 2 * at + take, 1.5 + at / 4)
    return folder


def met(scene):
    levels = TrueLevels({(e.label, e.onset / scene.rate_hz): e.level_db for e in scene.events})
    found = ritta.judged(scene.expected, scene.truth().events, levels, rules({}))
    return all(one.msr == 1.0 for one in found)


def test_prompts_that_name_a_missing_class_are_left_out_and_counted(tmp_path, folder):
    twice = row("do not generate talking audio", "talking")
    path = file(
        tmp_path,
        before=[
            row("generate talking audio preceded by car horn audio", "talking", "car_horn"),
            row("generate talking audio followed by glass drop audio", "talking", "glass_drop"),
        ],
        **{"not": [twice, twice]},
    )
    given = published.read(path)
    with pytest.raises(InputFaults, match="glass_drop"):
        published.recipe(given, Bank.open(folder), split="all")
    made = published.recipe(given, Bank.open(folder), split="all", leave_out_missing=True)
    assert list(made.keys()) == ["before-0000", "not-0000", "not-0001"]
    assert made.settings["prompts_left_out"] == 1
    assert "name a class that the bank lacks: 1." in made.card
    drawn = [made.draw(key)["audio"] for key in list(made.keys())]
    assert all(met(scene) for scene in drawn)
    assert drawn[1].prompt == drawn[2].prompt
    assert drawn[1].events != drawn[2].events, "each row has a clip of its own"
    assert CLASSES[drawn[1].events[0].label].group != "human"
    cells = made.row("before-0000", {"audio": drawn[0]})
    assert tuple(cells) == tuple(made.columns)
    assert (cells["relation"], cells["published_relation"]) == ("after", "before")
    assert (cells["corrections"], cells["published_name"]) == ("D2;D3", "a_refaudio_0.wav")


def test_prompts_that_a_listener_cannot_be_asked_about_are_left_out_and_counted(tmp_path, folder):
    path = file(
        tmp_path,
        before=[
            row("generate talking audio followed by car horn audio", "talking", "car_horn"),
            row("generate talking audio followed by boat horn audio", "talking", "boat_horn"),
        ],
        **{"not": [row("do not generate talking audio", "talking")]},
    )
    known = {"talking", "car_horn", "cat_meowing"}
    made = published.recipe(published.read(path), Bank.open(folder), split="all", known=known, listener="ear")
    assert list(made.keys()) == ["before-0000", "not-0000"]
    assert made.settings["listener"] == "ear"
    assert "name a class that the bank lacks or ear does not claim to know: 1." in made.card
    assert {e.label for key in list(made.keys()) for e in made.draw(key)["audio"].events} <= known


def test_distances_near_the_boundary_are_counted_on_the_card(tmp_path):
    far = "play talking audio from {} meters followed by the same talking audio from {} meters"
    path = file(
        tmp_path,
        farfirst=[row(far.format(3, 2), "talking"), row(far.format(5, 2), "talking")],
        closefirst=[row(far.format(2, 3), "talking")],
    )
    card = published.read(path).card
    assert "In 2 of the 3 prompts of two distances these are less than 6 dB apart" in card
    assert "1 `closefirst`, 1 `farfirst`" in card
    assert "All `farfirst`" not in card


def test_prompts_alone_have_the_same_cells_but_for_the_seed(tmp_path, folder):
    path = file(tmp_path, **{"or": [row("generate talking audio or coughing audio", "talking", "coughing")]})
    given = published.read(path)
    made = published.recipe(given, Bank.open(folder), split="all", seed=3, leave_out_missing=True)
    (alone,) = given.rows()
    cells = made.row("or-0000", made.draw("or-0000"))
    assert alone == {"prompt_id": "or-0000", "prompt": given.prompts[0].prompt, **cells, "seed": ""}
    assert cells["seed"] == "3"
    assert cells["reading"] == "inclusive"


# --- the real prompts -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(shared_data):
    return published.read(shared_data / ALL)


@pytest.mark.realdata
def test_the_corrections_of_the_real_prompts_are_those_found_before(real):
    assert len(real.prompts) == 7920
    by_sub = Counter((one.published_relation, name) for one in real.prompts for name in one.corrections)
    assert by_sub == {
        ("farfirst", "D1"): 598,
        ("before", "D2"): 145,
        ("after", "D2"): 133,
        ("closefirst", "D2"): 121,
        ("before", "D3"): 145,  # the same prompts as D2: they name the later sound first
        ("after", "D3"): 587,
        ("if_then_else", "D4"): 152,
    }
    assert real.corrections == {"D1": 598, "D2": 399, "D3": 732, "D4": 152}
    assert sum(1 for one in real.prompts if one.corrections) == 145 + 133 + 587 + 121 + 598 + 152


@pytest.mark.realdata
def test_what_the_real_prompts_ask_for(real):
    found = Counter(one.expected.relation for one in real.prompts)
    assert found == real.relations
    changed = {"before": 1162, "after": 278, "closefirst": 1197, "farfirst": 243}
    assert {name: found.pop(name) for name in changed} == changed
    assert set(found.values()) == {720}
    readings = Counter(one.reading for one in real.prompts if one.expected.relation == "or")
    assert readings == {"exclusive": 153, "inclusive": 567}
    unique = Counter(sub for sub, _ in {(o.published_relation, o.prompt) for o in real.prompts})
    assert unique == {
        "count": 662, "and": 625, "or": 616, "not": 124, "if_then_else": 713, "before": 620, "after": 629,
        "together": 626, "closefirst": 125, "farfirst": 125, "equaldist": 124,
    }  # fmt: skip
    assert len({one.prompt_id for one in real.prompts}) == 7920


@pytest.mark.realdata
def test_the_card_says_where_labels_decide_and_how_near_the_boundary_distances_lie(real):
    far = {one.expected.distances_m for one in real.prompts if one.expected.relation == "farfirst"}
    assert far == {(3.0, 2.0)}
    assert "243 of the 1,440 prompts of two distances" in real.card
    assert "0 `closefirst`, 243 `farfirst`" in real.card
    assert "All `farfirst` prompts have 3 and 2 m, 3.5 dB apart: their scores hang on 0.5 dB" in real.card
    assert "130 prompts filed under `and` and 151 under `together` say" in real.card


@pytest.mark.realdata
def test_clips_for_the_real_prompts_meet_them(real, shared_data):
    made = published.recipe(real, Bank.open(shared_data / "clips"))
    assert len(made.keys()) == 7920
    for key in made.keys()[::180]:
        scenes = made.draw(key)
        assert all(met(scene) for scene in scenes.values()), key
        assert ("references" in scenes) == (made.prompts[key].expected.relation in ("or", "if_then_else"))
    assert "| D1 | 598 |" in made.card
