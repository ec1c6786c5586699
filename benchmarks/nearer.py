"""How often the interval of a difference of two sets holds the truth, and how often its test is wrong.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/nearer.py [--runs N] [--case WORD ...]

Made-up clips of ten Gaussian frames, a part of whose variance (0.4) is between clips. Paired: half of what is
between clips is the prompt's, and shared by both sets and the reference. ``alike``: all three sets are of one
distribution. ``off``: both sets differ from the reference, but not from each other (scale 1.15, shift 0.1).
``farther``: the second is farther (scale 1.2, shift 0.15). Then sets of one distribution of frames of which
one has more clips, fewer frames, or frames that are more alike within a clip: in FAD none of that is a
difference (in KAD the last is one, as clips' means then differ). Truth is the difference of the
distributions, in ``farther`` the mean of the runs. Printed are the share of runs without a difference, that
in which the interval held the truth, and that in which p < 0.05; of FAD as it is, of FAD as it is compared
(bias taken off), and of KAD.
"""

import argparse
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from earwitness.scores.distances import Frechet, Gaussian, Moments, frechet
from earwitness.scores.kernel_distance import Kernel, kernel_distance
from earwitness.scores.set_differences import (
    GROUPS,
    HALVES,
    LEAVING,
    Difference,
    Split,
    difference,
    jackknifed,
    unbiased_difference,
)

Clips = NDArray[np.float64]
"""(clips, frames, width)."""
Found = Difference | str | None


@dataclass(frozen=True)
class Kind:
    """What a set is drawn from, and how much of it."""

    clips: int
    scale: float = 1.0
    shift: float = 0.0
    frames: int = 10
    between: float = 0.4

    def drawn(self, rng: np.random.Generator, prompts: Clips | None, width: int) -> Clips:
        of_clips = rng.standard_normal((self.clips, 1, width))
        if prompts is not None:
            of_clips = np.sqrt(0.5) * (prompts[: self.clips] + of_clips)
        rows = np.sqrt(self.between) * of_clips
        rows = rows + np.sqrt(1 - self.between) * rng.standard_normal((self.clips, self.frames, width))
        made: Clips = rows * np.linspace(1, 0.2, width) * self.scale + self.shift
        return made


def gaussian(clips: Clips) -> Gaussian:
    moments = Moments()
    moments.add(clips.reshape(-1, clips.shape[-1]))
    return moments.gaussian()


def split(clips: Clips, reference: Clips, value: float) -> Split:
    def of(kept: tuple[int, ...]) -> float:
        sides = (side[np.isin(np.arange(len(side)) % GROUPS, kept)] for side in (clips, reference))
        return frechet(*map(gaussian, sides))

    return Split(value, tuple(map(of, LEAVING)), tuple(map(of, HALVES)))


def once(rng: np.random.Generator, width: int, paired: bool, reference: Kind, *sets: Kind) -> list[Found]:
    most = max(kind.clips for kind in (reference, *sets))
    prompts = rng.standard_normal((most, 1, width)) if paired else None
    truth, *two = (kind.drawn(rng, prompts, width) for kind in (reference, *sets))
    names = [
        [f"{'' if paired else side} {at}" for at in range(len(x))]
        for side, x in zip("rab", (truth, *two), strict=True)
    ]
    influences: dict[str, float] = {}
    values, splits, kernels = [], [], []
    for clips, own, sign in zip(two, names[1:], (1, -1), strict=True):
        found = Frechet(gaussian(clips), gaussian(truth))
        values.append(found.value)
        splits.append(split(clips, truth, found.value))
        for name, clip in zip(own, clips, strict=True):
            influences[name] = influences.get(name, 0.0) + sign * found.influence_a(clip)
        for name, clip in zip(names[0], truth, strict=True):
            influences[name] = influences.get(name, 0.0) + sign * found.influence_b(clip)
        same = [(at, at) for at in range(min(len(clips), len(truth)))] if paired else []
        means = clips.mean(axis=1), truth.mean(axis=1)
        kernel = kernel_distance(*means, same=same, x_clusters=own, y_clusters=names[0])
        assert isinstance(kernel, Kernel)
        kernels.append(kernel)
    return [
        difference(values[0], values[1], influences.values()),
        unbiased_difference(splits[0], splits[1], influences.values()),
        difference(kernels[0].value, kernels[1].value, jackknifed(kernels[0].changes, kernels[1].changes)),
    ]


def told(found: list[Found], truth: float | None) -> str:
    known = [one for one in found if isinstance(one, Difference)]
    if not known:
        return "none of it"
    middle = float(np.mean([one.value for one in known])) if truth is None else truth
    held = np.mean([one.low <= middle <= one.high for one in known])
    refused = 1 - len(known) / len(found)
    # of all runs: where there is no difference, no set is called nearer
    return f"{refused:5.0%} none  {held:6.1%} held  {sum(o.p < 0.05 for o in known) / len(found):6.1%} p<.05"


def cases() -> dict[str, tuple[int, bool, Kind, Kind, Kind]]:
    found = {}
    for width, clips in ((16, 60), (16, 200), (64, 60), (64, 200), (64, 400)):
        for paired in (True, False):
            how = f"{width} dimensions, {clips} clips, {'paired' if paired else 'unpaired'}"
            plain = Kind(clips)
            off = replace(plain, scale=1.15, shift=0.1)
            far = replace(plain, scale=1.2, shift=0.15)
            for name, pair in {"alike": (plain, plain), "off": (off, off), "farther": (off, far)}.items():
                found[f"{how}: {name}"] = (width, paired, plain, *pair)
    for width, clips in ((64, 60), (64, 200), (256, 60)):
        plain = Kind(clips)
        off = replace(plain, scale=1.15, shift=0.1)
        for name, other in {
            "twice the clips": replace(off, clips=2 * clips),
            "half the frames": replace(off, frames=5),
            "frames more alike (0.6)": replace(off, between=0.6),
            "frames less alike (0.2)": replace(off, between=0.2),
        }.items():
            found[f"{width} dimensions, {clips} clips, unpaired: {name}"] = (width, False, plain, off, other)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--case", nargs="*", default=[""], help="Words of which a case has one.")
    given = parser.parse_args()
    for name, case in cases().items():
        if any(word in name for word in given.case):
            rng = np.random.default_rng(0)
            runs = [once(rng, *case) for _ in range(given.runs)]
            for metric, found in zip(("FAD as it is", "FAD", "KAD"), zip(*runs, strict=True), strict=True):
                print(
                    f"{name:62} {metric:12} {told(list(found), None if 'farther' in name else 0.0)}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
