"""An edit as judges mark it: replies -> numbers, a verdict, and what they mean."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from earwitness.ledger import Heard
from earwitness.questions.edit import AXES, VERDICTS
from earwitness.scores import edits, repeats
from earwitness.tasks.edit_sources import BASELINES, CLUSTER
from earwitness.tasks.rows import Measures, MetricSpec, SystemRow

TIE = "tie"

_TITLES = ("Success", "Preservation", "Timing", "Naturalness")
_MEANINGS = (
    "mean mark for the target change, 1 to 5",
    "mean mark for everything else being as in the source, 1 to 5",
    "mean mark for number, order and rhythm of the sounds being as in the source, 1 to 5",
    "mean mark for sounding natural, 1 to 5",
)
_VERDICT_TITLES = {
    "good_edit": "Good edit", "over_edit": "Over-edit", "under_edit": "Under-edit", "failed": "Failed",
    TIE: "Tie",
}  # fmt: skip

_MARKS = tuple(
    MetricSpec(axis, title, meaning, decimals=2, scale=(1.0, 5.0))
    for axis, title, meaning in zip(AXES, _TITLES, _MEANINGS, strict=True)
)
_SHARES = tuple(
    MetricSpec(
        f"verdict_{verdict}", title, f"share of items with the verdict {verdict.replace('_', ' ')}",
        better={"good_edit": 1, TIE: 0}.get(verdict, -1), rate=True,
    )
    for verdict, title in _VERDICT_TITLES.items()
)  # fmt: skip
_SPECS = (
    MetricSpec("joint_success", "Joint", "success and both preservations at least 4 each", rate=True),
    *_MARKS,
    *_SHARES,
    MetricSpec("flip_rate", "Flips", "share of pairs of repeats with different verdicts", better=-1),
    MetricSpec(
        "repeat_difference", "Repeat diff.", "mean difference of the marks of two repeats", better=-1,
        decimals=2, scale=(0.0, 4.0),
    ),
    MetricSpec(
        "success_spread", "Spread", "standard deviation of the success mark over repeats", better=-1,
        decimals=2, scale=None,
    ),
)  # fmt: skip
_EXCHANGED = (
    MetricSpec(
        "exchange_agreement", "Exch. agree", "same majority verdict with the clips exchanged", rate=True
    ),
    MetricSpec("exchange_flip", "Exch. flips", "flips between hearings as usual and exchanged", better=-1),
    MetricSpec(
        "exchange_difference", "Exch. diff.", "mean difference of marks between the two", better=-1,
        decimals=2, scale=(0.0, 4.0),
    ),
    MetricSpec(
        "exchange_flip_excess", "Exch. flips +", "flips by exchange less flips by repetition", better=0,
        scale=(-1.0, 1.0),
    ),
    MetricSpec(
        "exchange_excess", "Exch. diff. +", "difference by exchange less difference by repetition", better=0,
        decimals=2, scale=(-4.0, 4.0),
    ),
)  # fmt: skip


def measures(swap: bool) -> Measures:
    """What judges give; with figures on exchanged clips if some are."""
    return Measures(
        specs=_SPECS + (_EXCHANGED if swap else ()),
        key="joint_success",
        columns=("joint_success", *AXES, *(spec.name for spec in _SHARES), "n", "scored", "coverage"),
        compared=(*AXES, "joint_success"),
        verdicts=_VERDICT_TITLES,
        cluster=CLUSTER,
        hearing="It is a judge: it hears the source and the edited clip and reads what the edit was to do.",
        baselines=BASELINES,
        remarks=lambda systems: [*_baseline_remarks(systems), *(_remarks(systems) if swap else ())],
    )


def scored(usual: Sequence[Heard], exchanged: Sequence[Heard]) -> tuple[Mapping[str, float | None], str, str]:
    """Numbers, verdict and the verdict's reason of an item.

    Args:
        usual: What was heard with the clips as usual, at least one hearing.
        exchanged: What was heard with the clips exchanged.
    """
    marks = [_marks(heard) for heard in usual]
    verdicts = [heard.reply["verdict"] for heard in usual]
    means = {axis: fmean(mark[axis] for mark in marks) for axis in AXES}
    first = repeats.majority(verdicts)
    verdict = first[0] if len(first) == 1 else TIE
    pairs = list(zip(verdicts, marks, strict=True))
    values: dict[str, float | None] = {**means, "joint_success": float(edits.joint_success(means))}
    values |= {f"verdict_{name}": float(name == verdict) for name in (*VERDICTS, TIE)}
    values |= {
        "flip_rate": repeats.flip_rate(verdicts),
        "repeat_difference": edits.difference_within(marks),
        "success_spread": repeats.spread([mark["edit_success"] for mark in marks]),
    }
    if exchanged:
        others = [heard.reply["verdict"] for heard in exchanged]
        across = edits.exchange(pairs, list(zip(others, map(_marks, exchanged), strict=True)))
        values |= {
            "exchange_agreement": float(set(repeats.majority(others)) == set(first)),
            "exchange_flip": across.flips,
            "exchange_difference": across.difference,
            "exchange_flip_excess": _less(across.flips, values["flip_rate"]),
            "exchange_excess": _less(across.difference, values["repeat_difference"]),
        }
    return values, verdict, _why(usual, first, means)


def _marks(heard: Heard) -> dict[str, float]:
    return {axis: float(heard.reply[axis]) for axis in AXES}


def _less(one: float, other: float | None) -> float | None:
    return None if other is None else one - other


def _why(usual: Sequence[Heard], first: Sequence[str], means: Mapping[str, float]) -> str:
    told = ", ".join(f"{title.lower()} {means[axis]:.3g}" for title, axis in zip(_TITLES, AXES, strict=True))
    if len(first) > 1:
        told = f"tie of {' and '.join(first)}; {told}"
    notes = next(h.reply["notes"] for h in usual if h.reply["verdict"] == first[0]).strip()
    return f"{told}; {notes}" if notes else told


def _baseline_remarks(systems: Sequence[SystemRow]) -> list[str]:
    """Says which systems a judge does not put above the baselines, which cannot have edited anything."""
    joint = {
        row.system: value for row in systems if (value := row.metrics["joint_success"].value) is not None
    }
    notes = []
    for baseline in BASELINES:
        floor = joint.get(baseline, -1.0)
        level = [name for name, value in joint.items() if name not in BASELINES and value <= floor]
        if level:
            notes.append(
                f"Joint success is not above that of the baseline {baseline}: {', '.join(level)}. Either "
                "these systems do no better, or the judge does not hear what it is asked about."
            )
    return notes


def _remarks(systems: Sequence[SystemRow]) -> list[str]:
    """Whether exchanging the clips moved the judge more than asking it again did."""
    agreement, n = _pooled(systems, "exchange_agreement")
    if agreement is None:
        return ["No item was heard with the clips exchanged, so nothing is known of their order's influence."]
    told = f"With the clips exchanged, {n} items kept their majority verdict in {agreement:.1%}."
    flips, _ = _pooled(systems, "exchange_flip")
    difference, _ = _pooled(systems, "exchange_difference")
    more, paired = _pooled(systems, "exchange_flip_excess")
    excess, _ = _pooled(systems, "exchange_excess")
    told += (
        f" Verdicts flipped in {flips:.1%} of the pairs of a usual and an exchanged hearing, whose marks lay "
        f"{difference:.2f} apart."
    )
    if more is None or excess is None:
        return [f"{told} With one repeat nothing shows how much of that is repetition alone."]
    return [
        f"{told} On {paired} items with repeats, exchange added {more:+.1%} flips and {excess:+.2f} marks to "
        "what repetition alone moves; the order of the clips sways the judge as far as these lie above zero "
        "(their intervals are in summary.json)."
    ]


def _pooled(systems: Sequence[SystemRow], name: str) -> tuple[float | None, int]:
    """A metric's mean over the items of all systems, and their number."""
    known = [(m.value, m.n) for row in systems if (m := row.metrics[name]).value is not None]
    n = sum(count for _, count in known)
    return (sum((value or 0.0) * count for value, count in known) / n if n else None), n
