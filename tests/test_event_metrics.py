"""Event metrics against sed_eval and mir_eval, and where they differ on purpose."""

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import event_peers as peers
from earwitness.events import EPSILON_S, Event
from earwitness.scores import event_metrics as em
from event_peers import INDEX, LABELS, TICK, ours

RULES = (
    em.Rule(12 * TICK, 12 * TICK, 0.25),
    em.Rule(12 * TICK, 12 * TICK, 0.5),
    em.Rule(12 * TICK, 12 * TICK, 0.0),
    em.Rule(12 * TICK, 12 * TICK, 0.25, offset=False),
)
NOTHING: peers.Table = []
DOG = [Event("a", 1.0, 2.0)]


def rates(hits, true, estimated, errors):
    return (
        em.f1(hits, true, estimated),
        em.precision(hits, estimated),
        em.recall(hits, true),
        em.error_rate(errors, true),
    )


def macro(counts):
    return em.macro_f1(*(each.sum(axis=0) for each in (counts.hits, counts.true, counts.estimated)))


def same(ours, theirs):
    """Equal wherever sed_eval has a number that means something, by its names of rates.

    It has NaN for an F1 without a true or an estimated event (ours: NaN, 0), and without a true event a rate
    of errors of 0 or of errors over an epsilon (ours: NaN).
    """
    theirs = theirs["f_measure"] | theirs["error_rate"]
    for name, mine in ours.items():
        other = theirs[name]
        if np.isnan(mine):
            assert np.isnan(other) or other == 0.0 or other > 1e15, name
        elif np.isnan(other):
            assert (name, mine) == ("f_measure", 0.0)
            assert np.isnan(ours["precision"])
        else:
            assert mine == pytest.approx(other, abs=1e-9), name
    assert ours.keys() == theirs.keys()


def all_rates(hits, true, estimated, deletions, insertions, substitutions=0):
    """Under the names that sed_eval gives them."""
    names = ("f_measure", "precision", "recall", "error_rate")
    found = dict(
        zip(names, rates(hits, true, estimated, substitutions + deletions + insertions), strict=True)
    )
    return found | {
        "deletion_rate": em.error_rate(deletions, true),
        "insertion_rate": em.error_rate(insertions, true),
    }


def every_rate_as_sed_eval(found, results):
    """Overall and class by class; its classes have no substitutions."""
    hits, true, estimated, subs, lost, extra = (
        int(getattr(found, name).sum())
        for name in ("hits", "true", "estimated", "substitutions", "deletions", "insertions")
    )
    overall = all_rates(hits, true, estimated, lost, extra, subs)
    same(overall | {"substitution_rate": em.error_rate(subs, true)}, results["overall"])
    for label, at in INDEX.items():
        h, n, m = (int(each[:, at].sum()) for each in (found.hits, found.true, found.estimated))
        same(all_rates(h, n, m, n - h, m - h), results["class_wise"][label])


@settings(max_examples=60)
@given(st.lists(st.one_of(peers.pairs(), peers.dense()), min_size=1, max_size=3), st.sampled_from(RULES))
def test_event_based_as_sed_eval(files, rule):
    theirs, found = peers.events_by_sed_eval(files, rule), ours(files, rule).counts
    for name, key in (
        ("hits", "Ntp"), ("true", "Nref"), ("estimated", "Nsys"),
        ("substitutions", "Nsubs"), ("deletions", "Nfn"), ("insertions", "Nfp"),
    ):  # fmt: skip
        assert getattr(found, name).sum() == theirs["overall"][key], name
    every_rate_as_sed_eval(found, theirs["results"])


def test_many_dense_tables_as_sed_eval():
    """Up to 14 events within half a second: long chains of events that fit the same ones."""
    rng, rule = np.random.default_rng(0), em.Rule(12 * TICK, 12 * TICK, 0.5)

    def table(classes):
        times = zip(rng.integers(0, 32, size := rng.integers(0, 15)), rng.integers(1, 40, size), strict=True)
        return [Event(LABELS[rng.integers(classes)], on * TICK, (on + long) * TICK) for on, long in times]

    files = [(table(classes), table(classes)) for classes in rng.integers(1, 4, 80)]
    found = ours(files, rule).counts
    alone = [peers.events_by_sed_eval([pair], rule)["overall"]["Nsubs"] for pair in files]
    assert found.substitutions.tolist() == alone
    assert sum(alone) > 40
    every_rate_as_sed_eval(found, peers.events_by_sed_eval(files, rule)["results"])


