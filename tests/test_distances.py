"""Distances of sets of embeddings against other ways to compute them, closed forms and simulation."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.spatial.distance
import scipy.special
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness.scores.class_distances import inception_score, kl, kl_of_logits
from earwitness.scores.distances import Frechet, Gaussian, Moments, cosines, enough, frechet, interval
from earwitness.scores.kernel_distance import SCALE, kernel_distance, median_distance

seeds = st.integers(0, 2**32 - 1)
widths = st.integers(1, 12)


def gaussian(frames, parts=1):
    """Of frames that come in so many clips."""
    moments = Moments()
    for clip in np.array_split(frames, parts):
        moments.add(clip)
    return moments.gaussian()


def frames(rng, n, width, dead=0):
    """Correlated frames of uneven scale; the last ``dead`` dimensions stand still."""
    made = rng.standard_normal((n, width)) @ rng.standard_normal((width, width)) * rng.uniform(0.1, 3, width)
    made += rng.normal(0, 2, width)
    made[:, width - dead :] = 0.7
    return made


def by_sqrtm(a, b):
    """The formula that other toolkits use, in scipy's words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy's, of singular matrices
        root = scipy.linalg.sqrtm(a.cov @ b.cov)
    return np.sum((a.mean - b.mean) ** 2) + np.trace(a.cov + b.cov) - 2 * np.trace(root).real


def of_frames(x, y):
    """The Fréchet distance with no covariance: singular values of the product of the centred frames."""
    a, b = ((f - f.mean(axis=0)) / np.sqrt(len(f) - 1) for f in (x, y))
    shift = x.mean(axis=0) - y.mean(axis=0)
    return shift @ shift + np.sum(a**2) + np.sum(b**2) - 2 * scipy.linalg.svdvals(a @ b.T).sum()


# Moments


@given(seeds, widths, st.integers(2, 60), st.integers(1, 60))
@settings(max_examples=50)
def test_moments_are_numpys(seed, width, n, parts):
    x = frames(np.random.default_rng(seed), n, width)
    found = gaussian(x, parts)  # among them clips of one frame and of none
    assert found.n == n
    np.testing.assert_allclose(found.mean, x.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.cov, np.atleast_2d(np.cov(x, rowvar=False)), rtol=1e-9, atol=1e-12)


