"""``earwitness listeners``: what can hear; and ``listeners train``: a detector of one's own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earwitness.cli import about, show
from earwitness.cli.verbs import Verbs

if TYPE_CHECKING:
    from earwitness.api.training import TrainedListener

app = Verbs(
    help="What each listener needs, gives and costs. With train: make one of your own.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

EXAMPLES = """\b
Examples:
  earwitness listeners train --bank sounds/ -o ears
  earwitness listeners train --bank sounds/ --classes dog_barking,siren,rain -o ears
  earwitness listeners train --bank sounds/ --split shared -o ears-shared
  earwitness bench ritta score ritta-test out/ --listener ears -o run

\b
A bank is a folder with one folder a label, or with metadata.csv (see: earwitness scenes bank).
What the backbone hears is kept in the cache, so that training again is quick."""


@app.callback(invoke_without_command=True)
def listeners(context: typer.Context) -> None:
    """What each listener needs, gives and costs, and whether it can run here."""
    if context.invoked_subcommand is None:
        about.listeners()


@app.command("train", epilog=EXAMPLES)
def train(
    bank: Annotated[str, typer.Option(help="Sounds by label, or `builtin`.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model's folder.", show_default=False)],
    classes: Annotated[
        str, typer.Option(help="ritta, all (the bank's labels), or names separated by commas.")
    ] = "ritta",
    backbone: Annotated[str, typer.Option(help="Whose features: yamnet or panns-framewise.")] = "yamnet",
    weights: Annotated[
        Path | None, typer.Option(help="Your weights file for the backbone.", show_default=False)
    ] = None,
    split: Annotated[
        str, typer.Option(help="held-out: tested on other recordings; shared: on the same, which is easier.")
    ] = "held-out",
    scenes: Annotated[int, typer.Option(help="Mixtures to train on.")] = 2000,
    held: Annotated[int, typer.Option(help="Mixtures to stop by; as many choose thresholds.")] = 300,
    test: Annotated[int, typer.Option(help="Mixtures to test on.")] = 600,
    epochs: Annotated[int, typer.Option(help="Most passes over the mixtures.")] = 16,
    duration_s: Annotated[float, typer.Option("--duration", help="Seconds of a mixture.")] = 10.0,
    most: Annotated[int, typer.Option(help="Most sounds in a mixture.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of every draw.")] = 0,
    workers: Annotated[
        int | None, typer.Option(help="Processes; one a core. They change no number.", show_default=False)
    ] = None,
    engine: Annotated[str, typer.Option(help="Where mixtures are heard: local, or ray.")] = "local",
) -> None:
    """Train a detector on your own sounds: a small network on a frozen backbone, on this machine's CPU."""
    from earwitness.api.training import train_listener

    with show.progress_bar() as progress:
        made = train_listener(
            bank,
            out,
            classes=classes,
            backbone=backbone,
            weights=weights,
            split=split,
            scenes=scenes,
            held=held,
            test=test,
            epochs=epochs,
            duration_s=duration_s,
            most=most,
            seed=seed,
            workers=workers,
            engine=engine,
            progress=progress,
            command=show.typed_command(),
        )
    _print(made)


def _print(made: "TrainedListener") -> None:
    from rich.console import Console
    from rich.table import Table

    measured = made.detector.measured
    table = Table("class", "said as", *(("before", "linear", "after", "overlap F1")))
    for name, label in made.detector.labels.items():
        values = [measured.before[name], measured.linear[name], measured.after[name]]
        values.append(measured.events.by_class.get(name))
        table.add_row(name, label, *("" if value is None else f"{value:.2f}" for value in values))
    Console().print(table)
    sides = made.detector.sides
    doubt = ", recordings not known, see below" if sides.known.unknown else ""
    typer.echo(f"Frame mAP, split {sides.split}{doubt} (95 % interval over the test mixtures):")
    titles = {"before": "plain backbone", "linear": "linear layer", "after": "trained"}
    for column, title in titles.items():
        if column in measured.mean:
            one = measured.mean[column]
            typer.echo(
                f"  {title:<15}{one.value:.3f} ({one.low:.3f} to {one.high:.3f}), "
                f"the {len(measured.compared)} classes that the plain backbone has a label for"
            )
    one = measured.mean["counted"]
    typer.echo(
        f"  {'trained':<15}{one.value:.3f} ({one.low:.3f} to {one.high:.3f}), "
        f"all {len(measured.counted)} that count, with such a label or without"
    )
    for note in made.notes:
        typer.echo(f"- {note}")
    spent = made.detector.seconds
    told = ", ".join(f"{name} {seconds:.0f}" for name, seconds in spent.items())
    typer.echo(f"{sum(spent.values()) / 60:.1f} minutes (seconds: {told}).")
    typer.echo(f"Read {made.folder / 'README.md'} before you pass it on. Use it: --listener {made.folder}")
