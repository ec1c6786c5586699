"""Several listeners on the same clips: a run each, planted agreement found, rebuilt from the ledgers."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from earwitness.api import judge, panel, rebuild
from earwitness.errors import UserError
from earwitness.report import agreement
from earwitness.report.build import Options
from earwitness.report.panel import runs_of, slug
from edited import Edits, answers, edit_reply
from sounds import events_reply, manifest, noise, script

CAPTION = "A dog barks followed by a cat meowing"
RIGHT = events_reply(("Bark", 0.0, 0.1), ("Meow", 0.3, 0.4))
WRONG = events_reply(("Meow", 0.0, 0.1), ("Bark", 0.3, 0.4))
MEASURED = {"frame_s": 0.1, "lsd_db": [1.0] * 5, "source_dbfs": [-20.0] * 5, "edited_dbfs": [-20.0] * 5,
            "source_s": 0.5, "edited_s": 0.5}  # fmt: skip
FEW = Options(spectrograms=0, draws=1000)
SYSTEMS = {"good": 8, "fair": 5, "poor": 2}  # right items of ten


def clips(folder: Path) -> tuple[Path, list[tuple[str, bool]]]:
    """A manifest of three systems, and the PCM hash and truth of every clip."""
    rows, truth = [], []
    for system, right in SYSTEMS.items():
        for index in range(10):
            path = folder / system / f"{index}.wav"
            truth.append((noise(path, len(truth)), index < right))
            row = {"audio": str(path), "system": system, "sample_id": str(index), "caption": CAPTION}
            rows.append(row | {"pair_id": f"pair{index}"})
    return manifest(folder / "m.jsonl", rows), truth


def listener(path: Path, truth: list[tuple[str, bool]], errs: int = 0) -> str:
    """A detector that is wrong about every ``errs``-th clip."""
    lines = [
        {
            "pcm_hash": h,
            "question": "events",
            "reply": RIGHT if right != bool(errs and i % errs == 0) else WRONG,
        }
        for i, (h, right) in enumerate(truth)
    ]
    return script(path, lines)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_planted_agreement_is_found(tmp_path: Path) -> None:
    path, truth = clips(tmp_path)
    names = [listener(tmp_path / "a.jsonl", truth), listener(tmp_path / "b.jsonl", truth, errs=5)]
    heard = panel("order", path, run=tmp_path / "run", listener=names, options=FEW)
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == sorted(
        ["agreement.json", "agreement.md", "index.html", "page", "summary.json", *map(slug, names)]
    )
    found = read(tmp_path / "run" / "agreement.json")
    verdict = next(one for one in found["measured"] if one["name"] == "verdict")
    # 6 of 30 verdicts differ. Of the 60, those of the first are 15 right; b turns clips 0, 5, ..., 25 over:
    # clips 0, 5 (good), 10 (fair), 20 (poor) from right to wrong, 15 and 25 from wrong to right: 13 right.
    right, n = 15 + 13, 60
    expected = 1 - (n - 1) * (2 * 6) / (2 * right * (n - right))
    assert verdict["alpha"]["items"] == 30
    assert verdict["alpha"]["value"] == pytest.approx(expected)
    assert verdict["alpha"]["low"] < expected < verdict["alpha"]["high"]
    (pair,) = found["pairs"]
    assert pair["verdicts"] == {"items": 30, "share": 0.8}
    assert pair["ranks"]["systems"] == 3
    assert pair["ranks"]["spearman"] == pytest.approx(1.0)
    runs = read(tmp_path / "run" / "summary.json")["runs"]
    assert [[row["toa"]["value"] for row in run["rows"]] for run in runs] == [
        [0.8, 0.5, 0.2],
        [0.6, 0.5, 0.2],
    ]
    assert set(heard.results) == set(names)
    page = (tmp_path / "run" / "index.html").read_text(encoding="utf-8")
    assert all(f"{slug(name)}/index.html" in page for name in names)
    assert all(f"scripted ({slug(name)})</a>" in page for name in names)  # told apart by folder


def test_each_run_of_a_panel_is_whole_and_all_are_rebuilt(tmp_path: Path) -> None:
    path, truth = clips(tmp_path)
    names = [listener(tmp_path / f"{n}.jsonl", truth, errs=n) for n in (3, 4, 7)]
    panel("order", path, run=tmp_path / "run", listener=names, options=FEW)
    files = [p for p in (tmp_path / "run").rglob("*") if p.is_file() and "ledger" not in p.name]
    before = {p: p.read_bytes() for p in files}
    assert len(runs_of(tmp_path / "run")) == 3
    assert runs_of(tmp_path / "run" / slug(names[0])) == {}
    assert runs_of(tmp_path) == {}
    (tmp_path / "mine").mkdir()
    for number, run in enumerate(runs_of(tmp_path / "run").values()):
        shutil.copytree(run, tmp_path / "mine" / f"run{number}")
    assert runs_of(tmp_path / "mine") == {}  # runs in a folder of the user's are no panel
    for p in files:
        p.unlink()
    rebuild(tmp_path / "run", FEW)
    assert {p: p.read_bytes() for p in files} == before
    rebuild(tmp_path / "run" / slug(names[0]), FEW)


def test_disagreement_by_chance_gives_nothing(tmp_path: Path) -> None:
    path, truth = clips(tmp_path)
    other = [(h, index % 2 == 0) for index, (h, _) in enumerate(truth)]
    names = [listener(tmp_path / "a.jsonl", truth), listener(tmp_path / "b.jsonl", other)]
    panel("order", path, run=tmp_path / "run", listener=names, options=FEW)
    found = read(tmp_path / "run" / "agreement.json")
    verdict = next(one for one in found["measured"] if one["name"] == "verdict")
    assert verdict["alpha"]["low"] < 0 < verdict["alpha"]["high"]
    assert found["pairs"][0]["ranks"]["spearman"] is None  # the second puts all systems level
    assert "level" in (tmp_path / "run" / "agreement.md").read_text(encoding="utf-8")


def test_one_listener_alone_cannot_agree(tmp_path: Path) -> None:
    path, truth = clips(tmp_path)
    name = listener(tmp_path / "a.jsonl", truth)
    panel(
        "order",
        path,
        run=tmp_path / "run",
        listener=[name, listener(tmp_path / "b.jsonl", truth, 2)],
        options=FEW,
    )
    with pytest.raises(UserError, match="one listener so far"):
        agreement.write(tmp_path / "run", {name: tmp_path / "run" / slug(name)})


def test_runs_that_merely_lie_together_are_no_panel_and_an_interrupted_panel_is_one(tmp_path: Path) -> None:
    path, truth = clips(tmp_path)
    names = [listener(tmp_path / "a.jsonl", truth), listener(tmp_path / "b.jsonl", truth, 2)]
    for name in names:
        judge("order", path, run=tmp_path / "mine" / slug(name), listener=name, options=FEW)
    assert runs_of(tmp_path / "mine") == {}
    with pytest.raises(UserError, match="no run"):
        rebuild(tmp_path / "mine", FEW)
    panel("order", path, run=tmp_path / "run", listener=names, options=FEW)
    first = tmp_path / "run" / slug(names[0])
    shutil.copytree(first, tmp_path / "run" / "mine")  # the user's own copy beside the panel's runs
    assert len(runs_of(tmp_path / "run")) == 2
    stopped = tmp_path / "stopped"
    shutil.copytree(first, stopped / first.name, ignore=shutil.ignore_patterns("index.html"))
    with pytest.raises(UserError, match="one listener so far"):
        rebuild(stopped, FEW)
    assert (stopped / first.name / "index.html").is_file()


def test_systems_are_ranked_against_each_other_by_one_quantity_alone(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    hashes = [edits.add(system, f"s{index}") for system in "abc" for index in range(2)]
    heard = [{"pcm_hash": "*", "question": "events", "reply": RIGHT},
             {"pcm_hash": "*", "question": "edit_measures", "reply": MEASURED}]  # fmt: skip
    marks = [line for one in hashes for line in answers(one, [edit_reply("good_edit")])]
    names = [script(tmp_path / "detector.jsonl", heard), script(tmp_path / "judge.jsonl", marks),
             script(tmp_path / "other.jsonl", marks)]  # fmt: skip
    panel("edit", edits.write(), run=tmp_path / "run", listener=names, repeats=1, options=FEW)
    found = read(tmp_path / "run" / "agreement.json")
    metrics = [pair["metric"] for pair in found["pairs"]]
    assert sorted(metrics) == ["", "", "Joint"]
    for pair in found["pairs"]:
        assert pair["ranks"]["systems"] == (3 if pair["metric"] else 0)
    apart, shared = (
        [note for note in found["notes"] if who in note] for who in ("No two listeners", "Only scripted")
    )
    assert len(apart) == len(shared) == 1  # one sentence each, whatever the number of metrics
    assert "Others kept (others_kept)" in apart[0]
    assert "Joint (joint_success)" in shared[0]
    assert next(one for one in found["measured"] if one["name"] == "verdict")["alpha"]["items"] == 6
    assert sum("kinds of verdict" in note for note in found["notes"]) == 1
    said = (tmp_path / "run" / "agreement.md").read_text(encoding="utf-8")
    heads = [line for line in said.splitlines() if line.startswith("| System |")]
    assert len(heads) == 2
    assert not any("Joint" in line and "Others kept" in line for line in heads)
    page = (tmp_path / "run" / "index.html").read_text(encoding="utf-8")
    for text in (said, page):
        assert "rank the systems by different things" in text
        assert "by Joint" in text


def test_slugs_are_safe_readable_and_distinct() -> None:
    assert slug("google:gemini-2.5-pro") == "google-gemini-2.5-pro"
    names = ["openai:Qwen/Qwen2-Audio", "openai:qwen2-audio", "openai:QWEN2-Audio", "scripted:/a/x.jsonl",
             "scripted:/b/x.jsonl", "scripted:../x.jsonl", "yamnet", "..", "a/..", "日本", ""]  # fmt: skip
    slugs = [slug(name) for name in names]
    assert len({one.casefold() for one in slugs}) == len(names)
    for one in slugs:
        assert one
        assert one.strip(".") == one
        assert not set(one) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
