"""The public evaluator's behaviour, each point a test of its own, on event lists of its frames of 0.5 s."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from earwitness.events import Event
from earwitness.scores import ritta
from earwitness.scores.frame_levels import FrameLevels
from earwitness.scores.relations import (
    SPATIAL,
    Expected,
    Judged,
    both,
    count,
    either,
    if_then_else,
    in_order,
    spatial,
    together,
    without,
)
from earwitness.scores.ritta_released import expected_labels, product_of_means
from earwitness.scores.ritta_rules import rules
from timelines import drawn

RELEASED = rules({"mode": "released"})
BEFORE, AFTER = in_order("before", "dog", "cat"), in_order("after", "cat", "dog")
TOGETHER, AND, NOT = together("dog", "cat"), both("dog", "cat"), without("dog")
EITHER, IF = either("dog", "cat", exclusive=True), if_then_else("dog", "cat", "bell")
CLOSE, FAR, EQUAL = spatial("dog", 1, 5), spatial("dog", 5, 1), spatial("dog", 2, 2)


def judge(expected: Expected, picture: str, levels: ritta.Levels | None = None) -> Judged:
    return ritta.judged(expected, drawn(picture), levels, RELEASED)[0]


def stages(found: Judged) -> tuple[float, float | None, float]:
    return found.presence, found.relation, found.parsimony


def loudness(first: float, second: float) -> FrameLevels:
    """Frames of ``dog ##..##``, the first event having ``first`` and the second ``second`` as L2 norm."""
    norms = [first, first, 0, 0, second, second]
    with np.errstate(divide="ignore"):
        return FrameLevels(0.5, 20 * np.log10(norms))


TWICE = "dog ##..##"


# ---- presence ----


def test_presence_is_one_for_dog_dog_where_dog_and_cat_are_asked() -> None:
    assert judge(AND, "dog ##.##").presence == 1.0


def test_presence_is_zero_for_dog_dog_cat_where_dog_and_cat_are_asked() -> None:
    assert stages(judge(AND, "dog ##.##.\ncat ....##")) == (0.0, 0.0, 0.0)


def test_labels_that_are_not_asked_do_not_touch_presence() -> None:
    found = judge(AND, "dog ##....\ncat ...##.\nhorn ######\nrain ######")
    assert (found.presence, found.relation) == (1.0, 1.0)
    assert found.parsimony == pytest.approx(math.exp(-0.2))


def test_presence_is_all_or_nothing() -> None:
    assert judge(AND, "dog ##").presence == 0.0


def test_without_any_event_all_stages_are_zero() -> None:
    for expected in (count(["dog", "cat"]), BEFORE, AFTER, TOGETHER, AND, EITHER, NOT, IF, CLOSE, FAR, EQUAL):
        assert stages(judge(expected, "")) == (0.0, 0.0, 0.0)


def test_without_presence_relation_and_parsimony_are_zero_too() -> None:
    assert stages(judge(BEFORE, "dog ##......##\ncat ....##....")) == (0.0, 0.0, 0.0)


# ---- what is detected ----


def test_events_of_one_frame_are_dropped_and_of_two_kept() -> None:
    assert judge(AND, "dog #...\ncat ..##").presence == 0.0
    assert judge(AND, "dog ##..\ncat ..##").presence == 1.0


def test_a_gap_of_one_frame_makes_two_events() -> None:
    assert judge(NOT, "dog ##.##").presence == 0.0  # two detections, one label
    assert judge(NOT, "dog #####").presence == 1.0


def test_five_thresholds_from_a_half_to_nine_tenths() -> None:
    assert RELEASED.thresholds == (0.5, 0.6, 0.7, 0.8, 0.9)
    found = ritta.judged(AND, drawn("dog 77..\ncat ..99"), None, RELEASED)
    assert [j.presence for j in found] == [1.0, 1.0, 1.0, 0.0, 0.0]


# ---- the list of expected labels ----


def test_the_expected_labels_of_every_relation() -> None:
    assert expected_labels(count(["dog", "cat", "bell"])) == ("dog", "cat", "bell")
    assert expected_labels(NOT) == ("dog",)
    assert expected_labels(EITHER) == ("dog", "cat")
    assert expected_labels(either("dog", "cat", exclusive=False)) == ("dog", "cat")
    assert expected_labels(IF) == ("dog", "cat", "bell")
    for expected in (CLOSE, FAR, EQUAL):
        assert expected_labels(expected) == ("dog", "dog")
    for expected in (BEFORE, TOGETHER, AND):
        assert expected_labels(expected) == ("dog", "cat")


