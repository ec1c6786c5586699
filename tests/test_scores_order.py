"""Order from onsets and from replies: the decision rules of the order task."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.events import Event
from earwitness.scores.order import (
    first_onsets,
    lenient_onsets,
    order_of_onsets,
    order_of_replies,
    over_repeats,
)

AB = ((0, 1),)
DOG, CAT = frozenset({"Dog", "Bark"}), frozenset({"Cat", "Meow"})
WIDE = [DOG | {"Animal"}, CAT | {"Animal"}]


def test_order_kept_is_right_and_its_reversal_wrong() -> None:
    # dog  ###......
    # cat  .....###.
    order = order_of_onsets((0.5, 3.0), AB, 0.2)
    assert (order.match, order.alignment, order.kind) == (1.0, 1.0, "")
    assert (order.match_reversed, order.alignment_reversed) == (0.5, 0.0)


def test_kinds_of_error_are_told_apart() -> None:
    assert order_of_onsets((3.0, 0.5), AB, 0.2).kind == "reversed"
    assert order_of_onsets((0.5, None), AB, 0.2).kind == "missing"
    assert order_of_onsets((0.5, 0.6), AB, 0.2).kind == "overlapped"
    assert order_of_onsets((0.5, None), AB, 0.2).match == 0.0
    assert order_of_onsets((0.5, 0.6), AB, 0.2).match == 0.5


def test_onsets_exactly_at_the_resolution_are_in_order() -> None:
    assert order_of_onsets((0.1, 0.1 + 0.2), AB, 0.2).match == 1.0  # 0.30000000000000004 - 0.1 < 0.2


def test_three_events_need_every_precedence() -> None:
    chain = ((0, 1), (1, 2))
    assert order_of_onsets((0, 1, 2), chain, 0.2).match == 1.0
    half = order_of_onsets((0, 2, 1), chain, 0.2)
    assert (half.match, half.alignment, half.alignment_reversed, half.kind) == (0.5, 0.5, 0.5, "reversed")


def test_no_precedence_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one stated precedence"):
        order_of_onsets((0, 1), (), 0.2)


def test_a_phrase_begins_with_its_first_event_under_any_of_its_labels() -> None:
    events = [Event("Bark", 2, 3, 0.9), Event("Dog", 1, 3, 0.5), Event("Meow", 4, 5, 0.8)]
    assert first_onsets([DOG, CAT], events) == (1, 4)
    assert first_onsets([DOG, frozenset({"Siren"})], events) == (1, None)


def test_an_ancestor_counts_only_in_the_lenient_reading_and_never_as_either() -> None:
    one = [Event("Animal", 1, 2, 0.9), Event("Meow", 4, 5, 0.9)]
    assert first_onsets([DOG, CAT], one) == (None, 4)
    assert lenient_onsets([DOG, CAT], WIDE, one) == (1, 4)
    alone = [Event("Animal", 1, 2, 0.9)]
    assert lenient_onsets([DOG, CAT], WIDE, alone) == (None, None)  # it could be either: it serves none
    twice = [Event("Animal", 0, 1, 0.9), Event("Animal", 3, 4, 0.9)]
    assert lenient_onsets([DOG, CAT], WIDE, twice) == (None, None)  # else every order would be right


def test_an_ancestor_beside_the_other_sound_is_that_sound() -> None:
    # The cat itself is heard as Animal too: no dog is there.
    events = [Event("Animal", 3.9, 5.1, 0.9), Event("Meow", 4, 5, 0.9)]
    assert lenient_onsets([DOG, CAT], WIDE, events) == (None, 4)


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 10)), min_size=2, max_size=5),
    st.floats(0.01, 1),
)
def test_scores_are_bounded_and_never_right_both_ways(onsets: list[float | None], resolution: float) -> None:
    chain = tuple((i, i + 1) for i in range(len(onsets) - 1))
    order = order_of_onsets(onsets, chain, resolution)
    assert order.match in (0.0, 0.5, 1.0)
    assert 0 <= order.alignment + order.alignment_reversed <= 1
    assert not (order.match == 1.0 and order.match_reversed == 1.0)
    mirrored = order_of_onsets(onsets, tuple((j, i) for i, j in chain), resolution)
    assert (mirrored.match, mirrored.alignment) == (order.match_reversed, order.alignment_reversed)


def test_a_constant_judge_never_scores() -> None:
    # Full marks whatever it is asked: alignment ties with the reversal's, so TOA is 0.
    item = over_repeats([order_of_replies(1.0, 5, 1.0, 5)] * 3)
    assert not item.correct
    assert item.kind == "unclear"


def test_half_marks_are_not_order() -> None:
    assert not over_repeats([order_of_replies(0.5, 5, 0.5, 3)]).correct
    assert over_repeats([order_of_replies(0.5, 3, 1.0, 5)]).kind == "reversed"
    assert over_repeats([order_of_replies(0.0, 1, 0.0, 1)]).kind == "missing"
    assert over_repeats([order_of_replies(None, 5, None, 3)]).kind == "unclear"


def test_a_majority_must_be_strict() -> None:
    right, wrong = order_of_replies(1.0, 5, 0.5, 2), order_of_replies(0.5, 3, 1.0, 4)
    assert over_repeats([right, right, wrong]).correct
    missing = order_of_replies(0.0, 1, 0.0, 1)
    assert over_repeats([right, right, missing]).all_heard  # what counts as right was heard
    assert not over_repeats([right, wrong]).correct
    assert over_repeats([right, wrong]).match == 0.75


def test_nothing_scored_is_not_a_wrong_answer() -> None:
    with pytest.raises(ValueError, match="unheard"):
        over_repeats([])
