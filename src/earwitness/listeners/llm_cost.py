"""What calls to a model cost: expected before they are made, and told from the usage afterwards.

Conventions
-----------
Prices come from the user (``LlmOptions.price``) or else from genai-prices, whose list is part of its
package. An unknown price is unknown, never 0. Gemini counts 32 tokens a second of sound (its
documentation). For OpenAI no figure for chat completions was found; 10 a second is what its users report
for audio in its real-time interface. Text is taken at 4 characters a token. The reply is guessed at 500
tokens, and thinking at its budget, or at 1,000 where Gemini decides.
"""

from collections.abc import Mapping
from contextlib import suppress

from earwitness.listeners.llm_options import LlmOptions

AUDIO_TOKENS_PER_S = {"google": 32.0, "google-vertex": 32.0, "openai": 10.0}
CHARACTERS_PER_TOKEN = 4.0
REPLY_TOKENS = 500
THINKING_TOKENS = {"google": 1000, "google-vertex": 1000, "openai": 0}

_MILLION = 1e6


def expected(
    provider: str, model: str, options: LlmOptions, words: str, audio_s: float
) -> Mapping[str, float]:
    """Usage of one call that is answered at the first attempt; ``cost_usd`` only if the price is known."""
    text = round(len(words) / CHARACTERS_PER_TOKEN)
    sound = round(audio_s * AUDIO_TOKENS_PER_S[provider])
    thinking = THINKING_TOKENS[provider] if options.thinking_tokens is None else options.thinking_tokens
    output = min(REPLY_TOKENS + thinking, options.max_tokens)
    usage: dict[str, float] = {
        "requests": 1,
        "input_text_tokens": text,
        "input_audio_tokens": sound,
        "output_tokens": output,
        "audio_s": audio_s,
    }
    cost = cost_usd(provider, model, options, text + sound, sound, output)
    if cost is not None:
        usage["cost_usd"] = cost
    return usage


def cost_usd(
    provider: str,
    model: str,
    options: LlmOptions,
    input_tokens: float,
    audio_tokens: float,
    output_tokens: float,
) -> float | None:
    """Dollars for one request; None if the price is not known. Discounts for cached input are not counted.

    Args:
        input_tokens: Text and audio together.
        output_tokens: Reply and thinking together.
    """
    if options.price is not None:
        text_price, audio_price, output_price = options.price
        text_tokens = input_tokens - audio_tokens
        dollars = text_tokens * text_price + audio_tokens * audio_price + output_tokens * output_price
        return dollars / _MILLION

    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=int(input_tokens), input_audio_tokens=int(audio_tokens), output_tokens=int(output_tokens)
    )
    # A server of the user's own does not charge what the provider of that name does.
    with suppress(LookupError, ValueError):
        if options.base_url:
            return float(calc_price(usage, model, provider_api_url=options.base_url).total_price)
        home = "openai" if provider == "openai" else "google"
        return float(calc_price(usage, model, provider_id=home).total_price)
    return None
