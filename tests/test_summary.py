"""Systems from items: who is compared with whom, on what, and what the notes say."""

from dataclasses import replace

import pytest

from earwitness.tasks import edit, label, order
from earwitness.tasks.rows import ItemRow, Measures, MetricSpec, Summary
from earwitness.tasks.summary import _pair, summarise
from earwitness.tasks.tally import Drawn
from earwitness.tasks.task import Hearer

JOINT = MetricSpec("joint", "Joint", "all at once", rate=True)
MOVED = MetricSpec("moved", "Moved", "a distance without a limit", better=-1, scale=None)
MEASURES = Measures(
    (JOINT, MOVED), "joint", ("joint",), ("joint", "moved"), baselines={"identity": "returns the source"}
)
DETECTOR = Hearer("ear", "1", True, 0.1, frozenset(), 1)
JUDGE = Hearer("judge", "1", False, 0.1, frozenset(), 1)


def item(system: str, sample_id: str, cluster: str, **values: float | None) -> ItemRow:
    return ItemRow(
        1, system, sample_id, "", "", "", 1.0, cluster, "scored", "", "", "v", values=values
    )  # fmt: skip


def unheard(system: str, sample_id: str, reason: str = "refused") -> ItemRow:
    return ItemRow(1, system, sample_id, "", "", "", 1.0, "c", "unheard", reason, "", "unheard")


def summary(items: list[ItemRow], measures: Measures = MEASURES) -> Summary:
    return summarise(items, measures, task="edit", listener="ear", draws=500)


def test_refusing_the_hard_items_wins_nothing() -> None:
    """Every source has an easy edit that both get right and a hard one that both would get wrong."""
    items = []
    for k in range(20):
        for system in ("honest", "choosy"):
            items.append(item(system, f"easy{k}", f"source{k}", joint=1.0))
        items += [item("honest", f"hard{k}", f"source{k}", joint=0.0), unheard("choosy", f"hard{k}")]
    found = summary(items)
    assert [row.metrics["joint"].value for row in found.rows] == [0.5, 1.0]
    pair = found.comparisons[0]
    assert (pair.difference, pair.p, pair.winner) == (0.0, 1.0, "")
    assert (pair.items, pair.clusters) == (20, 20)


def test_an_item_without_the_metrics_value_is_left_out_for_that_metric_alone() -> None:
    items = [
        item(s, f"{k}", f"c{k // 2}", joint=float(k % 2), moved=float(k)) for s in "ab" for k in range(8)
    ]
    items[0] = item("a", "0", "c0", joint=0.0, moved=None)
    joint, moved = summary(items).comparisons
    assert (joint.metric, joint.items, joint.clusters) == ("joint", 8, 4)
    assert (moved.metric, moved.items, moved.clusters, moved.note) == (
        "moved", 7, 4, "all shared clusters differ alike, on a scale without limits",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("others", "note", "items"),
    [
        ([("1", "c1"), ("2", "c1")], "all shared items (2) lie in one cluster", 2),
        ([("x", "c1"), ("y", "c1")], "no scored item is shared", 0),
        ([("1", "another prompt"), ("2", "a third")], "no scored item is shared", 0),
    ],
)
def test_what_cannot_be_compared_is_told_truly(others: list[tuple[str, str]], note: str, items: int) -> None:
    rows = [item("a", "1", "c1", joint=1.0), item("a", "2", "c1", joint=0.0)]
    pair = summary(rows + [item("b", *other, joint=1.0) for other in others]).comparisons[0]
    assert pair.difference is None
    assert pair.note.startswith(note)
    assert pair.items == items


def test_baselines_are_not_tested_and_do_not_weaken_the_tests_of_others() -> None:
    right = {"a": 19, "b": 12, "identity": 3}
    items = [item(s, f"{k}", f"c{k}", joint=float(k < n)) for s, n in right.items() for k in range(20)]
    found, without = summary(items), summary([one for one in items if one.system != "identity"])
    assert found.comparisons == without.comparisons
    assert [(pair.first, pair.second) for pair in found.comparisons if pair.metric == "joint"] == [("a", "b")]
    assert [row.baseline for row in found.rows] == [False, False, True]
    assert found.rows[2].metrics["joint"].low is not None
    assert "identity is a baseline: it returns the source." in found.notes
    assert not any("baseline" in note for note in without.notes)


