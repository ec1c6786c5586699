"""What the verbs share: a progress bar, a printed summary, and options given as NAME=VALUE."""

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from earwitness.errors import UserError

if TYPE_CHECKING:
    from earwitness.api import Result
    from earwitness.report.build import Options

# Options that ``judge`` and ``report`` share.
Columns = Annotated[
    str | None, typer.Option(help="Metrics of the md and LaTeX tables, comma-separated.", show_default=False)
]
Decimals = Annotated[
    int | None, typer.Option(help="Decimals in the md and LaTeX tables.", show_default=False)
]
Names = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="SYSTEM=SHOWN", help="Display name in tables.", show_default=False),
]
Percent = Annotated[bool, typer.Option("--percent", help="Show shares as percentages in tables.")]
Spectrograms = Annotated[int, typer.Option(help="Draw spectrograms for at most this many clips.")]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Unclaimed = Annotated[
    bool | None,
    typer.Option("--unclaimed/--claimed", help="Judge sounds it does not claim to know too (exploratory)."),
]


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
    """The command as it was typed, ready to be typed again."""
    return shlex.join(["earwitness", *sys.argv[1:]])


def print_result(result: "Result") -> None:
    """The tables of a run, its notes, and where its page is."""
    from rich.console import Console

    from earwitness.report import terminal
    from earwitness.report.cells import one_line

    console = Console()
    for table in terminal.tables(result.summary):
        console.print(table)
    for note in result.summary.notes:
        console.print(f"- {one_line(note)}", markup=False, highlight=False)
    if result.counts:
        counts = result.counts
        console.print(
            f"\nHeard now: {counts.asked} clips, and {counts.reused} more with the same sound as another.",
            highlight=False,
        )
    console.print(
        f"Page: {(result.folder / 'index.html').absolute()}", markup=False, highlight=False, soft_wrap=True
    )


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


def report_options(
    columns: str | None,
    decimals: int | None,
    names: Sequence[str] | None,
    percent: bool,
    spectrograms: int,
    level: float,
    unclaimed: bool | None,
) -> "Options":
    """Options of the report from the command line's words."""
    from earwitness.report.build import Options
    from earwitness.report.tables import TableOptions

    table = TableOptions(
        columns=tuple(c.strip() for c in columns.split(",")) if columns else None,
        decimals=decimals,
        names=pairs("--name", names or ()),
        percent=percent,
    )
    return Options(table=table, spectrograms=spectrograms, level=level, unclaimed=unclaimed)
