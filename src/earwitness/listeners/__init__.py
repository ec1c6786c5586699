"""Who hears: one file a listener, found by name, imported only when asked for."""

from pathlib import Path
from typing import Any

from earwitness.errors import UserError, choices, nearest
from earwitness.listeners.base import Listener
from earwitness.listeners.llm import Llm
from earwitness.listeners.llm_options import PROVIDERS, LlmOptions, near_name

NAMES = ("yamnet", "FOLDER", "scripted:FILE", "google:MODEL", "google-vertex:MODEL", "openai:MODEL")
"""FOLDER is that of a trained detector; ``trained:FOLDER`` says so outright."""


def trained_in(name: str) -> Path | None:
    """The folder of the trained detector that a name means: ``trained:FOLDER``, or a folder that is there
    and has no name of another listener (``google:x``; ``./google:x`` would be the folder)."""
    kind, colon, argument = name.partition(":")
    if kind == "trained" and colon:
        return Path(argument)
    if name == "yamnet" or (colon and (kind == "scripted" or kind in PROVIDERS)):
        return None
    return Path(name) if name and Path(name).is_dir() else None


def has_weights(name: str) -> bool:
    """Whether the listener of that name can be given a weights file."""
    return name == "yamnet" or trained_in(name) is not None


def open_listener(
    name: str,
    *,
    weights: Path | None = None,
    workers: int | None = None,
    llm: LlmOptions | None = None,
) -> Listener:
    """The listener of that name, ready to hear.

    Args:
        name: ``yamnet``, the folder of a trained detector (``listeners train``), ``scripted:FILE``, or a
            model as pydantic-ai names it (``google:gemini-2.5-pro``).
        weights: A weights file of the user's, for listeners that have weights.
        workers: How many clips are heard at a time; all cores by default.
        llm: How an LLM is asked.

    Raises:
        UserError: If there is no such listener (with the nearest name) or an option does not apply.
    """
    kind, _, argument = name.partition(":")
    if kind == "yamnet" and not argument:
        from earwitness.listeners.yamnet import Yamnet

        options: dict[str, Any] = {} if workers is None else {"workers": workers}
        return Yamnet(weights=weights, **options)
    if (folder := trained_in(name)) is not None:
        from earwitness.listeners.trained import Trained

        if not folder.is_dir():
            raise UserError(f"there is no folder {str(folder)!r}.", choices(_model_near(folder), NAMES))
        return Trained(folder, weights=weights, workers=workers)
    if weights is not None:
        raise UserError(
            f"listener {name!r} has no weights.", "Leave --weights out, or use --listener yamnet."
        )
    if kind == "scripted":
        from earwitness.listeners.scripted import Scripted

        if not argument:
            raise UserError("listener 'scripted' needs a file.", "Write it as scripted:answers.jsonl.")
        return Scripted(Path(argument))
    if kind in PROVIDERS:
        return Llm(name, llm)
    if model := near_name(name):
        raise UserError(f"there is no listener {name!r}.", f"Did you mean {model!r}?")
    near = _model_near(Path(name)) or nearest(kind, [known.partition(":")[0] for known in NAMES])
    raise UserError(f"there is no listener {name!r}.", choices(near, NAMES))


def _model_near(folder: Path) -> str:
    """The trained detector that was probably meant, of those where a folder would lie; empty if none."""
    from earwitness.listeners.trained_model import is_model

    found = [one.name for one in folder.parent.iterdir() if is_model(one)] if folder.parent.is_dir() else []
    near = nearest(folder.name, found)
    return str(folder.parent / near) if near else ""
