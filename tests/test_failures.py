"""What ``earwitness failures`` lists: by the run's own task, verdicts and kinds."""

from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

import earwitness
from earwitness.cli import report
from earwitness.errors import UserError
from earwitness.report.failures import Wanted, listed
from edited import Edits, answers, edit_reply
from shared_runs import FEW, order_run
from sounds import events_reply, noise, script

APP = Typer()
APP.command()(report.failures)


def seen(run: Path, **wanted: str | bool) -> list[tuple[str, str]]:
    return [(row.sample_id, row.verdict) for row in listed(run, Wanted(**wanted))]  # type: ignore[arg-type]


def judged(folder: Path) -> Path:
    """Edits judged good, over-edit, failed, and once with two repeats that do not agree."""
    edits = Edits(folder)
    lines = []
    for sample, verdicts in {"g": ["good_edit"] * 2, "o": ["over_edit"] * 2, "f": ["failed"] * 2,
                             "t": ["good_edit", "under_edit"]}.items():  # fmt: skip
        lines += answers(edits.add("ours", sample), map(edit_reply, verdicts))
    name = script(folder / "s.jsonl", lines)
    earwitness.judge("edit", edits.write(), run=folder / "run", listener=name, repeats=2, options=FEW)
    return folder / "run"


def test_every_verdict_that_is_not_good_is_a_failure_and_a_tie_is_none(tmp_path: Path) -> None:
    run = judged(tmp_path)
    assert seen(run) == [("o", "over_edit"), ("f", "failed")]
    assert seen(run, verdict="over_edit") == [("o", "over_edit")]
    assert seen(run, verdict="tie") == [("t", "tie")]
    assert seen(run, unheard=True) == []
    ran = CliRunner().invoke(APP, [str(run)])
    assert [line.split("\t")[:3] for line in ran.stdout.splitlines()] == [
        ["over_edit", "ours", "o"], ["failed", "ours", "f"],
    ]  # fmt: skip
    assert "2 failures" in ran.stderr
    with pytest.raises(UserError, match=r"(?s)no verdict 'wrong'.*good_edit, over_edit"):
        seen(run, verdict="wrong")
    with pytest.raises(UserError, match=r"(?s)no kind of error 'reversed'.*--verdict"):
        seen(run, kind="reversed")


def test_a_verdict_given_as_a_kind_is_told_where_it_belongs(tmp_path: Path) -> None:
    order_run(tmp_path, {"ours": 1}, n=2)
    with pytest.raises(UserError, match=r"(?s)no kind of error 'wrong'.*--verdict wrong"):
        seen(tmp_path / "run", kind="wrong")


def test_a_task_that_only_describes_has_no_failures(tmp_path: Path) -> None:
    noise(tmp_path / "clips" / "a.wav", 0)
    lost = [{"pcm_hash": "*", "question": "events", "reason": "refused", "detail": "no"}]
    name = script(tmp_path / "s.jsonl", lost)
    earwitness.label(tmp_path / "clips", run=tmp_path / "run", listener=name, options=FEW)
    with pytest.raises(UserError, match=r"(?s)calls none of them a failure.*--unheard"):
        seen(tmp_path / "run")
    assert seen(tmp_path / "run", unheard=True) == [("a", "unheard")]
    assert seen(tmp_path / "run", verdict="unordered") == []


def test_names_are_checked_against_the_run(tmp_path: Path) -> None:
    order_run(tmp_path, {"ours": 1, "base": 0}, n=2)
    assert len(seen(tmp_path / "run")) == 3
    assert seen(tmp_path / "run", system="ours", kind="reversed") == [("1", "wrong")]
    with pytest.raises(UserError, match=r"(?s)no kind of error 'late'.*reversed"):
        seen(tmp_path / "run", kind="late")
    with pytest.raises(UserError, match=r"(?s)no system 'other'.*base, ours"):
        seen(tmp_path / "run", system="other")


def test_on_a_panel_the_runs_are_named(tmp_path: Path) -> None:
    noise(tmp_path / "clips" / "a.wav", 0)
    heard = {"pcm_hash": "*", "question": "events", "reply": events_reply(("Rain", 0.0, 0.4))}
    names = [script(tmp_path / f"{letter}.jsonl", [heard]) for letter in "xy"]
    made = earwitness.panel("label", tmp_path / "clips", run=tmp_path / "run", listener=names, options=FEW)
    with pytest.raises(UserError) as caught:
        seen(tmp_path / "run")
    for result in made.results.values():
        assert str(result.folder) in str(caught.value)
