"""Small sounds and scripts for tests: every clip is different, so every PCM hash is."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from earwitness import audio

RATE_HZ = 16_000


def noise(path: Path, seed: int, seconds: float = 0.5) -> str:
    """Write a short noise clip; returns its PCM hash as read back."""
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = np.random.default_rng(seed).uniform(-0.3, 0.3, (1, int(seconds * RATE_HZ)))
    audio.write_wav(path, samples.astype(np.float32), RATE_HZ)
    written, _ = soundfile.read(path, dtype="float32", always_2d=True)
    return audio.pcm_hash(written.T, RATE_HZ)


def events_reply(*events: tuple[str, float, float], duration_s: float = 0.5) -> dict[str, Any]:
    listed = [{"label": n, "onset_s": a, "offset_s": b, "confidence": 0.9} for n, a, b in events]
    return {"events": listed, "duration_s": duration_s}


def alignment_reply(match: float | None, alignment: int, recall: float = 1.0) -> dict[str, Any]:
    return {
        "events_heard": [],
        "caption_events": [],
        "event_recall": recall,
        "event_precision": 1.0,
        "temporal_order_applicable": match is not None,
        "temporal_order_match": match,
        "overall_alignment": alignment,
        "notes": "scripted",
    }


def script(path: Path, lines: Iterable[dict[str, Any]]) -> str:
    """Write a script of answers; returns the listener's name."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return f"scripted:{path}"


def manifest(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path
