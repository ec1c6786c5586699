"""Labels: the tree, what a phrase asks for, and that it knows when it does not know."""

import csv
import json
import re
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness import labels
from earwitness.errors import UserError

BARK = {"Dog", "Bark", "Bow-wow", "Yip"}
CHIRP = {"Bird", "Bird vocalization, bird call, bird song", "Chirp, tweet"}
RITTA = {
    "toilet flush": {"Toilet flush"},
    "door slam": {"Slam"},
    "vegetable chopping": {"Chopping (food)"},
    "keyboard typing": {"Typing", "Computer keyboard"},
    "footstep": {"Walk, footsteps", "Run"},
    "bird chirping": CHIRP,
    "dog barking": BARK,
    "sheep bleating": {"Sheep", "Bleat"},
    "rooster crowing": {"Crowing, cock-a-doodle-doo"},
    "cat meowing": {"Cat", "Meow"},
    "telephone ring": {"Telephone", "Telephone bell ringing", "Ringtone"},
    "car horn": {"Vehicle horn, car horn, honking"},
    "door bell": {"Doorbell"},
    "boat horn": {"Foghorn", "Ship"},
    "emergent brake": {"Skidding", "Tire squeal"},
    "wood sawing": {"Sawing"},
    "key jingling": {"Keys jangling", "Jingle, tinkle"},
    "hammer nailing": {"Hammer"},
    "glass drop": {"Glass", "Chink, clink", "Shatter"},
    "whistling": {"Whistling"},
    "talking": {"Speech"},
    "baby crying": {"Baby cry, infant cry"},
    "coughing": {"Cough"},
    "laughing": {"Laughter"},
    "paper shredder": set(),  # AudioSet has no label for it
}
ORDERED_SET = (
    *("dog bark", "car horn", "door knock", "applause", "gunshot"),
    *("glass breaking", "baby cry", "thunder", "whistle", "footsteps"),
)
PHRASES = {
    # one event, many ways to say it
    "a dog barks in the distance": BARK,
    "DOGS ARE BARKING!": BARK,
    "dog_barking": BARK,
    "the bark of a dog": BARK,
    "a dog's barking": BARK,
    "two loud barking dogs": BARK,
    "dog barking at 0.562-2.562": BARK,
    "dog barking three times": BARK,
    "chien": set(),
    "café chatter": {"Speech", "Crowd", "Chatter", "Hubbub, speech noise, speech babble"},
    # people
    "a man is speaking": {"Speech", "Male speech, man speaking"},
    "Woman talking": {"Speech", "Female speech, woman speaking"},
    "A child speaks": {"Speech", "Child speech, kid speaking"},
    "a group of people talking in the background": {"Speech"},
    "man and woman talking": {"Speech"},
    "crowd cheering": {"Cheering"},
    "someone types on a keyboard": {"Typing", "Computer keyboard"},
    "a person whistles": {"Whistling"},
    "burping belching": {"Burping, eructation"},
    # animals
    "A bird is whistling": CHIRP,
    "sheep goat bleating": {"Sheep", "Goat", "Bleat"},
    "pigeons coo": {"Pigeon, dove", "Coo"},
    "bees buzzing": {"Bee, wasp, etc.", "Buzz"},
    "clip-clop of horse hooves": {"Clip-clop"},
    "duck quacking": {"Duck", "Quack"},
    "cow mooing": {"Cattle, bovinae", "Moo"},
    # things
    "water running from a faucet": set(labels.find("running water")),
    "an engine idles": {"Idling"},
    "an engine revving": {"Accelerating, revving, vroom"},
    "a clock ticks": {"Clock"},
    "tires screech": {"Skidding", "Tire squeal"},
    "the siren of an ambulance": {"Ambulance (siren)", "Siren", "Emergency vehicle"},
    "thump thud": {"Thump, thud"},
    "tapping clicking clanking": {"Tap", "Clicking", "Clang"},
    "a machine gun fires": {"Machine gun", "Fusillade"},
    "an explosion": {"Explosion"},
    "spraying": {"Spray", "Hiss"},
    "the old garden gate creaks": {"Creak"},
    # AudioSet's own names, whole and in part
    "Keyboard (musical)": {"Keyboard (musical)"},
    "Meow": {"Cat", "Meow"},
    "infant cry": {"Baby cry, infant cry"},
    "Gurgling, bubbling": {"Gurgling"},
}
TRAPS = {
    "fire engine": {"Fire engine, fire truck (siren)"},
    "car door slams": {"Slam"},
    "bass drum": {"Bass drum"},
    "glass of water pouring": {"Pour", "Fill (with liquid)"},
    "phone call conversation": {"Speech", "Conversation"},
    "birds are chirping and wind blows": CHIRP,
    "a dog barks on a wooden floor near a river in the rain": BARK,
    "rustling pigeons coo": set(),
    "woman barking": set(),
    "choir humming": {"Humming"},
    "record scratching": {"Scratching (performance technique)"},
    "dj scratching": {"Scratching (performance technique)"},
    "breaking news jingle": {"Jingle (music)"},
    "girl squealing": {"Screaming"},
    "a man bellows": {"Bellow", "Shout"},
    "car running": set(labels.find("car engine")),
    "banging on a door": {"Bang"},
    "a stream of water pours into a sink": {"Pour", "Fill (with liquid)"},
    "dog barking then stopping": BARK,
    "a dog barks at the end": BARK,
    "people talking at the bus stop": {"Speech"},
    "dog coughing": set(),
}
UNKNOWN = (
    *("sump pump activates", "tumbleweed rolling", "stethoscope use", "quantum flux", "toy train horn"),
    *("bass", "keyboard", "cricket bat", "dog whistle", "bird scooter", "fire hydrant", "water gun"),
    *("loud", "a man", "in the rain", "near a river", "on a wooden floor", "no dog barking", "firing"),
    # a negation, or the end of a sound
    *(
        "dog not barking",
        "a dog that is not barking",
        "a dog doesn't bark",
        "dogs never bark",
        "dog without barking",
    ),
    *("music stops", "dog stops barking", "the dog in the yard stops barking", "the end of a song"),
    # verbs with a particle, people's gestures, and other senses of a word
    *("wind-up toy", "winding up a toy", "zipping by", "a man knocks over a vase", "radio turned off"),
    *("man waving", "a man waves", "a man alarmed", "a man fires", "tears falling", "woman crying tears"),
    *(
        "bellows",
        "humming bird",
        "vacuum of space",
        "rolling rock",
        "steam iron",
        "sound wave",
        "live stream",
    ),
    *("baby shower", "a frog in the throat"),
    *("", " ", "?!", "雷", "and", "scooter near a river", "dog food", "cat walk", "engine of thought"),
)


