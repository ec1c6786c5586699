"""The classes of RiTTA can be told apart, and every wording asks for what its slots say."""

import json
from collections import Counter
from itertools import combinations, permutations

import pytest

from earwitness import captions, labels
from earwitness.errors import InputFaults
from earwitness.scenes import synth
from earwitness.scenes.ritta import saying
from earwitness.scenes.ritta.classes import CLASSES, GROUPS, computed, named
from earwitness.scenes.ritta.wordings import READINGS, SLOTS, Wording, builtin, load
from earwitness.scores import relations
from earwitness.scores.relations import RELATIONS

DOG, CAT, CAR = "dog_barking", "cat_meowing", "car_horn"
EXAMPLES = {
    "count": relations.count((DOG, CAR, CAT)),
    "before": relations.in_order("before", DOG, CAT),
    "after": relations.in_order("after", DOG, CAT),
    "together": relations.together(DOG, CAT),
    "closefirst": relations.spatial(DOG, 1.0, 5.0),
    "farfirst": relations.spatial(DOG, 7.0, 3.0),
    "equaldist": relations.spatial(DOG, 2.0, 2.0),
    "and": relations.both(DOG, CAT),
    "or": relations.either(DOG, CAT, exclusive=True),
    "not": relations.without(DOG),
    "if_then_else": relations.if_then_else(DOG, CAT, CAR),
}


def of(relation):
    return [wording for wording in builtin() if wording.relation == relation]


# --- classes --------------------------------------------------------------------------------------------


def test_there_are_25_classes_in_5_groups_of_5():
    assert len(CLASSES) == 25
    assert {len(names) for names in GROUPS.values()} == {5}
    assert len(GROUPS) == 5


def test_the_audioset_labels_of_two_classes_never_meet():
    assert [name for name, one in CLASSES.items() if not one.labels] == ["paper_shredder"]
    for one, other in combinations(CLASSES.values(), 2):
        assert labels.heard_as(one.labels).isdisjoint(labels.heard_as(other.labels)), (one.name, other.name)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("dog_bark", "dog_barking"),  # UrbanSound8K and the built-in bank
        ("Dog Barking", "dog_barking"),
        ("hand_saw", "wood_sawing"),  # ESC-50
        ("crying_baby", "baby_crying"),
        ("emergent_brake", "emergency_brake"),  # as published
        ("hammering-nail", "hammer_nailing"),
        ("Walk_and_footsteps", "footstep"),  # FSD50K
        ("Vehicle horn, car horn, honking", "car_horn"),  # AudioSet
        ("Chopping_(food)", "vegetable_chopping"),
        ("shredding paper", "paper_shredder"),
        ("paper shredder", "paper_shredder"),
        ("boat horn", "boat_horn"),
        ("whistle", None),  # it may be a referee's
        ("rain", None),
        ("church_bells", None),
        ("", None),
    ],
)
def test_labels_of_known_banks_name_their_class(label, name):
    assert named(label) == name


def test_no_label_names_two_classes():
    spellings = [
        spelling.casefold()
        for one in CLASSES.values()
        for spelling in {one.name.replace("_", " "), one.published.replace("_", " "), *one.aliases}
    ]
    assert [spelling for spelling, count in Counter(spellings).items() if count > 1] == []


def test_what_a_class_is_taken_for_sounds_alike():
    """Every alias that AudioSet knows asks for a label of its class."""
    for one in CLASSES.values():
        for alias in one.aliases:
            if one.labels and (found := labels.find(alias)):
                assert labels.heard_as(found) & labels.heard_as(one.labels), (one.name, alias)


def test_the_built_in_bank_has_nine_of_the_classes():
    found = {name: known for name in synth.CLASSES if (known := computed(name))}
    assert found == {
        "dog_bark": "dog_barking",
        "cat_meow": "cat_meowing",
        "baby_cry": "baby_crying",
        "bird": "bird_chirping",
        "sheep": "sheep_bleating",
        "telephone": "telephone_ring",
        "car_horn": "car_horn",
        "whistle": "whistling",
        "glass_breaking": "glass_drop",
    }


def test_a_phrase_names_a_sound_and_not_what_makes_it():
    makes = ("ing", "footsteps")
    assert [one.phrase for one in CLASSES.values() if not one.phrase.endswith(makes)] == []


# --- wordings -------------------------------------------------------------------------------------------


def test_every_relation_has_seven_wordings_or_more_and_or_both_its_readings():
    counts = Counter(wording.relation for wording in builtin())
    assert min(counts[relation] for relation in RELATIONS) >= 7
    assert Counter(wording.reading for wording in of("or")) == {"exclusive": 4, "inclusive": 4}
    assert set(READINGS) == set(SLOTS) == set(RELATIONS)


