"""What the card of a data set says: which prompts, from which clips, placed how, and how it is scored."""

from collections.abc import Iterable, Mapping, Sequence

from earwitness.scenes.render import PEAK
from earwitness.scenes.ritta.classes import CLASSES
from earwitness.scenes.ritta.prompts import MOST, Prompts
from earwitness.scenes.ritta.staging import (
    GAP_S,
    LONGER_S,
    LOUDEST_DB,
    QUIETEST_DB,
    SPATIAL_GAP_S,
    TOGETHER_S,
    Stage,
)
from earwitness.scenes.ritta.stock import LONGEST_S, SHORTEST_S, Stock
from earwitness.scores.relations import MAIN

_UNITS: Mapping[str, str] = {"lufs": "LUFS", "rms": "dBFS (RMS)"}


def drawn(stock: Stock, stage: Stage, prompts: Prompts, per_relation: int, seed: int) -> str:
    """The card of prompts that were drawn."""
    counts = {
        sub: (per_relation, f"{len(prompts.wordings[sub])} wordings")
        for subs in MAIN.values()
        for sub in subs
    }
    numbers = f"{prompts.numbers[0]} to {prompts.numbers[-1]}"
    which = "one main group" if prompts.one_group else "different main groups, no two of one"
    short = (
        ""
        if prompts.numbers[-1] == MOST
        else f" (RiTTA's go up to {MOST}; there are too few classes for that)"
    )
    return joined(
        "# Relations between sounds (RiTTA)",
        "Prompts that state a relation between sounds, each with a clip that meets it. The relations, the "
        "classes of sound and the numbers of events are those of RiTTA (arXiv 2412.15922); wordings and "
        f"clips are not. Split `{stock.split}`, seed {seed}.",
        relations(counts),
        "## Which sounds",
        f"- `count` asks for {numbers} sounds of {which}{short}; all of them different.\n"
        "- `not` and the spatial relations name one sound, `if_then_else` three, the others two.\n"
        "- Sounds of one prompt are of different main groups, but for `count` from one group.\n"
        "- Groups are dealt evenly, and so are the classes of each group and the wordings; near and far are "
        "1, 2, 3, 5 or 7 m, and the farther distance is at least twice the nearer.",
        clips(stock),
        placing(stage),
        scoring(),
    )


def relations(counts: Mapping[str, tuple[int, str]]) -> str:
    """A table of the relations with their prompts, and a remark on each."""
    rows = [
        (main, sub, f"{counts[sub][0]:,}", counts[sub][1])
        for main, subs in MAIN.items()
        for sub in subs
        if sub in counts
    ]
    return table(("main relation", "relation", "prompts", ""), rows)


def clips(stock: Stock) -> str:
    """The classes with their recordings and slices on this side, and what is shared or left out."""
    rows = []
    for name, one in CLASSES.items():
        if name in stock.slices:
            pieces = stock.slices[name]
            recordings = len({piece.source.recording_id for piece in pieces})
            seconds = sum(piece.length for piece in pieces) / stock.rate_hz
            rows.append((name, one.group, str(recordings), str(len(pieces)), f"{seconds:.0f}"))
    known = "" if not stock.recordings.unknown else ", as far as recordings are known (see below)"
    parts = [
        "## Clips",
        f"Each clip was cut into slices of {SHORTEST_S:g} to {LONGEST_S:g} s that do not overlap. Training "
        f"and test side share no recording{known}, but for the classes named below. `licences.csv` lists "
        "every clip that was used.",
        table(("class", "group", "recordings", "slices", "seconds"), rows),
    ]
    if stock.listener:
        parts.append(
            f"Only classes that the listener `{stock.listener}` claims to know were used. Not used: "
            + (names(stock.unknown) or "none")
            + "."
        )
    if stock.notes:
        parts.append(listed(stock.notes))
    if stock.shared:
        parts.append(
            "Shared by rule, as their recordings could not be split:\n\n"
            + listed(f"`{name}`: {why}" for name, why in stock.shared.items())
        )
    if stock.shortened:
        parts.append("Cut shorter, as no slice would have fitted twice: " + names(stock.shortened) + ".")
    if stock.missing:
        parts.append("Left out, as the bank has no slice of them: " + names(stock.missing) + ".")
    if stock.refused:
        parts.append("Refused:\n\n" + listed(f"`{name}`: {why}" for name, why in stock.refused.items()))
    if stock.left_out:
        parts.append(
            "Clips without a slice:\n\n"
            + listed(
                f"`{name}`: " + ", ".join(f"{count} {why}" for why, count in reasons.items())
                for name, reasons in stock.left_out.items()
            )
        )
    if stock.unused:
        parts.append("Labels of the bank that stand for none of the classes: " + names(stock.unused) + ".")
    return joined(*parts)


def placing(stage: Stage) -> str:
    """How sounds are placed and how loud they are."""
    unit = _UNITS[stage.measure]
    ambience = ""
    if stage.ambience:
        ambience = (
            f"\n- Under every scene lies an ambience, one of {len(stage.ambience)} clips, at "
            f"{stage.ambience[0].level_db:g} {unit}."
        )
    return joined(
        "## How sounds are placed",
        f"- {stage.samples / stage.rate_hz:g} s at {stage.rate_hz:,} Hz, mono, 16 bit. No sound is moved, "
        "shortened or clipped; what overlaps adds.\n"
        f"- `before`, `after`: at least {GAP_S:g} s between the sounds.\n"
        f"- `together`: the shorter sound lies within the longer, which begins at most {TOGETHER_S:g} s "
        "earlier.\n"
        "- Spatial: the same slice twice, in the order stated, at least "
        f"{SPATIAL_GAP_S:g} s apart and {LONGER_S:g} s longer than the longest pause within the slice; at d "
        "metres it is 20 lg d dB below its level at 1 m.\n"
        "- Others: every sound begins anywhere.\n"
        "- `or`: the clip has the first sound, `references/` the second. `if_then_else`: the clip has the "
        "condition and what follows from it, `references/` the alternative. `not`: the clip has another "
        "sound.\n"
        f"- Levels are drawn evenly from {QUIETEST_DB:g} to {LOUDEST_DB:g} {unit} (spatial: at 1 m) and "
        f"measured on each slice. A mix that would peak above {PEAK:g} is turned down as a whole." + ambience,
    )


def scoring() -> str:
    """How outputs are scored."""
    return joined(
        "## How to score",
        "Generate one clip a row of `prompts.csv`, named by its `prompt_id`, and run",
        "```\nearwitness bench ritta score DATA OUTPUTS --listener yamnet -o RUN\n```",
        "`expected` in `metadata.csv` says what is asked for: any one of its alternatives will do, and "
        "`reading` how the words are meant.",
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def listed(items: Iterable[str]) -> str:
    """A markdown list."""
    return "\n".join(f"- {item}" for item in items)


def names(found: Iterable[str]) -> str:
    """Names as code, one after another."""
    return ", ".join(f"`{name}`" for name in found)


def joined(*parts: str) -> str:
    """Paragraphs of markdown; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)
