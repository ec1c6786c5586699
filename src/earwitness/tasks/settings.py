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
from earwitness.questions import QUESTIONS
from earwitness.tasks.order import Hearer

FIXED = ("task", "seed", "listener")
"""Settings that a run keeps for good; repeats may grow."""


def begin(
    ledger: Ledger,
    listener: Listener,
    *,
    task: str,
    seed: int,
    repeats: int,
    command: str,
    notes: Sequence[str],
) -> Hearer:
    """Write the run's settings, or check that they are those it began with.

    A detector hears a clip once: it answers the same every time, so repeats are for judges.

    Raises:
        InputFaults: Naming each setting that differs, with both values; nothing is changed.
    """
    meta = {
        "task": task,
        "seed": seed,
        "listener": {
            "name": listener.name,
            "version": listener.version,
            "settings": dict(listener.settings),
            "resolution_s": listener.needs.resolution_s,
            "detector": listener.needs.detector,
            "known_labels": sorted(listener.known_labels),
            "measured": listener.measured,
        },
    }
    before = ledger.meta()
    if before:
        faults = [fault for name in FIXED for fault in _differences(name, before.get(name), meta[name])]
        if faults:
            raise InputFaults(
                f"{ledger.path.parent}: this run was begun with other settings",
                faults,
                "Use the settings it began with, or judge into a new run folder with -o.",
            )
    else:
        meta["started"] = datetime.datetime.now(datetime.UTC).date().isoformat()
    ledger.set_meta(
        meta
        | {
            "repeats": 1 if listener.needs.detector else max(repeats, before.get("repeats", 0)),
            "command": command,
            "notes": list(notes),
            "questions": {name: question.fingerprint for name, question in QUESTIONS.items()},
            "versions": versions(),
        }
    )
    return hearer(ledger)


def hearer(ledger: Ledger, unclaimed: bool = False) -> Hearer:
    """What scoring must know of the run's listener (``unclaimed``: see Hearer)."""
    meta = ledger.meta()
    about = meta["listener"]
    return Hearer(
        name=about["name"],
        version=about["version"],
        detector=about["detector"],
        resolution_s=about["resolution_s"],
        known_labels=frozenset(about["known_labels"]),
        repeats=meta["repeats"],
        unclaimed=unclaimed,
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
