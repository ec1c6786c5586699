"""The whole RiTTA test set from a bank: wall time, CPU, memory against a smaller set, kill and resume.

    python benchmarks/ritta_make.py [BANK] [--per-relation 91 720] [--folder DIR]

Two workers throughout. Limits: peak memory (resident sets of the command and its workers, summed, sampled ten
times a second) of the larger set at most 1.2 times that of the smaller; the command killed (SIGKILL to it
alone) when half of the mixes are there and started again leaves the same files, byte for byte, as a run that
was not, with nothing made twice but what was under way. Takes about 3 GB in the folder (the temporary one by
default), and removes it at the end.
"""

import argparse
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from earwitness.scores.relations import RELATIONS

CLIPS = Path(__file__).resolve().parents[2] / "shared" / "data" / "clips"
MEMORY_LIMIT = 1.2
WORKERS = 2
IN_FLIGHT = 2 * WORKERS
"""Mixes that may be there without their scene file when the command is killed, and are made again."""


@dataclass(frozen=True, slots=True)
class Run:
    wall_s: float
    cpu_s: float
    peak_mib: float
    processes: int
    status: int
    told: str


def tree(pid: int) -> Iterator[int]:
    """A process and all that descend from it, as far as they are still there."""
    yield pid
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from tree(int(child))
    except (FileNotFoundError, ProcessLookupError):
        return


def resident_mib(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return pages * resource.getpagesize() / 2**20


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def make(bank: Path, data: Path, per_relation: int, stop: Callable[[], bool] = lambda: False) -> Run:
    """Run ``bench ritta make`` to its end, or until ``stop`` says that it is to be killed."""
    words = ["bench", "ritta", "make", "--bank", bank, "--split", "test", "--seed", 0, "-o", data]
    words += ["--per-relation", per_relation, "--workers", WORKERS]
    command = [sys.executable, "-m", "earwitness", *map(str, words)]
    peak, most, before, begun = 0.0, 0, cpu_s(), time.monotonic()
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(command, stdout=told, stderr=subprocess.STDOUT, text=True)
        while process.poll() is None:
            family = list(tree(process.pid))
            peak = max(peak, sum(map(resident_mib, family)))
            most = max(most, len(family))
            if stop():
                process.send_signal(signal.SIGKILL)
                process.wait()
                wait_for(family[1:])
            time.sleep(0.1)
        told.seek(0)
        text = told.read()
    wall_s = time.monotonic() - begun
    return Run(wall_s, cpu_s() - before, peak, most, process.returncode, text)


def wait_for(pids: list[int], patience_s: float = 30.0) -> None:
    """Workers are to notice that they are alone."""
    begun = time.monotonic()
    while alive := [pid for pid in pids if Path(f"/proc/{pid}").exists()]:
        if (waited := time.monotonic() - begun) > patience_s:
            for pid in alive:
                os.kill(pid, signal.SIGKILL)
            print(f"{len(alive)} workers outlived the command by {waited:.0f} s and were killed: WRONG")
            return
        time.sleep(0.1)


def mixes(data: Path) -> int:
    """Whole ones: a file is written under another name first."""
    folder = data / "audio"
    return sum(path.suffix == ".wav" for path in folder.iterdir()) if folder.is_dir() else 0


def hashes(data: Path) -> dict[str, str]:
    files = (path for path in sorted(data.rglob("*")) if path.is_file())
    return {str(path.relative_to(data)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def size_gib(data: Path) -> float:
    return sum(path.stat().st_size for path in data.rglob("*") if path.is_file()) / 2**30


def finished(run: Run, clips: int) -> Run:
    if run.status:
        raise SystemExit(f"bench ritta make ended with status {run.status}:\n{run.told}")
    print(
        f"{clips} clips: wall {run.wall_s:.1f} s, CPU {run.cpu_s:.1f} s ({1000 * run.cpu_s / clips:.1f} ms a "
        f"clip), peak {run.peak_mib:.0f} MiB in {run.processes} processes"
    )
    return run


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bank", nargs="?", type=Path, default=CLIPS)
    parser.add_argument("--per-relation", type=int, nargs=2, default=(91, 720), metavar=("FEW", "MANY"))
    parser.add_argument("--folder", type=Path, help="where the sets are made")
    given = parser.parse_args()
    few, many = given.per_relation
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        data = Path(name) / "data"
        small = finished(make(given.bank, data, few), few * len(RELATIONS))
        shutil.rmtree(data)
        clips = many * len(RELATIONS)
        large = finished(make(given.bank, data, many), clips)
        print(f"{size_gib(data):.2f} GiB in {len(hashes(data))} files")
        ratio = large.peak_mib / small.peak_mib
        verdict = "met" if ratio <= MEMORY_LIMIT else "MISSED"
        print(f"memory, larger over smaller: {ratio:.2f} (limit {MEMORY_LIMIT}): {verdict}")
        whole = hashes(data)
        shutil.rmtree(data)
        killed = make(given.bank, data, many, stop=lambda: mixes(data) >= clips // 2)
        there = mixes(data)
        print(f"killed with {there} of {clips} mixes there (status {killed.status})")
        made = {path: path.stat().st_mtime_ns for path in (data / "audio").iterdir() if path.suffix == ".wav"}
        finished(make(given.bank, data, many), clips - there)
        again = sum(path.stat().st_mtime_ns != then for path, then in made.items())
        print(f"mixes made again: {again} of the {there} that were there")
        resumed = hashes(data)
        differ = sorted(path for path in {*whole, *resumed} if whole.get(path) != resumed.get(path))
        print(f"files that differ from the run that was not killed: {len(differ)} {differ[:5]}")
        print("same bytes, nothing doubled" if not differ and again <= IN_FLIGHT else "WRONG")


if __name__ == "__main__":
    main()
