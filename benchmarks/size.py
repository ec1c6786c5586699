"""Start-up and memory: CPU seconds of ``earwitness --help``, peak memory at 1,000 and 10,000 items.

Run: python benchmarks/size.py [--items 1000 10000]

Limits: --help under 0.4 s CPU; the peak of the whole judge command (hearing with the embedded
listener, scoring, page, tables, figures) at the larger run at most 1.2 times that at the smaller.
Clips are different one-second noises with a tone, so nothing is heard twice.
"""

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import soundfile

RATE_HZ = 16_000
PROMPTS = ("A dog barking followed by a siren", "A baby crying, then a bird chirping")


def help_cpu_s(repeats: int = 5) -> float:
    """The best of a few runs: noise on a shared machine only adds."""
    times = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "earwitness", "--help"], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def write_items(folder: Path, count: int) -> Path:
    """Clips of three systems and their manifest."""
    (folder / "clips").mkdir(parents=True)
    rng = np.random.default_rng(0)
    time = np.arange(RATE_HZ) / RATE_HZ
    path = folder / "manifest.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["audio", "system", "sample_id", "caption"])
        for index in range(count):
            tone = 0.2 * np.sin(2 * np.pi * rng.uniform(200, 4000) * time)
            name = f"clips/{index}.wav"
            soundfile.write(folder / name, tone + rng.normal(0, 0.02, RATE_HZ), RATE_HZ)
            prompt = f"{PROMPTS[index % 2]} {index // 3}"
            writer.writerow([name, f"system{index % 3}", index // 3, prompt])
    return path


MEASURE = """
import resource, runpy, sys
sys.argv = sys.argv[1:]
try:
    runpy.run_module("earwitness", run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
finally:
    print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def peak_mib(count: int) -> float:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        manifest = write_items(folder, count)
        words = ["earwitness", "judge", "order", str(manifest), "-o", str(folder / "run")]
        command = [sys.executable, "-c", MEASURE, *words]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(ran.stderr.split("peak")[-1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs=2, default=(1_000, 10_000), metavar=("FEW", "MANY"))
    few, many = parser.parse_args().items
    seconds = help_cpu_s()
    print(f"earwitness --help: {seconds:.2f} s CPU (limit 0.40): {'met' if seconds < 0.4 else 'MISSED'}")
    small, large = peak_mib(few), peak_mib(many)
    print(f"peak memory: {small:.0f} MiB at {few} items, {large:.0f} MiB at {many}")
    print(f"ratio {large / small:.2f} (limit 1.20): {'met' if large <= 1.2 * small else 'MISSED'}")


if __name__ == "__main__":
    main()
