"""Relations by the default definitions: truth tables, one picture a case, and what must hold of any clip."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from earwitness.errors import UserError
from earwitness.events import Event
from earwitness.scores import ritta
from earwitness.scores.frame_levels import FrameLevels, TrueLevels
from earwitness.scores.relations import (
    RELATIONS,
    SPATIAL,
    Alternative,
    Expected,
    Judged,
    both,
    count,
    either,
    from_json,
    if_then_else,
    in_order,
    spatial,
    together,
    without,
)
from earwitness.scores.ritta_rules import MODES, Rules, confident, counted, rules
from timelines import drawn

DEFAULT = rules({})
BEFORE = in_order("before", "dog", "cat")
METRES = {"closefirst": (1.0, 5.0), "farfirst": (5.0, 1.0), "equaldist": (2.0, 2.0)}


def judge(expected: Expected, picture: str, levels: ritta.Levels | None = None, **scoring: str) -> Judged:
    """The judgement at the lowest threshold."""
    return ritta.judged(expected, drawn(picture), levels, rules(scoring))[0]


def spatially(relation: str) -> Expected:
    return spatial("dog", *METRES[relation])


# Each case: rule, picture, relation, kind. The prompt: a dog, then a cat.
ORDER = [
    ("extent", "dog ##......\ncat ....##..", 1.0, ""),
    ("extent", "dog ....##..\ncat ##......", 0.0, "reversed"),
    ("extent", "dog ##......", 0.0, "missing"),
    ("extent", "cat ##......", 0.0, "missing"),
    ("extent", "dog ##......\ncat ..##....", 1.0, ""),  # back to back
    ("extent", "dog ####....\ncat ...####.", 1.0, ""),  # a quarter of the shorter overlaps
    ("extent", "dog ####....\ncat ..####..", 0.0, "overlapped"),  # half of it
    ("extent", "dog ########\ncat .....##.", 0.0, "overlapped"),  # all of it
    ("extent", "dog ##......\ncat ##......", 0.0, "overlapped"),
    ("extent", "dog ##....##\ncat ...##...", 0.0, "overlapped"),  # the dog's extent holds the cat
    ("extent", "dog ...##...\ncat ##....##", 0.0, "overlapped"),
    ("extent", "dog ##.##...\ncat .....##.", 1.0, ""),
    ("any-pair", "dog ##......\ncat ....##..", 1.0, ""),
    ("any-pair", "dog ##....##\ncat ...##...", 1.0, ""),
    ("any-pair", "dog ...##...\ncat ##....##", 1.0, ""),
    ("any-pair", "dog ....##..\ncat ##......", 0.0, "reversed"),
    ("any-pair", "dog ####....\ncat ...####.", 0.0, "overlapped"),
    ("any-pair", "dog ##......\ncat ..##....", 1.0, ""),
    ("onset", "dog ########\ncat .....##.", 1.0, ""),
    ("onset", "dog ....##..\ncat ##....##", 0.0, "reversed"),
    ("onset", "dog ##......\ncat ##......", 0.0, "overlapped"),
]


@pytest.mark.parametrize(("rule", "picture", "relation", "kind"), ORDER)
def test_order(rule: str, picture: str, relation: float, kind: str) -> None:
    found = judge(BEFORE, picture, order_rule=rule)
    assert (found.relation, found.kind) == (relation, kind)
    assert judge(in_order("after", "dog", "cat"), picture, order_rule=rule).relation == relation


def test_onsets_closer_than_the_tolerance_are_no_order_and_those_at_it_are() -> None:
    def at(onset_s: float) -> Judged:
        events = [Event("dog", 1.0, 1.15), Event("cat", onset_s, 3.0)]
        return ritta.judged(BEFORE, events, None, DEFAULT)[0]

    assert at(1.09).kind == "overlapped"
    assert at(1.1).relation == 1.0


def test_any_pair_needs_the_tolerance_between_onsets_too() -> None:
    heard = [Event("dog", 1.0, 1.15), Event("cat", 1.05, 1.2)]  # ends soon enough, begins too close
    found = ritta.judged(BEFORE, heard, None, rules({"order_rule": "any-pair"}))[0]
    assert found.kind == "overlapped"


TOGETHER = [
    ("dog ####\ncat ####", 1.0, ""),
    ("dog ####....\ncat ..####..", 1.0, ""),  # exactly half of the shorter
    ("dog ########\ncat ....#...", 1.0, ""),
    ("dog ####....\ncat ...####.", 0.0, "apart"),
    ("dog ####....\ncat ....####", 0.0, "apart"),  # touching
    ("dog ##......\ncat ....####", 0.0, "apart"),
    ("dog ##....##\ncat .....###", 1.0, ""),  # the best pair counts
    ("dog ####....", 0.0, "missing"),
]


@pytest.mark.parametrize(("picture", "relation", "kind"), TOGETHER)
def test_together(picture: str, relation: float, kind: str) -> None:
    found = judge(together("dog", "cat"), picture)
    assert (found.relation, found.kind) == (relation, kind)


# The prompt: a dog, a cat and a bell. Then: counting, relation, kind, missing, extra, count error, bias.
COUNT = [
    ("dog ##......\ncat ...##...\nbell ....##..", "instances", 1.0, "", 0, 0, 0.0, 0.0),
    ("dog ##...##.\ncat ...##...\nbell ....##..", "instances", 0.0, "miscounted", 0, 1, 1 / 3, 1 / 3),
    ("dog ##...##.\ncat ...##...", "instances", 0.0, "missing", 1, 1, 2 / 3, 0.0),
    ("dog ##......\ncat ...##...\nbell ....##..\nhorn ##.....", "instances", 1.0, "", 0, 1, 0.0, 0.0),
    ("dog ##...##.\ncat ...##...\nbell ....##..", "tracks", 1.0, "", 0, 0, 0.0, 0.0),
    ("dog ##...##.\ncat ...##...", "tracks", 0.0, "missing", 1, 0, 1 / 3, -1 / 3),
]


@pytest.mark.parametrize(
    ("picture", "counting", "relation", "kind", "missing", "extra", "error", "bias"), COUNT
)
def test_count(
    picture: str,
    counting: str,
    relation: float,
    kind: str,
    missing: int,
    extra: int,
    error: float,
    bias: float,
) -> None:
    found = judge(count(["dog", "cat", "bell"]), picture, counting=counting)
    assert (found.relation, found.kind, found.missing, found.extra) == (relation, kind, missing, extra)
    assert (found.count_error, found.count_bias) == pytest.approx((error, bias))


def test_the_count_of_a_forbidden_sound_is_expected_to_be_zero() -> None:
    found = judge(without("dog"), "dog ##..##\ncat ..##..")
    assert (found.count_error, found.count_bias, found.extra, found.missing) == (2.0, 2.0, 2, 0)


# What is heard -> presence, relation, kind of every prompt about it. D: dog, C: cat, B: bell, each once.
HEARD = {
    "": "",
    "D": "dog ##",
    "C": "cat ##",
    "B": "bell ##",
    "DC": "dog ##..\ncat ..##",
    "DB": "dog ##..\nbell ..##",
    "CB": "cat ##..\nbell ..##",
    "DCB": "dog ##....\ncat ..##..\nbell ....##",
}
AND, NOT = both("dog", "cat"), without("dog")
EXCLUSIVE, INCLUSIVE = (either("dog", "cat", exclusive=one) for one in (True, False))
IF = if_then_else("dog", "cat", "bell")
LOGIC = [
    (AND, "", 0.0, 0.0, "missing"),
    (AND, "D", 0.5, 0.0, "missing"),
    (AND, "DB", 0.5, 0.0, "missing"),
    (AND, "DC", 1.0, 1.0, ""),
    (AND, "DCB", 1.0, 1.0, ""),
    (EXCLUSIVE, "", 0.0, 0.0, "missing"),
    (EXCLUSIVE, "D", 1.0, 1.0, ""),
    (EXCLUSIVE, "C", 1.0, 1.0, ""),
    (EXCLUSIVE, "B", 0.0, 0.0, "missing"),
    (EXCLUSIVE, "DC", 1.0, 0.0, "unwanted"),
    (INCLUSIVE, "", 0.0, 0.0, "missing"),
    (INCLUSIVE, "C", 1.0, 1.0, ""),
    (INCLUSIVE, "DC", 1.0, 1.0, ""),
    (INCLUSIVE, "B", 0.0, 0.0, "missing"),
    (NOT, "", 1.0, 1.0, ""),
    (NOT, "C", 1.0, 1.0, ""),
    (NOT, "D", 0.0, 0.0, "unwanted"),
    (NOT, "DC", 0.0, 0.0, "unwanted"),
    (IF, "", 0.0, 0.0, "missing"),
    (IF, "D", 0.5, 0.0, "missing"),
    (IF, "C", 0.5, 0.0, "missing"),
    (IF, "B", 1.0, 1.0, ""),
    (IF, "DC", 1.0, 1.0, ""),
    (IF, "DB", 1.0, 0.0, "unwanted"),
    (IF, "CB", 1.0, 0.0, "unwanted"),
    (IF, "DCB", 1.0, 0.0, "unwanted"),
]


@pytest.mark.parametrize(("expected", "heard", "presence", "relation", "kind"), LOGIC)
def test_logic(expected: Expected, heard: str, presence: float, relation: float, kind: str) -> None:
    found = judge(expected, HEARD[heard])
    assert (found.presence, found.relation, found.kind) == (presence, relation, kind)


# Prompt -> heard -> number of events counted, number expected of the alternative met best.
PARSIMONY = [
    (BEFORE, "dog ##..\ncat ..##", 0),
    (BEFORE, "dog ##..##\ncat ..##..", 1),
    (BEFORE, "dog ##", 1),
    (BEFORE, "horn ##...##", 0),  # two events, though neither was asked for: presence says so
    (BEFORE, "dog ##..##\ncat ..##..\nhorn ##..##", 3),
    (INCLUSIVE, "dog ##..\ncat ..##", 0),
    (INCLUSIVE, "dog ##", 0),
    (IF, "bell ##", 0),
    (IF, "bell ##..##", 1),
    (NOT, "cat ##...##\nhorn ###", 0),  # any other sound is fine
    (NOT, "dog ##..##\ncat ..##..", 2),
    (NOT, "", 0),
]


@pytest.mark.parametrize(("expected", "picture", "off"), PARSIMONY)
def test_parsimony(expected: Expected, picture: str, off: int) -> None:
    assert judge(expected, picture).parsimony == pytest.approx(math.exp(-0.1 * off))


def test_silence_meets_only_not_and_is_not_parsimonious_elsewhere() -> None:
    prompts = [BEFORE, in_order("after", "dog", "cat"), together("dog", "cat"), count(["dog", "cat"]), AND]
    prompts += [EXCLUSIVE, INCLUSIVE, IF, *map(spatially, SPATIAL)]
    for expected in prompts:
        silent = judge(expected, "")
        assert (silent.presence, silent.relation, silent.parsimony, silent.msr) == (0.0, 0.0, 0.0, 0.0)
    silent = judge(NOT, "")
    assert (silent.presence, silent.relation, silent.parsimony, silent.msr) == (1.0, 1.0, 1.0, 1.0)


# ---- spatial ----


def levels_of(picture: str, *levels_db: float) -> TrueLevels:
    """True levels of a picture's events in order of onset."""
    ordered = sorted(drawn(picture), key=lambda e: e.onset_s)
    return TrueLevels({(e.label, e.onset_s): db for e, db in zip(ordered, levels_db, strict=True)})


