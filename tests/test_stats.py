"""Intervals, paired comparisons and corrections against outside implementations and simulations."""

from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from earwitness.stats.intervals import (
    cluster_interval,
    difference_interval,
    holm,
    paired_difference,
    swap_test,
    wilson,
)
from earwitness.stats.resampling import kinds_of

shares = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)
items = st.lists(st.tuples(shares, st.sampled_from("abcdefgh")), min_size=1, max_size=40)


def alone(values):
    """Every item its own cluster."""
    return [str(i) for i in range(len(values))]


def interval(values, clusters=None, **options):
    numbers = np.asarray(values, float)
    return cluster_interval(numbers, alone(numbers) if clusters is None else clusters, **options)


def compare(a, b, **options):
    a, b = np.asarray(a, float), np.asarray(b, float)
    return paired_difference(a, alone(a), b, alone(b), **options)


# Intervals


@pytest.mark.filterwarnings("ignore:.*divide:RuntimeWarning")
@pytest.mark.parametrize(("empty", "some"), [(7, True), (40, False)])
def test_draws_without_items_have_no_part_in_a_difference(empty, some):
    """Of clips without events only a few draws hold no others: those are left out. Many: no interval."""
    totals = [[4, 6, 2, 6], [6, 6, 0, 5], [2, 5, 2, 4], [0, 4, 2, 5], [4, 5, 2, 6]] + [[0, 0, 0, 0]] * empty
    if not some:
        totals = totals[:2] + totals[5:]
    kinds, counts = kinds_of(totals)
    with np.errstate(invalid="ignore"):
        found = difference_interval(kinds, counts, 0.95, 10_000, np.random.default_rng(0), 1.0)
        p = swap_test(kinds, counts, 1000, np.random.default_rng(0))
    assert 0 < p <= 1
    if some:
        low, high = found
        assert low < 0.05 < 0.3 < high  # the difference is 0.31
    else:
        assert found is None


@given(items, st.floats(0.05, 0.99))
@settings(max_examples=60, deadline=None)
def test_interval_contains_point(pairs, level):
    values, clusters = [v for v, _ in pairs], [c for _, c in pairs]
    found = interval(values, clusters, level=level, draws=200)
    if len(set(clusters)) < 2:
        assert found is None
    else:
        assert 0 <= found.low <= np.mean(values) + 1e-12
        assert np.mean(values) - 1e-12 <= found.high <= 1


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("size", [1, 3])
def test_level_is_honoured(level, size):
    """Over simulated runs the interval covers the true rate about as often as it says.

    60 clusters of ``size`` items whose chance of being right varies by cluster, true rate 0.6;
    600 runs, so the binomial standard error of the coverage is below 0.017.
    """
    rng = np.random.default_rng(11)
    covered = 0
    for run in range(600):
        chance = rng.beta(1.2, 0.8, size=60)
        right = rng.random((60, size)) < chance[:, None]
        names = np.repeat(np.arange(60), size).astype(str).tolist()
        found = interval(right.ravel(), names, level=level, draws=600, seed=run)
        covered += found.low <= 0.6 <= found.high
    assert abs(covered / 600 - level) < 0.05


def test_a_higher_level_gives_a_wider_interval():
    values = np.random.default_rng(0).random(50) < 0.7
    narrow, wide = interval(values, level=0.8), interval(values, level=0.99)
    assert wide.low < narrow.low
    assert narrow.high < wide.high


def test_seeded():
    values = np.random.default_rng(1).random(300)
    assert interval(values, seed=3) == interval(values, seed=3)
    assert interval(values, seed=3) != interval(values, seed=4)


def test_n1_has_no_interval():
    assert interval([1.0]) is None
    assert interval([]) is None
    assert interval([1.0, 0.0, 1.0], ["one pair"] * 3) is None


def test_copies_of_the_same_items_do_not_shrink_the_interval():
    values = (np.random.default_rng(2).random(80) < 0.6).astype(float)
    once = interval(values)
    copied = interval(np.tile(values, 5), alone(values) * 5)
    as_if_new = interval(np.tile(values, 5))
    assert (copied.low, copied.high) == pytest.approx((once.low, once.high))
    assert as_if_new.high - as_if_new.low < 0.6 * (once.high - once.low)


