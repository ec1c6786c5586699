"""What is said of event metrics: caption, legends, notes, comparisons, and the paragraph for the paper."""

from collections.abc import Iterable, Mapping, Sequence

from earwitness.manifest.table import listing
from earwitness.report import tables
from earwitness.report.cells import one_line
from earwitness.report.comparison_words import sentence
from earwitness.report.protocol import shaped
from earwitness.report.tables import markdown_text
from earwitness.tasks.event_result import EventScores
from earwitness.tasks.event_scores import LEAVE, SPECS
from earwitness.tasks.rows import MetricSpec

OUTSIDE, MATCHES = "Outside", "Matches"
HIDING = ("Events", "Segments")
"""Tables whose numbers would be others if labels outside the truth's classes counted."""
FEW_CLIPS = 10
"""With fewer, intervals are too narrow: benchmarks/event_intervals.py."""
_ARROWS: Mapping[int, str] = {1: " ↑", -1: " ↓"}
_ERRORS = "Late is positive; |error| mean absolute error, p90 its 90th percentile."
_LEGENDS: Mapping[str, str] = {
    "Events": "P precision, R recall, ER (substitutions + misses + false alarms) / true events; it may "
    "exceed 1.",
    "Segments": "P precision, R recall, ER errors / true, of the classes that are active in each segment.",
    "Macro and lenient": "Macro: mean of the truth's classes. Lenient: a label above or below the class in "
    "AudioSet's tree is a hit, too; R recall.",
    "Onsets of matched events": f"Estimated less true onset. {_ERRORS}",
    "Offsets of matched events": f"Estimated less true offset. {_ERRORS}",
    "Event F1 by class": "True: events of the class.",
    "Segment F1 by class": "True: segments in which the class is active.",
}
_OUTSIDE = (
    f"{OUTSIDE}: events left out, as their labels are none of the truth's classes; as false alarms "
    "(--outside count) they would lower P and F1, and may raise ER."
)
_MATCHES = f"{MATCHES}: events that the numbers rest on."


def head(spec: MetricSpec) -> str:
    """What a column is called, with an arrow to where it is better."""
    return spec.title + _ARROWS.get(spec.better, "")


def legend(
    scores: EventScores,
    title: str,
    heads: Sequence[str],
    rows: Iterable[tuple[str, Sequence[tables.Cell]]],
) -> str:
    """What signs and columns of a table mean.

    Args:
        title, heads, rows: Of the table.
    """
    said = [_LEGENDS[title]]
    said += [words for name, words in ((OUTSIDE, _OUTSIDE), (MATCHES, _MATCHES)) if name in heads]
    if any(one.endswith(tuple(_ARROWS.values())) for one in heads):
        said.append("↑ more is better, ↓ less is.")
    if any(cell.text == tables.NONE for _, cells in rows for cell in cells):
        why = "the notes say why" if heads else "nothing of the class is true in the clips heard"
        said.append(f"{tables.NONE}: no number; {why}.")
    return " ".join(said)


def caption(scores: EventScores, intervals: str = "in brackets") -> str:
    """What the tables show, in one sentence; where they have their intervals."""
    return (
        f"{_many(scores.clips, 'clip')}, {_many(len(scores.classes), 'class', 'es')}; {_rule(scores)}; "
        f"segments of {scores.settings.segment_s:g} s; "
        f"intervals at {100 * scores.settings.level:g} % {intervals}."
    )


def _many(count: int, what: str, more: str = "s") -> str:
    return f"{count:,} {what}{'' if count == 1 else more}"


def _rule(scores: EventScores) -> str:
    rule = scores.settings.rule
    onset = f"onsets within ±{rule.onset_collar_s:g} s"
    if not rule.offset:
        return f"{onset}, offsets not asked for"
    share = f"{100 * rule.offset_share:g} % of the true event"
    return f"{onset}, offsets within ±{rule.offset_collar_s:g} s or {share}, whichever is more"


def notes(scores: EventScores) -> list[str]:
    """What a reader must know: of the input, of clips left out, of labels read otherwise or outside."""
    said = list(scores.notes)
    for one in scores.systems:
        if one.left_out:
            clips = listing(f"{clip} ({why})" for clip, why in one.left_out.items())
            said.append(
                f"{one.system}: {len(one.left_out)} of {one.clips} clips are unheard and not scored: {clips}."
            )
        if one.read_as:
            said.append(
                f"{one.system}: read as classes: {listing(f'{a} as {b}' for a, b in one.read_as.items())}."
            )
        if one.outside:
            what = "left out" if one.outside_is == LEAVE else "counted as false alarms"
            labels = listing(f"{name} ({count})" for name, count in one.outside.items())
            total = _many(sum(one.outside.values()), "event")
            said.append(f"{one.system}: {total} outside the truth's classes, {what}: {labels}.")
        missing = {why: [SPECS[name].title for name, its in one.whole.reasons.items() if its == why]
                   for why in one.whole.reasons.values()}  # fmt: skip
        said += (f"{one.system}: {why}, so unscored: {', '.join(which)}." for why, which in missing.items())
    if few := [f"{one.system} {one.heard}" for one in scores.systems if 0 < one.heard < FEW_CLIPS]:
        said.append(
            f"Intervals rest on fewer than {FEW_CLIPS} clips ({listing(few)}): made by drawing so few again, "
            "those of rates are too narrow. Where clips differ much, 95 % ones hold the true value in about "
            "80 % of cases with 4 clips, 85 % with 6, 89 % with 9."
        )
    return said


def sentences(scores: EventScores) -> list[str]:
    """What every comparison of two systems says."""
    return [
        f"{SPECS[one.metric].title}: {sentence(one, SPECS[one.metric], clips=True)}"
        for one in scores.comparisons
    ]


def protocol(scores: EventScores) -> str:
    """The paragraph for the paper, then the details, with what is needed to do it again."""
    set_ = scores.settings
    by = f", with earwitness {scores.version}" if scores.version else ""
    short = [
        f"Event tables of {_many(len(scores.systems), 'system')} were held against the truth of "
        f"{_many(scores.clips, 'clip')} ({scores.duration_s:.1f} s, "
        f"{_many(len(scores.classes), 'class', 'es')}){by}.",
        f"An estimated event is a hit if its class is the true one's and it fits in time: {_rule(scores)}; "
        "events are matched one to one, as many as can be.",
        "The error rate is (substitutions + deletions + insertions) / true events.",
        f"Segment-based numbers count classes active in segments of {set_.segment_s:g} s.",
        "Counts are summed over clips (micro); macro F1 is the mean over the classes of the truth.",
        f"Intervals are percentile bootstraps over clips at {100 * set_.level:g} % ({set_.draws:,} draws, "
        f"seed {set_.seed}).",
    ]
    if scores.comparisons:
        short.append(
            "Systems were compared on the clips that both heard, by a test that swaps their names clip by "
            "clip, corrected by Holm."
        )
    details = {
        "Matching": [
            "A pair left over that fits in time but not in class is a substitution, counted as sed_eval "
            "does.",
            "Lenient numbers let a label above or below the class in AudioSet's tree be a hit.",
            "Times closer than a microsecond are equal.",
        ],
        "Intervals and tests": [
            "Where no clip alone changes a share, its interval is the Wilson bound at the number of its "
            "clips.",
            *sentences(scores),
        ],
        "Notes": notes(scores),
        "To do it again": [],
    }
    written = {head: [markdown_text(one) for one in said] for head, said in details.items()}
    if scores.command:
        written["To do it again"].append(f"Command: `{one_line(scores.command)}`")
    return shaped([markdown_text(one) for one in short], written)
