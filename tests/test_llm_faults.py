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
from fake_llm import FakeLlm
from fake_wires import Answer, Request
from judged import KEY, NAMES, VARIABLES, WIRES, heard, items, judge, run

PAGE = Path(__file__).resolve().parents[1] / "docs" / "faults.md"
ATTEMPTS = 3
HEARD = "heard"


@dataclass(frozen=True, slots=True)
class Fault:
    """A row of the table.

    Attributes:
        what: What the server does, in words; also the caption of the item it does it to.
        script: The same, for the fake server.
        status: How the item ends: ``heard``, or the reason for which it is unheard.
        calls: Calls made about the item, where three attempts are allowed.
        detail: Words that the record must hold.
        wires: Where this can happen.
        timeout_s: How long a reply may take in this row; None for long enough.
    """

    what: str
    script: Script
    status: str
    calls: int
    detail: str = ""
    wires: tuple[str, ...] = WIRES
    timeout_s: float | None = None


ONCE, ALWAYS = "once, then answers", "every time"
GOOGLE, OPENAI = ("google",), ("openai",)


def both(what: str, script: Script, reason: str, detail: str, calls: int, **more: object) -> list[Fault]:
    """The fault once, which must be got over, and for ever, which must not be."""
    return [
        Fault(f"{what}, {ONCE}", times(1, script), HEARD, 2, **more),  # type: ignore[arg-type]
        Fault(f"{what}, {ALWAYS}", script, reason, calls, detail, **more),  # type: ignore[arg-type]
    ]


FAULTS: list[Fault] = [
    *both("429 with Retry-After", fake.rate_limited(1), "transport", "429", ATTEMPTS),
    Fault("429 without Retry-After, twice, then answers", times(2, fake.rate_limited()), HEARD, 3),
    *both(
        "429 with RetryInfo in the body", fake.retry_info(0.05), "transport", "429", ATTEMPTS, wires=GOOGLE
    ),
    *both("500", fake.server_error, "transport", "500", ATTEMPTS),
    *both("503", fake.overloaded, "transport", "503", ATTEMPTS),
    *both("a page of HTML instead of JSON", fake.html, "transport", "", ATTEMPTS),
    *both("no answer in time", fake.hang, "transport", "1 s", ATTEMPTS, timeout_s=1.0),
    *both("the connection drops before the answer", fake.dropped, "transport", "", ATTEMPTS),
    *both("the connection drops in the middle of the answer", fake.dropped_midway, "transport", "", ATTEMPTS),
    Fault("413, the request is too large", fake.too_large, "too_long", 1, "413"),
    Fault("400, the model takes no audio", fake.no_audio_support, "unsupported", 1, "Audio input"),
    *both("JSON cut at the token limit", fake.cut_at_limit, "truncated", "16384 tokens", 2),
    *both("thinking uses up the token limit, no text", fake.only_thought, "truncated", "16384 tokens", 2),
    *both("JSON cut short with a normal finish", fake.cut_silently, "invalid", "", 2),
    Fault("JSON in a code fence", fake.fenced, HEARD, 1),
    *both("JSON with talk around it", fake.in_prose, "invalid", "", 2),
    *both("talk without JSON", fake.prose, "invalid", "", 2),
    *both("JSON of another shape", fake.wrong_shape, "invalid", "events_heard", 2),
    *both("a field too many", fake.unknown_field, "invalid", "certainty", 2),
    *both("a field too few", fake.missing_field, "invalid", "notes", 2),
    *both("an event that ends before it begins", fake.backwards, "invalid", "before it starts", 2),
    *both("a time beyond the end of the clip", fake.beyond_the_clip, "invalid", "3500", 2),
    *both(
        "order applicable, yet its match is null",
        fake.null_though_applicable,
        "invalid",
        "null exactly when",
        2,
    ),
    Fault("times written as MM:SS", fake.clock_times, HEARD, 1),
    *both("an empty text", fake.empty_text, "invalid", "", 2),
    *both("no text at all", fake.no_content, "invalid", "", 2),
    *both("no candidates, or no choices", fake.no_choices, "invalid", "", 2),
    Fault("a refusal", fake.refused, "refused", 1, "cannot help with that", OPENAI),
    Fault("finish reason SAFETY", fake.safety, "blocked", 1, "SAFETY", GOOGLE),
    Fault("finish reason content_filter", fake.content_filter, "blocked", 1, "content_filter", OPENAI),
    Fault("the prompt is blocked", fake.prompt_blocked, "blocked", 1, "PROHIBITED_CONTENT", GOOGLE),
    Fault("usage counts 0 audio tokens", fake.unheard_audio, "unsupported", 1, "audio tokens"),
    Fault("usage does not tell audio from text", fake.no_audio_detail, HEARD, 1),
]


@dataclass(frozen=True, slots=True)
class Stop:
    """A fault that every further call would meet too: the run stops, and says what to do."""

    what: str
    script: Script
    named: Callable[[str], str]
    wires: tuple[str, ...] = WIRES


def _variable(wire: str) -> str:
    return VARIABLES[wire]


def _model(wire: str) -> str:
    return NAMES[wire].partition(":")[2]


def _quota(wire: str) -> str:
    return "quota"


STOPS = [
    Stop("401, the key is wrong", fake.wrong_key, _variable),
    Stop("400 with API_KEY_INVALID", fake.invalid_key, _variable, GOOGLE),
    Stop("403, not permitted", fake.not_permitted, _variable),
    Stop("404, no such model", fake.no_model, _model),
    Stop("429 with insufficient_quota", fake.no_money, _quota, OPENAI),
]

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


# --- the page --------------------------------------------------------------------------------------


def page() -> str:
    """docs/faults.md, from the table."""
    rows = [
        f"| {f.what} | {_wires(f.wires)} | {_status(f.status)} | {f.calls} | {f.detail or '–'} |"
        for f in FAULTS
    ]
    stops = [f"| {s.what} | {_wires(s.wires)} | {_named(s)} |" for s in STOPS]
    return "\n".join([HEAD, *rows, STOPPED, *stops, ""])


def _wires(wires: tuple[str, ...]) -> str:
    return {WIRES: "both", GOOGLE: "Gemini", OPENAI: "OpenAI"}[wires]


def _status(status: str) -> str:
    return status if status == HEARD else f"unheard: `{status}`"


def _named(stop: Stop) -> str:
    if stop.named is _variable:
        return "the variable that holds the key"
    return "the model" if stop.named is _model else "the quota"


HEAD = f"""\
# What happens when a judge's server fails

Written from the table in `tests/test_llm_faults.py`, which runs every row against a server on loopback that
speaks Gemini's and OpenAI's wire formats, through the real provider clients. No real provider was reachable
when this was built: how theirs fail is taken from their documentation and from public reports.

An item that is `heard` has a reply; an unheard one has a reason and never a number. Items in `transport` are
asked again by the next run, the others only with `--retry`. `calls` are those made about the one item where
{ATTEMPTS} attempts are allowed (the default is more, see `LlmOptions`); other items are heard as if nothing
had happened. Waits that the server asks for are kept. A reply cut at the limit is asked for once more with a
larger one and is never completed; a reply that does not fit its question is asked for once more with the
fault named.

| the server answers | wire | the item is | calls | the record names |
|---|---|---|---|---|"""

STOPPED = """
These stop the run, since every further call would end alike. What was heard is kept, and the same command
goes on once the fault is put right. Keys are never shown.

| the server answers | wire | the error names |
|---|---|---|"""


def test_the_page_says_what_the_table_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "rewrite it: python tests/test_llm_faults.py --write"


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    PAGE.write_text(page(), encoding="utf-8")