@given(items, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_items_and_the_names_of_clusters_do_not_matter(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    renamed = dict(zip("abcdefgh", random.sample("stuvwxyz", 8), strict=True))
    first = interval([v for v, _ in pairs], [c for _, c in pairs], draws=100)
    second = interval([v for v, _ in shuffled], [renamed[c] for _, c in shuffled], draws=100)
    assert first == second


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_clusters_that_all_agree_get_the_wilson_bound_at_their_count(rate):
    found = interval([rate] * 20, [f"pair {i // 2}" for i in range(20)])
    low, high = proportion_confint(rate * 10, 10, method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
    assert found.method == "wilson"


def test_ratings_use_their_own_scale():
    found = interval([5, 5, 5, 5], bounds=(1, 5))
    low, _ = proportion_confint(4, 4, method="wilson")
    assert (found.low, found.high) == pytest.approx((1 + 4 * low, 5))
    assert interval([5, 5, 5, 5]) is None  # nothing says how far from 5 a rating could lie
    assert interval([5, 4, 5, 5]).method == "bootstrap"


@given(st.integers(1, 500), st.floats(0, 1), st.floats(0.5, 0.999))
@settings(max_examples=100, deadline=None)
def test_wilson_equals_statsmodels(n, rate, level):
    found = wilson(rate * n, n, level)
    assert (found.low, found.high) == pytest.approx(
        proportion_confint(rate * n, n, alpha=1 - level, method="wilson"), abs=1e-9
    )


@pytest.mark.parametrize("kind", ["right or wrong", "continuous"])
def test_close_to_scipy_when_clusters_are_single_items(kind):
    rng = np.random.default_rng(5)
    values = rng.random(400) if kind == "continuous" else (rng.random(400) < 0.8).astype(float)
    found = interval(values)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(6), batch=500
    ).confidence_interval
    # a 2.5 % quantile of 10,000 normal draws has a standard error of 0.027 standard deviations
    tolerance = 5 * 0.027 * values.std() / 20 + 1 / 400 * (kind == "right or wrong")
    assert (found.low, found.high) == pytest.approx(tuple(theirs), abs=tolerance)


def test_the_pooled_mean_weighs_items_not_clusters():
    """Drawn clusters of unequal size: checked against all 4^4 equally likely samples of four clusters."""
    sums, sizes = np.array([3.0, 0.0, 1.0, 2.0]), np.array([3.0, 1.0, 2.0, 6.0])
    values = [1, 1, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0]
    clusters = [*"aaa", *"b", *"cc", *"dddddd"]
    every = [sums[list(c)].sum() / sizes[list(c)].sum() for c in product(range(4), repeat=4)]
    found = interval(values, clusters, level=0.8, draws=40_000)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(every, [0.1, 0.9])), abs=0.02)


@pytest.mark.parametrize(
    ("values", "clusters", "options", "words"),
    [
        ([0.1, np.nan], ["a", "b"], {}, "value 1 is nan"),
        ([0.1, 0.2], ["a"], {}, "do not match 1 clusters"),
        ([0.1, 0.2], ["a", "b"], {"level": 1.0}, "level"),
        ([0.1, 0.2], ["a", "b"], {"draws": 0}, "draws"),
    ],
)
def test_bad_input_is_named(values, clusters, options, words):
    with pytest.raises(ValueError, match=words):
        interval(values, clusters, **options)
    with pytest.raises(ValueError, match=words):
        paired_difference(np.array(values), clusters, np.array([0.5]), ["a"], **options)


# Paired comparisons


def test_only_shared_clusters_count():
    a = paired_difference(
        np.array([1.0, 0.0, 1.0, 1.0]),
        ["p", "q", "r", "only a"],
        np.array([0.0, 0.0, 1.0, 0.0]),
        ["p", "q", "r", "s"],
    )
    b = compare([1, 0, 1], [0, 0, 1])
    assert a == b
    assert (a.clusters, a.difference) == (3, pytest.approx(1 / 3))
    assert paired_difference(np.array([1.0, 0.0]), ["p", "q"], np.array([1.0, 0.0]), ["q", "x"]) is None


def test_swapping_the_systems_mirrors_the_result():
    rng = np.random.default_rng(8)
    a, b = rng.random(200) < 0.8, rng.random(200) < 0.6
    there, back = compare(a, b), compare(b, a)
    assert there.difference == pytest.approx(-back.difference)
    assert there.p == back.p
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=0.015)


