"""Two runs side by side: nothing found where nothing changed, planted changes found."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner

from earwitness.cli import share
from earwitness.errors import UserError
from earwitness.report.compare import compare
from earwitness.report.differences import ALIKE, OVERALL
from shared_runs import FEW, edit_run, order_run

SKILL = {"ours": 10, "base": 6}
N = 12


def of(found: Any, system: str, metric: str = "toa") -> Any:
    return next(one for one in found.differences if (one.system, one.metric) == (system, metric))


def test_a_run_compared_with_itself_shows_no_change(tmp_path: Path) -> None:
    order_run(tmp_path, SKILL, n=N, unheard={("base", 11)})
    found = compare(tmp_path / "run", tmp_path / "run", options=FEW)
    assert found.shared == 2 * N
    assert found.changed == found.settings == found.only_first == found.only_second == ()
    for one in found.differences:
        assert one.difference == 0
        assert one.low is one.high is one.p is one.p_holm is None  # no other clip could show a difference
        assert one.note.endswith(ALIKE)
    assert {one.system: (one.first, one.second) for one in found.coverage} == {
        OVERALL: (23 / 24, 23 / 24), "ours": (1, 1), "base": (11 / 12, 11 / 12),
    }  # fmt: skip


def test_listeners_that_agree_on_every_clip_may_differ_on_others(tmp_path: Path) -> None:
    order_run(tmp_path, SKILL, n=N)
    # the same replies, but the scripts are not the same: "base" hears one clip that "run" has not
    order_run(tmp_path, {**SKILL, "more": 1}, n=N, run="later")
    found = compare(tmp_path / "run", tmp_path / "later", options=FEW)
    assert not found.same_hearings
    for one in found.differences:
        assert one.difference == 0
        assert one.p_holm == 1
        assert one.low is not None
        assert one.low < 0 < one.high


def test_planted_changes_are_found_and_nothing_else(tmp_path: Path) -> None:
    order_run(tmp_path, SKILL, n=N)
    lost = {("ours", index) for index in range(8)}
    order_run(tmp_path, SKILL, n=N, run="later", wrong=lost, unheard={("base", 0)})
    found = compare(tmp_path / "run", tmp_path / "later", out=tmp_path / "out", options=FEW)
    ours, base = of(found, "ours"), of(found, "base")
    assert (ours.items, ours.first, ours.second) == (12, 10 / 12, 2 / 12)
    assert ours.difference == pytest.approx(-8 / 12)
    assert ours.high < 0
    assert ours.p == pytest.approx(2 * 0.5**8)  # McNemar's exact test: eight changes, all one way
    assert ours.p_holm == pytest.approx(3 * ours.p)
    assert (base.items, base.difference) == (11, 0)  # the unheard clip is in neither mean
    assert of(found, OVERALL).difference == pytest.approx(-8 / 23)
    assert {(one.system, int(one.sample_id)) for one in found.changed} == lost | {("base", 0)}
    assert {(one.first, one.second) for one in found.changed if one.system == "ours"} == {("right", "wrong")}
    (unheard,) = [one for one in found.changed if one.system == "base"]
    assert (unheard.first, unheard.second) == ("right", "unheard")
    assert any(line.startswith("listener.version") for line in found.settings)
    written = json.loads((tmp_path / "out" / "compare.json").read_text(encoding="utf-8"))
    assert len(written["changed"]) == 9
    with (tmp_path / "out" / "compare.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * N
    assert sum(row["changed"] == "true" for row in rows) == 9
    assert rows[0]["toa_1"] == "1.0"
    assert rows[0]["toa_2"] == "0.0"
    assert "| ours | 0 | right | wrong |" in (tmp_path / "out" / "compare.md").read_text(encoding="utf-8")


def test_items_of_one_run_alone_are_counted_and_named(tmp_path: Path) -> None:
    order_run(tmp_path, SKILL, n=4)
    order_run(tmp_path, {"ours": 4, "other": 1}, n=3, run="later")
    found = compare(tmp_path / "run", tmp_path / "later", options=FEW)
    assert found.shared == 3
    assert found.only_first == (("ours", "3"), *(("base", str(index)) for index in range(4)))
    assert {system for system, _ in found.only_second} == {"other"}
    assert [one.system for one in found.coverage] == ["ours"]  # one system is all there is


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    order_run(tmp_path / "a", SKILL, n=2)
    edit_run(tmp_path / "b", ["ours", "base"], n=2)
    order_run(tmp_path / "c", {"another": 1}, n=2)
    with pytest.raises(UserError, match="a run of the task order"):
        compare(tmp_path / "a" / "run", tmp_path / "b" / "run")
    with pytest.raises(UserError, match="share no item"):
        compare(tmp_path / "a" / "run", tmp_path / "c" / "run")
    with pytest.raises(UserError, match="no run"):
        compare(tmp_path / "a" / "run", tmp_path / "a")


def test_the_command_line_prints_what_changed(tmp_path: Path) -> None:
    order_run(tmp_path, SKILL, n=4)
    order_run(tmp_path, SKILL, n=4, run="later", wrong={("ours", 1)})
    app = Typer()
    app.command("bundle")(share.bundle)
    app.command("compare")(share.compare)
    ran: Any = CliRunner().invoke(app, ["compare", str(tmp_path / "run"), str(tmp_path / "later")])
    assert ran.exit_code == 0, ran.output
    assert "1 of 8 shared items have another verdict." in ran.output
    assert "listener.version" in ran.output
