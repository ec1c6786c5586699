"""How folders of clips lie on disk, and what their tables say of each clip.

A folder is read as the first of these that it is:

1. a folder with ``metadata.csv`` or ``metadata.jsonl``;
2. ESC-50 (Piczak, ACM MM 2015): ``meta/esc50.csv``, ``audio/``;
3. UrbanSound8K (Salamon et al., ACM MM 2014): ``metadata/UrbanSound8K.csv``, ``audio/fold1/`` to ``fold10/``;
4. FSD50K (Fonseca et al., TASLP 2022): ``FSD50K.ground_truth/``, ``FSD50K.dev_audio/``,
   ``FSD50K.eval_audio/`` (either may be missing), and for the licences ``FSD50K.metadata/``;
5. folders of clips, each named by its label.

Files are listed by their paths relative to the folder and lie within it. Nothing is decoded here.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from earwitness import labels
from earwitness.errors import InputFaults, UserError
from earwitness.manifest import AUDIO_EXTENSIONS
from earwitness.manifest.table import Table, read_table

_TABLES = ("metadata.csv", "metadata.jsonl")
_ESC50 = "meta/esc50.csv"
_URBANSOUND8K = "metadata/UrbanSound8K.csv"
_FSD50K = "FSD50K.ground_truth"


class Listed(NamedTuple):
    """A clip as its folder lists it; texts are empty where nothing is stated, ``name`` is its path there.

    Where its recording is not known, ``recording_id`` is the clip's own name.
    """

    label: str
    recording_id: str
    name: str
    licence: str = ""
    author: str = ""
    recording_known: bool = True


class Listing(NamedTuple):
    """The clips of a folder that can be used, and of the others how many there are by the reason."""

    clips: list[Listed]
    left_out: Mapping[str, int]


def listed(folder: Path) -> Listing:
    """Every clip of a folder, in the order of its table.

    Raises:
        UserError: If the folder is not there or a table cannot be read.
        InputFaults: Listing every label without sound, missing file, path out of the folder and fault of the
            table.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder.", "Name a folder of label/clip.wav.")
    for name in _TABLES:
        if (folder / name).is_file():
            return _from_metadata(folder / name)
    corpora: Mapping[str, Callable[[Path], Listing]] = {
        _ESC50: _esc50,
        _URBANSOUND8K: _urbansound8k,
        _FSD50K: _fsd50k,
    }
    for name, read in corpora.items():
        if (folder / name).exists():
            return read(folder)
    return _from_folders(folder)


def _from_folders(folder: Path) -> Listing:
    """Clips right in the folder of their label; those in folders below it are counted and left out."""
    found: list[Listed] = []
    faults: list[str] = []
    below = 0
    for inner in sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")):
        inside = [p for p in inner.iterdir() if not p.name.startswith(".")]
        deeper = sum(map(_sounds_below, filter(Path.is_dir, inside)))
        files = [p for p in sorted(inside) if p.suffix.lower() in AUDIO_EXTENSIONS and not p.is_dir()]
        if not files:
            hint = f" (clips in folders below it: {deeper:,})" if deeper else ""
            faults.append(f"the label {inner.name!r} holds no sound: {inner}{hint}")
        for file in files:
            own = f"{inner.name}/{file.stem}"
            found.append(Listed(inner.name, own, f"{inner.name}/{file.name}", recording_known=False))
            if not file.is_file():  # reading a pipe would wait for ever
                faults.append(f"{file} is a broken link, a pipe or a device")
        below += deeper
    if not found:
        faults.append("there is no folder with sound in it")
    if faults:
        raise InputFaults(
            str(folder), faults, f"Put clips ({', '.join(AUDIO_EXTENSIONS)}) in one folder a label."
        )
    return Listing(found, _counted({"in a folder below that of the label": below}))


def _sounds_below(folder: Path) -> int:
    found = 0
    for _, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += sum(Path(name).suffix.lower() in AUDIO_EXTENSIONS for name in files if name[0] != ".")
    return found


def _from_metadata(path: Path) -> Listing:
    table = read_table(path)
    required = ("audio", "label")
    columns = table.choose(required, ("recording_id", "licence", "author"), {})
    found = []
    for row, cells in table.texts(columns, required):
        name, label = PurePosixPath(cells["audio"]), cells["label"].strip()
        if not label:
            table.faults.append(f"row {row}: 'label' must not be empty")
        stated = cells.get("recording_id", "").strip()
        recording = stated or str(name.parent / name.stem)
        licence, author = cells.get("licence", ""), cells.get("author", "")
        found.append((row, Listed(label, recording, str(name), licence, author, bool(stated))))
    return Listing(_checked(table, path.parent, found), {})


