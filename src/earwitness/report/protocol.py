"""The paragraph for the paper: how the numbers came about, from recorded facts alone.

A fact that is not there is left out; none is guessed. The sentences about intervals, tests and TOA
state what :mod:`earwitness.stats.intervals` and :mod:`earwitness.scores.order` do.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Any

from earwitness.report.cells import one_line
from earwitness.report.tables import key_spec, low_coverage, markdown_text
from earwitness.tasks.rows import Summary
from earwitness.tasks.summary import ALPHA


def paragraph(summary: Summary, facts: Mapping[str, Any]) -> str:
    """Markdown for ``protocol.md``.

    Args:
        facts: Any of ``command``, ``date``, ``versions`` (by package), ``seed``, ``repeats``,
            ``listener`` (any of ``name``, ``version``, ``settings``, ``resolution_s``, ``detector``),
            ``prompt_hashes`` (by question), ``level``, ``draws``, ``calibration`` (what is known of the
            listener's own accuracy, in words).

    Returns:
        One paragraph, then the command and the versions to reproduce it.
    """
    listener = facts.get("listener") or {}
    sentences = chain(
        _hearing(summary, facts, listener),
        _items(summary),
        _measure(summary, listener),
        _statistics(summary, facts),
        _limits(summary, facts),
    )
    blocks = [" ".join(sentences)]
    if facts.get("command"):
        blocks.append(f"Command: {_code(str(facts['command']))}")
    if listener.get("settings"):
        blocks.append(f"Listener settings: {_listed(listener['settings'])}.")
    if facts.get("versions"):
        blocks.append(f"Versions: {_listed(facts['versions'])}.")
    return "\n\n".join(blocks) + "\n"


def _hearing(summary: Summary, facts: Mapping[str, Any], listener: Mapping[str, Any]) -> list[str]:
    version = f" (version {markdown_text(str(listener['version']))})" if listener.get("version") else ""
    when = f" on {markdown_text(str(facts['date']))}" if facts.get("date") else ""
    name = markdown_text(str(listener.get("name") or summary.listener))
    said = [f"Clips of {_count(len(summary.rows), 'system')} were heard by {name}{version}{when}."]
    detector = listener.get("detector")
    if detector is True:
        said.append(
            "It is a sound event detector: it hears each clip once, reports labelled events with times and "
            "never sees a caption."
        )
    elif detector is False:
        said.append("It is a judge: it hears the clip and reads the caption it is asked about.")
    if listener.get("resolution_s") is not None:
        said.append(f"Onsets closer than {listener['resolution_s']:g} s count as simultaneous.")
    if facts.get("prompt_hashes"):
        said.append(f"Hashes of its prompts: {_listed(facts['prompt_hashes'])}.")
    if facts.get("repeats") is not None:
        times = "once" if facts["repeats"] == 1 else f"{facts['repeats']} times"
        said.append(f"Every clip was heard {times}.")
    said.append("The listener was told neither the systems' names nor any path.")
    return said


def _items(summary: Summary) -> list[str]:
    rows = summary.rows
    n, scored = sum(row.n for row in rows), sum(row.scored for row in rows)
    excluded, unheard = sum(row.not_applicable for row in rows), sum(row.unheard for row in rows)
    reasons: Counter[str] = Counter()
    for row in rows:
        reasons.update(row.unheard_reasons)
    why = ", ".join(f"{count} {markdown_text(reason)}" for reason, count in sorted(reasons.items()) if count)
    said = [
        f"Of {_count(n, 'item')}, {scored} were scored, {excluded} not applicable and {unheard} unheard"
        + (f" ({why})" if why else "")
        + "; what was not applicable or unheard enters no score."
    ]
    low = [f"{markdown_text(row.system)} ({row.coverage:.1%})" for row in rows if low_coverage(row)]
    if low:
        said.append(f"Fewer than 95 % of the applicable items were scored for {', '.join(low)}.")
    return said


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


def _statistics(summary: Summary, facts: Mapping[str, Any]) -> list[str]:
    said = []
    if _has_intervals(summary):
        level = f"{100 * facts['level']:g} % intervals" if facts.get("level") is not None else "Intervals"
        details = [f"{facts['draws']:,} draws"] if facts.get("draws") is not None else []
        details += [f"seed {facts['seed']}"] if facts.get("seed") is not None else []
        said.append(
            f"{level} are percentile bootstrap intervals over clusters of items (a pair of prompts, or one "
            "caption)" + (f", {', '.join(details)}" if details else "") + "; where all clusters agree, the "
            "Wilson bound at the number of clusters is given."
        )
    tested = sum(comparison.p_holm is not None for comparison in summary.comparisons)
    if tested:
        said.append(
            "Systems were compared on the clusters they share, with paired bootstrap intervals and a "
            "two-sided permutation test that swaps the two systems within clusters; p values are "
            f"Holm-corrected over {_count(tested, 'comparison')}, and no winner is named where the paired "
            f"interval covers zero or the corrected p is not below {ALPHA:g}."
        )
    return said


def _has_intervals(summary: Summary) -> bool:
    return any(metric.low is not None for row in summary.rows for metric in row.metrics.values())


def _limits(summary: Summary, facts: Mapping[str, Any]) -> list[str]:
    said = []
    if _has_intervals(summary):
        said.append("Intervals show sampling alone and hide the listener's own error.")
    if facts.get("calibration"):
        text = markdown_text(str(facts["calibration"])).rstrip(".")
        said.append(f"On material whose truth is known: {text}.")
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
