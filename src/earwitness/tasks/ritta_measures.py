"""What the RiTTA task measures, and what a reader of its numbers must know."""

from collections.abc import Sequence
from functools import partial

from earwitness.scores.relations import MAIN, RELATIONS
from earwitness.scores.ritta import KINDS
from earwitness.scores.ritta_rules import RELEASED, rules
from earwitness.tasks.ritta_scored import RIGHT, UNMEASURED, WRONG
from earwitness.tasks.rows import Measures, MetricSpec, SystemRow
from earwitness.tasks.task import DETECTING, Hearer

REFERENCE, ORACLE, SILENCE, SHUFFLED = "reference", "oracle", "silence", "shuffled"
BASELINES = {
    REFERENCE: "is the data set's own clip through the same listener: what that listener lets a system reach",
    ORACLE: "has the true events of those clips and is not heard, so that every one of its clips is scored: "
    "what the scores themselves can reach",
    SILENCE: "is a silent clip",
    SHUFFLED: "is the data set's clip of another prompt of the same relation",
}
"""Ceilings and floors; the names are theirs in every run."""

_TITLES = {"presence": "mAPre", "relation": "mARel", "parsimony": "mAPar", "msr": "mAMSR"}
_MEANINGS = {
    "presence": "share of the asked sounds that are heard",
    "relation": "clips whose relation holds",
    "parsimony": "exp(-0.1 n), n the number of sounds heard too many or too few",
    "msr": "presence x relation x parsimony of a clip",
}
_MORE = (
    MetricSpec(
        "missing_events", "Missing", "sounds a clip that are asked for and not heard", better=-1, decimals=2,
        scale=None,
    ),
    MetricSpec(
        "extra_events", "Extra", "sounds a clip that are heard and not asked for", better=-1, decimals=2,
        scale=None,
    ),
    MetricSpec(
        "count_error", "Count error", "how far heard and asked numbers of a sound lie apart", better=-1,
        decimals=2, scale=None,
    ),
    MetricSpec(
        "count_bias", "Count bias", "heard less asked number of a sound", better=0, decimals=2, scale=None
    ),
    MetricSpec(
        "level_difference_db", "Level diff. (dB)", "level of the first less that of the second sound",
        better=0, decimals=1, scale=None,
    ),
    MetricSpec(
        "level_error_db", "Level error (dB)", "how far that lies from what the prompt's metres ask for",
        better=-1, decimals=1, scale=None,
    ),
    MetricSpec(
        "unmeasured", "Not measurable", "spatial relations whose levels could not be measured", better=-1,
        rate=True,
    ),
    MetricSpec(
        "vacuous", "Vacuous", "'not' met by a clip in which nothing at all is heard", better=-1, rate=True
    ),
    MetricSpec("shorter", "Shorter", "clips shorter than the data set's", better=-1, rate=True),
    MetricSpec("longer", "Longer", "clips longer than the data set's", better=-1, rate=True),
)  # fmt: skip
_OF_JUDGES = (
    MetricSpec("flip_rate", "Flip rate", "share of pairs of repeats with different verdicts", better=-1),
)
_JUDGING = "It is a judge: it lists what it hears with no prompt in sight."
_MEASURING = "For the spatial relations it also measures how loud every 0.05 s of the clip is."


def measures(hearer: Hearer) -> Measures:
    """What is measured, in the mode that the hearer states.

    Raises:
        UserError: If there is no such way of scoring.
    """
    chosen = rules(hearer.scoring)
    each = "mean over the thresholds " + ", ".join(f"{t:g}" for t in chosen.thresholds)
    order = ("msr", "presence", "relation", "parsimony")
    specs = [MetricSpec(name, _TITLES[name], f"{_MEANINGS[name]}, {each}") for name in order]
    specs += _MORE if hearer.detector else (*_MORE, *_OF_JUDGES)
    specs += [
        MetricSpec(
            f"{name}@{t:g}", f"{_TITLES[name].removeprefix('mA')}@{t:g}", f"{_MEANINGS[name]}, at {t:g}"
        )
        for name in order
        for t in chosen.thresholds
    ]
    return Measures(
        specs=tuple(specs),
        key="msr",
        columns=(*order, "n", "scored", "coverage"),
        compared=("msr", "relation"),
        verdicts={RIGHT: "Right", WRONG: "Wrong", UNMEASURED: "Not measurable"},
        kinds=KINDS,
        cluster="all clips of one prompt",
        hearing=f"{DETECTING} {_MEASURING}" if hearer.detector else _JUDGING,
        baselines=BASELINES,
        strata=MAIN,
        stratum="relations",
        ceiling=REFERENCE,
        oracle=ORACLE,
        unlisted=frozenset((ORACLE, SILENCE, SHUFFLED)),
        remarks=partial(_remarks, chosen.mode),
    )


def _remarks(mode: str, systems: Sequence[SystemRow]) -> list[str]:
    return [
        *_floors(mode, systems),
        *_listed(systems, "vacuous", "'not' is met because nothing at all is heard"),
        *_listed(
            systems, "unmeasured", "No level could be measured, so that there is no relation and no MSR"
        ),
        *_listed(systems, "shorter", "Clips shorter than the data set's, scored as they are"),
        *_listed(systems, "longer", "Clips longer than the data set's, scored as they are"),
    ]


def _floors(mode: str, systems: Sequence[SystemRow]) -> list[str]:
    """What silence must score, what it does, and who is no better than a floor."""
    found = {row.system: value for row in systems if (value := row.metrics["msr"].value) is not None}
    notes = []
    silence = next((row for row in systems if row.system == SILENCE and SILENCE in found), None)
    if silence is not None:
        own = [name for name in RELATIONS if silence.parts[name]["msr"].value is not None]
        met = [] if mode == RELEASED else [name for name in own if name == "not"]
        stated = f"mAMSR of silence should be {len(met) / len(own):.3f}"
        why = "1 in 'not', 0 in every other relation" if met else "0 in every relation"
        notes.append(f"{stated} ({why}); it is {found[SILENCE]:.3f}.")
    for floor in (SILENCE, SHUFFLED):
        below = [
            name for name, value in found.items() if name not in BASELINES and value <= found.get(floor, -1)
        ]
        if below:
            notes.append(f"mAMSR is not above that of the floor {floor}: {', '.join(below)}.")
    return notes


def _listed(systems: Sequence[SystemRow], metric: str, words: str) -> list[str]:
    """The systems that have such clips, with their number and that of the clips that could be."""
    told = []
    for row in systems:
        parts = [row.parts[name][metric] for name in RELATIONS]
        there = sum(round(part.value * part.n) for part in parts if part.value is not None)
        if there:
            told.append(f"{row.system} {there} of {sum(part.n for part in parts)}")
    return [f"{words}: {', '.join(told)}."] if told else []
