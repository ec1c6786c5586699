"""What a failed request counts as: tried again, the end of a call, or the end of the run.

The table is in docs/faults.md; tests write it from the fake server's faults.
"""

import json
from collections.abc import Mapping
from typing import Any

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
)

from earwitness.errors import UserError
from earwitness.listeners.llm_http import NotTheFormat, Redirected
from earwitness.listeners.llm_options import PROVIDERS, LlmOptions
from earwitness.listeners.llm_secrets import Secrets, without_credentials

_SCHEMA_WORDS = ("response_format", "json_schema", "schema", "responsejsonschema", "guided")
_ROOM_WORDS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_FILTERED = ("content_filter", "content_policy_violation")
_PASSING = (408, 409, 425, 429, 499)


class Failed(Exception):
    """A call that cannot be answered, as the reason and detail of an Unheard."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def is_passing(fault: BaseException) -> bool:
    """Whether another attempt may succeed."""
    if isinstance(fault, ModelQuotaExceededError):
        return False
    if isinstance(fault, ModelHTTPError):
        return fault.status_code in _PASSING or fault.status_code >= 500
    return isinstance(fault, ModelAPIError | TimeoutError) and not isinstance(_root(fault), Redirected)


def explain(
    fault: ModelAPIError | TimeoutError,
    provider: str,
    model: str,
    options: LlmOptions,
    secrets: Secrets,
) -> Failed | UserError:
    """What is to be made of a fault that no further attempt will mend."""
    if is_passing(fault):
        tries = f" (attempt {options.attempts} of {options.attempts})" if options.attempts > 1 else ""
        return Failed("transport", in_words(fault, options, secrets) + tries)
    assert isinstance(fault, ModelAPIError)
    status = fault.status_code if isinstance(fault, ModelHTTPError) else 0
    said = in_words(fault, options, secrets)
    home = without_credentials(options.base_url) if options.base_url else PROVIDERS[provider].title
    variables = " or ".join(PROVIDERS[provider].keys)
    if isinstance(_root(fault), Redirected):
        return UserError(
            f"{home} sends its calls elsewhere ({said}), and a key goes to no other address than was given.",
            "Give the address of the server itself with --base-url, or log in where a proxy asks for it.",
        )
    if isinstance(fault, ModelQuotaExceededError) or status == 402:
        return UserError(
            f"{home} answers no more calls of this account: {said}",
            "Raise its quota or credit, then give the same command again: what was heard is kept.",
        )
    if isinstance(fault, ModelAuthenticationError) or status in (401, 403):
        return UserError(
            f"{home} refused the key: {said}",
            f"Check {variables}, and that it may use {model!r}; then give the same command again.",
        )
    if isinstance(fault, ModelNotFoundError) or status == 404:
        near = getattr(fault, "suggested_model_id", None)
        hint = f"Did you mean {near!r}? " if near else ""
        where = "the model's name and --base-url" if options.base_url else "the model's name"
        return UserError(f"{home} has no model {model!r}: {said}", f"{hint}Check {where}.")
    lowered = said.lower()
    if status == 400 and any(word in lowered for word in _ROOM_WORDS):
        return Failed("unsupported", f"{said} (a smaller --max-tokens may be taken)")
    if isinstance(fault, ModelContextWindowExceededError) or status == 413:
        return Failed("too_long", said)
    if fault.provider_error_code in _FILTERED:
        return Failed("blocked", said)
    if options.output == "native" and any(word in lowered for word in _SCHEMA_WORDS):
        said += " (if it takes no JSON schema, use --output prompted)"
    return Failed("unsupported", said)


def in_words(fault: ModelAPIError | TimeoutError, options: LlmOptions, secrets: Secrets) -> str:
    """The server's own words, with its status, and without secrets."""
    if isinstance(fault, TimeoutError):
        return f"no answer within {options.timeout_s:g} s"
    if isinstance(fault, ModelHTTPError):
        words = f"{fault.status_code}: {message_in(fault.body) or 'no message'}"
    else:
        root = _root(fault)
        ours = isinstance(root, NotTheFormat | Redirected)
        words = str(root) if ours else f"{fault.message} ({type(root).__name__})"
    return secrets.in_brief(words)


def _root(fault: BaseException) -> BaseException:
    """What a fault goes back to."""
    while fault.__cause__ is not None:
        fault = fault.__cause__
    return fault


def message_in(body: object) -> str:
    """The message in an error's body: providers put it in different places."""
    if isinstance(body, Mapping):
        found: Mapping[str, Any] = body
        for key in ("error", "message", "detail"):
            if found.get(key):
                return message_in(found[key])
        return json.dumps(dict(found), default=str)
    if isinstance(body, list | tuple):
        return "; ".join(message_in(one) for one in body)
    return "" if body is None else str(body)
