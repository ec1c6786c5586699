"""Gemini's Files API, for requests that are too large with the sound inside them."""

import asyncio
import hashlib
import io
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from google.genai import types
from google.genai.client import AsyncClient
from google.genai.errors import APIError
from pydantic_ai.exceptions import ModelAPIError, ModelConnectionError, ModelHTTPError
from pydantic_ai.messages import UploadedFile
from pydantic_ai.models import Model

from earwitness.listeners.llm_faults import Failed, message_in
from earwitness.listeners.llm_http import NotTheFormat
from earwitness.listeners.llm_models import not_the_format
from earwitness.listeners.llm_send import Answered, Sender

log = logging.getLogger(__name__)

POLL_S = 1.0
LONGEST_S = 120.0
"""How long an uploaded file may take until it can be used."""

Upload = Callable[[str, bytes], Awaitable[UploadedFile]]
"""Takes a call's id and WAV bytes."""


class Uploads:
    """Files of the calls of one model; an upload is tried again and paced like any request."""

    def __init__(self, model: Model[Any], sender: Sender) -> None:
        self._model, self._sender, self._run = model, sender, secrets.token_hex(8)
        self._begun = 0

    @asynccontextmanager
    async def keeping(self) -> AsyncIterator[Upload]:
        """Gives what uploads a file; the files are deleted on leaving."""
        names: list[str] = []

        async def upload(call_id: str, wav: bytes) -> UploadedFile:
            try:
                return await self._upload(call_id, wav, names)
            except ModelHTTPError as fault:
                if fault.status_code == 404:
                    raise Failed(
                        "too_long", "the clip does not go inline, and the server has no Files API"
                    ) from None
                if fault.status_code == 403:
                    raise Failed(
                        "unsupported", f"the server takes no uploads: 403: {message_in(fault.body)}"
                    ) from None
                raise

        try:
            yield upload
        finally:
            for name in names:
                await self._delete(name)

    async def _upload(self, call_id: str, wav: bytes, names: list[str]) -> UploadedFile:
        files = self._client.files

        async def put() -> types.File:
            # A name that no other upload has: not of another call, another attempt, or a run that was killed.
            self._begun += 1
            salt = f"{self._run} {call_id} {self._begun} ".encode()
            name = hashlib.sha256(salt + wav).hexdigest()[:40]
            config = types.UploadFileConfig(name=name, mime_type="audio/wav")
            return await self._asked(files.upload(file=io.BytesIO(wav), config=config))

        async def look() -> types.File:
            return await self._asked(files.get(name=names[-1]))

        file = await self._sender.send(put)
        if not file.name:
            raise Failed("transport", "an uploaded clip was given no name")
        names.append(file.name)
        try:
            async with asyncio.timeout(LONGEST_S):
                while file.state == types.FileState.PROCESSING:
                    await asyncio.sleep(POLL_S)
                    file = await self._sender.send(look, requests=0)
        except TimeoutError:
            raise Failed("transport", f"an uploaded clip was not ready after {LONGEST_S:g} s") from None
        if file.state == types.FileState.FAILED or not file.uri:
            raise Failed("unsupported", "the provider could not read an uploaded clip")
        return UploadedFile(file.uri, provider_name="google", media_type="audio/wav")

    async def _asked(self, answer: Awaitable[Answered]) -> Answered:
        """The answer of the Files API, its faults as those of a model."""
        try:
            return await answer
        except APIError as fault:
            raise _as_model_error(fault, self._model.model_name) from fault
        except httpx2.TransportError as fault:
            raise ModelConnectionError(self._model.model_name, f"upload: {fault!r}") from fault
        except (KeyError, ValueError) as fault:  # pydantic's and JSON's faults among them
            raise not_the_format(self._model, fault) from NotTheFormat(f"upload: {fault!r}")

    async def _delete(self, name: str) -> None:
        try:
            async with asyncio.timeout(10):
                await self._client.files.delete(name=name)
        except (APIError, httpx2.TransportError, TimeoutError, ValueError):
            log.warning("an uploaded clip could not be deleted; the provider deletes it after 48 hours")

    @property
    def _client(self) -> AsyncClient:
        client: AsyncClient = self._model.client.aio  # type: ignore[attr-defined]
        return client


def _as_model_error(fault: APIError, model: str) -> ModelAPIError:
    headers = getattr(fault.response, "headers", None)
    return ModelHTTPError(fault.code, model, fault.details, headers=headers)
