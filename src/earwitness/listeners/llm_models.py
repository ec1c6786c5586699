"""pydantic-ai's models, set up so that nothing is retried, cached or sent unasked."""

from typing import Any, Literal

from google.genai.errors import UnknownApiResponseError
from openai.types import chat
from pydantic import ValidationError
from pydantic_ai.exceptions import ModelConnectionError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, UploadedFile
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.google import GoogleModel, GoogleModelSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.google_cloud import GoogleCloudProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from earwitness.listeners.llm_http import Client, NotTheFormat
from earwitness.listeners.llm_options import LlmOptions

GEMINI_URL = "https://generativelanguage.googleapis.com/"
OPENAI_URL = "https://api.openai.com/v1"
"""Named, so that no environment variable sends a call elsewhere than the settings of a run say."""

NO_KEY = "none"
"""Servers of one's own often need no key, but the clients want one."""

_REPORTED_SOUND = "reported_audio_tokens"

Ending = Literal["whole", "cut", "filtered", "odd"]

_ENDINGS: dict[str, Ending] = {
    **dict.fromkeys(("", "STOP", "FINISH_REASON_UNSPECIFIED"), "whole"),
    **dict.fromkeys(("EOS", "EOS_TOKEN", "END_TURN", "STOP_SEQUENCE"), "whole"),  # servers of one's own
    **dict.fromkeys(("LENGTH", "MAX_TOKENS", "CONTINUATION", "MODEL_LENGTH"), "cut"),
    **dict.fromkeys(("CONTENT_FILTER", "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST"), "filtered"),
    **dict.fromkeys(("PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"), "filtered"),
    **dict.fromkeys(("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"), "filtered"),
}
"""What finish reasons mean, in capitals; any other is odd: its text is not taken for an answer."""


class NoChoice(Exception):
    """An OpenAI reply with no choice in it, and what it cost all the same."""

    def __init__(self, usage: RequestUsage, served: str) -> None:
        super().__init__("the server sent no choice")
        self.usage, self.served = usage, served


class GeminiModel(GoogleModel):
    """Gemini, or a server that speaks its format and may hand out addresses without TLS."""

    def _validate_uploaded_file(self, file: UploadedFile) -> tuple[str, str]:
        return file.file_id, file.media_type


class ChatModel(OpenAIChatModel):
    """OpenAI's chat completions, telling audio tokens reported as 0 from those not reported."""

    def _validate_completion(self, response: chat.ChatCompletion) -> Any:
        if not response.choices:
            raise NoChoice(self._map_usage(response), response.model)
        return super()._validate_completion(response)

    def _process_provider_details(self, response: chat.ChatCompletion) -> dict[str, Any] | None:
        details = super()._process_provider_details(response) or {}
        counted = response.usage.prompt_tokens_details if response.usage else None
        if counted is not None and counted.audio_tokens is not None:
            details[_REPORTED_SOUND] = counted.audio_tokens
        return details


def open_model(provider: str, model: str, options: LlmOptions, key: str, client: Client) -> Model[Any]:
    """The model; the client is the caller's to close."""
    if provider == "google-vertex":
        return GoogleModel(model, provider=GoogleCloudProvider(http_client=client))
    if provider == "google":
        home = GoogleProvider(api_key=key, base_url=options.base_url or GEMINI_URL, http_client=client)
        return GeminiModel(model, provider=home)
    url = options.base_url or OPENAI_URL
    return ChatModel(model, provider=OpenAIProvider(base_url=url, api_key=key or NO_KEY, http_client=client))


async def request(
    model: Model[Any],
    messages: list[ModelMessage],
    settings: ModelSettings,
    parameters: ModelRequestParameters,
) -> ModelResponse:
    """The model's response.

    Raises:
        NoChoice: If there is no choice in it.
        ModelAPIError: If there is none, or one of a shape that no provider sends.
    """
    try:
        return await model.request(messages, settings, parameters)
    except (ValidationError, UnknownApiResponseError, UnexpectedModelBehavior) as fault:
        raise not_the_format(model, fault) from NotTheFormat(f"not the provider's format: {fault}")


def not_the_format(model: Model[Any], fault: Exception) -> ModelConnectionError:
    """What is raised where a client cannot make anything of what it was sent."""
    return ModelConnectionError(model.model_name, f"not the provider's format: {fault!r}")


def model_settings(provider: str, options: LlmOptions, max_tokens: int) -> ModelSettings:
    """What is sent with every request."""
    common = ModelSettings(
        temperature=options.temperature, max_tokens=max_tokens, timeout=options.timeout_s, max_retries=0
    )
    if provider == "openai" or options.thinking_tokens is None:
        return common
    thinking = GoogleModelSettings(google_thinking_config={"thinking_budget": options.thinking_tokens})
    return GoogleModelSettings(**common, **thinking)


def reply_text(response: ModelResponse) -> str:
    """The text of a reply, without its thinking."""
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def reported_sound(response: ModelResponse) -> int | None:
    """Audio tokens of the input as the server counted them; None if it did not count them apart."""
    details = response.usage.details
    if "audio_prompt_tokens" in details:
        return details["audio_prompt_tokens"]
    if "text_prompt_tokens" in details:  # Gemini lists the kinds that it got
        return 0
    found: int | None = (response.provider_details or {}).get(_REPORTED_SOUND)
    return found


def ending(response: ModelResponse) -> Ending:
    """How the reply ended. The provider's own word counts; clients read only some of them."""
    return _ENDINGS.get(ending_word(response).upper(), "odd")


def ending_word(response: ModelResponse) -> str:
    """The server's word for it; empty if it gave none."""
    said = (response.provider_details or {}).get("finish_reason") or response.finish_reason
    return str(said or "")


def why_withheld(response: ModelResponse) -> tuple[str, str] | None:
    """``refused`` or ``blocked`` with the provider's reason, if the reply was withheld."""
    details = response.provider_details or {}
    if refusal := details.get("refusal"):
        return "refused", str(refusal)
    if block := details.get("block_reason"):
        return "blocked", ": ".join(filter(None, [str(block), details.get("block_reason_message")]))
    return ("blocked", ending_word(response)) if ending(response) == "filtered" else None
