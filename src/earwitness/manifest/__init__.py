"""What the user has: a manifest, or prompts and a folder per system, to checked items.

Conventions
-----------
A manifest is CSV, JSON Lines, or a folder that holds ``metadata.csv`` or ``metadata.jsonl`` (the
AudioFolder convention). Names (system, sample_id, prompt_id, pair_id) lose the spaces around them;
captions and paths are kept to the letter. Columns that are not named here are ignored.

The faults of an input are all found before any work is done and raised as one InputFaults. Whether the
sound can be decoded is no matter of the manifest: only that the file is there.
"""

import hashlib
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from earwitness.errors import UserError
from earwitness.manifest.table import ALIASES, MAP, Table, listing, near_path, read_table, text_fault

AUDIO_EXTENSIONS = (".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3")
AUDIO, SOURCE = "audio", "source"
"""Roles of an item's files: the clip itself and, for an edit, what it was made from."""
_OPTIONAL = ("reversed_caption", "first", "second", "pair_id")
_METADATA = ("metadata.csv", "metadata.jsonl")
_NO_RENAME: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Item:
    """One clip to judge.

    Attributes:
        audio: Absolute path of the clip; the file exists, its sound is not yet looked at.
        caption: What the clip was made from; may be empty.
        reversed_caption, first, second: The caption reversed and its two events, where the user gives them.
        pair_id: Shared by prompts that belong together (both directions of a pair); empty if not given.
        source_audio: For an edit, absolute path of the clip that was edited; ``audio`` is then the result
            and ``caption`` what the result should fit.
        source_caption, instruction: What the source holds and what the edit was told to do, where given.
        added, removed: Phrases for the sounds that the edit brings in or takes away, ``;`` between them,
            where the user names them.
        edit_start_s, edit_end_s: The edited span, in seconds from the start of the clip, where known.
        edit_type: The user's word for the kind of edit; distances are told apart by it, no number else.
        expected: For a prompt that states a relation, what it asks for, as JSON (see scores.relations).
        truth: For a rendered scene, its true events with their levels, as JSON; empty for what is heard.
        row: Row of the manifest or of the prompt file, for messages.
    """

    system: str
    sample_id: str
    audio: Path
    caption: str
    reversed_caption: str = ""
    first: str = ""
    second: str = ""
    pair_id: str = ""
    source_audio: Path | None = None
    source_caption: str = ""
    instruction: str = ""
    added: str = ""
    removed: str = ""
    edit_start_s: float | None = None
    edit_end_s: float | None = None
    edit_type: str = ""
    expected: str = ""
    truth: str = ""
    row: int = 0

    @property
    def files(self) -> dict[str, Path]:
        """The item's files by role: ``audio``, and for an edit ``source``."""
        return {AUDIO: self.audio} | ({SOURCE: self.source_audio} if self.source_audio else {})


@dataclass(frozen=True, slots=True)
class Manifest:
    """Checked items in the order given, notes for the reader, and the file or folder they come from."""

    items: tuple[Item, ...]
    notes: tuple[str, ...]
    source: str


def parse_rename(pairs: Sequence[str]) -> dict[str, str]:
    """``caption=prompt_text`` (our column = their column) to a mapping.

    Raises:
        UserError: If a pair has no ``=`` or an empty side, or a column is renamed twice.
    """
    rename: dict[str, str] = {}
    for pair in pairs:
        ours, _, theirs = (part.strip() for part in pair.partition("="))
        if not ours or not theirs:
            raise UserError(f"--map {pair!r} is not understood.", "Write it as --map caption=prompt_text.")
        if ours in rename:
            raise UserError(f"--map names the column {ours!r} twice: {rename[ours]!r} and {theirs!r}.")
        rename[ours] = theirs
    return rename


