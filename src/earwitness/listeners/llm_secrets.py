"""Keeping keys out of whatever is written down: messages of servers, settings, logs."""

import logging
import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit, urlunsplit

from earwitness.errors import UserError

HIDDEN = "[hidden]"

_SHAPES = re.compile(
    r"""(?ix)
    (?P<before> \bbearer\s+ | \bbasic\s+(?=[\w+/]{12}) |
        \b(?:api[_-]?key|x-goog-api-key|key|access_token|token)\s*["']?\s*[=:]\s*["']? (?!\s) )
    (?P<secret> [\w\-./+~]{6,} =*)
    | \bsk-[\w\-]{8,} | \bAIza[\w\-]{20,}
    """
)
_CLIENTS = (
    "httpx",
    "httpx2",
    "httpcore",
    "httpcore2",
    "openai",
    "google_genai",
    "google.genai",
    "google.auth",
)


class Secrets:
    """What must not be shown.

    Args:
        values: The secrets themselves; empty ones are passed over.
    """

    def __init__(self, values: Iterable[str]) -> None:
        known = {form for value in values if value for form in (value, quote(value, safe=""))}
        self._known = sorted(known, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """The text without the secrets, nor what looks like one (``key=...``, ``Bearer ...``)."""
        for secret in self._known:
            text = text.replace(secret, HIDDEN)
        return _SHAPES.sub(lambda found: (found["before"] or "") + HIDDEN, text)


def without_credentials(url: str) -> str:
    """The address without user and password.

    Raises:
        UserError: If it is no http(s) address, or carries what would be lost (a query, a fragment).
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        shown = url.rpartition("@")[2]
        raise UserError(
            f"base_url must be an http or https address, not {shown!r}.",
            "For example: http://127.0.0.1:8000/v1",
        )
    if parts.query or parts.fragment:
        raise UserError(
            "base_url must end with the path: what follows a ? or # would be lost.",
            "Leave it out, and give a key in the environment.",
        )
    place = f"[{host}]" if ":" in host else host
    return urlunsplit((parts.scheme, place if port is None else f"{place}:{port}", parts.path, "", ""))


def quiet_clients() -> None:
    """Keep the loggers of the clients from writing headers and bodies, whatever the level of the root."""
    for name in _CLIENTS:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