@pytest.mark.parametrize(
    ("measures", "reason", "helps"),
    [
        (order.measures(DETECTOR), "unmapped", True),
        (order.measures(DETECTOR), "unreadable", False),
        (order.measures(JUDGE), "refused", False),
        (edit.measures(DETECTOR), "unreadable", False),
        (edit.measures(JUDGE), "refused", False),
        (label.measures(DETECTOR), "unreadable", False),
    ],
)
def test_advice_on_captions_is_given_where_captions_are_the_cause(
    measures: Measures, reason: str, helps: bool
) -> None:
    notes = " ".join(summary([unheard("a", "1", reason), unheard("a", "2", reason)], measures).notes)
    assert f"every applicable item was unheard: a (2 {reason})" in notes
    assert ("prompts check" in notes) == helps
    assert ("--unclaimed" in notes) == helps


RELATION = MetricSpec("joint", "Joint", "all at once", rate=True)
STRATA = Measures(
    (RELATION, MOVED), "joint", ("joint",), ("joint",),
    baselines={"reference": "is the data set's own", "oracle": "is told the truth"},
    strata={"Count": ("count",), "Time": ("before", "after")}, stratum="relations",
    ceiling="reference", oracle="oracle",
)  # fmt: skip


def of(system: str, stratum: str, values: list[float], **more: float) -> list[ItemRow]:
    return [
        replace(item(system, f"{stratum}{k}", f"c{k}", joint=v, **more), stratum=stratum)
        for k, v in enumerate(values)
    ]


def of_all(system: str, **values: list[float]) -> list[ItemRow]:
    return [row for stratum, its in values.items() for row in of(system, stratum, its)]


def test_a_systems_number_is_the_mean_over_strata_and_its_parts_are_told() -> None:
    rows = of_all("a", count=[1.0] * 30, before=[1.0, 0.0], after=[0.0, 0.0])
    row = summary(rows, replace(STRATA, ceiling="")).rows[0]
    assert row.metrics["joint"].value == 0.5
    assert row.metrics["joint"].n == 34
    assert list(row.parts) == ["Count", "count", "Time", "before", "after"]
    told = {name: part["joint"].value for name, part in row.parts.items()}
    assert told == {"Count": 1.0, "count": 1.0, "Time": 0.25, "before": 0.5, "after": 0.0}
    alone = summary(of("a", "before", [1.0, 0.0])).rows[0]
    assert row.parts["before"]["joint"] == alone.metrics["joint"]
    assert row.parts["Count"] == row.parts["count"]


def test_unheard_items_count_within_their_stratum() -> None:
    rows = of_all("a", count=[1.0] * 30, before=[1.0, 1.0], after=[1.0, 1.0])
    rows += [replace(unheard("a", f"u{k}"), stratum="before") for k in range(2)]
    metric = summary(rows, replace(STRATA, ceiling="")).rows[0].metrics["joint"]
    assert metric.worst == pytest.approx((1 + 0.5 + 1) / 3)
    assert metric.best == 1.0


def test_a_number_without_its_ceiling_is_not_reported() -> None:
    right: list[float] = [1.0, 0.0, 1.0]
    every = {"count": right, "before": right, "after": right}
    rows = of_all("a", **every) + of_all("oracle", **every) + of_all("reference", count=right, before=right)
    rows += [replace(unheard("reference", f"after{k}", "unmapped"), stratum="after") for k in range(3)]
    found = summary(rows, STRATA)
    system, oracle, _ = found.rows
    assert system.parts["after"]["joint"].value is None
    assert system.parts["Time"]["joint"].n == 3
    assert oracle.parts["after"]["joint"].value == pytest.approx(2 / 3)
    told = " ".join(found.notes)
    assert "Not reported without their ceiling: Joint in after, where the clips of reference" in told
    assert "The means of a, oracle, reference are over 2 of 3 relations; left out: after." in told
    without = summary([row for row in rows if row.system != "reference"], STRATA)
    assert without.rows[0].metrics["joint"].value is None
    assert without.rows[1].metrics["joint"].value is not None


