"""One request to a model: within the quotas, tried again where that may help, never for ever."""

import asyncio
import random
import re
from collections.abc import Callable
from typing import Any

from aiolimiter import AsyncLimiter
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from earwitness.listeners.llm import LlmOptions
from earwitness.listeners.llm_faults import is_passing

FIRST_WAIT_S = 1.0
"""Longest wait after the first failed attempt; it doubles with every further one."""
LONGEST_WAIT_S = 60.0
LONGEST_ASKED_WAIT_S = 300.0
"""What a server asks for is waited, up to this."""


class Quota:
    """Requests and seconds of audio a minute, shared by all calls of one event loop."""

    def __init__(self, options: LlmOptions) -> None:
        self._requests = AsyncLimiter(options.requests_per_minute) if options.requests_per_minute else None
        self._audio_s = AsyncLimiter(options.audio_s_per_minute) if options.audio_s_per_minute else None

    async def take(self, audio_s: float) -> None:
        """Wait for a turn. A clip longer than a minute's quota takes all of one minute."""
        if self._audio_s is not None:
            await self._audio_s.acquire(min(audio_s, self._audio_s.max_rate))
        if self._requests is not None:
            await self._requests.acquire()


class Sender:
    """Sends requests to a model.

    Attributes:
        under_way: Tasks whose request has gone out and is not answered.
    """

    def __init__(self, model: Model[Any], options: LlmOptions) -> None:
        self._model, self._options, self._quota = model, options, Quota(options)
        self.under_way: set[asyncio.Task[Any]] = set()

    async def send(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings,
        parameters: ModelRequestParameters,
        audio_s: float,
        count: Callable[[], None],
    ) -> ModelResponse:
        """The response.

        Args:
            audio_s: Seconds of sound in the request.
            count: Called for every request that goes out.

        Raises:
            ModelAPIError, TimeoutError: If the last attempt failed, or one in a way that will not pass.
        """

        async def once() -> ModelResponse:
            await self._quota.take(audio_s)
            task = asyncio.current_task()
            assert task is not None
            self.under_way.add(task)
            count()
            try:
                async with asyncio.timeout(self._options.timeout_s):
                    return await self._model.request(messages, settings, parameters)
            finally:
                self.under_way.discard(task)

        return await AsyncRetrying(
            stop=stop_after_attempt(self._options.attempts),
            wait=wait_s,
            retry=retry_if_exception(is_passing),
            reraise=True,
        )(once)


def wait_s(state: RetryCallState) -> float:
    """Seconds until the next attempt: what the server asks for and up to a tenth more, else a random
    part of a span that doubles (so that calls which failed together do not come back together)."""
    fault = state.outcome.exception() if state.outcome else None
    asked = _asked_s(fault)
    if asked is not None:
        return min(asked, LONGEST_ASKED_WAIT_S) * random.uniform(1.0, 1.1)
    span: float = min(FIRST_WAIT_S * 2.0 ** (state.attempt_number - 1), LONGEST_WAIT_S)
    return random.uniform(0.1, 1.0) * span


def _asked_s(fault: BaseException | None) -> float | None:
    """Seconds that the server asks to be left alone: its Retry-After (a number or a date) or Gemini's
    RetryInfo, both read by pydantic-ai, but for fractions of a second in the header."""
    if not isinstance(fault, ModelAPIError):
        return None
    if fault.retry_after is None and isinstance(fault, ModelHTTPError):
        header = (fault.headers or {}).get("retry-after", "")
        return float(header) if re.fullmatch(r"\d+\.\d+", header) else None
    return fault.retry_after
