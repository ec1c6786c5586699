"""Whole runs with an LLM judge: real provider clients, real ledger, a server on loopback."""

import json
import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import earwitness
import fake_answers as fake
from earwitness.errors import UserError
from earwitness.ledger import Ledger
from earwitness.listeners import open_listener
from earwitness.report.build import Options
from earwitness.runner import Counts
from fake_answers import EVENT, LATER, REPLIES, about, times
from fake_llm import FakeLlm
from fake_wires import Answer, Request
from judged import KEY, NAMES, WIRES, alignment, heard, items, judge, keys, options, run
from sounds import manifest, noise

CAPTIONS = [
    "a dog barks, then a car honks",
    "a bell rings, then a cat meows",
    "a door slams, then a baby cries",
]


QUICK = Options(spectrograms=0, draws=200)


def order_manifest(folder: Path, systems: tuple[str, ...] = ("ours", "theirs")) -> Path:
    """A clip for every system and caption, each of another sound."""
    rows = []
    for index, (system, caption) in enumerate((s, c) for s in systems for c in CAPTIONS):
        name = f"{system}/{index}.wav"
        noise(folder / name, index)
        sample_id = f"p{CAPTIONS.index(caption)}"
        rows.append({"audio": name, "system": system, "sample_id": sample_id, "caption": caption})
    return manifest(folder / "manifest.jsonl", rows)


def edit_manifest(folder: Path) -> Path:
    rows = []
    for index in range(3):
        noise(folder / f"source{index}.wav", index)
        for offset, method in ((10, "ours"), (20, "theirs")):
            noise(folder / method / f"{index}.wav", offset + index)
            rows.append(
                {
                    "method": method,
                    "sample_id": f"e{index}",
                    "source_audio": f"source{index}.wav",
                    "edited_audio": f"{method}/{index}.wav",
                    "source_caption": "a dog barks and a car honks",
                    "target_caption": "a dog barks",
                }
            )
    return manifest(folder / "edits.jsonl", rows)


def listens(request: Request) -> Answer:
    """A judge that keeps to the stated order: the reversal of a caption is not what it hears."""
    reply = dict(REPLIES[request.question])
    caption = request.data.get("caption", "")
    if request.question == "alignment" and caption not in CAPTIONS:
        reply |= {"temporal_order_match": 0.5, "overall_alignment": 2}
    return Answer(json.dumps(reply))


def order(server: FakeLlm, wire: str, folder: Path, **given: Any) -> earwitness.Result:
    how: dict[str, Any] = {"listener": NAMES[wire], "llm": options(server, wire), "options": QUICK, **given}
    return earwitness.judge("order", order_manifest(folder), run=folder / "run", **how)


def questions(server: FakeLlm) -> Counter[str]:
    return Counter(request.question for request in server.requests)


# --- the three tasks, end to end -------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
def test_the_order_task_end_to_end(wire: str, tmp_path: Path) -> None:
    with FakeLlm(listens) as server, keys():
        result = order(server, wire, tmp_path)
        assert questions(server) == {"alignment": 6 * 2 * 3}
        assert server.faults == []
    assert result.systems["toa"].to_list() == [1.0, 1.0]


def test_a_judge_that_always_agrees_earns_a_system_nothing(tmp_path: Path) -> None:
    """It finds the order right for the caption and for its reversal: a tie, not a success."""
    with FakeLlm() as server, keys():
        systems = order(server, "openai", tmp_path, repeats=1).systems
    assert systems["toa"].to_list() == [0.0, 0.0]
    assert systems["alignment_tie"].to_list() == [1.0, 1.0]


def test_an_order_finer_than_the_listener_resolves_is_not_read_from_its_events(tmp_path: Path) -> None:
    """Judges count time in whole seconds: events that start closer have no order, whatever they say."""
    close, apart = "a dog barks, then a car honks", "a dog barks before a car honks"

    def script(request: Request) -> Answer:
        onset_s = 0.4 if request.data["caption"] == close else 1.5
        horn = LATER | {"onset_s": onset_s, "offset_s": onset_s + 0.2}
        return fake.changed(events_heard=[EVENT, horn])(request)

    rows = []
    for index, caption in enumerate((close, apart)):
        noise(tmp_path / f"{index}.wav", index, seconds=2.0)
        rows.append({"audio": f"{index}.wav", "system": "a", "caption": caption})
    with FakeLlm(script) as server, keys():
        result = earwitness.judge(
            "order", manifest(tmp_path / "m.jsonl", rows), run=tmp_path / "run", listener=NAMES["google"],
            llm=options(server, "google"), repeats=1, options=QUICK,
        )  # fmt: skip
    told = dict(zip(result.items["caption"], result.items["order_from_events"], strict=True))
    assert told == {close: 0.0, apart: 1.0}


