"""A detector trained on RiTTA's classes of a bank: how good, at what cost, and what it can tell of relations.

    python benchmarks/train_ritta.py BANK --folder DIR [--per-relation 60] [--scenes 2000]

Trains it with recordings held out and with recordings shared, or takes what an earlier call trained in the
folder, and prints frame mAP before and after, by class. Then the listener's own ceiling: a RiTTA data set of
all 25 classes from the test side of the bank, which a model of the split ``held-out`` has not seen, heard by
plain yamnet and by that model: mAMSR of the reference audio by sub-relation, and how many of its clips each
could be asked about; and their means over the prompts that all were asked about. ``yamnet, all labels`` is
asked about classes it does not claim to know, too.
A model of the split ``shared`` has seen the test recordings, so no ceiling is measured with it.
"""

import argparse
import csv
import json
import os
import time
from pathlib import Path
from statistics import fmean
from typing import Any

from earwitness import api
from earwitness.api.training import train_listener
from earwitness.listeners import trained_model

RELATIONS = (
    "count",
    "before",
    "after",
    "together",
    "closefirst",
    "farfirst",
    "equaldist",
    "and",
    "or",
    "not",
    "if_then_else",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("bank", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="for models, data and runs")
    parser.add_argument("--per-relation", type=int, default=60)
    parser.add_argument("--scenes", type=int, default=2000)
    parser.add_argument("--held", type=int, default=300)
    parser.add_argument("--test", type=int, default=600)
    parser.add_argument("--splits", default="held-out,shared")
    given = parser.parse_args()
    for split in given.splits.split(","):
        model = given.folder / f"m-{split}"
        if not trained_model.is_model(model):
            train(given, split, model)
        table(split, model)
    if "held-out" in given.splits:
        ceilings(given, given.folder / "m-held-out")


def train(given: argparse.Namespace, split: str, out: Path) -> None:
    began, before = time.monotonic(), sum(os.times()[:4])
    train_listener(given.bank, out, split=split, scenes=given.scenes, held=given.held, test=given.test)
    spent = sum(os.times()[:4]) - before
    print(f"{split}: {spent / 60:.1f} CPU minutes, {(time.monotonic() - began) / 60:.1f} minutes")


def table(split: str, folder: Path) -> None:
    card = trained_model.read(folder).card
    made: dict[str, Any] = json.loads((folder / trained_model.CARD).read_text(encoding="utf-8"))["made"]
    print(f"\nsplit {split}: {card.measured}\n")
    print("| class | before | linear | after | overlap F1 |\n|---|---|---|---|---|")
    for one in card.classes:
        values = (one.before, made["linear_layer"][one.name], one.after, made["overlap_f1"].get(one.name))
        mark = " *" if one.name in made["shared_by_rule"] else ""
        print(f"| {one.name}{mark} | {' | '.join('' if v is None else f'{v:.2f}' for v in values)} |")
    for name, mean in made["mean_average_precision"].items():
        over = len(made["counted_classes" if name == "counted" else "compared_classes"])
        print(f"mAP {name}, {over} classes: {mean['value']:.3f} ({mean['low']:.3f} to {mean['high']:.3f})")
    print(f"seconds: {made['seconds']}")


def ceilings(given: argparse.Namespace, model: Path) -> None:
    data = given.folder / f"data-{given.per_relation}"
    api.make_ritta(given.bank, data, split="test", per_relation=given.per_relation)
    hearers = {
        "yamnet": ("yamnet", False),
        "yamnet, all labels": ("yamnet", True),
        "trained": (str(model), False),
    }
    found, values = {}, {}
    for name, (listener, unclaimed) in hearers.items():
        run = given.folder / f"run-{name.replace(', ', '-').replace(' ', '-')}-{given.per_relation}"
        options = api.Options(unclaimed=unclaimed)
        api.score_ritta(data, run=run, listener=listener, distances="none", options=options)
        rows = json.loads((run / "summary.json").read_text(encoding="utf-8"))["rows"]
        found[name] = next(row for row in rows if row["system"] == "reference")
        values[name] = scored(run / "items.csv")
    print(f"\nmAMSR of the reference audio, {given.per_relation} prompts a relation, all classes\n")
    print(f"| relation | {' | '.join(hearers)} |\n|---|{'---|' * len(hearers)}")
    for relation in ("all", *RELATIONS):
        cells = []
        for row in found.values():
            value = row["msr"] if relation == "all" else row["parts"].get(relation, {}).get("msr", {})
            count = row["scored"] if relation == "all" else value.get("n", 0)
            shown = value.get("value")
            cells.append("" if shown is None else f"{shown:.2f} ({count})")
        print(f"| {relation} | {' | '.join(cells)} |")
    print("In brackets: how many prompts the listener could be asked about.")
    common = set.intersection(*map(set, values.values()))
    means = ", ".join(f"{name} {fmean(of[one] for one in common):.2f}" for name, of in values.items())
    print(f"Mean MSR of the {len(common)} prompts that all were asked about: {means}")


def scored(items: Path) -> dict[str, float]:
    """MSR by prompt, of the reference audio."""
    with items.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["system"] == "reference" and row["msr"]]
    return {row["sample_id"]: float(row["msr"]) for row in rows}


if __name__ == "__main__":
    main()
