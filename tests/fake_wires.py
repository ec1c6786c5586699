"""The two wire formats of the fake server: what a request holds, and how an answer is written down.

Nothing here knows earwitness: a fake that shared its code could not find its faults.
"""

import base64
import hashlib
import io
import json
import re
import wave
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Wire = Literal["google", "openai"]
GOOGLE: Wire = "google"
OPENAI: Wire = "openai"

AUDIO_TOKENS_PER_S = {GOOGLE: 32, OPENAI: 10}
_CALL = re.compile(r"/(?:v1|v1beta|v1alpha)/models/[^/:]+:generateContent|(?:/v1)?/chat/completions")


@dataclass(frozen=True, slots=True)
class Audio:
    """One audio part as it was sent: ``kind`` is the MIME type (Gemini) or the format (OpenAI)."""

    kind: str
    data: bytes
    uri: str = ""

    @property
    def duration_s(self) -> float:
        with wave.open(io.BytesIO(self.data)) as sound:
            return float(sound.getnframes() / sound.getframerate())


@dataclass(slots=True)
class Request:
    """One request as the server saw it.

    Attributes:
        raw: The body, byte for byte.
        parts: Texts and audio of the first user message, in order.
        later: Texts of every message after it (what a re-ask adds), in order.
        system: The system instruction; empty if there is none.
        schema: The JSON schema that the reply is asked to follow; None if none was sent.
        thinking: Budget or effort for thinking, as sent.
        received_s: Monotonic time at which the request had arrived.
        attempt: How many requests about the same sound and words came before it.
    """

    wire: Wire
    model: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: Mapping[str, Any]
    received_s: float
    parts: list[str | Audio] = field(default_factory=list)
    later: list[str] = field(default_factory=list)
    system: str = ""
    schema: Mapping[str, Any] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    thinking: Any = None
    attempt: int = 0

    @property
    def audio(self) -> list[Audio]:
        return [part for part in self.parts if isinstance(part, Audio)]

    @property
    def texts(self) -> list[str]:
        return [part for part in self.parts if isinstance(part, str)]

    @property
    def data(self) -> dict[str, str]:
        """The texts of the data block, by name; empty if there is none."""
        found = re.search(r"<data>\n(.*?)\n</data>", "\n".join(self.texts), re.DOTALL)
        return dict(json.loads(found[1])) if found else {}

    @property
    def question(self) -> str:
        return question_of(json.dumps(self.schema) if self.schema else "\n".join([self.system, *self.texts]))

    @property
    def identity(self) -> str:
        """The same for every request with the same question about the same sound and captions."""
        digest = hashlib.sha256(json.dumps([self.question, self.data]).encode())
        for part in self.audio:
            digest.update(part.data)
        return digest.hexdigest()

    @property
    def key(self) -> str:
        """The key that came with it."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ").strip()
        return self.headers.get("x-goog-api-key", "") or bearer


MARKS = (
    ("alignment", "temporal_order_match"),
    ("edit", "edit_success"),
    ("label", "quality_flags"),
    ("listen", "events_heard"),
)
"""Questions and a reply field by which each is known."""


def question_of(text: str) -> str:
    return next((name for name, mark in MARKS if mark in text), "listen")


def is_call(path: str) -> bool:
    return _CALL.fullmatch(path.partition("?")[0]) is not None


def wire_of(path: str) -> Wire:
    return OPENAI if path.partition("?")[0].endswith("/chat/completions") else GOOGLE


def read_request(
    path: str, headers: Mapping[str, str], raw: bytes, received_s: float, files: Mapping[str, Audio]
) -> Request:
    """Take a call apart."""
    body = json.loads(raw)
    request = Request(wire_of(path), "", path, headers, raw, body, received_s)
    if request.wire == GOOGLE:
        request.model = path.partition("/models/")[2].partition(":")[0]
        _read_google(request, body, files)
    else:
        request.model = body["model"]
        _read_openai(request, body)
    return request


def _read_google(request: Request, body: Mapping[str, Any], files: Mapping[str, Audio]) -> None:
    body = {**body, "contents": _camel(body["contents"])}
    first, *later = body["contents"]
    for part in first["parts"]:
        if "text" in part:
            request.parts.append(part["text"])
        elif "inlineData" in part:
            inline = part["inlineData"]
            request.parts.append(Audio(inline["mimeType"], _bytes(inline["data"])))
        else:
            uri = part["fileData"]["fileUri"]
            request.parts.append(Audio(part["fileData"]["mimeType"], files[uri].data, uri))
    request.later = [part["text"] for message in later for part in message["parts"] if "text" in part]
    system = body.get("systemInstruction", {}).get("parts", [])
    request.system = "\n".join(part["text"] for part in system)
    config = body.get("generationConfig", {})
    request.schema = config.get("responseJsonSchema") or config.get("responseSchema")
    request.temperature = config.get("temperature")
    request.max_tokens = config.get("maxOutputTokens")
    request.thinking = _camel(config.get("thinkingConfig"))


def _camel(data: Any) -> Any:
    """Field names in the spelling of the REST API; Google takes ``mime_type`` for ``mimeType`` as well."""
    if isinstance(data, list):
        return [_camel(item) for item in data]
    if isinstance(data, dict):
        return {re.sub(r"_(\w)", lambda m: m[1].upper(), key): _camel(value) for key, value in data.items()}
    return data


def _read_openai(request: Request, body: Mapping[str, Any]) -> None:
    messages = body["messages"]
    start = next(i for i, message in enumerate(messages) if message["role"] == "user")
    request.system = "\n".join(_texts(message) for message in messages[:start])
    content = messages[start]["content"]
    parts: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for part in parts:
        if part["type"] == "text":
            request.parts.append(part["text"])
        elif part["type"] == "input_audio":
            sent = part["input_audio"]
            request.parts.append(Audio(sent["format"], _bytes(sent["data"])))
        else:
            raise ValueError(f"a part of a type that no such server takes: {part['type']!r}")
    request.later = [_texts(message) for message in messages[start + 1 :]]
    form = body.get("response_format", {})
    request.schema = form.get("json_schema", {}).get("schema")
    request.temperature = body.get("temperature")
    request.max_tokens = body.get("max_completion_tokens", body.get("max_tokens"))
    request.thinking = body.get("reasoning_effort")


def _texts(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _bytes(text: str) -> bytes:
    """Standard and URL-safe base64 alike, as the providers take it."""
    return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server sends back.

    Attributes:
        text: The model's words; None for none at all.
        finish: Why it ended: ``stop``, ``length``, or a word of the provider's (``SAFETY``, ...).
        blocked: Reason for which the prompt was turned down (Gemini).
        why_blocked: The same in words.
        refusal: Refusal in a field of its own (OpenAI).
        choices: False for an answer with no candidates or choices in it.
        audio_tokens: None for as many as the sound has; -1 for usage without that detail.
        thinking_tokens: Tokens of thought in the usage.
        status: Of the response; anything but 200 sends ``error``.
        error: Body of an error.
        headers: Sent beside the usual ones.
        delay_s: How long the answer takes.
        page: Sent as the whole body instead of JSON, if it is not None.
        kind: The content type.
        drop: ``before`` closes the connection unanswered, ``middle`` in the middle of the body.
    """

    text: str | None = ""
    finish: str = "stop"
    blocked: str = ""
    why_blocked: str = ""
    refusal: str = ""
    choices: bool = True
    audio_tokens: int | None = None
    thinking_tokens: int = 0
    status: int = 200
    error: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    page: str | bytes | None = None
    kind: str = "application/json"
    drop: Literal["", "before", "middle"] = ""