def test_a_blind_run_listens_before_it_is_shown_a_caption(tmp_path: Path) -> None:
    with FakeLlm(listens) as server, keys():
        result = order(server, "google", tmp_path, ask="blind", repeats=2)
        assert questions(server) == {"listen": 6 * 2, "alignment": 6 * 2 * 2}
        for request in server.requests:
            assert set(request.data) == ({"caption", "heard"} if request.question == "alignment" else set())
        assert result.systems["toa"].to_list() == [1.0, 1.0]
        assert order(server, "google", tmp_path, ask="blind", repeats=2).counts == Counts()
        assert len(server.requests) == 36, "a finished run was heard again"


@pytest.mark.parametrize("wire", WIRES)
def test_the_edit_task_end_to_end(wire: str, tmp_path: Path) -> None:
    with FakeLlm() as server, keys():
        result = earwitness.judge(
            "edit", edit_manifest(tmp_path), run=tmp_path / "run", listener=NAMES[wire],
            llm=options(server, wire), repeats=2, baselines=True, swap=1.0, options=QUICK,
        )  # fmt: skip
        assert set(questions(server)) == {"edit"}
        exchanged = [r for r in server.requests if r.texts[1].startswith("EDITED")]
        assert 0 < len(exchanged) < len(server.requests)
    assert {"ours", "theirs"} < set(result.systems["system"])


@pytest.mark.parametrize("wire", WIRES)
def test_the_label_task_end_to_end(wire: str, tmp_path: Path) -> None:
    for index in range(3):
        noise(tmp_path / "clips" / f"{index}.wav", index)
    with FakeLlm() as server, keys():
        result = earwitness.label(
            tmp_path / "clips", run=tmp_path / "run", listener=NAMES[wire], llm=options(server, wire),
            repeats=1, options=QUICK,
        )  # fmt: skip
        assert questions(server) == {"label": 3}
    assert result.counts is not None
    assert result.counts.unheard == 0
    assert REPLIES["label"]["caption"] in (tmp_path / "run" / "replies.csv").read_text()


# --- keys ------------------------------------------------------------------------------------------


def _hear_every_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("matplotlib", "fontTools"):  # thousands of lines about fonts
        caplog.set_level(logging.WARNING, name)


def _tell_tale(request: Request) -> Answer:
    """Repeats the key wherever a server could."""
    told = f"your key {request.key} (Authorization: Bearer {request.key})"
    status = {"a dog barks": 500, "a cat meows": 400, "a bell rings": 413}
    for words, code in status.items():
        if words in request.data["caption"]:
            return fake.failed(code, told, "INTERNAL", "server_error")(request)
    if "a horn" in request.data["caption"]:
        return (
            Answer(None, refusal=told)
            if request.wire == "openai"
            else Answer(None, blocked="OTHER", why_blocked=told)
        )
    if "a drum" in request.data["caption"]:
        return Answer(f"{told} and no JSON")
    if "a baby" in request.data["caption"]:
        return fake.changed(**{request.key: 1})(request)
    return fake.changed(notes=told)(request)


TELLING = [
    "a dog barks",
    "a cat meows",
    "a bell rings",
    "a horn honks",
    "a drum rolls",
    "a baby cries",
    "rain",
]