def test_systems_with_different_strata_are_compared_on_those_they_share() -> None:
    low, high = [0.0] * 10 + [1.0] * 2, [1.0] * 10 + [0.0] * 2
    rows = of_all("a", count=high, before=low, after=low)
    rows += of_all("b", count=low, before=low)
    rows += of_all("reference", count=high, before=high, after=high)
    found = summary(rows, STRATA)
    pair = found.comparisons[0]
    assert pair.difference == pytest.approx((10 - 2) / 12 / 2)
    assert (pair.items, pair.clusters) == (24, 24)
    values = {row.system: row.metrics["joint"].value for row in found.rows}
    assert values["a"] is not None
    assert values["b"] is None  # over fewer relations than a's it could not stand beside it
    assert any("b: no mean over all relations" in note and "in: after." in note for note in found.notes)
    free = summary(rows, replace(STRATA, ceiling=""))
    assert any("means are not over the same relations" in note for note in free.notes)


def test_the_oracles_means_are_over_the_strata_of_the_ceiling() -> None:
    """Its numbers fall from stratum to stratum, so that a mean over others would be another number."""
    right, half = [1.0] * 4, [1.0, 0.0] * 2
    rows = of_all("a", count=half, before=half, after=half) + of_all("reference", count=right, before=right)
    rows += of_all("oracle", count=right, before=right, after=half)
    for found in (summary(rows, STRATA), summary([row for row in rows if row.stratum != "after"], STRATA)):
        oracle = next(row for row in found.rows if row.system == "oracle")
        assert oracle.metrics["joint"].value == oracle.parts["Time"]["joint"].value == 1.0
        assert not any("no mean" in note or "in: ." in note for note in found.notes)
    oracle = summary(rows, STRATA).rows[2]
    assert oracle.parts["after"]["joint"].value == 0.5
    alone = [row for row in rows if row.system != "reference" or row.stratum == "count"]
    assert (
        summary(alone, STRATA).rows[2].parts["Time"]["joint"].value == 0.75
    )  # nobody else has a number there


def test_a_stratum_of_one_cluster_takes_no_interval_and_no_comparison_away() -> None:
    many = [1.0] * 38 + [0.0] * 2
    rows = of_all("a", count=many, before=many, after=[1.0])
    rows += of_all("b", count=many[::-1], before=[0.0] * 40, after=[0.0])
    rows += of_all("reference", count=many, before=many, after=many)
    found = summary(rows, STRATA)
    one, pair = found.rows[0], found.comparisons[0]
    assert (one.parts["after"]["joint"].value, one.parts["after"]["joint"].low) == (1.0, None)
    low, high = one.metrics["joint"].low, one.metrics["joint"].high
    assert low is not None
    assert high is not None
    assert low < 1 - (1 - 0.21) / 3 < one.metrics["joint"].value <= high  # type: ignore[operator]
    assert (pair.items, pair.note) == (81, "one cluster alone in after")
    assert pair.low is not None
    assert pair.low < 2 / 3 - 1.5 / 3


def test_no_winner_comes_of_strata_of_one_cluster_alone() -> None:
    rows = of_all("a", count=[1.0] * 9, before=[1.0] * 9, after=[1.0])
    rows += of_all("b", count=[1.0] * 9, before=[1.0] * 9, after=[0.0])
    rows += of_all("reference", count=[1.0] * 9, before=[1.0] * 9, after=[1.0])
    pair = summary(rows, STRATA).comparisons[0]
    assert (pair.difference, pair.p, pair.winner) == (pytest.approx(1 / 3), 1.0, "")
    assert (pair.low or 0) < 0
    lone = [row for row in rows if row.stratum == "after"]
    assert summary(lone, STRATA).comparisons[0].note == "all shared items (1) lie in one cluster"


def test_a_system_that_chance_has_no_part_in_has_no_interval() -> None:
    mixed: list[float] = [1.0, 0.0, 1.0]
    every = {"count": mixed, "before": mixed, "after": mixed}
    rows = of_all("a", **every) + of_all("reference", **every) + of_all("oracle", **every)
    found = summary(rows, replace(STRATA, exact=frozenset({"oracle"})))
    for row in found.rows:
        for metrics in (row.metrics, *row.parts.values()):
            assert metrics["joint"].value == pytest.approx(2 / 3)
            assert (metrics["joint"].low is None) == (row.system == "oracle")


def test_strata_are_told_in_the_order_of_the_items() -> None:
    """A set's order is another in every process, and so would the note be."""
    values = {(f"stratum {at}", "x", "1"): float(at % 2) for at in range(12)}
    both = {"a": values, "b": dict.fromkeys(values, 0.5)}
    found = _pair(MetricSpec("m", "M", "", 1, scale=None), "a", "b", both, Drawn(0.95, 20, 0))
    assert ", ".join(f"stratum {at}" for at in range(12)) in found.note