TWICE = "dog ##....##"
ZONES = [
    (12.0, "closefirst"),
    (3.0, "closefirst"),
    (2.999, "equaldist"),
    (0.0, "equaldist"),
    (-2.999, "equaldist"),
    (-3.0, "farfirst"),
    (-12.0, "farfirst"),
]


@pytest.mark.parametrize(("difference_db", "met"), ZONES)
def test_a_difference_in_level_means_one_spatial_relation(difference_db: float, met: str) -> None:
    levels = levels_of(TWICE, -20.0 + difference_db, -20.0)
    for relation in SPATIAL:
        found = judge(spatially(relation), TWICE, levels)
        assert found.relation == (relation == met)
        assert found.kind == ("" if relation == met else "level")
        assert found.level_difference_db == pytest.approx(difference_db)


def test_duration_does_not_make_a_sound_louder() -> None:
    picture = "dog ####......##########"
    levels = FrameLevels(0.5, [-20.0] * 4 + [-math.inf] * 6 + [-20.0] * 10)
    assert judge(spatially("equaldist"), picture, levels).relation == 1.0
    assert judge(spatially("farfirst"), picture, levels).relation == 0.0


def test_a_spatial_prompt_needs_two_sounds() -> None:
    levels = levels_of("dog ##", -20.0)
    once = judge(spatially("equaldist"), "dog ##", levels)
    assert (once.presence, once.relation, once.kind, once.missing) == (1.0, 0.0, "missing", 1)
    assert judge(spatially("equaldist"), "cat ##", levels).kind == "missing"
    itself = judge(spatially("equaldist"), "dog ####....\ndog ..####..", levels)
    assert (itself.relation, itself.kind) == (0.0, "overlapped")


