"""Whole runs of the edit task with scripted judges: planted marks in, table out."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import earwitness
from earwitness.errors import InputFaults
from earwitness.ledger import Ledger
from earwitness.questions.edit import PROMPT
from earwitness.report.build import Options
from earwitness.tasks.rows import ItemRow
from edited import Edits, answers, edit_reply, rows
from sounds import noise, script

GOOD, OVER = edit_reply("good_edit", 5, 4, 5, 4), edit_reply("over_edit", 5, 2, 3, 4)
UNDER, FAILED = edit_reply("under_edit", 2, 5, 5, 5), edit_reply("failed", 1, 1, 1, 1)


def judged(tmp_path: Path, edits: Edits, lines: list[dict[str, Any]], **options: Any) -> earwitness.Result:
    name = script(tmp_path / "script.jsonl", lines)
    shown = Options(spectrograms=0, draws=100)
    return earwitness.judge(
        "edit", edits.write(), run=tmp_path / "run", listener=name, options=shown, **options
    )


def summary(tmp_path: Path) -> dict[str, Any]:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    text = (tmp_path / "run" / "summary.json").read_text(encoding="utf-8")
    return json.loads(text, parse_constant=refuse)


def test_marks_and_verdicts_come_out_per_system(tmp_path: Path) -> None:
    edits, lines = Edits(tmp_path), []
    for k, reply in enumerate([GOOD, GOOD, GOOD, OVER]):
        lines += answers(edits.add("ours", f"s{k}"), [reply])
    for k, reply in enumerate([OVER, OVER, UNDER, FAILED]):
        lines += answers(edits.add("theirs", f"s{k}"), [reply])
    result = judged(tmp_path, edits, lines)
    ours, theirs = summary(tmp_path)["rows"]
    assert (ours["joint_success"]["value"], theirs["joint_success"]["value"]) == (0.75, 0.0)
    assert (ours["nontarget_preservation"]["value"], theirs["nontarget_preservation"]["value"]) == (3.5, 2.5)
    assert (ours["verdict_good_edit"]["value"], theirs["verdict_over_edit"]["value"]) == (0.75, 0.5)
    assert ours["edit_success"]["value"] == 5.0
    assert ours["flip_rate"]["value"] is None  # one repeat tells nothing of flips
    compared = {c.metric: c for c in result.summary.comparisons}
    assert set(compared) == {"edit_success", "nontarget_preservation", "temporal_preservation",
                             "naturalness", "joint_success"}  # fmt: skip
    assert compared["joint_success"].difference == 0.75
    assert compared["joint_success"].clusters == 4
    with (tmp_path / "run" / "replies.csv").open(encoding="utf-8", newline="") as file:
        replies = list(csv.DictReader(file))
    assert len(replies) == 8
    assert {row["intended_change"] for row in replies} == {"a dog"}


def test_systems_are_paired_on_the_sound_of_their_source(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    for system in ("a", "b"):
        for k in range(2):
            edits.add(system, f"s{k}")
    (tmp_path / "sources" / "s1.wav").write_bytes((tmp_path / "sources" / "s0.wav").read_bytes())
    result = judged(tmp_path, edits, answers("*", [GOOD]))
    assert result.items["cluster"].n_unique() == 1  # two samples of one source are one cluster
    assert all("all shared items (2) lie in one cluster" in c.note for c in result.summary.comparisons)


def scored(tmp_path: Path, edits: Edits, lines: list[dict[str, Any]], **how: Any) -> list[ItemRow]:
    """The items alone, without a report."""
    return rows(edits.write(), tmp_path / "run", script(tmp_path / "script.jsonl", lines), **how)


def one_item(tmp_path: Path, replies: list[dict[str, Any]]) -> ItemRow:
    edits = Edits(tmp_path)
    edits.add("a", "1")
    (item,) = scored(tmp_path, edits, answers("*", replies), repeats=len(replies))
    return item


def test_the_majority_of_repeats_is_the_verdict(tmp_path: Path) -> None:
    item = one_item(tmp_path, [GOOD, OVER, GOOD])
    assert item.verdict == "good_edit"
    assert item.values["nontarget_preservation"] == pytest.approx(10 / 3)
    assert item.values["joint_success"] == 0.0  # the mean of 4, 2 and 4 is not good
    assert item.values["flip_rate"] == pytest.approx(2 / 3)
    assert item.values["success_spread"] == 0.0
    assert item.values["repeat_difference"] == pytest.approx(
        2 / 3
    )  # 1 between unlike hearings: 2 and 2 over 4 axes


def test_a_tie_is_named_and_counts_for_no_verdict(tmp_path: Path) -> None:
    item = one_item(tmp_path, [GOOD, FAILED])
    assert item.verdict == "tie"
    assert "tie of good_edit and failed" in item.detail
    shares = {name: value for name, value in item.values.items() if name.startswith("verdict_")}
    assert shares.pop("verdict_tie") == 1.0
    assert set(shares.values()) == {0.0}


def test_an_item_with_one_heard_repeat_is_scored_and_one_without_is_unheard(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    half, none = edits.add("a", "1"), edits.add("a", "2")
    refused = {"question": "edit", "reason": "refused", "detail": "no"}
    lines = [
        *answers(half, [GOOD]),
        {"pcm_hash": half, "repeat": 1, **refused},
        {"pcm_hash": none, **refused},
    ]
    judged(tmp_path, edits, lines, repeats=2)
    (row,) = summary(tmp_path)["rows"]
    assert (row["scored"], row["unheard"], row["coverage"]) == (1, 1, 0.5)
    assert (row["joint_success"]["worst"], row["joint_success"]["best"]) == (0.5, 1.0)


def test_which_words_reach_the_judge(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    both = {"source_caption": "rain", "target_caption": "rain and a dog"}
    edits.add("a", "both", **both, instruction="Add a dog")
    edits.add("a", "captions", **both)
    edits.add("a", "instruction", instruction="Add a dog")
    edits.add("a", "source only", source_caption="rain")
    edits.add("a", "target only", target_caption="rain and a dog")
    edits.add("a", "nothing", instruction=" ")
    items = scored(tmp_path, edits, answers("*", [GOOD]))
    with Ledger.read(tmp_path / "run" / "ledger.sqlite") as ledger:
        shown = {ledger.item(i).item.sample_id: [sorted(h.texts) for h in ledger.heard(i)]
                 for i in ledger.item_ids()}  # fmt: skip
    assert shown == {
        "both": [["instruction", "source_caption", "target_caption"]],
        "captions": [["source_caption", "target_caption"]],
        "instruction": [["instruction"]],
        "source only": [],
        "target only": [],
        "nothing": [],
    }
    left_out = [item for item in items if item.status == "not_applicable"]
    assert [item.sample_id for item in left_out] == ["source only", "target only", "nothing"]
    assert "needs an instruction" in left_out[0].reason


def both_ways(
    tmp_path: Path, usual: list[dict[str, Any]], exchanged: list[dict[str, Any]], samples: int = 3
) -> tuple[Edits, list[dict[str, Any]]]:
    """The edits of two systems, and what a judge answers to the clips as usual and exchanged."""
    edits = Edits(tmp_path)
    for system in ("a", "b"):
        for k in range(samples):
            edits.add(system, f"s{k}")
    return edits, answers("*", usual) + answers("*", exchanged, "edit_exchanged")


def test_a_judge_swayed_by_the_order_of_the_clips_is_told_apart(tmp_path: Path) -> None:
    result = judged(tmp_path, *both_ways(tmp_path, [GOOD] * 3, [FAILED] * 3), swap=1.0, repeats=3)
    item = result.items.to_dicts()[0]
    assert (item["exchange_agreement"], item["exchange_flip"], item["flip_rate"]) == (0.0, 1.0, 0.0)
    assert item["exchange_flip_excess"] == 1.0
    assert item["exchange_excess"] == item["exchange_difference"] == 3.5
    assert item["edit_success"] == 5.0  # exchanged hearings do not enter the marks
    directions = {spec.name: spec.better for spec in result.summary.specs}
    assert directions["exchange_excess"] == directions["exchange_flip_excess"] == 0  # ideal is 0, not least
    (note,) = [note for note in result.summary.notes if "exchanged" in note]
    assert "6 items kept their majority verdict in 0.0%" in note
    assert "+100.0% flips and +3.50 marks" in note


def test_a_judge_that_merely_wavers_shows_no_excess(tmp_path: Path) -> None:
    """Usual and exchanged hearings waver alike: every pair across differs as often as within."""
    both = both_ways(tmp_path, [GOOD, OVER, UNDER], [FAILED, FAILED, FAILED])
    for item in scored(tmp_path, *both, swap=1.0, repeats=3):
        assert item.values["flip_rate"] == 1.0
        assert item.values["exchange_flip_excess"] == 0.0


def test_exchanged_clips_are_sent_in_the_other_order_with_the_same_words(tmp_path: Path) -> None:
    scored(tmp_path, *both_ways(tmp_path, [GOOD] * 2, [GOOD] * 2), swap=1.0, repeats=2)
    with Ledger.read(tmp_path / "run" / "ledger.sqlite") as ledger:
        heard = ledger.heard(1)
        prompts = ledger.meta()["prompts"]
    assert [(h.side, h.repeat, h.question) for h in heard] == [
        ("edited", 0, "edit"), ("edited", 1, "edit"),
        ("exchanged", 0, "edit_exchanged"), ("exchanged", 1, "edit_exchanged"),
    ]  # fmt: skip
    assert len({json.dumps(dict(h.texts)) for h in heard}) == 1
    assert prompts == {"edit": PROMPT, "edit_exchanged": PROMPT}


def test_the_users_own_words_go_for_both_orders(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Mark the edit.\n{data}\n", encoding="utf-8")
    scored(tmp_path, *both_ways(tmp_path, [GOOD], [GOOD]), prompt={"edit": tmp_path / "p.txt"})
    with Ledger.read(tmp_path / "run" / "ledger.sqlite") as ledger:
        assert set(ledger.meta()["prompts"].values()) == {"Mark the edit.\n{data}\n"}


def test_a_share_of_samples_is_exchanged_for_every_system_and_may_grow(tmp_path: Path) -> None:
    both = both_ways(tmp_path, [GOOD], [GOOD], samples=30)

    def exchanged(swap: float) -> dict[str, set[str]]:
        items = [item for item in scored(tmp_path, *both, swap=swap) if "exchange_flip" in item.values]
        return {name: {item.sample_id for item in items if item.system == name} for name in ("a", "b")}

    none, some, more = exchanged(0.0), exchanged(0.3), exchanged(0.7)
    assert none["a"] == set()
    assert some["a"] == some["b"]
    assert 3 <= len(some["a"]) <= 16
    assert some["a"] < more["a"]


def test_without_swap_nothing_is_said_of_it(tmp_path: Path) -> None:
    result = judged(tmp_path, *both_ways(tmp_path, [GOOD], [GOOD]))
    assert "exchange_flip" not in result.systems.columns
    assert not any("exchanged" in note for note in result.summary.notes)


def test_different_sources_stop_the_run_before_anything_is_heard(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    edits.add("a", "1")
    edits.add("b", "1")
    noise(tmp_path / "other.wav", 77)
    edits.rows[1]["source_audio"] = str(tmp_path / "other.wav")
    with pytest.raises(InputFaults, match="different source sounds"):
        judged(tmp_path, edits, answers("*", [GOOD]))
    assert not (tmp_path / "run").exists()


def extended(tmp_path: Path, other_seed: int) -> None:
    """A run of one system's edit of s.wav, whose source is then gone; another system joins with t.wav."""
    for system, source, seed in (("a", "s.wav", 1), ("b", "t.wav", other_seed)):
        edits = Edits(tmp_path)
        edits.add(system, "1")
        noise(tmp_path / source, seed)
        edits.rows[0]["source_audio"] = str(tmp_path / source)
        scored(tmp_path, edits, answers("*", [GOOD]))
        (tmp_path / "s.wav").unlink(missing_ok=True)