def read_manifest(path: Path, *, rename: Mapping[str, str] = _NO_RENAME, captions: bool = True) -> Manifest:
    """Read a manifest of clips.

    Columns: ``audio`` or ``file_name`` (absolute, or relative to the manifest's folder) and ``caption``;
    ``system`` (default: the folder's name), ``sample_id`` (default: the file's stem); optional
    ``reversed_caption``, ``first``, ``second``, ``pair_id``.

    Args:
        rename: Our column name to theirs, see :func:`parse_rename`.
        captions: Whether every row must have a caption; without, the column may be missing.

    Raises:
        InputFaults: With every fault of the table: columns missing, rows with too many or too few cells,
            empty names, values that are no text, files not found, samples or files listed twice.
        UserError: If there is no manifest to read.
    """
    table = read_table(metadata_of(path) if os.path.isdir(path) else path)
    folder = table.path.parent.resolve()
    if captions:
        refuse_relations(table, path, rename)
        _refuse_prompts(table, rename)
    required = ("audio", "caption") if captions else ("audio",)
    optional = ("caption", "system", "sample_id", *_OPTIONAL)
    columns = table.choose(required, [name for name in optional if name not in required], rename, option=MAP)
    items: list[Item] = []
    by_id: dict[tuple[str, str], int] = {}
    by_file: dict[tuple[str, str], int] = {}
    for row, cells in table.texts(columns, required):
        name = cells.pop("audio")
        system = cells.pop("system", folder.name or "system")
        sample_id = cells.pop("sample_id", Path(name).stem)
        file = folder / name
        empty = [
            columns[column]
            for column, value in (("audio", name.strip()), ("system", system), ("sample_id", sample_id))
            if not value and column in columns
        ]
        if empty:
            table.faults.append(f"row {row}: {listing(empty)} must not be empty")
            continue
        if not os.path.isfile(file):
            what = "a folder, not a file" if os.path.isdir(file) else "no such file"
            table.faults.append(f"row {row}: {what}: {file}")
        if (seen := by_id.setdefault((system, sample_id), row)) != row:
            stem = "" if "sample_id" in columns else " (the file's stem; add a column 'sample_id')"
            table.faults.append(f"rows {seen} and {row}: {system!r} has the sample {sample_id!r} twice{stem}")
        elif (seen := by_file.setdefault((system, os.path.normpath(file)), row)) != row:
            table.faults.append(f"rows {seen} and {row}: {system!r} lists the same file twice: {file}")
        items.append(Item(system, sample_id, file, cells.pop("caption", ""), row=row, **cells))
    table.raise_faults()
    return Manifest(tuple(items), tuple(notes_on_sets(items)), str(path))


def refuse_relations(table: Table, path: Path, rename: Mapping[str, str]) -> None:
    """Refuse a data set of prompts that state relations, whose columns another command reads.

    Raises:
        UserError: Naming that command.
    """
    relations = {"prompt", "relation", "expected"} <= set(table.columns)
    if relations and "caption" not in {*table.columns, *rename}:
        raise UserError(
            f"{path} is a RiTTA data set: its prompts state relations, not only orders or edits.",
            f"Score systems on it with: earwitness bench ritta score {table.path.parent} NAME=FOLDER -o run",
        )


def _refuse_prompts(table: Table, rename: Mapping[str, str]) -> None:
    """Refuse a table that has captions and no column that could name clips.

    Raises:
        InputFaults: Telling how clips made from them are judged.
    """
    names = (AUDIO, *ALIASES[AUDIO])
    here = {*table.columns, *rename}
    if table.rows and "caption" in here and here.isdisjoint(names):
        known = " or ".join(map(repr, names))
        table.faults.append(f"there are captions, but no column {known}, so nothing names clips")
        table.raise_faults(
            f"For clips made from these captions: --prompts {table.path} --outputs NAME=FOLDER (the column "
            f"prompt_id has their names). If a column names clips: {MAP} {AUDIO}=COLUMN. The columns found "
            f"are: {listing(table.columns, 40)}."
        )


