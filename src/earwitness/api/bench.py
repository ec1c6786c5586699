"""RiTTA as functions: make a data set, import the published prompts, score outputs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from earwitness.api.request import Request
from earwitness.api.runs import Panel, Progress, Result, run_panel, run_request, stage
from earwitness.api.scenes import Scenes, open_bank, trained_on
from earwitness.errors import InputFaults, UserError
from earwitness.listeners import open_listener
from earwitness.manifest import AUDIO_EXTENSIONS, metadata_in
from earwitness.manifest.table import near_path
from earwitness.scenes import dataset
from earwitness.scenes.bank import Bank
from earwitness.scenes.ritta import published as publisheds
from earwitness.scenes.ritta import recipe as recipes
from earwitness.scenes.ritta.stock import Stock
from earwitness.tasks.ritta_classes import claimed

LISTENER = str(Request.__dataclass_fields__["listener"].default)
"""Who hears by default."""
PER_RELATION = {"train": 1440, "test": 720, "all": 720}
"""Prompts a sub-relation, as in the paper (section 5.1)."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The published prompts as they were read.

    Attributes:
        prompts: How many are in the data set.
        corrections: How many needed each correction (scenes.ritta.published.CORRECTIONS).
        notes: What of the bank was shared or left out, and why.
    """

    folder: Path
    prompts: int
    corrections: Mapping[str, int]
    notes: tuple[str, ...]


def make_ritta(
    bank: str | Path | Bank,
    out: str | Path,
    *,
    split: str = "test",
    per_relation: int | None = None,
    listener: str | None = None,
    stems: bool = False,
    workers: int | None = None,
    engine: str = "local",
    progress: Progress | None = None,
    command: str = "",
    **how: Any,
) -> Scenes:
    """Make a RiTTA data set from a bank of sounds; an interrupted run goes on where it stopped.

    Args:
        bank: A folder of sounds (see docs/scenes.md), or ``builtin``.
        split: ``test``, ``train`` or ``all``; no recording is on both sides.
        per_relation: Prompts for each of the eleven sub-relations; 720 for test, 1,440 for train.
        listener: Only sounds that this listener claims to know, so that it can be asked about every prompt.
        stems: Keep every sound of a scene as a file of its own too.
        workers: Processes; by default one a core, or fewer for little work. They change no byte.
        engine: ``local`` or ``ray`` (docs/scale.md); it changes no byte either.
        how: Any other argument of :func:`earwitness.scenes.ritta.recipe.recipe`.

    Raises:
        UserError: Naming what cannot be made, with the numbers, before anything is written.
    """
    number = PER_RELATION.get(split, PER_RELATION["test"]) if per_relation is None else per_relation
    recipe = recipes.recipe(
        open_bank(bank),
        split=split,
        per_relation=number,
        progress=stage(progress, "cutting"),
        **_known(listener),
        **how,
    )
    return _written(Path(out), recipe, listener, stems, workers, engine, progress, command)


def import_ritta(
    prompts: str | Path,
    out: str | Path,
    *,
    bank: str | Path | Bank | None = None,
    listener: str | None = None,
    stems: bool = False,
    workers: int | None = None,
    engine: str = "local",
    progress: Progress | None = None,
    command: str = "",
    **how: Any,
) -> Imported:
    """Read the published prompts with their known faults put right.

    Args:
        prompts: The published evaluation data as JSON.
        bank: Sounds from which references are rendered; without, only the prompts are written, and they
            cannot be scored, since no ceiling can be measured.
        listener: Only prompts whose sounds this listener claims to know; needs a bank.
        how: Any other argument of :func:`earwitness.scenes.ritta.published.recipe`.

    Raises:
        UserError: If the file is no such data, naming the row that cannot be read; or if there is a
            listener and no bank.
    """
    if bank is None and listener is not None:
        raise UserError("Prompts are chosen for a listener as their clips are made.", "Name a bank, too.")
    found = publisheds.read(Path(prompts))
    if bank is None:
        folder = dataset.write_prompts_only(
            Path(out),
            found.rows(),
            columns=publisheds.COLUMNS,
            settings=found.settings,
            about=found.card,
            command=command,
        ).folder
        return Imported(folder, len(found.prompts), found.corrections, ())
    recipe = publisheds.recipe(
        found, open_bank(bank), progress=stage(progress, "cutting"), **_known(listener), **how
    )
    made = _written(Path(out), recipe, listener, stems, workers, engine, progress, command)
    return Imported(made.folder, len(recipe.prompts), found.corrections, made.notes)


def _written(
    out: Path,
    recipe: recipes.RittaRecipe | publisheds.PublishedRecipe,
    listener: str | None,
    stems: bool,
    workers: int | None,
    engine: str,
    progress: Progress | None,
    command: str,
) -> Scenes:
    made = dataset.write(
        out,
        recipe,
        recipe.bank,
        stems=stems,
        workers=workers,
        engine=engine,
        progress=stage(progress, "scenes"),
        command=command,
    )
    notes = (*_notes(recipe.stock), *_asked(recipe), *trained_on(listener, made.folder))
    return Scenes(made.folder, made.made, made.kept, notes)


def _known(listener: str | None) -> dict[str, Any]:
    """Arguments of a recipe of sounds that a listener claims to know."""
    if listener is None:
        return {}
    return {"known": claimed(open_listener(listener).known_labels), "listener": listener}


def _asked(recipe: recipes.RittaRecipe | publisheds.PublishedRecipe) -> Iterator[str]:
    """How many of the prompts the default listener can be asked about, if that is not all."""
    if recipe.stock.listener:
        return
    known = claimed(open_listener(LISTENER).known_labels)
    keys = recipe.keys()
    number = sum(known.issuperset(recipe.expected(key).labels) for key in keys)
    if number < len(keys):
        yield (
            f"{LISTENER} can be asked about {number:,} of {len(keys):,} prompts, those whose sounds it "
            f"claims to know; with --listener {LISTENER} only such prompts are made."
        )


def _notes(stock: Stock) -> Iterator[str]:
    """What of the bank was shared or left out, one sentence each."""
    yield from stock.notes
    for name, why in stock.shared.items():
        yield f"{name} is shared by train and test: {why}."
    if stock.shortened:
        yield f"Cut shorter, as no slice would have fitted twice: {', '.join(stock.shortened)}."
    if stock.unknown:
        yield f"Not used, as {stock.listener} does not claim to know them: {', '.join(stock.unknown)}."
    if stock.missing:
        yield f"Left out, as the bank has no slice of them: {', '.join(stock.missing)}."
    for name, why in stock.refused.items():
        yield f"{name} is left out: {why}."
    reasons = Counter[str]()
    for counts in stock.left_out.values():
        reasons.update(counts)
    if reasons:
        told = ", ".join(f"{count} {why}" for why, count in reasons.most_common())
        yield f"Clips of which no slice could be cut: {told} (README.md lists them by class)."


def score_ritta(
    data: str | Path,
    outputs: Mapping[str, str | Path] | Sequence[str | Path] = (),
    *,
    run: str | Path,
    progress: Progress | None = None,
    **how: Any,
) -> Result | Panel:
    """Score systems on a RiTTA data set, beside the ceilings and the floors.

    Args:
        data: The data set, with its reference audio.
        outputs: For every system the folder of its clips; or folders, see :func:`systems_of`. None is
            needed for the ceilings alone.
        run: The run folder; made if absent, extended if it holds this run.
        how: Any other field of :class:`earwitness.api.Request`; ``scoring`` chooses mode, counting and
            order rule (tasks.ritta.SCORING).

    Raises:
        UserError: Before any work, naming every fault of the input.
    """
    systems = outputs if isinstance(outputs, Mapping) else systems_of([str(one) for one in outputs])
    request = Request("ritta", data, outputs=systems, **how)
    if len(request.listeners) > 1:
        return run_panel(request, Path(run), progress)
    return run_request(request, Path(run), progress)


def systems_of(outputs: Sequence[str]) -> dict[str, Path]:
    """Systems by name, from ``NAME=FOLDER`` or ``FOLDER``.

    A folder that holds clips, or a data set, is one system of the folder's name; one that holds only
    folders of clips is a system for each of them.

    Raises:
        InputFaults: Naming every folder that is missing or holds no clip, and names given twice.
    """
    found: dict[str, Path] = {}
    faults: list[str] = []
    for text in outputs:
        name, equals, rest = text.partition("=")
        named = bool(equals) and bool(name) and not Path(text).exists()
        folder = Path(rest if named else text)
        if named and not rest:
            faults.append(f"{text} names no folder")
            continue
        if not folder.is_dir():
            is_file = f"{folder} is a file; name the folder that it lies in"
            faults.append(is_file if folder.is_file() else f"no such folder: {folder}{near_path(folder)}")
            continue
        inner = [] if named or _holds_clips(folder) else sorted(filter(_is_folder, folder.iterdir()))
        for one in inner or [folder]:
            label = name if named else one.resolve().name
            if not named and not _holds_clips(one):
                faults.append(f"no audio in {one}")
            elif label in found:
                faults.append(f"two systems are called {label!r}: {found[label]} and {one}")
            else:
                found[label] = one
    if faults:
        raise InputFaults("the systems' outputs", faults, "Give each as NAME=FOLDER.")
    return found


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".")


def _holds_clips(folder: Path) -> bool:
    return bool(metadata_in(folder)) or any(p.suffix.lower() in AUDIO_EXTENSIONS for p in folder.iterdir())