def test_parsimony_compares_all_detections_with_the_expected_labels() -> None:
    assert judge(AND, "dog ##....\ncat ...##.").parsimony == 1.0
    assert judge(NOT, "dog ##....\nhorn ...##.\nrain ##.##.").parsimony == pytest.approx(math.exp(-0.3))


# ---- relations ----


@pytest.mark.parametrize(
    ("picture", "relation"),
    [
        ("dog ##....\ncat ..##..\nbell ....##", 1.0),
        ("dog ##....\ncat ..##..\nbell ....##\nhorn ##....", 0.0),  # no other class either
    ],
)
def test_count_wants_exactly_the_labels_and_nothing_else(picture: str, relation: float) -> None:
    assert judge(count(["dog", "cat", "bell"]), picture).relation == relation


def test_count_is_wrong_where_one_label_twice_passes_presence() -> None:
    assert stages(judge(count(["dog", "cat"]), "dog ##.##")) == (1.0, 0.0, 1.0)


def test_before_needs_an_empty_frame_between() -> None:
    assert judge(BEFORE, "dog ##...\ncat ...##").relation == 1.0


def test_before_fails_back_to_back() -> None:
    found = judge(BEFORE, "dog ##..\ncat ..##")
    assert (found.presence, found.relation, found.kind) == (1.0, 0.0, "overlapped")


def test_before_fails_the_other_way_round() -> None:
    assert judge(BEFORE, "dog ...##\ncat ##...").kind == "reversed"


def test_after_is_before_with_the_labels_exchanged() -> None:
    assert judge(AFTER, "dog ...##\ncat ##...").relation == 1.0
    assert judge(AFTER, "dog ..##\ncat ##..").relation == 0.0
    assert judge(AFTER, "dog ##...\ncat ...##").relation == 0.0


def test_together_counts_events_that_only_touch() -> None:
    assert judge(TOGETHER, "dog ##..\ncat ..##").relation == 1.0


def test_together_counts_any_overlap_whatever_the_onsets() -> None:
    assert judge(TOGETHER, "dog ########\ncat ......##").relation == 1.0
    assert judge(TOGETHER, "dog ##......\ncat .##.....").relation == 1.0


def test_together_fails_with_an_empty_frame_between() -> None:
    assert judge(TOGETHER, "dog ##...\ncat ...##").relation == 0.0


def sequences(labels: str, longest: int) -> Iterator[list[Event]]:
    """Every sequence of detections, one after the other with an empty frame between."""
    for length in range(longest + 1):
        for sequence in itertools.product(labels, repeat=length):
            yield [Event(label, 1.5 * at, 1.5 * at + 1.0) for at, label in enumerate(sequence)]


@pytest.mark.parametrize(
    "expected", [either("a", "b", exclusive=True), without("a"), if_then_else("a", "b", "c")]
)
def test_or_not_and_if_then_else_are_zero_for_every_detection(expected: Expected) -> None:
    best = max(ritta.judged(expected, heard, None, RELEASED)[0].msr or 0.0 for heard in sequences("abcd", 5))
    assert best == 0.0


def test_not_has_presence_where_the_sound_is_there_once_and_none_where_it_is_absent() -> None:
    assert stages(judge(NOT, "cat ##..")) == (0.0, 0.0, 0.0)
    assert stages(judge(NOT, "dog ##..")) == (1.0, 0.0, 1.0)


def test_relation_equals_presence_for_and() -> None:
    for heard in sequences("abcd", 4):
        found = ritta.judged(both("a", "b"), heard, None, RELEASED)[0]
        assert found.relation == found.presence


# ---- spatial ----


def spatial_relations(levels: FrameLevels, picture: str = TWICE) -> dict[str, float | None]:
    prompts = zip(SPATIAL, (CLOSE, FAR, EQUAL), strict=True)
    return {relation: judge(expected, picture, levels).relation for relation, expected in prompts}


def test_a_ratio_of_seven_tenths_is_closefirst_and_equaldist() -> None:
    assert spatial_relations(loudness(1.0, 0.7)) == {"closefirst": 1.0, "farfirst": 0.0, "equaldist": 1.0}


