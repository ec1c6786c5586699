"""Whole runs of the order task with scripted listeners: planted skill in, TOA out."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import earwitness
from earwitness.errors import InputFaults, UserError
from earwitness.report.build import Options
from earwitness.report.tables import TableOptions
from sounds import alignment_reply, events_reply, manifest, noise, script

RIGHT = events_reply(("Bark", 0.0, 0.1), ("Meow", 0.3, 0.4))
WRONG = events_reply(("Meow", 0.0, 0.1), ("Bark", 0.3, 0.4))
ONLY_DOG = events_reply(("Bark", 0.0, 0.1))
TOGETHER = events_reply(("Bark", 0.1, 0.3), ("Meow", 0.12, 0.3))
CAPTION = "A dog barks followed by a cat meowing"
REVERSED = "a cat meowing followed by a dog barks"


def strict(path: Path) -> dict[str, Any]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{path} holds {name}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def detector(folder: Path, replies: dict[str, dict[str, Any]]) -> str:
    lines = [
        {"pcm_hash": h, "question": "events", "reply": reply}
        if "events" in reply
        else {"pcm_hash": h, "question": "events", **reply}
        for h, reply in replies.items()
    ]
    return script(folder / "script.jsonl", lines)


def system(folder: Path, name: str, replies: list[dict[str, Any]], seed: int, caption: str = CAPTION):
    """Clips of one system, and what the detector will say of each."""
    rows, answers = [], {}
    for index, reply in enumerate(replies):
        path = folder / name / f"{index}.wav"
        answers[noise(path, seed + index)] = reply
        row = {"audio": str(path), "system": name, "sample_id": str(index), "caption": caption}
        rows.append(row | {"pair_id": f"pair{index // 2}"})
    return rows, answers


def test_planted_skill_comes_out(tmp_path: Path) -> None:
    rows, answers = system(tmp_path, "good", [RIGHT] * 8 + [WRONG, ONLY_DOG], 0)
    more, others = system(tmp_path, "bad", [RIGHT] * 2 + [WRONG] * 5 + [TOGETHER] * 3, 100)
    result = earwitness.judge(
        "order",
        manifest(tmp_path / "m.jsonl", rows + more),
        run=tmp_path / "run",
        listener=detector(tmp_path, answers | others),
    )
    good, bad = strict(tmp_path / "run" / "summary.json")["rows"]
    assert (good["system"], good["toa"]["value"], bad["toa"]["value"]) == ("good", 0.8, 0.2)
    assert good["toa"]["low"] < 0.8 < good["toa"]["high"]
    assert good["order_given_heard"]["value"] == pytest.approx(8 / 9)  # the clip without a cat is left out
    assert good["event_recall"]["value"] == 0.95
    assert bad["errors"] == {"missing": 0, "reversed": 5, "overlapped": 3, "unclear": 0}
    assert bad["alignment_loss"]["value"] == 0.5
    assert result.summary.comparisons[0].difference == pytest.approx(0.6)


def test_unheard_items_are_not_wrong_and_bound_the_score(tmp_path: Path) -> None:
    refused = {"reason": "refused", "detail": "no"}
    rows, answers = system(tmp_path, "a", [RIGHT, RIGHT, WRONG, refused], 0)
    earwitness.judge(
        "order",
        manifest(tmp_path / "m.jsonl", rows),
        run=tmp_path / "run",
        listener=detector(tmp_path, answers),
    )
    (row,) = strict(tmp_path / "run" / "summary.json")["rows"]
    assert (row["n"], row["scored"], row["unheard"], row["not_applicable"]) == (4, 3, 1, 0)
    assert row["coverage"] == 0.75
    assert row["toa"]["value"] == pytest.approx(2 / 3)
    assert (row["toa"]["worst"], row["toa"]["best"]) == (0.5, 0.75)


def test_captions_without_order_are_not_applicable_and_never_asked(tmp_path: Path) -> None:
    captions = ["A dog barks while a cat meows", "", "a dog barking", "a dog barks then a tumbleweed rolls"]
    rows = []
    for index, caption in enumerate(captions):
        noise(tmp_path / f"{index}.wav", index)
        rows.append({"audio": f"{index}.wav", "system": "a", "sample_id": index, "caption": caption})
    name = script(tmp_path / "s.jsonl", [{"pcm_hash": "*", "question": "events", "reply": RIGHT}])
    result = earwitness.judge(
        "order", manifest(tmp_path / "m.jsonl", rows), run=tmp_path / "run", listener=name
    )
    items = result.items.to_dicts()
    assert [row["status"] for row in items] == ["not_applicable"] * 3 + ["unheard"]
    assert items[3]["reason"] == "unmapped"
    assert "tumbleweed" in items[3]["detail"]
    assert result.counts is not None
    assert result.counts.asked == 1
    (row,) = strict(tmp_path / "run" / "summary.json")["rows"]
    assert row["toa"] == {"value": None, "low": None, "high": None, "worst": 0.0, "best": 1.0}


def judged_by(tmp_path: Path, replies: list[tuple[dict[str, Any], dict[str, Any]]], name: str = "judge"):
    """One clip, judged in as many repeats as there are (caption, reversal) replies."""
    noise(tmp_path / "clip.wav", 0)
    rows = [{"audio": "clip.wav", "system": "a", "sample_id": "1", "caption": CAPTION,
             "reversed_caption": REVERSED}]  # fmt: skip
    lines = [
        {"pcm_hash": "*", "question": "alignment", "caption": caption, "repeat": repeat, "reply": reply}
        for repeat, sides in enumerate(replies)
        for caption, reply in zip((CAPTION, REVERSED), sides, strict=True)
    ]
    return earwitness.judge(
        "order",
        manifest(tmp_path / "m.jsonl", rows),
        run=tmp_path / name,
        listener=script(tmp_path / f"{name}.jsonl", lines),
        repeats=len(replies),
    )


def test_a_judge_is_asked_for_the_caption_and_its_reversal_in_every_repeat(tmp_path: Path) -> None:
    yes, no = alignment_reply(1.0, 5), alignment_reply(0.5, 2)
    result = judged_by(tmp_path, [(yes, no), (yes, no), (no, yes)])
    assert result.counts is not None
    assert result.counts.asked == 6
    assert result.items["toa"].to_list() == [1.0]
    with (tmp_path / "judge" / "replies.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["side"], r["repeat"]) for r in rows] == [
        (side, str(repeat)) for side in ("caption", "reversed") for repeat in range(3)
    ]
    assert {r["temporal_order_match"] for r in rows} == {"1.0", "0.5"}


def test_a_constant_judge_scores_nothing(tmp_path: Path) -> None:
    same = alignment_reply(1.0, 5)
    assert judged_by(tmp_path, [(same, same)] * 3).items["toa"].to_list() == [0.0]


def test_a_judge_that_calls_the_order_not_applicable_is_unclear(tmp_path: Path) -> None:
    dunno = alignment_reply(None, 4)
    items = judged_by(tmp_path, [(dunno, dunno)]).items
    assert items["error_kind"].to_list() == ["unclear"]
    assert items["temporal_order_match"].to_list() == [None]


def test_other_settings_refuse_to_share_a_run(tmp_path: Path) -> None:
    rows, answers = system(tmp_path, "a", [RIGHT], 0)
    path, name = manifest(tmp_path / "m.jsonl", rows), detector(tmp_path, answers)
    earwitness.judge("order", path, run=tmp_path / "run", listener=name)
    with pytest.raises(InputFaults, match="seed was 0, is now 1"):
        earwitness.judge("order", path, run=tmp_path / "run", listener=name, seed=1)
    other = script(tmp_path / "o.jsonl", [{"pcm_hash": "*", "question": "events", "reply": WRONG}])
    with pytest.raises(InputFaults, match=r"listener\.version was"):
        earwitness.judge("order", path, run=tmp_path / "run", listener=other)


def test_rows_left_out_of_a_later_manifest_are_kept_and_said_to_be(tmp_path: Path) -> None:
    rows, answers = system(tmp_path, "a", [RIGHT, WRONG], 0)
    options: dict[str, Any] = {"run": tmp_path / "run", "listener": detector(tmp_path, answers)}
    earwitness.judge("order", manifest(tmp_path / "m.jsonl", rows), **options)
    result = earwitness.judge("order", manifest(tmp_path / "n.jsonl", rows[:1]), **options)
    assert result.summary.rows[0].n == 2
    assert any(note.startswith("1 items judged earlier") for note in result.summary.notes)


def test_a_refused_run_changes_nothing(tmp_path: Path) -> None:
    rows, answers = system(tmp_path, "a", [RIGHT], 0)
    name = detector(tmp_path, answers)
    run = tmp_path / "run"
    earwitness.judge("order", manifest(tmp_path / "m.jsonl", rows), run=run, listener=name)
    before = earwitness.rebuild(run).items, (run / "run.json").read_bytes()
    noise(tmp_path / "new.wav", 99)
    changed = [rows[0] | {"caption": "A cat meows, then a dog barks"},
               rows[0] | {"audio": str(tmp_path / "new.wav"), "sample_id": "new"}]  # fmt: skip
    with pytest.raises(InputFaults, match="rows have changed"):
        earwitness.judge("order", manifest(tmp_path / "n.jsonl", changed), run=run, listener=name, limit=9)
    after = earwitness.rebuild(run).items, (run / "run.json").read_bytes()
    assert before[0].equals(after[0])
    assert before[1] == after[1]


def test_other_words_for_the_listeners_accuracy_do_not_refuse_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, answers = system(tmp_path, "a", [RIGHT], 0)
    path, name = manifest(tmp_path / "m.jsonl", rows), detector(tmp_path, answers)
    earwitness.judge("order", path, run=tmp_path / "run", listener=name)
    monkeypatch.setattr("earwitness.listeners.scripted.Scripted.measured", "measured since")
    result = earwitness.judge("order", path, run=tmp_path / "run", listener=name)
    assert any("measured since" in note for note in result.summary.notes)


def test_a_listener_that_cannot_start_stops_the_run_before_any_work(tmp_path: Path) -> None:
    rows, _ = system(tmp_path, "a", [RIGHT], 0)
    (tmp_path / "weights.onnx").write_bytes(b"no model")
    path = manifest(tmp_path / "m.jsonl", rows)
    with pytest.raises(UserError, match=r"weights\.onnx"):
        earwitness.judge("order", path, run=tmp_path / "run", weights=tmp_path / "weights.onnx")
    assert not (tmp_path / "run").exists()


def test_a_limit_samples_the_same_prompts_for_every_system_and_a_later_run_extends_it(
    tmp_path: Path,
) -> None:
    rows, answers = system(tmp_path, "a", [RIGHT] * 6, 0)
    more, others = system(tmp_path, "b", [WRONG] * 6, 50)
    path = manifest(tmp_path / "m.jsonl", rows + more)
    options: dict[str, Any] = {"run": tmp_path / "run", "listener": detector(tmp_path, answers | others)}
    pilot = earwitness.judge("order", path, limit=2, **options)
    chosen = pilot.items.group_by("system").agg("sample_id").to_dicts()
    assert len(chosen) == 2
    assert sorted(chosen[0]["sample_id"]) == sorted(chosen[1]["sample_id"])
    full = earwitness.judge("order", path, **options)
    assert full.counts is not None
    assert (pilot.counts.asked, full.counts.asked) == (4, 8)  # type: ignore[union-attr]


def test_sounds_the_listener_does_not_claim_are_judged_only_when_asked_for(tmp_path: Path) -> None:
    """The embedded listener claims no cow: its item is unmapped, or judged with the reader told so."""
    noise(tmp_path / "c.wav", 0)
    row = {"audio": "c.wav", "system": "a", "sample_id": "1", "caption": "a cow mooing then a dog barking"}
    path = manifest(tmp_path / "m.jsonl", [row])
    strictly = earwitness.judge("order", path, run=tmp_path / "run")
    assert strictly.items["reason"].to_list() == ["unmapped"]
    widely = earwitness.rebuild(tmp_path / "run", Options(unclaimed=True))
    assert widely.items["status"].to_list() == ["scored"]
    assert any(note.startswith("Exploratory") for note in widely.summary.notes)


def test_a_report_is_rebuilt_to_the_same_bytes_without_the_listener(tmp_path: Path) -> None:
    rows, answers = system(tmp_path, "a", [RIGHT, WRONG], 0)
    earwitness.judge(
        "order",
        manifest(tmp_path / "m.jsonl", rows),
        run=tmp_path / "run",
        listener=detector(tmp_path, answers),
    )
    outputs = [p for p in sorted((tmp_path / "run").rglob("*")) if p.is_file() and "ledger" not in p.name]
    before = {path: path.read_bytes() for path in outputs}
    (tmp_path / "script.jsonl").unlink()
    for path in outputs:
        path.unlink()
    earwitness.rebuild(tmp_path / "run")
    assert {path: path.read_bytes() for path in outputs} == before


def test_a_contradiction_between_caption_and_columns_is_named(tmp_path: Path) -> None:
    noise(tmp_path / "c.wav", 0)
    rows = [{"audio": "c.wav", "system": "a", "sample_id": "1", "caption": CAPTION,
             "first": "cat meowing", "second": "dog barking"}]  # fmt: skip
    name = script(tmp_path / "s.jsonl", [{"pcm_hash": "*", "question": "events", "reply": RIGHT}])
    result = earwitness.judge(
        "order", manifest(tmp_path / "m.jsonl", rows), run=tmp_path / "run", listener=name
    )
    assert result.items["status"].to_list() == ["not_applicable"]
    assert "other way round" in result.items["reason"][0]


def test_a_reversed_caption_that_reverses_nothing_is_named(tmp_path: Path) -> None:
    noise(tmp_path / "c.wav", 0)
    rows = [{"audio": "c.wav", "system": "a", "sample_id": "1", "caption": CAPTION,
             "reversed_caption": CAPTION}]  # fmt: skip
    name = script(tmp_path / "s.jsonl", [{"pcm_hash": "*", "question": "events", "reply": RIGHT}])
    result = earwitness.judge(
        "order", manifest(tmp_path / "m.jsonl", rows), run=tmp_path / "run", listener=name
    )
    assert "same order" in result.items["reason"][0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either a manifest, or prompts"),
        ({"manifest": "m.csv", "prompts": "p.csv"}, "either a manifest, or prompts"),
        ({"prompts": "p.csv"}, "prompts need outputs"),
        ({"manifest": "m.csv", "repeats": 0}, "repeats must be at least 1"),
        ({"manifest": "m.csv", "seed": -1}, "seed must be at least 0"),
        ({"manifest": "m.csv", "limit": 0}, "limit must be at least 1"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_work(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        earwitness.judge("order", run=tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"columns": ("toaa",)}, "Did you mean 'toa'"),
        ({"names": {"zz": "Z"}}, "no system 'zz'"),
        ({"decimals": 99}, "99 decimals"),
    ],
)
def test_a_table_that_cannot_be_made_is_refused_before_anything_is_heard(
    tmp_path: Path, table: dict[str, Any], message: str
) -> None:
    rows, answers = system(tmp_path, "a", [RIGHT], 0)
    path, name = manifest(tmp_path / "m.jsonl", rows), detector(tmp_path, answers)
    options = Options(table=TableOptions(**table))
    with pytest.raises(UserError, match=message):
        earwitness.judge("order", path, run=tmp_path / "run", listener=name, options=options)
    assert not (tmp_path / "run").exists()


def test_losses_are_worst_when_every_unheard_item_is_one(tmp_path: Path) -> None:
    rows, answers = system(tmp_path, "a", [RIGHT, RIGHT, WRONG, {"reason": "blocked", "detail": "no"}], 0)
    path = manifest(tmp_path / "m.jsonl", rows)
    earwitness.judge("order", path, run=tmp_path / "run", listener=detector(tmp_path, answers))
    (row,) = strict(tmp_path / "run" / "summary.json")["rows"]
    assert (row["alignment_loss"]["worst"], row["alignment_loss"]["best"]) == (0.5, 0.25)
    assert row["alignment_tie"]["worst"] is None


@pytest.mark.parametrize(
    ("reversed_caption", "reason"),
    [
        ("A dog is barking and then a cat meows", "same order"),
        ("A siren followed by a bell", "does not state the caption's events in reversed order"),
        ("banana", "states no order"),
        ("A cat meowing, and then a dog barking", ""),
    ],
)
def test_a_given_reversal_must_reverse(tmp_path: Path, reversed_caption: str, reason: str) -> None:
    rows, answers = system(tmp_path, "a", [RIGHT], 0)
    path = manifest(tmp_path / "m.jsonl", [rows[0] | {"reversed_caption": reversed_caption}])
    result = earwitness.judge("order", path, run=tmp_path / "run", listener=detector(tmp_path, answers))
    assert result.items["status"].to_list() == ["not_applicable" if reason else "scored"]
    assert reason in (result.items["reason"][0] or "")


def test_names_that_a_spreadsheet_would_run_come_back_as_they_are(tmp_path: Path) -> None:
    rows, answers = system(tmp_path, "=ours", [RIGHT], 0)
    path = manifest(tmp_path / "m.jsonl", rows)
    result = earwitness.judge("order", path, run=tmp_path / "run", listener=detector(tmp_path, answers))
    assert result.items["system"].to_list() == result.systems["system"].to_list() == ["=ours"]
    assert "'=ours" in (tmp_path / "run" / "items.csv").read_text(encoding="utf-8")


def test_an_unknown_listener_is_met_with_the_nearest_name(tmp_path: Path) -> None:
    rows, _ = system(tmp_path, "a", [RIGHT], 0)
    with pytest.raises(UserError, match="Did you mean 'yamnet'"):
        earwitness.judge(
            "order", manifest(tmp_path / "m.jsonl", rows), run=tmp_path / "run", listener="yament"
        )
