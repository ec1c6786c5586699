"""``earwitness events``: event tables held against the truth."""

from pathlib import Path
from typing import Annotated

import typer

from earwitness.cli import show
from earwitness.errors import UserError

EXAMPLES = """\b
Examples:
  earwitness events truth.tsv system.tsv --duration 10
  earwitness events truth.tsv ours=a.tsv base=b.tsv --durations lengths.csv -o scores
  earwitness events tables/ ours=out/ --collar 0.25 --offset-share 0.5 --no-offset
  earwitness label pairs -o run && earwitness events pairs run     # scenes with known truth
  earwitness events truth.tsv out.tsv --audio clips/ --map labels.csv

\b
TRUTH and ESTIMATED: a DCASE table (filename, onset, offset, event_label), a folder of
earwitness event tables (.json) or Audacity label tracks (.txt), a data set of scenes, or a run
of earwitness label. Tables and label tracks state no lengths of clips: give the truth's by
--durations (file, duration_s), --audio or --duration. Clips without events are listed there,
too. docs/events.md says what is computed, and where sed_eval and mir_eval differ."""


def events(
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="What is known.", show_default=False)],
    estimated: Annotated[
        list[str], typer.Argument(metavar="[NAME=]ESTIMATED", help="What systems say.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for tables, protocol and page.", show_default=False),
    ] = None,
    collar: Annotated[float, typer.Option(help="Onsets may differ by this, plus-minus, seconds.")] = 0.2,
    offset_share: Annotated[
        float, typer.Option(help="Offsets may differ by the collar or this share of the true event.")
    ] = 0.2,
    offset_collar: Annotated[
        float | None, typer.Option(help="Collar of offsets, if another.", show_default=False)
    ] = None,
    no_offset: Annotated[bool, typer.Option("--no-offset", help="Match by onsets alone.")] = False,
    segment: Annotated[float, typer.Option(help="Length of segments, seconds.")] = 1.0,
    durations: Annotated[
        Path | None, typer.Option(help="Table of lengths: file, duration_s.", show_default=False)
    ] = None,
    audio: Annotated[
        Path | None, typer.Option(help="Folder of the clips, to measure lengths.", show_default=False)
    ] = None,
    duration: Annotated[
        float | None, typer.Option(help="Length of every clip, seconds.", show_default=False)
    ] = None,
    own: Annotated[
        Path | None,
        typer.Option("--map", help="Table of labels: label, class (empty: left out).", show_default=False),
    ] = None,
    missing: Annotated[
        str, typer.Option(help="A clip that an estimate lacks: error, empty (nothing heard), unheard.")
    ] = "error",
    outside: Annotated[
        str,
        typer.Option(
            help="Labels that are no class of the truth: count, leave; auto leaves those of label runs."
        ),
    ] = "auto",
    merge: Annotated[
        bool, typer.Option("--merge", help="Make one of overlapping events of one class.")
    ] = False,
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of the intervals.")] = 0,
    page: Annotated[int, typer.Option(help="Most clips on the page, worst first; 0: no page.")] = 100,
) -> None:
    """Score event tables against the truth: event- and segment-based F1 and error rate, errors of time."""
    from rich.console import Console

    from earwitness import api
    from earwitness.report import event_tables, event_words
    from earwitness.report.cells import one_line

    lengths = [one for one in (durations, audio, duration) if one is not None]
    if len(lengths) > 1:
        raise UserError("--durations, --audio and --duration exclude each other.", "Give one of them.")
    scores = api.score_events(
        truth,
        estimated,
        out=out,
        collar=collar,
        offset_share=offset_share,
        offset_collar=offset_collar,
        offset=not no_offset,
        segment=segment,
        durations=lengths[0] if lengths else None,
        own=own,
        missing=missing,
        outside=outside,
        merge=merge,
        level=level,
        seed=seed,
        page=page,
        command=show.typed_command(),
    )
    console = Console()
    console.print(event_words.caption(scores), markup=False, highlight=False)
    for table in event_tables.terminal(scores):
        console.print(table)
    for note in (*event_words.sentences(scores), *event_words.notes(scores)):
        console.print(f"- {one_line(note)}", markup=False, highlight=False)
    if out is not None:
        typer.echo(f"Tables, counts by clip and the paragraph for the paper: {out}")
        if page:
            typer.echo(f"Page, worst clips first: {out / 'index.html'}")
