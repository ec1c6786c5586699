"""Scenes with known truth: make data sets of them, render one again, and see what a bank holds."""

import csv
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from earwitness import audio
from earwitness.api.runs import Progress, stage
from earwitness.errors import UserError
from earwitness.listeners import open_listener
from earwitness.manifest.table import near
from earwitness.scenes import card, dataset, edit_pairs, order_pairs, scene, slices, splits
from earwitness.scenes.bank import Bank
from earwitness.scenes.render import Rendered, mix, render
from earwitness.training.overlap import overlap

FAMILIES: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {"order": order_pairs.recipe, "edit": edit_pairs.recipe}
)
"""Name of a family of scenes -> the function that gives its recipe."""
BUILTIN = "builtin"
"""Name of the bank of computed sounds."""
_PER_CLASS = 12


@dataclass(frozen=True, slots=True)
class Scenes:
    """A finished data set.

    Attributes:
        made, kept: Scenes made now, and those that were there already.
        notes: What of the bank was left out or shared, and why.
    """

    folder: Path
    made: int
    kept: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Again:
    """A scene rendered again.

    Attributes:
        pcm_hash: Of the mix.
        stated: The hash that the data set states for it; empty if none is found beside the scene.
    """

    pcm_hash: str
    stated: str

    @property
    def same(self) -> bool | None:
        """Whether both are equal; None if none is stated."""
        return self.pcm_hash == self.stated if self.stated else None


@dataclass(frozen=True, slots=True)
class LabelSummary:
    """What a bank holds of a label.

    Attributes:
        slices: Usable pieces.
        train, test: Recordings on either side of the split.
        shared: Why both sides share the label; empty if they do not.
        left_out: Reason -> clips that give no piece.
        licences: Kind of licence -> clips.
    """

    label: str
    clips: int
    recordings: int
    slices: int
    train: int
    test: int
    shared: str
    left_out: Mapping[str, int]
    licences: Mapping[str, int]


def open_bank(bank: str | Path | Bank) -> Bank:
    """A bank by its folder, or the built-in one by the name ``builtin``.

    Raises:
        UserError: If there is no such folder, or see :meth:`.Bank.open`.
    """
    if isinstance(bank, Bank):
        return bank
    return Bank.builtin(_PER_CLASS) if str(bank) == BUILTIN else Bank.open(Path(bank))


def make_scenes(
    family: str,
    /,
    *,
    bank: str | Path | Bank,
    out: str | Path,
    listener: str | None = None,
    stems: bool = False,
    workers: int | None = None,
    engine: str = "local",
    progress: Progress | None = None,
    command: str = "",
    **how: Any,
) -> Scenes:
    """Make a data set of scenes; what an interrupted call finished is kept.

    Args:
        family: ``order`` or ``edit``.
        bank: A folder of clips, ``builtin``, or a bank.
        out: The folder to write, new or begun with the same settings.
        listener: Only sounds that this listener claims to know.
        stems: Write every sound apart, too.
        workers: Processes; by default one a processor, or fewer for little work.
        engine: ``local`` or ``ray`` (docs/scale.md); it changes no byte.
        how: Arguments of the family, such as ``pairs`` and ``seed``; see :func:`.order_pairs.recipe` and
            :func:`.edit_pairs.recipe`.

    Raises:
        UserError: Naming what cannot be used.
    """
    if family not in FAMILIES:
        raise UserError(
            f"There are no scenes {family!r}{near(family, FAMILIES)}.", f"Use {' or '.join(FAMILIES)}."
        )
    recipe_of = FAMILIES[family]
    known = inspect.signature(recipe_of).parameters.keys() - {"bank", "known", "progress"}
    if unknown := sorted(how.keys() - known):
        raise UserError(
            f"Scenes {family!r} take no {unknown[0]!r}{near(unknown[0], known)}.",
            f"They take {', '.join(sorted(known))}.",
        )
    if listener is not None:
        how["known"] = open_listener(listener).known_labels or None
    recipe = recipe_of(open_bank(bank), progress=stage(progress, "cutting"), **how)
    written = dataset.write(
        Path(out),
        recipe,
        recipe.bank,
        stems=stems,
        workers=workers,
        engine=engine,
        progress=stage(progress, "scenes"),
        command=command,
    )
    notes = (*recipe.material.notes, *trained_on(listener, written.folder))
    return Scenes(written.folder, written.made, written.kept, notes)