def test_sed_evals_error_rate_depends_on_the_order_of_rows():
    """One true event fits both estimated ones, the other but one. Sorted, either order counts the same."""
    early, late = Event("a", 1.0, 3.0), Event("a", 1.25, 3.0)
    one, other = Event("b", 0.875, 3.0), Event("b", 1.125, 3.0)
    rule = em.Rule(12 * TICK, 12 * TICK, 0.25)

    def by_sed_eval(pair, sort):
        return peers.events_by_sed_eval([pair], rule, sort=sort)["overall"]["Nsubs"]

    for true in ([early, late], [late, early]):
        for found in ([one, other], [other, one]):
            assert ours([(true, found)], rule).counts.substitutions.tolist() == [2]
            assert by_sed_eval((true, found), sort=True) == 2
    assert by_sed_eval(([early, late], [other, one]), sort=False) == 1


@settings(max_examples=20)
@given(peers.pairs(), st.sampled_from(RULES))
def test_greedy_matching_never_finds_more(pair, rule):
    found = ours([pair], rule).counts
    greedy = peers.events_by_sed_eval([pair], rule, "greedy")["overall"]
    assert greedy["Ntp"] <= found.hits.sum()


def test_optimal_matching_finds_the_pairs_that_a_greedy_one_gives_away():
    truth = [Event("a", 1.0, 2.0), Event("a", 1.25, 2.0)]
    estimated = [Event("a", 1.125, 2.0), Event("a", 0.9375, 2.0)]
    rule = em.Rule(12 * TICK, 12 * TICK, 0.25)
    assert ours([(truth, estimated)], rule).counts.hits.sum() == 2
    shuffled = [(truth, estimated)]
    assert peers.events_by_sed_eval(shuffled, rule)["overall"]["Ntp"] == 2


@settings(max_examples=60)
@given(st.lists(peers.pairs(), min_size=1, max_size=3), st.sampled_from((1.0, 0.25, 0.125, 1.5)))
def test_segment_based_as_sed_eval(files, resolution_s):
    duration_s = 3.0  # some events lie beyond
    theirs = peers.segments_by_sed_eval(files, resolution_s, duration_s)
    found, overall = peers.our_segments(files, resolution_s, duration_s), theirs["overall"]
    for mine, key in ((found.substitutions, "S"), (found.deletions, "D"), (found.insertions, "I")):
        assert mine.sum() == overall[key]
    every_rate_as_sed_eval(found, theirs["results"])
    for label, at in INDEX.items():
        one = theirs["class_wise"][label]
        assert [each[:, at].sum() for each in (found.hits, found.true, found.estimated)] == [
            one["Ntp"], one["Nref"], one["Nsys"]
        ]  # fmt: skip


@settings(max_examples=60)
@given(peers.pairs(most=6, labels=("a",)), st.sampled_from((RULES[0], RULES[3])))
def test_matching_as_mir_eval(pair, rule):
    truth, estimated = pair
    hits = int(ours([pair], rule).counts.hits.sum())
    assert hits == peers.hits_by_mir_eval(truth, estimated, rule)
    if truth and estimated:
        import mir_eval

        times = [np.array([e.onset_s for e in side]) for side in pair]
        alone = int(ours([pair], em.Rule(rule.onset_collar_s, offset=False)).counts.hits.sum())
        assert alone == len(mir_eval.util.match_events(*times, rule.onset_collar_s))


