"""What a run is: the settings that must not change between its parts, kept in the ledger."""

import datetime
import importlib.metadata
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from earwitness import audio
from earwitness.errors import InputFaults
from earwitness.ledger import Ledger
from earwitness.listeners.base import Listener
from earwitness.manifest import Manifest
from earwitness.questions import QUESTIONS
from earwitness.tasks.order import Hearer

FIXED = ("task", "seed", "listener", "questions")
"""Settings that a run keeps for good; repeats may grow."""


def begin(
    ledger: Ledger,
    listener: Listener,
    manifest: Manifest,
    *,
    task: str,
    seed: int,
    repeats: int,
    command: str,
    unclaimed: bool = False,
) -> Hearer:
    """Keep the run's settings and items, or check that they are those it began with.

    A detector hears a clip once: it answers the same every time, so repeats are for judges.

    Raises:
        InputFaults: Naming each setting, row or file that differs, old and new; nothing is changed.
    """
    detector = listener.needs.detector
    questions = ["events"] if detector else ["alignment"]
    meta = {
        "task": task,
        "seed": seed,
        "listener": {
            "name": listener.name,
            "version": listener.version,
            "settings": dict(listener.settings),
            "resolution_s": listener.needs.resolution_s,
            "detector": detector,
            "known_labels": sorted(listener.known_labels),
        },
        "questions": {name: QUESTIONS[name].fingerprint for name in questions},
    }
    before = ledger.meta()
    run = ledger.path.parent
    if before:
        changed = [fault for name in FIXED for fault in _differences(name, before[name], meta[name])]
        _refuse(f"{run}: this run was begun with other settings", changed, "Use the settings it began with")
        _refuse(f"{run}: rows have changed since this run began", ledger.changed_rows(manifest.items))
        _refuse(f"{run}: files have changed since they were heard", ledger.changed_files())
    changing = {
        "started": before.get("started", datetime.datetime.now(datetime.UTC).date().isoformat()),
        "repeats": 1 if detector else max(repeats, before.get("repeats", 0)),
        "command": command,
        "notes": list(manifest.notes),
        "measured": listener.measured,
        "versions": versions(),
        "unclaimed": unclaimed,
    }
    ledger.begin(meta | changing, manifest.items)
    kept = len(ledger.item_ids()) - len(manifest.items)
    if kept:
        note = f"{kept} items judged earlier in this run are not in the manifest given last; they are kept"
        ledger.begin({"notes": [*manifest.notes, note]}, ())
    return hearer(ledger)


def _refuse(what: str, faults: Sequence[str], remedy: str = "Undo the change") -> None:
    if faults:
        raise InputFaults(what, faults, f"{remedy}, or judge into a new run folder with -o.")


def hearer(ledger: Ledger, unclaimed: bool | None = None) -> Hearer:
    """What scoring must know of the run's listener.

    Args:
        unclaimed: See Hearer; None for what the run was last judged with.
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
    )


def versions() -> dict[str, str]:
    """Versions of everything a number may depend on."""
    packages = ("earwitness", "numpy", "scipy", "soundfile", "soxr", "onnxruntime")
    found = {name: importlib.metadata.version(name) for name in packages}
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
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
