"""Keeping keys out of whatever is written down: messages of servers, settings, logs."""

import base64
import logging
import re
import warnings
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from earwitness.errors import UserError

HIDDEN = "[hidden]"

_LONGEST = 500

_RUN = 12
"""Characters of a secret in a row that are too many to be shown."""

_WRITTEN = re.compile(r"\\{1,4}u([0-9a-fA-F]{4})|%([0-9a-fA-F]{2})|\\{1,4}([^u\\])|.", re.DOTALL)
"""One character as it may be written: as an escape of JSON or of an address, or as itself."""

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
    """What must not be shown, in whatever form a server repeats it: as it is, in part (:data:`_RUN`
    characters in a row or more), escaped as in JSON or an address, or as base64.

    Args:
        values: The secrets themselves; empty ones are passed over.
    """

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values if value for form in (_plain(value), *_as_base64(value))}
        self._runs = frozenset(
            form[start : start + _RUN] for form in forms for start in range(max(1, len(form) - _RUN + 1))
        )

    def hide_known(self, text: str) -> str:
        """The text without the secrets, and fit to be written down: half a surrogate pair becomes ``?``."""
        text = text.encode("utf-8", "replace").decode("utf-8")
        plain = _plain(text)
        runs = [run for run in self._runs if run in plain]
        if not runs:
            return text
        marked = bytearray(len(plain))
        for run in runs:
            at = plain.find(run)
            while at >= 0:
                marked[at : at + len(run)] = b"\1" * len(run)
                at = plain.find(run, at + 1)
        ends = [0]  # where every character of the plain text ends in the text itself
        for found in _WRITTEN.finditer(text):
            ends.append(found.end())
        kept = []
        for hidden, places in groupby(range(len(plain)), key=marked.__getitem__):
            span = list(places)
            kept.append(HIDDEN if hidden else text[ends[span[0]] : ends[span[-1] + 1]])
        return "".join(kept)

    def hide_in(self, data: Any) -> Any:
        """Plain JSON data with the secrets hidden in every string."""
        if isinstance(data, str):
            return self.hide_known(data)
        if isinstance(data, dict):
            return {name: self.hide_in(value) for name, value in data.items()}
        if isinstance(data, list | tuple):
            return [self.hide_in(value) for value in data]
        return data

    def in_brief(self, text: str) -> str:
        """A message on one line of at most 500 characters, without the secrets and without what looks like
        one (``key=...``, ``Bearer ...``)."""
        hidden = _SHAPES.sub(lambda found: (found["before"] or "") + HIDDEN, self.hide_known(text))
        line = " ".join(hidden.split())
        return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def _plain(text: str) -> str:
    """The text with every escape put as the character that it stands for."""
    if "\\" not in text and "%" not in text:
        return text
    return _WRITTEN.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else found[3] or found[0]


def _as_base64(secret: str) -> Iterator[str]:
    """What of the secret is the same in every base64 text around it: it may begin at any of three places."""
    for place in range(3):
        coded = base64.b64encode(b"\0" * place + secret.encode()).decode()
        part = coded[-(-8 * place // 6) : (place + len(secret.encode())) * 8 // 6]
        if len(part) >= _RUN:
            yield part
            yield part.translate(str.maketrans("+/", "-_"))


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
