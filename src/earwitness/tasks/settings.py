"""What a run is: the settings that must not change between its parts, kept in the ledger."""

import datetime
import importlib.metadata
import platform
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from earwitness import audio
from earwitness.errors import InputFaults, UserError
from earwitness.ledger import Ledger, StoredItem
from earwitness.listeners.base import Listener
from earwitness.manifest import Manifest, notes_on_sets
from earwitness.manifest.table import listing
from earwitness.questions import QUESTIONS
from earwitness.questions.base import Question
from earwitness.tasks.task import SEED, Hearer, Kept, Setup, Task

FIXED = ("task", "seed", "listener", "questions", "ask")
"""Settings that a run keeps for good; repeats and the share of exchanged clips may grow."""

NOTHING: Mapping[str, Any] = MappingProxyType({})
JUDGE_REPEATS = 3
"""How often an LLM judge hears an item unless told otherwise."""


def begin(ledger: Ledger, listener: Listener, manifest: Manifest, task: Task, setup: Setup) -> Hearer:
    """Keep the run's settings and items, or check that they are those it began with.

    A detector hears a clip once: it answers the same every time, so repeats are for judges.

    Raises:
        InputFaults: Naming each setting, row or file that differs, old and new; nothing is changed.
        UserError: If a prompt is given for a question that is not asked, or cannot be used, or the task
            cannot be done with the items kept and given together.
    """
    ledger.forget_if_unheard()
    before = ledger.meta()
    wanted = asked(listener, setup, before)
    questions = reworded(task.questions(wanted), setup.prompts)
    meta = {
        "task": task.name,
        "seed": setup.seed,
        "listener": {
            "name": listener.name,
            "version": listener.version,
            "settings": dict(listener.settings),
            "resolution_s": listener.needs.resolution_s,
            "detector": listener.needs.detector,
            "known_labels": sorted(listener.known_labels),
        },
        "questions": {question.name: question.fingerprint for question in questions},
        "ask": setup.ask,
    }
    run = ledger.path.parent
    if before:
        if before["task"] != task.name:
            raise UserError(
                f"{run} holds a run of the task {before['task']}.", "Choose another folder with -o."
            )
        changed = [fault for name in FIXED for fault in _differences(name, before.get(name), meta[name])]
        _refuse(f"{run}: this run was begun with other settings", changed, "Use the settings it began with")
        _refuse(f"{run}: rows have changed since this run began", ledger.changed_rows(manifest.items))
        _refuse(f"{run}: files have changed since they were heard", ledger.changed_files())
        _check_together(ledger, manifest, task)
    changing = {
        "started": before.get("started", datetime.datetime.now(datetime.UTC).date().isoformat()),
        "repeats": wanted.repeats,
        "swap": wanted.swap,
        "prompts": {question.name: question.prompt for question in questions},
        "generator_encoder": setup.generator_encoder or before.get("generator_encoder", ""),
        "command": setup.command,
        "data": Path(manifest.source).absolute().name,
        "notes": list(manifest.notes),
        "measured": listener.measured,
        "versions": versions(),
        "unclaimed": wanted.unclaimed,
        "scoring": dict(wanted.scoring),
    }
    ledger.begin(meta | changing, manifest.items)
    found = hearer(ledger)
    if len(ledger.item_ids()) > len(manifest.items):
        notes = _notes_on_all(ledger, manifest, before.get("notes", ()), task.measures(found).baselines)
        ledger.begin({"notes": notes}, ())
    return found


def _notes_on_all(
    ledger: Ledger, manifest: Manifest, before: Sequence[str], baselines: Collection[str]
) -> list[str]:
    """Notes that are true of the whole run, when the manifest given last holds but a part of it.

    Notes on a system that is not given again stay; how the systems' samples differ is told anew.
    """
    every = [one.item for one in ledger.items()]
    given = {(item.system, item.sample_id) for item in manifest.items}
    again = {item.system for item in manifest.items}
    kept = [item for item in every if (item.system, item.sample_id) not in given]
    others = tuple(
        f"{system}: " for system in dict.fromkeys(item.system for item in kept) if system not in again
    )
    differing, differ = (
        notes_on_sets([item for item in items if item.system not in baselines])
        for items in (manifest.items, every)
    )
    notes = [note for note in before if note.startswith(others)]
    notes += [note for note in manifest.notes if note not in differing]
    notes += differ
    notes.append(
        f"{len(kept)} items judged earlier in this run are not in the manifest given last; they are kept"
    )
    if parted := dict.fromkeys(item.system for item in kept if item.system in again - set(baselines)):
        notes.append(f"what is said of the files of {listing(parted)} is of those given last alone")
    return notes


