"""pydantic-ai's models, set up so that nothing is retried, cached or sent unasked."""

from typing import Any

from openai.types import chat
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelResponse, TextPart, UploadedFile
from pydantic_ai.models import Model
from pydantic_ai.models.google import GoogleModel, GoogleModelSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.google_cloud import GoogleCloudProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from earwitness.listeners.llm_options import LlmOptions

GEMINI_URL = "https://generativelanguage.googleapis.com/"
OPENAI_URL = "https://api.openai.com/v1"
"""Named, so that no environment variable sends a call elsewhere than the settings of a run say."""

NO_KEY = "none"
"""Servers of one's own often need no key, but the clients want one."""

_REPORTED_SOUND = "reported_audio_tokens"


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
            error = (response.model_extra or {}).get("error")
            if isinstance(error, dict):  # gateways send errors as successes, with the status inside
                code = str(error.get("code"))
                raise ModelHTTPError(int(code) if code.isdigit() else 500, self.model_name, error)
            raise NoChoice(self._map_usage(response), response.model)
        return super()._validate_completion(response)

    def _process_provider_details(self, response: chat.ChatCompletion) -> dict[str, Any] | None:
        details = super()._process_provider_details(response) or {}
        counted = response.usage.prompt_tokens_details if response.usage else None
        if counted is not None and counted.audio_tokens is not None:
            details[_REPORTED_SOUND] = counted.audio_tokens
        return details


def open_model(provider: str, model: str, options: LlmOptions, key: str) -> Model[Any]:
    """The model, with a client of its own; enter it as a context so that the client is closed."""
    if provider == "google-vertex":
        return GoogleModel(model, provider=GoogleCloudProvider())
    if provider == "google":
        home = GoogleProvider(api_key=key, base_url=options.base_url or GEMINI_URL)
        return GeminiModel(model, provider=home)
    server = OpenAIProvider(base_url=options.base_url or OPENAI_URL, api_key=key or NO_KEY)
    return ChatModel(model, provider=server)


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


def why_filtered(response: ModelResponse) -> tuple[str, str] | None:
    """``refused`` or ``blocked`` with the provider's reason, if the reply was withheld."""
    details = response.provider_details or {}
    if refusal := details.get("refusal"):
        return "refused", str(refusal)
    if block := details.get("block_reason"):
        return "blocked", ": ".join(filter(None, [str(block), details.get("block_reason_message")]))
    if response.finish_reason == "content_filter":
        return "blocked", str(details.get("finish_reason", "content_filter"))
    return None
