"""The table of all faults: what the server does, how the item ends, and what the record says.

``test_llm_faults.py`` runs it; ``docs/faults.md`` is written from it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import fake_answers as fake
from fake_answers import Script, times
from judged import NAMES, VARIABLES, WIRES

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


FILTERED = ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY")
BROKEN_OFF = ("OTHER", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "MALFORMED_FUNCTION_CALL", "A_NEW_WORD")
"""Finish reasons: of filters, and those with which a text is not taken for an answer."""

FAULTS: list[Fault] = [
    *both("429 with Retry-After", fake.rate_limited(1), "transport", "429", ATTEMPTS),
    Fault("429 without Retry-After, twice, then answers", times(2, fake.rate_limited()), HEARD, 3),
    *both(
        "429 with RetryInfo in the body", fake.retry_info(0.05), "transport", "429", ATTEMPTS, wires=GOOGLE
    ),
    *both("500", fake.server_error, "transport", "500", ATTEMPTS),
    *both("503", fake.overloaded, "transport", "503", ATTEMPTS),
    *both("409", fake.conflict, "transport", "409", ATTEMPTS),
    *both("499", fake.cancelled, "transport", "499", ATTEMPTS),
    *both("a page of HTML instead of JSON", fake.html, "transport", "log in", ATTEMPTS),
    *both("the same, called JSON", fake.html_as_json, "transport", "log in", ATTEMPTS),
    *both("an empty body", fake.empty_body, "transport", "empty", ATTEMPTS),
    *both("204", fake.no_content_204, "transport", "204", ATTEMPTS),
    *both("`null` as the whole body", fake.null_root, "transport", "null", ATTEMPTS),
    *both("a list as the whole body", fake.list_root, "transport", "[1, 2]", ATTEMPTS),
    *both("a text as the whole body", fake.text_root, "transport", '"x"', ATTEMPTS),
    *both("JSON of another format", fake.wrong_members, "transport", "not the provider's format", ATTEMPTS),
    *both("a body nested 100,000 deep", fake.deep_body, "transport", "not the provider's format", ATTEMPTS),
    *both("a body that cannot be decompressed", fake.broken_gzip, "transport", "decompressed", ATTEMPTS),
    *both(
        "200 with an error of code 429 in it",
        fake.error_inside({"code": 429, "message": "slow down upstream"}),
        "transport",
        "slow down upstream",
        ATTEMPTS,
    ),
    *both("200 with an error in words", fake.error_inside("it broke"), "transport", "it broke", ATTEMPTS),
    *both(
        "200 with an error in the choice",
        fake.error_inside({"code": 502, "message": "provider down"}, in_choice=True),
        "transport",
        "provider down",
        ATTEMPTS,
        wires=OPENAI,
    ),
    *both("finish reason error", fake.ends_with("error"), "transport", "error", ATTEMPTS, wires=OPENAI),
    *both("no answer in time", fake.hang, "transport", "1 s", ATTEMPTS, timeout_s=1.0),
    *both("the connection drops before the answer", fake.dropped, "transport", "", ATTEMPTS),
    *both("the connection drops in the middle of the answer", fake.dropped_midway, "transport", "", ATTEMPTS),
    Fault("413, the request is too large", fake.too_large, "too_long", 1, "413"),
    Fault(
        "200 with an error of code context_length_exceeded in it",
        fake.error_inside({"code": "context_length_exceeded", "message": "the context is too long"}),
        "too_long",
        1,
        "the context is too long",
        OPENAI,
    ),
    Fault("400, max_tokens is too large", fake.too_much_room, "unsupported", 1, "--max-tokens"),
    Fault("400, the model takes no audio", fake.no_audio_support, "unsupported", 1, "Audio input"),
    *both("JSON cut at the token limit", fake.cut_at_limit, "truncated", "16384 tokens", 2),
    *both("thinking uses up the token limit, no text", fake.only_thought, "truncated", "16384 tokens", 2),
    *both("JSON cut short with a normal finish", fake.cut_silently, "invalid", "", 2),
    Fault("JSON in a code fence", fake.fenced, HEARD, 1),
    Fault("JSON in a code fence on one line", fake.wrapped("```json ", "```"), HEARD, 1),
    Fault("JSON in a code fence with CRLF", fake.wrapped("```JSON\r\n", "\r\n```\r\n"), HEARD, 1),
    Fault("JSON after a byte order mark", fake.wrapped("\ufeff", ""), HEARD, 1),
    *both("JSON with talk around it", fake.in_prose, "invalid", "", 2),
    *both("talk without JSON", fake.prose, "invalid", "", 2),
    *both("JSON of another shape", fake.wrong_shape, "invalid", "events_heard", 2),
    *both("a field too many", fake.unknown_field, "invalid", "certainty", 2),
    *both("a field too few", fake.missing_field, "invalid", "notes", 2),
    *both("a field given twice", fake.given_twice, "invalid", "overall_alignment", 2),
    *both("JSON nested 100,000 deep", fake.deep_text, "invalid", "recursion", 2),
    *both("half a surrogate pair in a text", fake.half_a_pair, "invalid", "unicode", 2),
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
    *(Fault(f"finish reason {word}", fake.ends_with(word), "blocked", 1, word) for word in FILTERED),
    Fault("finish reason content_filter", fake.content_filter, "blocked", 1, "content_filter", OPENAI),
    *(
        Fault(f"finish reason {word}, whatever the text", fake.ends_with(word), "invalid", 2, word)
        for word in BROKEN_OFF
    ),
    Fault("finish reason MAX_TOKENS", fake.ends_with("MAX_TOKENS"), "truncated", 2, "tokens"),
    Fault("finish reason max_tokens", fake.ends_with("max_tokens"), "truncated", 2, "tokens", OPENAI),
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


def _place(wire: str) -> str:
    return "302, to https://elsewhere.invalid:8443)"


STOPS = [
    Stop("401, the key is wrong", fake.wrong_key, _variable),
    Stop("400 with API_KEY_INVALID", fake.invalid_key, _variable, GOOGLE),
    Stop("403, not permitted", fake.not_permitted, _variable),
    Stop("404, no such model", fake.no_model, _model),
    Stop("429 with insufficient_quota", fake.no_money, _quota, OPENAI),
    Stop(
        "200 with an error of code 401 in it",
        fake.error_inside({"code": 401, "message": "No credentials found", "status": "UNAUTHENTICATED"}),
        _variable,
    ),
    Stop("a redirect", fake.moved, _place),
]


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
    if stop.named is _place:
        return "its status and where it points, without path and credentials"
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
fault named. What is not of the provider's format at all (a proxy's page, no JSON object, members of another
kind) counts as a fault of transport; an object of that format without a text is an empty reply. A text that
ended for a reason not known to leave it whole is asked for once more and never taken for an answer.

| the server answers | wire | the item is | calls | the record names |
|---|---|---|---|---|"""

STOPPED = """
These stop the run, since every further call would end alike. What was heard is kept, and the same command
goes on once the fault is put right. Keys are never shown.

| the server answers | wire | the error names |
|---|---|---|"""
