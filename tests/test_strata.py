"""Means over strata: their intervals and the comparison of two systems."""

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness.stats import strata
from earwitness.stats.intervals import cluster_interval, wilson
from earwitness.stats.intervals import paired_difference as plain_difference
from earwitness.stats.strata import paired_difference

QUICK = {"draws": 400}


def interval(groups, **options):
    """Mean over strata and its interval, of (values, clusters) a stratum."""
    means = [float(np.mean(values)) for values, _ in groups]
    found = [cluster_interval(np.array(v), c, **{**QUICK, **options}) for v, c in groups]
    alone = [len(set(clusters)) == 1 for _, clusters in groups]
    several = [k for k, one in enumerate(alone) if not one]
    return fmean(means), strata.joined(
        [means[k] for k in several],
        [None if (i := found[k]) is None else (i.low, i.high) for k in several],
        [mean for mean, one in zip(means, alone, strict=True) if one],
    )


def names(n, per_cluster=1):
    return [f"c{k // per_cluster}" for k in range(n)]


values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(st.lists(values, min_size=1, max_size=5), st.randoms())
@settings(max_examples=40, deadline=None)
def test_the_interval_holds_the_mean_stays_on_the_scale_and_ignores_order(groups, random):
    mean, found = interval([(each, names(len(each))) for each in groups])
    if len(groups) == len(groups[0]) == 1:
        assert found is None
        return
    assert -1e-12 <= found[0] <= mean <= found[1] <= 1 + 1e-12
    shuffled = [random.sample(each, len(each)) for each in random.sample(groups, len(groups))]
    again_mean, again = interval([(each, names(len(each))) for each in shuffled])
    assert again_mean == pytest.approx(mean, abs=1e-12)
    assert again == pytest.approx(found, abs=1e-12)


def test_one_stratum_is_the_plain_interval():
    rng = np.random.default_rng(0)
    one, two = rng.random(30), rng.random(30)
    clusters = names(30, 2)
    mean, found = interval([(one, clusters)])
    plain = cluster_interval(one, clusters, **QUICK)
    assert (mean, found) == (pytest.approx(one.mean()), (plain.low, plain.high))
    pair = paired_difference(one, two, clusters, ["s"] * 30, **QUICK)
    other = plain_difference(one, clusters, two, clusters, **QUICK)
    assert (pair.difference, pair.low, pair.high) == pytest.approx((other.difference, other.low, other.high))
    assert pair.p == pytest.approx(other.p, abs=0.03)
    assert pair.clusters == other.clusters == 15


def test_unanimous_strata_keep_a_width_between_that_of_one_and_of_all_their_clusters():
    k, s = 20, 9
    _, found = interval([([1.0] * k, names(k))] * s)
    assert found[1] == 1.0
    assert wilson(k, k).low < found[0] < wilson(k * s, k * s).low
    assert 1 - found[0] == pytest.approx((1 - wilson(k, k).low) / 3)


def test_a_small_unanimous_stratum_is_not_hidden_among_large_ones():
    """Two clusters that agree say little of their stratum, whatever the others say."""
    sure = ([1.0] * 500, names(500))
    _, found = interval([sure] * 10 + [([1.0] * 2, names(2))])
    assert 1 - found[0] > (1 - wilson(2, 2).low) / 11
    _, alike = interval([sure] * 11)
    assert found[0] < alike[0]


def test_a_stratum_of_one_cluster_brings_the_widest_bound():
    sure = ([1.0] * 500, names(500))
    lone = ([1.0, 1.0], ["c", "c"])
    _, found = interval([sure, lone])
    assert found[0] == pytest.approx(1 - (1 - wilson(1, 1).low) / 2, abs=0.001)
    _, two = interval([sure, ([1.0] * 2, names(2))])
    assert found[0] < two[0]
    assert interval([lone])[1] is None
    assert strata.joined([0.5], [(0.4, 0.6)], [3.0]) is None
    assert strata.joined([0.5], [(0.4, 0.6)], [0.5], scale=None) is None


def test_strata_of_one_cluster_are_as_sure_together_as_so_many_clusters():
    ones = [([float(k < 7)], ["c"]) for k in range(11)]
    usual = wilson(7, 11)
    assert interval(ones)[1] == pytest.approx((usual.low, usual.high))


