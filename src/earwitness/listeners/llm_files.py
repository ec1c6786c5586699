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

from earwitness.listeners.llm_faults import Failed

log = logging.getLogger(__name__)

POLL_S = 1.0
LONGEST_S = 120.0
"""How long an uploaded file may take until it can be used."""

Upload = Callable[[str, bytes], Awaitable[UploadedFile]]
"""Takes a call's id and WAV bytes."""


class Uploads:
    """Files of the calls of one model."""

    def __init__(self, model: Model[Any]) -> None:
        self._model, self._run = model, secrets.token_hex(8)

    @asynccontextmanager
    async def keeping(self) -> AsyncIterator[Upload]:
        """Gives what uploads a file; the files are deleted on leaving."""
        names: list[str] = []

        async def upload(call_id: str, wav: bytes) -> UploadedFile:
            # A hash that no other upload has: not of another call, another clip, or a run that was killed.
            salt = f"{self._run} {call_id} {len(names)} ".encode()
            name = hashlib.sha256(salt + wav).hexdigest()[:40]
            try:
                return await self._upload(name, wav, names)
            except APIError as fault:
                raise _as_model_error(fault, self._model.model_name) from fault
            except httpx2.TransportError as fault:
                raise ModelConnectionError(self._model.model_name, f"upload: {fault!r}") from fault

        try:
            yield upload
        finally:
            for name in names:
                await self._delete(name)

    async def _upload(self, name: str, wav: bytes, names: list[str]) -> UploadedFile:
        files = self._client.files
        file = await files.upload(
            file=io.BytesIO(wav), config=types.UploadFileConfig(name=name, mime_type="audio/wav")
        )
        names.append(file.name or name)
        try:
            async with asyncio.timeout(LONGEST_S):
                while file.state == types.FileState.PROCESSING:
                    await asyncio.sleep(POLL_S)
                    file = await files.get(name=names[-1])
        except TimeoutError:
            raise Failed("transport", f"an uploaded clip was not ready after {LONGEST_S:g} s") from None
        if file.state == types.FileState.FAILED or not file.uri:
            raise Failed("unsupported", "the provider could not read an uploaded clip")
        return UploadedFile(file.uri, provider_name="google", media_type="audio/wav")

    async def _delete(self, name: str) -> None:
        try:
            async with asyncio.timeout(10):
                await self._client.files.delete(name=name)
        except (APIError, httpx2.TransportError, TimeoutError):
            log.warning("an uploaded clip could not be deleted; the provider deletes it after 48 hours")

    @property
    def _client(self) -> AsyncClient:
        client: AsyncClient = self._model.client.aio  # type: ignore[attr-defined]
        return client


def _as_model_error(fault: APIError, model: str) -> ModelAPIError:
    return ModelHTTPError(fault.code, model, fault.details)
