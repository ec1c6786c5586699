"""What goes beside the scenes of a data set: its card and the licences of the clips it is made of."""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from earwitness.manifest.table import safe
from earwitness.scenes.bank import Bank, Source
from earwitness.scenes.making import versions


class Used(NamedTuple):
    """A clip that scenes use, as they name it."""

    name: str
    pcm_hash: str


class Clip(NamedTuple):
    """A clip that scenes use, and how many of them do."""

    source: Source
    scenes: int


@dataclass(frozen=True, slots=True)
class Made:
    """How a data set was made.

    Attributes:
        settings: Of its recipe.
        keys: How many prompts it has.
        command: As it was typed; may be empty.
        used: The clips it is made of; None for prompts without sound.
    """

    settings: Mapping[str, Any]
    keys: int
    stems: bool
    command: str
    used: Sequence[Clip] | None


def used_clips(uses: Mapping[Used, int], bank: Bank) -> list[Clip]:
    """The clips by label and name."""
    named = {source.name: source for sources in bank.sources.values() for source in sources}
    found = (Clip(named.get(one.name) or bank.find(*one), count) for one, count in uses.items())
    return sorted(found, key=lambda clip: (clip.source.label, clip.source.name))


def write_licences(path: Path, clips: Sequence[Clip]) -> None:
    """One row a clip: whose it is, under which licence, and in how many scenes it is heard."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("name", "label", "recording_id", "licence", "author", "scenes"))
        for source, scenes in clips:
            texts = (source.name, source.label, source.recording_id, source.licence, source.author)
            out.writerow((*(safe(" ".join(text.split())) for text in texts), scenes))


_CLASSES = (
    ("UNVERIFIED or not stated: find out before you publish", r"unverified|not stated|unknown|^$"),
    ("GPL family", r"\bl?gpl\b"),
    ("Creative Commons, not for commercial use (NC)", r"\bnc\b|non-?commercial"),
    ("Creative Commons, no derivatives (ND): mixing may not be allowed", r"\bnd\b|no-?deriv"),
    ("Creative Commons, attribution and share alike (BY-SA)", r"\bsa\b|share-?alike"),
    ("Sampling Plus", r"sampling"),
    ("Public domain or CC0", r"cc-?0|public[ -]?domain|publicdomain|\bzero\b"),
    ("Creative Commons, attribution (BY)", r"\bby\b|attribution"),
)
_COMPUTED = "None needed: the sound is computed"
_OTHER = "Other"


def licence_class(source: Source) -> str:
    """What kind of licence a clip has, going by the words of its statement; no legal advice.

    Of several kinds in one statement, the most demanding counts.
    """
    if source.path is None:
        return _COMPUTED
    said = source.licence.strip().casefold().replace("_", "-")
    return next((name for name, words in _CLASSES if re.search(words, said)), _OTHER)


def text(about: str, made: Made) -> str:
    """The card in markdown, with the head that dataset hubs read.

    Args:
        about: The recipe's card; its first line, if a heading, is the name.
    """
    title = next((line[2:].strip() for line in about.splitlines()[:1] if line.startswith("# ")), "Scenes")
    side = "train" if made.settings.get("split") == "train" else "test"  # "all" is no name for a split there
    configs = "" if made.used is None else _CONFIGS.format(split=side)
    body = about if about.startswith("# ") else f"# {title}\n\n{about}"
    parts = [
        f"---\npretty_name: {json.dumps(title, ensure_ascii=False)}\nlicense: other\n{configs}---\n",
        body.rstrip() + "\n",
        _how(made),
        "" if made.used is None else _FILES.format(stems=_STEMS if made.stems else ""),
        "" if made.used is None else _licences(made.used),
    ]
    return "\n".join(part for part in parts if part)


def _how(made: Made) -> str:
    lines = ["## How it was made", ""]
    if made.command:
        lines += ["```", made.command, "```", ""]
    seed = f" Seed {made.settings['seed']}." if "seed" in made.settings else ""
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    lines.append(f"{made.keys:,} prompts.{seed} Made with {used}. All settings are in `make.json`.")
    return "\n".join(lines) + "\n"


def _licences(clips: Sequence[Clip]) -> str:
    by_class: dict[str, list[Clip]] = defaultdict(list)
    for clip in clips:
        by_class[licence_class(clip.source)].append(clip)
    rows = [
        f"| {name} | {len(by_class[name])} | {sum(clip.scenes for clip in by_class[name]):,} |"
        for name in (*(name for name, _ in _CLASSES), _OTHER, _COMPUTED)
        if name in by_class
    ]
    table = "\n".join(("| licence | clips | uses in scenes |", "|---|--:|--:|", *rows))
    return f"""## Licences of the clips

A scene falls under the licences of all clips in it. `licences.csv` names every clip with its licence and
author as its bank states them. They are grouped here by the words of those statements, the most demanding
kind first; read the statements before you pass the data on.

{table}
"""


_CONFIGS = """configs:
- config_name: default
  data_files:
  - split: {split}
    path:
    - metadata.csv
    - audio/*.wav
"""
_STEMS = "| `stems/` | every sound of every scene apart; they add up to the mix, sample for sample |\n"
_FILES = """## What is in it

| | |
|---|---|
| `metadata.csv` | one row a prompt; `file_name` is its mix, `pcm_hash` the hash of the mix's samples |
| `prompts.csv` | `prompt_id` and `caption`: what to generate from, each clip named by its `prompt_id` |
| `audio/` | the mixes, 16-bit wav |
| `scenes/` | the truth: what is heard when, how loud, from which clip; each file alone gives its mix again |
{stems}| `licences.csv` | the clips that were used |

`metadata.csv` makes it an AudioFolder; the head of this file says which clips it lists:

```python
from datasets import load_dataset  # from version 4 on, datasets needs torchcodec for sound

data = load_dataset("path/to/DATA")
```

Render a scene again from its file and the bank, and compare the samples with `pcm_hash`:

```
earwitness scenes render DATA/scenes/ID.json --bank BANK -o again.wav
```
"""
