"""CPU time and agreement of the Fréchet distance with those of the peers, all in one run.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/frechet.py [--width D ...] [--peers PYTHON]

Made-up embeddings whose variances span four decades; twice as many frames as dimensions, then half as many.
``sqrtm`` is the formula of the peers, trace of scipy.linalg.sqrtm(S1 S2); frechet_audio_distance asks for it
in complex numbers, fadtk takes an eigendecomposition on top. PYTHON is that of an environment with numpy < 2
and those two packages, whose own functions are then run up to 512 dimensions. ``apart`` is the relative
difference to the distance from the singular values of the centred frames, which knows no covariance; ``ours +
influence`` is the distance with all that its interval needs but the pass over the frames. A ratio above 1
means that the other takes longer. At 2,048 dimensions a run takes some minutes.
"""

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from earwitness.scores.distances import Frechet, Gaussian, Moments, frechet

PEERS_UP_TO = 512
Frames = NDArray[np.float64]


def embeddings(n: int, width: int) -> tuple[Frames, Frames]:
    rng = np.random.default_rng(width)
    scale = 10 ** np.linspace(0, -2, width)
    mix = np.linalg.qr(rng.standard_normal((width, width)))[0]
    first = rng.standard_normal((n, width)) * scale @ mix
    turned = np.eye(width) + 0.3 / np.sqrt(width) * rng.standard_normal((width, width))
    return first, rng.standard_normal((n, width)) * scale @ mix @ turned + 0.1


def gaussian(frames: Frames) -> Gaussian:
    moments = Moments()
    moments.add(frames)
    return moments.gaussian()


def of_frames(first: Frames, second: Frames) -> float:
    """The distance without a covariance: singular values of the product of the centred frames."""
    means = first.mean(axis=0), second.mean(axis=0)
    a, b = ((x - mean) / np.sqrt(len(x) - 1) for x, mean in zip((first, second), means, strict=True))
    overlap = np.linalg.svd(np.linalg.qr(a).R @ np.linalg.qr(b).R.T, compute_uv=False).sum()
    shift = means[0] - means[1]
    return float(shift @ shift + np.square(a).sum() + np.square(b).sum() - 2 * overlap)


def with_influence(a: Gaussian, b: Gaussian) -> float:
    return Frechet(a, b).value


def by_sqrtm(a: Gaussian, b: Gaussian, kind: type) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of singular matrices, where n < d
        root = scipy.linalg.sqrtm((a.cov @ b.cov).astype(kind))
    shift = a.mean - b.mean
    return float((shift @ shift + np.trace(a.cov) + np.trace(b.cov) - 2 * np.trace(root)).real)


def of_peers(python: str, a: Gaussian, b: Gaussian, rounds: int) -> list[tuple[str, float, float]]:
    """Name, distance and CPU seconds of each."""
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "asked.npz"
        np.savez(asked, mean_a=a.mean, cov_a=a.cov, mean_b=b.mean, cov_b=b.cov)
        peer = Path(__file__).with_name("frechet_peer.py")
        done = subprocess.run(
            [python, str(peer), str(asked), str(rounds)], check=True, capture_output=True, text=True
        )
    return [(name, *found) for name, found in json.loads(done.stdout.splitlines()[-1]).items()]


def measured(job: Callable[[], float], rounds: int) -> tuple[float, float]:
    """What the job gives, and its least CPU time in seconds."""
    spent, value = [], 0.0
    for _ in range(rounds):
        began = time.process_time()
        value = job()
        spent.append(time.process_time() - began)
    return value, min(spent)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, nargs="*", default=[128, 512, 1024, 2048])
    parser.add_argument("--peers", help="Python of the environment of fadtk and frechet_audio_distance")
    given = parser.parse_args(arguments)
    print(f"{'width':>5}{'frames':>8}  {'':34}{'distance':>12}{'apart':>10}{'CPU s':>9}{'ratio':>7}")
    for width in given.width:
        rounds = 3 if width <= PEERS_UP_TO else 1
        for n in (2 * width, width // 2):
            first, second = embeddings(n, width)
            a, b = gaussian(first), gaussian(second)
            true = of_frames(first, second)
            jobs: dict[str, Callable[[], float]] = {
                "ours": partial(frechet, a, b),
                "ours + influence": partial(with_influence, a, b),
                "sqrtm": partial(by_sqrtm, a, b, float),
                "sqrtm, complex": partial(by_sqrtm, a, b, complex),
            }
            found = ((name, *measured(job, rounds)) for name, job in jobs.items())
            peers = of_peers(given.peers, a, b, rounds) if given.peers and width <= PEERS_UP_TO else []
            ours_s = 0.0
            for name, value, cpu_s in chain(found, peers):
                ours_s = ours_s or cpu_s
                print(
                    f"{width:5}{n:8}  {name:34}{value:12.6f}{abs(value - true) / true:10.1e}{cpu_s:9.3f}"
                    f"{cpu_s / ours_s:7.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
