"""``earwitness report`` and ``earwitness failures``: look again at a finished run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from earwitness.cli import show
from earwitness.cli.options import SCORING, SHOWN, UNCLAIMED, shown, with_options

Folder = Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)]


@with_options(SHOWN, SCORING)
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
    system: Annotated[str, typer.Option(help="Only this system.", show_default=False)] = "",
    kind: Annotated[
        str, typer.Option(help="Only this kind of error; summary.json counts them.", show_default=False)
    ] = "",
    verdict: Annotated[
        str,
        typer.Option(
            help="Only this verdict, ties, 'unknown' and 'unmeasured' included.", show_default=False
        ),
    ] = "",
    unheard: Annotated[bool, typer.Option("--unheard", help="List unheard items instead.")] = False,
    unclaimed: UNCLAIMED = None,
) -> None:
    """List the clips that failed, one a line: verdict or kind, system, sample, path, why.

    \b
    Failed is what was scored and not found good: wrong orders; edits that are over-edits,
    under-edits, failed or not changed. Ties, 'unknown' and 'unmeasured' are listed with --verdict
    only. Clips are scored as in the run's outputs.

    \b
    Examples:
      earwitness failures run --system base --kind reversed
      earwitness failures edits --verdict over_edit
      earwitness failures labels --unheard
    """
    from earwitness.report.cells import one_line
    from earwitness.report.failures import Wanted, listed

    count = 0
    for row in listed(run, Wanted(system, kind, verdict, unheard), unclaimed):
        count += 1
        what = row.reason if unheard else row.error_kind or row.verdict
        typer.echo("\t".join(map(one_line, (what, row.system, row.sample_id, row.audio, row.detail))))
    one = "clip" if verdict else "failure"
    typer.echo(f"{count} {'unheard' if unheard else one if count == 1 else one + 's'}", err=True)
