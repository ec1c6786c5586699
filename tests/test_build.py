"""Outputs of a run: written elsewhere with changed rows, whole or not at all, and with what edits need."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import earwitness
from earwitness.report import build
from earwitness.tasks.rows import ItemRow
from shared_runs import FEW, edit_run, order_run
from sounds import noise, script


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_outputs_go_to_another_folder_with_changed_rows(tmp_path: Path) -> None:
    order_run(tmp_path, {"ours": 3, "base": 1}, n=4)
    before = {
        p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file() and "ledger" not in p.name
    }
    (tmp_path / "elsewhere").mkdir()
    with build.open_run(tmp_path / "run") as ledger:
        run = build.of_ledger(ledger)
        shown = replace(run, rows=lambda: (replace(row, system=row.system.upper()) for row in run.rows()))
        summary = build.write(tmp_path / "elsewhere", shown, FEW)
    assert {row.system: row.metrics["toa"].value for row in summary.rows} == {"OURS": 0.75, "BASE": 0.25}
    assert {row["system"] for row in table(tmp_path / "elsewhere" / "items.csv")} == {"OURS", "BASE"}
    assert {p: p.read_bytes() for p in before} == before


def test_an_interrupted_rebuild_leaves_no_half_file(tmp_path: Path) -> None:
    order_run(tmp_path, {"ours": 3}, n=4)
    before = {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir() if p.suffix in (".csv", ".html")}
    passes: list[int] = []

    def broken(run: build.Run) -> Iterator[ItemRow]:
        passes.append(1)
        for number, row in enumerate(run.rows()):
            if len(passes) == 2 and number == 2:  # while items.csv is being written
                raise KeyboardInterrupt
            yield row

    with build.open_run(tmp_path / "run") as ledger:
        run = build.of_ledger(ledger)
        with pytest.raises(KeyboardInterrupt):
            build.write(tmp_path / "run", replace(run, rows=lambda: broken(run)), FEW)
    assert {name: (tmp_path / "run" / name).read_bytes() for name in before} == before


def test_edits_name_their_source_and_their_words(tmp_path: Path) -> None:
    edit_run(tmp_path, ["AUDIT"], n=2)
    items = table(tmp_path / "run" / "items.csv")
    assert [row["source_audio"] for row in items] == [
        str(tmp_path / "clips" / "sources" / f"{index}.wav") for index in range(2)
    ]
    assert [(row["caption"], row["source_caption"], row["instruction"]) for row in items] == [
        ("a cat meows", "a dog barks", f"make it a cat, {index}") for index in range(2)
    ]
    replies = table(tmp_path / "run" / "replies.csv")
    head = ["task", "system", "sample_id", "side", "question", "caption", "listener", "repeat", "reason",
            "source_caption", "instruction", "detail"]  # fmt: skip
    assert list(replies[0])[: len(head)] == head
    assert {(row["question"], row["caption"], row["source_caption"]) for row in replies} == {
        ("edit", "a cat meows", "a dog barks")
    }
    assert {row["edit_success"] for row in replies} == {"5"}
    order_run(tmp_path / "order", {"ours": 1}, n=1)
    assert "source_audio" not in table(tmp_path / "order" / "run" / "items.csv")[0]


def test_a_caption_that_was_answered_is_no_caption_that_was_shown(tmp_path: Path) -> None:
    noise(tmp_path / "clips" / "a.wav", 0)
    said = {"caption": "a dog barks", "events": [], "tags": ["dog", "bark", "yard"], "ordered": False,
            "quality_flags": []}  # fmt: skip
    judge = script(tmp_path / "s.jsonl", [{"pcm_hash": "*", "question": "label", "reply": said}])
    earwitness.label(tmp_path / "clips", run=tmp_path / "run", listener=judge, options=FEW)
    (reply,) = table(tmp_path / "run" / "replies.csv")
    assert (reply["caption"], reply["reply_caption"]) == ("", "a dog barks")
    (item,) = table(tmp_path / "run" / "items.csv")
    assert item["tags"] == "dog; bark; yard"