def _esc50(folder: Path) -> Listing:
    """A recording is a Freesound clip (``src_file``). The ten classes of ESC-10 are under a freer licence."""
    table, rows = _rows(folder / _ESC50, ("filename", "category", "src_file", "esc10"))
    found = []
    for row, cells in rows:
        free = cells["esc10"].strip().lower() == "true"
        licence = "CC BY 3.0" if free else "CC BY-NC 3.0"
        name = f"audio/{cells['filename']}"
        found.append((row, Listed(cells["category"], cells["src_file"], name, licence)))
    return Listing(_checked(table, folder, found), {})


def _urbansound8k(folder: Path) -> Listing:
    """Only what stands in the foreground (salience 1); a recording is a Freesound clip (``fsID``)."""
    table, rows = _rows(folder / _URBANSOUND8K, ("slice_file_name", "fsID", "salience", "fold", "class"))
    found = []
    behind = 0
    for row, cells in rows:
        if cells["salience"].strip() == "1":
            name = f"audio/fold{cells['fold'].strip()}/{cells['slice_file_name']}"
            found.append((row, Listed(cells["class"], cells["fsID"], name, "CC BY-NC 3.0")))
        else:
            behind += 1
    clips = _checked(table, folder, found)
    return Listing(clips, _counted({"not in the foreground (salience other than 1)": behind}))


def _fsd50k(folder: Path) -> Listing:
    """Only clips of one sound: all their labels are the most specific one or lie above it in the ontology.

    FSD50K writes labels with all that lie above them, so one sound has several. A file is a recording.
    """
    clips: list[Listed] = []
    several = 0
    parts = [part for part in ("dev", "eval") if (folder / f"FSD50K.{part}_audio").is_dir()]
    if not parts:
        raise UserError(
            f"{folder}: neither FSD50K.dev_audio nor FSD50K.eval_audio is there.", "Unpack one of them here."
        )
    for part in parts:
        table, rows = _rows(folder / _FSD50K / f"{part}.csv", ("fname", "labels"))
        facts = _clips_info(folder / "FSD50K.metadata" / f"{part}_clips_info_FSD50K.json")
        found = []
        for row, cells in rows:
            name = cells["fname"].strip()
            given = [one.strip() for one in cells["labels"].split(",") if one.strip()]
            unknown = [one for one in given if one not in _fsd50k_names()]
            for one in unknown:
                table.faults.append(f"row {row}: {one!r} is no label of AudioSet")
            own = list(labels.most_specific(frozenset(_fsd50k_names()[one] for one in given if not unknown)))
            if len(own) == 1:
                file = f"FSD50K.{part}_audio/{name}.wav"
                fact = facts.get(name, {})
                licence, author = str(fact.get("license", "")), str(fact.get("uploader", ""))
                found.append((row, Listed(own[0], name, file, licence, author)))
            else:
                several += 1
        clips += _checked(table, folder, found)
    return Listing(clips, _counted({"not of one sound, by their labels": several}))


@cache
def _fsd50k_names() -> Mapping[str, str]:
    """FSD50K's spelling -> AudioSet's: "Dishes_and_pots_and_pans" -> "Dishes, pots, and pans"."""
    spelt = ((name.replace(", and ", " and ").replace(", ", " and "), name) for name in labels.names())
    return {plain.replace(" ", "_"): name for plain, name in spelt}


def _clips_info(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """What FSD50K says of every clip by its name; nothing if that part was not unpacked."""
    if not path.exists():
        return {}
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise UserError(f"{path} cannot be read: {fault}.", "Unpack FSD50K.metadata again.") from fault
    if not isinstance(facts, dict) or not all(isinstance(fact, dict) for fact in facts.values()):
        raise UserError(f"{path} is no table of clips.", "Unpack FSD50K.metadata again.")
    return facts


def _rows(path: Path, required: tuple[str, ...]) -> tuple[Table, Iterator[tuple[int, dict[str, Any]]]]:
    table = read_table(path)
    return table, table.texts(table.choose(required, (), {}, {}), required)


def _counted(left_out: Mapping[str, int]) -> Mapping[str, int]:
    return {reason: count for reason, count in left_out.items() if count}


def _checked(table: Table, folder: Path, found: Iterable[tuple[int, Listed]]) -> list[Listed]:
    """The clips, once every file is there, within the folder, and listed once."""
    rows: dict[PurePosixPath, int] = {}
    for row, clip in found:
        name = PurePosixPath(clip.name)
        if name.is_absolute() or ".." in name.parts:
            table.faults.append(f"row {row}: {clip.name!r} is no path within {folder}")
        elif not (folder / name).is_file():
            table.faults.append(f"row {row}: no such file: {folder / name}")
        if rows.setdefault(name, row) != row:
            table.faults.append(f"rows {rows[name]} and {row} list the same file: {name.name}")
    if not found:
        table.faults.append("no row lists a clip that can be used")
    table.raise_faults()
    return [clip for _, clip in found]
