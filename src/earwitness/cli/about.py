"""``earwitness listeners`` and ``earwitness doctor``: what can hear, and whether it can run here."""

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from earwitness.errors import UserError


def listeners() -> None:
    """What each listener needs, gives and costs, and whether it can run here."""
    from earwitness.listeners.yamnet import Yamnet

    ear = Yamnet()
    needs = ear.needs
    known = ", ".join(sorted(ear.known_labels))
    _block(
        "yamnet",
        {
            "hears": f"{needs.rate_hz} Hz mono, clips of {needs.min_s:g} to {needs.max_s:g} s, no caption",
            "tells apart": f"onsets {needs.resolution_s:g} s apart",
            "costs": needs.cost,
            "runs here": _weights_state(),
            "measured": ear.measured,
            "claims to know": f"{len(ear.known_labels)} labels: {known}",
        },
    )
    _block(
        "FOLDER",
        {
            "hears": "as its backbone does: a detector of your own, see: earwitness listeners train --help",
            "claims to know": "the classes it was trained on; FOLDER/README.md says how well",
        },
    )
    for name in JUDGES:
        _block(
            name,
            {
                "hears": "16 kHz mono (--judge-rate), and reads the caption it is asked about",
                "tells apart": "onsets 1 s apart",
                "costs": "tokens; --estimate says how many and what they cost",
                "runs here": _judge_state(name),
            },
        )
    _block("scripted:FILE", {"hears": "nothing: answers from a JSONL file", "costs": "nothing"})


def _block(name: str, facts: Mapping[str, str]) -> None:
    typer.echo(name)
    for title, text in facts.items():
        lines = textwrap.wrap(text, 80)
        for head, line in zip([title, *[""] * len(lines)], lines, strict=False):
            typer.echo(f"  {head:<16}{line}")


JUDGES = ("google:gemini-2.5-pro", "google-vertex:gemini-2.5-pro", "openai:gpt-audio")
"""One model of every provider, to show what its judges need."""


def _judge_state(name: str) -> str:
    from earwitness.listeners.llm import Llm

    try:
        Llm(name).ready()
    except UserError as fault:
        return f"no: {fault.message}"
    return "yes: a key is set"


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
    for name in JUDGES:
        typer.echo(f"      {name.partition(':')[0]} judges: {_judge_state(name)}")
