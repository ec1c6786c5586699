"""The LLM listener without a server: what it sends, expects, hides and refuses."""

import io
import itertools
import json
import subprocess
import sys
import wave
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.exceptions import ModelRateLimitError
from tenacity import AsyncRetrying, Future, RetryCallState

from earwitness import audio
from earwitness.audio import Clip
from earwitness.errors import MissingExtra, UserError
from earwitness.listeners import llm, llm_cost, llm_send, open_listener
from earwitness.listeners.base import Call, Unheard
from earwitness.listeners.llm import LlmOptions
from earwitness.listeners.llm_schema import flat_schema
from earwitness.listeners.llm_secrets import Secrets, without_credentials
from earwitness.listeners.llm_sound import Encoder, wav
from earwitness.questions import EVENTS, LABEL, QUESTIONS

KEY = "kx93-very/secret+7f3a91c2"
ASKED = [name for name, question in QUESTIONS.items() if question.prompt]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)


def clip(samples: Any, rate_hz: int = 16000) -> Clip:
    found = np.atleast_2d(np.asarray(samples, dtype=np.float32))
    return Clip(found, rate_hz, audio.pcm_hash(found, rate_hz))


# --- start-up --------------------------------------------------------------------------------------


def test_no_client_is_imported_before_the_first_call() -> None:
    """The clients take seconds to import; a listener is opened, priced and made ready without them."""
    script = """
import os, sys
os.environ["GOOGLE_API_KEY"] = "k"
from earwitness.listeners import open_listener
from earwitness.questions import QUESTIONS
ear = open_listener("google:gemini-2.5-pro")
ear.ready()
assert ear.expected(QUESTIONS["alignment"], {"caption": "rain"}, [10.0])["cost_usd"] > 0
print([name for name in ("pydantic_ai", "openai", "google.genai") if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_missing_extra_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm, "find_spec", lambda name: None if name == "pydantic_ai" else object())
    with pytest.raises(MissingExtra, match=r"earwitness\[llm\]"):
        open_listener("google:gemini-2.5-pro")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("gemini-2.5-pro", "google:gemini-2.5-pro"),
        ("gpt-audio", "openai:gpt-audio"),
        ("gogle:gemini-2.5-pro", "google:gemini-2.5-pro"),
        ("opneai:gpt-audio", "openai:gpt-audio"),
        ("google:", "PROVIDER:MODEL"),
    ],
)
def test_a_name_that_is_none_names_the_nearest(name: str, remedy: str) -> None:
    with pytest.raises(UserError) as fault:
        open_listener(name)
    assert remedy in fault.value.remedy


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("google:gemini-2.5-pro", "GOOGLE_API_KEY"),
        ("google:gemini-2.5-pro", "GEMINI_API_KEY"),
        ("openai:gpt-audio", "OPENAI_API_KEY"),
        ("google-vertex:gemini-2.5-pro", "GOOGLE_CLOUD_PROJECT"),
    ],
)
def test_a_missing_key_names_its_variable_and_any_of_them_will_do(
    name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ear = open_listener(name)
    with pytest.raises(UserError, match=variable):
        ear.ready()
    monkeypatch.setenv(variable, KEY)
    ear.ready()


def test_a_server_of_ones_own_needs_no_key() -> None:
    open_listener("openai:qwen2-audio", llm=LlmOptions(base_url="http://127.0.0.1:8000/v1")).ready()


# --- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"temperature": -0.1},
        {"temperature": 2.1},
        {"temperature": float("nan")},
        {"max_tokens": 0},
        {"thinking_tokens": -1},
        {"in_flight": 0},
        {"attempts": 0},
        {"timeout_s": 0},
        {"timeout_s": float("inf")},
        {"requests_per_minute": 0},
        {"audio_s_per_minute": -5},
        {"rate_hz": 100},
        {"output": "tool"},
        {"price": (1.0, -1.0, 1.0)},
        {"price": (1.0, 2.0)},
        {"base_url": "localhost:8000/v1"},
        {"base_url": "ftp://host/v1"},
        {"base_url": "http:///v1"},
        {"base_url": "http://host:port/v1"},
        {"base_url": "http://host/v1?key=abc"},
    ],
)
def test_an_option_of_no_use_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=next(iter(given))):
        LlmOptions(**given)


def test_an_option_that_the_provider_lacks_is_refused() -> None:
    with pytest.raises(UserError, match="thinking_tokens"):
        open_listener("openai:gpt-audio", llm=LlmOptions(thinking_tokens=0))
    with pytest.raises(UserError, match="base_url"):
        open_listener("google-vertex:gemini-2.5-pro", llm=LlmOptions(base_url="http://127.0.0.1"))


def test_settings_hold_what_changes_answers_and_nothing_else() -> None:
    paced = LlmOptions(
        in_flight=64, requests_per_minute=5, audio_s_per_minute=5, timeout_s=5, attempts=1, price=(1, 1, 1)
    )
    plain = open_listener("google:gemini-2.5-pro")
    assert open_listener("google:gemini-2.5-pro", llm=paced).settings == plain.settings
    for change in (
        {"base_url": "http://h/v1"},
        {"output": "prompted"},
        {"rate_hz": 24000},
        {"temperature": 0.2},
        {"max_tokens": 100},
        {"thinking_tokens": 0},
    ):
        options = LlmOptions(**change)  # type: ignore[arg-type]
        assert open_listener("google:gemini-2.5-pro", llm=options).settings != plain.settings


def test_credentials_of_an_address_are_in_neither_name_nor_settings() -> None:
    options = LlmOptions(base_url="https://ann:s3cretword@host.example:8443/v1")
    ear = open_listener("openai:m", llm=options)
    assert ear.settings["base_url"] == "https://host.example:8443/v1"
    shown = json.dumps([ear.name, ear.version, dict(ear.settings), ear.needs.cost])
    assert "s3cretword" not in shown
    assert "ann" not in shown
    assert without_credentials("http://[::1]:8000/v1") == "http://[::1]:8000/v1"


# --- schema ----------------------------------------------------------------------------------------


def _nodes(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _nodes(one)


@pytest.mark.parametrize("name", ASKED)
def test_schema_is_flat(name: str) -> None:
    reply = QUESTIONS[name].reply
    schema = flat_schema(reply)
    objects = [node for node in _nodes(schema) if isinstance(node, dict)]
    words = {word for node in objects for word in node}
    assert words.isdisjoint({"$ref", "$defs", "anyOf", "oneOf", "allOf", "title", "default"})
    for node in objects:
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert set(node["required"]) == set(node["properties"])
    assert set(schema["properties"]) == set(reply.model_fields)


def test_a_field_may_be_called_like_a_word_of_the_schema() -> None:
    from earwitness.questions.base import Reply

    class Odd(Reply):
        """Words of JSON schema as fields."""

        title: str
        description: str
        properties: tuple[str, ...]

    assert set(flat_schema(Odd)["properties"]) == {"title", "description", "properties"}


# --- sound -----------------------------------------------------------------------------------------


def _frames(data: bytes) -> tuple[tuple[int, int, int], np.ndarray[Any, np.dtype[np.int16]]]:
    with wave.open(io.BytesIO(data)) as file:
        shape = (file.getnchannels(), file.getsampwidth(), file.getframerate())
        return shape, np.frombuffer(file.readframes(file.getnframes()), "<i2")


def test_sound_is_sent_as_pcm16_mono() -> None:
    left, right = np.array([0.5, -1.0, 1.0, 0.0]), np.array([0.0, -1.0, 1.0, 2.0**-15])
    shape, frames = _frames(wav(clip([left, right]), 16000))
    assert shape == (1, 2, 16000)
    # Means of both channels in steps of 2^-15, halves to even; full scale has no step above 32767.
    assert frames.tolist() == [8192, -32768, 32767, 0]


def test_sound_beyond_full_scale_is_cut_and_does_not_wrap() -> None:
    _, frames = _frames(wav(clip([1.5, -1.5, 1.0]), 16000))
    assert frames.tolist() == [32767, -32768, 32767]


@settings(deadline=None)  # machines may be busy
@given(seconds=st.floats(0.1, 2.0), rate_hz=st.sampled_from([8000, 22050, 44100, 48000]))
def test_sound_keeps_its_length_at_another_rate(seconds: float, rate_hz: int) -> None:
    one = clip(np.zeros(int(seconds * rate_hz)), rate_hz)
    _, frames = _frames(wav(one, 16000))
    assert abs(len(frames) / 16000 - one.duration_s) <= 1 / 16000


def test_a_clip_is_encoded_once_for_neighbouring_calls_and_forgotten_later() -> None:
    encode, clips = Encoder(16000), [clip(np.full(1600, 0.1 * k)) for k in range(6)]
    first = encode(clips[0])
    assert encode(clips[0]) is first
    assert first.wav == wav(clips[0], 16000)
    for other in clips[1:]:
        encode(other)
    assert encode(clips[0]) is not first


# --- cost ------------------------------------------------------------------------------------------


def test_what_a_call_should_use() -> None:
    """32 tokens a second (Gemini), four characters a token, and the price of one's own."""
    ear = open_listener("google:some-model", llm=LlmOptions(price=(2.0, 4.0, 10.0), thinking_tokens=100))
    usage = ear.expected(LABEL, {}, [10.0])
    text = round(len(LABEL.prompt.rstrip() + "\n" + "AUDIO CLIP (10.00 s):") / 4)
    output = llm_cost.REPLY_TOKENS + 100
    assert usage == {
        "requests": 1,
        "input_text_tokens": text,
        "input_audio_tokens": 320,
        "output_tokens": output,
        "audio_s": 10.0,
        "cost_usd": pytest.approx((2.0 * text + 4.0 * 320 + 10.0 * output) / 1e6),
    }