@pytest.mark.parametrize(("wins", "losses", "ties"), [(30, 12, 100), (5, 0, 3), (1, 1, 40), (700, 640, 900)])
def test_right_or_wrong_items_give_mcnemars_exact_p(wins, losses, ties):
    a = [1] * wins + [0] * losses + [1, 0] * (ties // 2)
    b = [0] * wins + [1] * losses + [1, 0] * (ties // 2)
    theirs = mcnemar([[0, wins], [losses, 0]], exact=True).pvalue
    assert compare(a, b).p == pytest.approx(theirs, rel=1e-9)


def test_p_is_exact_for_few_clusters_of_unequal_size():
    rng = np.random.default_rng(9)
    clusters_a, clusters_b = [*"aabbbcdefgg"], [*"abbcccddefg"]
    a, b = rng.random(11), rng.random(11)
    totals = {
        c: [
            (x[[d == c for d in names]].sum(), names.count(c))
            for x, names in ((a, clusters_a), (b, clusters_b))
        ]
        for c in "abcdefg"
    }
    outcomes = []
    for swaps in product([False, True], repeat=7):
        pairs = [totals[c][::-1] if swap else totals[c] for c, swap in zip("abcdefg", swaps, strict=True)]
        (sa, na), (sb, nb) = np.sum(pairs, axis=0)
        outcomes.append(abs(sa / na - sb / nb))
    found = paired_difference(a, clusters_a, b, clusters_b)
    assert found.p == pytest.approx(np.mean(np.array(outcomes) >= outcomes[0] - 1e-12))


def test_p_is_close_to_scipy_where_it_is_sampled():
    rng = np.random.default_rng(10)
    a = rng.random(100)
    b = np.clip(a + 0.015 + 0.1 * rng.standard_normal(100), 0, 1)
    theirs = scipy.stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(1),
        batch=1000,
    ).pvalue
    found = compare(a, b)
    assert 0.01 < theirs < 0.5
    assert found.p == pytest.approx(theirs, abs=0.015)
    assert found.p == compare(a, b).p
    assert compare(a, np.zeros(100)).p == pytest.approx(1 / 10_001)  # never zero


def test_p_is_uniform_when_the_systems_do_not_differ():
    rng = np.random.default_rng(12)
    ps = []
    for run in range(300):
        chance = rng.random(60)
        ps.append(compare(rng.random(60) < chance, rng.random(60) < chance, draws=100, seed=run).p)
    assert np.mean(np.array(ps) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert np.mean(ps) > 0.4


def test_the_paired_interval_covers_the_true_difference():
    rng = np.random.default_rng(13)
    covered = 0
    for run in range(400):
        shared = rng.random((60, 1))
        a = (rng.random((60, 2)) < 0.5 + 0.5 * shared).ravel()
        b = (rng.random((60, 2)) < 0.1 + 0.8 * shared).ravel()
        names = np.repeat(np.arange(60), 2).astype(str).tolist()
        found = paired_difference(a.astype(float), names, b.astype(float), names, draws=600, seed=run)
        covered += found.low <= 0.25 <= found.high
    assert abs(covered / 400 - 0.95) < 0.04


@pytest.mark.parametrize("clusters", [2, 3, 6, 40])
def test_unanimous_clusters_name_no_winner_until_there_are_enough(clusters):
    found = compare([1] * clusters, [0] * clusters)
    assert found.difference == found.high == 1
    assert (found.low > 0) == (clusters > 3)
    assert found.p == pytest.approx(2 / 2**clusters)


def test_equal_systems_still_have_a_width():
    found = compare([1, 0] * 10, [1, 0] * 10)
    unlike = proportion_confint(0, 20, method="wilson")[1]
    assert (found.difference, found.p) == (0, 1)
    assert (found.low, found.high) == pytest.approx((-unlike, unlike))


@given(items, items)
@settings(max_examples=60, deadline=None)
def test_paired_properties(first, second):
    a = np.array([v for v, _ in first]), [c for _, c in first]
    b = np.array([v for v, _ in second]), [c for _, c in second]
    found = paired_difference(*a, *b, draws=200)
    if len(set(a[1]) & set(b[1])) < 2:
        assert found is None
        return
    assert -1 - 1e-9 <= found.low <= found.difference <= found.high <= 1 + 1e-9
    assert 0 < found.p <= 1
    assert found == paired_difference(a[0][::-1], a[1][::-1], b[0][::-1], b[1][::-1], draws=200)


# Many tests at once


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
@settings(max_examples=15, deadline=None)
def test_holm_equals_statsmodels(ps):
    assert holm(ps) == pytest.approx(list(multipletests(ps, method="holm")[1]), abs=1e-12)


def test_holm_refuses_what_is_no_probability():
    assert holm([]) == []
    with pytest.raises(ValueError, match="p value 1"):
        holm([0.2, float("nan")])
