"""Made-up runs for the tests of the listening page."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from earwitness.events import Event
from earwitness.report.page import write_page
from earwitness.tasks.rows import Asked, ItemRow, Measures, Metric, MetricSpec, Source, Summary, SystemRow

ASKED = (Asked("a dog barks", ("Dog", "Bark"), 0), Asked("a siren", ("Siren",), 1))
HEARD = {
    "": (Event("Dog", 0.2, 0.6, 0.9), Event("Siren", 1.0, 1.8, 0.5), Event("Speech", 0.1, 1.9, 0.3)),
    "reversed": (Event("Siren", 0.2, 0.6, 0.9), Event("Bark", 1.0, 1.8, 0.5)),
    "missing": (Event("Siren", 0.2, 0.6, None),),
}
ORDER = Measures(
    specs=(
        MetricSpec("toa", "TOA", "order kept", rate=True),
        MetricSpec("recall", "Recall", "events heard"),
    ),
    key="toa",
    columns=("toa", "n"),
    verdicts={"right": "Right", "wrong": "Wrong"},
    kinds={"missing": "a sound was not heard", "reversed": "the sounds came the other way round"},
)
MARK: dict[str, Any] = {"scale": (1.0, 5.0), "decimals": 2}
EDIT = Measures(
    specs=(
        MetricSpec("edit_success", "Success", "the change is there, 1 to 5", **MARK),
        MetricSpec("nontarget_preservation", "Preservation", "the rest stays, 1 to 5", **MARK),
        MetricSpec("temporal_preservation", "Timing kept", "the structure stays, 1 to 5", **MARK),
        MetricSpec("naturalness", "Naturalness", "no artefacts, 1 to 5", **MARK),
        MetricSpec("joint_success", "Joint success", "success and preservation at once", rate=True),
        MetricSpec("level_change_db", "Level change", "edited less source, dB", better=0, scale=None),
    ),
    key="edit_success",
    columns=(
        "edit_success",
        "nontarget_preservation",
        "temporal_preservation",
        "naturalness",
        "joint_success",
        "n",
    ),
    compared=("edit_success", "nontarget_preservation"),
    verdicts={
        "good_edit": "Good edit",
        "over_edit": "Over-edit",
        "under_edit": "Under-edit",
        "failed": "Failed",
    },
)
LABEL = Measures(
    specs=(MetricSpec("ordered", "Ordered", "sounds follow one another", better=0, rate=True),),
    key="ordered",
    columns=("ordered", "n"),
    verdicts={"ordered": "Ordered", "unordered": "Not ordered"},
)


def item(number: int, audio: Path | str, kind: str = "", **changes: Any) -> ItemRow:
    row: dict[str, Any] = {
        "item_id": number, "system": "ours", "sample_id": f"p{number}", "caption": "a dog barks then a siren",
        "reversed_caption": "a siren then a dog barks", "audio": str(audio), "duration_s": 2.0,
        "cluster": "c", "status": "scored", "reason": "", "detail": f"detail {number}",
        "verdict": "wrong" if kind else "right", "error_kind": kind, "asked": ASKED,
        "heard": HEARD.get(kind, ()), "values": {"toa": float(not kind), "recall": None},
    }  # fmt: skip
    return ItemRow(**{**row, **changes})


def unheard(number: int, audio: Path | str, **changes: Any) -> ItemRow:
    how = {"status": "unheard", "verdict": "unheard", "reason": "too_short", "heard": (), "values": {}}
    return item(number, audio, **{**how, **changes})


def summary_of(rows: Sequence[ItemRow], **changes: Any) -> Summary:
    systems = []
    for name in dict.fromkeys(row.system for row in rows):
        own = [row for row in rows if row.system == name]
        count = Counter(row.status for row in own)
        scored = [row.values["toa"] or 0.0 for row in own if row.status == "scored"]
        toa = sum(scored) / len(scored) if scored else None
        metric = Metric(None) if toa is None else Metric(toa, toa * 0.8, min(1.0, toa + 0.1), toa / 2, 1.0)
        asked = len(own) - count["not_applicable"]
        systems.append(
            SystemRow(
                name, len(own), count["not_applicable"], count["unheard"], count["scored"],
                count["scored"] / asked if asked else None, {"toa": metric, "recall": Metric(0.5)},
                Counter(row.error_kind for row in own if row.error_kind),
                Counter(row.reason for row in own if row.status == "unheard"),
            )
        )  # fmt: skip
    parts: dict[str, Any] = {
        "task": "order", "listener": "yamnet", "measures": ORDER, "comparisons": (), "notes": ()
    }  # fmt: skip
    return Summary(rows=tuple(systems), **{**parts, **changes})


def edit(
    number: int, audio: Path | str, source: Path | str, verdict: str = "good_edit", **changes: Any
) -> ItemRow:
    """An edit that was to add a siren to a dog."""
    row: dict[str, Any] = {
        "caption": "a dog barks and a siren", "reversed_caption": "", "verdict": verdict,
        "asked": ASKED[1:], "heard": HEARD[""],
        "source": Source(str(source), 1.0, (Event("Dog", 0.1, 0.9, 0.8),)),
        "texts": {"Instruction": "Add a siren", "Source caption": "a dog barks"},
        "values": {"edit_success": 4.5, "nontarget_preservation": 2.0, "level_change_db": -3.25},
    }  # fmt: skip
    return item(number, audio, **{**row, **changes})


def label(number: int, audio: Path | str, verdict: str = "ordered", **changes: Any) -> ItemRow:
    row: dict[str, Any] = {
        "caption": "A dog barks, then a siren wails", "reversed_caption": "", "verdict": verdict, "asked": (),
        "tags": ("dog bark", "siren", "street"), "heard": HEARD[""], "detail": "",
        "values": {"ordered": float(verdict == "ordered")}, "warnings": ("clipping",),
    }  # fmt: skip
    return item(number, audio, **{**row, **changes})


def systems_of(rows: Sequence[ItemRow], measures: Measures, **changes: Any) -> Summary:
    """A summary of rows of any task: means, with an interval that is one tenth of the mean wide."""
    systems = []
    for name in dict.fromkeys(row.system for row in rows):
        own = [row for row in rows if row.system == name]
        count = Counter(row.status for row in own)
        metrics = {}
        for spec in measures.specs:
            values = [value for row in own if (value := row.values.get(spec.name)) is not None]
            mean = sum(values) / len(values) if values else None
            half = abs(mean or 0.0) / 20
            metrics[spec.name] = (
                Metric(None) if mean is None else Metric(mean, mean - half, mean + half, n=len(values))
            )
        systems.append(
            SystemRow(
                name, len(own), count["not_applicable"], count["unheard"], count["scored"],
                count["scored"] / max(1, len(own) - count["not_applicable"]), metrics,
            )
        )  # fmt: skip
    parts: dict[str, Any] = {"task": "edit", "listener": "scripted", "comparisons": (), "notes": ()}
    return Summary(measures=measures, rows=tuple(systems), **{**parts, **changes})


def build(folder: Path, rows: Sequence[ItemRow], **options: Any) -> Path:
    about = {"title": "Order kept", "facts": {"date": "2026-01-02", "seed": 0}, **options}
    summary = about.pop("summary", None) or summary_of(rows)
    return write_page(folder, summary, iter(rows), **about)


def three_systems(clips: list[Path]) -> list[ItemRow]:
    """Three systems of three clips, one of every verdict."""
    odd = {"status": "not_applicable", "verdict": "not_applicable", "reason": "no order stated", "heard": ()}
    return [
        item(1, clips[0], sample_id="p1"),
        item(2, clips[1], "reversed", sample_id="p2"),
        item(3, clips[2], sample_id="p3", caption="Purring, quietly"),
        item(4, clips[3], "missing", system="base", sample_id="p1"),
        item(5, clips[4], "reversed", system="base", sample_id="p2"),
        item(6, clips[5], system="base", sample_id="p3", warnings=("the right channel is silent",)),
        unheard(7, clips[6], system="none", sample_id="p1"),
        unheard(8, clips[7], system="none", sample_id="p2", reason="blocked"),
        item(9, clips[8], system="none", sample_id="p3", values={}, **odd),
    ]


def until(page: Any, test: str, arg: Any = None) -> None:
    """Wait until the test is true. (Playwright's own waiting needs eval, which the page forbids.)"""
    for _ in range(200):
        if page.evaluate(test, arg):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never came true: {test}")


def listed(page: Any) -> list[int]:
    return [
        int(name.removeprefix("clip-"))
        for name in page.locator(".clip").evaluate_all("a => a.map(c => c.id)")
    ]
