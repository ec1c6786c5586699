"""Agreement of listeners: published and hand-computed values, the package's own, and properties."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from earwitness.stats.agreement import alpha, ranks, same

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), the four-observer example (section C):
# twelve units, nominal alpha 0.743, interval alpha 0.849.
TEXTBOOK = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
UNITS = [list(unit) for unit in zip(*TEXTBOOK, strict=True)]
NAMES = [f"c{i}" for i in range(len(UNITS))]


def test_the_textbook_values() -> None:
    nominal = alpha(UNITS, NAMES, "nominal", draws=200)
    assert nominal.value == pytest.approx(0.743, abs=5e-4)
    assert nominal.items == 11  # one unit has a single value
    assert alpha(UNITS, NAMES, "interval", draws=200).value == pytest.approx(0.849, abs=5e-4)


def test_two_observers_by_hand() -> None:
    # Ten units, two observers: six times a a, two times b b, two times a b. Coincidences: a a 12, b b 4,
    # a b 2 + 2; n = 20, n_a = 14, n_b = 6. Observed disagreement 4 / 20, expected 2 * 14 * 6 / (20 * 19).
    units = [["a", "a"]] * 6 + [["b", "b"]] * 2 + [["a", "b"]] * 2
    expected = 1 - (4 / 20) / (168 / 380)
    found = alpha(units, [str(i) for i in range(10)], "nominal")
    assert found.value == pytest.approx(expected)
    assert found.low is not None
    assert found.high is not None
    assert found.low < expected < found.high


def test_the_interval_is_that_of_the_package_resampled() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(3, size=60)
    units = [[int(t) if rng.random() < 0.8 else int(rng.integers(3)) for _ in range(3)] for t in truth]
    clusters = [f"c{i // 2}" for i in range(60)]
    for level in ("nominal", "interval"):
        found = alpha(units, clusters, level, draws=4000, seed=1)
        drawn = []
        for _ in range(600):
            picked = rng.integers(30, size=30)
            rows = [units[2 * c + side] for c in picked for side in (0, 1)]
            drawn.append(krippendorff.alpha(np.array(rows, float).T, level_of_measurement=level))
        assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.04)


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([None, 0.0, 1.0, 2.5]), min_size=3, max_size=3), min_size=2, max_size=12
    )
)
def test_the_order_of_items_and_listeners_does_not_matter(units: list[list[float | None]]) -> None:
    clusters = [f"c{i % 4}" for i in range(len(units))]
    one = alpha(units, clusters, "interval", draws=50)
    turned = alpha([unit[::-1] for unit in units[::-1]], clusters[::-1], "interval", draws=50)
    assert (one.items, one.reason) == (turned.items, turned.reason)
    for a, b in ((one.value, turned.value), (one.low, turned.low), (one.high, turned.high)):
        assert (a is None and b is None) or a == pytest.approx(b)


def test_what_is_undefined_says_why() -> None:
    lone = alpha([["a", None], [None, "b"]], ["1", "2"], "nominal")
    assert (lone.value, lone.items) == (None, 0)
    assert "two listeners" in lone.reason
    level = alpha([["a", "a"], ["a", "a"]], ["1", "2"], "nominal")
    assert (level.value, level.items) == (None, 2)
    assert "nothing to agree on" in level.reason
    perfect = alpha([["a", "a"], ["b", "b"], ["a", "a"]], ["1", "2", "3"], "nominal")
    assert (perfect.value, perfect.low) == (1.0, None)
    assert "no width" in perfect.reason
    with pytest.raises(ValueError, match="not finite"):
        alpha([[1.0, float("nan")], [1.0, 2.0]], ["1", "2"], "interval")


def test_ranks_and_raw_agreement() -> None:
    a, b = [0.1, 0.5, 0.5, 0.9, None], [0.2, 0.3, 0.6, 0.5, 0.1]
    found = ranks(a, b)
    assert found.systems == 4
    assert found.spearman == pytest.approx(stats.spearmanr(a[:4], b[:4]).statistic)
    assert found.kendall == pytest.approx((4 - 1) / np.sqrt(5 * 6))  # one pair is tied in a: tau-b by hand
    assert ranks([1, 2, 3], [3, 2, 1]).kendall == -1
    assert "3 are needed" in ranks([1, 2], [1, 2]).reason
    assert "level" in ranks([1, 1, 1], [1, 2, 3]).reason
    assert same(["x", "y", None, "x"], ["x", "x", "x", None]).share == 0.5
    assert same([None], ["x"]).share is None
