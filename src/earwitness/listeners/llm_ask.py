"""One call to a model, from the question's words to an answer or the reason why there is none.

Conventions
-----------
The finish reason is read before the text. A cut reply is never parsed: it is asked for once more with
twice the room. A reply that is no JSON, or does not fit the question, is sent back once with the fault
named. A reply that is empty, or ends for a reason that is not known to leave it whole, is asked for once
more. Each of these happens at most once in a call. JSON in a single Markdown fence, or after a byte order
mark, counts as JSON; JSON within prose does not.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType

from google.auth.exceptions import GoogleAuthError
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError
from pydantic_ai.exceptions import UserError as ClientRefusal
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.usage import RequestUsage

from earwitness.errors import UserError
from earwitness.listeners import llm_cost
from earwitness.listeners.base import Hearing, Unheard
from earwitness.listeners.llm_faults import Failed, explain
from earwitness.listeners.llm_files import Upload, Uploads
from earwitness.listeners.llm_http import Client
from earwitness.listeners.llm_models import (
    NoChoice,
    ending,
    ending_word,
    model_settings,
    open_model,
    reply_text,
    reported_sound,
    request,
    why_withheld,
)
from earwitness.listeners.llm_options import PROVIDERS, LlmOptions
from earwitness.listeners.llm_schema import flat_schema, prompted
from earwitness.listeners.llm_secrets import Secrets, quiet_clients
from earwitness.listeners.llm_send import Sender
from earwitness.listeners.llm_sound import Sound, introduced
from earwitness.questions.base import InvalidReply, Question

log = logging.getLogger(__name__)

INLINE_BYTES = 20_000_000
"""Longest request with the sound inside it, base64 and words counted (Gemini's documented limit)."""


class Tally:
    """What a call has used so far, all its requests together, and the last text that came (``raw``)."""

    def __init__(self, provider: str, model: str, options: LlmOptions, audio_s: float) -> None:
        self._provider, self._model, self._options, self._audio_s = provider, model, options, audio_s
        self._counts: Counter[str] = Counter()
        self._cost: float | None = None
        self.raw = ""

    def count(self, name: str) -> None:
        """One more ``requests`` sent, or one more of ``timeouts``, whose cost is not known."""
        self._counts[name] += 1

    def answered(self, usage: RequestUsage, sound: int | None) -> None:
        """Add what the server says an answer used; ``sound`` is None where it does not say."""
        if not usage.input_tokens:
            return  # it reports nothing, and what is not known is not 0
        self._counts["input_tokens"] += usage.input_tokens
        self._counts["output_tokens"] += usage.output_tokens
        if sound is not None:
            self._counts["input_audio_tokens"] += sound
        thought = usage.details.get("thoughts_tokens", usage.details.get("reasoning_tokens"))
        if thought is not None:
            self._counts["reasoning_tokens"] += thought
        if sound is None:
            guess = self._audio_s * llm_cost.AUDIO_TOKENS_PER_S[self._provider]
            sound = min(round(guess), usage.input_tokens)
        cost = llm_cost.cost_usd(
            self._provider, self._model, self._options, usage.input_tokens, sound, usage.output_tokens
        )
        if cost is not None:
            self._cost = (self._cost or 0.0) + cost

    @property
    def usage(self) -> dict[str, float]:
        """By name; empty if nothing was sent."""
        if not self._counts:
            return {}
        found: dict[str, float] = dict(self._counts)
        found["audio_s"] = self._audio_s * self._counts["requests"]
        if self._cost is not None:
            found["cost_usd"] = self._cost
        return found


class Asker:
    """Asks a model, for many calls at a time on one event loop. Leaving it, as a context, closes the client.

    Attributes:
        under_way: Tasks whose request has gone out and is not answered.

    Raises:
        UserError: If the client cannot be made of what the environment says.
    """

    def __init__(self, provider: str, model: str, options: LlmOptions, key: str, secrets: Secrets) -> None:
        self._provider, self._name, self._options, self._secrets = provider, model, options, secrets
        self._client = Client()
        try:
            self._model = open_model(provider, model, options, key, self._client)
        except (ClientRefusal, GoogleAuthError, ValueError) as fault:
            raise self._refusal(fault) from None
        quiet_clients()
        self._sender = Sender(options, secrets)
        self._uploads = Uploads(self._model, self._sender)
        self.under_way = self._sender.under_way

    async def __aenter__(self) -> "Asker":
        await self._model.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._model.__aexit__(kind, fault, trace)
        await self._client.aclose()

    async def ask(
        self, call_id: str, question: Question, texts: Mapping[str, str], sounds: Sequence[Sound]
    ) -> Hearing | Unheard:
        """The answer to one call.

        Raises:
            UserError: If the provider would take no call at all: key, model, credit.
        """
        tally = Tally(self._provider, self._name, self._options, sum(sound.duration_s for sound in sounds))
        try:
            async with self._uploads.keeping() as upload:
                parts = await self._parts(call_id, question, texts, sounds, upload)
                durations_s = [sound.duration_s for sound in sounds]
                return await self._converse(question, durations_s, parts, tally)
        except Failed as fault:
            failed = fault
        except (ModelAPIError, TimeoutError) as fault:
            found = explain(fault, self._provider, self._name, self._options, self._secrets)
            if isinstance(found, UserError):
                raise found from None  # the cause holds the request's headers
            failed = found
        except (ClientRefusal, GoogleAuthError) as fault:
            raise self._refusal(fault) from None
        except Exception as fault:  # of a client, over what nobody foresaw; it may hold the request's headers
            failed = Failed("transport", f"the client failed: {type(fault).__name__}: {fault}")
        return Unheard(failed.reason, self._secrets.in_brief(failed.detail), tally.raw, tally.usage)

    async def _converse(
        self,
        question: Question,
        durations_s: Sequence[float],
        parts: list[UserContent],
        tally: Tally,
    ) -> Hearing:
        """Ask until there is an answer.

        Raises:
            Failed: If there is none.
        """
        messages: list[ModelMessage] = [ModelRequest([UserPromptPart(parts)])]
        parameters = self._parameters(question)
        room = self._options.max_tokens
        again: set[str] = set()  # what has been asked again for

        def once_more(what: str, reason: str, detail: str) -> None:
            if what in again:
                raise Failed(reason, detail)
            again.add(what)
            log.info("asked once more (%s): %s", reason, self._secrets.in_brief(detail))

        while True:
            settings = model_settings(self._provider, self._options, room)
            send = partial(request, self._model, messages, settings, parameters)
            try:
                response = await self._sender.send(send, audio_s=sum(durations_s), count=tally.count)
            except NoChoice as fault:
                response = ModelResponse([], usage=fault.usage, model_name=fault.served)
            except ModelHTTPError as fault:
                if "cut" in again and fault.status_code == 400:  # twice the room is more than it has
                    raise Failed("truncated", f"the reply does not end within {room // 2} tokens") from None
                raise
            text = reply_text(response)
            tally.raw = self._secrets.hide_known(text)  # some servers repeat keys
            tally.answered(response.usage, reported_sound(response))
            self._check(response, durations_s)
            end = ending(response)
            if end == "cut":
                once_more("cut", "truncated", f"the reply does not end within {room} tokens")
                room *= 2
                continue
            if end == "odd":
                once_more("odd", "invalid", f"the reply was broken off, twice: {ending_word(response)}")
                continue
            if not text.strip():
                word = ending_word(response)
                once_more("empty", "invalid", "the reply is empty, twice" + (f" ({word})" if word else ""))
                continue
            try:
                reply = question.read(_unfenced(text), durations_s)
            except InvalidReply as fault:
                once_more("unfit", "invalid", str(fault))
                objection = ModelRequest([UserPromptPart(self._secrets.hide_known(_objection(fault)))])
                messages = [*messages, ModelResponse([TextPart(tally.raw)]), objection]
                continue
            served = self._secrets.hide_known(response.model_name or "")
            return Hearing(self._secrets.hide_in(reply), tally.usage, tally.raw, served)

    def _check(self, response: ModelResponse, durations_s: Sequence[float]) -> None:
        if withheld := why_withheld(response):
            raise Failed(*withheld)
        if reported_sound(response) == 0:
            raise Failed(
                "unsupported",
                f"the model was given no sound: the server counts 0 audio tokens for {sum(durations_s):g} s",
            )

    def _parameters(self, question: Question) -> ModelRequestParameters:
        if self._options.output == "prompted":
            return ModelRequestParameters()
        schema = OutputObjectDefinition(flat_schema(question.reply), name=question.name, strict=True)
        return ModelRequestParameters(output_mode="native", output_object=schema, allow_text_output=False)

    async def _parts(
        self,
        call_id: str,
        question: Question,
        texts: Mapping[str, str],
        sounds: Sequence[Sound],
        upload: Upload,
    ) -> list[UserContent]:
        words = question.words(texts)
        if self._options.output == "prompted":
            words = prompted(words, flat_schema(question.reply))
        size = len(words.encode()) + sum(4 * ((len(sound.wav) + 2) // 3) for sound in sounds)
        inline = size + 10_000 < INLINE_BYTES  # schema and settings are a few kilobytes
        if not inline and self._provider != "google":
            raise Failed(
                "too_long",
                f"the request would have {size / 1e6:.1f} MB, and {PROVIDERS[self._provider].title} takes "
                f"{INLINE_BYTES / 1e6:g} MB",
            )
        parts: list[UserContent] = [words]
        for name, sound in zip(question.clip_names, sounds, strict=True):
            parts.append(introduced(name, sound.duration_s))
            if inline:
                parts.append(BinaryContent(sound.wav, media_type="audio/wav"))
            else:
                parts.append(await upload(call_id, sound.wav))
        return parts

    def _refusal(self, fault: Exception) -> UserError:
        title = PROVIDERS[self._provider].title
        return UserError(f"{title} cannot be asked for {self._name!r}: {self._secrets.in_brief(str(fault))}")


def _unfenced(text: str) -> str:
    """The text, or what stands in its fence if it is one fenced block and nothing else."""
    bare = text.lstrip("\ufeff").strip()
    if not (bare.startswith("```") and bare.endswith("```")):
        return bare
    inside = bare[3:-3]
    if inside[:4].lower() == "json":
        inside = inside[4:]
    return bare if "```" in inside else inside


def _objection(fault: InvalidReply) -> str:
    return (
        f"That answer cannot be used: {fault}. Answer the question again, with one JSON object that fits "
        "the schema and nothing else."
    )
