"""Scores of edits: hand-worked values and properties that hold whatever is heard."""

from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from earwitness.events import Event
from earwitness.scores import edits
from earwitness.scores.repeats import flip_rate

DOG, CAT, SIREN = frozenset({"Dog", "Bark"}), frozenset({"Cat", "Meow"}), frozenset({"Siren"})
AXES = ("edit_success", "nontarget_preservation", "temporal_preservation", "naturalness")
NAMES = ("Bark", "Meow", "Siren", "Applause", "Whistling", "Sheep")

times = st.floats(0, 10, allow_nan=False)
events = st.lists(
    st.builds(
        lambda name, a, b: Event(name, min(a, b), max(a, b), 0.5), st.sampled_from(NAMES), times, times
    ),
    max_size=8,
)
marks = st.fixed_dictionaries({axis: st.integers(1, 5).map(float) for axis in AXES})
verdicts = st.sampled_from(("good_edit", "over_edit", "under_edit", "failed"))


def at(label: str, onset_s: float, offset_s: float) -> Event:
    return Event(label, onset_s, offset_s, 0.9)


def test_joint_success_needs_all_three_axes_and_not_the_fourth() -> None:
    good = dict(zip(AXES, (4.0, 4.0, 4.0, 1.0), strict=True))
    assert edits.joint_success(good)
    for axis in edits.JOINT:
        assert not edits.joint_success(good | {axis: 3.9})


def test_an_added_sound_must_be_new_or_clearly_longer() -> None:
    assert edits.appeared(DOG, [], [at("Bark", 1, 1.1)])
    assert not edits.appeared(DOG, [], [at("Meow", 1, 2)])
    assert not edits.appeared(DOG, [at("Dog", 1, 2)], [at("Bark", 4, 5)])  # moved, not added
    assert edits.appeared(DOG, [at("Dog", 1, 2)], [at("Dog", 1, 2), at("Dog", 4, 4.5)])
    assert not edits.appeared(DOG, [at("Dog", 1, 2)], [at("Dog", 1, 2), at("Bark", 1.2, 2.4)])


def test_a_sound_that_was_not_there_cannot_go() -> None:
    assert edits.gone(DOG, [at("Dog", 1, 2)], []) is True
    assert edits.gone(DOG, [at("Dog", 1, 2)], [at("Bark", 5, 6)]) is False
    assert edits.gone(DOG, [at("Meow", 1, 2)], []) is None


def test_what_cannot_be_told_makes_the_whole_unknown_even_beside_a_failure() -> None:
    """Else items with an unheard source sound would count when they fail and not when they succeed."""
    assert edits.all_done([True, True]) is True
    assert edits.all_done([True, False]) is False
    assert edits.all_done([False, None]) is None
    assert edits.all_done([]) is None


def test_a_wider_or_closer_name_of_a_target_is_no_other_sound() -> None:
    heard = [at("Animal", 0, 1), at("Dog", 0, 1), at("Bow-wow", 0, 1), at("Siren", 2, 3)]
    assert edits.others(heard, [frozenset({"Bark"})], frozenset()) == ["Bow-wow", "Siren"]
    assert edits.others([at("Male speech, man speaking", 0, 1)], [frozenset({"Speech"})], frozenset()) == []
    assert edits.others(heard, [DOG], frozenset()) == ["Siren"]
    assert edits.others(heard, [], frozenset({"Dog", "Siren"})) == ["Dog", "Siren"]


def test_a_kept_sound_may_be_named_more_widely() -> None:
    assert edits.kept(["Bark", "Siren"], [at("Dog", 2, 3), at("Meow", 0, 1)]) == {"Bark": 2, "Siren": None}


@given(st.permutations(range(6)))
def test_order_kept_is_kendalls_tau(ranks: list[int]) -> None:
    before = {name: float(k) for k, name in enumerate(NAMES)}
    after = {name: float(rank) for name, rank in zip(NAMES, ranks, strict=True)}
    tau = float(kendalltau(range(6), ranks).statistic)
    assert edits.order_kept(before, after, 0.1) == pytest.approx((tau + 1) / 2)


def test_order_of_sounds_that_begin_together_is_not_asked_for() -> None:
    assert edits.order_kept({"Bark": 1.0, "Meow": 1.05}, {"Bark": 3.0, "Meow": 1.0}, 0.1) is None
    assert edits.order_kept({"Bark": 1.0, "Meow": 2.0}, {"Bark": 1.0, "Meow": 1.05}, 0.1) == 0.0
    assert edits.order_kept({"Bark": 1.0, "Dog": 2.0}, {"Bark": 3.0, "Dog": 1.0}, 0.1) is None  # one sound


