"""Files and folders that are whole or not there."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from earwitness.errors import InputFaults, UserError

INPUTS = "inputs"
"""Key of a result's JSON file: what it was made of (see :func:`refuse_other`)."""


@contextmanager
def whole(path: Path, own: str = "") -> Iterator[Path]:
    """A path beside ``path`` to write to; it takes the place of ``path`` if the block ends without fault, and
    is gone otherwise.

    Args:
        own: Ends its name, where several processes may write the same file at once.
    """
    unfinished = path.with_name(f"{path.name}.part{own}")
    try:
        yield unfinished
        os.replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 with LF line ends, all or nothing."""
    with whole(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def taken(out: Path, inputs: Iterable[Path], names: Iterable[str] = ()) -> list[str]:
    """Why results may not be written to a folder, as something else would be lost; empty if nothing would.

    Args:
        inputs: Files and folders that are read.
        names: Of the files that will be written.
    """
    if (out / "run.json").exists():
        return [
            f"{out} holds a run, whose files of the same names would be lost; name another folder to write"
        ]
    whole, written = out.resolve(), {(out / name).resolve() for name in names}
    faults = []
    for each in inputs:
        if each.is_dir() and whole.is_relative_to(each.resolve()):
            faults.append(f"{out} is or lies in {each}, which is read; name another folder to write")
        elif each.resolve() in written:
            faults.append(f"{each} is read and would be written over; name another folder to write")
    return faults


def foreign(out: Path, names: Sequence[str]) -> list[str]:
    """Why a result may not be written to a folder that holds files of its names but no such result; empty if
    it may.

    Args:
        names: Of the files that may be written or removed; the first is there where the result is.
    """
    if os.path.lexists(out / names[0]):
        return []
    return [
        f"{out / name} is of another result and would be lost; name another folder to write"
        for name in names
        if os.path.lexists(out / name)
    ]


def seen_from(folder: Path, path: str | Path) -> str:
    """How a path is written in a result, so that it names no machine and is the same from any folder."""
    return Path(os.path.relpath(os.path.abspath(path), os.path.abspath(folder))).as_posix()


def refuse_other(folder: Path, name: str, inputs: Mapping[str, Any]) -> None:
    """Refuse to write a result over one that was made of other inputs; one of the same may be replaced.

    Args:
        name: Of the result's JSON file in the folder, which keeps ``inputs`` under :data:`INPUTS`.
        inputs: Whatever the numbers depend on, as plain data; paths by :func:`seen_from` the folder.

    Raises:
        InputFaults: Naming each input that differs, old and new.
        UserError: If the file that is there does not say what it was made of.
    """
    remedy = "Name another folder with -o, or delete that one."
    try:
        before = {**json.loads((folder / name).read_text(encoding="utf-8"))[INPUTS]}
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise UserError(f"{folder / name} does not say what it was made of.", remedy) from fault
    faults = [f"{name}: {old} before, now {new}" for name, old, new in differences(before, inputs)]
    if faults:
        raise InputFaults(f"{folder} holds a result of other inputs (paths as seen from it)", faults, remedy)


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What differs between two nested mappings of plain data: name (joined by dots), old and new, as JSON.

    What is absent or None is ``nothing``.
    """
    old, new = dict(_flat(before)), dict(_flat(json.loads(json.dumps(now))))
    shown = ((name, _shown(old, name), _shown(new, name)) for name in dict.fromkeys((*old, *new)))
    return [(name, one, other) for name, one, other in shown if one != other]


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _shown(values: Mapping[str, Any], name: str) -> str:
    return json.dumps(values[name], ensure_ascii=False) if values.get(name) is not None else "nothing"


def new_folder(path: Path) -> Path:
    """The absolute path of a folder that can be made; worth asking before long work.

    Raises:
        UserError: If something is there that is no empty folder, or an empty one that cannot be replaced:
            the working folder, or the root of a file system.
    """
    folder = path.resolve()
    if folder.exists():
        if not folder.is_dir() or any(folder.iterdir()):
            raise UserError(f"{path} is not empty.", "Name a folder that is not there yet.")
        if folder == Path.cwd() or folder.is_mount():
            what = "the folder you are in" if folder == Path.cwd() else "where a file system is mounted"
            raise UserError(f"{path} is {what}.", f"Name a folder within it, for example: {path / 'bundle'}")
    return folder


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """A folder to write to; it becomes ``path`` if the block ends without fault, and is gone otherwise.

    Raises:
        UserError: See :func:`new_folder`.
    """
    folder = new_folder(path)
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield made
        made.chmod(0o755)
        os.replace(made, folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
