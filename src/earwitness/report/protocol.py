"""The paragraph for the paper: how the numbers came about, from recorded facts alone.

First one paragraph to paste: systems, listener, task and software, what was scored and how many, ceilings,
how intervals are made. Then, as lists, whatever else a reader or a reviewer may ask.

A fact that is not there is left out; none is guessed. The sentences about intervals, tests and TOA
state what :mod:`earwitness.stats.intervals` and :mod:`earwitness.scores.order` do.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from earwitness.report import distance_words, relation_words
from earwitness.report.cells import one_line
from earwitness.report.tables import key_spec, low_coverage, markdown_text
from earwitness.tasks import independence
from earwitness.tasks.rows import Summary
from earwitness.tasks.summary import ALPHA
from earwitness.tasks.task import BLIND, SEED


def paragraph(summary: Summary, facts: Mapping[str, Any]) -> str:
    """Markdown for ``protocol.md``.

    Args:
        facts: Any of ``command``, ``date``, ``versions`` (by package), ``seed``, ``repeats``,
            ``listener`` (any of ``name``, ``version``, ``settings``, ``resolution_s``, ``detector``),
            ``prompt_hashes`` (by question), ``ask`` (a way of tasks.task.WAYS), ``served`` (answers by
            model), ``usage`` (counts summed), ``cost_usd``, ``generator_encoder`` (empty if not named),
            ``data`` (name of what was heard), ``scoring`` (how relations were scored), ``level``, ``draws``,
            ``calibration`` (what is known of the listener's own accuracy, in words), ``trained_on`` (a
            training.overlap.Overlap: how much of the data its training held).

    Returns:
        One paragraph, then the details, with the command and the versions to reproduce it.
    """
    listener = facts.get("listener") or {}
    told = relation_words.said(summary, facts) if summary.measures.strata else relation_words.NOTHING
    short = (
        *_heard(summary, facts, listener),
        *told.data,
        *_items(summary),
        *_measure(summary, listener),
        *told.scoring,
        *told.ceilings,
        *_trained_on(facts),
        *_intervals(summary, facts),
    )
    details = {
        "Listener": _hearing(summary, facts, listener),
        "Scores": [*_coverage(summary), *told.details],
        "Intervals and tests": _statistics(summary),
        "Distances": _distances(summary),
        "Limits": _limits(facts),
        "To do it again": _again(facts, listener),
    }
    return shaped(short, details)


def shaped(paragraph: Sequence[str], details: Mapping[str, Sequence[str]]) -> str:
    """A protocol as markdown: a paragraph, then lists under their heads, but for those that are empty.

    Args:
        paragraph, details: Sentences as markdown.
    """
    blocks = [" ".join(paragraph)]
    lists = {head: said for head, said in details.items() if said}
    if lists:
        blocks.append("## Details")
    for head, said in lists.items():
        blocks += [f"**{head}**", "\n".join(f"- {sentence}" for sentence in said)]
    return "\n\n".join(blocks) + "\n"


def _again(facts: Mapping[str, Any], listener: Mapping[str, Any]) -> list[str]:
    said = []
    if facts.get("command"):
        said.append(f"Command: {_code(str(facts['command']))}")
    if listener.get("settings"):
        given = {name: value for name, value in listener["settings"].items() if value not in (None, "")}
        said.append(f"Listener settings: {_listed(given)}.")
    if facts.get("versions"):
        said.append(f"Versions: {_listed(facts['versions'])}.")
    return said


def _ear(summary: Summary, listener: Mapping[str, Any]) -> str:
    return str(listener.get("name") or summary.listener)


def _heard(summary: Summary, facts: Mapping[str, Any], listener: Mapping[str, Any]) -> list[str]:
    """Whose clips were heard by what, when, and by which software."""
    version = f" (version {markdown_text(str(listener['version']))})" if listener.get("version") else ""
    when = f" on {markdown_text(str(facts['date']))}" if facts.get("date") else ""
    ear = markdown_text(_ear(summary, listener))
    own = (facts.get("versions") or {}).get("earwitness")
    task = f"the {markdown_text(summary.task)} task of earwitness" + (f" {markdown_text(own)}" if own else "")
    return [f"Clips of {_systems(summary)} were heard by {ear}{version}{when}, in {task}."]


def _hearing(summary: Summary, facts: Mapping[str, Any], listener: Mapping[str, Any]) -> list[str]:
    said = [summary.measures.hearing] if summary.measures.hearing else []
    judge = listener.get("detector") is False
    if judge:
        said += _judging(summary.task, facts, listener)
    if listener.get("resolution_s") is not None and not judge:
        said.append(f"Onsets closer than {listener['resolution_s']:g} s count as simultaneous.")
    if facts.get("prompt_hashes"):
        hashes = {question: str(text)[:16] for question, text in facts["prompt_hashes"].items()}
        said.append(f"Hashes of its prompts: {_listed(hashes)}.")
    if facts.get("repeats") is not None:
        said.append(_repeats(facts["repeats"], judge))
    said.append("The listener was told neither the systems' names nor any path.")
    if facts.get("generator_encoder") is not None:
        said.append(
            markdown_text(independence.statement(_ear(summary, listener), facts["generator_encoder"])[1])
        )
    return said


def _systems(summary: Summary) -> str:
    """How many systems, and how many baselines apart from them."""
    baselines = sum(row.baseline for row in summary.rows)
    systems = _count(len(summary.rows) - baselines, "system")
    return f"{systems} and {_count(baselines, 'baseline')}" if baselines else systems


_WAYS = {
    BLIND: (
        "Asked blind, it first lists what it hears without any caption; that list goes with the caption and "
        "with its reversal, so neither can have coloured it."
    ),
    SEED: "The caption is in sight while it lists what it hears, so the list may be coloured by it.",
}


def _judging(task: str, facts: Mapping[str, Any], listener: Mapping[str, Any]) -> list[str]:
    """Which model judged, how it was asked, what it cost, and whether sound is known to have arrived."""
    said = []
    if task == "order":
        said += [_WAYS[way] for way in [facts.get("ask")] if way in _WAYS]
        said.append(
            "Beside its own recall, precision and order verdict stand those computed by rule from the events "
            "it lists."
        )
        if listener.get("resolution_s") is not None:
            said.append(f"In these, onsets closer than {listener['resolution_s']:g} s are simultaneous.")
    settings = listener.get("settings") or {}
    if settings.get("temperature") is not None:
        budget = settings.get("thinking_tokens")
        thinking = "left to the model" if budget is None else f"{budget} tokens"
        said.append(f"Its temperature was {settings['temperature']:g}, its thinking budget {thinking}.")
    served = facts.get("served") or {}
    if served:
        models = ", ".join(
            f"{markdown_text(model)} ({_count(count, 'answer')})" for model, count in served.items()
        )
        said.append(f"The server named what answered: {models}.")
        tokens = (facts.get("usage") or {}).get("input_audio_tokens", 0)
        said.append(
            f"Its usage counts {tokens:,.0f} audio tokens: sound arrived."
            if tokens
            else "Its usage counts no audio tokens, so that sound arrived is not confirmed by it."
        )
    if facts.get("cost_usd") is not None:
        said.append(f"The answers cost {facts['cost_usd']:.2f} USD at the prices known.")
    return said


def _repeats(repeats: int, judge: bool) -> str:
    times = "once" if repeats == 1 else f"{repeats} times"
    if not judge:
        return f"Every clip was heard {times}."
    if repeats == 1:
        return "Everything was asked once, so how far its answers vary is not known."
    return (
        f"Everything was asked {times}, each in a call of its own; numbers are means over these repeats, and "
        "verdicts go by the majority."
    )


def _items(summary: Summary) -> list[str]:
    rows = summary.rows
    n, scored = sum(row.n for row in rows), sum(row.scored for row in rows)
    excluded, unheard = sum(row.not_applicable for row in rows), sum(row.unheard for row in rows)
    reasons: Counter[str] = Counter()
    for row in rows:
        reasons.update(row.unheard_reasons)
    why = ", ".join(f"{count} {markdown_text(reason)}" for reason, count in sorted(reasons.items()) if count)
    low = sum(map(low_coverage, rows))
    return [
        f"Of {_count(n, 'item')}, {scored} were scored, {excluded} not applicable and {unheard} unheard"
        + (f" ({why})" if why else "")
        + ("; what was not applicable or unheard enters no score" if excluded or unheard else "")
        + (f", which leaves {_count(low, 'system')} below 95 % coverage." if low else ".")
    ]


def _coverage(summary: Summary) -> list[str]:
    low = [f"{markdown_text(row.system)} ({row.coverage:.1%})" for row in summary.rows if low_coverage(row)]
    return [f"Fewer than 95 % of the applicable items were scored for {', '.join(low)}."] if low else []


def _measure(summary: Summary, listener: Mapping[str, Any]) -> list[str]:
    if summary.task != "order":
        key = key_spec(summary)
        return [f"The key metric is {markdown_text(key.title)}: {markdown_text(key.meaning)}."]
    if listener.get("detector") is True:
        match = "every stated event is heard and every stated precedence holds"
    else:
        match = "the order is judged fully right in more than half of the repeats"
    return [
        f"Temporal-Order Accuracy (TOA) is the share of scored items for which {match}, and for which the "
        "alignment with the caption is higher than with its reversal."
    ]


def _intervals(summary: Summary, facts: Mapping[str, Any]) -> list[str]:
    """How intervals are made, and what they leave out."""
    said = []
    if _has_intervals(summary):
        level = f"{100 * facts['level']:g} % intervals" if facts.get("level") is not None else "Intervals"
        details = [f"{facts['draws']:,} draws"] if facts.get("draws") is not None else []
        details += [f"seed {facts['seed']}"] if facts.get("seed") is not None else []
        means = f" (a cluster is {summary.measures.cluster})" if summary.measures.cluster else ""
        drawn = f", {', '.join(details)}" if details else ""
        said.append(
            f"{level} are percentile bootstrap intervals over clusters of items{means}{drawn}; they show "
            "sampling alone and hide the listener's own error."
        )
    elif facts.get("seed") is not None:
        said.append(f"The seed is {facts['seed']}.")
    if any(comparison.p_holm is not None for comparison in summary.comparisons):
        said.append("Systems were compared by paired permutation tests with Holm's correction.")
    return said


def _statistics(summary: Summary) -> list[str]:
    said = []
    if _has_intervals(summary):
        said.append("Where all clusters agree, the Wilson bound at the number of clusters is given.")
        if summary.measures.strata:
            said.append(
                f"Clusters were drawn within each of the {markdown_text(summary.measures.stratum)}; the "
                "interval of a mean over several joins theirs by adding the squares of their arms."
            )
    tested = sum(comparison.p_holm is not None for comparison in summary.comparisons)
    if tested:
        said.append(
            "Systems were compared on the items that both have a value for, with paired bootstrap intervals "
            "over their clusters and a two-sided permutation test that swaps the two systems within "
            f"clusters; p values are Holm-corrected over {_count(tested, 'comparison')}, and no winner is "
            f"named where the paired interval covers zero or the corrected p is not below {ALPHA:g}."
        )
    if any(row.baseline for row in summary.rows):
        said.append("Baselines are shown for scale and were not tested.")
    return said


def _distances(summary: Summary) -> list[str]:
    """What was measured against references, and by which recipe."""
    found = summary.distances
    if found is None:
        return []
    there = {row.metric for row in found.rows}
    specs = [spec for name, spec in distance_words.SPECS.items() if name in there]
    metrics = "; ".join(f"{spec.title}, {spec.meaning}" for spec in specs)
    said = [f"Clips were held against reference clips as well ({metrics}).", *found.notes]
    said += [distance_words.PAIRS] * bool(found.comparisons)
    left_out = len({(system, file) for system, file, _ in found.left_out})
    if left_out:
        said.append(f"{_count(left_out, 'clip')} could not be embedded and were left out.")
    return [markdown_text(one) for one in (*said, distance_words.recipe_words(found.recipe))]


def _has_intervals(summary: Summary) -> bool:
    return any(metric.low is not None for row in summary.rows for metric in row.metrics.values())


def _trained_on(facts: Mapping[str, Any]) -> list[str]:
    """That sounds of the data were in the listener's training, if any were or may have been."""
    seen = facts.get("trained_on")
    return [seen.short] if seen and seen.short else []


def _limits(facts: Mapping[str, Any]) -> list[str]:
    """What is known of the listener's own error, and of its training."""
    said = []
    if facts.get("calibration"):
        text = markdown_text(str(facts["calibration"])).rstrip(".")
        said.append(f"On material whose truth is known: {text}.")
    if facts.get("trained_on"):
        said.append(facts["trained_on"].sentence)
    return said


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _listed(values: Mapping[str, Any]) -> str:
    """Names and values in words; of a long table only its size."""
    return ", ".join(f"{markdown_text(name)} {_value(value)}" for name, value in values.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping | list | tuple):
        return f"({_count(len(value), 'entry', 'entries')})"
    return markdown_text(str(value))


def _code(text: str) -> str:
    """Inline code that may hold backticks itself."""
    text = one_line(text)
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"
