"""Do distances put damaged copies of real clips in the right order?

Every clip of a folder is damaged by seed in three ways at three strengths: white noise, a low-pass filter,
and pieces of the clip in another order. Pieces that are cut and stay where they are show what the joints do;
clips whose halves change places, what order does.
Each copy is held against the clean set, clip by clip paired; two halves of the clean set show what so few
clips do by themselves. Within a kind more damage should be farther, and every copy beyond the halves; where
that is not so, it is said.

    python benchmarks/degraded.py FOLDER [--limit N] [--backbone NAME --weights FILE]
"""

import argparse
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import scipy.signal
import soundfile
from numpy.typing import NDArray

import earwitness
from earwitness import audio
from earwitness.manifest.folder import from_folder
from earwitness.tasks.distances import ALL, FLOOR

Samples = NDArray[np.float64]
FADE_S = 0.005  # at the ends of a piece, so that joints do not click
METRICS = ("fad", "fd", "kad")


def noisy(samples: Samples, rate_hz: int, rng: np.random.Generator, *, snr_db: float) -> Samples:
    level = np.sqrt(np.mean(samples**2)) * 10 ** (-snr_db / 20)
    made: Samples = samples + level * rng.standard_normal(samples.shape)
    return made


def dull(samples: Samples, rate_hz: int, rng: np.random.Generator, *, cutoff_hz: float) -> Samples:
    sections = scipy.signal.butter(8, cutoff_hz, fs=rate_hz, output="sos")
    filtered: Samples = scipy.signal.sosfiltfilt(sections, samples, axis=1)
    return filtered


def shuffled(
    samples: Samples, rate_hz: int, rng: np.random.Generator, *, piece_s: float, moved: bool = True
) -> Samples:
    size, fade = round(piece_s * rate_hz), round(FADE_S * rate_hz)
    pieces = [samples[:, at : at + size].copy() for at in range(0, samples.shape[1], size)]
    ramp = np.sin(np.linspace(0, np.pi / 2, fade)) ** 2
    for piece in pieces:
        if piece.shape[1] > 2 * fade:
            piece[:, :fade] *= ramp
            piece[:, -fade:] *= ramp[::-1]
    order = rng.permutation(len(pieces)) if moved else range(len(pieces))
    return np.concatenate([pieces[index] for index in order], axis=1)


def exchanged(samples: Samples, rate_hz: int, rng: np.random.Generator) -> Samples:
    """The second half before the first: every order of sounds in the two is turned round."""
    middle, fade = samples.shape[1] // 2, round(FADE_S * rate_hz)
    ramp = np.sin(np.linspace(0, np.pi / 2, fade)) ** 2
    halves = [samples[:, middle:].copy(), samples[:, :middle].copy()]
    halves[0][:, -fade:] *= ramp[::-1]
    halves[1][:, :fade] *= ramp
    return np.concatenate(halves, axis=1)


KINDS: dict[str, dict[str, Callable[..., Samples]]] = {
    "noise": {f"noise, SNR {db} dB": partial(noisy, snr_db=db) for db in (20, 10, 0)},
    "low-pass": {f"low-pass, {hz / 1000:g} kHz": partial(dull, cutoff_hz=hz) for hz in (6000, 3000, 1500)},
    "shuffled": {f"shuffled, {s:g} s pieces": partial(shuffled, piece_s=s) for s in (1.0, 0.5, 0.25)},
    "cut": {f"cut, not moved, {s:g} s": partial(shuffled, piece_s=s, moved=False) for s in (1.0, 0.5, 0.25)},
    "exchanged": {"halves exchanged": exchanged},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--backbone", default="yamnet")
    parser.add_argument("--weights", type=Path)
    given = parser.parse_args()
    clips = from_folder(given.folder).items[: given.limit]
    with tempfile.TemporaryDirectory() as temporary:
        folders = {"clean": Path(temporary) / "clean"}
        for number, clip in enumerate(clips):
            heard = audio.read(clip.audio)
            samples = heard.samples.astype(np.float64)
            copies = {name: change for kind in KINDS.values() for name, change in kind.items()}
            for at, (name, change) in enumerate({"clean": lambda s, *_: s, **copies}.items()):
                folder = folders.setdefault(name, Path(temporary) / str(at))
                folder.mkdir(exist_ok=True)
                made = change(samples, heard.rate_hz, np.random.default_rng([number, at]))
                # float files hold what goes beyond full scale
                soundfile.write(folder / f"{number}.wav", made.T, heard.rate_hz, subtype="FLOAT")
        reference = folders.pop("clean")
        found = earwitness.distance(
            reference, folders, metrics=METRICS, backbone=given.backbone, weights=given.weights
        ).distances
    rows = {(row.system, row.metric): row for row in found.rows if row.part == ALL}
    print(f"{len(clips)} clips, {found.recipe.backbone} {found.recipe.version}")
    for system in (*folders, FLOOR):
        cells = []
        for metric in METRICS:
            row = rows[system, metric]
            shown = "--" if row.value is None else f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}]"
            cells.append(shown.rjust(28))
        print(system.ljust(24), *cells)
    for metric in METRICS:
        values = {
            name: row.value for name in (*folders, FLOOR) if (row := rows[name, metric]).value is not None
        }
        if FLOOR in values:
            judge(metric, values)
        else:
            print(f"{metric}: {rows[FLOOR, metric].reason}")


def judge(metric: str, values: Mapping[str, float]) -> None:
    """Whether the order is as it should be."""
    for kind, copies in KINDS.items():
        if len(copies) == 1:
            continue
        each = [values[name] for name in copies]
        print(
            f"{metric}, {kind}: more damage is {'' if each == sorted(each) else 'NOT '}farther at every step"
        )
    worst = max(values[name] for name in KINDS["shuffled"])
    others = [name for kind in ("noise", "low-pass") for name in KINDS[kind] if values[name] < worst]
    print(f"{metric}: not farther than the worst shuffled copy: {', '.join(others) or 'none'}")
    within = [name for name in values if name != FLOOR and values[name] <= values[FLOOR]]
    print(f"{metric}: within two halves of the clean set: {', '.join(within) or 'none'}")


if __name__ == "__main__":
    main()
