"""``earwitness prompts``: ordered-pair prompt sets, and whether a listener can judge them."""

from pathlib import Path
from typing import Annotated

import typer

from earwitness.cli.verbs import Verbs
from earwitness.errors import UserError

LISTED, ROWS = 10, 3
"""So many reasons why prompts cannot be judged are printed, each with so many of its prompts."""

app = Verbs(
    help="Make prompt sets, and check them before generating audio.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("order", epilog="\b\nExample:\n  earwitness prompts order --seed 0 --pairs 50 -o prompts.csv")
def order(
    out: Annotated[Path, typer.Option("--out", "-o", help="The CSV file to write.")] = Path("prompts.csv"),
    seed: Annotated[int, typer.Option(help="Seed of the sample and of the wordings.")] = 0,
    pairs: Annotated[
        int | None, typer.Option(help="Sample this many pairs; all by default.", show_default=False)
    ] = None,
    classes: Annotated[
        Path | None,
        typer.Option(help="Your own table of classes instead of the built-in one.", show_default=False),
    ] = None,
    listener: Annotated[
        str | None, typer.Option(help="Only pairs that this listener can judge.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
) -> None:
    """Both directions of every pair of sounds that can be told apart, in several wordings."""
    from earwitness.listeners import open_listener
    from earwitness.scenes import prompts

    ear = open_listener(listener or "yamnet")
    made = prompts.order_prompts(
        classes=classes, seed=seed, pairs=pairs, known=ear.known_labels if listener else None
    )
    if out.exists() and not force:
        raise UserError(f"{out} exists already.", "Choose another file with -o, or say --force.")
    out.parent.mkdir(parents=True, exist_ok=True)
    prompts.write_csv(out, made)
    rows = prompts.read_csv(out)
    judgeable = sum(not found.reason for found in prompts.check_prompts(rows, ear.known_labels))
    typer.echo(f"{out}: {len(made)} prompts, {len(made) // 2} pairs in both directions")
    typer.echo(f"{ear.name} can judge {judgeable} of them" + _hint(judgeable < len(made)))


def _hint(some_left: bool) -> str:
    return "; with --listener yamnet only those are made." if some_left else "."


@app.command("check", epilog="\b\nExample:\n  earwitness prompts check prompts.csv --listener yamnet")
def check(
    prompts_file: Annotated[Path, typer.Argument(metavar="PROMPTS", help="CSV with a caption column.")],
    listener: Annotated[str, typer.Option(help="The listener that will judge.")] = "yamnet",
    rename: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="OURS=THEIRS", help="Rename a column. Repeat it.", show_default=False),
    ] = None,
) -> None:
    """Say which prompts the listener can judge, before anyone generates their clips."""
    from earwitness.listeners import open_listener
    from earwitness.manifest import parse_rename
    from earwitness.manifest.table import listing
    from earwitness.report.cells import one_line
    from earwitness.scenes import prompts

    ear = open_listener(listener)
    rows = prompts.read_csv(prompts_file, rename=parse_rename(rename or []))
    checks = prompts.check_prompts(rows, ear.known_labels)
    reasons: dict[str, list[str]] = {}
    for found in checks:
        if found.reason:
            reasons.setdefault(found.reason, []).append(found.prompt_id)
    good = sum(not found.reason for found in checks)
    typer.echo(f"{good:,} of {len(checks):,} prompts can be judged by {ear.name}.")
    ranked = sorted(reasons.items(), key=lambda pair: -len(pair[1]))
    if ranked:
        count = (
            f"the {LISTED} most frequent of {len(ranked):,} reasons" if len(ranked) > LISTED else "because"
        )
        typer.echo(f"{len(checks) - good:,} cannot, {count}:")
    for reason, ids in ranked[:LISTED]:
        typer.echo(f"{len(ids):>7,}  {one_line(reason)}")
        typer.echo(f"         {one_line(listing(ids, ROWS))}")
    if rest := ranked[LISTED:]:
        prompts_of = sum(len(ids) for _, ids in rest)
        typer.echo(f"{prompts_of:>7,}  for {len(rest):,} more reasons")
    if not good:
        raise UserError(f"{prompts_file}: {ear.name} can judge none of these prompts.")
