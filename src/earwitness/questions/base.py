"""What a question is: a name, the exact prompt, and a strict model of its reply."""

import hashlib
import json
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict


class Reply(BaseModel):
    """Root of reply models: no unknown fields, no coercion, no NaN, no silent defaults."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as a listener is asked it; ``prompt`` is empty for detectors."""

    name: str
    prompt: str
    reply: type[Reply]

    @property
    def fingerprint(self) -> str:
        """sha256 over prompt and reply schema: either changing makes it another question."""
        schema = json.dumps(self.reply.model_json_schema(), sort_keys=True)
        return hashlib.sha256(f"{self.name}\n{self.prompt}\n{schema}".encode()).hexdigest()
