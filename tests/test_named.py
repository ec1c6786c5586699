"""Which phrase a judge's own words name, and what a list of events then says of a caption."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.events import Event
from earwitness.scores.named import names, not_told_apart, read

LABELS = [
    "dog barking", "a small dog yapping", "cat", "meow", "animal", "speech", "man speaking", "woman talking",
    "siren", "police siren", "tumbleweed", "zorping", "a loud zorp", "no dog barking", "rain", "room tone",
]  # fmt: skip
PHRASES = [
    "a dog barks", "a cat meowing", "a man speaking", "a woman speaking", "a siren wails",
    "a tumbleweed rolls", "a zorp", "heavy rain",
]  # fmt: skip


def heard(*told: tuple[str, float]) -> list[Event]:
    return [Event(label, onset, onset + 0.5, 0.9) for label, onset in told]


@pytest.mark.parametrize(
    ("label", "phrase"),
    [
        ("dog barking", "a dog barks"),
        ("Dog (barking)", "a dog barks"),
        ("a small dog yapping", "a dog barks"),  # a kind of what was asked
        ("speech", "a woman speaking"),  # the plain label counts, as it does for a detector
        ("honk", "car horn"),
        ("tumbleweed", "a tumbleweed rolls"),  # the table knows no such word: one is enough
        ("Loud zorping", "a zorp"),
        ("gravel crunching", "gravel crunches underfoot"),
    ],
)
def test_a_label_names_a_phrase_in_other_words(label: str, phrase: str) -> None:
    assert names(label, phrase)


@pytest.mark.parametrize(
    ("label", "phrase"),
    [
        ("man speaking", "a woman speaking"),  # though the table asks for plain speech beside either
        ("animal", "a dog barks"),
        ("seal barking", "a dog barks"),
        ("dog", "a hot dog sizzles"),
        ("no dog barking", "a dog barks"),
        ("room tone", "a dog barks"),
        ("crunching", "gravel crunches underfoot"),
    ],
)
def test_a_label_does_not_name_another_sound(label: str, phrase: str) -> None:
    assert not names(label, phrase)


def test_a_list_gives_onsets_recall_and_precision() -> None:
    found = read(["a dog barks", "a cat meowing"], heard(("meow", 4), ("bark", 2), ("dog", 1), ("rain", 0)))
    assert (found.onsets_s, found.recall, found.precision, found.doubt) == ((1, 4), 1.0, 0.75, "")


def test_a_wider_label_is_implied_but_names_nothing() -> None:
    found = read(["a dog barks", "a cat meowing"], heard(("animal", 1), ("meow", 2)))
    assert (found.onsets_s, found.recall, found.precision) == ((None, 2), 0.5, 1.0)


def test_phrases_that_names_cannot_tell_apart_are_not_recomputed() -> None:
    assert "cannot be told apart" in not_told_apart(["a siren", "a police siren"])
    assert "cannot be told apart" in not_told_apart(["a wooden crate zorps", "a crate zorps"])
    assert "no word" in not_told_apart(["it then", "a dog barks"])
    found = read(["a siren", "a police siren"], heard(("siren", 1), ("police siren", 3)))
    assert found.recall is None
    assert found.precision == 1.0


def test_an_event_that_could_be_two_phrases_serves_neither() -> None:
    people = ["a man speaking", "a woman speaking"]
    either = read(people, heard(("speech", 0), ("man speaking", 2)))
    assert (either.onsets_s, either.recall) == ((2, None), None)
    assert either.doubt == "'speech' may be 'a man speaking' or 'a woman speaking'"
    both = read(people, heard(("speech", 0), ("man speaking", 2), ("woman speaking", 4)))
    assert (both.onsets_s, both.recall, both.doubt) == ((2, 4), 1.0, "")  # nothing is left for it to be


def test_an_empty_list_misses_everything_and_has_no_precision() -> None:
    found = read(["a dog barks", "a cat meowing"], [])
    assert (found.recall, found.precision, found.doubt) == (0.0, None, "")


def test_a_caption_without_phrases_is_refused() -> None:
    with pytest.raises(ValueError, match="without phrases"):
        read([], [])


@given(
    st.lists(st.tuples(st.sampled_from(LABELS), st.integers(0, 20)), max_size=8),
    st.lists(st.sampled_from(PHRASES), min_size=1, max_size=4, unique=True),
    st.randoms(use_true_random=False),
)
def test_a_list_is_read_alike_in_any_order_and_within_bounds(
    told: list[tuple[str, int]], phrases: list[str], random
) -> None:
    found = read(phrases, heard(*told))
    shuffled = random.sample(told, len(told))
    again = read(phrases, heard(*shuffled))
    assert (again.onsets_s, again.recall, again.precision) == (found.onsets_s, found.recall, found.precision)
    served = sum(onset is not None for onset in found.onsets_s)
    assert served <= len(told)  # one event never serves two phrases
    assert (found.recall is None) == bool(found.doubt)
    for share in (found.recall, found.precision):
        assert share is None or 0 <= share <= 1
    turned = read(phrases[::-1], heard(*told))
    assert turned.onsets_s == found.onsets_s[::-1]
