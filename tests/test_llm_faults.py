"""Every fault of a server ends in the stated status, and the other items are heard.

One table says it all: the tests run it against the fake server, and ``docs/faults.md`` is written from it
(``python tests/test_llm_faults.py --write``).
"""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import fake_answers as fake
from earwitness.errors import UserError
from earwitness.ledger import Heard
from fake_answers import Script, times
from fake_faults import FAULTS, HEARD, STOPS, Fault, Stop, page
from fake_llm import FakeLlm
from fake_wires import Answer, Request
from judged import KEY, WIRES, heard, items, judge, run

PAGE = Path(__file__).resolve().parents[1] / "docs" / "faults.md"
SOUND = "no fault: item "
"""Captions of the items to which nothing happens."""


def _where(rows: Sequence[Any]) -> list[tuple[str, Any]]:
    """Every row with every wire on which it can happen."""
    return [(wire, row) for wire in WIRES for row in rows if wire in row.wires]


def _name(part: Any) -> str:
    return part if isinstance(part, str) else part.what


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What a run left in the ledger, and the calls that the server saw, by caption."""

    found: dict[str, Heard]
    calls: Counter[str]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Outcomes]:
    """All faults of a wire in one run, among items that nothing happens to."""

    @cache
    def of(wire: str) -> Outcomes:
        found: dict[str, Heard] = {}
        calls: Counter[str] = Counter()
        for timeout_s in (None, 1.0):
            rows = {f.what: f for f in FAULTS if wire in f.wires and f.timeout_s == timeout_s}
            captions = list(rows) + ([] if timeout_s else [f"{SOUND}{number}" for number in range(8)])
            folder = tmp_path_factory.mktemp(wire)

            def script(asked: Request, rows: dict[str, Fault] = rows) -> Answer:
                row = rows.get(asked.data["caption"])
                return row.script(asked) if row else fake.valid(asked)

            with FakeLlm(script) as server, judge(server, wire, timeout_s=timeout_s or 60.0) as listener:
                run(folder / "run", items(folder, captions), listener)
                assert server.faults == []
                calls.update(asked.data["caption"] for asked in server.requests)
            found |= {caption: record[0] for caption, record in heard(folder / "run").items()}
        return Outcomes(found, calls)

    return of


@pytest.mark.parametrize(("wire", "fault"), _where(FAULTS), ids=_name)
def test_every_fault_ends_in_its_status(wire: str, fault: Fault, outcomes: Callable[[str], Outcomes]) -> None:
    record = outcomes(wire).found[fault.what]
    assert record.reason == ("" if fault.status == HEARD else fault.status), record.detail
    assert fault.detail in record.detail
    assert outcomes(wire).calls[fault.what] == fault.calls
    assert bool(record.reply) == (fault.status == HEARD)


@pytest.mark.parametrize("wire", WIRES)
def test_the_run_goes_on_for_the_other_items(wire: str, outcomes: Callable[[str], Outcomes]) -> None:
    found, calls = outcomes(wire).found, outcomes(wire).calls
    others = [caption for caption in found if caption.startswith(SOUND)]
    assert len(others) == 8
    assert [found[caption].reason for caption in others] == [""] * 8
    assert [calls[caption] for caption in others] == [1] * 8


@pytest.mark.parametrize(("wire", "stop"), _where(STOPS), ids=_name)
def test_what_no_call_would_get_past_stops_the_run(stop: Stop, wire: str, tmp_path: Path) -> None:
    captions = [f"a dog barks {number} times" for number in range(8)]
    with FakeLlm(stop.script) as server, judge(server, wire, in_flight=2) as listener:
        with pytest.raises(UserError) as fault:
            run(tmp_path / "run", items(tmp_path, captions), listener)
        assert len(server.requests) <= 2 + 2, "a hopeless run went on asking"
    assert stop.named(wire) in str(fault.value)
    assert fault.value.remedy
    assert KEY not in str(fault.value)
    # Nothing was given up: with the fault put right, everything is heard.
    with FakeLlm() as server, judge(server, wire) as listener:
        assert run(tmp_path / "run", items(tmp_path, captions), listener).unheard == 0
        assert len(server.requests) == 8


# --- what the table does not tell ------------------------------------------------------------------


def _asked(server: FakeLlm) -> list[Request]:
    return sorted(server.requests, key=lambda asked: asked.received_s)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("form", ["seconds", "date"])
def test_the_wait_that_the_server_asks_for_is_kept(wire: str, form: str, tmp_path: Path) -> None:
    """Longer than the first wait of our own would be; a date counts in whole seconds."""
    script = times(1, fake.rate_limited(2) if form == "seconds" else fake.rate_limited_until(3))
    with FakeLlm(script) as server, judge(server, wire) as listener:
        run(tmp_path / "run", items(tmp_path, ["a dog barks"]), listener)
        first, second = _asked(server)
    assert second.received_s - first.received_s >= 1.9


def test_the_wait_in_the_body_of_geminis_error_is_kept(tmp_path: Path) -> None:
    with FakeLlm(times(1, fake.retry_info(1.5))) as server, judge(server, "google") as listener:
        run(tmp_path / "run", items(tmp_path, ["a dog barks"]), listener)
        first, second = _asked(server)
    assert second.received_s - first.received_s >= 1.5


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("cut", [fake.cut_at_limit, fake.only_thought])
def test_truncated_none(cut: Script, wire: str, tmp_path: Path) -> None:
    """A cut reply is asked for anew, from the start and with more room; what was cut is not sent back."""
    with FakeLlm(times(1, cut)) as server, judge(server, wire, max_tokens=512) as listener:
        run(tmp_path / "run", items(tmp_path, ["a dog barks"]), listener)
        first, second = _asked(server)
    assert first.max_tokens == 512
    assert second.max_tokens is not None
    assert second.max_tokens > 512
    assert second.parts == first.parts
    assert second.later == []


@pytest.mark.parametrize("wire", WIRES)
def test_cut_json_not_completed(wire: str, tmp_path: Path) -> None:
    """JSON that lacks only its last brace holds every field, and still is no reply."""
    text = fake.valid(_alignment()).text
    assert text is not None
    script = fake.says(text.rstrip("}"), finish="length")
    with FakeLlm(script) as server, judge(server, wire) as listener:
        run(tmp_path / "run", items(tmp_path, ["a dog barks"]), listener)
    assert [h.reason for h in heard(tmp_path / "run")["a dog barks"]] == ["truncated"]


@pytest.mark.parametrize("wire", WIRES)
def test_the_second_asking_names_the_fault(wire: str, tmp_path: Path) -> None:
    with FakeLlm(times(1, fake.missing_field)) as server, judge(server, wire) as listener:
        run(tmp_path / "run", items(tmp_path, ["a dog barks"]), listener)
        first, second = _asked(server)
    assert first.later == []
    assert "notes" in second.later[-1]
    assert second.parts == first.parts
    assert (second.temperature, second.schema) == (first.temperature, first.schema)


@pytest.mark.parametrize("wire", WIRES)
def test_clock_times_are_read_as_seconds(wire: str, outcomes: Callable[[str], Outcomes]) -> None:
    event = outcomes(wire).found["times written as MM:SS"].reply["events_heard"][0]
    assert (event["onset_s"], event["offset_s"]) == (0.0, 0.1)


@pytest.mark.parametrize("wire", WIRES)
def test_blocked_is_not_wrong(wire: str, tmp_path: Path) -> None:
    """A blocked item has no reply, so no score, and is not asked again unless told to."""
    script = fake.safety if wire == "google" else fake.content_filter
    with FakeLlm(script) as server, judge(server, wire) as listener:
        found = items(tmp_path, ["a dog barks"])
        for retry, calls in ((False, 1), (False, 1), (True, 2)):
            run(tmp_path / "run", found, listener, retry=retry)
            assert len(server.requests) == calls
    (record,) = heard(tmp_path / "run")["a dog barks"]
    assert (record.reason, dict(record.reply)) == ("blocked", {})


@pytest.mark.parametrize("wire", WIRES)
def test_yes_inside_no(wire: str, tmp_path: Path) -> None:
    """A verdict is a field or nothing: no score is fished out of prose."""
    prose = "No. Yes, a dog is heard, but the order is not 1.0. overall_alignment: 5"
    with FakeLlm(fake.says(prose)) as server, judge(server, wire) as listener:
        run(tmp_path / "run", items(tmp_path, ["a dog barks"]), listener)
    (record,) = heard(tmp_path / "run")["a dog barks"]
    assert (record.reason, dict(record.reply)) == ("invalid", {})


@pytest.mark.parametrize("wire", WIRES)
def test_what_a_failed_reply_cost_is_kept(wire: str, tmp_path: Path) -> None:
    """Tokens of a reply that was no use were spent all the same, those of the second asking too."""
    from earwitness.ledger import Ledger

    with FakeLlm(fake.prose) as server, judge(server, wire) as listener:
        run(tmp_path / "run", items(tmp_path, ["a dog barks"]), listener)
        tokens = sum(len(text) // 4 for asked in server.requests for text in asked.texts)
        seconds = sum(part.duration_s for asked in server.requests for part in asked.audio)
    with Ledger.read(tmp_path / "run" / "ledger.sqlite") as ledger:
        usage = ledger.usage()
    rate = {"google": 32, "openai": 10}[wire]
    assert usage["input_tokens"] == tokens + rate * seconds


def _alignment() -> Request:
    return Request("google", "", "", {}, b"", {}, 0.0, schema={"temporal_order_match": 1})


def test_the_page_says_what_the_table_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "rewrite it: python tests/test_llm_faults.py --write"


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    PAGE.write_text(page(), encoding="utf-8")
