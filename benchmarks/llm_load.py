"""Thousands of calls to a slow judge: wall time, CPU a call, memory, and what a kill in the middle costs.

Run: python benchmarks/llm_load.py [--calls 3000] [--wire openai|google] [--shape order|distinct]

The server of the tests (tests/fake_llm.py) runs in a process of its own and answers every call after two
seconds; the client is the real runner with the real ledger and provider clients, on ten-second clips at
16 kHz. ``order`` asks as the order task does, three repeats for a caption and its reversal about each clip;
``distinct`` asks once about every clip. Limits: wall time 1.3 times the ideal (calls x delay / in flight),
25 ms CPU a call, memory flat from 500 calls on; killed half-way and resumed, the server sees at most as many
calls as there are, and those that were in flight.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from earwitness import audio, runner
from earwitness.ledger import Ledger, StoredItem
from earwitness.listeners import open_listener
from earwitness.listeners.llm_options import LlmOptions
from earwitness.manifest import Item
from earwitness.questions import QUESTIONS
from earwitness.runner import Ask

SERVER = Path(__file__).resolve().parents[1] / "tests" / "fake_llm.py"
RATE_HZ, SECONDS = 16_000, 10
CAPTIONS = {"caption": "A dog barks, then a car honks", "reversed": "A car honks, then a dog barks"}
REPEATS = 3
NAMES = {"openai": "openai:gpt-audio", "google": "google:gemini-2.5-pro"}
EARLY = 500
"""Calls after which memory is expected to stay as it is."""


def plan(shape: str) -> runner.Plan:
    if shape == "distinct":
        return lambda stored: [Ask("caption", "alignment", {"caption": CAPTIONS["caption"]})]
    asks = [
        Ask(side, "alignment", {"caption": caption}, repeat)
        for repeat in range(REPEATS)
        for side, caption in CAPTIONS.items()
    ]
    return lambda stored: asks


def write_clips(folder: Path, shape: str, calls: int) -> None:
    folder.mkdir()
    rng = np.random.default_rng(0)
    for index in range(calls if shape == "distinct" else calls // (REPEATS * len(CAPTIONS))):
        samples = rng.uniform(-0.3, 0.3, (1, RATE_HZ * SECONDS)).astype(np.float32)
        audio.write_wav(folder / f"{index:05d}.wav", samples, RATE_HZ)


# --- the client, in a process of its own -----------------------------------------------------------


def rss_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def client(given: argparse.Namespace) -> None:
    """Hear all there is to hear, and print what that took."""
    folder = Path(given.client)
    base_url = given.url + ("/v1" if given.wire == "openai" else "")
    options = LlmOptions(base_url=base_url, in_flight=given.in_flight, timeout_s=600.0)
    listener = open_listener(NAMES[given.wire], llm=options)
    items = [
        Item(system="a", sample_id=path.stem, audio=path, caption=CAPTIONS["caption"])
        for path in sorted((folder / "clips").iterdir())
    ]
    memory: dict[int, float] = {}

    def watch(done: int, total: int, spent: float | None) -> None:
        if done % 100 == 0:
            memory[done] = rss_mib()

    begun_s, cpu_s = time.monotonic(), cpu()
    with Ledger.create(folder / "run" / "ledger.sqlite") as ledger:
        ledger.begin({}, items)
        counts = runner.run(ledger, listener, plan(given.shape), QUESTIONS, seed=0, progress=watch)
    took_s = time.monotonic() - begun_s
    print(
        json.dumps(
            {"wall_s": took_s, "cpu_s": cpu() - cpu_s, "asked": counts.asked, "unheard": counts.unheard}
            | {"memory": memory}
        )
    )


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


# --- server and runs -------------------------------------------------------------------------------


@contextmanager
def served(delay_s: float) -> Iterator[str]:
    command = [sys.executable, str(SERVER), "--delay", str(delay_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def seen(url: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{url}/counts") as answer:
        counts: dict[str, int] = json.load(answer)
    return counts


def start(folder: Path, url: str, given: argparse.Namespace) -> "subprocess.Popen[str]":
    words = ["--client", folder, "--url", url, "--wire", given.wire, "--shape", given.shape]
    words += ["--in-flight", given.in_flight]
    keys = {"OPENAI_API_KEY": "none", "GOOGLE_API_KEY": "none"}
    command = [sys.executable, __file__, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | keys)


def finished(process: "subprocess.Popen[str]") -> dict[str, Any]:
    out, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"the client ended with status {process.returncode}")
    told: dict[str, Any] = json.loads(out)
    return told


def rows(folder: Path) -> tuple[int, int]:
    """Answers that the ledger holds, and how many different hearings they are."""
    with Ledger.read(folder / "run" / "ledger.sqlite") as ledger:
        links = [h for stored in ledger.items() for h in _links(ledger, stored)]
        return len(links), sum(ledger.served().values())


def _links(ledger: Ledger, stored: StoredItem) -> list[tuple[str, int]]:
    return [(h.side, h.repeat) for h in ledger.heard(stored.item_id) if not h.reason]


def verdict(value: float, limit: float) -> str:
    return f"{value:.2f} (limit {limit:g}): {'met' if value <= limit else 'MISSED'}"


def whole(folder: Path, given: argparse.Namespace) -> None:
    with served(given.delay) as url:
        told = finished(start(folder, url, given))
        counts = seen(url)
    calls = told["asked"]
    ideal_s = calls * given.delay / given.in_flight
    print(f"{calls} calls over the {given.wire} wire, {told['unheard']} unheard, {counts['calls']} seen")
    print(f"most in flight at the server: {counts['most_in_flight']} of {given.in_flight}")
    print(
        f"wall time {told['wall_s']:.1f} s, ideal {ideal_s:.1f} s: {verdict(told['wall_s'] / ideal_s, 1.3)}"
    )
    print(f"CPU a call, ms: {verdict(1000 * told['cpu_s'] / calls, 25)}")
    memory = {int(done): mib for done, mib in told["memory"].items()}
    early, last = memory.get(min(EARLY, max(memory)), 0.0), memory[max(memory)]
    print(f"memory: {early:.0f} MiB after {EARLY}, {last:.0f} MiB at the end: {verdict(last / early, 1.1)}")


def killed(folder: Path, given: argparse.Namespace) -> None:
    with served(given.delay) as url:
        first = start(folder, url, given)
        while seen(url).get("calls", 0) < given.calls // 2:
            time.sleep(0.1)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        before, kept = seen(url)["calls"], rows(folder)[0]
        finished(start(folder, url, given))
        total = seen(url)["calls"]
    links, hearings = rows(folder)
    print(f"killed after {before} calls, {kept} answers kept; then {total - before} more calls")
    most = given.calls + given.in_flight
    print(f"calls in all {total} (limit {most}): {'met' if total <= most else 'MISSED'}")
    right = links == hearings == given.calls
    print(f"rows {links}, different hearings {hearings}: {'none lost or doubled' if right else 'WRONG'}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=3000, help="a multiple of 6")
    parser.add_argument("--wire", choices=sorted(NAMES), default="openai")
    parser.add_argument("--shape", choices=("order", "distinct"), default="order")
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--delay", type=float, default=2.0)
    parser.add_argument("--no-kill", action="store_true", help="leave out the run that is killed")
    parser.add_argument("--client", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.client:
        client(given)
        return
    with tempfile.TemporaryDirectory() as name:
        write_clips(Path(name) / "clips", given.shape, given.calls)
        whole(Path(name), given)
        if not given.no_kill:
            (Path(name) / "run").rename(Path(name) / "whole")
            killed(Path(name), given)


if __name__ == "__main__":
    main()
