"""Clips packed with their descriptions, to be sent to others: opens with the originals gone.

Conventions
-----------
``audio/`` holds copies of the described clips, byte for byte, under numbered names of plain letters; the
files of report.labels lie beside it and name the clips so. Clips nobody could hear are listed in
``labels.csv`` with the reason, and are not packed. Nothing in the folder names a path of this machine.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from earwitness.errors import InputFaults, UserError
from earwitness.files import appearing, write_text
from earwitness.report import labels
from earwitness.report.build import of_ledger, open_run
from earwitness.tasks import label
from earwitness.tasks.rows import SCORED, ItemRow

AUDIO = "audio"


def bundle_clips(run: Path, target: Path, *, ordered_only: bool = False) -> int:
    """Pack the described clips of a label run into a folder; returns how many there are.

    Args:
        run: The run folder.
        target: A folder that is empty or not there yet; it appears when it is complete.
        ordered_only: Pack only clips with a clear sequence of sounds.

    Raises:
        UserError: If the run is not one of the label task, has no clip to pack, or the target is not empty.
        InputFaults: Naming every clip that is gone or has changed since it was heard; nothing is packed.
    """
    with open_run(run) as ledger:
        view = of_ledger(ledger)
        if view.task.name != label.TASK.name:
            raise UserError(f"{run} is a run of the task {view.task.name!r}.", "Pack clips of a label run.")
        packed = [
            (row.audio, _copy(row))
            for row in view.rows()
            if row.status == SCORED and (not ordered_only or row.verdict == label.ORDERED)
        ]
        if not packed:
            raise UserError(f"{run} has no clip to pack.", "index.html says what was heard of each.")
        gone = [f"{original}: no such file" for original, _ in packed if not os.path.isfile(original)]
        faults = [*gone, *ledger.changed_files()]
        if faults:
            raise InputFaults(f"{run}: clips are not as they were heard", faults, "Bring them back first.")
        with appearing(target) as folder:
            (folder / AUDIO).mkdir()
            for original, copy in packed:
                shutil.copyfile(original, folder / copy)

            def rows() -> Iterator[ItemRow]:
                for row in view.rows():
                    if row.status == SCORED:
                        yield replace(row, audio=str(folder / _copy(row)))
                    else:  # the detail may quote a path
                        yield replace(row, audio="", detail="")

            told = labels.write(folder, rows(), view.hearer, folder, ordered_only=ordered_only)
            made = labels.made_by(view.hearer, view.meta)
            write_text(folder / "README.md", _readme(told, made, ordered_only))
    return len(packed)


def _copy(row: ItemRow) -> str:
    """Where a clip lies in the bundle."""
    return f"{AUDIO}/{labels.clip_name(row)}{Path(row.audio).suffix.lower()}"


def _readme(told: labels.Written, made: str, ordered_only: bool) -> str:
    what = "clips with a clear sequence of sounds" if ordered_only else "clips"
    unheard = "Clips that the listener could not hear are not packed.\n\n" if told.unheard else ""
    return (
        f"# Clips with descriptions\n\n{told.described} {what}, in `{AUDIO}/`.\n\n{made}\n\n{labels.FILES}\n"
        f"{labels.without_events(told)}{unheard}"
        "Licence of the clips: (to be filled in by whoever passes them on)\n\n"
        "Where the clips come from: (to be filled in)\n"
    )
