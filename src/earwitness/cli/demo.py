"""``earwitness demo``: the whole job on made-up systems whose skill is known."""

from pathlib import Path
from typing import Annotated

import typer

from earwitness.cli import show


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The run folder.")] = Path("earwitness-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the scenes and the run.")] = 0,
    weights: Annotated[
        Path | None,
        typer.Option(help="Your own weights file, for machines with no network.", show_default=False),
    ] = None,
) -> None:
    """Render three made-up systems of planted skill, judge them, and show both side by side.

    \b
    One keeps the order, one reverses half of its clips, one drops an event in a third.
    """
    from rich.console import Console
    from rich.table import Table

    from earwitness import api
    from earwitness.scenes.demo import render_demo

    sounds = out / "sounds"
    planted = render_demo(sounds, seed=seed)
    with show.progress_bar() as progress:
        result = api.judge(
            "order",
            run=out,
            prompts=sounds / "prompts.csv",
            outputs={name: sounds / "outputs" / name for name in planted},
            weights=weights,
            seed=seed,
            progress=progress,
            command=show.typed_command(),
        )
    show.print_result(result, {})
    table = Table(
        "system", "planted TOA", "judged TOA", "difference", title="Planted truth beside the verdict"
    )
    for row in result.summary.rows:
        judged, truth = row.metrics["toa"].value, planted[row.system]
        shown = ("-", "-") if judged is None else (f"{judged:.3f}", f"{judged - truth:+.3f}")
        table.add_row(row.system, f"{truth:.3f}", *shown)
    Console().print(table)
