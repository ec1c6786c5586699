"""A made-up run whose numbers are broken down by relation."""

from collections.abc import Sequence
from typing import Any

from earwitness.scores.relations import MAIN, RELATIONS
from earwitness.tasks.rows import Measures, Metric, MetricSpec, Summary, SystemRow

MEASURES = Measures(
    specs=(
        MetricSpec("msr", "mAMSR", "presence times relation times parsimony"),
        MetricSpec("relation", "mARel", "share of clips whose relation holds"),
        MetricSpec("presence", "mAPre", "share of the asked sounds that are there"),
        MetricSpec("parsimony", "mAPar", "how few sounds nothing asked for"),
        MetricSpec("count_bias", "Count bias", "heard less asked", better=0, scale=None),
    ),
    key="msr",
    columns=("msr", "relation", "presence", "parsimony", "n"),
    verdicts={"holds": "Relation holds", "fails": "Does not hold"},
    kinds={"missing": "a sound is missing"},
    cluster="one prompt",
    baselines={
        "reference": "is the reference clip of each prompt",
        "oracle": "has the true events, and hears nothing",
        "silence": "is silent",
        "shuffled": "is the reference clip of another prompt",
    },
    strata=MAIN,
    ceiling="reference",
    oracle="oracle",
    unlisted=frozenset({"oracle", "silence"}),
)
SKILL = {"reference": 0.9, "oracle": 1.0, "silence": 0.0, "shuffled": 0.1}
N = 720


def metric(value: float, n: int = N) -> Metric:
    return Metric(value, max(0.0, value - 0.021), min(1.0, value + 0.019), n=n)


def system(name: str, skill: float, n: int = N) -> SystemRow:
    """A system whose every number follows from its skill, and from how late a relation comes."""

    def metrics(places: Sequence[int]) -> dict[str, Metric]:
        own = skill if name == "oracle" else skill * (1 - 0.02 * sum(places) / len(places))
        count = n * len(places)
        return {
            "msr": metric(own**3, count),
            "relation": metric(own**2, count),
            "presence": metric(own, count),
            "parsimony": metric(own**0.5, count),
            "count_bias": Metric(-own, -own - 0.1, -own + 0.1, n=count),
        }

    place = {relation: index for index, relation in enumerate(RELATIONS)}
    parts = {relation: metrics([place[relation]]) for relation in RELATIONS}
    parts |= {main: metrics([place[sub] for sub in subs]) for main, subs in MAIN.items()}
    whole = n * len(RELATIONS)
    everything = metrics(list(place.values()))
    baseline = name in MEASURES.baselines
    return SystemRow(
        name, whole, 0, 0, whole, 1.0, everything, {"missing": 7}, baseline=baseline, parts=parts
    )


def ritta(
    names: Sequence[str] = ("AUDIT", "tango2", "audioldm"), measures: Measures = MEASURES, **changes: Any
) -> Summary:
    """A run of so many systems, the first the best, with its ceilings and floors."""
    rows = [system(name, 0.8 - 0.07 * place) for place, name in enumerate(names)]
    rows += [system(name, skill) for name, skill in SKILL.items()]
    parts: dict[str, Any] = {"task": "ritta", "listener": "yamnet", "comparisons": (), "notes": ()}
    return Summary(measures=measures, rows=tuple(rows), **{**parts, **changes})
