"""``earwitness report`` and ``earwitness failures``: look again at a finished run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from earwitness.cli import show
from earwitness.cli.options import SHOWN, UNCLAIMED, shown, with_options
from earwitness.errors import UserError

Folder = Annotated[Path, typer.Argument(help="The run folder.", show_default=False)]


@with_options(SHOWN)
def report(run: Folder, **given: Any) -> None:
    """Rebuild every output of a run from its ledger; nothing is heard again.

    \b
    Example:
      earwitness report run --columns toa,event_recall --decimals 2 --name ours="Ours (d=128)"
    """
    from earwitness import api

    options = shown(given)
    with show.progress_bar() as progress:
        built = api.rebuild(run, options, progress)
    if isinstance(built, api.Panel):
        show.print_panel(built, options.table.names)
    else:
        show.print_result(built, options.table.names)


def failures(
    run: Folder,
    system: Annotated[str | None, typer.Option(help="Only this system.", show_default=False)] = None,
    kind: Annotated[
        str | None,
        typer.Option(help="Only this kind: missing, reversed, overlapped, unclear.", show_default=False),
    ] = None,
    unheard: Annotated[bool, typer.Option("--unheard", help="List unheard items instead.")] = False,
    unclaimed: UNCLAIMED = None,
) -> None:
    """List the clips judged wrong, one a line: kind, system, sample, path, what was heard.

    \b
    Example:
      earwitness failures run --system base --kind reversed
    """
    from earwitness.report.build import items, known_kinds
    from earwitness.report.cells import one_line

    kinds = known_kinds(run)
    if kind is not None and kind not in kinds:
        raise UserError(f"there is no error kind {kind!r}.", f"Known: {', '.join(kinds)}.")
    systems: set[str] = set()
    count = 0
    for row in items(run, unclaimed):
        systems.add(row.system)
        wanted = row.status == "unheard" if unheard else row.verdict == "wrong"
        if wanted and system in (None, row.system) and kind in (None, row.error_kind):
            count += 1
            what = row.reason if unheard else row.error_kind
            typer.echo("\t".join(map(one_line, (what, row.system, row.sample_id, row.audio, row.detail))))
    if system is not None and system not in systems:
        raise UserError(f"{run}: no system {system!r} in this run.", f"Known: {', '.join(sorted(systems))}.")
    typer.echo(f"{count} {'unheard' if unheard else 'failures'}", err=True)