@pytest.mark.parametrize(("phrase", "expected"), [*RITTA.items(), *PHRASES.items(), *TRAPS.items()])
def test_phrase_asks_for(phrase: str, expected: set[str]) -> None:
    assert labels.find(phrase) == expected


@pytest.mark.parametrize("phrase", UNKNOWN)
def test_knows_when_it_does_not_know(phrase: str) -> None:
    assert labels.find(phrase) == frozenset()


def test_ritta_events_can_be_told_apart() -> None:
    """No two of the 25 classes share a sound, and a bird is no rooster."""
    for one, other in combinations(RITTA, 2):
        assert not labels.heard_as(labels.find(one)) & labels.heard_as(labels.find(other)), (one, other)


def test_ordered_set_can_be_told_apart() -> None:
    assert all(map(labels.find, ORDERED_SET))
    for one, other in combinations(ORDERED_SET, 2):
        assert not labels.heard_as(labels.find(one)) & labels.heard_as(labels.find(other)), (one, other)


def test_contrasts_that_no_label_can_tell_apart_meet() -> None:
    for one, other in (("man speaking", "woman speaking"), ("sheep bleating", "goat bleating")):
        assert labels.heard_as(labels.find(one)) & labels.heard_as(labels.find(other))


def test_parent_label_is_partial() -> None:
    """Animal where Dog was asked counts in the lenient reading only; abstract headings never count."""
    asked = labels.find("dog barking")
    assert {"Yip", "Bow-wow"} <= labels.heard_as(asked)
    assert "Ringtone" in labels.heard_as(labels.find("an alarm"))
    assert "Animal" not in labels.heard_as(asked)
    assert {"Animal", "Domestic animals, pets"} <= labels.lenient(asked)
    assert not {"Human sounds", "Human voice"} & labels.lenient({"Laughter"})
    assert not {"Source-ambiguous sounds", "Onomatopoeia"} & labels.lenient({"Creak"})


