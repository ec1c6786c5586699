"""Ready-made answers of the fake server: a valid one to every question, and every fault.

An answer is a function of the request (a :data:`Script`); :func:`times` and :func:`about` put them together.
"""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from typing import Any

from fake_wires import GOOGLE, Answer, Request, error_body

Script = Callable[[Request], Answer]

EVENT = {"label": "dog barking", "onset_s": 0.0, "offset_s": 0.1, "confidence": 0.9}
LATER = {"label": "car horn", "onset_s": 0.15, "offset_s": 0.3, "confidence": 0.8}
_PLACE = {"label": "dog barking", "onset_s": 0.0, "offset_s": 0.1}

REPLIES: dict[str, dict[str, Any]] = {
    "listen": {"events_heard": [EVENT, LATER], "notes": ""},
    "alignment": {
        "events_heard": [EVENT, LATER],
        "caption_events": ["a dog barks", "a car honks"],
        "event_recall": 1.0,
        "event_precision": 1.0,
        "temporal_order_applicable": True,
        "temporal_order_match": 1.0,
        "overall_alignment": 5,
        "notes": "the order is kept",
    },
    "edit": {
        "source_events": [_PLACE],
        "edited_events": [_PLACE],
        "intended_change": "the horn is gone",
        "edit_success": 4,
        "nontarget_preservation": 5,
        "temporal_preservation": 4,
        "naturalness": 3,
        "verdict": "good_edit",
        "notes": "",
    },
    "label": {
        "caption": "A dog barks, then a car horn sounds.",
        "events": [EVENT, LATER],
        "tags": ["dog", "car horn", "street"],
        "ordered": True,
        "quality_flags": ["muffled"],
    },
}
"""A valid reply to every question, for clips of 0.3 s and more."""


# --- putting answers together ----------------------------------------------------------------------


def valid(request: Request) -> Answer:
    return Answer(json.dumps(REPLIES[request.question]))


def changed(**fields: Any) -> Script:
    """A valid reply with fields changed, added, or (given as ``...``) left out."""

    def answer(request: Request) -> Answer:
        reply = REPLIES[request.question] | fields
        return Answer(json.dumps({name: value for name, value in reply.items() if value is not ...}))

    return answer


def says(text: str | None, **more: Any) -> Script:
    return lambda request: Answer(text, **more)


def times(count: int, fault: Script, then: Script = valid) -> Script:
    """The fault for the first ``count`` requests of every call, then something else."""
    return lambda request: (fault if request.attempt < count else then)(request)


def about(word: str, fault: Script, others: Script = valid) -> Script:
    """The fault for requests whose data block has that word in it."""
    return lambda request: (fault if word in " ".join(request.data.values()) else others)(request)


def slowly(delay_s: float, script: Script = valid) -> Script:
    return lambda request: replace(script(request), delay_s=delay_s)


# --- faults of transport ---------------------------------------------------------------------------


def failed(status: int, message: str, google: str, openai: str, **headers: str) -> Script:
    """An error with the providers' own words for it; header names have ``_`` for ``-``."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}

    def answer(request: Request) -> Answer:
        code = google if request.wire == GOOGLE else openai
        return Answer(status=status, error=error_body(request.wire, status, message, code), headers=sent)

    return answer


def rate_limited(retry_after_s: float | None = None) -> Script:
    wait = {} if retry_after_s is None else {"Retry_After": f"{retry_after_s:g}"}
    return failed(429, "Too many requests.", "RESOURCE_EXHAUSTED", "rate_limit_exceeded", **wait)


def rate_limited_until(seconds: float) -> Script:
    """429 with Retry-After as a date, that many seconds from the request."""

    def answer(request: Request) -> Answer:
        until = formatdate(time.time() + seconds, usegmt=True)
        return replace(rate_limited()(request), headers={"Retry-After": until})

    return answer


def retry_info(seconds: float) -> Script:
    """429 with the wait in the body, as Gemini says it."""
    detail = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds:g}s"}
    error = error_body(GOOGLE, 429, "You exceeded your current quota.", "RESOURCE_EXHAUSTED", [detail])
    return lambda request: Answer(status=429, error=error)


server_error = failed(500, "An internal error has occurred.", "INTERNAL", "server_error")
overloaded = failed(503, "The model is overloaded.", "UNAVAILABLE", "server_error")
too_large = failed(413, "The request is larger than the limit.", "INVALID_ARGUMENT", "invalid_request_error")
conflict = failed(409, "Conflict.", "ABORTED", "conflict")
cancelled = failed(499, "The operation was cancelled.", "CANCELLED", "cancelled")
too_much_room = failed(
    400,
    "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 "
    "tokens and your request has 900 input tokens",
    "INVALID_ARGUMENT",
    "invalid_request_error",
)
no_audio_support = failed(
    400, "Audio input modality is not enabled for this model.", "INVALID_ARGUMENT", "invalid_value"
)
no_money = failed(
    429,
    "Your quota is used up; check your plan.",
    "RESOURCE_EXHAUSTED",
    "insufficient_quota",
)
not_permitted = failed(403, "Permission denied.", "PERMISSION_DENIED", "permission_denied")
no_model = failed(404, "The model does not exist.", "NOT_FOUND", "model_not_found")


def wrong_key(request: Request) -> Answer:
    """401 that repeats the key, as providers do."""
    message = f"Incorrect API key provided: {request.key}. Please pass a valid API key."
    code = "UNAUTHENTICATED" if request.wire == GOOGLE else "invalid_api_key"
    return Answer(status=401, error=error_body(request.wire, 401, message, code))


def invalid_key(request: Request) -> Answer:
    """What Gemini really answers to a wrong key: 400 with the reason in the details."""
    detail = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    message = f"API key not valid: {request.key}. Please pass a valid API key."
    return Answer(status=400, error=error_body(GOOGLE, 400, message, "INVALID_ARGUMENT", [detail]))


def sends(page: str | bytes, status: int = 200, kind: str = "application/json", **headers: str) -> Script:
    """A body as it stands; header names have ``_`` for ``-``."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: Answer(page=page, status=status, kind=kind, headers=sent)


