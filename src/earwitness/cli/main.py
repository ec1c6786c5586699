"""The ``earwitness`` command: verbs, and what an error or an interruption looks like."""

import logging
import sys
from typing import Annotated

import typer

from earwitness import __version__
from earwitness.cli import (
    about,
    bench,
    demo,
    distance,
    events,
    judge,
    listeners,
    prompts,
    report,
    scenes,
    share,
)
from earwitness.cli.verbs import Verbs
from earwitness.errors import EarwitnessError

app = Verbs(
    name="earwitness",
    help="Event-level evaluation of audio that machines make, edit, describe and understand.\n\n"
    "First steps: earwitness demo. Then: earwitness judge order --help, or earwitness label --help.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(judge.app, name="judge")
app.add_typer(prompts.app, name="prompts")
app.add_typer(scenes.app, name="scenes")
app.add_typer(bench.app, name="bench")
app.command("label", epilog=judge.LABEL_EXAMPLES)(judge.label)
app.command("distance", epilog=distance.EXAMPLES)(distance.distance)
app.command("events", epilog=events.EXAMPLES)(events.events)
app.command("demo")(demo.demo)
app.command("report")(report.report)
app.command("failures")(report.failures)
app.command("compare")(share.compare)
app.command("bundle")(share.bundle)
app.add_typer(listeners.app, name="listeners")
app.command("doctor")(about.doctor)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"earwitness {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what is being done.")] = False,
) -> None:
    """Options that stand before the verb."""
    logging.basicConfig(
        level=logging.INFO if verbose else logging.ERROR, format="%(levelname)s %(name)s: %(message)s"
    )


def run() -> None:
    """Console entry: exit status 0 finished, 2 bad input, 3 over budget, 130 interrupted (see cli.show)."""
    try:
        app()
    except EarwitnessError as fault:
        typer.echo(f"earwitness: {fault}", err=True)
        sys.exit(2)
    except OSError as fault:  # a path given by the user that cannot be read or written
        if fault.filename is None:
            raise
        typer.echo(f"earwitness: {fault.filename}: {fault.strerror}", err=True)
        sys.exit(2)
