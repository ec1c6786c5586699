"""A reply model as the JSON schema that providers take: flat, with nothing to look up."""

import json
from functools import cache
from typing import Any

from earwitness.questions.base import Reply

_ASKED = """
Answer with one JSON object that fits this JSON schema, and with nothing else (no Markdown, no words
before or after it):
"""


@cache
def flat_schema(reply: type[Reply]) -> dict[str, Any]:
    """The model's schema with its definitions put where they are used, and without titles and docstrings.

    Some providers refuse ``$ref``; titles cost tokens. It is shared: do not change it.
    """
    schema = reply.model_json_schema()
    definitions = schema.pop("$defs", {})

    def flat(node: Any, named: bool = False) -> Any:
        """``named``: the keys of ``node`` are the names of fields, not words of JSON schema."""
        if isinstance(node, list):
            return [flat(one) for one in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return flat(definitions[node["$ref"].removeprefix("#/$defs/")])
        return {
            key: flat(value, named=key == "properties" and not named)
            for key, value in node.items()
            if named or key not in ("title", "description")
        }

    found: dict[str, Any] = flat(schema)
    return found


def prompted(words: str, schema: dict[str, Any]) -> str:
    """The words of a question with the schema described, for servers that take none."""
    return f"{words.rstrip()}\n{_ASKED}{json.dumps(schema)}\n"
