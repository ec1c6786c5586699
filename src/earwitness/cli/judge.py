"""``earwitness judge``: hear clips and say what was kept of what was asked."""

from pathlib import Path
from typing import Annotated

import typer

from earwitness.cli import show

app = typer.Typer(
    help="Judge clips: which system keeps what was asked?",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

EXAMPLES = """\b
Examples:
  earwitness judge order clips.csv -o run
  earwitness judge order --prompts prompts.csv --outputs ours=out/ours --outputs base=out/base -o run
  earwitness judge order clips.csv --map caption=prompt_text --limit 20 -o run

\b
A manifest is a CSV or JSONL file, or a folder with metadata.csv, with the columns
audio (or file_name), system, sample_id, caption, and optionally reversed_caption,
first, second, pair_id. Run the same command again to go on after an interruption;
run it with more rows, systems or a higher --limit to extend the run."""


@app.command("order", epilog=EXAMPLES)
def order(
    manifest: Annotated[
        Path | None, typer.Argument(help="CSV, JSONL, or a folder with metadata.csv.", show_default=False)
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The run folder.")] = Path("run"),
    prompts: Annotated[
        Path | None, typer.Option(help="Prompt file, used with --outputs.", show_default=False)
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=FOLDER: a system's clips, named by prompt_id. Repeat it.", show_default=False
        ),
    ] = None,
    id_from: Annotated[
        str, typer.Option(help="Regular expression whose first group is the prompt_id in a clip's path.")
    ] = "",
    rename: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="OURS=THEIRS", help="Rename a column. Repeat it.", show_default=False),
    ] = None,
    listener: Annotated[str, typer.Option(help="Who hears; see: earwitness listeners.")] = "yamnet",
    weights: Annotated[
        Path | None,
        typer.Option(help="Your own weights file, for machines with no network.", show_default=False),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            help="Independent hearings an item: 3 for LLM judges, 1 for others.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of sampling, order of items, and intervals.")] = 0,
    limit: Annotated[
        int | None, typer.Option(help="Judge a seeded sample of this many prompts.", show_default=False)
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Clips heard at a time; all cores by default.", show_default=False)
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Ask again whatever ended unheard.")] = False,
    spectrograms: show.Spectrograms = 500,
    level: show.Level = 0.95,
    unclaimed: show.Unclaimed = None,
    columns: show.Columns = None,
    decimals: show.Decimals = None,
    name: show.Names = None,
    percent: show.Percent = False,
) -> None:
    """Which system keeps the stated order of events? Prints the table; writes the run folder."""
    from earwitness import api
    from earwitness.manifest import parse_rename

    options = show.report_options(columns, decimals, name, percent, spectrograms, level, unclaimed)
    with show.progress_bar() as progress:
        result = api.judge(
            "order",
            manifest,
            run=out,
            prompts=prompts,
            outputs=show.pairs("--outputs", outputs) if outputs else None,
            id_from=id_from,
            rename=parse_rename(rename or []),
            listener=listener,
            weights=weights,
            repeats=repeats,
            seed=seed,
            limit=limit,
            workers=workers,
            retry=retry,
            options=options,
            progress=progress,
            command=show.typed_command(),
        )
    show.print_result(result)
