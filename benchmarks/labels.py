"""How many phrases of public caption sets find their labels, and how fast.

    python benchmarks/labels.py [--sample N] [--seed S]

Reads the captions in the folder named by EARWITNESS_DATA (default ../shared/data). Coverage says nothing
about correctness: AudioTime's captions are compared with the labels of their clips, and ``--sample N``
prints N random mapped phrases of each set with the rule that matched, to be read by eye. AudioCaps captions
are split at their conjunctions, so fragments count as unmapped.
"""

import argparse
import csv
import json
import os
import random
import re
import time
from collections import Counter
from pathlib import Path

from earwitness import labels

SPLIT = re.compile(
    r"[,;.]|\b(?:followed by|and then|then|while|as|and|with|before|after|along with|alongside)\b",
    re.IGNORECASE,
)


def audiotime(folder: Path) -> Counter[str]:
    files = sorted(folder.glob("audiotime_test_*.json"))
    items = (item for file in files for item in json.loads(file.read_text(encoding="utf-8")).values())
    return Counter(event for item in items for event in item["event"])


def ttabench(folder: Path) -> Counter[str]:
    prompts = json.loads((folder / "ttabench_acc_prompt.json").read_text(encoding="utf-8"))
    return Counter(event for prompt in prompts for event in prompt["event_list"])


def audiocaps(folder: Path) -> Counter[str]:
    with (folder / "audiocaps_test.csv").open(encoding="utf-8", newline="") as file:
        pieces = (piece for row in csv.DictReader(file) for piece in SPLIT.split(row["caption"]))
        return Counter(" ".join(piece.split()) for piece in pieces if piece.strip())


def agreement(folder: Path) -> str:
    """Of the pieces of AudioTime's captions that map, how many meet a label of their own clip."""
    mapped = agreed = 0
    for file in sorted(folder.glob("audiotime_test_*.json")):
        for item in json.loads(file.read_text(encoding="utf-8")).values():
            there = labels.heard_as(frozenset[str]().union(*map(labels.find, item["event"])))
            heard = [labels.heard_as(labels.find(piece)) for piece in SPLIT.split(item["caption"])]
            mapped += sum(map(bool, heard))
            agreed += sum(bool(piece & there) for piece in heard)
    found = f"{agreed} of {mapped} mapped pieces ({agreed / mapped:.1%})"
    return f"AudioTime captions: {found} meet a label of their clip"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=0, help="mapped phrases of each set to print")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    root = Path(os.environ.get("EARWITNESS_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    start = time.process_time()
    labels.find("dog")
    print(f"tables loaded in {1000 * (time.process_time() - start):.0f} ms CPU")
    for name, read in (("AudioTime", audiotime), ("TTA-Bench", ttabench), ("AudioCaps", audiocaps)):
        phrases = read(root / "captions")
        start = time.process_time()
        mapped = sorted(phrase for phrase in phrases if labels.find(phrase))
        seconds = time.process_time() - start
        share = sum(phrases[phrase] for phrase in mapped) / phrases.total()
        found = f"{len(mapped)} of {len(phrases)} distinct phrases map ({len(mapped) / len(phrases):.1%})"
        print(f"{name}: {found}, {share:.1%} of all; {1e6 * seconds / len(phrases):.0f} us each")
        for phrase in random.Random(given.seed).sample(mapped, min(given.sample, len(mapped))):
            print(f"  {phrase} -> {'; '.join(sorted(labels.find(phrase)))}  [{labels.explain(phrase)}]")
    print(agreement(root / "captions"))


if __name__ == "__main__":
    main()
