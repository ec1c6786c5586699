"""The listener that answers from a file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earwitness.audio import Clip, pcm_hash
from earwitness.errors import InputFaults, UserError
from earwitness.listeners import open_listener
from earwitness.listeners.base import Call, Hearing, Unheard
from earwitness.questions import QUESTIONS
from sounds import script


def clip(seed: int) -> Clip:
    samples = np.random.default_rng(seed).uniform(-0.3, 0.3, (1, 800)).astype(np.float32)
    return Clip(samples, 16_000, pcm_hash(samples, 16_000))


A, B = clip(0), clip(1)


def answer(
    path: Path, lines: list[dict[str, Any]], question: str, clips: tuple[Clip, ...] = (A,), **call: Any
) -> Any:
    """What the script answers: the reply, or the reason for none."""
    listener = open_listener(script(path / "s.jsonl", lines))
    [(call_id, given)] = listener.hear([Call("id", clips, QUESTIONS[question], **call)])
    assert call_id == "id"
    return given.reason if isinstance(given, Unheard) else given.reply


def line(question: str, says: object, pcm: str = "*", **more: Any) -> dict[str, Any]:
    return {"pcm_hash": pcm, "question": question, "reply": {"says": says}, **more}


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_can_be_scripted(tmp_path: Path, name: str) -> None:
    clips = (A, B)[: len(QUESTIONS[name].clip_names)]
    assert answer(tmp_path, [line(name, 1)], name, clips) == {"says": 1}
    listener = open_listener(f"scripted:{tmp_path / 's.jsonl'}")
    assert listener.needs.questions == (name,)
    assert listener.needs.detector == (name == "events")
    assert not listener.needs.varies


def test_the_most_specific_line_wins(tmp_path: Path) -> None:
    lines = [
        line("alignment", "any"),
        line("alignment", "repeat", repeat=1),
        line("alignment", "caption", caption="a dog"),
        line("alignment", "clip", A.pcm_hash),
        line("alignment", "clip and caption", A.pcm_hash, caption="a dog"),
        line("alignment", "all", A.pcm_hash, caption="a dog", repeat=1),
    ]

    def says(heard: Clip, caption: str, repeat: int) -> str:
        texts = {"caption": caption}
        return str(answer(tmp_path, lines, "alignment", (heard,), texts=texts, repeat=repeat)["says"])

    assert says(B, "a cat", 0) == "any"
    assert says(B, "a cat", 1) == "repeat"
    assert says(B, "a dog", 1) == "caption"
    assert says(A, "a cat", 1) == "clip"
    assert says(A, "a dog", 0) == "clip and caption"
    assert says(A, "a dog", 1) == "all"


def test_an_edit_is_found_by_its_edited_clip_in_either_order(tmp_path: Path) -> None:
    lines = [line(name, name, B.pcm_hash) for name in ("edit", "edit_exchanged")]
    assert answer(tmp_path, lines, "edit", (A, B)) == {"says": "edit"}
    assert answer(tmp_path, lines, "edit_exchanged", (B, A)) == {"says": "edit_exchanged"}
    assert answer(tmp_path, lines, "edit", (B, A)) == "unsupported"


@pytest.mark.parametrize(
    "texts",
    [
        {"target_caption": "a cat", "source_caption": "a dog", "instruction": "swap them"},
        {"instruction": "a cat"},
        {"caption": "a cat", "heard": "a dog"},
    ],
)
def test_the_text_that_is_judged_finds_the_line(tmp_path: Path, texts: dict[str, str]) -> None:
    lines = [line("edit", "found", caption="a cat"), line("edit", "other")]
    assert answer(tmp_path, lines, "edit", (A, B), texts=texts) == {"says": "found"}


def test_a_reason_may_be_scripted_and_what_is_not_scripted_is_unsupported(tmp_path: Path) -> None:
    refused = {"pcm_hash": "*", "question": "label", "reason": "blocked", "detail": "no"}
    assert answer(tmp_path, [refused], "label") == "blocked"
    assert answer(tmp_path, [refused], "listen") == "unsupported"


def test_captions_with_odd_line_separators_stay_on_their_line(tmp_path: Path) -> None:
    caption = "a dog\u2028then\x85a cat"
    path = tmp_path / "s.jsonl"
    path.write_text(
        f'{{"pcm_hash": "*", "question": "listen", "caption": "{caption}", "reply": {{}}}}\n',
        encoding="utf-8",
    )
    [(_, given)] = open_listener(f"scripted:{path}").hear(
        [Call("id", (A,), QUESTIONS["listen"], {"caption": caption})]
    )
    assert isinstance(given, Hearing)


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    good = '{"pcm_hash": "*", "question": "label", "reply": {}}'
    lines = [
        good,
        "",
        good,
        "no json",
        "[1]",
        '{"pcm_hash": "*", "question": "labels", "reply": {}}',
        '{"pcm_hash": "*", "question": "events"}',
        '{"pcm_hash": "*", "question": "listen", "reason": "bored"}',
    ]
    path.write_text("\n".join(lines))
    with pytest.raises(InputFaults) as caught:
        open_listener(f"scripted:{path}")
    assert [fault.split(":")[0] for fault in caught.value.faults] == [f"line {n}" for n in range(3, 9)]
    path.write_text("\n\n")
    with pytest.raises(UserError, match="no answers"):
        open_listener(f"scripted:{path}")
    with pytest.raises(UserError, match="cannot be read"):
        open_listener(f"scripted:{tmp_path / 'nowhere.jsonl'}")
