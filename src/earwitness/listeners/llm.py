"""An audio LLM as a listener, through pydantic-ai: Gemini, OpenAI, and any compatible server.

Importing this module imports no provider client (those take seconds): they come in with the first call.

Conventions
-----------
A call sends the question's words, then every clip under its name and length as PCM16 mono WAV. Nothing
else is sent: no path, no name of a file or a system. What an answer counts as is decided in
:mod:`earwitness.listeners.llm_ask`, what a failure counts as in :mod:`earwitness.listeners.llm_faults`.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from earwitness.errors import MissingExtra, UserError
from earwitness.listeners import llm_cost
from earwitness.listeners.base import Call, Hearing, Needs, Unheard
from earwitness.listeners.llm_options import PROVIDERS, VERTEX_SETTINGS, LlmOptions, Provider
from earwitness.listeners.llm_schema import flat_schema, prompted
from earwitness.listeners.llm_secrets import Secrets, without_credentials
from earwitness.listeners.llm_sound import Encoder, introduced
from earwitness.questions import QUESTIONS
from earwitness.questions.base import Question

__all__ = ["Llm", "LlmOptions"]

CODE_VERSION = "2"
"""Changed whenever the same call would be asked, or its answer read, in another way."""

MIN_S, MAX_S = 0.1, 600.0
"""Shorter clips have nothing to judge; longer ones do not go into one request at any useful rate."""


class Llm:
    """An audio LLM.

    Args:
        name: ``PROVIDER:MODEL``, the provider one of :data:`PROVIDERS`.
        options: How it is asked.

    Raises:
        UserError: If the name is none, an option does not apply to the provider, or the extra ``llm``
            is not installed.
    """

    known_labels: frozenset[str] = frozenset()
    measured = ""

    def __init__(self, name: str, options: LlmOptions | None = None) -> None:
        self.name = name
        self.options = options or LlmOptions()
        self.provider, _, self.model = name.partition(":")
        if self.options.output == "auto":
            own = self.provider == "openai" and not self.options.base_url
            self.options = replace(self.options, output="prompted" if own else "native")
        if self.provider not in PROVIDERS or not self.model.strip():
            raise UserError(
                f"{name!r} names no model.", "Write PROVIDER:MODEL, for example google:gemini-2.5-pro."
            )
        for package in ("pydantic_ai", "genai_prices", "tenacity", self._home.client):
            if not _installed(package):
                raise MissingExtra(f"{package.replace('_', '-')}, which {name!r} needs,", "llm")
        if self.options.thinking_tokens is not None and self.provider == "openai":
            raise UserError(
                "thinking_tokens does not apply to openai:..., which has no such budget.",
                "Leave it out; max_tokens limits thinking and reply together.",
            )
        if self.provider == "google-vertex" and self.options.base_url:
            raise UserError("google-vertex:... has no base_url.", "Use google:... for another server.")

    @property
    def version(self) -> str:
        return f"{self.model}-{CODE_VERSION}"

    @property
    def needs(self) -> Needs:
        return Needs(
            rate_hz=self.options.rate_hz,
            min_s=MIN_S,
            max_s=MAX_S,
            resolution_s=1.0,  # Gemini counts time in whole seconds
            questions=tuple(name for name, question in QUESTIONS.items() if question.prompt),
            detector=False,
            cost=self._cost_in_words(),
            varies=True,
        )

    @property
    def settings(self) -> Mapping[str, Any]:
        """What can change an answer; keys and credentials are not among it."""
        options = self.options
        return {
            "base_url": without_credentials(options.base_url) if options.base_url else "",
            "output": options.output,
            "rate_hz": options.rate_hz,
            "temperature": options.temperature,
            "max_tokens": options.max_tokens,
            "thinking_tokens": options.thinking_tokens,
        }

    def ready(self) -> None:
        """Make sure that there is a key, and that it can be one.

        Raises:
            UserError: Naming the variable to set, or the one that holds what is no key.
        """
        self._check_key()

    def expected(
        self, question: Question, texts: Mapping[str, str], durations_s: Sequence[float]
    ) -> Mapping[str, float]:
        """What one call that is answered at once should use; see :mod:`earwitness.listeners.llm_cost`."""
        words = question.words(texts) + "".join(
            introduced(name, length) for name, length in zip(question.clip_names, durations_s, strict=True)
        )
        if self.options.output == "prompted":
            words = prompted(words, flat_schema(question.reply))
        return llm_cost.expected(self.provider, self.model, self.options, words, sum(durations_s))

    def hear(self, calls: Iterable[Call]) -> Iterator[tuple[str, Hearing | Unheard]]:
        """Answer every call as it is done, at most ``in_flight`` at a time. Calls are drawn in the caller's
        thread, when there is room for them; a few are kept ready, so that none under way waits for a file.

        Raises:
            UserError: If the provider takes no call at all (key, model, credit), after the calls that
                were already sent have been answered.
        """
        self._check_key()
        try:
            from earwitness.listeners.llm_ask import Asker
            from earwitness.listeners.llm_loop import Background
        except ImportError as missing:
            raise MissingExtra(f"a part of pydantic-ai ({missing})", "llm") from missing

        encoder = Encoder(self.options.rate_hz)
        secrets = Secrets([self._key, *self._credentials()])
        asker = Asker(self.provider, self.model, self.options, self._key, secrets)
        source = iter(calls)
        room = self.options.in_flight + max(1, self.options.in_flight // 8)
        waiting, more = 0, True
        fault: BaseException | None = None
        with Background(asker, self.options.in_flight) as background:
            while True:
                while more and fault is None and waiting < room:
                    call = next(source, None)
                    if call is None:
                        more = False
                    elif unheard := self._unfit(call):
                        yield call.call_id, unheard
                    else:
                        sounds = [encoder(clip) for clip in call.clips]
                        background.submit(call.call_id, call.question, call.texts, sounds)
                        waiting += 1
                if not waiting:
                    break
                key, answer = background.done.get()
                waiting -= 1
                if isinstance(answer, BaseException):
                    if fault is None:
                        fault = answer
                        background.drop_unsent()
                elif answer is not None:
                    yield key, answer
                background.free()  # only now that the caller has kept it: a kill loses in_flight at most
        if fault is not None:
            raise fault

    @property
    def _home(self) -> Provider:
        return PROVIDERS[self.provider]

    @property
    def _key(self) -> str:
        return self._key_with_name[0]

    @property
    def _key_with_name(self) -> tuple[str, str]:
        """The key and its variable; both empty if none is set."""
        set_ = ((os.environ.get(name, "").strip(), name) for name in self._home.keys)
        return next((found for found in set_ if found[0]), ("", ""))

    def _check_key(self) -> None:
        key, variable = self._key_with_name
        if key and not re.fullmatch("[!-~]+", key):  # clients quote what they cannot send, keys too
            raise UserError(
                f"{variable} holds a character that no key has: a space, a line break, a curly quote or "
                "another sign outside ASCII.",
                f"Copy the key anew, and set it with: export {variable}=...",
            )
        if self.provider == "google-vertex":
            if not any(os.environ.get(name) for name in VERTEX_SETTINGS):
                raise UserError(
                    f"no credentials for {self._home.title}: none of {', '.join(VERTEX_SETTINGS)} is set.",
                    "Set GOOGLE_CLOUD_PROJECT (and GOOGLE_CLOUD_LOCATION), and log in with "
                    "`gcloud auth application-default login`.",
                )
        elif not self._key and not (self.provider == "openai" and self.options.base_url):
            raise UserError(
                f"no key for {self._home.title}: {' or '.join(self._home.keys)} is not set.",
                f"Set it, for example with: export {self._home.keys[0]}=...",
            )

    def _credentials(self) -> list[str]:
        """What in base_url must not be shown."""
        rest = self.options.base_url.partition("://")[2].partition("/")[0]
        user, at, _ = rest.rpartition("@")
        return [user, *user.split(":")[1:]] if at else []

    def _unfit(self, call: Call) -> Unheard | None:
        """Why a call is not worth sending."""
        if not call.question.prompt:
            return Unheard("unsupported", f"{call.question.name!r} is a question for detectors")
        for clip in call.clips:
            length = f"{clip.duration_s:g} s; {self.name} hears {MIN_S:g} to {MAX_S:g} s"
            if clip.duration_s < MIN_S:
                return Unheard("too_short", length)
            if clip.duration_s > MAX_S:
                return Unheard("too_long", length)
        return None

    def _cost_in_words(self) -> str:
        per_s = llm_cost.AUDIO_TOKENS_PER_S[self.provider]
        where = "that server's own price" if self.options.base_url else "the provider's price"
        return f"{where}; about {per_s:g} tokens a second of sound, see --estimate"


def _installed(package: str) -> bool:
    with suppress(ModuleNotFoundError):
        return find_spec(package) is not None
    return False