html = sends("<html><body>Please log in.</body></html>", kind="text/html; charset=utf-8")
"""What a proxy in between may answer, with status 200."""
html_as_json = sends("<html><body>Please log in.</body></html>")
empty_body = sends("")
no_content_204 = sends("", 204)
null_root = sends("null")
list_root = sends("[1, 2]")
text_root = sends('"x"')
deep_body = sends('{"candidates":' + "[" * 100_000 + "]" * 100_000 + "}")
broken_gzip = sends(b"no gzip", Content_Encoding="gzip")
moved = sends("", 302, Location="https://user:word@elsewhere.invalid:8443/login?key=secret")
wrong_members = sends('{"candidates": "none", "choices": "none"}')


def error_inside(error: object, in_choice: bool = False) -> Script:
    """An error that a gateway sends as a success."""
    choice = {"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": "error"}
    body = {"choices": [choice | {"error": error}]} if in_choice else {"error": error}
    return sends(json.dumps(body))


def ends_with(reason: str) -> Script:
    """A valid reply with another finish reason."""
    return lambda request: Answer(json.dumps(REPLIES[request.question]), finish=reason)


def hang(request: Request) -> Answer:
    return Answer(delay_s=3600.0)


def dropped(request: Request) -> Answer:
    return Answer(drop="before")


def dropped_midway(request: Request) -> Answer:
    return replace(valid(request), drop="middle")


# --- faults of the reply ---------------------------------------------------------------------------


def cut_at_limit(request: Request) -> Answer:
    """JSON that stops at the token limit."""
    text = json.dumps(REPLIES[request.question])
    return Answer(text[: len(text) // 2], finish="length")


def cut_silently(request: Request) -> Answer:
    """The same, but the server says that the reply is whole."""
    text = json.dumps(REPLIES[request.question])
    return Answer(text[: len(text) // 2])


def only_thought(request: Request) -> Answer:
    """Thinking has eaten the budget: no text at all."""
    return Answer(None, finish="length", thinking_tokens=request.max_tokens or 8192)


def wrapped(before: str, after: str) -> Script:
    """A valid reply with something before and after it."""
    return lambda request: Answer(f"{before}{json.dumps(REPLIES[request.question], indent=1)}{after}")


fenced = wrapped("```json\n", "\n```")


def given_twice(request: Request) -> Answer:
    """A valid reply in which one field comes again with another value."""
    return Answer(json.dumps(REPLIES[request.question])[:-1] + ', "overall_alignment": 1}')


def in_prose(request: Request) -> Answer:
    """Valid JSON with talk around it."""
    return Answer(f"Sure! Here is my judgement:\n{json.dumps(REPLIES[request.question])}\nHope that helps.")


def clock_times(request: Request) -> Answer:
    """Times as MM:SS, which Gemini writes unless told otherwise."""
    event = EVENT | {"onset_s": "00:00", "offset_s": "00:00.1"}
    return Answer(json.dumps(REPLIES[request.question] | {"events_heard": [event]}))


prose = says("I hear a dog and then a car horn. Yes, the order is right: 5 out of 5.")
wrong_shape = says(json.dumps({"answer": {"events": ["dog"], "score": "5"}}))
unknown_field = changed(certainty=0.7)
missing_field = changed(notes=...)
backwards = changed(events_heard=[EVENT | {"onset_s": 0.2, "offset_s": 0.1}])
beyond_the_clip = changed(events_heard=[EVENT | {"offset_s": 3500}])
null_though_applicable = changed(temporal_order_match=None)


def half_a_pair(request: Request) -> Answer:
    """A valid reply, but for half a surrogate pair in a text: JSON can hold it, but it is no Unicode."""
    text = json.dumps(REPLIES[request.question] | {"notes": "\ud83d"}, ensure_ascii=False)
    return Answer(text)


deep_text = says("[" * 100_000)
empty_text = says("")
no_content = says(None)
refused = says(None, refusal="I cannot help with that recording.")
safety = says(None, finish="SAFETY")
content_filter = says(None, finish="content_filter")
prompt_blocked = says(None, blocked="PROHIBITED_CONTENT")
no_choices = says(None, choices=False)


def unheard_audio(request: Request) -> Answer:
    """An answer like any other, but the usage shows that no audio reached the model."""
    return Answer(json.dumps(REPLIES[request.question]), audio_tokens=0)


def no_audio_detail(request: Request) -> Answer:
    """A server that does not tell audio from text in its usage."""
    return Answer(json.dumps(REPLIES[request.question]), audio_tokens=-1)