def test_a_longer_caption_a_longer_clip_and_a_described_schema_cost_more() -> None:
    question = QUESTIONS["alignment"]
    ear = open_listener("google:gemini-2.5-pro")
    asked = {"caption": "rain"}
    usual = ear.expected(question, asked, [10.0])["cost_usd"]
    assert ear.expected(question, {"caption": "rain " * 50}, [10.0])["cost_usd"] > usual
    assert ear.expected(question, asked, [20.0])["cost_usd"] > usual
    prompted = open_listener("google:gemini-2.5-pro", llm=LlmOptions(output="prompted"))
    assert prompted.expected(question, asked, [10.0])["cost_usd"] > usual


def test_an_unknown_price_is_absent_and_a_server_of_ones_own_has_none() -> None:
    for ear in (
        open_listener("google:no-such-model-9"),
        open_listener("openai:gpt-audio", llm=LlmOptions(base_url="http://127.0.0.1:8000/v1")),
    ):
        assert "cost_usd" not in ear.expected(LABEL, {}, [10.0])
    assert "cost_usd" in open_listener("openai:gpt-audio").expected(LABEL, {}, [10.0])


def test_audio_has_a_price_of_its_own() -> None:
    """gpt-audio charges more than ten times as much for a token of sound."""
    options = LlmOptions()
    silent = llm_cost.cost_usd("openai", "gpt-audio", options, 1000, 0, 0)
    sounding = llm_cost.cost_usd("openai", "gpt-audio", options, 1000, 1000, 0)
    assert silent is not None
    assert sounding is not None
    assert sounding > 10 * silent


