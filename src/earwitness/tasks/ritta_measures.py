"""What the RiTTA task measures, and what a reader of its numbers must know."""

from collections.abc import Sequence
from functools import partial
from statistics import fmean

from earwitness.manifest.table import listing
from earwitness.scores.relations import MAIN, RELATIONS, SPATIAL
from earwitness.scores.ritta import KINDS
from earwitness.scores.ritta_rules import RELEASED, rules
from earwitness.tasks.ritta_scored import RIGHT, UNMEASURED, WRONG
from earwitness.tasks.rows import Mark, Measures, Metric, MetricSpec, SystemRow
from earwitness.tasks.task import DETECTING, Hearer

REFERENCE, ORACLE, SILENCE, SHUFFLED = "reference", "oracle", "silence", "shuffled"
FLOORS = (SILENCE, SHUFFLED)
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
        exact=frozenset((ORACLE, SILENCE)),
        unlisted=frozenset((ORACLE, SILENCE, SHUFFLED)),
        remarks=partial(_remarks, chosen.mode),
        marks=_marks,
    )


def _remarks(mode: str, systems: Sequence[SystemRow]) -> list[str]:
    return [
        *_prompts(systems),
        *_floors(mode, systems),
        *_listed(systems, "vacuous", "'not' is met because nothing at all is heard"),
        *_unmeasured(systems),
        *_listed(systems, "shorter", "Clips shorter than the data set's, scored as they are"),
        *_listed(systems, "longer", "Clips longer than the data set's, scored as they are"),
    ]


def _prompts(systems: Sequence[SystemRow]) -> list[str]:
    """How many prompts the whole run has, and who has fewer."""
    if (most := _most(systems)) is None:
        return []
    fewer = [f"{row.system} {row.n}" for row in systems if row.n < most]
    more = f"; with fewer: {', '.join(fewer)}. A clip that was never given is in no number" if fewer else ""
    return [f"{REFERENCE} has {most} prompts in this run{more}."]


def _most(systems: Sequence[SystemRow]) -> int | None:
    return next((row.n for row in systems if row.system == REFERENCE), None)


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
    reached = found.get(REFERENCE)
    if reached is not None and (over := [name for name in FLOORS if found.get(name, -1.0) >= reached]):
        notes.append(
            f"The ceiling, mAMSR {reached:.3f} of {REFERENCE}, is not above the floor {listing(over)}: this "
            "listener cannot tell systems apart here, and no number of this run can be read."
        )
    for floor in FLOORS:
        below = [
            name for name, value in found.items() if name not in BASELINES and value <= found.get(floor, -1)
        ]
        if below:
            notes.append(f"mAMSR is not above that of the floor {floor}: {', '.join(below)}.")
    return notes


def _unmeasured(systems: Sequence[SystemRow]) -> list[str]:
    """Of each system that lacks spatial relations: its numbers if all of these were wrong, or right.

    A clip whose levels cannot be told is in no mean, so that a system might gain by covering its faults.
    """
    notes = []
    reached = [
        name
        for name in SPATIAL
        if any(row.system == REFERENCE and row.parts[name]["relation"].value is not None for row in systems)
    ]
    for row in systems:
        there, every = _count(row, "unmeasured")
        if not there:
            continue
        note = (
            f"{row.system}: no level could be measured in {there} of {every} spatial clips, which have no "
            "relation and no MSR"
        )
        ends = [_were_all(row, metric, reached, end) for end in (0, 1) for metric in ("relation", "msr")]
        if told := [f"{end:.3f}" for end in ends if end is not None]:
            note += (
                ". Were all of these wrong, mARel of its spatial relations would be {} and mAMSR {}; "
                "were all right, {} and {}".format(*told)
            )
        notes.append(f"{note}.")
    return notes


def _were_all(row: SystemRow, metric: str, relations: Sequence[str], value: float) -> float | None:
    """A metric's mean over relations if all clips that could not be measured had that value.

    Only relations in which the system has clips count; None if there are none.
    """
    means = []
    for name in relations:
        found, (there, _) = row.parts[name][metric], _count_of(row.parts[name]["unmeasured"])
        if found.n + there:
            means.append(((found.value or 0.0) * found.n + value * there) / (found.n + there))
    return fmean(means) if means else None


def _marks(systems: Sequence[SystemRow]) -> list[Mark]:
    """Systems with fewer prompts than the reference, which no share of theirs shows, and those of which a
    larger share cannot be measured."""
    most = _most(systems)
    shares: dict[str, float] = {}
    for row in systems:
        there, every = _count(row, "unmeasured")
        if every:
            shares[row.system] = there / every
    marks = []
    if most is not None and (fewer := frozenset(row.system for row in systems if row.n < most)):
        marks.append(Mark("‡", f"Fewer prompts (n) than {REFERENCE}, which has {most}.", fewer))
    usual: float = shares.get(REFERENCE, 1.0)
    if more := frozenset(name for name, share in shares.items() if share > usual):
        meaning = (
            f"No level could be measured in a larger share of the spatial clips than of {REFERENCE} "
            f"({usual:.1%}): such a system may gain by covering its faults. The notes have its bounds."
        )
        marks.append(Mark("§", meaning, more))
    return marks


def _listed(systems: Sequence[SystemRow], metric: str, words: str) -> list[str]:
    """The systems that have such clips, with their number and that of the clips that could be."""
    counts = {row.system: _count(row, metric) for row in systems}
    told = [f"{name} {there} of {every}" for name, (there, every) in counts.items() if there]
    return [f"{words}: {', '.join(told)}."] if told else []


def _count(row: SystemRow, metric: str) -> tuple[int, int]:
    """How many of a system's clips have that, and how many could."""
    counts = [_count_of(row.parts[name][metric]) for name in RELATIONS]
    return sum(there for there, _ in counts), sum(every for _, every in counts)


def _count_of(metric: Metric) -> tuple[int, int]:
    return round((metric.value or 0.0) * metric.n), metric.n
