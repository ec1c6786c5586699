"""How often the caption parser reads the events and their order right, on public captions.

    python benchmarks/captions.py [--data FOLDER] [--show N]

Sets and truth
--------------
- AudioTime, ordering test set: the two labels, by first onset. Its timestamp test set likewise, where
  more than one label is there: captions with stated times.
- RiTTA, before and after prompts: `audio_name_list` in the order the words state. The words put the
  first name first in "before" rows and the second in "after" rows, except that "X preceded by Y"
  says the opposite of both (the released labels miss that).
- TTA-Bench, prompts marked "sequence": `event_list`, which follows the order of mention (no scored
  prompt puts a later mention first). Only prompts with a word of order are scored (`STATES_ORDER`);
  the others are counted and, with --show, listed.

Right means: every true event has a phrase of its own, and the groups of those phrases come in the
true order. In AudioTime and RiTTA each event must lie in a group of its own and no other phrase may
be there. TTA-Bench lists an order also for events that its prompts only join ("A and B, then C"):
there, events that share a group may come in any order, but at least two groups are needed. Its lists
place backgrounds, too, that may begin at any time (they are in no group): those are passed over. They
leave out side remarks ("as someone sits down"), so another phrase is allowed where it shares a group
with an event; the column "strict" counts without that allowance.

A phrase matches a true event if they share the stem of a word, counting the few synonyms below; of
all one-to-one matchings the one with the most matches counts, then the closest (Dice of the stems).
True names often share no word with the prompt ("ignition": "Snowblower engine starts"). So if there are
as many phrases as events and at least half of the events are matched, the rest are paired in order.

"reversed" is the share whose reversal is told and reverses again to the caption's own order.

What still fails in TTA-Bench: lists that count a repeat ("then another buzz"), an end ("the machine
stops") or a silence inside ("stops abruptly") as an event; names that share no word with the prompt
("whispered response": "then they answer quietly"); names that leave out a member of an ordered list or
sum up two. Known weak spots elsewhere: an actor before "then" inside a clause after a comma ("a dog
barks, a skateboarder then grinds a rail") is taken for an event of its own; a sentence that only says
"In that order." orders nothing; a partial order is told as groups, so in "A. After B, C" A joins B.
"""

import argparse
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from earwitness.captions import Parsed, parse, reverse
from earwitness.captions.words import WORD, stem

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
STATES_ORDER = re.compile(
    r"\b(?:then|follow\w*|after\w*|before|preced\w*|finally|lastly|first|initially|next|later|until|"
    r"subsequent\w*|succe\w+|sequen\w+|in order|orderly|consecutive|interrupted|phases?|"
    r"(?:start|begin|conclud|end|finish)\w* with)\b",
    re.IGNORECASE,
)
NO_MATCH = WORD.findall(
    "a an the of and or in on to with by at sound sounds noise being from into off up down"
)
SYNONYMS = (
    "baby infant child kid",
    "laugh laughter giggle chuckle chortle",
    "speak speech say voice announcement conversation dialogue greet",
    "gunshot gunfire gun fire",
    "footstep step walk",
    "vehicle car",
    "clock tick tock ticktock",
)


@dataclass(frozen=True)
class Case:
    """A caption and its true events in order."""

    caption: str
    events: tuple[str, ...]


def audiotime(folder: Path, name: str) -> Iterator[Case]:
    rows = json.loads((folder / f"audiotime_test_{name}.json").read_text(encoding="utf-8"))
    for row in rows.values():
        onsets = {label: min(onset for onset, _ in spans) for label, spans in row["event"].items()}
        if len(onsets) > 1:
            yield Case(row["caption"], tuple(sorted(onsets, key=onsets.__getitem__)))


def ritta(folder: Path) -> Iterator[Case]:
    relations = json.loads((folder / "ritta_eval_data.json").read_text(encoding="utf-8"))["Temporal_Order"]
    for relation in ("before", "after"):
        for row in relations[relation]:
            names = [name.replace("_", " ") for name in row["audio_name_list"]]
            if (relation == "after") != ("preceded by" in row["text_prompt"]):
                names.reverse()
            yield Case(row["text_prompt"], tuple(names))


def ttabench(folder: Path) -> Iterator[Case]:
    for row in json.loads((folder / "ttabench_acc_prompt.json").read_text(encoding="utf-8")):
        if row["event_relation"] == "sequence":
            yield Case(row["prompt_text"], tuple(row["event_list"]))