# --- secrets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        f"Incorrect API key provided: {KEY}.",
        f"https://host/v1/models?key={KEY}&alt=json",
        "https://host/v1/models?key=kx93-very%2Fsecret%2B7f3a91c2",
        f"headers: {{'Authorization': 'Bearer {KEY}'}}",
        f"x-goog-api-key: {KEY}",
    ],
)
def test_a_key_is_hidden_in_every_form(message: str) -> None:
    hidden = Secrets([KEY]).in_brief(message)
    assert "secret" not in hidden
    assert "7f3a91c2" not in hidden


@pytest.mark.parametrize(
    "message",
    [
        "Bearer abcdef0123456789 is not valid",
        "?key=abcdef0123456789",
        "api_key: 'abcdef0123456789'",
        "sk-abcdef0123456789 was refused",
        "AIzaabcdef0123456789abcdef was refused",
    ],
)
def test_what_looks_like_a_key_is_hidden_unknown_as_it_is(message: str) -> None:
    assert "abcdef0123456789" not in Secrets([]).in_brief(message)


def test_other_words_are_left_alone() -> None:
    said = "400: the token count (1200) exceeds the key limit; a bell rings, keys jingle: twice"
    assert Secrets([KEY, ""]).in_brief(said) == said


@settings(deadline=None)  # machines may be busy
@given(st.text(max_size=40), st.text(max_size=40))
def test_a_key_at_the_limit_of_a_message_is_not_left_in_part(before: str, after: str) -> None:
    shown = Secrets([KEY]).in_brief("x" * 480 + before + KEY + after)
    assert not any(KEY[at : at + 8] in shown for at in range(len(KEY) - 8))