def test_duration_alone_decides_farfirst_and_equaldist() -> None:
    # 2 s, then 5 s at the same level
    levels = FrameLevels(0.5, [-20.0] * 4 + [-math.inf] * 2 + [-20.0] * 10)
    found = spatial_relations(levels, "dog ####..##########")
    assert found == {"closefirst": 0.0, "farfirst": 1.0, "equaldist": 1.0}


@pytest.mark.parametrize(
    ("first", "second", "closefirst", "farfirst", "equaldist"),
    [
        (1.0, 0.81, 0.0, 0.0, 1.0),
        (1.0, 0.79, 1.0, 0.0, 1.0),  # 20 % of the first: -1.94 dB ...
        (1.0, 1.19, 0.0, 0.0, 1.0),
        (1.0, 1.21, 0.0, 1.0, 1.0),  # ... and +1.58 dB, not the same boundary
        (1.0, 0.61, 1.0, 0.0, 1.0),
        (1.0, 0.59, 1.0, 0.0, 0.0),  # 40 % of the louder: 4.4 dB
        (0.59, 1.0, 0.0, 1.0, 0.0),
        (1.0, 1.0, 0.0, 0.0, 1.0),
    ],
)
def test_the_spatial_boundaries_overlap_and_are_not_symmetric(
    first: float, second: float, closefirst: float, farfirst: float, equaldist: float
) -> None:
    found = spatial_relations(loudness(first, second))
    assert tuple(found.values()) == (closefirst, farfirst, equaldist)


def test_whatever_else_sounds_adds_to_the_loudness() -> None:
    frames = FrameLevels(0.5, [-20.0, -20.0, -60.0, -60.0, -10.0, -10.0])  # the second under a horn
    found = judge(FAR, "dog ##..##\nhorn ....##", frames)
    assert found.relation == 1.0
    assert found.parsimony == pytest.approx(math.exp(-0.1))


def test_spatial_needs_exactly_two_detections_of_the_class() -> None:
    flat = FrameLevels(0.5, [-20.0] * 9)
    assert judge(EQUAL, "dog ##", flat).presence == 0.0
    assert judge(EQUAL, "dog ##.##.##", flat).presence == 0.0
    assert judge(EQUAL, "dog ##.##", flat).relation == 1.0


# ---- off the grid, and averages ----


def test_off_the_grid_an_empty_frame_is_half_a_second() -> None:
    def order(onset_s: float) -> tuple[float | None, float | None]:
        heard = [Event("dog", 0.3, 1.4), Event("cat", onset_s, 4.0)]
        before, near = (ritta.judged(e, heard, None, RELEASED)[0].relation for e in (BEFORE, TOGETHER))
        return before, near

    assert order(1.89) == (0.0, 1.0)
    assert order(1.9) == (1.0, 0.0)


def test_amsr_is_the_product_of_means_averaged_over_thresholds() -> None:
    presence = [[1.0, 0.0], [1.0, 1.0]]
    relation = [[1.0, 0.0], [0.0, 1.0]]
    parsimony = [[0.8, 0.0], [0.6, 0.5]]
    # first threshold: 1 x 0.5 x 0.7, second: 0.5 x 0.5 x 0.25
    assert product_of_means(presence, relation, parsimony) == pytest.approx((0.35 + 0.0625) / 2)


def test_published_table_5_agrees_with_the_product_of_means() -> None:
    # AudioLDM 2 and Tango 2: mAPre, mARel, mAPar in 1e-2, mAMSR in 1e-4; products of clips would be far above
    for parts, published in (((12.26, 2.41, 10.01), 3.39), ((16.63, 4.40, 12.53), 11.55)):
        ours = product_of_means(*([[part / 100]] for part in parts)) * 1e4
        assert ours == pytest.approx(published, rel=0.25)
        assert ours < published  # the mean over thresholds of products, not the product of these means


@pytest.mark.parametrize(
    "presence", [[[1.0, 1.0]], [[1.0], [math.nan]], [1.0, 1.0], np.empty((0, 2)), np.empty((2, 0))]
)
def test_product_of_means_refuses_what_is_no_table_of_numbers(presence: object) -> None:
    with pytest.raises(ValueError, match=r"one shape|no place"):
        product_of_means(presence, [[1.0], [1.0]], [[1.0], [1.0]])  # type: ignore[arg-type]