def write_answer(answer: Answer, request: Request) -> bytes:
    """The body of a response in the request's wire format."""
    if answer.page is not None:
        return answer.page if isinstance(answer.page, bytes) else answer.page.encode()
    if answer.status != 200:
        return json.dumps(answer.error).encode()
    tokens = answer.audio_tokens
    if tokens is None:
        tokens = round(sum(AUDIO_TOKENS_PER_S[request.wire] * part.duration_s for part in request.audio))
    words = sum(len(text) // 4 for text in request.texts)
    write = _google_body if request.wire == GOOGLE else _openai_body
    return json.dumps(write(answer, request.model, words, tokens)).encode()


def _google_body(answer: Answer, model: str, text_tokens: int, audio_tokens: int) -> dict[str, Any]:
    out = len(answer.text or "") // 4
    heard = max(0, audio_tokens)
    usage: dict[str, Any] = {
        "promptTokenCount": text_tokens + heard,
        "candidatesTokenCount": out,
        "totalTokenCount": text_tokens + heard + out + answer.thinking_tokens,
    }
    if audio_tokens >= 0:
        details = [("TEXT", text_tokens), ("AUDIO", audio_tokens)]
        usage["promptTokensDetails"] = [{"modality": m, "tokenCount": n} for m, n in details if n]
    if answer.thinking_tokens:
        usage["thoughtsTokenCount"] = answer.thinking_tokens
    body: dict[str, Any] = {
        "usageMetadata": usage, "modelVersion": f"{model}-001", "responseId": "fake-1"
    }  # fmt: skip
    if answer.blocked:
        return body | {
            "promptFeedback": {"blockReason": answer.blocked, "blockReasonMessage": answer.why_blocked}
        }
    if not answer.choices:
        return body | {"candidates": []}
    reason = {"stop": "STOP", "length": "MAX_TOKENS"}.get(answer.finish, answer.finish)
    candidate: dict[str, Any] = {"finishReason": reason, "index": 0}
    if answer.text is None:
        candidate["content"] = {"role": "model"}
    else:
        candidate["content"] = {"role": "model", "parts": [{"text": answer.text}]}
    return body | {"candidates": [candidate]}


def _openai_body(answer: Answer, model: str, text_tokens: int, audio_tokens: int) -> dict[str, Any]:
    out = len(answer.text or "") // 4 + answer.thinking_tokens
    heard = max(0, audio_tokens)
    usage: dict[str, Any] = {
        "prompt_tokens": text_tokens + heard, "completion_tokens": out,
        "total_tokens": text_tokens + heard + out,
    }  # fmt: skip
    if audio_tokens >= 0:
        usage["prompt_tokens_details"] = {"audio_tokens": audio_tokens, "cached_tokens": 0}
    if answer.thinking_tokens:
        usage["completion_tokens_details"] = {"reasoning_tokens": answer.thinking_tokens}
    message = {"role": "assistant", "content": answer.text, "refusal": answer.refusal or None}
    choice = {"index": 0, "message": message, "finish_reason": answer.finish, "logprobs": None}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": f"{model}-001",
        "choices": [choice] if answer.choices else [], "usage": usage,
    }  # fmt: skip


def error_body(wire: Wire, status: int, message: str, code: str, details: Sequence[Any] = ()) -> Any:
    """An error as the provider writes it; ``code`` is its own word for it."""
    if wire == GOOGLE:
        return {"error": {"code": status, "message": message, "status": code, "details": list(details)}}
    return {"error": {"message": message, "type": code, "param": None, "code": code}}
