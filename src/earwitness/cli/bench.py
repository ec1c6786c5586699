"""``earwitness bench``: benchmarks whose truth is known. RiTTA: relations between sounds."""

from pathlib import Path
from typing import Annotated, Any

import typer

from earwitness.cli import show
from earwitness.cli.judge import hear
from earwitness.cli.options import (
    DISTANCES,
    JUDGE,
    LISTENING,
    RUN,
    SCORING,
    SHOWN,
    Group,
    option,
    request,
    with_options,
)
from earwitness.cli.verbs import Verbs
from earwitness.errors import UserError

app = Verbs(
    help="Benchmarks whose truth is known.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
ritta = Verbs(
    help="RiTTA: do generated clips hold the relations that their prompts state? Four main relations, eleven "
    "sub-relations, 25 sounds.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(ritta, name="ritta")

MAKE_EXAMPLES = """\b
Examples:
  earwitness bench ritta make --bank sounds/ --split test --per-relation 720 --seed 0 -o ritta-test
  earwitness bench ritta make --bank sounds/ --split train --per-relation 1440 --stems -o ritta-train
  earwitness bench ritta make --bank sounds/ --listener yamnet -o ritta-yamnet
  earwitness bench ritta make --bank builtin --leave-out-missing --per-relation 20 -o try-it

\b
A bank is a folder with one folder a label, or with metadata.csv (file_name, label, and
optionally recording_id, licence, author), or ESC-50, FSD50K or UrbanSound8K as they lie on
disk. See what is in it with: earwitness scenes bank sounds/

\b
A listener cannot be asked about sounds that it does not claim to know: yamnet knows 13 of the
25, so most prompts of all 25 stay unheard by it. With --listener only its sounds are used."""

IMPORT_EXAMPLES = """\b
Examples:
  earwitness bench ritta import ritta_eval_data.json -o published
  earwitness bench ritta import ritta_eval_data.json --bank sounds/ -o published"""

SCORE_EXAMPLES = """\b
Examples:
  earwitness bench ritta score ritta-test ours=out/ours base=out/base -o run
  earwitness bench ritta score ritta-test out/ -o run            # every folder in out/ is a system
  earwitness bench ritta score ritta-test -o run                 # the listener's own ceiling alone
  earwitness bench ritta score ritta-test out/ --distances vggish --distance-weights FILE -o run
  earwitness report run --mode paper                             # the same hearings, scored another way

\b
A clip's file name is its prompt's id (prompts.csv), or --id-from finds it. The reference
audio, the true events, silence and shuffled prompts are always scored beside the systems."""

BANKED: Group = {
    "split": option(str, "Side of the bank: test, train or all; test and train share no recording.", "test"),
    "seed": option(int, "Seed of every draw.", 0),
    "rate_hz": option(int, "Rate of the clips, Hz.", 16000, "--rate"),
    "duration_s": option(float, "Length of the clips, seconds.", 10.0, "--duration"),
    "measure": option(str, "How levels are measured: lufs or rms.", "lufs", "--level-method"),
    "ambience": option(Path, "A folder of ambience to lie under every scene.", None),
    "ambience_db": option(float, "Its level, in the measure of --level-method.", -50.0),
    "count_groups": option(
        str, "Sounds of a count prompt come from different main groups, or from the same.", "different"
    ),
    "listener": option(
        str, "Only sounds that this listener claims to know, e.g. yamnet; all 25 by default.", None
    ),
    "leave_out_missing": option(
        bool, "Do without the classes that the bank lacks.", False, "--leave-out-missing"
    ),
    "stems": option(bool, "Keep every sound of a scene as a file too.", False, "--stems"),
    "workers": option(int, "Processes; one a core, or fewer for little work. They change no byte.", None),
    "engine": option(
        str,
        "local, or ray: on the cluster that RAY_ADDRESS names, whose nodes share bank and data set.",
        "local",
    ),
}


@ritta.command("make", epilog=MAKE_EXAMPLES)
@with_options(BANKED)
def make(
    bank: Annotated[Path, typer.Option(help="Sounds by label, or `builtin`.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The data set's folder.")] = Path("ritta"),
    per_relation: Annotated[
        int | None,
        typer.Option(help="Prompts a sub-relation: 720 for test, 1440 for train.", show_default=False),
    ] = None,
    phrasings: Annotated[
        Path | None,
        typer.Option(help="A table of wordings in addition: relation, reading, text.", show_default=False),
    ] = None,
    **given: Any,
) -> None:
    """Make prompts and their audio from a bank of sounds."""
    from earwitness import api

    with show.progress_bar() as progress:
        made = api.make_ritta(
            bank,
            out,
            per_relation=per_relation,
            phrasings=phrasings,
            progress=progress,
            command=show.typed_command(),
            **given,
        )
    show.print_made(made)
    typer.echo(f"Score outputs: earwitness bench ritta score {out} NAME=FOLDER -o run")


@ritta.command("import", epilog=IMPORT_EXAMPLES)
@with_options({name: option for name, option in BANKED.items() if name != "count_groups"})
def import_(
    prompts: Annotated[
        Path,
        typer.Argument(metavar="PROMPTS", help="The published evaluation data, JSON.", show_default=False),
    ],
    bank: Annotated[
        Path | None,
        typer.Option(help="Sounds to render references from; without, only prompts.", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The data set's folder.")] = Path("published"),
    **given: Any,
) -> None:
    """Read the published prompts with their known faults put right, and count what was."""
    from earwitness import api
    from earwitness.scenes.ritta.published import CORRECTIONS

    if bank is None:
        stray = [name for name, value in given.items() if value != BANKED[name][1]]
        if stray:
            raise UserError(
                f"without --bank there is nothing to set: {', '.join(stray)}.",
                "Name a bank, or leave it out.",
            )
    how = given if bank is not None else {}
    with show.progress_bar() as progress:
        found = api.import_ritta(
            prompts, out, bank=bank, progress=progress, command=show.typed_command(), **how
        )
    for note in found.notes:
        typer.echo(f"- {note}")
    typer.echo(f"{found.folder}: {found.prompts:,} prompts. Corrected, against the published labels:")
    for fault, count in found.corrections.items():
        typer.echo(f"  {count:>5,}  {fault}: {CORRECTIONS[fault]}")
    if bank is None:
        typer.echo(
            "They have no reference audio, so nothing can be scored on them: import with --bank for that."
        )


@ritta.command("score", epilog=SCORE_EXAMPLES)
@with_options(RUN, SCORING, DISTANCES, LISTENING, JUDGE, SHOWN)
def score(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="The data set, with its audio.", show_default=False)
    ],
    outputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=]FOLDER", help="Systems: folders of clips.", show_default=False),
    ] = None,
    more: Annotated[
        list[str] | None,
        typer.Option("--outputs", metavar="NAME=FOLDER", help="The same, as judge order has it. Repeat it."),
    ] = None,
    id_from: Annotated[
        str, typer.Option(help="Regular expression whose first group is the prompt's id in a clip's path.")
    ] = "",
    **given: Any,
) -> None:
    """Score systems: presence, relation, parsimony and their product, beside ceilings and floors."""
    from earwitness import api

    systems = api.systems_of([*(outputs or ()), *(more or ())])
    hear(request("ritta", {**given, "manifest": data, "systems": systems, "id_from": id_from}), given)
