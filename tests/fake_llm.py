"""A server on loopback that speaks the wire formats of Gemini and of OpenAI's chat completions.

In a thread, for tests::

    with FakeLlm(times(1, rate_limited(0.2))) as server:
        ...  # ask server.url (Gemini) or server.url + "/v1" (OpenAI)
        server.requests  # what came, taken apart

In a process, for benchmarks: ``python tests/fake_llm.py --delay 2`` prints its URL. It then keeps counters
only (``GET /counts``), so that 64 connections with half a megabyte a request cost it little.
"""

import argparse
import asyncio
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType

from fake_answers import REPLIES, Script, valid
from fake_wires import (
    GOOGLE,
    Answer,
    Audio,
    Request,
    error_body,
    is_call,
    question_of,
    read_request,
    wire_of,
    write_answer,
)

Headers = dict[str, str]


class FakeLlm:
    """The server.

    Args:
        script: What it answers to a call.
        port: 0 for any free one.
        record: Keep every request taken apart. Without it there is no script: each question gets its
            ready-made reply after ``delay_s``, and only counters are kept.
        processing: How often an uploaded file is still being processed when it is asked for.
        refusals: Statuses with which uploads are refused, one after another.
    """

    def __init__(
        self,
        script: Script = valid,
        *,
        port: int = 0,
        record: bool = True,
        delay_s: float = 0.0,
        processing: int = 1,
        refusals: Sequence[int] = (),
    ) -> None:
        self.script = script
        self.requests: list[Request] = []
        self.uploads: dict[str, Audio] = {}
        self.deleted: list[str] = []
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []  # requests that the fake itself could not read
        self.most_in_flight = self.in_flight = 0
        self.url = ""
        self._port, self._record, self._delay_s, self._processing = port, record, delay_s, processing
        self._seen: Counter[str] = Counter()
        self._asked_for: Counter[str] = Counter()
        self._ready_made: dict[tuple[str, str], bytes] = {}
        self._refusals = list(refusals)

    # --- life ------------------------------------------------------------------------------------

    def __enter__(self) -> "FakeLlm":
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live(started)), daemon=True)
        self._thread.start()
        started.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _live(self, started: threading.Event | None = None) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self._port, limit=1 << 20)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        if started is None:
            print(self.url, flush=True)
        else:
            started.set()
        await self._stop.wait()
        server.close()
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    # --- HTTP/1.1 --------------------------------------------------------------------------------

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, path, _ = head[0].split(" ", 2)
                pairs = (line.partition(":") for line in head[1:] if line)
                headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
                raw = await self._body(reader, headers)
                if not await self._respond(method, path, headers, raw, writer):
                    return
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client has gone, or the server is told to stop
        finally:
            writer.close()

    @staticmethod
    async def _body(reader: asyncio.StreamReader, headers: Headers) -> bytes:
        if headers.get("transfer-encoding", "") != "chunked":
            return await reader.readexactly(int(headers.get("content-length", 0)))
        chunks = []
        while size := int((await reader.readline()).split(b";")[0], 16):
            chunks.append(await reader.readexactly(size))
            await reader.readexactly(2)
        await reader.readline()
        return b"".join(chunks)

    async def _respond(
        self, method: str, path: str, headers: Headers, raw: bytes, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; False closes the connection."""
        answer = Answer()
        if method == "POST" and is_call(path):
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            try:
                answer, body = self._call(path, headers, raw)
                if answer.delay_s:
                    await asyncio.sleep(answer.delay_s)
            finally:
                self.in_flight -= 1
            status, more = answer.status, dict(answer.headers)
        else:
            status, more, body = self._other(method, path, headers, raw)
        if answer.drop == "before":
            writer.transport.abort()
            return False
        lines = [f"HTTP/1.1 {status} X", f"Content-Type: {answer.kind}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in more.items()]
        head = "\r\n".join([*lines, "", ""]).encode()
        if answer.drop == "middle":
            writer.write(head + body[: len(body) // 2])
            await writer.drain()
            return False
        writer.write(head + body)
        await writer.drain()
        return True

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, path: str, headers: Headers, raw: bytes) -> tuple[Answer, bytes]:
        self.counts["calls"] += 1
        if not self._record:
            question = question_of_bytes(raw)
            self.counts[question] += 1
            return Answer(delay_s=self._delay_s), self._ready(path, headers, raw, question)
        try:
            request = read_request(path, headers, raw, time.monotonic(), self.uploads)
        except Exception as fault:  # a request that breaks the wire format must show in the test
            self.faults.append(f"{type(fault).__name__}: {fault}")
            return Answer(status=400), json.dumps({"error": {"message": repr(fault), "code": 400}}).encode()
        identity = request.identity
        request.attempt = self._seen[identity]
        self._seen[identity] += 1
        self.requests.append(request)
        answer = self.script(request)
        return answer, write_answer(answer, request)

    def _ready(self, path: str, headers: Headers, raw: bytes, question: str) -> bytes:
        """The ready-made body of the question's valid reply; made once."""
        key = (wire_of(path), question)
        if key not in self._ready_made:
            request = read_request(path, headers, raw, time.monotonic(), self.uploads)
            self._ready_made[key] = write_answer(Answer(json.dumps(REPLIES[question])), request)
        return self._ready_made[key]

    # --- files, models, counters -----------------------------------------------------------------

    def _other(self, method: str, path: str, headers: Headers, raw: bytes) -> tuple[int, Headers, bytes]:
        self.counts[f"{method} {re.sub(r'[?].*|(?<=files/).*', '', path)}"] += 1
        place = path.partition("?")[0]
        if place == "/counts":
            return 200, {}, json.dumps({**self.counts, "most_in_flight": self.most_in_flight}).encode()
        if method == "GET" and place.endswith("/models"):
            return (
                200,
                {},
                json.dumps({"object": "list", "data": [{"id": "fake", "object": "model"}]}).encode(),
            )
        if method == "POST" and place.startswith("/upload/"):
            return self._upload(path, headers, raw)
        if found := re.fullmatch(r"/v1(?:beta)?/(files/\w+)", place):
            uri = f"{self.url}/v1beta/{found[1]}"
            if method == "DELETE" and uri in self.uploads:
                self.deleted.append(uri)
                return 200, {}, b"{}"
            if uri in self.uploads:
                self._asked_for[uri] += 1
                return 200, {}, json.dumps(self._file(uri)).encode()
        return 404, {}, json.dumps(error_body(GOOGLE, 404, f"there is no {place}", "NOT_FOUND")).encode()

    def _upload(self, path: str, headers: Headers, raw: bytes) -> tuple[int, Headers, bytes]:
        """Gemini's resumable upload: ``start`` names the place; ``upload`` brings the bytes, in pieces of
        which the last says ``finalize``."""
        command = headers["x-goog-upload-command"]
        if command == "start" and self._refusals:
            status = self._refusals.pop(0)
            if status == 200:  # no place to upload to
                return 200, {"X-Goog-Upload-Status": "active"}, b"{}"
            return status, {}, json.dumps(error_body(GOOGLE, status, "no upload", "REFUSED")).encode()
        if command == "start":
            uri = f"{self.url}/v1beta/files/f{len(self.uploads)}"
            self.uploads[uri] = Audio(headers.get("x-goog-upload-header-content-type", ""), b"", uri)
            place = f"{self.url}/upload/v1beta/files?file={uri}"
            return 200, {"X-Goog-Upload-URL": place, "X-Goog-Upload-Status": "active"}, b"{}"
        uri = path.partition("?file=")[2]
        kept = self.uploads[uri]
        if int(headers["x-goog-upload-offset"]) != len(kept.data):
            self.faults.append(f"upload at {headers['x-goog-upload-offset']} of {len(kept.data)} bytes")
        self.uploads[uri] = replace(kept, data=kept.data + raw)
        if "finalize" not in command:
            return 200, {"X-Goog-Upload-Status": "active"}, b"{}"
        body = json.dumps({"file": self._file(uri)}).encode()
        return 200, {"X-Goog-Upload-Status": "final"}, body

    def _file(self, uri: str) -> dict[str, str]:
        sent = self.uploads[uri]
        ready = self._asked_for[uri] >= self._processing
        return {
            "name": uri.partition("/v1beta/")[2],
            "uri": uri,
            "mimeType": sent.kind,
            "sizeBytes": str(len(sent.data)),
            "state": "ACTIVE" if ready else "PROCESSING",
        }


def question_of_bytes(raw: bytes) -> str:
    """The question, read from the two ends of a body: what lies between is sound."""
    return question_of((raw[:20_000] + raw[-20_000:]).decode(errors="replace"))


def main() -> None:
    parser = argparse.ArgumentParser(description="A fake of Gemini and OpenAI.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds until a call is answered")
    given = parser.parse_args()
    asyncio.run(FakeLlm(port=given.port, record=False, delay_s=given.delay)._live())


if __name__ == "__main__":
    main()
