"""What does hearing cost beside the model itself?

200 ten-second clips (44.1 kHz, noise and tones from a seed) are heard twice in one run, in turns of
20: by the listener, fed with files through earwitness.audio as a run does, and bare: decode, downmix,
resample, features and model in a plain loop at the same hop. All times are CPU seconds of this process.

    python benchmarks/hearing.py [--clips 200] [--channels 1]
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import soundfile as sf
import soxr

from earwitness import audio, weights
from earwitness.backbones.yamnet_features import RATE_HZ, log_mel, patches
from earwitness.listeners.base import Call, Hearing
from earwitness.listeners.yamnet import DEFAULT_RULES, Yamnet
from earwitness.questions import QUESTIONS

FILE_RATE_HZ = 44100
SECONDS = 10
BATCH = 16


class TimedSession:
    """A model whose own CPU time is added up, whichever thread calls it."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self.session = session
        self.seconds: list[float] = []

    def run(self, *given: object) -> list[np.ndarray]:
        start = time.thread_time()
        found = self.session.run(*given)
        self.seconds.append(time.thread_time() - start)
        return found


def clip(seed: int, channels: int) -> np.ndarray:
    """(samples, channels): white noise with ten tone bursts."""
    rng = np.random.default_rng(seed)
    t = np.arange(SECONDS * FILE_RATE_HZ) / FILE_RATE_HZ
    samples = 0.02 * rng.standard_normal((len(t), channels))
    for onset in rng.uniform(0, SECONDS - 1, 10):
        tone = np.sin(2 * np.pi * rng.uniform(200, 4000) * t) * ((t > onset) & (t < onset + 0.7))
        samples += 0.2 * tone[:, np.newaxis]
    return samples


def calls(paths: Sequence[Path]) -> Iterator[Call]:
    for path in paths:
        yield Call(str(path), (audio.read(path),), QUESTIONS["events"])


def bare(session: onnxruntime.InferenceSession, path: Path) -> np.ndarray:
    samples, rate = sf.read(path, dtype="float32", always_2d=True)
    mono = soxr.resample(samples.mean(axis=1), rate, RATE_HZ, quality="HQ")
    views = patches(log_mel(mono, DEFAULT_RULES.hop_frames), DEFAULT_RULES.hop_frames)
    starts = range(0, len(views), BATCH)
    return np.concatenate(
        [session.run(["logits"], {"patches": np.ascontiguousarray(views[i : i + BATCH])})[0] for i in starts]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clips", type=int, default=200)
    parser.add_argument("--channels", type=int, default=1)
    given = parser.parse_args()
    count = given.clips
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(weights.yamnet().model), options)
    listener = Yamnet()
    network = listener._model.network
    timed = network._session = TimedSession(network._session)
    heard_cpu = bare_cpu = heard_wall = 0.0
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{seed}.wav" for seed in range(count)]
        for seed, path in enumerate(paths):
            sf.write(path, clip(seed, given.channels), FILE_RATE_HZ)
        bare(session, paths[0])
        list(listener.hear(calls(paths[:2])))
        timed.seconds.clear()
        for start in range(0, count, 20):
            turn = paths[start : start + 20]
            wall, cpu = time.perf_counter(), time.process_time()
            answers = list(listener.hear(calls(turn)))
            heard_cpu += time.process_time() - cpu
            heard_wall += time.perf_counter() - wall
            if not all(isinstance(answer, Hearing) for _, answer in answers):
                raise RuntimeError("a clip was not heard")
            cpu = time.process_time()
            for path in turn:
                bare(session, path)
            bare_cpu += time.process_time() - cpu
    inside = sum(timed.seconds)
    seconds = count * SECONDS
    print(f"{count} clips of {SECONDS} s, hop {DEFAULT_RULES.hop_s} s; CPU seconds")
    print(f"listener {heard_cpu:.2f}, of which inside the model {inside:.2f}; bare {bare_cpu:.2f}")
    print(f"share of CPU inside the model {inside / heard_cpu:.3f} (aim: at least 0.70)")
    print(f"listener / bare {heard_cpu / bare_cpu:.3f} (aim: at most 1.5)")
    print(f"{seconds / heard_cpu:.0f} x real time on one core, {seconds / heard_wall:.0f} x as run")


if __name__ == "__main__":
    main()
