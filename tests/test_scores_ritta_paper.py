"""Relations as RiTTA's paper words them: equations 1 to 5, and the readings where it is silent."""

import math

import numpy as np
import pytest

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
from earwitness.scores.ritta_rules import rules
from timelines import drawn

PAPER = rules({"mode": "paper"})
BEFORE, TOGETHER = in_order("before", "dog", "cat"), together("dog", "cat")
AND, NOT, IF = both("dog", "cat"), without("dog"), if_then_else("dog", "cat", "bell")
COUNT = count(["dog", "cat", "bell"])
CLOSE, FAR, EQUAL = spatial("dog", 1, 5), spatial("dog", 5, 1), spatial("dog", 2, 2)


def judge(expected: Expected, picture: str, levels: ritta.Levels | None = None) -> Judged:
    return ritta.judged(expected, drawn(picture), levels, PAPER)[0]


def test_settings_are_the_papers() -> None:
    assert PAPER.thresholds == (0.5, 0.6, 0.7, 0.8)
    assert (PAPER.min_event_s, PAPER.merge_gap_s) == (0.5, None)


def test_presence_is_the_share_of_expected_events_whatever_their_number() -> None:  # equation 1
    assert judge(COUNT, "dog ##.##.##\ncat ##......").presence == pytest.approx(2 / 3)
    assert judge(count(["dog", "dog", "cat"]), "dog ##").presence == pytest.approx(2 / 3)
    assert judge(COUNT, "").presence == 0.0


@pytest.mark.parametrize(
    ("expected", "picture", "relation", "kind"),
    [
        # a subset that meets the relation is enough
        (COUNT, "dog ##.##.\ncat ..##..\nbell ....##\nhorn ##....", 1.0, ""),
        (COUNT, "dog ##.##.\ncat ..##..", 0.0, "missing"),
        (count(["dog", "dog"]), "dog ##", 0.0, "miscounted"),
        (BEFORE, "dog ##......\ncat ..##....", 1.0, ""),  # back to back
        (BEFORE, "dog ##....##\ncat ...##...", 1.0, ""),
        (BEFORE, "dog ...##...\ncat ##....##", 1.0, ""),
        (BEFORE, "dog ....##..\ncat ##......", 0.0, "reversed"),
        (BEFORE, "dog ####....\ncat ...##...", 0.0, "overlapped"),
        (BEFORE, "dog ####....", 0.0, "missing"),
        (TOGETHER, "dog ####....\ncat ...####.", 1.0, ""),  # any overlap
        (TOGETHER, "dog ####....\ncat ....####", 0.0, "apart"),
        (AND, "dog ##..\ncat ..##\nhorn ####", 1.0, ""),
        (AND, "dog ##..", 0.0, "missing"),
        (NOT, "cat ##..", 1.0, ""),
        (NOT, "", 1.0, ""),
        (NOT, "dog ##..", 0.0, "unwanted"),
        (IF, "dog ##..\ncat ..##", 1.0, ""),
        (IF, "bell ##..", 1.0, ""),
        (IF, "dog ##..\ncat ..##\nbell ####", 0.0, "unwanted"),
        (IF, "dog ##..", 0.0, "missing"),
    ],
)
def test_relation(expected: Expected, picture: str, relation: float, kind: str) -> None:  # equation 2
    found = judge(expected, picture)
    assert (found.relation, found.kind) == (relation, kind)


@pytest.mark.parametrize("exclusive", [True, False])
def test_or_is_exclusive_whatever_the_prompt_says(exclusive: bool) -> None:
    expected = either("dog", "cat", exclusive=exclusive)
    assert judge(expected, "dog ##..").msr == 1.0
    assert judge(expected, "dog ##..\ncat ..##").kind == "unwanted"


def test_parsimony_counts_every_event_for_not_and_in_silence_too() -> None:  # equation 3
    assert judge(BEFORE, "dog ##..##\ncat ..##..\nhorn ##..##").parsimony == pytest.approx(math.exp(-0.3))
    assert judge(NOT, "cat ##.##").parsimony == pytest.approx(math.exp(-0.2))
    assert judge(BEFORE, "").parsimony == pytest.approx(math.exp(-0.2))
    assert judge(NOT, "").parsimony == 1.0


