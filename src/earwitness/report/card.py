"""The card of a bundle, ``README.md``: what is in the folder, how it came about, what is left to fill in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from earwitness.report import distance_pairs
from earwitness.report.licences import Copied
from earwitness.report.tables import markdown_text
from earwitness.tasks import label
from earwitness.tasks.rows import Summary

_CONTENTS = {
    "index.html": "the page: every clip beside what was asked, heard and judged; opens from disk",
    "audio/": "the clips",
    "audio.csv": "every clip's file with length, rate and hash",
    "prompts.csv": "what the clips were made from",
    "items.csv": "one row a clip: status, verdict, every number",
    "replies.csv": "one row per clip, side and repeat: what the listener answered",
    "summary.json, summary.csv": "one row a system: counts, coverage, every metric with its interval",
    "tables/, figures/": "the same for a paper",
    "protocol.md": "how it was measured, in a paragraph",
    "run.json": "listener, settings, versions, prompts, seed",
}


_RELATIONS = {"relations.csv": "every metric by relation, for each system with the ceilings and floors"}
_DISTANCES = {
    "distances.csv": "how far each system's clips are from the references, or why there is no number"
}
_LABELS = {"labels/": "descriptions as CSV, JSON Lines, AudioFolder metadata, DCASE and Audacity event lists"}


@dataclass(frozen=True, slots=True)
class About:
    """What the card tells.

    Attributes:
        meta: The run's settings, without what must not leave the house.
        form: How the clips are encoded.
        missing: Clips that are not in the folder, and why.
        notes: Further remarks.
        table: The table of systems in markdown.
        licences: What is known of the licences of a data set's clips.
    """

    summary: Summary
    meta: Mapping[str, Any]
    form: str
    anonymous: bool
    missing: Sequence[str]
    notes: Sequence[str]
    table: str
    licences: Copied


def text(about: About) -> str:
    """The card in markdown, with the fields that only people can fill left open."""
    summary = about.summary
    clips = sum(row.n for row in summary.rows)
    lines = [
        f"# Clips, replies and results of the {markdown_text(summary.task)} task",
        "",
        f"{clips:,} clips of {len(summary.rows)} systems, heard by {markdown_text(summary.listener)} on "
        f"{markdown_text(str(about.meta['started']))}. Open `index.html` to listen.",
        "",
        "## Fill in before this is given away",
        "",
        "- Licence of the clips: TODO",
        *([f"  - {markdown_text(about.licences.warning)}"] if about.licences.files else []),
        "- Licence of the captions and prompts: TODO",
        "- Licence of the replies and results: TODO",
        "- Consent or rights for voices and source recordings: TODO",
        *(
            ["- Authors, citation, contact: left out while the systems are anonymous"]
            if about.anonymous
            else ["- Authors: TODO", "- How to cite: TODO", "- Contact: TODO"]
        ),
        "",
        "## What is in it",
        "",
        "| file | what |",
        "|---|---|",
        *(f"| `{name}` | {what} |" for name, what in _contents(about).items()),
        "",
        f"The clips are encoded as {about.form}, from the samples alone; rate and channels are those of the "
        "originals.",
        *(
            ["The systems are called by letters that say nothing of them; baselines keep their names."]
            if about.anonymous
            else ["`audio.csv` has the hashes of the originals too."]
        ),
        "",
        "## Results",
        "",
        about.table.rstrip(),
        "",
    ]
    if about.missing:
        lines += ["## Clips that are not here", "", *(f"- {markdown_text(one)}" for one in about.missing), ""]
    if about.notes or summary.notes:
        notes = (*about.notes, *summary.notes)
        lines += ["## Notes and limits", "", *(f"- {markdown_text(note)}" for note in notes), ""]
    return "\n".join(lines)


def _contents(about: About) -> dict[str, str]:
    summary = about.summary
    listed = dict(_DISTANCES) if summary.distances else {}
    if summary.distances and summary.distances.comparisons:
        listed[distance_pairs.FILE] = "which of two systems is nearer to the references, and how sure that is"
    listed |= dict.fromkeys(about.licences.files, "the recordings that a data set's clips are mixed from")
    if summary.task == label.TASK.name:
        return {name: what for name, what in _CONTENTS.items() if name != "prompts.csv"} | _LABELS | listed
    return _CONTENTS | (_RELATIONS if summary.measures.strata else {}) | listed