def test_sound_of_several_sources_counts_for_none_of_them() -> None:
    for source in ("Cat", "Snake", "Steam"):
        assert "Hiss" in labels.descendants(source)
        assert "Hiss" not in labels.heard_as({source})
        assert "Hiss" in labels.lenient({source})
    assert "Hiss" in labels.heard_as(labels.find("a cat hisses"))


ASIDE = (  # what is asked, and what else is heard from the same parent
    *(("a man speaks", "Female speech, woman speaking"), ("a child speaks", "Conversation")),
    *(("water drips", "Ocean"), ("water pours", "Rain"), ("water runs", "Rain"), ("running tap", "Ocean")),
    *(
        ("a cat hisses", "Meow"),
        ("a cat hisses", "Cat"),
        ("a dog barks", "Growling"),
        ("a dog growls", "Bark"),
    ),
    *(
        ("a boat engine runs", "Lawn mower"),
        ("a car engine runs", "Chainsaw"),
        ("keyboard typing", "Typewriter"),
    ),
    *(
        ("door slams", "Door"),
        ("door opens", "Slam"),
        ("glass breaks", "Chink, clink"),
        ("birds chirp", "Owl"),
    ),
    *(("phone rings", "Dial tone"), ("police siren", "Civil defense siren"), ("drilling", "Power tool")),
)


@pytest.mark.parametrize(("phrase", "other"), ASIDE)
def test_sibling_is_not_the_asked_sound(phrase: str, other: str) -> None:
    asked = labels.find(phrase)
    assert asked
    assert other not in labels.heard_as(asked)


@given(st.sampled_from(labels.names()), st.data())
def test_only_the_most_specific_labels_bring_descendants(wide: str, data: st.DataObject) -> None:
    below = labels.descendants(wide)
    if below:
        child = data.draw(st.sampled_from(sorted(below)))
        assert labels.heard_as({wide, child}) == labels.heard_as({child}) | {wide}
        assert labels.lenient({wide, child}) == labels.lenient({child}) | labels.lenient({wide}) - (
            below - labels.lenient({child})
        )


@given(st.text())
def test_find_takes_any_text(text: str) -> None:
    found = labels.find(text)
    assert found <= set(labels.names())
    assert "\n" not in labels.explain(text)
    assert found == labels.find(text.swapcase() if text.isascii() else text)


@given(
    st.lists(st.sampled_from(["dog", "barks", "of", "the", "and", "in", "man", "water", "running", "hums"]))
)
def test_find_takes_any_word_order(words: list[str]) -> None:
    assert labels.find(" ".join(words)) <= set(labels.names())


def test_very_long_text_is_no_phrase() -> None:
    assert labels.find("dog in " * 100_000) == frozenset()


@given(st.sets(st.sampled_from(labels.names())))
def test_heard_contains_asked(asked: set[str]) -> None:
    heard = labels.heard_as(asked)
    assert asked <= heard <= labels.lenient(asked)
    assert labels.heard_as(heard) == heard