def test_a_system_that_joins_a_run_later_must_have_edited_the_same_sound(tmp_path: Path) -> None:
    extended(tmp_path / "same", other_seed=1)
    with pytest.raises(InputFaults, match=r"2 different source sounds: .*s\.wav \(a\); .*\(b\)"):
        extended(tmp_path / "other", other_seed=2)
    with Ledger.read(tmp_path / "other" / "run" / "ledger.sqlite") as ledger:
        assert [stored.item.system for stored in ledger.items()] == ["a"]  # nothing was written


def test_an_unreadable_source_leaves_its_items_unheard_with_the_reason(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    edits.add("a", "1")
    edits.add("a", "2")
    (tmp_path / "sources" / "2.wav").write_bytes(b"no sound")
    items = scored(tmp_path, edits, answers("*", [GOOD]))
    assert [item.status for item in items] == ["scored", "unheard"]
    assert items[1].reason == "unreadable"
    assert items[1].detail.startswith("the source clip: ")


def test_baselines_are_judged_like_systems(tmp_path: Path) -> None:
    edits, lines = Edits(tmp_path), answers("*", [FAILED])
    for k in range(3):
        lines += answers(edits.add("ours", f"s{k}"), [GOOD])
    result = judged(tmp_path, edits, lines, baselines=True)
    rows = {row.system: row for row in result.summary.rows}
    assert list(rows) == ["ours", "identity", "unrelated"]
    assert [row.n for row in rows.values()] == [3, 3, 3]
    assert rows["ours"].metrics["joint_success"].value == 1.0
    assert rows["identity"].metrics["verdict_failed"].value == 1.0


def test_a_run_is_rebuilt_to_the_same_bytes(tmp_path: Path) -> None:
    judged(tmp_path, *both_ways(tmp_path, [GOOD, OVER], [OVER, OVER]), swap=1.0, repeats=2)
    outputs = [p for p in sorted((tmp_path / "run").rglob("*")) if p.is_file() and "ledger" not in p.name]
    before = {path: path.read_bytes() for path in outputs}
    earwitness.rebuild(tmp_path / "run", Options(spectrograms=0, draws=100))
    assert {path: path.read_bytes() for path in outputs} == before
