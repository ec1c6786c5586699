"""A listener that answers from a file: known error rates, whole runs with no model and no network.

The file is JSON Lines, one answer a line::

    {"pcm_hash": "*", "question": "events", "reply": {"events": [], "duration_s": 10.0}}
    {"pcm_hash": "4716...", "question": "alignment", "caption": "a dog barks", "repeat": 2, "reply": {...}}
    {"pcm_hash": "*", "question": "edit", "reason": "refused", "detail": "as scripted"}

``pcm_hash``  of the clip that is judged, for an edit the edited one (see audio.pcm_hash); ``*`` for any.
``question``  any of earwitness.questions. A script that answers ``events`` makes a detector.
``caption``   the text shown: the caption; for an edit its target caption, or else its instruction. ``*`` or
              absent for any.
``repeat``    0-based; absent for any.
``reply``     the question's fields; or ``reason`` and ``detail`` of why there is none.

The most specific line wins: the clip's own before ``*``, then caption, then repeat. What no line answers is
unheard (unsupported). The same call always gets the same answer, so a script is asked once an item unless
repeats are asked for.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from earwitness.errors import InputFaults, UserError
from earwitness.listeners.base import REASONS, Call, Hearing, Needs, Unheard
from earwitness.questions import QUESTIONS
from earwitness.questions.base import Question
from earwitness.questions.edit import EDITED

ANY = "*"
_SHOWN = ("caption", "target_caption", "instruction")
"""Texts of a call by which a line is found, the first there is."""


class Scripted:
    """Answers calls from a JSONL script.

    Args:
        path: The script.
        resolution_s: Onsets closer than this are told apart no better than chance.

    Raises:
        UserError: If the file cannot be read; InputFaults lists every bad line.
    """

    name = "scripted"
    known_labels: frozenset[str] = frozenset()
    measured = ""

    def __init__(self, path: Path, *, resolution_s: float = 0.1) -> None:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            raise UserError(
                f"{path}: cannot be read: {fault}", "Name a JSONL file of scripted answers."
            ) from fault
        self.version = hashlib.sha256(text.encode()).hexdigest()[:16]
        self._answers = _parse(path, text)
        asked = {key[1] for key in self._answers}
        self.needs = Needs(
            rate_hz=8000,
            min_s=0.025,
            max_s=3600.0,
            resolution_s=resolution_s,
            questions=tuple(name for name in QUESTIONS if name in asked),
            detector="events" in asked,
            cost="free; answers come from the script",
        )

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"resolution_s": self.needs.resolution_s}

    def ready(self) -> None:
        """The script was read when the listener was made."""

    def hear(self, calls: Iterable[Call]) -> Iterator[tuple[str, Hearing | Unheard]]:
        for call in calls:
            yield call.call_id, self._answer(call)

    def _answer(self, call: Call) -> Hearing | Unheard:
        asked = call.question.name
        judged = dict(zip(call.question.clip_names, call.clips, strict=True)).get(EDITED, call.clips[0])
        shown = next((call.texts[name] for name in _SHOWN if name in call.texts), "")
        for pcm_hash in (judged.pcm_hash, ANY):
            for caption in (shown, ANY):
                for repeat in (call.repeat, None):
                    answer = self._answers.get((pcm_hash, asked, caption, repeat))
                    if answer is not None:
                        return answer
        return Unheard("unsupported", f"the script has no answer to {asked!r} for this clip")

    def expected(
        self, question: Question, texts: Mapping[str, str], durations_s: Sequence[float]
    ) -> Mapping[str, float]:
        return {}


def _parse(path: Path, text: str) -> dict[tuple[str, str, str, int | None], Hearing | Unheard]:
    answers: dict[tuple[str, str, str, int | None], Hearing | Unheard] = {}
    faults = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            key = (row["pcm_hash"], row["question"], row.get("caption", ANY), row.get("repeat"))
            if row["question"] not in QUESTIONS:
                raise ValueError(f"unknown question {row['question']!r}; known: {', '.join(QUESTIONS)}")
            if key in answers:
                raise ValueError("answers the same call as an earlier line")
            if row.get("reason"):
                if row["reason"] not in REASONS:
                    raise ValueError(f"unknown reason {row['reason']!r}; known: {', '.join(REASONS)}")
                answers[key] = Unheard(row["reason"], row.get("detail", "scripted"))
            else:
                answers[key] = Hearing(row["reply"], raw=json.dumps(row["reply"]))
        except KeyError as fault:
            faults.append(f"line {number}: {fault} is missing")
        except (TypeError, ValueError) as fault:
            faults.append(f"line {number}: {fault}")
    if faults:
        raise InputFaults(f"{path}: not a script of answers", faults)
    if not answers:
        raise UserError(f"{path}: the script has no answers.", "Write one JSON object a line.")
    return answers
