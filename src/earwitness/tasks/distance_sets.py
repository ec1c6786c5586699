"""Folders of clips to what is held against what: names that two folders share make pairs.

Conventions
-----------
A clip's name is its path below the folder without its ending. Where a set shares no such name with the
reference, its file names alone are compared, if no two clips on either side have one. Names are compared in
Unicode's composed form (NFC): file systems differ in how they store accents.
"""

import os
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from earwitness.errors import InputFaults, UserError
from earwitness.manifest.folder import ids_of, read_clips
from earwitness.manifest.table import listing, read_table
from earwitness.tasks.distance_measures import limited
from earwitness.tasks.distances import ANCHORS, Compared


@dataclass(frozen=True, slots=True)
class Sets:
    """Clips of all sets, the reference, and what a reader must know of how they were matched."""

    items: tuple[Compared, ...]
    reference: tuple[Path, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Folder:
    """Clips by name, and the captions that the folder itself gives."""

    clips: Mapping[str, Path]
    captions: Mapping[str, str]


def read_sets(
    reference: Path,
    sets: Mapping[str, Path],
    *,
    prompts: Path | None = None,
    paired: bool | None = None,
    limit: int | None = None,
    seed: int = 0,
    faults: Sequence[str] = (),
) -> Sets:
    """Match folders of clips with a reference folder.

    Folders are read as manifest.folder.read_clips does: the clips of metadata.csv with their captions, or
    all audio below. A clip without a caption has that of its counterpart.

    Args:
        sets: Folder by name.
        prompts: A table with ``prompt_id`` (a clip's name or file name, without ending) and ``caption``;
            goes before what folders say.
        paired: Whether names that are shared make pairs: must, must not, or (None) do where there are any.
        limit, seed: Take a sample, as tasks.distance_measures.limited does.
        faults: What is wrong already, to be told with everything else.

    Raises:
        InputFaults: With every fault of all folders.
    """
    found = list(faults)
    told: list[str] = []
    if not sets and not found:
        found.append("no set is named beside the reference; give it as NAME=FOLDER or FOLDER")
    found += [
        f"a set cannot be called {name!r}, as this is the name of: {ANCHORS[name]}"
        for name in sets
        if name in ANCHORS
    ]
    captions = _prompts(prompts, found)
    truth = _read("the reference", reference, found, told)
    items: list[Compared] = []
    matched: dict[str, tuple[_Folder, Mapping[str, str]]] = {}
    for system, folder in sets.items():
        clips = _read(system, folder, found, told)
        if truth is None or clips is None:
            continue
        partners = {} if paired is False else _matched(clips, truth)
        if folder.resolve() == reference.resolve():
            told.append(f"{system}: it is the folder of the reference itself.")
        unclear = [] if paired is False else _unclear(system, clips, truth)
        told += unclear
        if paired and not partners:
            names = f"{listing(clips.clips, 3)}; the reference {listing(truth.clips, 3)}"
            found += unclear
            found.append(f"{system} shares no name with the reference, so nothing is paired: it has {names}")
        matched[system] = clips, partners
        for name, path in clips.clips.items():
            partner = partners.get(name)
            caption = captions.get(name) or captions.get(PurePosixPath(name).name) or clips.captions[name]
            if partner and not caption:
                caption = captions.get(partner) or truth.captions[partner]
            own = (truth.clips[partner],) if partner else ()
            cluster = f"{name} of {system}" if paired is False else ""  # equal names mean nothing
            items.append(Compared(system, partner or name, path, own, caption=caption, cluster=cluster))
    if captions and items and not any(item.caption for item in items):
        found.append(f"{prompts}: no prompt_id is the name of a clip; it has {listing(captions, 3)}")
    if found:
        raise InputFaults("what is to be compared", found)
    assert truth is not None
    truths = list(truth.clips.values())
    if limit is not None:
        items, drawn = limited(items, truths, limit, seed)
        truths = drawn or []
    kept = {(item.system, item.audio) for item in items}
    drawn_truths = set(truths)
    theirs = [name for name, path in truth.clips.items() if path in drawn_truths]
    for system, (found_clips, pairs) in matched.items():
        ours = [name for name, path in found_clips.clips.items() if (system, path) in kept]
        told += _of_pairs(system, ours, theirs, pairs, paired)
    return Sets(tuple(items), tuple(truths), tuple(told))


def _read(name: str, folder: Path, faults: list[str], notes: list[str]) -> _Folder | None:
    """A folder's clips; None if it has a fault, which is added to ``faults``."""
    try:
        manifest = read_clips(folder)
    except InputFaults as fault:
        faults += (f"{name}: {each}" for each in fault.faults)
        return None
    except UserError as fault:
        faults.append(f"{name}: {fault.message}")
        return None
    root = folder.resolve() if folder.is_dir() else folder.resolve().parent
    by_path = {Path(os.path.normpath(item.audio)): item.caption for item in reversed(manifest.items)}
    paths = sorted(by_path)
    names = [
        _composed(each) for each in ids_of([Path(os.path.relpath(path, root)).as_posix() for path in paths])
    ]
    if twice := [each for each, count in Counter(names).items() if count > 1]:
        faults.append(
            f"{name}: two clips are called {twice[0]!r}, but for how accents are stored; rename one"
        )
        return None
    notes += (f"{name}: {note}" for note in manifest.notes)
    clips = dict(zip(names, paths, strict=True))
    return _Folder(clips, {name: by_path[path] for name, path in clips.items()})


def _prompts(path: Path | None, faults: list[str]) -> dict[str, str]:
    """Captions by id; what is wrong with the file is added to ``faults``."""
    if path is None:
        return {}
    try:
        table = read_table(path)
        required = ("prompt_id", "caption")
        columns = table.choose(required, (), {}, {})
        captions: dict[str, str] = {}
        for row, cells in table.texts(columns, required):
            if captions.setdefault(_composed(cells["prompt_id"]), cells["caption"]) != cells["caption"]:
                table.faults.append(f"row {row}: the prompt {cells['prompt_id']!r} twice")
        table.raise_faults()
    except InputFaults as fault:
        faults += (f"{path}: {each}" for each in fault.faults)
        return {}
    except UserError as fault:
        faults.append(fault.message)
        return {}
    return captions


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _matched(clips: _Folder, truth: _Folder) -> dict[str, str]:
    """The counterpart of every clip that has one."""
    whole = {name: name for name in clips.clips if name in truth.clips}
    if whole:
        return whole
    ours, theirs = _by_file(clips.clips), _by_file(truth.clips)
    return {name: theirs[file] for file, name in ours.items() if file in theirs}


def _unclear(system: str, clips: _Folder, truth: _Folder) -> list[str]:
    """Which names make no pairs, being those of several clips on one side and of some on the other."""
    ours, theirs = _by_stem(clips.clips), _by_stem(truth.clips)
    said = []
    for whose, several, other, names in (
        (system, ours, theirs, truth.clips),
        ("the reference", theirs, ours, clips.clips),
    ):
        stems = [
            stem
            for stem, own in several.items()
            if len(own) > 1 and stem in other and not all(name in names for name in own)
        ]
        if stems:
            said.append(
                f"{system}: {whose} has several clips of one name but for the ending, which are not paired "
                f"({len(stems)}): {listing(stems)}"
            )
    return said


def _by_stem(clips: Mapping[str, Path]) -> dict[str, list[str]]:
    """Names by the path below the folder without its ending."""
    found: dict[str, list[str]] = {}
    for name, path in clips.items():
        whole = PurePosixPath(name).name == _composed(path.name)  # ids_of keeps the ending of these
        found.setdefault(str(PurePosixPath(name).with_suffix("")) if whole else name, []).append(name)
    return found


def _by_file(names: Mapping[str, Path]) -> dict[str, str]:
    """Names by the file name alone; nothing if two have one."""
    files = [PurePosixPath(name).name for name in names]
    return dict(zip(files, names, strict=True)) if len(set(files)) == len(files) else {}


def _of_pairs(
    system: str, ours: Sequence[str], theirs: Sequence[str], partners: Mapping[str, str], paired: bool | None
) -> list[str]:
    """How many clips are paired, and which are not.

    Args:
        ours, theirs: Names of the clips that are taken of the set and of the reference.
        partners: As :func:`_matched`, of all clips.
    """
    if paired is False:
        return [f"{system}: not paired, as was asked; so there is no KL."]
    if not partners:
        return [f"{system}: no clip is paired with one of the reference by its name, so there is no KL."]
    how = "by name" if all(name == partner for name, partner in partners.items()) else "by file name alone"
    taken = {partners[name] for name in ours if name in partners}
    said = [f"{system}: {len(taken)} of {len(ours)} clips are paired with the reference {how}."]
    for what, names in (
        (f"clips of {system} without a counterpart", [n for n in ours if n not in partners]),
        (
            f"clips of the reference without a counterpart in {system}",
            [n for n in theirs if n not in taken],
        ),
    ):
        if names:
            said.append(f"{what} ({len(names)}): {listing(names)}")
    return said