@pytest.mark.parametrize("wire", WIRES)
def test_the_key_is_nowhere_in_what_is_kept_or_logged(
    wire: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _hear_every_log(caplog)
    rows = []
    for index, sound in enumerate(TELLING):
        noise(tmp_path / f"{index}.wav", index)
        rows.append({"audio": f"{index}.wav", "system": "a", "caption": f"{sound}, then thunder claps"})
    with FakeLlm(_tell_tale) as server, keys():
        earwitness.judge(
            "order", manifest(tmp_path / "m.jsonl", rows), run=tmp_path / "run", listener=NAMES[wire],
            llm=options(server, wire), repeats=1, options=Options(spectrograms=2, draws=200),
        )  # fmt: skip
        assert all(request.key == KEY for request in server.requests)
    outcomes = {
        reason for records in heard(tmp_path / "run").values() for reason in (r.reason for r in records)
    }
    assert {"", "transport", "too_long", "invalid"} < outcomes
    written = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert {"ledger.sqlite", "run.json", "replies.csv", "index.html"} <= {path.name for path in written}
    for path in written:
        assert KEY.encode() not in path.read_bytes(), path.name
    assert KEY not in caplog.text


@pytest.mark.parametrize("wire", WIRES)
def test_a_stopped_run_leaves_no_key_behind(
    wire: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _hear_every_log(caplog)
    with FakeLlm(fake.wrong_key) as server, keys():
        with pytest.raises(UserError) as fault:
            order(server, wire, tmp_path)
        assert server.requests[0].key == KEY
    shown = [str(fault.value), repr(fault.value), caplog.text]
    cause: BaseException | None = fault.value
    while cause is not None:  # what a traceback would print
        shown += [str(cause), repr(cause)]
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    assert all(KEY not in text for text in shown)
    for path in (tmp_path / "run").rglob("*"):
        assert KEY.encode() not in path.read_bytes(), path.name


# --- going on --------------------------------------------------------------------------------------


def test_a_run_goes_on_at_the_address_it_began_with(tmp_path: Path) -> None:
    with FakeLlm(listens) as server, keys():
        order(server, "openai", tmp_path, repeats=1)
    with FakeLlm(listens) as other, keys():
        with pytest.raises(UserError, match="base_url"):
            order(other, "openai", tmp_path, repeats=1)
        assert other.requests == []


@pytest.mark.parametrize("wire", WIRES)
def test_resume_skips_only_successes_and_what_would_fail_again(wire: str, tmp_path: Path) -> None:
    block = fake.safety if wire == "google" else fake.content_filter
    faults = about("dog", fake.server_error, about("bell", block, about("door", fake.prose)))
    captions = ["a dog barks", "a bell rings", "a door slams", "rain"]
    found = items(tmp_path, captions)
    with FakeLlm(faults) as server, judge(server, wire) as listener:
        run(tmp_path / "run", found, listener)
        before = {caption: record[0].reason for caption, record in heard(tmp_path / "run").items()}
        assert before == dict(zip(captions, ["transport", "blocked", "invalid", ""], strict=True))
        server.script = fake.valid
        server.requests.clear()
        run(tmp_path / "run", found, listener)
        assert [request.data["caption"] for request in server.requests] == ["a dog barks"]
        server.requests.clear()
        run(tmp_path / "run", found, listener, retry=True)
        assert {request.data["caption"] for request in server.requests} == {"a bell rings", "a door slams"}
    assert {record[0].reason for record in heard(tmp_path / "run").values()} == {""}


@pytest.mark.parametrize("wire", WIRES)
def test_repeats_are_distinct(wire: str, tmp_path: Path) -> None:
    """Each repeat is a call of its own with an answer of its own; one added later costs only itself."""
    marks = iter((1, 3, 5, 2))
    with (
        FakeLlm(lambda r: fake.changed(overall_alignment=next(marks))(r)) as server,
        judge(server, wire) as one,
    ):
        found = items(tmp_path, ["a dog barks"])
        run(tmp_path / "run", found, one, alignment(3))
        assert len(server.requests) == 3
        run(tmp_path / "run", found, one, alignment(4))
        assert len(server.requests) == 4
    records = heard(tmp_path / "run")["a dog barks"]
    assert [record.repeat for record in records] == [0, 1, 2, 3]
    assert sorted(record.reply["overall_alignment"] for record in records) == [1, 2, 3, 5]
    assert records[3].reply["overall_alignment"] == 2


@pytest.mark.parametrize("wire", WIRES)
def test_identical_content_is_heard_once_and_counted_for_each_item(wire: str, tmp_path: Path) -> None:
    ours = items(tmp_path, ["a dog barks", "a cat meows"], "ours")
    theirs = items(tmp_path, ["a dog barks", "a cat meows"], "theirs")
    with FakeLlm() as server, judge(server, wire) as listener:
        counts = run(tmp_path / "run", [*ours, *theirs], listener)
        assert len(server.requests) == 2
    assert (counts.asked, counts.reused, counts.unheard) == (2, 2, 0)


# --- budget and limits -----------------------------------------------------------------------------


def _spent(folder: Path) -> float:
    with Ledger.read(folder / "ledger.sqlite") as ledger:
        return ledger.usage().get("cost_usd", 0.0)


@pytest.mark.parametrize("wire", WIRES)
def test_budget_stops(wire: str, tmp_path: Path) -> None:
    """No call is made that would exceed the budget; what was heard is kept, and more money goes on."""
    captions = [f"a dog barks {number} times" for number in range(12)]
    found = items(tmp_path, captions)
    with FakeLlm() as server, judge(server, wire, price=(1.0, 1000.0, 1.0), in_flight=4) as listener:
        run(tmp_path / "pilot", found[:1], listener)
        each = _spent(tmp_path / "pilot")
        assert each > 0
        server.requests.clear()
        budget = 5.5 * each
        assert budget > _expected(listener)
        counts = run(tmp_path / "run", found, listener, max_cost_usd=budget)
        asked = len(server.requests)
        assert 3 <= asked < 12
        assert _spent(tmp_path / "run") <= budget
        assert counts.over_budget == 12 - asked
        reasons = Counter(record[0].reason for record in heard(tmp_path / "run").values())
        assert reasons == {"": asked, "budget": 12 - asked}
        # The same budget again buys at most what is left of it; a larger one buys the rest.
        run(tmp_path / "run", found, listener, max_cost_usd=budget)
        assert _spent(tmp_path / "run") <= budget
        run(tmp_path / "run", found, listener, max_cost_usd=100.0)
        assert len(server.requests) == 12
    assert {record[0].reason for record in heard(tmp_path / "run").values()} == {""}


def _expected(listener: Any) -> float:
    from earwitness.questions import QUESTIONS

    cost: float = listener.expected(QUESTIONS["alignment"], {"caption": "a dog barks 1 times"}, [0.5])[
        "cost_usd"
    ]
    return cost


@pytest.mark.parametrize("wire", WIRES)
def test_an_unknown_price_is_unknown_and_cannot_be_limited(wire: str, tmp_path: Path) -> None:
    found = items(tmp_path, ["a dog barks"])
    with FakeLlm() as server, keys():
        listener = open_listener(f"{wire}:no-such-model-9", llm=options(server, wire))
        with pytest.raises(UserError, match="no price is known"):
            run(tmp_path / "run", found, listener, max_cost_usd=1.0)
        assert server.requests == []
        run(tmp_path / "run", found, listener)
    with Ledger.read(tmp_path / "run" / "ledger.sqlite") as ledger:
        usage = ledger.usage()
    assert "cost_usd" not in usage
    assert usage["input_tokens"] > 0


@pytest.mark.parametrize("wire", WIRES)
def test_no_more_calls_are_under_way_than_allowed(wire: str, tmp_path: Path) -> None:
    captions = [f"a dog barks {number} times" for number in range(12)]
    with FakeLlm(fake.slowly(0.15)) as server, judge(server, wire, in_flight=3) as listener:
        run(tmp_path / "run", items(tmp_path, captions), listener)
        assert server.most_in_flight == 3


@pytest.mark.parametrize("wire", WIRES)
def test_requests_per_minute_are_kept_retries_included(wire: str, tmp_path: Path) -> None:
    captions = [f"a dog barks {number} times" for number in range(6)]
    script = times(1, fake.rate_limited(0.01))
    with FakeLlm(script) as server, judge(server, wire, requests_per_minute=300) as listener:
        run(tmp_path / "run", items(tmp_path, captions), listener)
        _paced([request.received_s for request in server.requests], 300)
        assert len(server.requests) == 12


@pytest.mark.parametrize("wire", WIRES)
def test_audio_seconds_per_minute_are_kept(wire: str, tmp_path: Path) -> None:
    captions = [f"a dog barks {number} times" for number in range(8)]
    with FakeLlm() as server, judge(server, wire, audio_s_per_minute=150) as listener:
        run(tmp_path / "run", items(tmp_path, captions), listener)
        _paced([request.received_s for request in server.requests], 300)  # half a second of sound a call


def _paced(times_s: list[float], per_minute: float) -> None:
    """No stretch holds more calls than its length allows, but for one at its start."""
    times_s = sorted(times_s)
    took = times_s[-1] - times_s[0]
    assert took >= 0.8 * (len(times_s) - 1) * 60 / per_minute, f"{len(times_s)} calls in {took:.2f} s"