def test_every_order_is_read_back_from_the_words():
    wrong = []
    for wording in (*of("before"), *of("after")):
        for first, second in permutations(CLASSES.values(), 2):
            prompt = wording.said(relations.in_order(wording.relation, first.name, second.name))
            parsed = captions.parse(prompt)
            told = [phrase.text for phrase in parsed.phrases]
            if told != [first.phrase, second.phrase] or parsed.precedences != ((0, 1),):
                wrong.append(prompt)
    assert wrong == []


def test_before_and_after_differ_in_their_words():
    for wording in of("before"):
        assert wording.text.index("{first}") < wording.text.index("{second}")
    for wording in of("after"):
        later_first = wording.text.index("{second}") < wording.text.index("{first}")
        assert later_first or "after" in wording.text.lower()


@pytest.mark.parametrize("relation", ["closefirst", "farfirst"])
def test_distances_are_told_in_the_order_of_time_or_with_a_cue(relation):
    backwards = 0
    for wording in of(relation):
        if wording.text.index("{first_m}") > wording.text.index("{second_m}"):
            backwards += 1
            assert any(cue in wording.text for cue in ("preceded by", "after", "but first"))
    assert backwards >= 3


def test_prompts_name_every_sound_number_and_distance():
    for wording in builtin():
        expected = EXAMPLES[wording.relation]
        prompt = wording.said(expected)
        assert prompt[0].isupper()
        for label in expected.labels:
            assert CLASSES[label].phrase in prompt.lower()
        for metres in expected.distances_m or ():
            assert ("1 metre" if metres == 1 else f"{metres:g} metres") in prompt
        assert "1 metres" not in prompt
        assert "{" not in prompt


def test_counts_are_words_or_digits():
    wording = Wording("count", "one_of_each", "{n} sounds: {sounds}")
    expected = EXAMPLES["count"]
    assert wording.said(expected) == "Three sounds: dog barking, car horn honking and cat meowing"
    assert wording.said(expected, digits=True) == "3 sounds: dog barking, car horn honking and cat meowing"


def test_the_roles_of_a_condition_stand_where_their_slots_are():
    wording = Wording("if_then_else", "either_branch", "{otherwise} unless {condition} with {then}")
    assert wording.said(EXAMPLES["if_then_else"]) == "Car horn honking unless dog barking with cat meowing"


# --- the user's own -------------------------------------------------------------------------------------


def write(path, *rows):
    columns = ("relation", "text", "reading")
    path.write_text("\n".join(json.dumps(dict(zip(columns, row, strict=False))) for row in rows))
    return path


def test_own_wordings_are_read_from_any_table(tmp_path):
    rows = [
        ("before", "hark: {first}  precedes {second}"),
        ("or", "{one}, else {other}", "exclusive"),
        ("and", "{one} & {other}", "both"),
    ]
    expected = (
        Wording("before", "in_order", "hark: {first} precedes {second}"),
        Wording("or", "exclusive", "{one}, else {other}"),
        Wording("and", "both", "{one} & {other}"),
    )
    assert load(write(tmp_path / "own.jsonl", *rows)) == expected
    (tmp_path / "own.csv").write_text(
        'relation,text,reading\nbefore,hark: {first} precedes {second},\nor,"{one}, else {other}",exclusive\n'
        "and,{one} & {other},both\n"
    )
    assert load(tmp_path / "own.csv") == expected


def test_all_faults_of_own_wordings_are_told_at_once_with_their_rows(tmp_path):
    rows = [
        ("befor", "{first} {second}"),
        ("before", "{first}, then {secnd}"),
        ("or", "{one} or perhaps {other}"),
        ("or", "{one} or maybe {other}", "exclusif"),
        ("not", "no {sound} {"),
        ("not", "nothing at all"),
        ("and", "{one!r} and {other:>5}"),
        ("before", "{second}, then {first}"),
        ("after", "{first}, then {second}"),
        ("together", "{one} overlapping with {other}"),
        ("and", "{one} & {other}"),
        ("and", "{one} & {other}"),
        ("equaldist", "{sound} {first_m} away, again {second_m} away"),
    ]
    with pytest.raises(InputFaults) as raised:
        load(write(tmp_path / "own.jsonl", *rows))
    told = raised.value.faults
    parts = [
        ("row 1:", "did you mean 'before'"),
        ("row 2:", "no slot {secnd} (did you mean 'second'?)"),
        ("row 2:", "the text has no {second}"),
        ("row 3:", "exclusive or inclusive, not ''"),
        ("row 4:", "exclusive or inclusive, not 'exclusif'"),
        ("row 5:", "braces"),
        ("row 6:", "the text has no {sound}"),
        ("row 7:", "a slot is a name in braces"),
        ("row 8:", "the slots are in the order of time"),
        ("row 9:", "as it stands it is a 'before'"),
        ("row 10:", "is built in"),
        ("row 12:", "is in row 11 already"),
        ("row 13:", "'equaldist' has no slot {second_m}"),
    ]
    assert len(told) == len(parts), told
    for fault, (row, words) in zip(told, parts, strict=True):
        assert fault.startswith(row)
        assert words in fault
    assert "if_then_else {condition} {then} {otherwise}" in raised.value.remedy


