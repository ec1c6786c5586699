"""``earwitness bundle`` and ``earwitness compare``: give a run away, and hold two runs side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earwitness.cli import show

if TYPE_CHECKING:
    from rich.table import Table

LISTED = 20
"""More missing clips, or changed verdicts, than this are counted; the files have them all."""


def bundle(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to make.", show_default=False)],
    anonymous: Annotated[bool, typer.Option("--anonymous", help="Name no system.")] = False,
    audio: Annotated[str, typer.Option(help="How clips are packed: ogg, mp3, flac or wav.")] = "ogg",
    spectrograms: Annotated[int, typer.Option(help="Draw spectrograms for at most this many clips.")] = 500,
) -> None:
    """Pack a run to give away: prompts, clips, replies, tables, the page, and a card to fill in.

    \b
    Examples:
      earwitness bundle run -o release
      earwitness bundle run -o supplement --anonymous --audio mp3
    """
    from earwitness.report import bundle as bundles
    from earwitness.report.build import Options
    from earwitness.report.cells import one_line

    with show.progress_bar() as progress:
        made = bundles.bundle(
            run,
            out,
            anonymous=anonymous,
            audio=audio,
            options=Options(spectrograms=spectrograms),
            progress=progress,
        )
    for line in made.missing[:LISTED]:
        typer.echo(f"not packed: {one_line(line)}")
    if len(made.missing) > LISTED:
        typer.echo(f"... and {len(made.missing) - LISTED} more, all listed in README.md")
    for note in made.notes:
        typer.echo(f"- {one_line(note)}")
    typer.echo(f"{len(made.packed)} clips, {made.size_bytes / 1e6:.1f} MB in all: {made.folder}")
    if made.key:
        typer.echo(f"The systems' names are in {made.key}. Do not give that file away.")
    typer.echo(f"Licences and authors are for you to fill in: {made.folder / 'README.md'}")


def compare(
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="A run folder.", show_default=False)],
    second: Annotated[
        Path, typer.Argument(metavar="SECOND", help="Another of the same task.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for compare.json, .csv and .md.", show_default=False),
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
) -> None:
    """What did the second run change, on the clips that both judged?

    \b
    Example:
      earwitness compare run-yamnet run-gemini -o compared
    """
    from rich.console import Console

    from earwitness.report import compare as runs
    from earwitness.report import compared_distances
    from earwitness.report.build import Options
    from earwitness.report.cells import one_line

    found = runs.compare(first, second, out=out, options=Options(level=level))
    for line in runs.heads(found):
        typer.echo(one_line(line))
    console = Console()
    console.print(_table("Second run less first", runs.difference_table(found)))
    console.print(_table("Coverage", runs.coverage_table(found)))
    if found.distances:
        console.print(_table("Distances", compared_distances.table(found.distances)))
    if found.changed:
        shown = runs.changed_table(found)
        console.print(_table("Other verdicts", shown[: LISTED + 1]))
        if len(found.changed) > LISTED:
            typer.echo(f"... and {len(found.changed) - LISTED} more; -o writes them all")
    for line in (*runs.remarks(found), *found.settings):
        typer.echo(f"- {one_line(line)}")
    if out is not None:
        typer.echo(f"Written: {out / 'compare.md'}")


def _table(title: str, rows: "Sequence[Sequence[str]]") -> "Table":
    """Every cell as plain text: nothing from a run is read as markup or as a terminal sequence."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from earwitness.report.cells import one_line

    heads, *rest = rows
    table = Table(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True
    )
    for head in heads:  # a head may fold between its words, not within one
        table.add_column(Text(head), overflow="fold", min_width=max(map(len, head.split()), default=0))
    for row in rest:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    return table