def test_the_two_sounds_are_split_at_the_longest_pause() -> None:
    # Two loud barks, a long pause, two soft ones: the dog comes close first, though the first two are alike.
    picture = "dog ##..##........##..##"
    loud, soft, none = [-20.0] * 2, [-30.0] * 2, [-math.inf] * 2
    frames = loud + none + loud + none * 4 + soft + none + soft
    found = judge(spatially("closefirst"), picture, FrameLevels(0.5, frames))
    assert (found.relation, found.extra) == (1.0, 2)
    assert found.level_difference_db == pytest.approx(10.0)


def test_levels_under_another_sound_are_not_measurable() -> None:
    frames = [-20.0] * 2 + [-math.inf] * 4 + [-20.0] * 2
    covered = judge(spatially("closefirst"), "dog ##....##\nhorn ##......", FrameLevels(0.5, frames))
    assert (covered.presence, covered.relation, covered.kind, covered.msr) == (1.0, None, "", None)
    assert "beside other sounds" in covered.detail
    half = judge(spatially("equaldist"), "dog ##....##\nhorn .#......", FrameLevels(0.5, frames))
    assert half.relation == 1.0


def test_the_second_sound_too_must_be_free_of_others() -> None:
    frames = [-20.0] * 2 + [-math.inf] * 4 + [-20.0] * 2
    covered = judge(spatially("equaldist"), "dog ##....##\nhorn ......##", FrameLevels(0.5, frames))
    assert covered.relation is None