def from_outputs(
    prompts: Path,
    outputs: Mapping[str, Path],
    *,
    id_from: str = "",
    rename: Mapping[str, str] = _NO_RENAME,
) -> Manifest:
    """Match one folder of clips per system with a file of prompts.

    The prompt file (CSV or JSON Lines) has ``prompt_id`` and ``caption``; optional
    ``reversed_caption``, ``first``, ``second``, ``pair_id``. Folders are searched with their subfolders,
    hidden ones left out. Items come system by system, each in the order of the prompts. Files without a
    prompt, prompts without a file and files that are no audio are listed in the notes.

    Args:
        outputs: System name to folder.
        id_from: Regular expression searched in a file's path relative to its folder (with ``/``); its
            group ``id``, or else its first group, is the prompt_id. If empty, the file's stem is.
        rename: Our column name to theirs, see :func:`parse_rename`.

    Raises:
        InputFaults: With every fault: those of the table, folders that are missing, hold no audio or
            match no prompt, prompts for which a system has two files.
        UserError: If there is no prompt file, no system, or ``id_from`` is no usable expression.
    """
    if not outputs:
        raise UserError("No system is given.", "Give each as --outputs NAME=FOLDER.")
    pattern = _pattern(id_from)
    table = read_table(prompts)
    required = ("prompt_id", "caption")
    columns = table.choose(required, _OPTIONAL, rename, option=MAP)
    asked: dict[str, Item] = {}
    for row, cells in table.texts(columns, required):
        prompt_id = cells.pop("prompt_id")
        if not prompt_id:
            table.faults.append(f"row {row}: {columns['prompt_id']} must not be empty")
        elif prompt_id in asked:
            table.faults.append(f"rows {asked[prompt_id].row} and {row}: the prompt {prompt_id!r} twice")
        else:
            asked[prompt_id] = Item("", prompt_id, Path(), row=row, **cells)
    items: list[Item] = []
    notes: list[str] = []
    for system, folder in outputs.items():
        files, found, faults = _match(folder, asked.keys(), pattern)
        items += (replace(asked[i], system=system, audio=files[i]) for i in asked if i in files)
        notes += (f"{system}: {note}" for note in found)
        if name_fault := "is empty" if not system.strip() else text_fault(system):
            table.faults.append(f"the name of the system in {folder} {name_fault}")
        table.faults.extend(f"{system}: {fault}" for fault in faults)
    table.raise_faults()
    return Manifest(tuple(items), (*notes, *notes_on_sets(items)), str(prompts))


def limited(
    manifest: Manifest, limit: int, seed: int, applies: Callable[[Item], bool] = lambda item: True
) -> Manifest:
    """The items of ``limit`` sample_ids drawn by seed, the same for every system.

    Each sample_id has its own place in the draw (a hash of the seed and the name), so that the sample of
    a smaller limit lies within that of a larger one, whatever else the manifest holds.

    Args:
        applies: Whether there is anything to ask about an item; samples with such an item are drawn first.

    Raises:
        UserError: If ``limit`` is below 1.
    """
    if limit < 1:
        raise UserError(f"--limit must be at least 1, not {limit}.")
    ids = {item.sample_id for item in manifest.items}
    if limit >= len(ids):
        return manifest
    useful = {item.sample_id for item in manifest.items if applies(item)}

    def place(name: str) -> tuple[bool, bytes]:
        return name not in useful, hashlib.sha256(f"{seed} {name}".encode()).digest()

    kept = frozenset(sorted(ids, key=place)[:limit])
    items = tuple(item for item in manifest.items if item.sample_id in kept)
    notes = [*manifest.notes, f"limited to {limit} of {len(ids)} samples, drawn with seed {seed}"]
    left = {item.system for item in items}
    lost = dict.fromkeys(item.system for item in manifest.items if item.system not in left)
    if lost:
        notes.append(f"systems without any of these samples: {listing(lost)}")
    return Manifest(items, tuple(notes), manifest.source)


def metadata_in(folder: Path) -> list[Path]:
    """The metadata files (AudioFolder convention) that a folder holds; one at most, if all is well."""
    return [folder / name for name in _METADATA if os.path.isfile(folder / name)]


def metadata_of(folder: Path, remedy: str = "") -> Path:
    """The manifest that lies in a folder.

    Args:
        remedy: What to do if there is none.

    Raises:
        UserError: If there is none, or more than one.
    """
    present = metadata_in(folder)
    if len(present) > 1:
        raise UserError(f"{folder} holds both {' and '.join(_METADATA)}.", "Name the one that is meant.")
    if not present:
        raise UserError(
            f"{folder} holds no {' or '.join(_METADATA)}, so nothing says what its clips were made from.",
            remedy
            or "Add a metadata.csv with the columns file_name and caption, or give the prompts: "
            f"--prompts prompts.csv --outputs NAME={folder}",
        )
    return present[0]


