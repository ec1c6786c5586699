"""How a data set is made: ``make.json``, written before anything else and compared when the work goes on."""

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from earwitness import __version__, audio
from earwitness.errors import InputFaults, UserError
from earwitness.files import differences, write_text

NAME, LOCK = "make.json", "make.lock"
_PACKAGES = ("numpy", "scipy", "soxr", "pyloudnorm")
"""What samples, levels and draws go through, beside our own and libsndfile."""


def versions() -> dict[str, str]:
    """Versions that the bytes of a data set may depend on."""
    others = {name: version(name) for name in _PACKAGES}
    return {"earwitness": __version__, **others, "libsndfile": audio.libsndfile_version()}


def refuse_others(folder: Path) -> None:
    """Refuse a folder with content that no call of ours began.

    Raises:
        UserError: Naming some of what is there.
    """
    if (folder / NAME).exists():
        _read(folder / NAME)
        return
    ours = {LOCK, f"{NAME}.part"}
    if found := sorted({path.name for path in folder.iterdir()} - ours):
        raise UserError(
            f"{folder} is not empty and no data set of scenes: it holds {', '.join(found[:5])}.",
            "Name a folder that is not there yet.",
        )


def begin(folder: Path, settings: Mapping[str, Any], prompts: int) -> None:
    """Write ``make.json``, or check that the one there began the same work with no more prompts.

    Raises:
        InputFaults: Listing every setting and version that differs, old and new.
        UserError: If the one that is there cannot be read.
    """
    path = folder / NAME
    asked = {"settings": dict(settings), "versions": versions(), "prompts": prompts}
    text = json.dumps(asked, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    if path.exists():
        before = _read(path)
        before["prompts"] = max(before["prompts"], prompts)
        if UNKNOWN not in before["settings"]:  # begun before it was kept
            before["settings"] |= {key: value for key, value in settings.items() if key == UNKNOWN}
        differing = [
            (name.removeprefix("settings."), old, new) for name, old, new in differences(before, asked)
        ]
        if differing:
            others = [name for name, *_ in differing if name not in _OF_BANK]
            remedy = "Give the settings as they were (there may be more prompts), or name another folder."
            if not others:
                remedy = "Put the bank back as it was, or name another folder for what is made of it now."
            faults = [_told(*one, alone=not others) for one in differing]
            raise InputFaults(f"{folder} was made otherwise", faults, remedy)
    write_text(path, text)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if (
            isinstance(found, dict)
            and isinstance(found["settings"], dict)
            and isinstance(found["prompts"], int)
        ):
            return found
    except (ValueError, RecursionError, KeyError):
        pass
    raise UserError(f"{path} was not written by earwitness.", "Name a folder that is not there yet.")


SLICES = "slices_sha256"
UNKNOWN = "clips_of_unknown_recording"
_OF_BANK = (SLICES, UNKNOWN)
"""Settings that the clips of a bank decide."""


def _told(name: str, before: str, now: str, *, alone: bool) -> str:
    """A difference in words; ``alone`` if nothing but the bank's clips differs."""
    if name == UNKNOWN and alone:
        return (
            f"the bank has other clips than before whose recordings are not known: {before} before, now {now}"
        )
    if name != SLICES:
        return f"{name}: {before} before, now {now}"
    if not alone:
        return f"{SLICES}: other pieces of the bank's clips, by these differences or as the clips changed"
    return (
        "the clips of the bank changed since: some were added, taken out, exchanged or put under another "
        f"label ({SLICES}: {before} before, now {now})"
    )
