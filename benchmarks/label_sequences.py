"""How often does the label task call a clip ordered that is, and one that is not?

Mixtures of recordings (benchmarks/mixtures.py; side "test" by default), of all classes of the real clips
and of those that the embedded listener claims to know: two sounds in a row (ordered); the same with the
second left out, and two sounds looped over the same six seconds (both not ordered). Beside it: how often
the sequence of two sounds in a row names both of them in their order, by labels no wider than they are,
and how many tags and surplus sounds there are.

    python benchmarks/label_sequences.py [CLIPS_FOLDER] [--n 200] [--seed 0] [--side test]
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import mixtures
from earwitness.events import Event, EventTable
from earwitness.listeners.yamnet import DEFAULT_RULES, Model, Yamnet, labels_table
from earwitness.listeners.yamnet_events import events
from earwitness.scores import describing
from order_mixtures import CLIPS, heard_as, known_classes

LOOPED_S = (1.0, 7.0)


def without_second(mixture: mixtures.Mixture, rng: np.random.Generator) -> mixtures.Samples:
    """The mixture with noise in place of its second sound."""
    samples = mixture.samples.copy()
    second = mixture.events[1]
    place = slice(round(second.onset_s * mixtures.RATE_HZ), round(second.offset_s * mixtures.RATE_HZ))
    floor = rng.standard_normal(samples[place].shape) * 10 ** (mixtures.NOISE_DBFS[0] / 20)
    samples[place] = floor.astype(np.float32)
    return samples


def together(mixture: mixtures.Mixture, rng: np.random.Generator) -> mixtures.Samples:
    """Both sounds of the mixture looped over the same span, over noise."""
    total = round(mixtures.CLIP_S * mixtures.RATE_HZ)
    samples = (rng.standard_normal(total) * 10 ** (mixtures.NOISE_DBFS[0] / 20)).astype(np.float32)
    start, stop = (round(s * mixtures.RATE_HZ) for s in LOOPED_S)
    for event in mixture.events:
        sound = mixture.samples[
            round(event.onset_s * mixtures.RATE_HZ) : round(event.offset_s * mixtures.RATE_HZ)
        ]
        samples[start:stop] += 0.25 * np.resize(sound, stop - start) / np.abs(sound).max()
    return samples


def named(truth: tuple[mixtures.Placed, mixtures.Placed], chain: tuple[Event, ...]) -> bool:
    """Whether the sequence has both sounds in their order."""
    first, second = (heard_as(event.label) for event in truth)
    at = [index for index, event in enumerate(chain) if event.label in first]
    return any(event.label in second for index in at[:1] for event in chain[index + 1 :])


def heard(model: Model, samples: mixtures.Samples) -> EventTable:
    """The events of a mixture."""
    mel, logits = model(samples, DEFAULT_RULES)
    return events(mel, logits, len(samples) / mixtures.RATE_HZ, labels_table(), DEFAULT_RULES)


def rows(
    model: Model, clips: mixtures.Pool, classes: list[str], n: int, seed: int
) -> Iterator[tuple[bool, bool, bool, bool, int]]:
    """For each mixture: ordered in a row, named, ordered alone, ordered together; and the count of tags."""
    rng = np.random.default_rng(seed)
    resolution_s = Yamnet.needs.resolution_s
    for mixture in mixtures.mixtures(rng, clips, classes, n):
        table = heard(model, mixture.samples)
        chain = describing.sequence(table.events, resolution_s)
        others = [
            describing.sequence(heard(model, change(mixture, rng)).events, resolution_s)
            for change in (without_second, together)
        ]
        tags = len(describing.tags(table.events))
        yield bool(chain), named(mixture.events, chain), bool(others[0]), bool(others[1]), tags


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clips", nargs="?", type=Path, default=CLIPS)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--side", choices=("tune", "test"), default="test")
    args = parser.parse_args()
    model, pool = Model(), mixtures.pool(args.clips, args.side)
    for what, classes in (
        ("all classes", sorted(pool)),
        ("known classes", known_classes(pool, Yamnet().known_labels)),
    ):
        found = np.array(list(rows(model, pool, classes, args.n, args.seed)))
        row, both, alone, same, tags = found.mean(axis=0)
        print(f"{what} ({len(classes)}), {args.n} mixtures, side {args.side}: ordered")
        print(f"  {row:.3f} of two in a row, both named in order {both:.3f}; {tags:.1f} tags")
        print(f"  {alone:.3f} of one sound, {same:.3f} of two together")


if __name__ == "__main__":
    main()
