"""What the verbs share: a progress bar, a printed summary, and options given as NAME=VALUE."""

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from earwitness.errors import UserError

if TYPE_CHECKING:
    from earwitness.api import Estimate, Panel, Result
    from earwitness.api.scenes import Scenes


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int, float | None], None]]:
    """A bar with rate and time left on standard error; silent where nobody looks at it.

    An interruption ends with the command that goes on, and exit status 130.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:>8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    tasks: dict[str, TaskID] = {}

    def show(stage: str, done: int, total: int, spent: float | None = None) -> None:
        if stage not in tasks:
            tasks[stage] = bar.add_task(stage, total=total, rate="")
        speed = bar.tasks[tasks[stage]].finished_speed or bar.tasks[tasks[stage]].speed
        rate = (f"{speed:.1f}/s" if speed else "") + ("" if spent is None else f" ${spent:.2f}")
        bar.update(tasks[stage], completed=done, total=total, rate=rate)

    try:
        with bar:
            yield show
    except KeyboardInterrupt:
        typer.echo("Stopped. What is finished is kept. To go on:", err=True)
        typer.echo(f"  {typed_command()}", err=True)
        raise typer.Exit(130) from None


def typed_command() -> str:
    """The command as it was typed, ready to be typed again, but for passwords in addresses."""
    from earwitness.listeners.llm_secrets import command_without_credentials

    return command_without_credentials(shlex.join(["earwitness", *sys.argv[1:]]))


_FAULTS = 3
"""Most causes of unheard answers that are printed."""


def print_result(result: "Result", names: Mapping[str, str]) -> None:
    """The tables of a run (systems under their display names), its notes, and where its page is."""
    from rich.console import Console

    from earwitness.ledger import Ledger
    from earwitness.report import terminal, unscored
    from earwitness.report.cells import one_line
    from earwitness.runner import COST

    console = Console()
    for table in terminal.tables(result.summary, names):
        console.print(table)
    distances = result.summary.distances
    for note in (*unscored.others(result.summary), *(distances.notes if distances else ())):
        console.print(f"- {one_line(note)}", markup=False, highlight=False)
    if result.rescored:
        console.print(f"- {one_line(result.rescored)}", markup=False, highlight=False)
    if counts := result.counts:
        typer.echo(
            f"\nAnswers, of which a clip may need several or none: {counts.asked:,} asked now, "
            f"{counts.reused:,} taken over from the same sound."
        )
    with Ledger.read(result.folder / "ledger.sqlite") as ledger:
        faults, spent = ledger.faults(), ledger.usage().get(COST)
    for reason, detail, count in faults[:_FAULTS]:
        typer.echo(f"Unheard: {count:,} x {reason}: {one_line(detail)}")
    if len(faults) > _FAULTS:
        typer.echo(f"... and {len(faults) - _FAULTS} other causes; earwitness failures --unheard lists all.")
    if spent is not None:
        typer.echo(f"Spent so far: {spent:.4f} USD")
    _say_page(result.folder)


def print_made(made: "Scenes") -> None:
    """What a finished data set has, and what of the bank was left out or shared."""
    for note in made.notes:
        typer.echo(f"- {note}")
    kept = f", {made.kept:,} were there" if made.kept else ""
    readme = made.folder / "README.md"
    typer.echo(f"{made.folder}: {made.made:,} clips made{kept}. Read {readme} before you pass them on.")


def print_panel(panel: "Panel", names: Mapping[str, str]) -> None:
    """The tables of every listener's run, how far the listeners agree, and where the page is."""
    for result in panel.results.values():
        print_result(result, names)
    said = (panel.folder / "agreement.md").read_text(encoding="utf-8")
    typer.echo("\n" + re.sub(r"\\(?=[^a-zA-Z0-9\s])", "", said))  # markdown's escapes are not for a terminal
    _say_page(panel.folder)


def stop_if_over_budget(results: "Sequence[Result]") -> None:
    """Exit status 3, with the way on, if a budget kept answers from being sought."""
    left = sum(result.counts.over_budget for result in results if result.counts)
    if left:
        typer.echo(f"Stopped by --max-cost: {left} answers were not sought. What is heard is kept.", err=True)
        typer.echo("To go on, run the same command with a higher --max-cost.", err=True)
        raise typer.Exit(3)


_ESTIMATED = {
    "audio_s": "seconds of sound",
    "input_text_tokens": "tokens of text",
    "input_audio_tokens": "tokens of sound",
    "output_tokens": "tokens of replies (a guess)",
}


def print_estimates(estimates: "Sequence[Estimate]") -> None:
    """What every listener would be asked and what it should cost."""
    for one in estimates:
        typer.echo(f"{one.listener}: {one.calls:,} calls")
        for name, title in _ESTIMATED.items():
            if name in one.usage:
                typer.echo(f"  {one.usage[name]:>14,.0f} {title}")
        price = (
            "unknown for this model at this address; give --price"
            if one.cost_usd is None
            else f"{one.cost_usd:.2f}"
        )
        typer.echo(f"  {'USD':>14} {price}")
    typer.echo("Nothing was sent. Re-asks and retries come on top.")


def _say_page(folder: Path) -> None:
    from rich.console import Console

    console = Console()
    page = (folder / "index.html").absolute()
    console.print(f"Page: {page}", markup=False, highlight=False, soft_wrap=True)


def pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    """``NAME=VALUE`` options as a dict.

    Raises:
        UserError: Naming the option and the value that is no pair, or a name given twice.
    """
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UserError(f"{option} {text!r} is not NAME=VALUE.", f"For example: {option} ours=out/ours")
        if name in found:
            raise UserError(f"{option} names {name!r} twice.", "Give every name once.")
        found[name] = value
    return found
