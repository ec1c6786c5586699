"""How well a listener recognises the built-in sounds, and which it takes for another.

    python benchmarks/bank.py [--instances 50] [--weights FILE]

The instances are those of the built-in bank, on none of which a listener is tuned. Each stands alone
between 0.75 s of faint noise. It is recognised if an event of its class's
labels is heard and none of another class's labels is heard with more confidence. The matrix shows in how
many percent of a row's instances some label of the column's class is heard, loud or faint.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from earwitness import labels
from earwitness.audio import Clip, pcm_hash
from earwitness.listeners.base import Call, Hearing
from earwitness.listeners.yamnet import Yamnet
from earwitness.scenes import bank, synth

MARGIN_S, FLOOR = 0.75, 5e-4


def calls(instances: int) -> Iterator[Call]:
    for name, sources in bank.Bank.builtin(per_class=instances).sources.items():
        for index, source in enumerate(sources):
            sound = np.pad(bank.clip(source), int(MARGIN_S * synth.RATE_HZ))
            floor = FLOOR * np.random.default_rng(index).standard_normal(len(sound))
            samples = (sound + floor).astype(np.float32)[np.newaxis]
            clip = Clip(samples, synth.RATE_HZ, pcm_hash(samples, synth.RATE_HZ))
            yield Call(f"{name}/{index}", (clip,), "events")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--instances", type=int, default=50)
    options.add_argument("--weights", type=Path)
    given = options.parse_args()
    ear = Yamnet(weights=given.weights)
    names = list(synth.CLASSES)
    meant = {name: labels.heard_as(synth.CLASSES[name].labels) for name in names}
    sure = np.zeros((len(names), given.instances, len(names)))
    for call_id, answer in ear.hear(calls(given.instances)):
        if not isinstance(answer, Hearing):
            raise SystemExit(f"{call_id}: {answer.reason}: {answer.detail}")
        name, index = call_id.split("/")
        for column, other in enumerate(names):
            heard = [e["confidence"] for e in answer.reply["events"] if e["label"] in meant[other]]
            sure[names.index(name), int(index), column] = max(heard, default=0.0)
    print(f"{ear.name} {ear.version}; recognised of {given.instances}; percent in which a column is heard")
    print(f"{'':15}{'right':>6} {'known':>6}  " + " ".join(f"{name[:6]:>6}" for name in names))
    for row, name in enumerate(names):
        own = sure[row, :, row]
        right = int(((own > 0) & (own >= sure[row].max(axis=1))).sum())
        known = "yes" if synth.CLASSES[name].labels & ear.known_labels else "no"
        shares = " ".join(
            f"{100 * share:6.0f}" if share else f"{'.':>6}" for share in (sure[row] > 0).mean(axis=0)
        )
        print(f"{name:15}{right:6} {known:>6}  {shares}")


if __name__ == "__main__":
    main()
