"""Clips that go through Gemini's Files API: tried again, paced and counted like any request."""

import time

import pytest

from earwitness.errors import UserError
from earwitness.listeners.base import Hearing, Unheard
from earwitness.questions.listen import LISTEN
from fake_llm import FakeLlm
from judged import judge
from test_llm_wire import LONG, call, clip

START = "POST /upload/v1beta/files"


def _hear(refusals: list[int], **options: object) -> tuple[Hearing | Unheard, Hearing | Unheard, FakeLlm]:
    """Answers about a long clip and a short one, and the server that was asked."""
    long, short = call(LISTEN, {}, clip(5, LONG)), call(LISTEN, {}, clip(6))
    calls = [long, type(short)("short", short.clips, short.question)]
    with FakeLlm(refusals=refusals) as server, judge(server, "google", **options) as listener:
        answers = dict(listener.hear(calls))
    return answers["key"], answers["short"], server


@pytest.mark.parametrize("refusals", [[429, 503], [500], [200]])
def test_an_upload_is_tried_again(refusals: list[int]) -> None:
    long, short, server = _hear(refusals)
    assert isinstance(long, Hearing)
    assert isinstance(short, Hearing)
    # Every attempt begins anew, and the last one also brings the bytes, in as many pieces as it takes.
    assert server.counts[START] > len(refusals) + 1
    assert len(server.uploads) == 1
    assert len(server.deleted) == 1


@pytest.mark.parametrize(
    ("status", "reason", "tries", "said"),
    [
        (500, "transport", 3, "attempt 3 of 3"),
        (200, "transport", 3, "Upload URL was not returned"),
        (404, "too_long", 1, "no Files API"),
        (403, "unsupported", 1, "no uploads"),
        (413, "too_long", 1, "413"),
    ],
)
def test_what_cannot_be_uploaded_is_unheard_and_the_others_are_heard(
    status: int, reason: str, tries: int, said: str
) -> None:
    long, short, server = _hear([status] * 9)
    assert isinstance(short, Hearing)
    assert isinstance(long, Unheard)
    assert (long.reason, said in long.detail) == (reason, True), long.detail
    assert server.counts[START] == tries


def test_a_key_that_is_refused_at_an_upload_stops_the_run() -> None:
    with pytest.raises(UserError, match="refused the key"):
        _hear([401])


def test_uploads_are_within_the_quota() -> None:
    begun = time.monotonic()
    _, _, server = _hear([], requests_per_minute=60)
    assert max(request.received_s for request in server.requests) - begun >= 2.0  # three requests, 1 s apart