CONTRADICTIONS = [
    # what stands for the later sound comes first
    ("before", "Once {second} is over, {first}"),
    ("before", "As soon as {second} has ended, {first}"),
    ("before", "{first} succeeds {second}"),
    ("before", "{second} leads to {first}"),
    ("after", "Hear {second} ahead of {first}"),
    ("after", "Once {first} is over, {second}"),
    ("after", "{second} precedes {first}"),
    # and so do the metres of the later one
    ("closefirst", "First {sound} at {second_m}, then {sound} at {first_m}"),
    ("closefirst", "{sound} at {first_m}, preceded by {sound} at {second_m}"),
    ("closefirst", "{sound} {first_m} away after {sound} {second_m} away"),
    ("closefirst", "The same {sound} heard again: {second_m}, then {first_m}"),
    ("closefirst", "{sound} ({second_m}) precedes {sound} ({first_m})"),
    ("farfirst", "{sound} {second_m} away, then {sound} {first_m} away"),
    ("farfirst", "{sound} at {first_m}, but first {sound} at {second_m}"),
    ("farfirst", "After {sound} at {second_m}, the same at {first_m}"),
    ("farfirst", "{sound} from {first_m}, preceded by the same sound from {second_m}"),
    # an order where there is none
    ("and", "{one} then {other}"),
    ("and", "{other} before {one}"),
    ("together", "{one} after {other}"),
    ("count", "First of {n} comes the first of {sounds}, then the others"),
    # a number that is none
    ("count", "At least {n} sounds: {sounds}"),
    ("count", "{n} sounds or more: {sounds}"),
    ("count", "No fewer than {n} sounds: {sounds}"),
    # the other reading
    ("or", "{one} or {other}, or both", "exclusive"),
    ("or", "{one} and/or {other}, please", "exclusive"),
    ("or", "{one} or {other}, not both", "inclusive"),
    ("or", "Only one of {one} and {other}", "inclusive"),
]


@pytest.mark.parametrize("row", CONTRADICTIONS, ids=lambda row: f"{row[0]}: {row[1]}")
def test_a_wording_that_says_the_opposite_of_its_slots_is_refused(tmp_path, row):
    with pytest.raises(InputFaults) as raised:
        load(write(tmp_path / "own.jsonl", row))
    assert len(raised.value.faults) == 1


@pytest.mark.parametrize(
    "row",
    [
        ("before", "Once {first} is over, {second}"),
        ("before", "{first} ahead of {second}"),
        ("before", "{second} follows {first}"),
        ("after", "{second} succeeds {first}"),
        ("closefirst", "{sound} at {second_m}, preceded by {sound} at {first_m}"),
        ("farfirst", "After {sound} at {first_m}, {sound} at {second_m}"),
        ("closefirst", "{sound} {first_m} off, then {second_m} off"),
        ("count", "No more and no fewer than {n} sounds: {sounds}"),
        ("together", "{one} as {other} goes on"),
        ("or", "Either of {one} and {other}; if not both, then any one", "inclusive"),
        ("or", "{one} or {other}, not both", "exclusive"),
        ("or", "{one} or {other}, or both", "inclusive"),
    ],
    ids=lambda row: f"{row[0]}: {row[1]}",
)
def test_a_wording_that_says_what_its_slots_do_is_taken(tmp_path, row):
    assert [one.text for one in load(write(tmp_path / "own.jsonl", row))] == [row[1]]


def test_built_in_wordings_say_what_they_are_read_as():
    """What the fault finder knows of contradictions, and what readers stumbled on."""
    for one in builtin():
        assert list(saying.faults(one.relation, one.reading, one.text)) == [], one.text
    for one in (*of("after"), *of("closefirst"), *of("farfirst")):
        assert "right after" not in one.text, "the clips have seconds between the sounds"
    for one in of("if_then_else"):
        # neither branch may leave room for the sounds of the other
        excludes = ("no {", "instead", "nothing more", "alone", "by itself", "Only")
        assert any(word in one.text for word in excludes), one.text
    for one in of("not"):
        assert not one.text.lower().startswith(("any", "every")), "silence will do, so no sound is asked for"