@given(events, st.lists(st.sampled_from((DOG, CAT, SIREN)), unique=True))
def test_nothing_changed_is_seen_as_nothing_changed(
    heard: list[Event], targets: list[frozenset[str]]
) -> None:
    others = edits.others(heard, targets, frozenset())
    onsets = edits.kept(others, heard)
    before = {name: min(e.onset_s for e in heard if e.label == name) for name in others}
    assert onsets == before
    assert edits.onset_shift_s(before, before) in (None, 0.0)
    assert edits.order_kept(before, before, 0.1) in (None, 1.0)
    assert not any(
        edits.appeared(target, heard, heard) or edits.gone(target, heard, heard) for target in targets
    )


@given(events, events)
def test_scores_are_bounded(source: list[Event], edited: list[Event]) -> None:
    others = edits.others(source, [DOG], frozenset())
    onsets = edits.kept(others, edited)
    after = {name: onset for name, onset in onsets.items() if onset is not None}
    before = {name: min(e.onset_s for e in source if e.label == name) for name in after}
    order = edits.order_kept(before, after, 0.1)
    assert order is None or 0 <= order <= 1
    assert 0 <= edits.heard_s(DOG, source) <= 10


@given(events)
def test_heard_time_counts_overlaps_once(heard: list[Event]) -> None:
    assert edits.heard_s(DOG, heard + heard) == pytest.approx(edits.heard_s(DOG, heard))
    assert edits.heard_s(DOG, heard) <= sum(e.duration_s for e in heard if e.label in DOG) + 1e-9


def test_the_span_is_where_the_targets_are_heard_and_a_little_more() -> None:
    source, edited = [at("Dog", 1, 2), at("Siren", 4, 5)], [at("Meow", 1.5, 3), at("Dog", 8, 9)]
    assert edits.edited_span([CAT], [DOG], source, edited) == [(0.75, 3.25)]
    assert edits.edited_span([CAT], [], source, []) == []
    assert edits.outside(10, 0.5, [(0.75, 3.25)]) == [0, 7, 8, 9]
    assert edits.outside(4, 0.5, [(0.5, 1.0)]) == [0, 2, 3]


def test_levels_average_as_power_and_silence_has_none() -> None:
    assert edits.level_db([-10.0, None]) == pytest.approx(-13.0103, abs=1e-4)
    assert edits.level_db([None, None]) is None
    assert edits.level_change_db([-20.0, -20.0], [-14.0, -14.0]) == pytest.approx(6)
    assert edits.level_change_db([None], [None]) == 0.0
    assert edits.level_change_db([-20.0], [None]) is None


hearings = st.lists(st.tuples(verdicts, marks), min_size=1, max_size=4)


@given(hearings, hearings)
def test_an_exchange_is_symmetric_and_bounded(usual: list, exchanged: list) -> None:
    one, other = edits.exchange(usual, exchanged), edits.exchange(exchanged, usual)
    assert one.flips == pytest.approx(other.flips)
    assert one.difference == pytest.approx(other.difference)
    assert 0 <= one.flips <= 1
    assert 0 <= one.difference <= 4


@given(st.lists(st.tuples(verdicts, marks), min_size=2, max_size=5))
def test_an_exchange_that_changes_nothing_shows_what_repetition_shows(hearings: list) -> None:
    """Over all pairs of different hearings of one set, the two figures are one."""
    n = len(hearings)
    across = edits.exchange(hearings, hearings)  # holds the n pairs of a hearing with itself
    flips, apart = flip_rate([v for v, _ in hearings]), edits.difference_within([m for _, m in hearings])
    assert flips is not None
    assert apart is not None
    assert across.flips == pytest.approx(flips * (n - 1) / n)
    assert across.difference == pytest.approx(apart * (n - 1) / n)


def test_differences_of_marks_by_hand() -> None:
    one, other = dict.fromkeys(AXES, 5.0), dict(zip(AXES, (4.0, 3.0, 5.0, 5.0), strict=True))
    assert edits.marks_apart(one, other) == fmean((1, 2, 0, 0))
    assert edits.difference_within([one, one, other]) == pytest.approx(0.5)
    assert edits.difference_within([one]) is None
