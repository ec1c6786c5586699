"""An audio LLM as a listener, through pydantic-ai: Gemini, OpenAI, and any compatible server."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """How an LLM is asked. The first six enter every content key; the others only pace the calls.

    Attributes:
        base_url: An OpenAI-compatible server to ask instead of the provider's own; empty for that one.
        output: ``native`` asks for the reply's JSON schema, ``prompted`` describes it in the prompt, for
            servers that take no schema. The reply is validated in the same way.
        rate_hz: Rate at which the sound is sent, as PCM16 mono WAV.
        temperature: 0 to 2; 0 to 0.2 is meant for judging.
        max_tokens: Longest reply, thinking included.
        thinking_tokens: Budget for thinking; None for the model's own default.
        in_flight: Most calls under way at a time.
        requests_per_minute, audio_s_per_minute: Quotas; None for no limit.
        timeout_s: How long a reply may take.
        attempts: How often a call is tried that fails in transport.
        price: Dollars for a million tokens of text, of audio and of output, where the price is not known.
    """

    base_url: str = ""
    output: Literal["native", "prompted"] = "native"
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
