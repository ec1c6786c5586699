"""``earwitness scenes``: make scenes with known truth, render one again, see what a bank holds."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from earwitness.cli import show
from earwitness.cli.verbs import Verbs

_SETTINGS = {"help_option_names": ["-h", "--help"]}
app = Verbs(
    help="Scenes with known truth: make data sets, render a scene again, look into a bank.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
)
make = Verbs(
    help="Make a data set of scenes from a bank of sounds.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
)
app.add_typer(make, name="make")

ORDER_EXAMPLES = """\b
Examples:
  earwitness scenes make order --bank builtin --pairs 50 -o pairs
  earwitness scenes make order --bank ESC-50 --split test --pairs 200 --seed 1 -o pairs
  earwitness judge order pairs -o run

\b
A bank is a folder: one sub-folder a label, or metadata.csv (file_name, label; optional
recording_id, licence, author), or ESC-50, FSD50K, UrbanSound8K as they are unpacked.
Run the same command again to go on after an interruption, with more --pairs to extend."""

EDIT_EXAMPLES = """\b
Examples:
  earwitness scenes make edit --bank clips --pairs 300 -o edits
  earwitness scenes make edit --bank clips --kind replace --pairs 100 --stems -o replaced
  earwitness judge edit edits -o run"""

Bank = Annotated[str, typer.Option("--bank", metavar="DIR", help="Folder of clips, or builtin.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")]
Pairs = Annotated[int, typer.Option(help="How many pairs.")]
Seed = Annotated[int, typer.Option(help="Seed of every draw.")]
Split = Annotated[str, typer.Option(help="Side of the bank to use: train, test or all.")]
Rate = Annotated[int, typer.Option(help="Rate of the clips, Hz.")]
Duration = Annotated[float, typer.Option(help="Length of a clip, seconds.")]
Classes = Annotated[
    Path | None,
    typer.Option(help="Your own table: class (a label of the bank) and phrase.", show_default=False),
]
Measure = Annotated[str, typer.Option(help="Measure of the levels: lufs or rms.")]
Listener = Annotated[
    str | None,
    typer.Option(help="Only sounds that this listener claims to know, e.g. yamnet.", show_default=False),
]
Stems = Annotated[bool, typer.Option("--stems", help="Write every sound apart, too.")]
Workers = Annotated[
    int | None, typer.Option(help="Processes; one a processor, or fewer for little work.", show_default=False)
]
Engine = Annotated[
    str,
    typer.Option(
        help="local, or ray: on the cluster that RAY_ADDRESS names, whose nodes share bank and data set."
    ),
]


@make.command("order", epilog=ORDER_EXAMPLES)
def order(
    bank: Bank,
    out: Out,
    pairs: Pairs = 100,
    seed: Seed = 0,
    split: Split = "all",
    rate: Rate = 16_000,
    duration: Duration = 10.0,
    classes: Classes = None,
    measure: Measure = "lufs",
    listener: Listener = None,
    stems: Stems = False,
    workers: Workers = None,
    engine: Engine = "local",
) -> None:
    """Ordered pairs: two sounds, one after the other, both orders of each pair, with captions."""
    how = {
        "pairs": pairs, "seed": seed, "split": split, "rate_hz": rate, "duration_s": duration,
        "classes": classes, "measure": measure, "listener": listener, "stems": stems, "workers": workers,
        "engine": engine,
    }  # fmt: skip
    _make("order", bank, out, how)


@make.command("edit", epilog=EDIT_EXAMPLES)
def edit(
    bank: Bank,
    out: Out,
    pairs: Pairs = 100,
    kind: Annotated[str, typer.Option(help="Of the edits: add, delete, replace or mixed.")] = "mixed",
    seed: Seed = 0,
    split: Split = "all",
    rate: Rate = 16_000,
    duration: Duration = 10.0,
    classes: Classes = None,
    measure: Measure = "lufs",
    listener: Listener = None,
    stems: Stems = False,
    workers: Workers = None,
    engine: Engine = "local",
) -> None:
    """Edit pairs: a clip before and after one edit, the same samples outside the edited span."""
    how = {
        "pairs": pairs, "kind": kind, "seed": seed, "split": split, "rate_hz": rate, "duration_s": duration,
        "classes": classes, "measure": measure, "listener": listener, "stems": stems, "workers": workers,
        "engine": engine,
    }  # fmt: skip
    _make("edit", bank, out, how)


def _make(family: str, bank: str, out: Path, how: Mapping[str, Any]) -> None:
    from earwitness.api import scenes

    with show.progress_bar() as progress:
        made = scenes.make_scenes(
            family, bank=bank, out=out, progress=progress, command=show.typed_command(), **how
        )
    for note in made.notes:
        typer.echo(f"- {note}")
    kept = f", {made.kept:,} were there" if made.kept else ""
    what = {"order": "clips", "edit": "edits"}[family]
    typer.echo(f"{out}: {made.made:,} {what} made{kept}. Read {out / 'README.md'} before you pass them on.")
    typer.echo(f"Judge them: earwitness judge {family} {out} -o run")


@app.command(
    "render",
    epilog="\b\nExample:\n  earwitness scenes render pairs/scenes/ID.json --bank clips -o a.wav",
)
def render(
    scene: Annotated[Path, typer.Argument(metavar="SCENE", help="A scene file (.json).")],
    bank: Bank,
    out: Annotated[Path, typer.Option("--out", "-o", help="The wav file to write.")],
    stems: Stems = False,
) -> None:
    """Render a scene again from its file, and say whether it has the samples that its data set states."""
    from earwitness.api import scenes

    again = scenes.render_scene(scene, bank, out, stems=stems)
    typer.echo(f"{out}: pcm_hash {again.pcm_hash}")
    if again.same is None:
        typer.echo("No metadata.csv beside the scene states its hash.")
    elif again.same:
        typer.echo("The same samples as metadata.csv states.")
    else:
        typer.echo(f"NOT the samples that metadata.csv states: {again.stated}", err=True)
        raise typer.Exit(1)


@app.command("bank", epilog="\b\nExample:\n  earwitness scenes bank clips")
def bank(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Folder of clips, or builtin.")],
    rate: Rate = 16_000,
) -> None:
    """What a bank holds: clips, recordings and usable pieces of every label, its split, its licences."""
    from rich.console import Console
    from rich.table import Table

    from earwitness.api import scenes
    from earwitness.report.cells import one_line

    sounds = scenes.open_bank(folder)
    with show.progress_bar() as progress:
        found = scenes.bank_summary(sounds, rate_hz=rate, progress=progress)
    table = Table(title=f"{folder}: {len(found)} labels", title_justify="left")
    table.add_column("label", overflow="fold")
    for name in ("clips", "recordings", "slices", "train", "test"):
        table.add_column(name, justify="right")
    for one in found:
        shared = "*" if one.shared else ""
        counts = (one.clips, one.recordings, one.slices, f"{one.train}{shared}", f"{one.test}{shared}")
        table.add_row(one_line(one.label), *map(str, counts))
    Console().print(table)
    typer.echo("Slices are usable pieces of 1 to 5 s. Train and test count recordings.")
    for one in found:
        if one.shared:
            typer.echo(f"* {one_line(one.label)} is shared by train and test: {one.shared}")
    _list("Clips without a slice", found, lambda one: one.left_out)
    _list("Clips by licence", found, lambda one: one.licences)
    for note in sounds.notes:
        typer.echo(f"- {note}")


def _list(title: str, found: Any, counts: Callable[[Any], Mapping[str, int]]) -> None:
    from collections import Counter

    total: Counter[str] = Counter()
    for one in found:
        total.update(counts(one))
    if total:
        typer.echo(f"{title}:")
    for name, count in total.most_common():
        typer.echo(f"  {count:>7,} {name}")