def stems(text: str) -> frozenset[str]:
    found = {stem(word) for word in WORD.findall(text.lower().replace("-", " ")) if word not in NO_MATCH}
    for line in SYNONYMS:
        alike = {stem(word) for word in line.split()}
        if alike & found:
            found |= {line}
    return frozenset(found)


def match(parsed: Parsed, events: tuple[str, ...]) -> tuple[int, ...] | None:
    """The phrase of each event, one each, or None where some event has none."""
    phrases = [stems(phrase.text) for phrase in parsed.phrases]
    if len(phrases) < len(events):
        return None
    close = [[dice(stems(event), phrase) for phrase in phrases] for event in events]

    def closeness(picked: tuple[int, ...]) -> tuple[int, float]:
        values = [row[p] for row, p in zip(close, picked, strict=True)]
        return sum(value > 0 for value in values), round(sum(values), 9)

    best = max(permutations(range(len(phrases)), len(events)), key=closeness)
    lost = [at for at, p in enumerate(best) if not close[at][p]]
    if not lost:
        return best
    if len(phrases) > len(events) or 2 * len(lost) > len(events):
        return None
    left = iter(sorted(best[at] for at in lost))
    return tuple(next(left) if at in lost else p for at, p in enumerate(best))


def dice(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def verdict(case: Case, joins: bool) -> tuple[bool, bool]:
    """Whether a caption is read right, and right without an extra phrase.

    Args:
        joins: Whether true events may share a group and other phrases may join them (TTA-Bench).
    """
    parsed = parse(case.caption)
    picked = match(parsed, case.events)
    if picked is None or parsed.reason:
        return False, False
    group_of = {phrase: at for at, group in enumerate(parsed.groups) for phrase in group}
    order = [group_of[phrase] for phrase in picked if phrase in group_of]
    strict = len(parsed.phrases) == len(case.events)
    if not joins:
        return strict and order == list(range(len(case.events))), strict
    right = order == sorted(order) and set(order) == set(range(len(parsed.groups))) and len(set(order)) > 1
    return right, right and strict


def told(parsed: Parsed) -> str:
    groups = (" | ".join(parsed.phrases[i].text for i in group) for group in parsed.groups)
    return " < ".join(f"{{{group}}}" for group in groups)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the shared real data")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N failures of each set")
    args = parser.parse_args()
    folder = args.data / "captions"
    sets = {
        "AudioTime ordering": (list(audiotime(folder, "ordering")), False),
        "AudioTime timestamp": (list(audiotime(folder, "timestamp")), False),
        "RiTTA before, after": (list(ritta(folder)), False),
        "TTA-Bench sequence": (list(ttabench(folder)), True),
    }
    print(f"{'set':<22}{'n':>6}{'right':>7}{'share':>8}{'strict':>8}{'unstated':>10}{'reversed':>10}")
    for name, (cases, joins) in sets.items():
        stated = [case for case in cases if not joins or STATES_ORDER.search(case.caption)]
        unstated = [case for case in cases if case not in stated]
        verdicts = {case: verdict(case, joins) for case in stated}
        right = sum(verdicts[case][0] for case in stated)
        strict = sum(all(verdicts[case]) for case in stated)
        turned = sum(reversible(case.caption) for case in stated)
        print(
            f"{name:<22}{len(stated):>6}{right:>7}{right / len(stated):>8.3f}{strict / len(stated):>8.3f}"
            f"{len(unstated):>10}{turned / len(stated):>10.3f}"
        )
        for case in [case for case in stated if not verdicts[case][0]][: args.show]:
            print(f"  wrong: {case.caption}\n    true: {' < '.join(case.events)}")
            print(f"    read: {told(parse(case.caption))}")
        for case in unstated if args.show else ():
            print(f"  unstated: {case.caption}")
    captions = [case.caption for cases, _ in sets.values() for case in cases]
    began = time.process_time()
    for caption in captions:
        parse(caption)
    print(f"{len(captions) / (time.process_time() - began):.0f} captions a second of CPU time")


def reversible(caption: str) -> bool:
    """Whether a caption's reversal is told, and reverses again to the caption's own order."""
    try:
        twice = parse(reverse(reverse(caption)))
    except ValueError:
        return False
    once = parse(caption)
    return told(once) == told(twice)


if __name__ == "__main__":
    main()