def trained_on(listener: str | None, data: Path) -> Iterator[str]:
    """How much of a data set the listener that it is made for was trained on, if it is a trained one."""
    seen = None if listener is None else overlap(listener, data)
    if seen is not None:
        yield seen.sentence


def render_scene(file: str | Path, bank: str | Path | Bank, out: str | Path, *, stems: bool = False) -> Again:
    """Render a scene from its file.

    Args:
        bank: The bank it was drawn from.
        out: The wav file to write, 16-bit; not within the bank.
        stems: Write every sound apart, too, into ``<out without its ending>-stems/``.

    Raises:
        UserError: If the file is no scene, would clip or is too long for the memory, the bank lacks one of
            its sounds, or ``out`` cannot be written.
    """
    path, target = Path(file), Path(out)
    if not target.name or target.is_dir():
        raise UserError(f"{out} is a folder.", "Name the wav file to write.")
    one, sounds = scene.read(path), open_bank(bank)
    dataset.refuse_within(sounds, target)
    try:
        rendered = render(one, sounds) if stems else Rendered(mix(one, sounds), ())
        _write(target, one, rendered)
    except ValueError as fault:
        raise UserError(f"{path} cannot be rendered: {fault}.", "Lower its gain_db.") from fault
    except MemoryError as fault:
        raise UserError(f"{path} lasts {one.duration_s:.0f} s: too long for this memory.") from fault
    except OSError as fault:
        raise UserError(f"{target} cannot be written: {fault.strerror or fault}.") from fault
    return Again(audio.pcm_hash(rendered.mix[np.newaxis], one.rate_hz), _stated(path))


def bank_summary(
    bank: str | Path | Bank, *, rate_hz: int = 16_000, progress: Progress | None = None
) -> list[LabelSummary]:
    """What a bank holds, label by label: clips, recordings, usable pieces, split, licences.

    Args:
        rate_hz: At which it will be used.

    Raises:
        UserError: If the bank cannot be opened.
    """
    sounds = open_bank(bank)
    cut = slices.cut(sounds, rate_hz=rate_hz, leave_out_empty=True, progress=stage(progress, "cutting"))
    sides = {side: splits.split(sounds, side) for side in ("train", "test")}
    found = []
    for label, sources in sounds.sources.items():
        licences: dict[str, int] = {}
        for source in sources:
            kind = card.licence_class(source)
            licences[kind] = licences.get(kind, 0) + 1
        train, test = (len({s.recording_id for s in side.bank.of(label)}) for side in sides.values())
        found.append(
            LabelSummary(
                label=label,
                clips=len(sources),
                recordings=len({source.recording_id for source in sources}),
                slices=len(cut.slices.get(label, ())),
                train=train,
                test=test,
                shared=sides["train"].shared.get(label, ""),
                left_out=dict(cut.left_out.get(label, {})),
                licences=licences,
            )
        )
    return found


def _write(target: Path, one: scene.Scene, rendered: Rendered) -> None:
    dataset.write_sound(target, rendered.mix, one.rate_hz)
    inner = target.with_name(f"{target.stem}-stems")
    for number, (sound, samples) in enumerate(zip(one.sounds, rendered.stems, strict=False)):
        dataset.write_sound(inner / dataset.stem_name(number, sound.label), samples, one.rate_hz)


def _stated(path: Path) -> str:
    """The hash that ``metadata.csv`` beside ``scenes/`` states for a scene; empty if there is none."""
    metadata = path.resolve().parent.parent / dataset.METADATA
    if path.resolve().parent.name != dataset.SCENES or not metadata.is_file():
        return ""
    with metadata.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return next((row.get(dataset.HASH) or "" for row in rows if row.get("prompt_id") == path.stem), "")