@settings(max_examples=60)
@given(
    st.lists(st.one_of(peers.pairs(), peers.dense()), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
)
def test_no_count_depends_on_the_order_of_rows_or_on_other_files(files, random):
    rule = RULES[0]
    found = ours(files, rule)
    shuffled = [tuple(random.sample(side, len(side)) for side in pair) for pair in files]
    again = ours(shuffled, rule)
    for name in ("hits", "true", "estimated", "substitutions", "deletions", "insertions"):
        assert (getattr(again.counts, name) == getattr(found.counts, name)).all()
    assert np.abs(found.onset_error_s).sum() == pytest.approx(np.abs(again.onset_error_s).sum())
    for at, pair in enumerate(files):
        alone = ours([pair], rule).counts
        assert (alone.hits[0] == found.counts.hits[at]).all()
        assert alone.errors[0] == found.counts.errors[at]


@given(st.integers(0, 10**6), st.integers(1, 1000), st.booleans(), st.booleans())
def test_edge_of_collar(onset_ms, collar_ms, late, of_offset):
    """mir_eval#189: in whole milliseconds the edge is within, one more is without, whatever floats say."""
    truth = [Event("a", 1000 + onset_ms / 1000, 1010 + onset_ms / 1000)]
    rule = em.Rule(collar_ms / 1000, collar_ms / 1000, 0.0)
    for beyond, hit in ((0, 1), (1, 0)):
        by = (collar_ms + beyond) * (1 if late else -1)
        onset_by, offset_by = (0, by) if of_offset else (by, 0)
        moved = Event("a", (10**6 + onset_ms + onset_by) / 1000, (1010000 + onset_ms + offset_by) / 1000)
        assert ours([(truth, [moved])], rule).counts.hits.sum() == hit


def test_collar_is_plus_minus_and_sed_eval_loses_a_hit_to_rounding():
    rule = em.Rule(0.2, 0.2, 0.0)
    late, later = [Event("a", 2.0, 3.0)], [Event("a", 2.2, 3.0)]
    assert 2.2 - 2.0 > 0.2 > 1.2 - 1.0  # in floats
    assert ours([(late, later)], rule).counts.hits.sum() == 1
    assert ours([([Event("a", 1.0, 2.0)], [Event("a", 1.2, 2.0)])], rule).counts.hits.sum() == 1
    assert peers.events_by_sed_eval([(late, later)], rule)["overall"]["Ntp"] == 0  # the same 0.2 s
    assert ours([([Event("a", 1.0, 2.0)], [Event("a", 0.8, 2.0)])], rule).counts.hits.sum() == 1


def test_mir_eval_rounds_distances_but_not_what_it_compares_them_with():
    """An offset 0.323257 s late where 20 % of the event, 0.32326 s, is allowed."""
    truth, estimated = [Event("a", 0.0, 1.6163)], [Event("a", 0.0, 1.6163 + 0.323257)]
    rule = em.Rule(0.2, 0.2, 0.2)
    assert ours([(truth, estimated)], rule).counts.hits.sum() == 1
    assert peers.events_by_sed_eval([(truth, estimated)], rule)["overall"]["Ntp"] == 1
    assert peers.hits_by_mir_eval(truth, estimated, rule) == 0


def test_offset_rule_doctest():
    done = doctest.testmod(em)
    assert done.attempted >= 4
    assert not done.failed


def test_silent_system_gets_zero():
    """sed_eval gives NaN, and leaves the class out of the macro mean."""
    files = [(DOG, NOTHING), ([Event("b", 1.0, 2.0)], [Event("b", 1.0, 2.0)])]
    found = ours(files, em.Rule()).counts
    assert em.f1(0, 1, 0) == 0.0
    assert np.isnan(em.precision(0, 0))
    assert macro(found) == 0.5
    theirs = peers.events_by_sed_eval(files, em.Rule())["results"]
    assert np.isnan(theirs["class_wise"]["a"]["f_measure"]["f_measure"])
    assert theirs["class_wise_average"]["f_measure"]["f_measure"] == 1.0


def test_empty_truth_counts_false_alarms():
    files = [(NOTHING, DOG), (DOG, DOG), (NOTHING, NOTHING)]
    for found in (ours(files, em.Rule()).counts, peers.our_segments(files, 1.0, 3.0)):
        assert em.f1(found.hits.sum(), found.true.sum(), found.estimated.sum()) == pytest.approx(2 / 3)
        assert em.error_rate(found.errors.sum(), found.true.sum()) == 1.0
        assert found.insertions.tolist() == [1, 0, 0]


def test_without_truth_there_is_no_rate_and_sed_eval_has_an_error_rate_of_10_to_the_15():
    found = ours([(NOTHING, DOG)], em.Rule()).counts
    np.testing.assert_equal(rates(0, 0, 1, int(found.errors.sum())), (np.nan, 0.0, np.nan, np.nan))
    assert np.isnan(macro(found))
    theirs = peers.events_by_sed_eval([(NOTHING, DOG)], em.Rule())["results"]["overall"]["error_rate"]
    assert theirs["error_rate"] > 1e15


def test_a_class_that_is_nowhere_is_unscored_and_outside_the_macro_mean():
    found = ours([(DOG, DOG)], em.Rule()).counts
    assert macro(found) == 1.0
    assert np.isnan(em.f1(0, 0, 0))


def test_duration_is_given_never_inferred():
    """sed_eval#6: without a length it counts segments up to the last offset, so silence depends on events."""
    truth = [Event("a", 0.0, 1.0), Event("a", 4.0, 6.0)]
    found = peers.our_segments([(truth, truth)], 1.0, 5.0)
    assert found.true.sum() == 2  # nothing is counted beyond the file's end
    assert peers.our_segments([(truth, truth)], 1.0, 5.5).true.sum() == 3


def test_an_event_that_ends_at_a_border_in_floats_does_not_enter_the_next_segment():
    """3 x 0.1 is 0.30000000000000004: sed_eval makes a fourth segment of it."""
    truth = [Event("a", 0.0, 3 * 0.1)]
    assert peers.our_segments([(truth, truth)], 0.1, 1.0).true.sum() == 3
    assert peers.segments_by_sed_eval([(truth, truth)], 0.1, 1.0)["overall"]["Nref"] == 4


def test_overlapping_events_of_one_class_are_events_like_any_other():
    truth = [Event("a", 1.0, 3.0), Event("a", 1.5, 2.0)]
    assert ours([(truth, truth)], em.Rule()).counts.hits.sum() == 2
    assert ours([(truth, truth[:1])], em.Rule()).counts.deletions.sum() == 1
    assert peers.our_segments([(truth, truth)], 1.0, 3.0).true.sum() == 2


def test_errors_of_time_are_those_of_the_best_fitting_pairs():
    truth = [Event("a", 1.0, 2.0)]
    estimated = [Event("a", 1.125, 2.0), Event("a", 0.9375, 2.25), Event("b", 1.0, 2.0)]
    found = ours([(truth, estimated)], em.Rule(0.2, 0.25, 0.0))
    assert found.onset_error_s.tolist() == [0.125]
    assert found.offset_error_s.tolist() == [0.0]
    assert found.counts.insertions.tolist() == [2]


def test_without_the_offset_rule_the_onsets_alone_choose_the_pair():
    truth = [Event("a", 1.0, 2.0)]
    estimated = [Event("a", 1.125, 2.0), Event("a", 1.0625, 4.0)]
    assert ours([(truth, estimated)], em.Rule(offset=False)).onset_error_s.tolist() == [0.0625]
    assert ours([(truth, estimated)], em.Rule(0.2, 3.0, 0.0)).onset_error_s.tolist() == [0.125]


def test_errors_of_time_of_equally_good_pairs_do_not_depend_on_the_order_of_rows():
    """Both true events are 0.3125 s off in all, one more of it at the onset."""
    truth = [Event("a", 1.0, 3.25), Event("a", 1.1875, 3.1875)]
    estimated = [Event("a", 1.0625, 3.0)]
    for true in (truth, truth[::-1]):
        assert ours([(true, estimated)], em.Rule(0.25, 0.25, 0.0)).onset_error_s.tolist() == [0.0625]


@settings(max_examples=60)
@given(st.lists(peers.pairs(), min_size=1, max_size=3), st.sampled_from(RULES))
def test_lenient_is_exact_with_the_identity_and_never_finds_less(files, rule):
    truth, estimated = (em.columns(side, INDEX) for side in zip(*files, strict=True))
    exact = ours(files, rule).counts
    alike = np.eye(len(LABELS), dtype=bool)
    same = em.lenient(truth, estimated, len(files), alike, rule)
    assert (same.hits == exact.hits.sum(axis=1)).all()
    assert (same.estimated == exact.estimated.sum(axis=1)).all()
    alike[0, 1] = True  # b is wide enough a name for a
    assert (em.lenient(truth, estimated, len(files), alike, rule).hits >= same.hits).all()


def test_a_spare_label_is_a_hit_or_nothing():
    classes = {"Dog": 0, "Animal": 1}
    alike = np.array([[True, True], [False, True]])
    truth = em.columns([[Event("Dog", 1.0, 2.0)], [], [Event("Dog", 1.0, 2.0)]], classes)
    both = [Event("Dog", 1.1, 2.0), Event("Animal", 1.0, 2.0)]
    estimated = em.columns([[Event("Animal", 1.0, 2.0)], [Event("Animal", 1.0, 2.0)], both], classes)
    found = em.lenient(truth, estimated, 3, alike, em.Rule(), spare=estimated.label == 1)
    assert found.hits.tolist() == [1, 0, 1]
    assert found.estimated.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "bad", [{"onset_collar_s": -1.0}, {"offset_collar_s": float("nan")}, {"offset_share": 1.5}]
)
def test_a_rule_out_of_bounds_is_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        em.Rule(**bad)


def test_segments_shorter_than_what_counts_as_equal_are_refused():
    with pytest.raises(ValueError, match="resolution_s"):
        em.segment_counts(em.columns([DOG], INDEX), em.columns([DOG], INDEX), [3.0], 3, EPSILON_S)