def test_one_cluster_in_a_stratum_leaves_the_comparison_of_the_others():
    n = 60
    one, two = np.r_[np.ones(n), 1.0], np.r_[np.zeros(n // 2), np.ones(n // 2), 0.0]
    kinds = [f"s{k % 3}" for k in range(n)]
    pair = paired_difference(one, two, names(n + 1), [*kinds, "t"], **QUICK)
    without = paired_difference(one[:n], two[:n], names(n), kinds, **QUICK)
    assert pair.clusters == n + 1
    assert pair.difference == pytest.approx((3 * without.difference + 1) / 4)
    assert pair.high - pair.low > without.high - without.low
    alone = paired_difference(one[-1:], two[-1:], ["c"], ["t"], **QUICK)
    assert alone is None
    nothing_else = paired_difference(
        np.ones(n + 1), np.r_[np.ones(n), 0.0], names(n + 1), [*kinds, "t"], **QUICK
    )
    assert nothing_else.low < 0 < nothing_else.difference == 0.25
    assert nothing_else.p == 1.0
    assert paired_difference(one, two, names(n + 1), [*kinds, "t"], bounds=None, **QUICK) is None


@pytest.mark.parametrize("lone", [2, 5, 11])
def test_intervals_with_strata_of_one_cluster_cover_the_true_mean(lone):
    """Eleven strata, some of one cluster and the rest of 20; 300 draws of the world."""
    rng = np.random.default_rng(lone)
    sizes, rates = [20] * (11 - lone) + [1] * lone, np.r_[np.full(11 - lone, 0.6), np.full(lone, 0.4)]
    held, trials = 0, 300
    for _ in range(trials):
        groups = [
            ((rng.random(n) < rate).astype(float), names(n)) for n, rate in zip(sizes, rates, strict=True)
        ]
        low, high = interval(groups, draws=200)[1]
        held += low <= rates.mean() <= high
    assert 0.91 <= held / trials <= 0.995


def test_strata_weigh_the_same_however_many_items_they_have():
    one, two = np.array([1.0] * 90 + [0.0] * 10), np.zeros(100)
    kinds = ["many"] * 90 + ["few"] * 10
    pair = paired_difference(one, two, names(100), kinds, **QUICK)
    assert pair.difference == 0.5
    assert pair.low <= 0.5 <= pair.high


def test_a_cluster_name_in_two_strata_is_two_clusters():
    rng = np.random.default_rng(3)
    one, two = rng.random(40), rng.random(40)
    kinds = ["s"] * 20 + ["t"] * 20
    shared = paired_difference(one, two, names(20) * 2, kinds, **QUICK)
    apart = paired_difference(one, two, names(40), kinds, **QUICK)
    assert shared == apart
    assert shared.clusters == 40


def test_the_comparison_is_seeded_ignores_order_and_mirrors():
    rng = np.random.default_rng(4)
    one, two = rng.integers(0, 2, 60).astype(float), rng.integers(0, 2, 60).astype(float)
    clusters, kinds = names(60, 2), [f"s{k // 20}" for k in range(60)]
    pair = paired_difference(one, two, clusters, kinds, seed=5, **QUICK)
    order = rng.permutation(60)
    again = paired_difference(
        one[order], two[order], [clusters[k] for k in order], [kinds[k] for k in order], seed=5, **QUICK
    )
    assert again == pair
    back = paired_difference(two, one, clusters, kinds, seed=5, **QUICK)
    assert back.difference == -pair.difference
    assert (back.low, back.high) == pytest.approx((-pair.high, -pair.low), abs=0.05)


def test_right_or_wrong_items_in_equal_strata_give_the_pooled_sign_test():
    """With strata of equal size the macro difference is the pooled one, and so is the exact p."""
    one, two = np.array(([1.0] * 7 + [0.0] * 3) * 2), np.array(([0.0] * 6 + [1.0] * 2 + [0.0] * 2) * 2)
    kinds = ["s"] * 10 + ["t"] * 10
    pair = paired_difference(one, two, names(20), kinds, **QUICK)
    pooled = plain_difference(one, names(20), two, names(20), **QUICK)
    assert pair.p == pytest.approx(pooled.p)


def test_the_intervals_cover_the_true_mean_and_difference():
    """Strata of unequal rates and sizes, clusters of two: 95 % intervals, 300 draws of the world."""
    rng = np.random.default_rng(6)
    rates, sizes = np.array([0.9, 0.5, 0.2, 0.97]), [60, 30, 40, 50]
    kinds = [f"s{k}" for k, n in enumerate(sizes) for _ in range(2 * n)]
    clusters = [f"{k}-{j // 2}" for k, n in enumerate(sizes) for j in range(2 * n)]
    held = paired = rejected = 0
    trials = 300
    for _ in range(trials):
        worlds = []
        for shift in (0.0, 0.0):
            common = [np.repeat(rng.random(n), 2) for n in sizes]
            own = [
                (np.where(rng.random(2 * n) < 0.5, c, rng.random(2 * n)) < rate - shift).astype(float)
                for c, n, rate in zip(common, sizes, rates, strict=True)
            ]
            worlds.append(own)
        groups = [(v, [f"{j // 2}" for j in range(len(v))]) for v in worlds[0]]
        low, high = interval(groups)[1]
        held += low <= rates.mean() <= high
        pair = paired_difference(*map(np.concatenate, worlds), clusters, kinds, draws=200)
        paired += pair.low <= 0.0 <= pair.high
        rejected += pair.p < 0.05
    assert 0.91 <= held / trials <= 0.985
    assert 0.91 <= paired / trials <= 0.985
    assert 0.02 <= rejected / trials <= 0.09


def test_values_off_the_scale_or_without_limits_have_no_bound_where_all_agree():
    one, two = np.array([3.0, 3.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0, 1.0])
    arguments = (one, two, names(4), ["s", "s", "t", "t"])
    assert paired_difference(*arguments, bounds=None) is None
    assert paired_difference(*arguments) is None
    assert paired_difference(*arguments, bounds=(0.0, 5.0)).difference == 1.0
