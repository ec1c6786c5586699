"""``earwitness judge`` and ``earwitness label``: hear clips, and say what was kept or what is there."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earwitness.cli import show
from earwitness.cli.options import (
    JUDGE,
    LISTENING,
    MANIFEST,
    OUTPUTS,
    REFERENCED,
    SHOWN,
    Group,
    option,
    request,
    with_options,
)
from earwitness.cli.verbs import Verbs
from earwitness.errors import UserError

if TYPE_CHECKING:
    from earwitness.api import Request

app = Verbs(
    help="Judge clips: which system keeps what was asked?",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ORDER_EXAMPLES = """\b
Examples:
  earwitness judge order clips.csv -o run
  earwitness judge order --prompts prompts.csv --outputs ours=out/ours --outputs base=out/base -o run
  earwitness judge order clips.csv --reference recorded --distances yamnet -o run
  earwitness judge order clips.csv --map caption=prompt_text --limit 20 -o run
  earwitness judge order clips.csv --listener google:gemini-2.5-pro --estimate -o run
  earwitness judge order clips.csv --listener google:gemini-2.5-pro --ask blind --max-cost 20 -o run

\b
A manifest is a CSV or JSONL file, or a folder with metadata.csv, with the columns
audio (or file_name), system, sample_id, caption, and optionally reversed_caption,
first, second, pair_id. Run the same command again to go on after an interruption;
run it with more rows, systems or a higher --limit to extend the run."""

EDIT_EXAMPLES = """\b
Examples:
  earwitness judge edit edits.csv -o run
  earwitness judge edit edits.csv --baselines --listener google:gemini-2.5-pro --swap -o run
  earwitness judge edit edits.csv --baselines --reference source -o run

\b
A manifest has the columns system (or method), sample_id, source_audio, edited_audio,
and source_caption with target_caption, or instruction; optionally added, removed,
edit_start_s, edit_end_s. The source of a sample must be the same sound for every system."""

LABEL_EXAMPLES = """\b
Examples:
  earwitness label clips/ -o labels
  earwitness label clips/ --ordered-only -o sequences
  earwitness label clips/ --listener google:gemini-2.5-pro --repeats 1 --bundle to-send -o labels"""


@app.command("order", epilog=ORDER_EXAMPLES)
@with_options(MANIFEST, OUTPUTS, REFERENCED, LISTENING, JUDGE, SHOWN)
def order(
    ask: Annotated[
        str, typer.Option(help="seed: judge with the caption in sight; blind: listen first, then judge.")
    ] = "seed",
    **given: Any,
) -> None:
    """Which system keeps the stated order of events? Prints the table; writes the run folder."""
    _judge("order", {**given, "ask": ask})


EDIT_REFERENCED: Group = {
    **REFERENCED,
    "reference": option(
        str,
        "System whose clips are the others' references, or source for the unedited clips: measures "
        "distances, too.",
        "",
    ),
}


@app.command("edit", epilog=EDIT_EXAMPLES)
@with_options(MANIFEST, EDIT_REFERENCED, LISTENING, JUDGE, SHOWN)
def edit(
    baselines: Annotated[
        bool,
        typer.Option("--baselines", help="Judge the unchanged source and an unrelated clip as systems too."),
    ] = False,
    swap: Annotated[
        bool, typer.Option("--swap", help="A judge hears some items again with the clips exchanged.")
    ] = False,
    swap_share: Annotated[float, typer.Option(help="Share of the items that --swap takes.")] = 0.2,
    **given: Any,
) -> None:
    """Did each edit change what it should, and nothing else? Prints the table; writes the run folder."""
    _judge("edit", {**given, "baselines": baselines, "swap": swap, "swap_share": swap_share})


@with_options(MANIFEST, REFERENCED, LISTENING, JUDGE, SHOWN)
def label(
    ordered_only: Annotated[
        bool, typer.Option("--ordered-only", help="Keep only clips with a clear sequence of sounds.")
    ] = False,
    bundle: Annotated[
        Path | None,
        typer.Option(help="Pack the clips with their descriptions into this folder.", show_default=False),
    ] = None,
    **given: Any,
) -> None:
    """Describe every clip: caption, events, tags, order, quality flags. Writes tables and a page."""
    _judge("label", {**given, "ordered_only": ordered_only, "bundle": bundle})


def _judge(task: str, given: Mapping[str, Any]) -> None:
    hear(request(task, given), given)


def hear(asked: "Request", given: Mapping[str, Any]) -> None:
    """Estimate or run what is asked, and print what came of it."""
    from earwitness import api, files
    from earwitness.report import clips

    out: Path = given["out"]
    names = asked.options.table.names
    bundle: Path | None = given.get("bundle")
    if bundle is not None:
        if len(asked.listeners) > 1:
            raise UserError("--bundle packs the descriptions of one listener.", "Name one listener.")
        files.new_folder(bundle)
    estimates, panel, results = [], None, []
    with show.progress_bar() as progress:
        if given["estimate"]:
            estimates = api.estimate_request(asked, out, progress)
        elif len(asked.listeners) > 1:
            panel = api.run_panel(asked, out, progress)
            results = list(panel.results.values())
        else:
            results = [api.run_request(asked, out, progress)]
    if given["estimate"]:
        show.print_estimates(estimates)
    elif panel is not None:
        show.print_panel(panel, names)
    else:
        show.print_result(results[0], names)
        if asked.task == "label":
            typer.echo(f"Descriptions as CSV, JSONL, AudioFolder, DCASE and Audacity files: {out / 'labels'}")
        if bundle is not None:
            count = clips.bundle_clips(out, bundle, ordered_only=given["ordered_only"])
            typer.echo(f"Packed {count} clips with their descriptions: {bundle.absolute()}")
    show.stop_if_over_budget(results)