def test_moments_beyond_a_block_and_merged():
    rng = np.random.default_rng(1)
    x = frames(rng, 10_000, 5) + 1e6  # far from zero: squares without centring would lose all digits
    whole = gaussian(x, 700)
    first, second = Moments(), Moments()
    for clip in np.array_split(x[:9_000], 300):
        second.add(clip)
    for clip in x[9_000:]:
        first.add(clip[None])
    assert (first.n, second.n) == (1_000, 9_000)
    for merged in (first.merged(second), second.merged(first), Moments().merged(first).merged(second)):
        found = merged.gaussian()
        assert found.n == 10_000
        np.testing.assert_allclose(found.mean, x.mean(axis=0), rtol=1e-14)
        np.testing.assert_allclose(found.cov, np.cov(x, rowvar=False), rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(found.cov, whole.cov, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(first.gaussian().cov, np.cov(x[9_000:], rowvar=False), rtol=1e-6, atol=1e-6)


def test_frames_may_be_overwritten_after_they_were_added():
    buffer, moments = np.zeros((2, 3)), Moments()
    for value in (1.0, 2.0, 3.0):
        buffer[:] = value
        moments.add(buffer)
    assert moments.gaussian().mean.tolist() == [2.0, 2.0, 2.0]


def test_one_frame_is_no_set():
    moments = Moments()
    moments.add(np.ones((1, 4)))
    with pytest.raises(ValueError, match="at least 2 frames, not 1"):
        moments.gaussian()


def test_bad_frames_are_named():
    moments = Moments()
    moments.add(np.zeros((1, 3)))
    bad = np.zeros((4, 3))
    bad[2, 1] = np.nan
    with pytest.raises(ValueError, match="row 2 has nan in column 1"):
        moments.add(bad)
    with pytest.raises(ValueError, match="width 4 among frames of width 3"):
        moments.add(np.zeros((2, 4)))
    wider = Moments()
    wider.add(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="width 4 among frames of width 3"):
        moments.merged(wider)
    with pytest.raises(ValueError, match="shape"):
        moments.add(np.zeros(3))
    assert moments.n == 1


# The Fréchet distance


@given(seeds, widths, st.integers(2, 40), st.integers(2, 40), st.integers(0, 3))
@settings(max_examples=100)
def test_frechet_of_any_two_sets(seed, width, n, m, dead):
    """Also with fewer frames than dimensions and with dimensions that stand still."""
    rng = np.random.default_rng(seed)
    x, y = frames(rng, n, width, min(dead, width)), frames(rng, m, width)
    a, b = gaussian(x), gaussian(y)
    there = frechet(a, b)
    assert isinstance(there, float)
    assert there >= 0
    assert np.isfinite(there)
    variance = np.trace(a.cov + b.cov)
    assert there == pytest.approx(frechet(b, a), rel=1e-9, abs=1e-9 * variance)
    assert there == pytest.approx(of_frames(x, y), rel=1e-6, abs=1e-6 * variance)
    assert Frechet(a, b).value == pytest.approx(there, rel=1e-9, abs=1e-9 * variance)


@given(seeds, widths, st.integers(2, 40), st.integers(0, 3))
@settings(max_examples=60)
def test_frechet_of_a_set_and_itself_is_zero(seed, width, n, dead):
    rng = np.random.default_rng(seed)
    x = frames(rng, n, width, min(dead, width)) * 10 ** rng.uniform(-6, 6)
    a = gaussian(x)
    for again in (a, gaussian(x[rng.permutation(n)]), gaussian(x, n), gaussian(x[::-1], 3)):
        assert frechet(a, again) == 0
        assert Frechet(a, again).value == 0
    if n > width + 1:
        assert frechet(a, gaussian(x + 0.01 * np.abs(x).max())) > 0


@given(seeds, widths, st.integers(2, 4))
@settings(max_examples=60)
def test_frechet_agrees_with_sqrtm(seed, width, times):
    rng = np.random.default_rng(seed)
    n = times * width + 3
    a, b = gaussian(frames(rng, n, width)), gaussian(frames(rng, n + 5, width))
    assert frechet(a, b) == pytest.approx(by_sqrtm(a, b), rel=1e-6)


@pytest.mark.parametrize(("decades", "beside_scipy"), [(3, 1e-6), (7, None)])
def test_frechet_where_standard_deviations_span_decades(decades, beside_scipy):
    """Over seven, the formula of the toolkits is 1.4e-6 off."""
    rng = np.random.default_rng(2)
    scale = 10 ** np.linspace(0, -decades, 96)
    mix = scipy.stats.ortho_group.rvs(96, random_state=3)
    x, y = (rng.standard_normal((n, 96)) * scale @ mix for n in (300, 250))
    a, b = gaussian(x), gaussian(y)
    expected = of_frames(x, y)
    assert frechet(a, b) == pytest.approx(expected, rel=1e-8)
    assert Frechet(a, b).value == pytest.approx(expected, rel=1e-8)
    if beside_scipy:
        assert frechet(a, b) == pytest.approx(by_sqrtm(a, b), rel=beside_scipy)


@pytest.mark.parametrize("n", [8, 40])
def test_frechet_of_too_few_frames_is_exact(n):
    """40 dimensions, of which 8 frames leave 33 without variance and 40 frames one."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, y = rng.standard_normal((n, 40)), 1.5 * rng.standard_normal((n + 1, 40))
        expected = of_frames(x, y)
        assert frechet(gaussian(x), gaussian(y)) == pytest.approx(expected, rel=1e-9)
        assert frechet(gaussian(y), gaussian(x)) == pytest.approx(expected, rel=1e-9)


@given(seeds, widths)
@settings(max_examples=40)
def test_frechet_of_gaussians_with_common_axes(seed, width):
    """(mean difference)^2 + sum over the axes of (difference of standard deviations)^2, however they lie."""
    rng = np.random.default_rng(seed)
    s, t = rng.uniform(0, 3, (2, width))
    t[0] = 0.0  # an axis along which one set stands still
    mu, nu = rng.normal(0, 2, (2, width))
    expected = np.sum((mu - nu) ** 2) + np.sum((s - t) ** 2)
    turn = np.linalg.qr(rng.standard_normal((width, width)))[0]
    for axes in (np.eye(width), turn):
        a = Gaussian(100, axes @ mu, axes @ np.diag(s**2) @ axes.T)
        b = Gaussian(100, axes @ nu, axes @ np.diag(t**2) @ axes.T)
        assert frechet(a, b) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(seeds, widths)
@settings(max_examples=40)
def test_frechet_turns_with_the_space(seed, width):
    rng = np.random.default_rng(seed)
    x, y = frames(rng, 40, width), frames(rng, 30, width)
    turn = np.linalg.qr(rng.standard_normal((width, width)))[0]
    assert frechet(gaussian(x @ turn + 5), gaussian(y @ turn + 5)) == pytest.approx(
        frechet(gaussian(x), gaussian(y)), rel=1e-6
    )
    assert frechet(gaussian(3 * x), gaussian(3 * y)) == pytest.approx(9 * frechet(gaussian(x), gaussian(y)))


def test_frechet_sees_more_noise_as_further():
    rng = np.random.default_rng(4)
    x = frames(rng, 400, 16)
    noise = rng.standard_normal(x.shape)
    found = [frechet(gaussian(x + level * noise), gaussian(x)) for level in (0, 0.3, 1, 3)]
    assert found[0] == 0
    assert found == sorted(found)


def test_sets_of_silence():
    """All frames the same in both sets: no variance at all, and still a distance."""
    a, b = gaussian(np.zeros((5, 3))), gaussian(np.ones((7, 3)))
    assert frechet(a, b) == 3
    assert frechet(a, a) == 0
    assert Frechet(a, b).influence_a(np.zeros((1, 3))) == 0


def test_other_widths_have_no_distance():
    with pytest.raises(ValueError, match="3 and 4 dimensions"):
        frechet(gaussian(np.zeros((2, 3))), gaussian(np.zeros((2, 4))))


def test_enough():
    assert enough(1025, 1024, 1025) == ""
    few = enough(1024, 1024, 5_000)
    assert "1,024 here" in few
    assert "in the reference" not in few.split(";")[1]
    assert "KAD" in few
    both = enough(3, 1024, 1_000)
    assert "3 here and 1,000 in the reference" in both


# Its interval


def two_sets(rng, n=300, width=6, size=3):
    """Clips of ``size`` frames that resemble each other, of two different distributions."""
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((width, width)))[0]
    scale = np.linspace(0.3, 1.5, width)
    x, y = (
        (rng.standard_normal((n // size, 1, width)) + rng.standard_normal((n // size, size, width))) * scale
        for _ in range(2)
    )
    return x, y @ (0.7 * np.eye(width) + 0.3 * turned) * 1.2 + 0.3


def influences(x, y):
    """The distance and the influence of every clip of either set."""
    both = Frechet(gaussian(np.concatenate(x)), gaussian(np.concatenate(y)))
    return both, [both.influence_a(clip) for clip in x], [both.influence_b(clip) for clip in y]


def test_influence_is_the_derivative():
    """The change of the distance when a clip of n frames weighs a little more than the others."""
    x, y = two_sets(np.random.default_rng(5))
    both, of_x, of_y = influences(x, y)
    rows, others = np.concatenate(x), np.concatenate(y)
    step = 1e-5

    def weighted(frames, clip, size):
        """As of a set in which the frames of the clip weigh ``step`` more, all of them together 1."""
        weights = np.ones(len(frames))
        weights[clip * size : (clip + 1) * size] += step
        weights /= weights.sum()
        mean = weights @ frames
        centred = frames - mean
        n = len(frames)
        return Gaussian(n, mean, (centred.T * weights) @ centred * n / (n - 1))

    a, b = gaussian(rows), gaussian(others)
    for clip in range(0, 100, 7):
        for frames_, own, found in ((rows, "a", of_x[clip]), (others, "b", of_y[clip])):
            changed = weighted(frames_, clip, 3)
            value = frechet(changed, b) if own == "a" else frechet(a, changed)
            # the influence takes the covariance of the sample, (n - 1) / n of the unbiased one
            slope = (value - both.value) / step
            assert slope == pytest.approx(found, rel=1e-2, abs=2e-4)
    assert sum(of_x) == pytest.approx(0, abs=0.02)
    assert sum(of_y) == pytest.approx(0, abs=0.02)


def test_interval_agrees_with_the_jackknife():
    """Leaving out one clip after another, of one to three frames."""
    x, y = (
        [clip[: 1 + i % 3] for i, clip in enumerate(of)] for of in two_sets(np.random.default_rng(6), 600)
    )
    both, of_x, of_y = influences(x, y)
    low, high = interval(both.value, of_x + of_y, 0.95)
    a, b = gaussian(np.concatenate(x)), gaussian(np.concatenate(y))
    left = [frechet(gaussian(np.concatenate(x[:clip] + x[clip + 1 :])), b) for clip in range(len(x))]
    right = [frechet(a, gaussian(np.concatenate(y[:clip] + y[clip + 1 :]))) for clip in range(len(y))]
    spread = np.sqrt(sum(np.var(part) * (len(part) - 1) for part in (left, right)))
    assert (high - low) / 2 == pytest.approx(1.97 * spread, rel=0.05)
    assert (low + high) / 2 == pytest.approx(both.value)


def test_clips_of_one_cluster_count_together():
    """Copies of every clip, in one cluster with it, make no interval shorter; taken for new ones, they do."""
    x, y = two_sets(np.random.default_rng(7))
    both, of_x, of_y = influences(np.repeat(x, 4, axis=0), np.repeat(y, 4, axis=0))
    together = np.concatenate([np.reshape(of, (-1, 4)).sum(axis=1) for of in (of_x, of_y)])
    once = np.subtract(*interval(both.value, influences(x, y)[1] + influences(x, y)[2]))
    assert np.subtract(*interval(both.value, together)) == pytest.approx(once, rel=0.02)
    assert np.subtract(*interval(both.value, of_x + of_y)) == pytest.approx(once / 2, rel=0.03)


def test_pairs_that_move_together_make_the_interval_shorter():
    """A generated clip that is its reference and a little more: what the reference adds, it takes away."""
    rng = np.random.default_rng(8)
    x, _ = two_sets(rng)
    y = x * 1.1 + 0.1 + 0.05 * rng.standard_normal(x.shape)
    both, of_x, of_y = influences(x, y)
    alone = np.subtract(*interval(both.value, of_x + of_y, floor=None))
    paired = np.subtract(*interval(both.value, np.add(of_x, of_y), floor=None))
    assert abs(paired) < 0.7 * abs(alone)


@pytest.mark.parametrize("apart", [True, False])
def test_interval_covers_the_expected_distance(apart):
    """Of many samples, about 95 % of the intervals hold the mean distance; 250 runs: standard error 0.014.

    Where both sets are of one distribution, the mean distance is not the true one, which is zero.
    """
    rng = np.random.default_rng(9)
    found, bounds = [], []
    for _ in range(250):
        x, y = two_sets(rng, 240, 4, 6)
        if not apart:
            y, _ = two_sets(rng, 240, 4, 6)
        both, of_x, of_y = influences(x, y)
        found.append(both.value)
        bounds.append(interval(both.value, of_x + of_y, 0.95))
    low, high = np.transpose(bounds)
    covered = np.mean((low <= np.mean(found)) & (np.mean(found) <= high))
    assert 0.90 <= covered <= 0.99


def test_dead_dimensions_do_not_change_the_interval():
    x, y = two_sets(np.random.default_rng(10))
    pad = ((0, 0), (0, 0), (0, 2))
    plain, dead = influences(x, y), influences(np.pad(x, pad), np.pad(y, pad, constant_values=0.0))
    assert dead[0].value == pytest.approx(plain[0].value)
    np.testing.assert_allclose(dead[1] + dead[2], plain[1] + plain[2], rtol=1e-6, atol=1e-9)
    half = y.copy()
    half[..., 0] = 0.25  # a dimension that stands still in one set alone
    both, of_x, of_half = influences(x, half)
    assert np.isfinite(of_x + of_half).all()
    assert interval(both.value, of_x + of_half)[1] < 2 * both.value


def test_interval_of_a_set_and_itself_has_no_width():
    x, _ = two_sets(np.random.default_rng(11))
    both, of_x, again = influences(x, x)
    assert both.value == 0
    assert interval(both.value, np.add(of_x, again)) == pytest.approx((0, 0), abs=1e-9)


def test_interval_limits():
    assert interval(1.0, [0.5]) is None
    assert interval(0.1, [3.0, -3.0])[0] == 0
    assert interval(0.1, [3.0, -3.0], floor=None)[0] < 0
    wide, narrow = (interval(1.0, [0.1, -0.1, 0.05], level) for level in (0.99, 0.5))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    with pytest.raises(ValueError, match="level"):
        interval(1.0, [0.1, 0.2], 95)
    both = influences(*two_sets(np.random.default_rng(12)))[0]
    with pytest.raises(ValueError, match="row 0 has inf"):
        both.influence_a(np.full((1, 6), np.inf))
    with pytest.raises(ValueError, match="width 5"):
        both.influence_b(np.zeros((1, 5)))


# The kernel distance


def naive(x, y, same=(), bandwidth=None):
    """The definition, pair by pair."""
    if bandwidth is None:
        distances = sorted(scipy.spatial.distance.pdist(y))
        bandwidth = distances[(len(distances) - 1) // 2]

    def mean(first, second, but):
        pairs = [p for p in itertools.product(range(len(first)), range(len(second))) if p not in but]
        values = [np.exp(-np.sum((first[i] - second[j]) ** 2) / (2 * bandwidth**2)) for i, j in pairs]
        return np.mean(values)

    return SCALE * (
        mean(x, x, {(i, i) for i in range(len(x))})
        + mean(y, y, {(i, i) for i in range(len(y))})
        - 2 * mean(x, y, set(same))
    )


def as_kadtk(x, y):
    """What kadtk does with two sets: every pair across them, the diagonals left out within."""
    n, m = len(x), len(y)
    width = np.median(scipy.spatial.distance.pdist(y))  # of an odd number of distances
    k_xx, k_yy, k_xy = (
        np.exp(-scipy.spatial.distance.cdist(p, q, "sqeuclidean") / (2 * width**2 + 1e-8))
        for p, q in ((x, x), (y, y), (x, y))
    )
    within = (k_xx.sum() - n) / (n * (n - 1)) + (k_yy.sum() - m) / (m * (m - 1))
    return 100 * (within - 2 * k_xy.mean())


@given(seeds, st.integers(2, 9), st.integers(2, 9), st.integers(0, 9), st.integers(1, 5))
@settings(max_examples=60)
def test_kernel_distance_is_its_definition(seed, n, m, shared, width):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((n, width)), rng.standard_normal((m, width)) * 2 + 1
    shared = min(n, m, shared)
    left, right = rng.permutation(n)[:shared], rng.permutation(m)[:shared]
    y[right] = x[left]
    same = [(int(i), int(j)) for i, j in zip(left, right, strict=True)]
    found = kernel_distance(x, y, same=same, bandwidth=1.5)
    assert found.bandwidth == 1.5
    assert found.value == pytest.approx(naive(x, y, same, 1.5), rel=1e-9, abs=1e-9)
    assert kernel_distance(x, y).value == pytest.approx(naive(x, y), rel=1e-9, abs=1e-9)


def test_kernel_distance_in_blocks(monkeypatch):
    rng = np.random.default_rng(13)
    x, y = rng.standard_normal((37, 8)), rng.standard_normal((23, 8)) + 0.5
    same = [(3, 4), (30, 22)]
    whole = kernel_distance(x, y, same=same)
    monkeypatch.setattr("earwitness.scores.kernel_distance.BLOCK", 100)
    blocks = kernel_distance(x, y, same=same)
    assert blocks.value == pytest.approx(whole.value)
    assert (blocks.low, blocks.high) == pytest.approx((whole.low, whole.high))


def test_kernel_distance_is_that_of_kadtk():
    rng = np.random.default_rng(14)
    x, y = rng.standard_normal((60, 32)) + 0.3, rng.standard_normal((50, 32))  # 1,225 distances
    assert kernel_distance(x, y).value == pytest.approx(as_kadtk(x, y), rel=1e-6)


@given(seeds, st.integers(2, 30), st.integers(1, 40))
@settings(max_examples=40)
def test_kernel_distance_of_a_set_and_itself_is_zero(seed, n, width):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, width)) * 10 ** rng.uniform(-3, 3) + rng.normal(0, 10)
    order = rng.permutation(n)
    for again, same in (
        (x.copy(), [(i, i) for i in range(n)]),
        (x[order], [(int(i), j) for j, i in enumerate(order)]),
    ):
        found = kernel_distance(x, again, same=same)
        assert found.value == 0
        if n > 2:
            assert (found.low, found.high) == (0, 0)
    if n > 5:
        assert as_kadtk(x, x) < 0  # what leaving out the pairs is for


def test_kernel_distance_centres_on_zero_without_a_difference():
    """Unbiased: negative about as often as not."""
    rng = np.random.default_rng(15)
    found = [
        kernel_distance(rng.standard_normal((20, 4)), rng.standard_normal((30, 4))).value for _ in range(250)
    ]
    assert np.mean(found) == pytest.approx(0, abs=4 * np.std(found) / np.sqrt(250))
    assert 0.3 < np.mean(np.array(found) < 0) < 0.8


@pytest.mark.parametrize("size", [1, 4])
def test_kernel_interval_covers_the_expected_distance(size):
    """300 runs of 40 clusters of ``size`` clips in either set: standard error 0.013."""
    rng = np.random.default_rng(16)

    def draw(name, shift):
        middle = rng.standard_normal((40, 1, 4)) * (size > 1)
        clips = (middle + rng.standard_normal((40, size, 4)) + shift).reshape(-1, 4)
        return clips, [f"{name} {i // size}" for i in range(len(clips))]

    found = []
    for _ in range(300):
        (x, of_x), (y, of_y) = draw("x", 0.6), draw("y", 0.0)
        found.append(kernel_distance(x, y, x_clusters=of_x, y_clusters=of_y, bandwidth=2.5))
    mean = np.mean([one.value for one in found])
    assert 0.90 <= np.mean([one.low <= mean <= one.high for one in found]) <= 0.99


def test_kernel_interval_is_that_of_leaving_clusters_out():
    rng = np.random.default_rng(17)
    x, y = rng.standard_normal((12, 3)), rng.standard_normal((9, 3)) + 0.5
    y[0] = x[5]
    of_x, of_y = [f"c{i % 5}" for i in range(12)], [f"c{i % 4 + 2}" for i in range(9)]
    found = kernel_distance(x, y, same=[(5, 0)], x_clusters=of_x, y_clusters=of_y, bandwidth=2.0)
    values = []
    for name in sorted({*of_x, *of_y}):
        rows, others = ([i for i, c in enumerate(of) if c != name] for of in (of_x, of_y))
        same = [(rows.index(5), others.index(0))] if 5 in rows and 0 in others else []
        values.append(naive(x[rows], y[others], same, 2.0))
    spread = np.sqrt(np.var(values) * (len(values) - 1))
    reach = scipy.stats.t.ppf(0.975, len(values) - 1) * spread
    assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach))


def test_kernel_distance_of_too_few_clips_has_a_reason():
    one, many = np.ones((1, 3)), np.arange(15.0).reshape(5, 3)
    assert "there are 1 and 5" in kernel_distance(one, many)
    assert "there are 5 and 1" in kernel_distance(many, one)
    assert "there are 0 and 5" in kernel_distance(np.zeros((0, 3)), many)
    assert "no bandwidth" in kernel_distance(many, np.ones((4, 3)))
    assert kernel_distance(many, np.ones((4, 3)), bandwidth=1.0).value > 0
    together = kernel_distance(many, many + 1, x_clusters=["a"] * 5, y_clusters=["a"] * 5)
    assert (together.low, together.high) == (None, None)
    lone = kernel_distance(many[:2], many + 1)  # no kernel within x once a clip of it is left out
    assert (lone.low, lone.high) == (None, None)


def test_kernel_distance_refuses_what_does_not_fit():
    x, y = np.zeros((4, 3)), np.ones((5, 3))
    bad = y.copy()
    bad[3, 0] = np.nan
    for message, call in {
        "y: row 3 has nan": lambda: kernel_distance(x, bad),
        "width 3 and y 2": lambda: kernel_distance(x, np.zeros((4, 2))),
        "x has 4 rows": lambda: kernel_distance(x, y, same=[(4, 0)]),
        "y has 5 rows": lambda: kernel_distance(x, y, same=[(0, -1)]),
        "y enters more than one pair": lambda: kernel_distance(x, y, same=[(0, 1), (1, 1)]),
        "both or neither": lambda: kernel_distance(x, y, x_clusters=["a"] * 4),
        "4 and 4 clusters for 4 and 5 rows": lambda: kernel_distance(
            x, y, x_clusters=["a"] * 4, y_clusters=["b"] * 4
        ),
        "bandwidth": lambda: kernel_distance(x, y, bandwidth=0.0),
        "level": lambda: kernel_distance(x, y, bandwidth=1.0, level=2),
    }.items():
        with pytest.raises(ValueError, match=message):
            call()


def test_median_distance(monkeypatch):
    rng = np.random.default_rng(18)
    x = rng.standard_normal((31, 7))
    assert median_distance(x) == pytest.approx(np.median(scipy.spatial.distance.pdist(x)))
    assert median_distance([[0.0], [1.0], [3.0], [7.0]]) == 3  # of 1, 2, 3, 4, 6, 7
    many = rng.standard_normal((1_300, 2))
    whole = median_distance(many)
    monkeypatch.setattr("earwitness.scores.kernel_distance.MEDIAN_OF", 1_000)
    assert median_distance(many) == pytest.approx(whole, rel=0.02)
    assert median_distance(many) != whole
    assert median_distance(np.full((7, 3), 0.1)) == 0
    with pytest.raises(ValueError, match="2 rows"):
        median_distance(x[:1])


# Distributions over classes


@given(seeds, st.integers(1, 8), st.integers(2, 30))
@settings(max_examples=50)
def test_kl_is_scipys_entropy(seed, n, classes):
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 3, (2, n, classes))
    p, q = scipy.special.softmax(logits, axis=2)
    expected = scipy.stats.entropy(p, q, axis=1)
    np.testing.assert_allclose(kl(p, q), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kl_of_logits(*logits), expected, rtol=1e-9, atol=1e-12)
    assert (kl(p, p) == 0).all()
    assert kl_of_logits(logits[0], logits[0] + 7) == pytest.approx(0, abs=1e-12)


def test_kl_knows_which_side_is_the_reference():
    reference, generated = np.array([[1.0, 0.0]]), np.array([[0.25, 0.75]])
    assert kl(reference, generated) == pytest.approx(np.log(4))
    with pytest.raises(ValueError, match="row 0: generated gives class 1 no chance"):
        kl(generated, reference)


def test_kl_of_logits_is_finite_where_probabilities_underflow():
    assert kl_of_logits([[0.0, 2_000.0]], [[2_000.0, 0.0]]) == pytest.approx(2_000)


def test_kl_needs_probabilities():
    """A mean of hidden states, other numbers of rows and the like are refused, never scored."""
    good = np.full((3, 4), 0.25)
    for message, row in {
        "row 1 is no distribution: class 2 has -0.5": [0.5, 0.5, -0.5, 0.5],
        "row 1 is no distribution: its sum is 1.00001": [0.25, 0.25, 0.25, 0.25001],
        "row 1 is no distribution: its sum is 0,": [0, 0, 0, 0],
        "row 1 has inf": [np.inf, 0, 0, 0],
    }.items():
        bad = good.copy()
        bad[1] = row
        for call in (lambda b=bad: kl(b, good), lambda b=bad: kl(good, b), lambda b=bad: inception_score(b)):
            with pytest.raises(ValueError, match=message):
                call()
    for call in (kl, kl_of_logits):
        with pytest.raises(ValueError, match="shape"):
            call(good, good[:2])
        with pytest.raises(ValueError, match="shape"):
            call(good[:, :2] * 2, good)
    with pytest.raises(ValueError, match="generated: row 2 has nan"):
        kl_of_logits(good, np.vstack([good[:2], [[np.nan] * 4]]))


def test_inception_score_closed_forms():
    sharp = inception_score(np.tile(np.eye(5), (3, 1)))
    assert sharp.value == pytest.approx(5)  # every class as often, every clip sure
    alike = inception_score(np.tile([[0.7, 0.2, 0.1]], (6, 1)))
    assert (alike.value, alike.low, alike.high) == pytest.approx((1, 1, 1))
    unsure = inception_score(np.array([[0.9, 0.1], [0.1, 0.9]] * 4))
    assert unsure.value == pytest.approx(np.exp(np.log(2) - scipy.stats.entropy([0.9, 0.1])))
    assert "at least 2 clips; there are 1" in inception_score(np.eye(3)[:1])
    assert "there are 0" in inception_score(np.zeros((0, 3)))
    lone = inception_score(np.eye(3), ["a", "a", "a"])
    assert (lone.low, lone.high) == (None, None)
    with pytest.raises(ValueError, match="2 clusters"):
        inception_score(np.eye(3), ["a", "b"])


def test_inception_score_covers_its_mean_and_grows_with_the_clips():
    rng = np.random.default_rng(19)
    means = []
    for n in (20, 80):
        found = [inception_score(rng.dirichlet([0.3, 0.5, 0.1, 0.2, 0.7], n)) for _ in range(300)]
        means.append(np.mean([one.value for one in found]))
        if n == 80:
            assert 0.90 <= np.mean([one.low <= means[-1] <= one.high for one in found]) <= 0.99
    assert means[0] < means[1]


# Cosines


def test_cosines():
    a = np.array([[1.0, 0.0], [1.0, 1.0], [2.0, 0.0], [1e-200, 0.0]])
    b = np.array([[0.0, 3.0], [1.0, 1.0], [-1.0, 0.0], [1e200, 1e200]])
    assert cosines(a, b) == pytest.approx([0, 1, -1, np.sqrt(0.5)])
    rng = np.random.default_rng(20)
    x, y = rng.standard_normal((2, 20, 64))
    expected = [1 - scipy.spatial.distance.cosine(p, q) for p, q in zip(x, y, strict=True)]
    assert cosines(x, y) == pytest.approx(expected)
    assert cosines(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)
    x[4] = 0
    with pytest.raises(ValueError, match="b: row 4 is zero"):
        cosines(y, x)
    with pytest.raises(ValueError, match="shape"):
        cosines(y, x[:3])
    y[7, 1] = np.inf
    with pytest.raises(ValueError, match="a: row 7 has inf"):
        cosines(y, x)


def test_the_mean_of_merged_frames_is_theirs_to_the_last_digits():
    """Blocks far apart: an error in how means are put together cannot hide in the spread."""
    rng = np.random.default_rng(0)
    blocks = [rng.standard_normal((count, 3)) + 1000 * at for at, count in enumerate((7, 40, 2))]
    merged = Moments()
    for block in blocks:
        one = Moments()
        one.add(block)
        merged = merged.merged(one)
    found, rows = merged.gaussian(), np.concatenate(blocks)
    np.testing.assert_allclose(found.mean, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.cov, np.cov(rows, rowvar=False), rtol=1e-12)
