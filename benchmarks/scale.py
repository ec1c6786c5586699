"""What a million ten-second clips cost: CPU a clip by stage, bytes a clip, and what Ray adds to it.

    OMP_NUM_THREADS=1 python benchmarks/scale.py [--clips 300] [--items 20000] [--listener MODEL ...] [--ray]

Clips are ordered pairs of the built-in bank, 10 s at 16 kHz. Every stage does some clips and then three times
as many; the difference of the two is what a clip costs, without the start. All of a stage is done in this
process, whose own CPU seconds are counted; wall time is not used.
``--ray`` gives the same clips to this process and to one worker of a cluster of this machine. The worker
states its own CPU seconds with every result, so none are missed, and those of the command and of Ray's
daemons, which live from before to after, are counted beside them: the ratio is what Ray adds, and the
command's share says how many clips a second it can feed to a cluster.
``--items`` is the number of tiny clips that a scripted listener hears in one run: CPU of its tenths, bytes of
the ledger and peak memory, to see whether a clip costs the same at the end as at the beginning.
"""

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from earwitness import audio, runner, workers_ray
from earwitness.backbones import open_backbone
from earwitness.backbones.embedding import _Work, embedded
from earwitness.ledger import Ledger
from earwitness.listeners import open_listener
from earwitness.listeners.base import Call, Listener
from earwitness.listeners.llm_cost import expected
from earwitness.listeners.llm_options import LlmOptions
from earwitness.listeners.on_ray import _BATCH, _Ear
from earwitness.manifest import Item
from earwitness.questions import QUESTIONS
from earwitness.questions.alignment import ALIGNMENT
from earwitness.runner import Ask
from earwitness.scenes import dataset, order_pairs
from earwitness.scenes.bank import Bank
from earwitness.workers import AHEAD, CHUNK

MILLION = 1_000_000
SECONDS = 10.0
JUDGES = (("google", "gemini-2.5-pro"), ("google", "gemini-2.5-flash"), ("openai", "gpt-audio"))
_TICK = os.sysconf("SC_CLK_TCK")


def own_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def daemons_cpu_s() -> float:
    """CPU seconds of every process below this one that is no worker of Ray's."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        stats[int(path.parent.name)] = name, int(fields[1]), (int(fields[11]) + int(fields[12])) / _TICK
    total = 0.0
    for pid, (name, _, used) in stats.items():
        above = pid
        while above in stats and above != os.getpid():
            above = stats[above][1]
        if above == os.getpid() and pid != os.getpid() and not name.startswith("ray::"):
            total += used
    return total


def per_clip(stage: Callable[[int, Path], object], clips: int) -> float:
    """CPU seconds of a clip in this process: of 3 n clips less those of n, over 2 n."""
    used = []
    with tempfile.TemporaryDirectory() as folder:
        for count in (clips, 3 * clips):
            before = own_cpu_s()
            stage(count, Path(folder) / str(count))
            used.append(own_cpu_s() - before)
    return (used[1] - used[0]) / (2 * clips)


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# --- stages ----------------------------------------------------------------------------------------


def render(count: int, folder: Path) -> None:
    recipe = order_pairs.recipe(Bank.builtin(12), pairs=count // 2)
    dataset.write(folder, recipe, recipe.bank, workers=1)


def hear(files: Sequence[Path], folder: Path, listener: Listener) -> None:
    """A run into a ledger, as a task would make it, without its report."""
    folder.mkdir(parents=True, exist_ok=True)
    items = [Item("a", path.stem, path, caption="a dog barks") for path in files]
    with Ledger.create(folder / "ledger.sqlite") as ledger:
        ledger.begin({}, items)
        runner.run(ledger, listener, lambda stored: [Ask("clip", "events")], QUESTIONS, seed=0)


def embed(files: Sequence[Path]) -> None:
    for _ in embedded(files, open_backbone("yamnet"), workers=1, cache=False):
        pass


def cached_bytes(files: Sequence[Path], folder: Path) -> float:
    """Bytes that the cache keeps of a clip's embeddings."""
    before = os.environ.get("EARWITNESS_CACHE")
    backbone = open_backbone("yamnet")
    backbone.ready()
    os.environ["EARWITNESS_CACHE"] = str(folder)
    for _ in embedded(files, backbone, workers=1):
        pass
    if before is None:
        del os.environ["EARWITNESS_CACHE"]
    else:
        os.environ["EARWITNESS_CACHE"] = before
    return size(folder / "embeddings") / len(files)


# --- a long run ------------------------------------------------------------------------------------


def script(folder: Path) -> str:
    path = folder / "answers.jsonl"
    events = [{"label": "Dog", "onset_s": 0.0, "offset_s": 0.02, "confidence": None}]
    line = {"pcm_hash": "*", "question": "events", "reply": {"events": events, "duration_s": 0.03}}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return f"scripted:{path}"


def tiny_clips(folder: Path, count: int) -> list[Path]:
    rng = np.random.default_rng(0)
    paths = []
    for number in range(count):
        path = folder / f"{number // 1000:04d}" / f"{number:07d}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        audio.write_wav(path, rng.uniform(-0.5, 0.5, (1, 240)).astype(np.float32), 8000)
        paths.append(path)
    return paths


