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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from earwitness.errors import InputFaults, UserError
from earwitness.manifest.folder import ids_of, read_clips
from earwitness.manifest.table import listing, read_table
from earwitness.tasks.distance_measures import limited
from earwitness.tasks.distance_notes import listed
from earwitness.tasks.distances import ANCHORS, Compared

THE_REFERENCE = "the reference"
FOLDERS = (
    "Name folders of audio, or with a metadata.csv that names clips: the reference first, then each set as "
    "FOLDER or NAME=FOLDER."
)


@dataclass(frozen=True, slots=True)
class Sets:
    """Clips of all sets, the reference, and how they were matched.

    Attributes:
        read: Notes on reading, and whether pairs were refused.
        matches: By set; none if pairs were refused.
    """

    items: tuple[Compared, ...]
    reference: tuple[Path, ...]
    read: tuple[str, ...]
    matches: Mapping[str, "_Match"]

    def notes(self, unusable: Collection[Path] = ()) -> tuple[str, ...]:
        """What a reader must know of how clips were matched.

        Args:
            unusable: Files without an embedding; a clip that is one, or whose counterpart is, is not paired.
        """
        gone = set(unusable)
        paired = Counter(
            item.system
            for item in self.items
            if item.references and gone.isdisjoint((item.audio, *item.references))
        )
        return (*self.read, *_of_pairs(self.matches, paired))


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
    all audio below, where a link to nothing is a clip that cannot be read. A clip without a caption has that
    of its counterpart.

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
    if not sets and not found:
        found.append("no set is named beside the reference; give it as NAME=FOLDER or FOLDER")
    found += [
        f"a set cannot be called {name!r}, as this is the name of: {ANCHORS[name]}"
        for name in sets
        if name in ANCHORS
    ]
    captions = _prompts(prompts, found)
    read_notes: list[str] = []
    truth = _read(THE_REFERENCE, reference, found, read_notes)
    items: list[Compared] = []
    matched: dict[str, _Match] = {}
    folders: dict[str, _Folder] = {}
    for system, folder in sets.items():
        clips = _read(system, folder, found, read_notes)
        if truth is None or clips is None:
            continue
        folders[system] = clips
        partners = {} if paired is False else _matched(clips, truth)
        unclear = {} if paired is False else _unclear(system, clips, truth)
        if paired and not partners:
            names = f"{listing(clips.clips, 3)}; the reference {listing(truth.clips, 3)}"
            found += [
                f"{system}: {whose} has several clips of one name but for the ending, which are not paired "
                f"({len(stems)}): {_quoted(stems)}"
                for whose, stems in unclear.items()
            ]
            found.append(f"{system} shares no name with the reference, so nothing is paired: it has {names}")
        matched[system] = _Match([*clips.clips], [*truth.clips], partners, unclear)
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
        whole = truth is not None and sets and len(folders) == len(sets)
        raise InputFaults("what is to be compared", found, "" if whole else FOLDERS)
    assert truth is not None
    truths = list(truth.clips.values())
    if limit is not None:
        items, drawn = limited(items, truths, limit, seed)
        truths = drawn or []
    kept = {(item.system, item.audio) for item in items}
    drawn_truths = set(truths)
    theirs = [name for name, path in truth.clips.items() if path in drawn_truths]
    for system, match in matched.items():
        ours = [name for name, path in folders[system].clips.items() if (system, path) in kept]
        matched[system] = replace(match, ours=ours, theirs=theirs)
    told = [f"Read: {listed(read_notes)}."] if read_notes else []
    if itself := [name for name in folders if sets[name].resolve() == reference.resolve()]:
        told.append(f"The folder of the reference itself: {listed(itself)}.")
    if paired is False:
        told.append("Not paired, as was asked.")
        matched = {}
    return Sets(tuple(items), tuple(truths), tuple(told), matched)


def _read(name: str, folder: Path, faults: list[str], notes: list[str]) -> _Folder | None:
    """A folder's clips; None if it has a fault, which is added to ``faults``."""
    try:
        manifest = read_clips(folder, dangling=True)
    except InputFaults as fault:
        faults += (f"{name}: {each}" for each in fault.faults)
        return None
    except UserError as fault:
        faults.append(f"{name}: {fault.message} {fault.remedy}".rstrip())
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


def _unclear(system: str, clips: _Folder, truth: _Folder) -> dict[str, list[str]]:
    """Names that make no pairs, being those of several clips on one side and of some on the other: by the
    side that has several, the set or ``the reference``.
    """
    ours, theirs = _by_stem(clips.clips), _by_stem(truth.clips)
    found: dict[str, list[str]] = {}
    for whose, several, other, names in (
        (system, ours, theirs, truth.clips),
        (THE_REFERENCE, theirs, ours, clips.clips),
    ):
        stems = [
            stem
            for stem, own in several.items()
            if len(own) > 1 and stem in other and not all(name in names for name in own)
        ]
        if stems:
            found[whose] = stems
    return found


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


@dataclass(frozen=True, slots=True)
class _Match:
    """Names of the clips that are taken of a set and of the reference, and the counterpart of those that have
    one; ``unclear`` are names that make no pair, by whose they are.
    """

    ours: Sequence[str]
    theirs: Sequence[str]
    partners: Mapping[str, str]
    unclear: Mapping[str, Sequence[str]]


def _of_pairs(matches: Mapping[str, _Match], paired: Mapping[str, int]) -> Iterator[str]:
    """How many clips are ``paired``, by set, and which have no counterpart; a sentence a kind of fact."""
    by_name: list[str] = []
    by_file: list[str] = []
    none, unclear, alone, unmet = [], [], [], []
    for system, match in matches.items():
        for whose, stems in match.unclear.items():
            of = system if whose == system else f"{whose} beside {system}"
            unclear.append(f"{len(stems):,} of {of} ({_quoted(stems)})")
        if not match.partners:
            none.append(system)
            continue
        taken = {match.partners[name] for name in match.ours if name in match.partners}
        whole = all(name == partner for name, partner in match.partners.items())
        (by_name if whole else by_file).append(
            f"{paired.get(system, 0):,} of {len(match.ours):,} of {system}"
        )
        if left := [name for name in match.ours if name not in match.partners]:
            alone.append(f"{len(left):,} of {system} ({_quoted(left)})")
        if left := [name for name in match.theirs if name not in taken]:
            unmet.append(f"{len(left):,} in {system} ({_quoted(left)})")
    for what, each in (
        ("No name is one of the reference, so no clip is paired", none),
        ("Clips paired with the reference by name", by_name),
        ("Clips paired with the reference by file name alone", by_file),
        ("Clips without a counterpart in the reference", alone),
        ("Clips of the reference without a counterpart", unmet),
        ("Names of several clips but for the ending, which are not paired", unclear),
    ):
        if each:
            yield f"{what}: {listed(each)}."


def _quoted(names: Sequence[str]) -> str:
    """The first names, quoted as they may hold anything."""
    return listed([f"'{name}'" for name in names], 3)
