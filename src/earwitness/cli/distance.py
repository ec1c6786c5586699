"""``earwitness distance``: how far sets of clips are from a reference set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earwitness.cli import show
from earwitness.cli.options import Group, option, with_options
from earwitness.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from earwitness.tasks.distances import Distances

EXAMPLES = """\b
Examples:
  earwitness distance real/ ours=out/ours base=out/base -o distances
  earwitness distance real/ out/ -o distances          # every folder in out/ is a set
  earwitness distance real/ ours/ --backbone vggish --weights vggish.pth --metrics fad,fd
  earwitness distance real/ ours/ --backbone clap --weights clap/ --prompts prompts.csv
  earwitness distance --table distances other -o both  # finished results in one table

\b
The first folder is the reference. Clips of the same name (path without ending) are pairs, which
KL needs and which make intervals narrower; --unpaired if equal names mean nothing. With fewer
clips than the model has dimensions FD is refused and KAD stands in its place."""

LINES = 6
"""Of notes below the tables; the rest is in distances.md."""
OPTIONS: Group = {
    "prompts": option(Path, "Captions: CSV or JSONL with prompt_id (a clip's name) and caption.", None),
    "paired": option(
        bool, "Equal names must make pairs, or must not; by default they do.", None, "--paired/--unpaired"
    ),
    "backbone": option(str, "The embedding model: yamnet, vggish, panns, panns-framewise or clap.", "yamnet"),
    "weights": option(Path, "Its weights; yamnet needs none.", None),
    "metrics": option(str, "Of fad, fd, kad, kl, is, clap; comma-separated.", "fad,fd,kad,kl,is,clap"),
    "limit": option(int, "Take a seeded sample of this many clips, the same in every set.", None),
    "seed": option(int, "Seed of the halves, of the sample, and of intervals.", 0),
    "level": option(float, "Confidence level of the intervals.", 0.95),
    "workers": option(int, "Processes; one a core, or fewer for few clips. They change no number.", None),
    "engine": option(str, "local, or ray: on the cluster that RAY_ADDRESS names.", "local"),
    "no_cache": option(bool, "Embed every clip anew, and keep no embedding.", False, "--no-cache"),
    "table": option(bool, "The folders are finished results: join them in one table.", False, "--table"),
}


@with_options(OPTIONS)
def distance(
    reference: Annotated[
        str, typer.Argument(metavar="REFERENCE", help="Folder of the reference clips.", show_default=False)
    ],
    sets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=]FOLDER", help="Folders to hold against it.", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")] = Path("distances"),
    **given: Any,
) -> None:
    """How far are sets of clips from a reference set? FAD, FD, KAD, KL, IS, CLAP score, with intervals."""
    from earwitness import api

    if given.pop("table"):
        stray = [name for name, (_, default) in OPTIONS.items() if given.get(name, default) != default]
        if stray:
            raise UserError(
                f"with --table nothing is measured, so there is nothing to set: {', '.join(stray)}.",
                "Leave it out.",
            )
        result = api.join_distances([reference, *(sets or ())], out=out, command=show.typed_command())
    else:
        metrics = [name.strip() for name in given.pop("metrics").split(",") if name.strip()]
        cache = not given.pop("no_cache")
        with show.progress_bar() as progress:
            result = api.distance(
                reference,
                sets or (),
                out=out,
                metrics=metrics,
                cache=cache,
                progress=progress,
                command=show.typed_command(),
                **given,
            )
    _print(result.distances, out)


def _print(distances: "Distances", out: Path) -> None:
    """The tables as wide as the terminal, and of what they rest on as much as has room."""
    from rich.console import Console

    from earwitness.report import distance_tables, distance_words
    from earwitness.report.terminal_table import table
    from earwitness.tasks.distances import in_clips

    console = Console()
    for sheet in map(distance_tables.told_apart, distance_tables.sheets(distances)):
        for piece in distance_tables.pieces(sheet, console.width):
            console.print(table(*piece))
        for note in sheet.notes:
            console.print(note, markup=False, highlight=False)
    console.print(distance_words.recipe_line(distances), markup=False, highlight=False)
    for line in _told(distances.notes, console.width):
        typer.echo(line)
    if distances.left_out:
        clips = in_clips(len(distances.left_out))
        typer.echo(f"{clips} could not be used, or paired: {out / 'left_out.csv'}")
    typer.echo(f"{out / 'distances.md'}: what columns and anchors are, the whole recipe, all notes.")
    typer.echo(f"{out}: distances.json, .csv, .md and .tex, and protocol.md, the paragraph for the paper.")


def _told(notes: "Sequence[str]", width: int) -> "Iterator[str]":
    """The first notes, as lines, and how many more there are."""
    import textwrap

    from earwitness.report.cells import one_line

    told = 0
    for index, note in enumerate(notes):
        lines = textwrap.wrap(f"- {one_line(note)}", width, subsequent_indent="  ", break_on_hyphens=False)
        if told and told + len(lines) > LINES:
            left = len(notes) - index
            yield f"- {left} more note{'s' * (left > 1)} in distances.md."
            return
        yield from lines
        told += len(lines)
