"""Which of two sets is nearer: planted differences are found, and what cannot be told apart is not."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from banded import RATE_HZ, Bands, Worded, folder, write
from earwitness import api, audio
from earwitness.errors import UserError
from earwitness.scores.distances import Frechet, Moments, frechet, interval
from earwitness.scores.kernel_distance import kernel_distance
from earwitness.scores.set_differences import (
    GROUPS,
    HALVES,
    LEAVING,
    Split,
    difference,
    jackknifed,
    unbiased_difference,
)
from earwitness.tasks.distance_measures import measured
from earwitness.tasks.distance_pairs import turned
from earwitness.tasks.distances import (
    ALL,
    Compared,
    Distance,
    Distances,
    Recipe,
    from_json,
    joined,
    same_recipe,
    to_json,
)
from earwitness.tasks.rows import Comparison

NAMES = [f"clip {number}" for number in range(24)]
HOW = {"workers": 1, "cache": False, "draws": 500}


def under_noise(clean: list[Path], made: Path, gain: float) -> list[Path]:
    rng = np.random.default_rng(7)
    made.mkdir()
    return [
        write(made / path.name, audio.read(path).samples[0] + gain * rng.standard_normal(RATE_HZ).clip(-3, 3))
        for path in clean
    ]


@pytest.fixture(scope="module")
def sets(tmp_path_factory) -> dict[str, list[Path]]:
    """Clean clips, copies under two noises that differ by chance alone, and under a far stronger one."""
    root = tmp_path_factory.mktemp("pairs")
    clean = folder(root / "clean", NAMES)
    faint = under_noise(clean, root / "faint", 0.002)
    other = [write(root / "other" / p.name, audio.read(p).samples[0][::-1].copy()) for p in faint]
    return {"clean": clean, "faint": faint, "other": other, "loud": under_noise(clean, root / "loud", 0.02)}


def items(sets, *systems: str, paired: bool = True, **more: str) -> list[Compared]:
    """Clips of these sets; where they are not paired, no two sets share a name."""
    return [
        Compared(
            system,
            path.stem if paired else f"{system} {path.stem}",
            path,
            (reference,) if paired else (),
            **more,
        )
        for system in systems
        for path, reference in zip(sets[system], sets["clean"], strict=False)
    ]


def of(found: Distances, metric: str, first: str, second: str) -> Comparison:
    (one,) = [p for p in found.comparisons if (p.metric, p.first, p.second) == (metric, first, second)]
    return one


# --- the difference of two numbers ----------------------------------------------------------------


def test_a_difference_of_kernel_distances_is_that_of_leaving_out_clusters_one_by_one():
    rng = np.random.default_rng(1)
    a, b, r = (rng.standard_normal((8, 3)) + shift for shift in (0.3, 0.8, 0.0))
    names = [f"p{i}" for i in range(8)]

    def numbers(kept: list[int]) -> tuple[float, float]:
        of = [names[i] for i in kept]
        pairs = [(i, i) for i in range(len(kept))]
        first, second = (
            kernel_distance(x[kept], r[kept], same=pairs, x_clusters=of, y_clusters=of, bandwidth=2.0)
            for x in (a, b)
        )
        return first, second

    first, second = numbers(list(range(8)))
    found = difference(first.value, second.value, jackknifed(first.changes, second.changes))
    without = np.array(
        [np.subtract(*(n.value for n in numbers([i for i in range(8) if i != gone]))) for gone in range(8)]
    )
    error = np.sqrt(7 / 8 * np.square(without - without.mean()).sum())
    assert found.value == pytest.approx(first.value - second.value)
    assert (found.high - found.low) / 2 == pytest.approx(2.364624 * error, rel=1e-5)
    assert found.clusters == 8


def test_a_cluster_of_one_set_alone_changes_the_others_number_by_nothing():
    influences = jackknifed({"a": 0.3, "b": -0.3}, {"b": 0.1, "c": -0.1})
    assert influences == pytest.approx(np.array([-0.3, 0.4, -0.1]) * 2 / 3)


def test_what_both_numbers_have_in_common_cancels():
    """Sets that share what is accidental are told apart where their own intervals overlap."""
    rng = np.random.default_rng(3)
    clips = rng.standard_normal((40, 10, 4)) + 2 * rng.standard_normal((40, 1, 4))
    near, far, reference = clips * 1.1, clips * 1.15, rng.standard_normal((40, 10, 4))

    def fitted(x):
        moments = []
        for side in (x, reference):
            m = Moments()
            m.add(side.reshape(-1, 4))
            moments.append(m.gaussian())
        found = Frechet(*moments)
        own = [found.influence_a(c) for c in x]
        return found.value, np.array([*own, *(found.influence_b(c) for c in reference)])

    (a, of_a), (b, of_b) = fitted(near), fitted(far)
    assert interval(a, of_a)[1] > interval(b, of_b)[0]
    found = difference(a, b, of_a - of_b)
    assert found.high < 0
    assert found.p < 0.001


def frames_of(clips):
    moments = Moments()
    moments.add(clips.reshape(-1, clips.shape[-1]))
    return moments.gaussian()


def test_a_smaller_set_is_not_farther_for_that():
    """Of one distribution, one of a third of the clips: only the plain difference sees that."""
    rng = np.random.default_rng(11)
    plain, found = [], []
    for _ in range(10):
        few, many, reference = (rng.standard_normal((n, 5, 24)) for n in (24, 72, 72))
        splits, influences = [], []
        for x, sign in ((few, 1), (many, -1)):
            of = Frechet(frames_of(x), frames_of(reference))
            parts = (
                tuple(
                    frechet(
                        *(frames_of(y[np.isin(np.arange(len(y)) % GROUPS, kept)]) for y in (x, reference))
                    )
                    for kept in way
                )
                for way in (LEAVING, HALVES)
            )
            splits.append(Split(of.value, *parts))
            influences += [sign * of.influence_a(clip) for clip in x]
        plain.append(splits[0].value - splits[1].value)
        found.append(unbiased_difference(*splits, influences))
    assert min(plain) > 0.5
    told = [one for one in found if not isinstance(one, str)]
    assert len(told) >= 5
    assert abs(np.mean([one.value for one in told])) < 0.25 * np.mean(plain)


def test_a_bias_that_does_not_fall_with_the_number_of_clips_is_not_taken_off():
    steady = Split(3.0, (3.1,) * GROUPS, (3.3,) * len(HALVES))  # as 1/n: 0.3 either way
    other = Split(3.0, (3.1,) * GROUPS, (5.0,) * len(HALVES))
    each = [0.5, -0.5, 0.4, -0.4]
    assert unbiased_difference(steady, Split(1.0, (1.0,) * GROUPS, (1.0,) * len(HALVES)), each).value == (
        pytest.approx(1.7)
    )
    assert "too few" in unbiased_difference(other, steady, each)


def test_p_lies_below_a_level_just_where_the_interval_of_that_level_leaves_zero_out():
    rng = np.random.default_rng(5)
    for _ in range(200):
        each = rng.standard_normal(12)
        found = difference(rng.normal(0, 10), 0.0, each - each.mean(), 0.95)
        assert (found.p < 0.05) == (found.low > 0 or found.high < 0)


def test_there_is_no_difference_of_one_cluster_nor_where_nothing_differs():
    assert difference(2.0, 1.0, [0.5]) is None
    assert difference(2.0, 2.0, [0.0, 0.0, 0.0]) is None
    assert difference(2.0, 2.0, [1e-14, -1e-14]) is None


# --- sets -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("paired", [True, False])
def test_the_set_that_is_nearer_is_named_and_sets_that_differ_by_chance_are_not_told_apart(sets, paired):
    given = items(sets, "loud", "faint", "other", paired=paired)
    found = measured(given, sets["clean"], Bands(), **HOW)
    for metric in ("fad", "fd", "kad", *(["kl"] if paired else [])):
        pair = of(found, metric, "loud", "faint")
        values = {row.system: row.value for row in found.rows if row.metric == metric and row.part == "all"}
        assert pair.winner == "faint"
        assert pair.difference == pytest.approx(values["loud"] - values["faint"], rel=0.1)
        assert 0 < pair.low < pair.difference < pair.high
        assert pair.p <= pair.p_holm < 0.01
        assert pair.items == (24 if paired else 0)
    for metric in ("fad", "fd", "kad"):
        pair = of(found, metric, "faint", "other")
        assert pair.winner == ""
        assert pair.difference is None or pair.low < 0 < pair.high
    assert any(pair.metric == "kl" for pair in found.comparisons) == paired


def test_cosines_are_compared_and_inception_scores_are_not(sets):
    given = items(sets, "loud", "faint", caption="band 3")
    found = measured(given, sets["clean"], Worded(), metrics=["is", "clap"], **HOW)
    assert {row.metric for row in found.rows if row.value is not None} == {"is", "clap"}
    assert of(found, "clap", "loud", "faint").difference is not None
    assert {pair.metric for pair in found.comparisons} == {"clap"}


def test_the_order_of_sets_turns_the_sign_and_nothing_else(sets):
    metrics = ["fad", "fd", "kad"]
    there = measured(items(sets, "loud", "faint"), sets["clean"], Bands(), metrics=metrics, **HOW)
    back = measured(items(sets, "faint", "loud"), sets["clean"], Bands(), metrics=metrics, **HOW)
    for metric in metrics:
        one, other = (
            asdict(pair)
            for pair in (of(there, metric, "loud", "faint"), turned(of(back, metric, "faint", "loud")))
        )
        assert [one.pop(k) for k in ("difference", "low", "high")] == pytest.approx(
            [other.pop(k) for k in ("difference", "low", "high")]
        )
        assert (one["winner"], one["clusters"], one["items"]) == ("faint", 24, 24)


def test_a_set_and_its_copy_are_not_compared_and_the_reason_is_told(sets):
    given = items(sets, "faint") + [replace(item, system="copy") for item in items(sets, "faint")]
    for pair in measured(given, sets["clean"], Bands(), **HOW).comparisons:
        assert (pair.difference, pair.p, pair.winner) == (None, None, "")
        assert "not compared: " in pair.note


def test_sets_are_compared_over_the_clips_that_both_have(sets):
    """A set that leaves out its worst clips gains nothing by it."""
    silent = [write(p.parent.parent / "partly" / p.name, np.zeros(RATE_HZ)) for p in sets["faint"][:8]]
    partly = {**sets, "partly": [*silent, *sets["faint"][8:]], "picked": sets["faint"]}
    given = [*items(partly, "partly"), *items(partly, "picked")[8:]]
    found = measured(given, sets["clean"], Bands(), metrics=["fad", "kad", "kl"], **HOW)
    values = {(row.system, row.metric): row.value for row in found.rows}
    assert values["partly", "fad"] > values["picked", "fad"]
    for pair in found.comparisons:
        assert pair.note.startswith("over the 16 clips that both have, of 24 and 16")
        assert (pair.items, pair.difference) == (16, None)  # the clips that both have are the same


def test_unpaired_sets_are_compared_whatever_their_sizes(sets):
    few = {**sets, "loud": sets["loud"][:16]}
    given = items(few, "faint", "loud", paired=False)
    for pair in measured(given, sets["clean"], Bands(), metrics=["fad", "kad"], **HOW).comparisons:
        assert (pair.winner, pair.note, pair.items) == (
            "faint",
            "over all clips of both, none paired by name",
            0,
        )


def test_few_clips_have_no_difference(sets):
    few = {name: clips[:9] for name, clips in sets.items()}
    found = measured(items(few, "faint", "loud"), few["clean"], Bands(), metrics=["fad", "kl"], **HOW)
    assert [pair.note for pair in found.comparisons] == ["not compared: fewer than 10 clusters of clips"] * 2


def test_baselines_are_no_contestants_and_p_is_corrected_over_the_pairs_of_a_metric(sets):
    given = items(sets, "loud", "faint", "other")
    found = measured(given, sets["clean"], Bands(), metrics=["fd", "kad"], baselines=["loud"], **HOW)
    assert {(pair.first, pair.second) for pair in found.comparisons} == {("faint", "other")}
    assert all(pair.p_holm == pair.p for pair in found.comparisons)
    every = measured(given, sets["clean"], Bands(), metrics=["fd", "kad"], **HOW)
    least = min((pair for pair in every.comparisons if pair.metric == "fd"), key=lambda pair: pair.p)
    assert least.p_holm == pytest.approx(3 * least.p)


# --- as they are kept -----------------------------------------------------------------------------


def test_distances_without_comparisons_and_draws_as_they_were_kept_before_are_read():
    before = json.loads((Path(__file__).parent / "data" / "distances_before_pairs.json").read_text())
    found = from_json(before)
    assert (found.comparisons, found.recipe.draws) == ((), 10_000)
    assert from_json(json.loads(json.dumps(to_json(found)))) == found


def test_comparisons_are_read_back_and_one_changed_by_hand_is_refused(sets):
    given = items(sets, "loud", "faint")
    found = measured(given, sets["clean"], Bands(), metrics=["kad"], **HOW)
    data = json.loads(json.dumps(to_json(found)))
    assert from_json(data).comparisons == found.comparisons
    data["comparisons"][0]["winner"] = "loud"
    with pytest.raises(UserError, match="not those that were measured"):
        from_json(data)


def test_other_draws_are_another_recipe():
    usual = Recipe("bands", "v1", {}, "ab", 3)
    assert replace(usual, draws=500).key != usual.key
    one, other = (Distances(recipe, (), ()) for recipe in (usual, replace(usual, draws=500)))
    with pytest.raises(UserError, match="draws: 10000 / 500"):
        same_recipe(one, other)


def test_joined_results_keep_their_comparisons_and_say_that_none_is_across():
    recipe = Recipe("bands", "v1", {}, "ab", 3)
    pair = Comparison("fad", "a", "b", 12, -1.0, -2.0, -0.5, 0.01, 0.01, "a")
    one = Distances(recipe, (), (), comparisons=(pair,))
    found = joined(one, Distances(recipe, (), ()))
    assert found.comparisons == (pair,)
    assert any("Sets of different results are not compared" in note for note in found.notes)
    assert not joined(one).notes


def test_p_values_of_joined_results_are_corrected_over_all_their_pairs(tmp_path):
    """Each pair wins in its own result; among the pairs of both, p = 0.04 is no longer below 0.05."""
    recipe = Recipe("bands", "v1", {}, "ab", 3)
    for out, first, second in (("one", "a", "b"), ("two", "c", "d")):
        pair = Comparison("kad", first, second, 12, -1.0, -2.0, -0.1, 0.04, 0.04, first)
        rows = tuple(Distance(name, ALL, "kad", 1.0, n=12, reference_n=12) for name in (first, second))
        found = replace(Distances(recipe, rows, ()), comparisons=(pair,))
        (tmp_path / out).mkdir()
        (tmp_path / out / "distances.json").write_text(json.dumps(to_json(found)), encoding="utf-8")
    joint = api.join_distances([tmp_path / "one", tmp_path / "two"])
    assert [(pair.p_holm, pair.winner) for pair in joint.distances.comparisons] == [(0.08, ""), (0.08, "")]