def _check_together(ledger: Ledger, manifest: Manifest, task: Task) -> None:
    """Check the items given along with those kept, which must fit each other too."""
    given = {(item.system, item.sample_id) for item in manifest.items}
    stored = list(ledger.items())
    kept = [one.item for one in stored if (one.item.system, one.item.sample_id) not in given]
    task.check(replace(manifest, items=(*kept, *manifest.items)), files_kept(stored))


def files_kept(stored: Iterable[StoredItem]) -> Kept:
    """What the ledger knows of the files of these items."""
    return {one.item.files[role]: file for one in stored for role, file in one.files.items()}


def asked(listener: Listener, setup: Setup, before: Mapping[str, Any] = NOTHING) -> Hearer:
    """The hearer that such a setup makes of a listener.

    Args:
        before: Settings of the run that is extended, if there is one.
    """
    needs = listener.needs
    usual = JUDGE_REPEATS if needs.varies else 1
    return Hearer(
        name=listener.name,
        version=listener.version,
        detector=needs.detector,
        resolution_s=needs.resolution_s,
        known_labels=listener.known_labels,
        repeats=1 if needs.detector else max(setup.repeats or usual, before.get("repeats", 0)),
        unclaimed=setup.unclaimed and needs.detector,
        ask=setup.ask,
        swap=max(setup.swap, before.get("swap", 0.0)),
        seed=setup.seed,
        scoring=setup.scoring,
    )


def reworded(questions: Sequence[Question], prompts: Mapping[str, str]) -> list[Question]:
    """The questions in the user's own words, where there are any.

    Raises:
        UserError: If a prompt is given for a question that is not asked, or cannot be used.
    """
    names = [question.name for question in questions]
    for name in prompts:
        if name not in names:
            raise UserError(f"the question {name!r} is not asked in this run.", f"Asked: {', '.join(names)}.")
        if not QUESTIONS[name].prompt:
            raise UserError(f"the question {name!r} has no prompt.", "Prompts are for judges, not detectors.")
    own = {q.name: prompts.get(q.name, prompts.get(q.words_of)) for q in questions}
    return [q if (words := own[q.name]) is None else q.with_prompt(words) for q in questions]


def questions(ledger: Ledger) -> dict[str, Question]:
    """The run's questions by name, in the words in which they are asked."""
    prompts = ledger.meta().get("prompts", {})
    return {name: replace(QUESTIONS[name], prompt=prompt) for name, prompt in prompts.items()}


def _refuse(what: str, faults: Sequence[str], remedy: str = "Undo the change") -> None:
    if faults:
        raise InputFaults(what, faults, f"{remedy}, or judge into a new run folder with -o.")


def hearer(ledger: Ledger, unclaimed: bool | None = None, scoring: Mapping[str, str] | None = None) -> Hearer:
    """What scoring must know of the run's listener.

    Args:
        unclaimed, scoring: See Hearer; None for what the run was last judged with.
    """
    meta = ledger.meta()
    about = meta["listener"]
    return Hearer(
        name=about["name"],
        version=about["version"],
        detector=about["detector"],
        resolution_s=about["resolution_s"],
        known_labels=frozenset(about["known_labels"]),
        repeats=meta["repeats"],
        unclaimed=meta.get("unclaimed", False) if unclaimed is None else unclaimed,
        ask=meta.get("ask", SEED),
        swap=meta.get("swap", 0.0),
        seed=meta["seed"],
        scoring=meta.get("scoring", {}) if scoring is None else scoring,
    )


def versions() -> dict[str, str]:
    """Versions of everything a number may depend on."""
    packages = ("earwitness", "numpy", "scipy", "soundfile", "soxr", "onnxruntime")
    clients = ("pydantic-ai-slim", "google-genai", "openai")  # of the extra llm, where it is installed
    found = {name: importlib.metadata.version(name) for name in packages}
    for name in clients:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return {
        "python": platform.python_version(),
        "libsndfile": audio.libsndfile_version(),
        **found,
    }


def _differences(name: str, before: Any, after: Any) -> list[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        keys = sorted({*before, *after})
        return [d for key in keys for d in _differences(f"{name}.{key}", before.get(key), after.get(key))]
    return [] if before == after else [f"{name} was {_short(before)}, is now {_short(after)}"]


def _short(value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value):
        value = value[:12]  # a hash: as much as tells it from another
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
