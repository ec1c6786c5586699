"""From events to tags, sequence and sentence; from figures to faults."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import earwitness
from earwitness.events import Event
from earwitness.report.build import Options
from earwitness.scores import describing
from sounds import RATE_HZ, events_reply, noise, script

RESOLUTION_S = 0.1
HORN = "Vehicle horn, car horn, honking"


def heard(label: str, onset_s: float, offset_s: float, confidence: float = 0.95) -> Event:
    return Event(label, onset_s, offset_s, confidence)


def order(*events: Event) -> list[str]:
    return [event.label for event in describing.sequence(events, RESOLUTION_S)]


KNOWN = st.sampled_from(["Bark", "Dog", "Animal", HORN, "Rain", "Speech", "Meow", "Cat", "Thunder"])
EVENTS = st.lists(
    st.builds(
        lambda label, onset, length, sure: Event(label, onset, onset + length, sure),
        KNOWN,
        st.integers(0, 90).map(lambda n: n / 10),
        st.integers(1, 30).map(lambda n: n / 10),
        st.floats(0.5, 1.0),
    ),
    max_size=10,
)


def test_one_sound_after_another_is_a_sequence() -> None:
    assert order(heard("Bark", 0, 1), heard(HORN, 2, 3)) == ["Bark", HORN]
    assert order(heard(HORN, 0, 1), heard("Rain", 2, 3), heard("Bark", 4, 5)) == [HORN, "Rain", "Bark"]


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([], "nothing was heard"),
        ([heard("Bark", 0, 1)], "one sound"),
        ([heard("Bark", 0, 1), heard("Bark", 3, 4)], "the same sound again"),
        ([heard("Dog", 0, 1), heard("Bark", 2, 3)], "two names of one sound, one wider"),
        ([heard("Rain", 0, 9), heard("Bark", 3, 4)], "rain throughout"),
        ([heard("Bark", 0, 1), heard(HORN, 2, 3), heard("Bark", 4, 5)], "a dog before and after"),
        ([heard("Bark", 0, 1), heard(HORN, 0.6, 1.6)], "they share 0.4 of either"),
        ([heard("Bark", 0, 1), heard(HORN, 2, 3, 0.6)], "the horn is unsure"),
        ([heard("Bark", 0, 1), heard(HORN, 2, 2.3)], "the horn is a blip"),
    ],
)
def test_no_clear_sequence(events: list[Event], why: str) -> None:
    assert order(*events) == [], why


def test_a_sound_throughout_does_not_hide_the_sequence_of_others() -> None:
    assert order(heard("Rain", 0, 9), heard("Bark", 1, 2), heard(HORN, 4, 5)) == ["Bark", HORN]


def test_a_quarter_of_the_shorter_sound_may_be_shared() -> None:
    assert order(heard("Bark", 0, 2), heard(HORN, 1.75, 2.75)) == ["Bark", HORN]
    assert order(heard("Bark", 0, 2), heard(HORN, 1.74, 2.74)) == []


def test_onsets_closer_than_the_resolution_are_no_order() -> None:
    events = [heard("Bark", 0.0, 0.5), heard(HORN, 0.5, 1.0)]
    assert describing.sequence(events, 0.5)
    assert not describing.sequence(events, 0.51)


@given(EVENTS, st.randoms())
def test_a_sequence_is_one_whatever_the_order_of_the_list(events: list[Event], random) -> None:
    chain = describing.sequence(events, RESOLUTION_S)
    shuffled = random.sample(events, len(events))
    assert describing.sequence(shuffled, RESOLUTION_S) == chain
    assert describing.tags(shuffled) == describing.tags(events)
    assert len(chain) != 1
    for earlier, later in pairwise(chain):
        assert earlier.label != later.label
        assert later.onset_s - earlier.onset_s >= RESOLUTION_S - 1e-6


@given(EVENTS)
def test_tags_are_what_was_heard_and_between_three_and_six_where_there_are_as_many(
    events: list[Event],
) -> None:
    tags, words = describing.tags(events), {describing.word(event.label) for event in events}
    assert set(tags) <= words
    assert len(set(tags)) == len(tags)
    assert min(3, len(words)) <= len(tags) <= 6


def test_wider_labels_only_fill_up_the_tags() -> None:
    dog = [heard("Animal", 0, 1, 0.99), heard("Dog", 0, 1, 0.98), heard("Bark", 0, 1, 0.9)]
    assert describing.tags(dog) == ("bark", "animal", "dog")
    others = [heard(label, 3, 4, 0.85) for label in ("Rain", "Speech", "Thunder")]
    assert describing.tags(dog + others) == ("bark", "rain", "speech", "thunder")


def test_never_invented_tags() -> None:
    assert describing.tags([]) == ()
    assert describing.tags([heard(HORN, 0, 1, 0.55)]) == ("vehicle horn",)


@pytest.mark.parametrize(
    ("events", "sentence"),
    [
        ([], "No sound recognised."),
        ([heard("Rain", 0, 9)], "Rain."),
        ([heard("Rain", 0, 9), heard("Speech", 1, 8)], "Rain and speech."),
        ([heard("Bark", 0, 1), heard(HORN, 2, 3)], "Bark, then vehicle horn."),
        (
            [heard("Bark", 0, 1), heard(HORN, 2, 3), heard("Rain", 0, 9), heard("Speech", 0.5, 9)],
            "Bark, then vehicle horn, with rain and speech.",
        ),
        ([heard("Bark", 0, 1, 0.6), heard("Rain", 0, 1, 0.55)], "Bark."),  # none is sure: the surest
    ],
)
def test_the_sentence_says_the_order_where_there_is_one(events: list[Event], sentence: str) -> None:
    assert describing.template(events, RESOLUTION_S, silent=False) == sentence


def test_silence_is_said_when_it_is_silent() -> None:
    assert describing.template([], RESOLUTION_S, silent=True) == "Silence."


def test_names_in_brackets_stay_whole() -> None:
    assert describing.word("Fire engine, fire truck (siren)") == "fire engine"
    assert describing.word("Siren (a, b), other") == "siren (a, b)"


def test_the_stated_thresholds_make_the_flags() -> None:
    fine = {"clipped_share": 0.001, "silent_share": 0.49, "bandwidth_hz": 3000.0}
    assert not any(describing.faults(fine).values())
    for flag, figure in {
        "clipping": {"clipped_share": 0.0011},
        "silence": {"silent_share": 0.5},
        "muffled": {"bandwidth_hz": 2999.0},
    }.items():
        assert [name for name, there in describing.faults(fine | figure).items() if there] == [flag]
    assert describing.faults(fine | {"silent_share": 1.0, "bandwidth_hz": None})["muffled"] is False


def test_how_few_sounds_were_heard_is_said_in_good_english(tmp_path: Path) -> None:
    quality = {"rate_hz": RATE_HZ, "peak_dbfs": -10.5, "level_dbfs": -15.0, "clipped_share": 0.0,
               "silent_share": 0.0, "bandwidth_hz": 8000.0}  # fmt: skip
    sounds = {"none": [], "one": ["Rain"], "two": ["Rain", "Speech"]}
    lines = [{"pcm_hash": "*", "question": "quality", "reply": quality}]
    for seed, (name, labels) in enumerate(sounds.items()):
        reply = events_reply(*((label, 0.0, 0.5) for label in labels))
        pcm_hash = noise(tmp_path / "clips" / f"{name}.wav", seed)
        lines.append({"pcm_hash": pcm_hash, "question": "events", "reply": reply})
    listener, shown = script(tmp_path / "s.jsonl", lines), Options(spectrograms=0, draws=10)
    found = earwitness.label(tmp_path / "clips", run=tmp_path / "run", listener=listener, options=shown).items
    details = dict(found.select("sample_id", "detail").iter_rows())
    assert "0 distinct sounds heard" in details["none"]
    assert "1 distinct sound heard" in details["one"]
    assert "2 distinct sounds heard" in details["two"]
