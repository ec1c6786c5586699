"""How and where an LLM is asked, as data.

Nothing here needs the extra ``llm``: the command line reads it at start-up.
"""

import math
from dataclasses import dataclass
from typing import Literal

from earwitness.errors import UserError, nearest
from earwitness.listeners.llm_secrets import without_credentials


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """How an LLM is asked. The first six enter every content key; the others only pace the calls.

    Attributes:
        base_url: Another server to ask than the provider's own: one that is compatible with OpenAI
            (``openai:...``) or speaks Gemini's format (``google:...``); empty for the provider's own.
        output: ``native`` asks for the reply's JSON schema, ``prompted`` describes it in the prompt, for
            servers that take no schema; ``auto`` is native but for OpenAI's own server, whose audio models
            are reported to refuse schemas. The reply is validated in the same way.
        rate_hz: Rate at which the sound is sent, as PCM16 mono WAV.
        temperature: 0 to 2; 0 to 0.2 is meant for judging.
        max_tokens: Longest reply, thinking included.
        thinking_tokens: Budget for thinking (Gemini only); None for the model's own default.
        in_flight: Most calls under way at a time.
        requests_per_minute, audio_s_per_minute: Quotas; None for no limit. Every attempt counts.
        timeout_s: How long a reply may take.
        attempts: How often a call is tried that fails in transport.
        price: Dollars for a million tokens of text, of audio and of output, where the price is not known.

    Raises:
        UserError: Naming the option and its range, if a value is of no use.
    """

    base_url: str = ""
    output: Literal["auto", "native", "prompted"] = "auto"
    rate_hz: int = 16000
    temperature: float = 0.0
    max_tokens: int = 8192
    thinking_tokens: int | None = None
    in_flight: int = 8
    requests_per_minute: float | None = None
    audio_s_per_minute: float | None = None
    timeout_s: float = 120.0
    attempts: int = 6
    price: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        if self.base_url:
            without_credentials(self.base_url)
        if self.output not in ("auto", "native", "prompted"):
            raise UserError(f"output must be auto, native or prompted, not {self.output!r}.")
        for name, least, most in (
            ("rate_hz", 8000, 48000),
            ("temperature", 0, 2),
            ("max_tokens", 1, math.inf),
            ("thinking_tokens", 0, math.inf),
            ("in_flight", 1, math.inf),
            ("requests_per_minute", 1, math.inf),
            ("audio_s_per_minute", 1, math.inf),
            ("timeout_s", 0.001, math.inf),
            ("attempts", 1, math.inf),
        ):
            value = getattr(self, name)
            if value is not None and not (least <= value <= most and math.isfinite(value)):
                limits = f"{least:g} to {most:g}" if math.isfinite(most) else f"at least {least:g}"
                raise UserError(f"{name} must be {limits}, not {value!r}.")
        if self.price is not None and not (
            len(self.price) == 3 and all(math.isfinite(one) and one >= 0 for one in self.price)
        ):
            raise UserError(
                f"price must be three numbers of 0 or more, not {self.price!r}.",
                "Give dollars for a million tokens of text, of audio and of output.",
            )


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a model is asked.

    Attributes:
        title: Its name in messages.
        client: The package that speaks to it, beside pydantic-ai.
        keys: Environment variables that hold its key, the first that is set counts.
    """

    title: str
    client: str
    keys: tuple[str, ...]


_GOOGLE_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
VERTEX_SETTINGS = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS", *_GOOGLE_KEYS)
"""Environment variables of which Vertex AI needs one."""

PROVIDERS = {
    "google": Provider("the Gemini API", "google.genai", _GOOGLE_KEYS),
    "google-vertex": Provider("Vertex AI", "google.genai", _GOOGLE_KEYS),
    "openai": Provider("OpenAI", "openai", ("OPENAI_API_KEY",)),
}
"""Providers by the first part of a listener's name."""


def near_name(name: str) -> str:
    """The model name that was probably meant by one without a provider; empty if that is not known."""
    lowered = name.lower()
    if lowered.startswith("gemini"):
        return f"google:{name}"
    if lowered.startswith(("gpt", "o1", "o3")):
        return f"openai:{name}"
    kind, colon, model = name.partition(":")
    near = nearest(kind.lower(), PROVIDERS)
    return f"{near}:{model}" if colon and near else ""
