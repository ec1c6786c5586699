"""Keeping keys out of whatever is written down: messages of servers, settings, logs."""

import logging
import re
import warnings
from collections.abc import Iterable
from urllib.parse import quote, urlsplit, urlunsplit

from earwitness.errors import UserError

HIDDEN = "[hidden]"

_LONGEST = 500

_SHAPES = re.compile(
    r"""(?ix)
    (?P<before> \b(?:bearer|basic) \s+ | \b(?:x-goog-api-key|api[_-]?key)["']? \s* [=:] \s* ["']?
        | \b(?:key|token) = ["']? )
    [\w\-./+~]{6,} =*
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

    def hide_known(self, text: str) -> str:
        """The text without the secrets."""
        for secret in self._known:
            text = text.replace(secret, HIDDEN)
        return text

    def in_brief(self, text: str) -> str:
        """A message on one line of at most 500 characters, without the secrets and without what looks like
        one (``key=...``, ``Bearer ...``)."""
        hidden = _SHAPES.sub(lambda found: (found["before"] or "") + HIDDEN, self.hide_known(text))
        line = " ".join(hidden.split())
        return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


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


def command_without_credentials(command: str) -> str:
    """A command as it may be written down: addresses in it lose user and password."""
    return re.sub(r"(://)[^/\s'\"]*@", r"\1", command)


def quiet_clients() -> None:
    """Keep the clients from telling headers, bodies and what servers said, whatever is logged otherwise."""
    for name in _CLIENTS:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
    # google-genai warns of words it does not know, and repeats them.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"google\.genai\._common")
