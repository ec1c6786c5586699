"""One request to a server: within the quotas, tried again where that may help, never for ever."""

import asyncio
import logging
import random
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from earwitness.listeners.llm_faults import in_words, is_passing
from earwitness.listeners.llm_options import LlmOptions
from earwitness.listeners.llm_secrets import Secrets

log = logging.getLogger(__name__)

FIRST_WAIT_S = 1.0
"""Longest wait after the first failed attempt; it doubles with every further one."""
LONGEST_WAIT_S = 60.0
LONGEST_ASKED_WAIT_S = 300.0
"""What a server asks for is waited, up to this."""
_TOLD_WAIT_S = 1.0
"""Shorter waits for a quota are not logged."""

Answered = TypeVar("Answered")


class Pace:
    """Spreads an amount (requests, seconds of audio) evenly over time, first come, first served.

    Evenly, since a burst of a whole minute's quota, and what comes after it, would be twice the quota
    for a server that counts over any sixty seconds. More than a minute's quota at once is waited for after.

    Args:
        per_minute: The quota; None for no limit.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._s_each = 60.0 / per_minute if per_minute else 0.0
        self._free_s = 0.0  # in the loop's time

    async def take(self, amount: float) -> None:
        """Wait for a turn; an amount of 0 needs none."""
        if not amount:
            return
        now = asyncio.get_running_loop().time()
        turn = max(now, self._free_s)
        self._free_s = turn + amount * self._s_each
        if turn - now >= _TOLD_WAIT_S:
            log.info("waiting %.1f s, to keep within the quota", turn - now)
        await asyncio.sleep(turn - now)


class Sender:
    """Sends requests to one server.

    Attributes:
        under_way: Tasks whose request has gone out and is not answered.
    """

    def __init__(self, options: LlmOptions, secrets: Secrets) -> None:
        self._options, self._secrets = options, secrets
        self._requests, self._audio = Pace(options.requests_per_minute), Pace(options.audio_s_per_minute)
        self.under_way: set[asyncio.Task[Any]] = set()

    async def send(
        self,
        request: Callable[[], Awaitable[Answered]],
        *,
        audio_s: float = 0.0,
        requests: int = 1,
        count: Callable[[str], None] = lambda name: None,
    ) -> Answered:
        """What comes back.

        Args:
            request: Sends the request, every time it is called.
            audio_s: Seconds of sound in the request.
            requests: How many requests of the quota it takes.
            count: Called with ``requests`` for every request that goes out, and with ``timeouts`` for
                every one that is not answered in time.

        Raises:
            ModelAPIError, TimeoutError: If the last attempt failed, or one in a way that will not pass.
        """

        async def once() -> Answered:
            await self._audio.take(audio_s)
            await self._requests.take(requests)
            task = asyncio.current_task()
            assert task is not None
            self.under_way.add(task)
            count("requests")
            try:
                async with asyncio.timeout(self._options.timeout_s):
                    return await request()
            except TimeoutError:
                count("timeouts")
                raise
            finally:
                self.under_way.discard(task)

        return await AsyncRetrying(
            stop=stop_after_attempt(self._options.attempts),
            wait=wait_s,
            retry=retry_if_exception(is_passing),
            before_sleep=self._tell,
            reraise=True,
        )(once)

    def _tell(self, state: RetryCallState) -> None:
        fault = state.outcome.exception() if state.outcome else None
        if isinstance(fault, ModelAPIError | TimeoutError):
            log.info(
                "attempt %d of %d failed, the next in %.1f s: %s",
                state.attempt_number,
                self._options.attempts,
                state.upcoming_sleep,
                in_words(fault, self._options, self._secrets),
            )


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
