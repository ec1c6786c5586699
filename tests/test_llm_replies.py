"""What counts as a reply to a question, and what of a call's cost is kept."""

import json
import re
from pathlib import Path

import pytest

import fake_answers as fake
from earwitness import labels
from earwitness.ledger import Ledger
from earwitness.questions.alignment import ALIGNMENT
from earwitness.questions.base import InvalidReply, Question
from earwitness.questions.label import FLAGS, LABEL
from earwitness.questions.listen import LISTEN
from earwitness.questions.times import seconds
from fake_answers import REPLIES, times
from fake_llm import FakeLlm
from judged import WIRES, items, judge, run

REPLY = json.dumps(REPLIES["alignment"])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (REPLY[:-1] + ', "overall_alignment": 1}', "overall_alignment"),
        (REPLY[:-1] + ', "overall_alignment": 5}', "overall_alignment"),
        (REPLY[:-1] + ', "overall\\u005falignment": 1}', "overall_alignment"),
        (REPLY.replace('"confidence"', '"onset_s": 0.0, "confidence"'), "onset_s"),
    ],
)
def test_a_field_given_twice_is_no_answer(text: str, name: str) -> None:
    with pytest.raises(InvalidReply, match=f"{name}: the field is given more than once"):
        ALIGNMENT.read(text, [2.0])


def test_the_same_name_in_different_objects_is_given_once_in_each() -> None:
    assert ALIGNMENT.read(REPLY, [2.0])["overall_alignment"] == 5


@pytest.mark.parametrize(
    "written", ["٣", "３.5 s", "٠٠:٠٣", "9" * 400, "9" * 400 + " min", "9" * 308 + " min"]
)
def test_what_is_no_time_in_ascii_digits_or_not_finite_is_no_time(written: str) -> None:
    with pytest.raises(ValueError, match="time"):
        seconds(written)


@pytest.mark.parametrize("question", [LISTEN, LABEL], ids=lambda question: question.name)
def test_a_question_asked_blind_names_no_sound(question: Question) -> None:
    """An example would be heard where it is not."""
    named = [phrase for phrase in re.findall(r'"([^"]+)"', question.prompt) if phrase not in FLAGS]
    assert [phrase for phrase in named if labels.find(phrase)] == []


@pytest.mark.parametrize("wire", WIRES)
def test_calls_that_were_not_answered_in_time_are_counted(wire: str, tmp_path: Path) -> None:
    """They may be billed, and the server never says what they cost."""
    with FakeLlm(times(1, fake.hang)) as server, judge(server, wire, timeout_s=0.5) as listener:
        run(tmp_path / "run", items(tmp_path, ["a dog barks"]), listener)
    with Ledger.read(tmp_path / "run" / "ledger.sqlite") as ledger:
        usage = ledger.usage()
    assert (usage["requests"], usage["timeouts"]) == (2, 1)
