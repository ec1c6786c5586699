"""What a server sends, looked at before the provider's client sees it.

The clients take much for an answer: an error with status 200 around it, a proxy's page, any JSON at all; and
each fails in its own way over what it cannot read. Here both wires are given the same rules:

- A response that is no JSON object, or whose candidates or choices are no list of objects, is not of the
  provider's format (:class:`NotTheFormat`).
- An error inside a successful response is an error, with the status that it names.
- A redirect is followed nowhere: keys go to the address that was given and to no other.
"""

import json
import re
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2

CONNECT_S = 5.0
"""How long a connection may take to be made, whatever a reply may take."""

_CALLS = (":generateContent", "/chat/completions")
_MEMBERS = ("candidates", "choices")
_DEEP = 500  # levels: replies have three, and Python reads about a thousand

_STATUS_OF = {
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "content_filter": 400,
    "content_policy_violation": 400,
    "invalid_api_key": 401,
    "model_not_found": 404,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
}
"""Words for errors that stand where others write the status; what is not known is the server's own fault."""


class NotTheFormat(httpx2.TransportError):
    """A response that a provider would not send: something in between did, or the server is broken."""


class Redirected(httpx2.TransportError):
    """A response that sends the client elsewhere; the message names the status and the host."""


class Client(httpx2.AsyncClient):
    """The client for both wires."""

    def __init__(self) -> None:
        super().__init__(
            timeout=httpx2.Timeout(600.0, connect=CONNECT_S),  # calls bring their own
            limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
            follow_redirects=False,
        )

    async def send(self, request: httpx2.Request, **more: Any) -> httpx2.Response:
        """The response, as far as it can be one.

        Raises:
            NotTheFormat, Redirected: If it is none.
        """
        waits = request.extensions.get("timeout", {})
        if (waits.get("connect") or CONNECT_S) > CONNECT_S:
            request.extensions = {**request.extensions, "timeout": waits | {"connect": CONNECT_S}}
        try:
            response = await super().send(request, **more)
        except httpx2.DecodingError as fault:
            raise NotTheFormat(f"the response cannot be decompressed: {fault}", request=request) from None
        if 300 <= response.status_code < 400:
            raise Redirected(f"{response.status_code}, to {_host(response)}", request=request)
        return _read(response) if request.url.path.endswith(_CALLS) else response


def _read(response: httpx2.Response) -> httpx2.Response:
    """The response to a call; an error inside a success is made the error that it is."""
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError) as fault:
        if response.status_code >= 400 and isinstance(fault, ValueError):
            return response  # errors come in any form
        body = None
    if response.status_code >= 400:
        return response
    if not isinstance(body, dict) or not all(_is_list_of_objects(body.get(name)) for name in _MEMBERS):
        kind = response.headers.get("content-type", "no content type")
        start = " ".join(response.text[:100].split()) or "empty"
        raise NotTheFormat(
            f"{response.status_code} with {kind}, not the provider's format: {start}",
            request=response.request,
        )
    if error := _error(body):
        return _changed(response, _status(error), {"error": error})
    if _cut_deep(body):
        return _changed(response, response.status_code, body)
    return response


def _is_list_of_objects(member: object) -> bool:
    """Whether candidates or choices are what they must be, where there are any."""
    return member is None or (isinstance(member, list) and all(isinstance(one, dict) for one in member))


def _changed(response: httpx2.Response, status: int, body: object) -> httpx2.Response:
    kept = {name: value for name, value in response.headers.items() if name.startswith("retry-after")}
    return httpx2.Response(status, headers=kept, json=body, request=response.request)


def _error(body: dict[str, Any]) -> Any:
    """The error inside a successful response; gateways put it at the root or in the choice."""
    if body.get("error"):
        return body["error"]
    if not body.get("choices"):
        return None
    first = body["choices"][0]
    if first.get("error"):
        return first["error"]
    reason = first.get("finish_reason")
    return {"message": f"the reply ends with {reason!r}"} if reason in ("error", "abort") else None


def _status(error: object) -> int:
    """The status of an error that came without one of its own."""
    if isinstance(error, dict):
        for name in ("code", "status", "type"):
            word = str(error.get(name))
            if re.fullmatch("[45][0-9][0-9]", word):
                return int(word)
            if word in _STATUS_OF:
                return _STATUS_OF[word]
    return 500


def _cut_deep(body: dict[str, Any]) -> bool:
    """Shorten every text of Gemini's that is nested deeper than any reply: its client reads replies as JSON
    unasked and breaks off there, losing what they cost. Cut like this they are as invalid as they were."""
    found = False
    for candidate in body.get("candidates") or ():
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else ():
            text = part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str) and _is_deep(text):
                part["text"] = text[:_DEEP]
                found = True
    return found


def _is_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= _DEEP:
        return False
    try:
        json.loads(text)
    except RecursionError:
        return True
    except ValueError:
        pass
    return False


def _host(response: httpx2.Response) -> str:
    """Where a redirect points, without path, query and credentials."""
    try:
        place = urlsplit(urljoin(str(response.request.url), response.headers.get("location", "")))
        port = f":{place.port}" if place.port else ""
        return f"{place.scheme}://{place.hostname}{port}"
    except ValueError:
        return "an address that is none"
