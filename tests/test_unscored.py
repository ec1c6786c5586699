"""A run in which no system has a number says so before anything else, and why."""

import io
import json
from dataclasses import replace
from pathlib import Path

from rich.console import Console

import earwitness
from earwitness.report import build, terminal, unscored
from earwitness.tasks.rows import ItemRow
from pages import item, unheard
from sounds import manifest, noise


def rows() -> list[ItemRow]:
    odd = {"status": "not_applicable", "verdict": "not_applicable", "values": {}}
    reasons = ["one event"] * 5 + ["placeholder"] * 2 + ["no_order"] + ["names nothing"]
    out = [item(n, "a.wav", reason=reason, **odd) for n, reason in enumerate(reasons)]
    return [
        *out,
        *(unheard(n, "a.wav", system="base") for n in range(20, 22)),
        item(30, "a.wav", system="still"),
    ]


def notes(given: list[ItemRow]) -> list[str]:
    counted = unscored.Unscored()
    assert list(counted.counted(iter(given), ["still"])) == given
    return counted.notes()


def test_the_most_frequent_reasons_are_named_and_baselines_are_not_counted() -> None:
    assert notes(rows()) == [
        "Nothing could be scored. Of 11 clips 9 are not applicable: one event (5), placeholder (2), no order "
        "(1), ...; 2 are unheard: too short (2). items.csv has the reason of every clip."
    ]


def test_where_anything_is_scored_there_is_nothing_to_say() -> None:
    assert notes([*rows(), item(40, "a.wav")]) == []
    assert notes([replace(rows()[-1])]) == []  # baselines alone
    assert notes([]) == []


def test_terminal_page_and_files_say_it_first(tmp_path: Path) -> None:
    """Captions that name one event, and sounds the listener does not claim to know."""
    captions = ["a dog barks", "a dog barks", "a cow moos then a duck quacks"]
    told = []
    for number, caption in enumerate(captions):
        noise(tmp_path / f"{number}.wav", number)
        told.append({"audio": f"{number}.wav", "system": "ours", "sample_id": number, "caption": caption})
    options = build.Options(spectrograms=0, draws=20)
    path = manifest(tmp_path / "m.jsonl", told)
    run = earwitness.judge("order", path, run=tmp_path / "run", options=options)
    summary = run.summary
    first, remedy = unscored.first(summary)
    assert first.startswith("Of 3 clips 2 are not applicable: one event (2); 1 are unheard: unmapped (1)")
    assert "prompts check" in remedy
    assert not any("could be scored" in note for note in unscored.others(summary))
    assert json.loads((run.folder / "summary.json").read_text())["notes"][0].endswith(first)

    console = Console(file=io.StringIO(), width=80, color_system=None)
    for table in terminal.tables(summary):
        console.print(table)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert shown.index("Nothing could be scored") < shown.index("Of 3 clips") < shown.index("order: yamnet")
    assert "Paired comparisons" not in shown
    assert shown.count("ours") == 1, "one table of empty rows is enough"

    page = (run.folder / "index.html").read_text(encoding="utf-8")
    assert page.count("Of 3 clips 2 are not applicable") == page.count("Nothing could be scored") == 1
    assert page.index("Of 3 clips") < page.index("prompts check") < page.index('id="systems-head"')
