"""What a question is: a name, the exact prompt, the clips it is about, and a strict model of its reply.

Conventions
-----------
Captions and other texts of the user's are data. They reach a listener as one JSON object between
``<data>`` and ``</data>``, with ``<`` and ``>`` written as escapes, so that no caption can close the
block or pass for an instruction. The prompt may say where the block goes with ``{data}``; otherwise it
comes last. Nothing else in a prompt is filled in.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from earwitness.errors import EarwitnessError, UserError

DATA = "{data}"


class Reply(BaseModel):
    """Root of reply models: no unknown fields, no coercion, no NaN, no silent defaults."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class InvalidReply(EarwitnessError):
    """A reply that does not fit its question; the message names the field and the fault."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as a listener is asked it; ``prompt`` is empty for detectors.

    Attributes:
        clip_names: What every clip of a call is called, in the order in which they are sent.
        words_of: Name of the question whose wording this one shares: the user's own words go for both.
    """

    name: str
    prompt: str
    reply: type[Reply]
    clip_names: tuple[str, ...] = ("AUDIO CLIP",)
    words_of: str = ""

    @property
    def fingerprint(self) -> str:
        """sha256 over prompt, clip names and reply schema: any of them changing makes it another question.

        A detector is asked nothing in words and is shown no schema; for it the name and the clip names
        are the question, and whatever shapes its reply belongs to its version.
        """
        return _fingerprint(self)

    def with_prompt(self, prompt: str) -> "Question":
        """The same question in other words.

        Raises:
            UserError: If the prompt is empty, names the data block twice, or has a placeholder that
                nothing would fill.
        """
        if not prompt.strip():
            raise UserError("the prompt is empty.", "Write what the listener is to do.")
        stray = [name for name in re.findall(r"\{(\w+)\}", prompt) if name != "data"]
        if stray:
            raise UserError(
                f"the prompt has the placeholder {{{stray[0]}}}, which nothing fills.",
                "Captions come as one block; write {data} where it is to stand, or nothing to have it last.",
            )
        if prompt.count(DATA) > 1:
            raise UserError("the prompt names {data} twice.", "Name the place of the data block once.")
        return replace(self, prompt=prompt)

    def words(self, texts: Mapping[str, str]) -> str:
        """The prompt with its texts in the data block, exactly as it is sent."""
        if not texts:
            return self.prompt.replace(DATA, "").rstrip() + "\n"
        quoted = json.dumps(dict(texts), ensure_ascii=False, indent=1)
        quoted = quoted.replace("<", "\\u003c").replace(">", "\\u003e")
        block = f"<data>\n{quoted}\n</data>"
        if DATA in self.prompt:
            return self.prompt.replace(DATA, block)
        return f"{self.prompt.rstrip()}\n\n{block}\n"

    def read(self, reply: str | Mapping[str, Any], durations_s: Sequence[float]) -> dict[str, Any]:
        """A reply (JSON text or data) checked against the model and the clips it speaks of, as plain data.

        Args:
            durations_s: Length of every clip in seconds, in the order of ``clip_names``.

        Raises:
            InvalidReply: Naming the first field that does not fit.
        """
        context = {"durations_s": dict(zip(self.clip_names, durations_s, strict=True))}
        try:
            text = reply if isinstance(reply, str) else json.dumps(reply)
            found = self.reply.model_validate_json(text, context=context).model_dump(mode="json")
            if isinstance(reply, str):
                json.loads(text, object_pairs_hook=_fields_once)  # pydantic takes the last of several
            return found
        except ValidationError as fault:
            first = fault.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InvalidReply(f"{place}: {first['msg']}" if place else first["msg"]) from fault
        except (TypeError, ValueError) as fault:
            raise InvalidReply(str(fault)) from fault


def _fields_once(pairs: list[tuple[str, Any]]) -> None:
    """Make sure that an object names every field once: of two values, neither can be taken for the answer."""
    if len(dict(pairs)) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidReply(f"{twice}: the field is given more than once")


@lru_cache(maxsize=64)
def _fingerprint(question: Question) -> str:
    """Kept, since laying out a schema takes longer than reading a clip."""
    parts: list[Any] = [question.name, question.clip_names]
    if question.prompt:
        parts += [question.prompt, question.reply.model_json_schema()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