def test_msr_is_the_product_of_the_three_stages() -> None:  # equation 4
    found = judge(BEFORE, "dog ##..##\ncat ..##..")
    assert found.msr == pytest.approx(1.0 * 1.0 * math.exp(-0.1))


def test_events_shorter_than_half_a_second_are_dropped_and_nothing_is_merged() -> None:
    found = ritta.judged(without("dog"), drawn("dog ####.####", frame_s=0.1), None, PAPER)[0]
    assert found.relation == 1.0  # twice 0.4 s: merged they would be 0.9 s
    assert ritta.judged(without("dog"), drawn("dog #####", frame_s=0.1), None, PAPER)[0].relation == 0.0


@pytest.mark.parametrize(
    ("first", "second", "closefirst", "farfirst", "equaldist"),
    [
        (1.0, 1.0, 0.0, 0.0, 1.0),
        (1.0, 0.81, 0.0, 0.0, 1.0),
        (1.0, 0.79, 1.0, 0.0, 1.0),
        (0.81, 1.0, 0.0, 0.0, 1.0),
        (0.79, 1.0, 0.0, 1.0, 1.0),  # the mirror of close first
        (1.0, 0.61, 1.0, 0.0, 1.0),
        (1.0, 0.59, 1.0, 0.0, 0.0),
        (0.59, 1.0, 0.0, 1.0, 0.0),
    ],
)
def test_spatial_relations_go_by_the_l2_norm(
    first: float, second: float, closefirst: float, farfirst: float, equaldist: float
) -> None:
    levels = FrameLevels(0.5, 20 * np.log10([first, first, 1e-6, second, second]))
    found = [judge(expected, "dog ##.##", levels) for expected in (CLOSE, FAR, EQUAL)]
    assert [j.relation for j in found] == [closefirst, farfirst, equaldist]
    assert [j.kind for j in found] == ["" if j.relation else "level" for j in found]
    for j in found:
        assert j.level_difference_db == pytest.approx(20 * math.log10(first / second))


def test_some_pair_in_a_spatial_relation_is_enough() -> None:
    levels = FrameLevels(0.5, [-20.0, -20.0, -80.0, -20.0, -20.0, -80.0, -40.0, -40.0])
    for expected in (CLOSE, EQUAL):
        assert judge(expected, "dog ##.##.##", levels).relation == 1.0
    assert judge(FAR, "dog ##.##.##", levels).relation == 0.0


def test_a_spatial_relation_needs_two_events_that_do_not_overlap_and_a_level() -> None:
    flat = FrameLevels(0.5, [-20.0] * 8)
    assert judge(EQUAL, "dog ##", flat).kind == "missing"
    assert judge(EQUAL, "dog ####....\ndog ..####..", flat).kind == "overlapped"
    for expected in (CLOSE, FAR, EQUAL):
        assert judge(expected, "dog ##.##").relation is None
        assert judge(expected, "dog ##.##", FrameLevels(0.5, [-math.inf] * 8)).relation is None


RIGHT = [
    (COUNT, "dog ####....\ncat ..####..\nbell .....##."),
    (BEFORE, "dog ####....\ncat .....###"),
    (in_order("after", "dog", "cat"), "dog ####....\ncat .....###"),
    (TOGETHER, "dog .######.\ncat ..###..."),
    (CLOSE, "dog .##..##."),
    (FAR, "dog .##..##."),
    (EQUAL, "dog .##..##."),
    (AND, "dog ####....\ncat ..###..."),
    (either("dog", "cat", exclusive=False), "cat ..###..."),
    (IF, "dog .####...\ncat ...####."),
]


@pytest.mark.parametrize(("expected", "picture"), RIGHT)
def test_the_true_events_of_a_right_scene_score_one_but_for_not(expected: Expected, picture: str) -> None:
    levels = None
    if expected.relation in SPATIAL:
        near, far = expected.distances_m or (1.0, 1.0)
        frames = [-90.0] + [-20 * math.log10(near)] * 2 + [-90.0] * 2 + [-20 * math.log10(far)] * 2 + [-90.0]
        levels = FrameLevels(0.5, frames)
    assert judge(expected, picture, levels).msr == pytest.approx(1.0)


def test_a_right_clip_for_not_pays_for_its_other_sound() -> None:
    assert judge(NOT, "cat ..###...").msr == pytest.approx(math.exp(-0.1))