def _pattern(id_from: str) -> re.Pattern[str] | None:
    if not id_from:
        return None
    try:
        pattern = re.compile(id_from)
    except re.error as fault:
        raise UserError(f"--id-from {id_from!r} is no regular expression: {fault}.") from fault
    if not pattern.groups:
        raise UserError(
            f"--id-from {id_from!r} has no group that gives the prompt_id.",
            r"Put the id in parentheses, e.g. --id-from '_(\d+)\.wav$'.",
        )
    return pattern


def _match(
    folder: Path, prompt_ids: Collection[str], pattern: re.Pattern[str] | None
) -> tuple[dict[str, Path], list[str], list[str]]:
    """One system's file by prompt_id, the notes on its folder, and the faults."""
    if not os.path.isdir(folder):
        return {}, [], [f"no such folder: {folder}{near_path(folder)}"]
    audio, others, faults = files_in(folder)
    ids = {file: _id_of(file, pattern) for file in audio}
    made: dict[str, str] = {}
    for file, prompt_id in ids.items():
        if prompt_id in prompt_ids and (first := made.setdefault(prompt_id, file)) != file:
            faults.append(f"the prompt {prompt_id!r} has two files: {first} and {file}")
    if not audio:
        faults.append(f"no audio ({' '.join(AUDIO_EXTENSIONS)}) in {folder}")
    elif not made:
        faults.append(
            f"no file in {folder} belongs to a prompt: its files have the ids {listing(ids.values(), 3)}, "
            f"the prompts {listing(prompt_ids, 3)}; --id-from takes the id from a part of the path"
        )
    notes = [
        f"{what} ({len(names)}): {listing(names)}"
        for what, names in (
            ("files without a prompt", [file for file in audio if ids[file] not in prompt_ids]),
            ("prompts without a file", [i for i in prompt_ids if i not in made]),
            ("ignored files, hidden or no audio", others),
        )
        if names
    ]
    return {i: folder.resolve() / file for i, file in made.items()}, notes, faults


def files_in(folder: Path, *, dangling: bool = False) -> tuple[list[str], list[str], list[str]]:
    """Audio files and all others below a folder (relative, sorted), and the faults met.

    Args:
        dangling: Take links to nothing for files that cannot be read, not for faults.
    """
    audio: list[str] = []
    others: list[str] = []
    failed: list[OSError] = []
    for root, folders, names in os.walk(folder, onerror=failed.append):
        folders[:] = (name for name in folders if not name.startswith("."))
        for name in names:
            heard = Path(name).suffix.lower() in AUDIO_EXTENSIONS and not name.startswith(".")
            (audio if heard else others).append((Path(root) / name).relative_to(folder).as_posix())
    faults = [f"{fault.filename} cannot be read: {fault.strerror}" for fault in failed]
    bad = {file: fault for file in audio if (fault := _file_fault(folder.resolve() / file, dangling))}
    faults += (f"an audio file {fault}" for fault in bad.values())
    shown = (file if not text_fault(file) else ascii(file) for file in others)
    return sorted(file for file in audio if file not in bad), sorted(shown), faults


def _file_fault(file: Path, dangling: bool) -> str:
    there = dangling or os.path.isfile(file)
    return text_fault(str(file)) or ("" if there else f"is a link to nothing: {file}")


def _id_of(file: str, pattern: re.Pattern[str] | None) -> str:
    """The prompt_id in a file's relative path; empty where the pattern finds none."""
    if pattern is None:
        return Path(file).stem
    found = pattern.search(file)
    return (found["id" if "id" in pattern.groupindex else 1] or "") if found else ""


def notes_on_sets(items: Sequence[Item]) -> list[str]:
    """What to know when the systems were not given the same samples."""
    by_system: dict[str, set[str]] = {}
    for item in items:
        by_system.setdefault(item.system, set()).add(item.sample_id)
    every = dict.fromkeys(item.sample_id for item in items)
    if all(len(ids) == len(every) for ids in by_system.values()):
        return []
    common = len(set(every).intersection(*by_system.values()))
    counts = ", ".join(f"{system} {len(ids)}" for system, ids in by_system.items())
    notes = [f"the systems have different samples, {common} of {len(every)} in common: {counts}"]
    for system, ids in by_system.items():
        missing = [i for i in every if i not in ids]
        if 0 < len(missing) <= 10:
            notes.append(f"{system} has no clip of {listing(missing)}")
    return notes
