"""``earwitness listeners`` and ``earwitness doctor``: what can hear, and whether it can run here."""

from pathlib import Path
from typing import Annotated

import typer


def listeners() -> None:
    """What each listener needs, gives and costs, and whether it can run here."""
    from rich.console import Console
    from rich.table import Table

    from earwitness.listeners.yamnet import Yamnet

    ear = Yamnet()
    needs = ear.needs
    table = Table("listener", "hears", "resolution", "cost", "can run here")
    table.add_row(
        "yamnet",
        f"{needs.rate_hz} Hz mono, {needs.min_s:g}-{needs.max_s:g} s; knows {len(ear.known_labels)} labels",
        f"{needs.resolution_s:g} s",
        needs.cost,
        _weights_state(),
    )
    table.add_row("scripted:FILE", "nothing: answers from a JSONL file", "-", "free", "yes")
    console = Console()
    console.print(table)
    if ear.measured:
        console.print(f"yamnet, measured: {ear.measured}", markup=False, highlight=False)
    console.print(
        "Labels yamnet claims to know: " + ", ".join(sorted(ear.known_labels)), markup=False, highlight=False
    )


def _weights_state() -> str:
    from earwitness import weights

    return "yes" if weights.cached() else "after its weights are fetched once (or with --weights FILE)"


def doctor(
    weights: Annotated[Path | None, typer.Option(help="Check this weights file.", show_default=False)] = None,
) -> None:
    """Check this machine: Python, sound formats, cache folder, weights, and a real hearing."""
    import numpy as np

    from earwitness.audio import Clip, pcm_hash
    from earwitness.listeners.base import Call, Hearing
    from earwitness.listeners.yamnet import Yamnet
    from earwitness.questions.events import EVENTS
    from earwitness.scenes import synth
    from earwitness.tasks.settings import versions
    from earwitness.weights import cache_folder

    for name, version in versions().items():
        typer.echo(f"ok    {name} {version}")
    typer.echo(f"ok    cache folder {cache_folder()}")
    sound = synth.render("siren", seed=0)
    samples = np.asarray(sound, dtype=np.float32)[np.newaxis]
    clip = Clip(samples, synth.RATE_HZ, pcm_hash(samples, synth.RATE_HZ))
    ear = Yamnet(weights=weights)
    ear.ready()
    [(_, answer)] = ear.hear([Call("doctor", (clip,), EVENTS)])
    if not isinstance(answer, Hearing):
        typer.echo(f"FAULT yamnet did not hear: {answer.reason}: {answer.detail}")
        raise typer.Exit(2)
    labels = sorted({event["label"] for event in answer.reply["events"]})
    if "Siren" not in labels:
        typer.echo(f"FAULT yamnet heard a siren as {', '.join(labels) or 'nothing'}")
        raise typer.Exit(2)
    typer.echo(f"ok    yamnet hears a siren as {', '.join(labels)}")
