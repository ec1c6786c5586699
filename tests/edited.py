"""Edits for tests: replies of judges, and manifests of short noise clips."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from earwitness import tasks
from earwitness.api import Request, runs
from earwitness.ledger import Ledger
from earwitness.tasks import settings
from earwitness.tasks.rows import ItemRow
from sounds import noise

AXES = ("edit_success", "nontarget_preservation", "temporal_preservation", "naturalness")


def edit_reply(verdict: str = "good_edit", *marks: int) -> dict[str, Any]:
    """A judge's reply; marks in the order of the axes, 5 each by default."""
    event = {"label": "a dog", "onset_s": 0.1, "offset_s": 0.3}
    given = dict(zip(AXES, marks or (5, 5, 5, 5), strict=True))
    return {"source_events": [], "edited_events": [event], "intended_change": "a dog", **given,
            "verdict": verdict, "notes": "scripted"}  # fmt: skip


def answers(
    pcm_hash: str, replies: Iterable[Mapping[str, Any]], question: str = "edit"
) -> list[dict[str, Any]]:
    """Script lines: one reply a repeat."""
    return [
        {"pcm_hash": pcm_hash, "question": question, "repeat": repeat, "reply": dict(reply)}
        for repeat, reply in enumerate(replies)
    ]


def rows(manifest: Path, run: Path, listener: str, **how: Any) -> list[ItemRow]:
    """The scored items of a run that writes no report, or of one that goes on."""
    request = Request("edit", manifest, listener=listener, **how)
    ear = request.open(listener)
    with Ledger.create(run / "ledger.sqlite") as ledger:
        runs.hear(ledger, ear, request.items(), request, request.setup(ear))
        return list(tasks.find("edit").rows(ledger, settings.hearer(ledger)))


class Edits:
    """A manifest under construction: a noise clip for every source and every edited clip."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[dict[str, Any]] = []

    def add(self, system: str, sample_id: str, **columns: Any) -> str:
        """One more edit; returns the PCM hash of its edited clip."""
        source = self.folder / "sources" / f"{sample_id}.wav"
        if not source.exists():
            noise(source, sum(map(ord, sample_id)))
        edited = self.folder / system / f"{sample_id}.wav"
        row = {"system": system, "sample_id": sample_id, "source_audio": str(source),
               "edited_audio": str(edited)}  # fmt: skip
        self.rows.append(row | (columns or {"instruction": "Add a dog barking"}))
        return noise(edited, 1000 + len(self.rows))

    def write(self, name: str = "edits.jsonl") -> Path:
        path = self.folder / name
        path.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")
        return path
