"""Clips to be described: a manifest that need not have captions, or simply a folder of audio.

Conventions
-----------
A folder whose ``metadata.csv`` or ``metadata.jsonl`` has the column ``audio`` or ``file_name`` is read as
a manifest, with the clips that it lists; any other folder as all the audio below it, whatever else is
written there.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from earwitness.errors import InputFaults, UserError
from earwitness.manifest import AUDIO, AUDIO_EXTENSIONS, Item, Manifest, files_in, metadata_in, read_manifest
from earwitness.manifest.table import ALIASES, listing, near_path, read_table

_NO_RENAME: Mapping[str, str] = MappingProxyType({})


def read_clips(path: Path, *, rename: Mapping[str, str] = _NO_RENAME, dangling: bool = False) -> Manifest:
    """The clips of a manifest, in which captions may be missing, or of a folder (see :func:`from_folder`).

    Args:
        rename: Our column name to theirs, see :func:`~earwitness.manifest.parse_rename`.
        dangling: See :func:`from_folder`.

    Raises:
        InputFaults: With every fault of the manifest or folder.
        UserError: If there is nothing to read, or columns are renamed though no manifest is read.
    """
    if not os.path.exists(path):
        raise UserError(f"{path}: no such file or folder{near_path(path)}.")
    if not os.path.isdir(path):
        if path.suffix.lower() in AUDIO_EXTENSIONS:
            raise UserError(f"{path} is one clip.", f"Name its folder: {path.parent}")
        return read_manifest(path, rename=rename, captions=False)
    if not any(_names_files(file, rename) for file in metadata_in(path)):
        if rename:
            raise UserError(
                f"{path} holds no metadata.csv or metadata.jsonl that names its clips, so --map has no use."
            )
        return from_folder(path, dangling=dangling)
    found = read_manifest(path, rename=rename, captions=False)
    listed = {os.path.normpath(item.audio) for item in found.items}
    folder = path.resolve()
    others = [file for file in files_in(path)[0] if os.path.normpath(folder / file) not in listed]
    if not others:
        return found
    note = f"audio files that the manifest does not list ({len(others)}), left out: {listing(others)}"
    return Manifest(found.items, (*found.notes, note), found.source)


def from_folder(folder: Path, *, dangling: bool = False) -> Manifest:
    """Every audio file below a folder, hidden ones left out, as one system with the folder's name.

    The sample_id is the path below the folder without its ending, or with it where another clip has
    the same (``a.wav`` beside ``a.mp3``); captions are empty.

    Args:
        dangling: Take links to nothing for clips that cannot be read, not for faults.

    Raises:
        InputFaults: If something in the folder cannot be read, or a name is no valid text.
        UserError: If there is no such folder, or no audio in it.
    """
    if not os.path.isdir(folder):
        raise UserError(f"{folder}: no such folder{near_path(folder)}.")
    audio, others, faults = files_in(folder, dangling=dangling)
    if faults:
        raise InputFaults(str(folder), faults, "Rename or remove what cannot be read.")
    if not audio:
        raise UserError(
            f"no audio in {folder}.", f"Files that end in {' '.join(AUDIO_EXTENSIONS)} are looked for."
        )
    root = folder.resolve()
    items = [
        Item(root.name or "clips", sample_id, root / file, "", row=row)
        for row, (file, sample_id) in enumerate(zip(audio, ids_of(audio), strict=True), 1)
    ]
    notes = (f"ignored files, hidden or no audio ({len(others)}): {listing(others)}",) if others else ()
    return Manifest(tuple(items), notes, str(folder))


def _names_files(metadata: Path, rename: Mapping[str, str]) -> bool:
    names = {rename.get(AUDIO, AUDIO), *ALIASES[AUDIO]}
    return not names.isdisjoint(read_table(metadata).columns)


def ids_of(files: Sequence[str]) -> list[str]:
    """A name for every file (relative paths, all different), none of them twice."""
    stems = [str(PurePosixPath(file).with_suffix("")) for file in files]
    taken = Counter(stems) + Counter(files)  # the stem of a.wav.mp3 is the name of a.wav
    return [stem if taken[stem] == 1 else file for stem, file in zip(stems, files, strict=True)]
