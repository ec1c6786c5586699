"""How folders of clips lie on disk, and what their tables say of each clip.

A folder is read as the first of these that it is:

1. a folder with ``metadata.csv`` or ``metadata.jsonl``;
2. ESC-50 (Piczak, ACM MM 2015): ``meta/esc50.csv``, ``audio/``;
3. UrbanSound8K (Salamon et al., ACM MM 2014): ``metadata/UrbanSound8K.csv``, ``audio/fold1/`` to ``fold10/``;
4. FSD50K (Fonseca et al., TASLP 2022): ``FSD50K.ground_truth/``, ``FSD50K.dev_audio/``,
   ``FSD50K.eval_audio/`` (either may be missing), and for the licences ``FSD50K.metadata/``;
5. folders of clips, each named by its label.

Nothing is decoded here.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from earwitness import labels
from earwitness.errors import InputFaults, UserError
from earwitness.manifest import AUDIO_EXTENSIONS
from earwitness.manifest.table import Table, read_table

log = logging.getLogger(__name__)

_TABLES = ("metadata.csv", "metadata.jsonl")
_ESC50 = "meta/esc50.csv"
_URBANSOUND8K = "metadata/UrbanSound8K.csv"
_FSD50K = "FSD50K.ground_truth"


class Listed(NamedTuple):
    """A clip as its folder lists it; texts are empty where nothing is stated."""

    label: str
    recording_id: str
    path: Path
    licence: str = ""
    author: str = ""


def listed(folder: Path) -> list[Listed]:
    """Every clip of a folder, in the order of its table.

    Raises:
        UserError: If the folder is not there or a table cannot be read.
        InputFaults: Listing every label without sound, missing file and fault of the table.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder.", "Name a folder of label/clip.wav.")
    for name in _TABLES:
        if (folder / name).is_file():
            return _from_metadata(folder / name)
    corpora: Mapping[str, Callable[[Path], list[Listed]]] = {
        _ESC50: _esc50,
        _URBANSOUND8K: _urbansound8k,
        _FSD50K: _fsd50k,
    }
    for name, read in corpora.items():
        if (folder / name).exists():
            return read(folder)
    return _from_folders(folder)


def _from_folders(folder: Path) -> list[Listed]:
    found: list[Listed] = []
    faults: list[str] = []
    for inner in sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")):
        files = sorted(
            p for p in inner.iterdir() if p.suffix.lower() in AUDIO_EXTENSIONS and not p.name.startswith(".")
        )
        if not files:
            faults.append(f"the label {inner.name!r} holds no sound: {inner}")
        found += (Listed(inner.name, f"{inner.name}/{file.stem}", file) for file in files)
    if not found:
        faults.append("there is no folder with sound in it")
    if faults:
        raise InputFaults(
            str(folder), faults, f"Put clips ({', '.join(AUDIO_EXTENSIONS)}) in one folder a label."
        )
    return found


def _from_metadata(path: Path) -> list[Listed]:
    table = read_table(path)
    required = ("audio", "label")
    columns = table.choose(required, ("recording_id", "licence", "author"), {})
    found = []
    for row, cells in table.texts(columns, required):
        name, label = cells["audio"], cells["label"].strip()
        if not label:
            table.faults.append(f"row {row}: 'label' must not be empty")
        recording = cells.get("recording_id", "").strip() or str(Path(name).with_suffix(""))
        licence, author = cells.get("licence", ""), cells.get("author", "")
        found.append((row, Listed(label, recording, path.parent / name, licence, author)))
    return _checked(table, found)


def _esc50(folder: Path) -> list[Listed]:
    """A recording is a Freesound clip (``src_file``). The ten classes of ESC-10 are under a freer licence."""
    table, rows = _rows(folder / _ESC50, ("filename", "category", "src_file", "esc10"))
    found = []
    for row, cells in rows:
        free = cells["esc10"].strip().lower() == "true"
        licence = "CC BY 3.0" if free else "CC BY-NC 3.0"
        path = folder / "audio" / cells["filename"]
        found.append((row, Listed(cells["category"], cells["src_file"], path, licence)))
    return _checked(table, found)


def _urbansound8k(folder: Path) -> list[Listed]:
    """Only what stands in the foreground (salience 1); a recording is a Freesound clip (``fsID``)."""
    table, rows = _rows(folder / _URBANSOUND8K, ("slice_file_name", "fsID", "salience", "fold", "class"))
    found = []
    total = 0
    for row, cells in rows:
        total += 1
        if cells["salience"].strip() == "1":
            path = folder / "audio" / f"fold{cells['fold'].strip()}" / cells["slice_file_name"]
            found.append((row, Listed(cells["class"], cells["fsID"], path, "CC BY-NC 3.0")))
    log.info("%s: %d of %d clips are in the foreground and used", folder, len(found), total)
    return _checked(table, found)


def _fsd50k(folder: Path) -> list[Listed]:
    """Only clips of one sound: all their labels are the most specific one or lie above it in the ontology.

    FSD50K writes labels with all that lie above them, so one sound has several. A file is a recording.
    """
    clips: list[Listed] = []
    parts = [part for part in ("dev", "eval") if (folder / f"FSD50K.{part}_audio").is_dir()]
    if not parts:
        raise UserError(
            f"{folder}: neither FSD50K.dev_audio nor FSD50K.eval_audio is there.", "Unpack one of them here."
        )
    for part in parts:
        table, rows = _rows(folder / _FSD50K / f"{part}.csv", ("fname", "labels"))
        facts = _clips_info(folder / "FSD50K.metadata" / f"{part}_clips_info_FSD50K.json")
        found = []
        total = 0
        for row, cells in rows:
            total += 1
            name = cells["fname"].strip()
            given = [one.strip() for one in cells["labels"].split(",") if one.strip()]
            unknown = [one for one in given if one not in _fsd50k_names()]
            for one in unknown:
                table.faults.append(f"row {row}: {one!r} is no label of AudioSet")
            own = list(labels.most_specific(frozenset(_fsd50k_names()[one] for one in given if not unknown)))
            if len(own) == 1:
                path = folder / f"FSD50K.{part}_audio" / f"{name}.wav"
                fact = facts.get(name, {})
                licence, author = str(fact.get("license", "")), str(fact.get("uploader", ""))
                found.append((row, Listed(own[0], name, path, licence, author)))
        log.info("%s: %d of %d clips of %s hold one sound and are used", folder, len(found), total, part)
        clips += _checked(table, found)
    return clips


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


def _checked(table: Table, found: list[tuple[int, Listed]]) -> list[Listed]:
    """The clips, once every file is there and listed once."""
    rows: dict[Path, int] = {}
    for row, clip in found:
        if not clip.path.is_file():
            table.faults.append(f"row {row}: no such file: {clip.path}")
        if rows.setdefault(clip.path, row) != row:
            table.faults.append(f"rows {rows[clip.path]} and {row} list the same file: {clip.path.name}")
    if not found:
        table.faults.append("no row lists a clip that can be used")
    table.raise_faults()
    return [clip for _, clip in found]
