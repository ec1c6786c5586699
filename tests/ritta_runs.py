"""Small whole runs of the RiTTA task: data of the built-in bank, and listeners that answer as planned."""

import csv
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from earwitness import audio, runner
from earwitness.events import Event
from earwitness.ledger import Ledger
from earwitness.listeners import levels, open_listener
from earwitness.listeners.base import Listener
from earwitness.manifest import Manifest
from earwitness.runner import Counts
from earwitness.scenes import dataset, scene
from earwitness.scenes.bank import Bank
from earwitness.scenes.ritta.recipe import recipe
from earwitness.scenes.scene import Scene
from earwitness.tasks import ritta, settings
from earwitness.tasks.rows import ItemRow, Summary
from earwitness.tasks.summary import summarise
from earwitness.tasks.task import Hearer, Setup
from sounds import script

PER_RELATION = 6
SECONDS = 10.0
SURE = 0.95

Answer = dict[str, Any]


def make_data(folder: Path, per_relation: int = PER_RELATION) -> Path:
    """A data set with every relation; the bank computes its sounds."""
    drawn = recipe(Bank.builtin(6), split="all", per_relation=per_relation, leave_out_missing=True)
    dataset.write(folder, drawn, drawn.bank, workers=1)
    return folder


def make_silence(path: Path) -> Path:
    audio.write_wav(path, np.zeros((1, int(SECONDS * 16_000)), np.float32), 16_000)
    return path


@cache
def scenes_of(data: Path) -> dict[str, Scene]:
    """Every scene that answers a prompt, by prompt_id, in the data set's order."""
    with (data / "metadata.csv").open(encoding="utf-8", newline="") as file:
        names = [row["prompt_id"] for row in csv.DictReader(file)]
    return {name: scene.read(data / "scenes" / f"{name}.json") for name in names}


def true_events(one: Scene) -> list[Event]:
    return [Event(e.label, e.onset_s, e.offset_s, SURE) for e in one.truth()]


def true_levels(one: Scene) -> Answer:
    """Levels as they would be measured if sounds were steady tones."""
    frames: list[float | None] = [None] * round(SECONDS / 0.05)
    for event in one.events:
        for index in range(round(event.onset / one.rate_hz / 0.05), round(event.end / one.rate_hz / 0.05)):
            frames[index] = round(event.level_db, 2)
    return {"frame_s": 0.05, "dbfs": frames}


def events_line(pcm_hash: str, events: Iterable[Event]) -> Answer:
    listed = [
        {"label": e.label, "onset_s": e.onset_s, "offset_s": e.offset_s, "confidence": e.confidence}
        for e in events
    ]
    return {"pcm_hash": pcm_hash, "question": "events", "reply": {"events": listed, "duration_s": SECONDS}}


def levels_line(pcm_hash: str, reply: Answer) -> Answer:
    return {"pcm_hash": pcm_hash, "question": "levels", "reply": reply}


def reference_lines(data: Path) -> list[Answer]:
    """A listener that hears the data set's own clips rightly; their levels are measured from their sound."""
    lines = []
    for name, one in scenes_of(data).items():
        found = audio.read(data / "audio" / f"{name}.wav")
        lines.append(events_line(found.pcm_hash, true_events(one)))
        lines.append(levels_line(found.pcm_hash, levels.measured(found)))
    return lines


def silence_lines(path: Path) -> list[Answer]:
    found = audio.read(path)
    return [events_line(found.pcm_hash, []), levels_line(found.pcm_hash, levels.measured(found))]


Plan = Callable[[str, Scene], list[Event]]
"""From a prompt_id and its scene to what the listener hears in a system's clip."""


def system_lines(folder: Path, data: Path, plan: Plan, seed: int, seconds: float = SECONDS) -> list[Answer]:
    """Write a system's clips, each another sound, and what the listener says of them."""
    folder.mkdir(parents=True)
    lines = []
    rng = np.random.default_rng(seed)
    for name, one in scenes_of(data).items():
        path = folder / f"{name}.wav"
        noise = rng.integers(-99, 99, (1, int(seconds * 8_000))) / 2**15
        audio.write_wav(path, noise.astype(np.float32), 8_000)
        found = audio.read(path)
        lines.append(events_line(found.pcm_hash, plan(name, one)))
        lines.append(levels_line(found.pcm_hash, true_levels(one)))
    return lines


def skilled(share: float) -> Plan:
    """Right in that share of the prompts of every relation; else the asked sounds are missing."""

    def plan(name: str, one: Scene) -> list[Event]:
        index = int(name.rpartition("-")[2])
        if index < share * PER_RELATION:
            return true_events(one)
        assert one.expected is not None
        if one.expected.relation == "not":
            return [Event(one.expected.labels[0], 1.0, 2.0, SURE)]
        return true_events(one)[1:]

    return plan


def listener(path: Path, lines: Iterable[Answer], known_labels: frozenset[str] = frozenset()) -> Listener:
    """A scripted detector, which may claim to know some labels only."""
    found = open_listener(script(path, lines))
    if known_labels:
        found.known_labels = known_labels  # type: ignore[misc]
    return found


def hear(run: Path, ear: Listener, found: Manifest, **setup: Any) -> Counts:
    """Begin or extend a run and hear what is missing."""
    counts = Counts()
    with Ledger.create(run / "ledger.sqlite") as ledger:
        ritta.TASK.check(found)
        hearer = settings.begin(ledger, ear, found, ritta.TASK, Setup(**setup))
        for stage in ritta.TASK.stages(ledger, hearer):
            counts += runner.run(ledger, ear, stage.plan, settings.questions(ledger), seed=0)
    return counts


def rows_of(run: Path, scoring: Mapping[str, str] | None = None, **how: Any) -> tuple[list[ItemRow], Hearer]:
    with Ledger.read(run / "ledger.sqlite") as ledger:
        hearer = settings.hearer(ledger, scoring=scoring, **how)
        return list(ritta.TASK.rows(ledger, hearer)), hearer


def summary_of(run: Path, scoring: Mapping[str, str] | None = None, **how: Any) -> Summary:
    """The run's systems, from the ledger alone."""
    rows, hearer = rows_of(run, scoring, **how)
    with Ledger.read(run / "ledger.sqlite") as ledger:
        notes = ledger.meta()["notes"]
    return summarise(
        rows, ritta.TASK.measures(hearer), task="ritta", listener="ear", manifest_notes=notes, draws=20
    )


def values(found: Summary, metric: str = "msr") -> dict[str, dict[str, float | None]]:
    """A metric by system and part of the run."""
    return {
        row.system: {"all": row.metrics[metric].value}
        | {part: its[metric].value for part, its in row.parts.items()}
        for row in found.rows
    }
