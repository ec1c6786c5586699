"""Train a detector on a bank of sounds."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from earwitness import files
from earwitness.api.runs import Progress, stage
from earwitness.api.scenes import open_bank
from earwitness.errors import UserError
from earwitness.listeners import trained_model
from earwitness.manifest.table import listing
from earwitness.scenes.bank import Bank
from earwitness.training import card, head, naming
from earwitness.training.detector import Detector, Settings, trained
from earwitness.training.features import Source
from earwitness.training.sides import HELD_OUT, LONGEST_S, sides
from earwitness.training.targets import CELL_S
from earwitness.workers import check

MOST_SEED = 2**63 - 1
"""What torch takes."""


@dataclass(frozen=True, slots=True)
class TrainedListener:
    """A trained detector in its folder.

    Attributes:
        measured: What it reached, in a sentence.
        notes: What of the bank or the classes was shared or left out, and why.
    """

    folder: Path
    detector: Detector
    measured: str
    notes: tuple[str, ...]


def train_listener(
    bank: str | Path | Bank,
    out: str | Path,
    *,
    classes: str = naming.RITTA,
    backbone: str = "yamnet",
    weights: str | Path | None = None,
    split: str = HELD_OUT,
    scenes: int = 2000,
    held: int = 300,
    test: int = 600,
    epochs: int = 16,
    duration_s: float = 10.0,
    most: int = 5,
    seed: int = 0,
    workers: int | None = None,
    engine: str = "local",
    progress: Progress | None = None,
    command: str = "",
) -> TrainedListener:
    """Train a detector on frozen features of a backbone; an interrupted call finds its features again.

    Args:
        bank: A folder of sounds (docs/scenes.md), or ``builtin``.
        out: The folder to write, not there yet.
        classes: ``ritta``, ``all`` (the bank's labels), or names separated by commas.
        weights: The user's weights file for the backbone.
        split: ``held-out``: tested on recordings that are not trained on, those of ``--split test``;
            ``shared``: on the same, in other mixtures, which is easier.
        scenes: Mixtures to train on.
        held, test: Mixtures to stop by (and as many to choose thresholds by), and to test on.
        epochs: Most passes over the mixtures.
        duration_s, most: Of a mixture: seconds, and sounds. Choose what your clips are like.
        workers, engine: Who mixes and hears; they change no number.

    Raises:
        UserError: Before any work, naming what is missing or cannot be used.
    """
    counts = {"scenes": (scenes, 16), "held": (held, 16), "test": (test, 16), "epochs": (epochs, 1)}
    counts["most"] = (most, 1)
    if workers is not None:
        counts["workers"] = (workers, 1)
    for name, (value, least) in {**counts, "seed": (seed, 0)}.items():
        if value < least:
            raise UserError(f"{name} must be at least {least}, not {value}.")
    if seed > MOST_SEED:
        raise UserError(f"seed must be at most {MOST_SEED}, not {seed}.")
    if duration_s < LONGEST_S or duration_s % CELL_S:
        raise UserError(
            f"A mixture lasts at least {LONGEST_S:g} s, in steps of {CELL_S:g} s, not {duration_s:g}."
        )
    check(engine)
    files.new_folder(Path(out))
    head.torch()
    source = Source(backbone, None if weights is None else Path(weights))
    model = source.open()
    chosen, missing = naming.chosen(open_bank(bank), classes)
    settings = Settings(scenes=scenes, held=held, test=test, seed=seed)
    settings = replace(
        settings,
        mixing=replace(settings.mixing, rate_hz=model.rate_hz, duration_s=duration_s, most=most),
        network=replace(settings.network, epochs=epochs),
    )
    parted = sides(chosen, split, rate_hz=model.rate_hz, seed=seed, progress=stage(progress, "cutting"))
    told = None if progress is None else (lambda name, done, of: progress(name, done, of, None))
    detector = trained(parted, source, settings, workers=workers, engine=engine, progress=told)
    made = card.model(detector, model, settings, command, trained_model.called(Path(out)))
    with files.appearing(Path(out)) as folder:
        trained_model.write(folder, made, card.readme(made, detector, settings))
    notes = [note for note in (card.caution(detector.measured), *parted.notes) if note]
    if missing:
        notes.append(f"The bank has no clip of {listing(missing)}; the model does not know them.")
    if own := [name for name, label in detector.labels.items() if label == name and "_" in name]:
        notes.append(f"AudioSet has no label of its own for {listing(own)}; the model says the class's name.")
    return TrainedListener(Path(os.fspath(out)), detector, made.card.measured, tuple(notes))