def long_run(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = tiny_clips(folder / "clips", count)
        listener, marks = open_listener(script(folder)), [own_cpu_s()]
        items = [Item("a", path.stem, path, caption="a dog barks") for path in paths]
        with Ledger.create(folder / "run" / "ledger.sqlite") as ledger:
            ledger.begin({}, items)
            marks.append(own_cpu_s())

            def progress(done: int, total: int, spent: float | None) -> None:
                if done and done % (total // 10) == 0:
                    marks.append(own_cpu_s())

            runner.run(
                ledger, listener, lambda s: [Ask("clip", "events")], QUESTIONS, seed=0, progress=progress
            )
        tenths = [10e3 * (after - before) / count for before, after in pairwise(marks[1:])]
        kept = (ledger.path.stat().st_size) / count
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(
        f"long run of {count:,} clips of 30 ms, scripted: {1e3 * (marks[1] - marks[0]) / count:.2f} ms a clip"
    )
    print(f"  to begin; then, by tenths of the run: {' '.join(f'{one:.2f}' for one in tenths)} ms a clip")
    print(f"  ledger {kept:,.0f} bytes a clip; peak memory {peak:,.0f} MiB")


# --- all ---------------------------------------------------------------------------------------------


def show(name: str, cpu_s: float, more: str = "") -> None:
    hours = MILLION * cpu_s / 3600
    print(f"{name:<24} {1e3 * cpu_s:7.2f} ms CPU a clip, {hours:6.1f} CPU hours a million{more}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--clips", type=int, default=300, help="of the smaller turn of a stage")
    parser.add_argument("--items", type=int, default=20_000, help="of the long run; 0 for none")
    parser.add_argument("--listener", action="append", default=[], help="another one to time")
    parser.add_argument("--ray", action="store_true", help="measure what Ray adds")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        render(6 * given.clips, folder / "set")
        files = sorted((folder / "set" / "audio").iterdir())
        sound, every = (size(place) / len(files) for place in (folder / "set" / "audio", folder / "set"))
        print(f"a clip on disk: {sound:,.0f} bytes of audio, {every - sound:,.0f} of truth and tables")
        show("render, with its files", per_clip(render, given.clips))
        heard = ["yamnet", script(folder), *given.listener]
        for listener in heard:
            ear = open_listener(listener, workers=1)
            ear.ready()
            cpu = per_clip(lambda n, to, ear=ear: hear(files[:n], to, ear), given.clips)
            hear(files[:100], folder / listener.replace("/", "_"), ear)
            kept = (folder / listener.replace("/", "_") / "ledger.sqlite").stat().st_size
            show(f"hear, {listener.partition(':')[0]}", cpu, f"; ledger {kept / 100:,.0f} bytes a clip")
        cpu = per_clip(lambda n, to: embed(files[:n]), given.clips)
        show("embed, yamnet", cpu, f"; cache {cached_bytes(files[:50], folder / 'cache'):,.0f} bytes a clip")
        if given.ray:
            on_ray(files, given.clips)
    for provider, model in JUDGES:
        words = ALIGNMENT.words({"caption": "A dog barks, then a car honks"})
        cost = expected(provider, model, LlmOptions(), words, SECONDS).get("cost_usd")
        price = "no price known" if cost is None else f"{cost:.5f} USD, {MILLION * cost:,.0f} USD a million"
        print(f"a call to {model}: {price}")
    if given.items:
        long_run(given.items)


@dataclass
class Metered:
    """Some work, and beside what it gives the CPU seconds that its process had used by then."""

    work: Callable[[Sequence[Any]], Any]

    def __call__(self, keys: Sequence[Any]) -> tuple[Any, float]:
        return self.work(keys), time.process_time()


def on_ray(files: Sequence[Path], clips: int) -> None:
    """The same clips by this process and by one worker of a cluster that is up already."""

    def read(path: Path) -> Call:
        return Call(path.stem, (audio.read(path),), QUESTIONS["events"])

    jobs: dict[str, tuple[Callable[[Sequence[Any]], Any], Callable[[Path], Any], int]] = {
        "hear, yamnet": (_Ear("yamnet", None), read, _BATCH),
        "embed, yamnet": (_Work(open_backbone("yamnet"), None), Path, CHUNK),
    }

    def here(work: Callable[..., Any], keys: Iterator[Any], at_a_time: int) -> None:
        while chunk := list(islice(keys, at_a_time)):
            work(chunk)

    def there(work: Callable[..., Any], keys: Iterator[Any], at_a_time: int) -> tuple[float, float, float]:
        own, daemons, worker = own_cpu_s(), daemons_cpu_s(), 0.0
        for part in workers_ray.on_ray(Metered(work), keys, 1, at_a_time=at_a_time, ahead=AHEAD):
            _, worker = part.given()
        return worker, own_cpu_s() - own, daemons_cpu_s() - daemons

    for name, (work, key, at_a_time) in jobs.items():
        with workers_ray._cluster(1):
            few, many = (there(work, map(key, files[:count]), at_a_time) for count in (clips, 3 * clips))
        worker, driver, daemons = ((more - less) / (2 * clips) for less, more in zip(few, many, strict=True))
        alone = per_clip(
            lambda n, to, work=work, key=key, by=at_a_time: here(work, map(key, files[:n]), by), clips
        )
        added = (worker + driver + daemons) / alone
        print(
            f"{name}, {2 * clips} clips: {1e3 * alone:.1f} ms CPU a clip in one process; on Ray the worker's"
        )
        print(
            f"  {1e3 * worker:.1f}, the command's {1e3 * driver:.1f}, the daemons' {1e3 * daemons:.1f}: "
            f"{added:.2f} times; the command feeds {1 / driver:,.0f} clips a second of its CPU",
            flush=True,
        )


if __name__ == "__main__":
    main()