# --- waiting ---------------------------------------------------------------------------------------


@settings(deadline=None)  # machines may be busy
@given(asked=st.floats(0, 1e6) | st.none(), attempt=st.integers(1, 50))
def test_a_wait_is_at_least_what_the_server_asks_for_and_bounded(asked: float | None, attempt: int) -> None:
    state = RetryCallState(AsyncRetrying(), None, (), {})
    state.attempt_number, state.outcome = attempt, Future(attempt)
    state.outcome.set_exception(ModelRateLimitError("m", "too many", retry_after=asked))
    waited = llm_send.wait_s(state)
    if asked is None:
        assert 0 < waited <= min(2.0 ** (attempt - 1), llm_send.LONGEST_WAIT_S)
    else:
        assert min(asked, 300.0) <= waited <= 330.0


# --- calls that are not sent -----------------------------------------------------------------------


def test_what_cannot_be_judged_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    ear = open_listener("google:gemini-2.5-pro", llm=LlmOptions(base_url="http://127.0.0.1:9"))
    calls = [
        Call("detector", (clip(np.zeros(16000)),), EVENTS),
        Call("short", (clip(np.zeros(1599)),), LABEL),
        Call("long", (clip(np.zeros(8 * 601), 8),), LABEL),
    ]
    answers = dict(ear.hear(calls))
    assert all(isinstance(answer, Unheard) and not answer.usage for answer in answers.values())
    reasons = {key: answer.reason for key, answer in answers.items() if isinstance(answer, Unheard)}
    assert reasons == {"detector": "unsupported", "short": "too_short", "long": "too_long"}


def test_without_a_key_no_call_is_even_drawn() -> None:
    drawn = itertools.count()
    ear = open_listener("openai:gpt-audio")
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        next(ear.hear(Call(str(next(drawn)), (), LABEL) for _ in range(3)))
    assert next(drawn) == 0


def test_the_form_of_replies_is_chosen_by_server_unless_said() -> None:
    def form(name: str, **options: Any) -> str:
        return str(llm.Llm(name, LlmOptions(**options)).settings["output"])

    own = "http://127.0.0.1:9/v1"
    assert form("openai:gpt-audio") == "prompted"
    assert form("openai:gpt-audio", output="native") == "native"
    assert form("openai:gpt-audio", base_url=own) == "native"
    assert form("google:gemini-2.5-pro") == "native"
    assert form("google:gemini-2.5-pro", output="prompted") == "prompted"