def test_neither_sound_is_background_to_the_other() -> None:
    # The floor is above the far sound for a moment: a listener may hear less than there is.
    frames = [-10.0] * 2 + [-25.0] * 2 + [-30.0] * 2 + [-40.0] * 4
    found = judge(spatially("closefirst"), "dog ##..##", FrameLevels(0.5, frames))
    floor_of_near, floor_of_far = 10**-2.5, 10**-4.0
    expected = 10 * math.log10((10**-1.0 - floor_of_near) / (10**-3.0 - floor_of_far))
    assert found.level_difference_db == pytest.approx(expected)


def test_spatial_relations_count_instances_even_with_tracks() -> None:
    found = judge(spatially("equaldist"), TWICE, levels_of(TWICE, -20.0, -20.0), counting="tracks")
    assert (found.msr, found.missing, found.extra) == (1.0, 0, 0)
    once = judge(spatially("equaldist"), "dog ##", counting="tracks")
    assert once.missing == 1
    assert once.parsimony == pytest.approx(math.exp(-0.1))


def test_a_listener_without_levels_measures_no_spatial_relation() -> None:
    found = judge(spatially("closefirst"), TWICE)
    assert (found.presence, found.relation, found.parsimony) == (1.0, None, 1.0)
    assert "measures no level" in found.detail
    assert judge(spatially("closefirst"), "").relation == 0.0


# ---- what counts as heard ----


def test_every_threshold_of_the_rules_is_judged() -> None:
    # dog 0.5, cat 0.7; the rooster states no confidence and passes everywhere
    found = ritta.judged(
        count(["dog", "cat", "rooster"]), drawn("dog 55..\ncat ..77\nrooster ##"), None, DEFAULT
    )
    assert DEFAULT.thresholds == (0.5, 0.6, 0.7, 0.8)
    assert [j.relation for j in found] == [1.0, 0.0, 0.0, 0.0]
    assert [j.presence for j in found] == pytest.approx([1.0, 2 / 3, 2 / 3, 1 / 3])


