"""The folder of a panel: a whole run for every listener, in a folder called after it."""

import hashlib
import re
from pathlib import Path

from earwitness.errors import UserError
from earwitness.ledger import Ledger
from earwitness.listeners.scripted import Scripted

_SEVERAL = re.compile(r"--listener\b.*--listener\b|\blistener=[(\[]", re.DOTALL)
"""A command or call that names more than one listener."""


def slug(listener: str) -> str:
    """A folder name for a listener: safe, readable, and another one for every other listener.

    ``google:gemini-2.5-pro`` becomes ``google-gemini-2.5-pro``. A name that cannot be kept to the letter
    (slashes, spaces, capitals) is cut to its last part and gets six digits of its hash.
    """
    if re.fullmatch(r"[a-z0-9][a-z0-9._-]*(:[a-z0-9][a-z0-9._-]*)?", listener):
        return listener.replace(":", "-")
    provider, _, rest = listener.partition(":")
    parts = [provider, Path(rest).name] if rest else [provider]
    words = "-".join(re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip("-.")[:40] for part in parts).strip("-")
    return f"{words or 'listener'}-{hashlib.sha256(listener.encode()).hexdigest()[:6]}"


def runs_of(folder: Path) -> dict[str, Path]:
    """The runs of a panel's folder by listener; empty if it is not one.

    A folder that merely holds runs is no panel. One was made as such if it has an ``agreement.json``, or if
    a run in it was asked for together with another listener: such a panel was interrupted, and may hold a
    single run. Listeners of one name are told apart by the name of their folder.
    """
    if not folder.is_dir() or (folder / "ledger.sqlite").exists():
        return {}
    found, together = members(folder)
    return found if together or (folder / "agreement.json").is_file() else {}


def members(folder: Path) -> tuple[dict[str, Path], bool]:
    """Runs in folders called after their listeners, as :func:`slug` does, and whether one was asked for
    with several listeners."""
    found, together = {}, False
    for one in sorted(folder.iterdir()):
        if (one / "ledger.sqlite").is_file():
            with Ledger.read(one / "ledger.sqlite") as ledger:
                meta = ledger.meta()
            listener = str(meta.get("listener", {}).get("name", ""))
            # A scripted listener's own name leaves out the script that its folder is called after.
            script = listener == Scripted.name and one.name.startswith(f"{Scripted.name}-")
            if listener and (one.name == slug(listener) or script):
                found[one] = listener
                together = together or bool(_SEVERAL.search(meta["command"]))
    names = list(found.values())
    shown = {one: name if names.count(name) == 1 else f"{name} ({one.name})" for one, name in found.items()}
    return {name: one for one, name in shown.items()}, together


def check_single(folder: Path) -> None:
    """Make sure that a folder is no panel's, where one run is meant.

    Raises:
        UserError: Naming the runs in it.
    """
    if panel := runs_of(folder):
        listed = ", ".join(str(path) for path in panel.values())
        raise UserError(f"{folder} holds the runs of several listeners.", f"Name one of them: {listed}")
