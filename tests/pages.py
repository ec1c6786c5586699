"""Made-up runs for the tests of the listening page."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from earwitness.events import Event
from earwitness.report.page import write_page
from earwitness.tasks.rows import Asked, ItemRow, Metric, MetricSpec, Summary, SystemRow

ASKED = (Asked("a dog barks", ("Dog", "Bark"), 0), Asked("a siren", ("Siren",), 1))
HEARD = {
    "": (Event("Dog", 0.2, 0.6, 0.9), Event("Siren", 1.0, 1.8, 0.5), Event("Speech", 0.1, 1.9, 0.3)),
    "reversed": (Event("Siren", 0.2, 0.6, 0.9), Event("Bark", 1.0, 1.8, 0.5)),
    "missing": (Event("Siren", 0.2, 0.6, None),),
}


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
    specs = (MetricSpec("toa", "TOA", "order kept"), MetricSpec("recall", "Recall", "events heard"))
    parts: dict[str, Any] = {"comparisons": (), "notes": ()}
    return Summary("order", "yamnet", "toa", specs, tuple(systems), **{**parts, **changes})


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