def test_close_events_are_merged_before_short_ones_are_dropped() -> None:
    # Four barks of 0.06 s, 0.1 s apart: each too short to count, together one bark.
    barks = [Event("dog", 0.16 * i, 0.16 * i + 0.06, 0.9) for i in range(4)]
    cat = Event("cat", 3.0, 4.0)
    assert ritta.judged(BEFORE, [*barks, cat], None, DEFAULT)[0].msr == 1.0
    assert ritta.judged(BEFORE, [barks[0], cat], None, DEFAULT)[0].kind == "missing"


def test_events_under_the_threshold_do_not_bridge_a_pause() -> None:
    # At 0.5 one long dog overlaps the cat; from 0.6 on only its first part is heard.
    events = drawn("dog ##5555..\ncat ...##...")
    found = ritta.judged(BEFORE, events, None, DEFAULT)
    assert [j.kind for j in found] == ["overlapped", "", "", ""]


def test_half_a_second_is_merged_and_more_is_not() -> None:
    assert judge(count(["dog"]), "dog ##.##").relation == 1.0
    assert judge(count(["dog"]), "dog ##..##").kind == "miscounted"


# ---- the truth of a right scene ----

RIGHT = {
    "count": (count(["dog", "cat", "bell"]), "dog ####....\ncat ..####..\nbell .....##."),
    "before": (BEFORE, "dog ####....\ncat .....###"),
    "after": (in_order("after", "dog", "cat"), "dog ####....\ncat .....###"),
    "together": (together("dog", "cat"), "dog .######.\ncat ..###..."),
    "closefirst": (spatially("closefirst"), "dog .##..##."),
    "farfirst": (spatially("farfirst"), "dog .##..##."),
    "equaldist": (spatially("equaldist"), "dog .##..##."),
    "and": (AND, "dog ####....\ncat ..###..."),
    "or": (INCLUSIVE, "cat ..###..."),
    "not": (NOT, "cat ..###..."),
    "if_then_else": (IF, "dog .####...\ncat ...####."),
}


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_true_events_of_a_right_scene_score_one(relation: str) -> None:
    expected, picture = RIGHT[relation]
    assert expected.relation == relation
    levels = None
    if relation in SPATIAL:
        near, far = METRES[relation]
        levels = levels_of(picture, -20 * math.log10(near), -20 * math.log10(far))
    for found in ritta.judged(expected, drawn(picture), levels, DEFAULT):
        assert (found.presence, found.relation, found.parsimony, found.msr) == (1.0, 1.0, 1.0, 1.0)
        assert (found.kind, found.missing, found.extra, found.count_error) == ("", 0, 0, 0.0)


# ---- what must hold of any clip ----

PROMPTS = [
    BEFORE,
    in_order("after", "cat", "dog"),
    together("dog", "cat"),
    count(["dog", "cat", "bell"]),
    AND,
    EXCLUSIVE,
    INCLUSIVE,
    NOT,
    IF,
    *map(spatially, SPATIAL),
]


class LevelsByTime:
    """Some level for any event, the same however the clip is shifted or its events are listed."""

    def level_db(self, event: Event, others: object) -> float | None:
        steps = round(event.duration_s / 0.1)
        return None if steps % 7 == 0 else -float(steps)

    def energy_db(self, event: Event) -> float | None:
        return -float(round(event.duration_s / 0.1))


@st.composite
def clips(draw: st.DrawFn, labels: tuple[str, ...] = ("dog", "cat", "bell", "horn")) -> list[Event]:
    """Up to seven events on a grid of 0.1 s."""
    out = []
    for _ in range(draw(st.integers(0, 7))):
        onset, steps = draw(st.integers(0, 80)), draw(st.integers(0, 30))
        sure = draw(st.sampled_from([None, 0.4, 0.5, 0.65, 0.8, 0.95]))
        out.append(Event(draw(st.sampled_from(labels)), onset / 10, (onset + steps) / 10, sure))
    return out


ANY_RULES = st.sampled_from(
    [rules({"mode": mode}) for mode in MODES]
    + [rules({"counting": "tracks"}), rules({"order_rule": "any-pair"}), rules({"order_rule": "onset"})]
)


