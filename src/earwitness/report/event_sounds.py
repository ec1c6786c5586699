"""Where the clips of event tables can be heard, as far as what was named says so.

Conventions
-----------
Audio is looked for within the folders that were named, never beside or above them: in ``audio/`` of a data
set of scenes, and beside event tables and label tracks, under the same name. A label run knows its clips by
path. Where a file has more or fewer folders than the clip, those that both name must be the same. No path is
ever made of what a table says. Two files that may be one clip are no sound of it.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from earwitness.ledger import Ledger
from earwitness.manifest import AUDIO_EXTENSIONS
from earwitness.tasks import event_files
from earwitness.tasks.event_sources import AUDACITY, LABELS, SCENES, TABLES, Source, clip_of


def sounds(clips: Iterable[str], sources: Iterable[Source], folders: Iterable[Path] = ()) -> dict[str, Path]:
    """Clip -> its sound file, of those that have one.

    Args:
        clips: As the truth names them.
        sources: That may know, what is surest first.
        folders: Of audio, after these.
    """
    found: dict[str, Path] = {}
    known = list(clips)
    for files in (*map(_of_source, sources), *map(_in_folder, folders)):
        for given, clip in event_files.aligned(known, files).items():
            if _ends_with(clip, given) or _ends_with(given, clip):
                found.setdefault(clip, files[given])
    return found


def _ends_with(path: str, end: str) -> bool:
    return f"/{path}".endswith(f"/{end}")


def _of_source(source: Source) -> Mapping[str, Path]:
    if source.kind == SCENES:
        return _in_folder(source.path / "audio")
    if source.kind in (TABLES, AUDACITY):
        return _in_folder(source.path)
    if source.kind == LABELS and source.path.is_dir():
        ledger = source.path / "ledger.sqlite"
        return _in_run(ledger) if ledger.is_file() else _in_folder(source.path)
    return {}


def _in_folder(folder: Path) -> dict[str, Path]:
    files = (one for one in sorted(folder.rglob("*")) if one.suffix.lower() in AUDIO_EXTENSIONS)
    return _only((one.relative_to(folder).as_posix(), one) for one in files)


def _in_run(path: Path) -> dict[str, Path]:
    """Clips by the names that report.labels gives them: from the deepest folder that holds them all."""
    with Ledger.read(path) as ledger:
        files = [os.path.abspath(stored.item.audio) for stored in ledger.items()]
    root = os.path.commonpath([os.path.dirname(file) for file in files]) if files else ""
    return _only((os.path.relpath(file, root), Path(file)) for file in files if os.path.isfile(file))


def _only(files: Iterable[tuple[str, Path]]) -> dict[str, Path]:
    found: dict[str, set[Path]] = {}
    for name, path in files:
        found.setdefault(clip_of(name), set()).add(path)
    return {clip: min(paths) for clip, paths in found.items() if len(paths) == 1}