def test_ancestors_and_descendants_are_inverse() -> None:
    for name in labels.names():
        assert name not in labels.ancestors(name)
        assert all(name in labels.descendants(above) for above in labels.ancestors(name))
        assert all(name in labels.ancestors(below) for below in labels.descendants(name))


def test_every_name_asks_for_itself() -> None:
    for name in labels.names():
        assert name in labels.find(name)
        assert labels.check(name) == name


def test_every_alias_gives_its_labels() -> None:
    """Targets exist, phrases are in plain words, and no row overrides another."""
    text = files("earwitness").joinpath("aliases.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and line[0] not in "#@"]
    assert len(rows) > 200
    names = set(labels.names())
    plain = {name: re.sub("[^a-z]+", " ", name.lower()).strip() for name in names}
    seen: set[str] = set()
    for patterns, targets in rows:
        asked = set() if targets == "-" else set(targets.split("; "))
        assert asked <= names, patterns
        for pattern in patterns.split(", "):
            for phrase in labels.expand(pattern.removeprefix("* ")):
                assert phrase.isascii(), phrase
                assert phrase == phrase.lower(), phrase
                assert phrase not in seen, phrase
                seen.add(phrase)
                assert labels.find(phrase) - asked <= {n for n in names if plain[n] == phrase}, phrase
                assert asked <= labels.find(phrase), phrase


def test_explain_names_the_rule() -> None:
    assert labels.explain("a dog barks in the rain") == "alias 'dog bark', leaving out 'in rain'"
    assert labels.explain("bass drums") == "name 'Bass drum'"
    assert labels.explain("rusty chains rattle") == "sound word of alias 'rattle'"
    for phrase in (
        "paper shredder",
        "a paper shredder runs",
        "paper shredder shredding paper",
        "shredding paper",
    ):
        assert "AudioSet has no label for it" in labels.explain(phrase)
    assert labels.explain("music stops") == "'stops' says that the sound is absent or ends"
    assert "tumbleweed" in labels.explain("tumbleweed rolling")
    assert "\n" not in labels.explain("a\nb")


def test_unknown_label_is_an_error_with_near_names() -> None:
    assert labels.suggest("Sirn")[0] == "Siren"
    assert labels.suggest("xqzzkw") == ()
    assert len(labels.suggest("music", n=2)) == 2
    for ask in (labels.check, labels.parents, labels.ancestors, labels.descendants):
        with pytest.raises(UserError, match="Did you mean 'Dog'"):
            ask("dog")
    with pytest.raises(UserError, match="not an AudioSet label"):
        labels.heard_as({"Dog", "Bork!"})


def test_table_is_the_ontology(shared_data: Path) -> None:
    nodes = json.loads((shared_data / "captions" / "audioset_ontology.json").read_text(encoding="utf-8"))
    name = {node["id"]: node["name"] for node in nodes}
    assert labels.names() == tuple(name.values())
    edges = {(name[child], node["name"]) for node in nodes for child in node["child_ids"]}
    assert edges == {(label, parent) for label in labels.names() for parent in labels.parents(label)}


def test_shared_clips_and_audiotime_labels_map(shared_data: Path) -> None:
    with (shared_data / "clips" / "metadata.csv").open(encoding="utf-8", newline="") as file:
        clips = {row["label"] for row in csv.DictReader(file)}
    assert {label for label in clips if not labels.find(label)} == {"paper_shredder"}
    for kind in ("ordering", "duration", "frequency", "timestamp"):
        path = shared_data / "captions" / f"audiotime_test_{kind}.json"
        items = json.loads(path.read_text(encoding="utf-8")).values()
        unmapped = {event for item in items for event in item["event"] if not labels.find(event)}
        assert not unmapped


def test_table_marks_yamnets_521_labels() -> None:
    lines = files("earwitness").joinpath("audioset.tsv").read_text(encoding="utf-8").splitlines()
    assert "CC BY-SA 4.0" in lines[0]
    assert sum(line.endswith("\tyes") for line in lines) == 521