@given(st.sampled_from(PROMPTS), clips(), ANY_RULES)
def test_every_value_lies_in_its_range(expected: Expected, events: list[Event], by: Rules) -> None:
    for found in ritta.judged(expected, events, LevelsByTime(), by):
        assert 0.0 <= found.presence <= 1.0
        assert found.relation in (None, 0.0, 1.0)
        assert 0.0 <= found.parsimony <= 1.0
        assert min(found.missing, found.extra, found.count_error - abs(found.count_bias)) >= 0
        assert (found.relation == 0.0) == (found.kind in ritta.KINDS)
        if found.relation == 1.0:
            assert found.presence == 1.0


@given(st.data(), st.sampled_from(PROMPTS), clips(), ANY_RULES)
def test_the_order_in_which_events_are_listed_does_not_matter(
    data: st.DataObject, expected: Expected, events: list[Event], by: Rules
) -> None:
    mixed = data.draw(st.permutations(events))
    levels = LevelsByTime()
    assert ritta.judged(expected, events, levels, by) == ritta.judged(expected, mixed, levels, by)


@given(st.sampled_from(PROMPTS), clips(), ANY_RULES, st.floats(0.0, 5.0))
def test_a_shift_in_time_changes_no_value(
    expected: Expected, events: list[Event], by: Rules, shift_s: float
) -> None:
    moved = [replace(e, onset_s=e.onset_s + shift_s, offset_s=e.offset_s + shift_s) for e in events]
    levels = LevelsByTime()
    before, after = (
        [replace(j, detail="") for j in ritta.judged(expected, which, levels, by)]
        for which in (events, moved)
    )
    assert before == after


@given(clips(labels=("dog", "dog", "cat")), st.integers(0, 2**32 - 1))
def test_no_clip_holds_two_spatial_relations(events: list[Event], seed: int) -> None:
    levels = FrameLevels(0.1, np.random.default_rng(seed).uniform(-60.0, 0.0, 120))
    judged = [ritta.judged(spatially(relation), events, levels, DEFAULT) for relation in SPATIAL]
    for at_threshold in zip(*judged, strict=True):
        met = [found.relation for found in at_threshold]
        assert met.count(1.0) <= 1
        assert met.count(None) in (0, 3)


@given(st.sampled_from(PROMPTS), clips(), st.integers(0, 80))
def test_a_foreign_event_never_raises_parsimony_once_enough_is_heard(
    expected: Expected, events: list[Event], onset: int
) -> None:
    most = max(len(one.present) for one in expected.alternatives)
    foreign = Event("rain", onset / 10, onset / 10 + 1.0)
    by = replace(DEFAULT, thresholds=(0.0,))
    assume(len(counted(confident(events, 0.0), by)) >= most)
    without_it, with_it = (
        ritta.judged(expected, which, LevelsByTime(), by)[0] for which in (events, [*events, foreign])
    )
    assert with_it.parsimony <= without_it.parsimony


@given(clips())
def test_before_and_after_never_both_hold_by_extent_or_onset(events: list[Event]) -> None:
    for rule in ("extent", "onset"):
        both_ways = [
            ritta.judged(in_order("before", *pair), events, None, rules({"order_rule": rule}))
            for pair in (("dog", "cat"), ("cat", "dog"))
        ]
        assert all(a.relation != 1.0 or b.relation != 1.0 for a, b in zip(*both_ways, strict=True))


# ---- bad input ----


@pytest.mark.parametrize(
    ("scoring", "told"),
    [
        ({"mode": "strict"}, "mode cannot be 'strict'.*default, paper, released"),
        ({"tolerance": "1"}, "no rule 'tolerance'.*mode, counting, order_rule"),
        ({"mode": "paper", "counting": "tracks"}, "counting belongs to the mode default"),
        ({"mode": "released", "order_rule": "onset"}, "order_rule belongs to the mode default"),
    ],
)
def test_unknown_rules_are_refused_by_name(scoring: dict[str, str], told: str) -> None:
    with pytest.raises(UserError, match=f"(?s){told}"):
        rules(scoring)


def test_what_asks_for_nothing_or_for_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="before is between two sounds, not 1"):
        Expected("before", (Alternative(("dog",)),))
    with pytest.raises(ValueError, match="must ask for a sound or forbid one"):
        Expected("or", (Alternative(()),))
    broken = {"relation": "closefirst", "alternatives": [{"present": [], "absent": ["dog"]}]}
    with pytest.raises(ValueError, match="closefirst is between two sounds, not 0"):
        from_json({**broken, "distances_m": None})
