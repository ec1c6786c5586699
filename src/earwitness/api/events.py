"""Event tables against the truth: ``earwitness.score_events`` mirrors ``earwitness events``."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from numbers import Real
from pathlib import Path
from typing import Any

from earwitness import __version__
from earwitness.errors import InputFaults, UserError
from earwitness.events import EventTable
from earwitness.files import foreign, refuse_other, seen_from, taken
from earwitness.manifest.table import text_fault
from earwitness.report import event_page, event_sounds, event_tables
from earwitness.scores.event_metrics import Rule
from earwitness.tasks import event_files as files
from earwitness.tasks import event_labels, event_sources
from earwitness.tasks.event_compare import compared
from earwitness.tasks.event_result import EventScores
from earwitness.tasks.event_scores import COUNT, LEAVE, Heard, Settings, scored

MISSING = ("error", "empty", "unheard")
OUTSIDE = ("auto", COUNT, LEAVE)


def score_events(
    truth: str | Path,
    estimated: Mapping[str, str | Path] | Sequence[str | Path] | str | Path,
    *,
    out: str | Path | None = None,
    collar: float = 0.2,
    offset_share: float = 0.2,
    offset_collar: float | None = None,
    offset: bool = True,
    segment: float = 1.0,
    durations: str | Path | Mapping[str, float] | float | None = None,
    own: str | Path | Mapping[str, str] | None = None,
    missing: str = "error",
    outside: str = "auto",
    merge: bool = False,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
    page: int = 100,
    command: str = "",
) -> EventScores:
    """Event- and segment-based F1 and error rate, and errors of time, of systems against one truth.

    Args:
        truth: A DCASE table, a folder of event tables or label tracks, a data set of scenes, a label run.
        estimated: The same, by system; or paths, ``NAME=PATH`` too. Without a name a system is called as its
            file or folder. The systems of a label run of several are called ``NAME/SYSTEM``.
        out: Folder for the files of report.event_tables and the page, apart from what is read; None writes
            nothing.
        collar: Onsets may differ by this, plus-minus, seconds; ``offset_collar`` is the same unless given.
        offset_share: Offsets may differ by ``offset_collar`` or this share of the true event, whichever is
            more.
        offset: Whether offsets are asked for at all.
        segment: Length of segments, seconds.
        durations: Of the truth's clips, where it does not state them: a table, a folder of audio, one number.
        own: Table of labels (label, class), for both sides; an empty class leaves the label out.
        missing: A clip that an estimate does not name: ``error``, ``empty`` or ``unheard``.
        outside: A label that names no class of the truth: ``count`` as false alarm or ``leave`` out;
            ``auto`` leaves it out of label runs, which name whatever they hear, and else counts.
        merge: Make one of overlapping events of one class, on both sides.
        page: Most clips on the page, those with most errors; 0 writes no page. A clip can be played where its
            sound lies with what is read (report.event_sounds) or in the folder given as ``durations``.

    Raises:
        UserError: If an option or a source cannot be used.
        InputFaults: Listing every fault of a source.
    """
    settings = _settings(collar, offset_share, offset_collar, offset, segment, level, draws, seed)
    for name, value, known in (("missing", missing, MISSING), ("outside", outside, OUTSIDE)):
        if value not in known:
            raise UserError(f"there is no {name} {value!r}.", f"Known: {', '.join(known)}.")
    if page < 0:
        raise UserError(f"page must be at least 0, not {page!r}.")
    systems = named(estimated)
    given = {"truth": Path(truth), "systems": systems, "durations": _path(durations), "map": _path(own)}
    stated = _stated(given, Path(out or "."))
    shown = [str(one) for one in (truth, own) if isinstance(one, str | Path)]
    if faults := [
        f"a name {why}" for one in dict.fromkeys([*shown, *_texts(stated)]) if (why := text_fault(one))
    ]:
        raise InputFaults("names and paths as they would be written", faults, "Rename them.")
    inputs: Mapping[str, Any] = {}
    if out is not None:
        read = [truth, *systems.values(), *(one for one in (durations, own) if isinstance(one, str | Path))]
        if faults := _in_the_way(Path(out), map(Path, read)):
            raise InputFaults("the folder to write", faults)
        how = {"missing": missing, "outside": outside, "merge": merge, **asdict(settings)}
        inputs = {**stated, **how}
        refuse_other(Path(out), event_tables.TABLES[0], inputs)
    labels = event_labels.own_labels(Path(own)) if isinstance(own, str | Path) else dict(own or {})
    true_source = event_sources.read_truth(Path(truth))
    true = files.truth(true_source, _durations(durations))
    tables = {clip: _renamed(table, labels, merge) for clip, table in true.tables.items()}
    classes = _labels(tables)
    notes = []
    if true.cut:
        notes.append(f"{true.cut} true events end after their clip and were cut off at its end.")
    if overlaps := files.overlapping(tables):
        clip, first = next(iter(overlaps.items()))
        notes.append(
            f"In {len(overlaps)} clips of the truth events of one class overlap (first: {clip}, {first}). "
            "Each counts; --merge makes one of them."
        )
    heard = []
    sources = _sources(systems)
    for name, source in sources.items():
        one = files.estimate(source, tables, missing)
        if one.placed.cut:
            notes.append(f"{name}: {one.placed.cut} events end after their clip and were cut off at its end.")
        outside_is = outside if outside != "auto" else LEAVE if source.kind == event_sources.LABELS else COUNT
        given = {clip: table.merged() if merge else table for clip, table in one.placed.tables.items()}
        heard.append(Heard(name, given, one.left_out, outside_is))
    every = {label for one in heard for label in _labels(one.tables)}
    table_is = str(own) if isinstance(own, str | Path) else "own"
    if note := event_labels.unused(labels, table_is, classes, _labels(true.tables), every):
        notes.append(note)
    found = [scored(tables, one, settings, labels) for one in heard]
    length_s = sum(table.duration_s for table in tables.values())
    scores = EventScores(
        str(truth),
        len(tables),
        length_s,
        classes,
        settings,
        tuple(found),
        compared(found, settings),
        tuple(notes),
        command,
        __version__,
        inputs,
    )
    if out is not None:
        event_tables.write(Path(out), scores)
        if page:
            folders = (
                [Path(durations)] if isinstance(durations, str | Path) and Path(durations).is_dir() else []
            )
            sounds = event_sounds.sounds(tables, [true_source, *_of_one_system(sources.values())], folders)
            event_page.write(Path(out), scores, tables, heard, sounds, page)
        else:
            event_page.remove(Path(out))
    return scores


def _in_the_way(out: Path, read: Iterable[Path]) -> list[str]:
    """Why nothing may be written to a folder; empty if it may."""
    faults = taken(out, read, event_tables.FILES)
    if faults:
        return faults
    lost = "would be lost; name another folder to write"
    faults = [f"{one} is not of earwitness events and {lost}" for one in event_page.foreign(out)]
    return [*faults, *foreign(out, event_tables.TABLES)]


def _stated(given: Any, out: Path) -> Any:
    """An input as the result keeps it: paths as they are seen from its folder."""
    if isinstance(given, Mapping):
        return {name: _stated(value, out) for name, value in given.items()}
    if isinstance(given, Path):
        return seen_from(out, given)
    return float(given) if isinstance(given, Real) else given


def _texts(given: Any) -> Iterator[str]:
    """Every text in nested mappings."""
    if isinstance(given, Mapping):
        for name, value in given.items():
            yield str(name)
            yield from _texts(value)
    elif isinstance(given, str):
        yield given


def _path(given: Any) -> Any:
    return Path(given) if isinstance(given, str) else given


def _of_one_system(sources: Iterable[event_sources.Source]) -> list[event_sources.Source]:
    """Label runs of one system, which heard the truth's own clips; those of several each heard their own."""
    runs = [one for one in sources if one.kind == event_sources.LABELS]
    systems = Counter(one.path for one in runs)
    return [one for one in runs if systems[one.path] == 1]


def _settings(
    collar: float,
    offset_share: float,
    offset_collar: float | None,
    offset: bool,
    segment: float,
    level: float,
    draws: int,
    seed: int,
) -> Settings:
    try:
        rule = Rule(collar, collar if offset_collar is None else offset_collar, offset_share, offset)
    except ValueError as fault:
        raise UserError(f"{fault}.") from fault
    if not 0.001 <= segment <= 3600:
        raise UserError(f"a segment must last 0.001 to 3600 s, not {segment!r}.")
    if not 0 < level < 1:
        raise UserError(f"level must lie between 0 and 1, not {level!r}.")
    for name, value, least in (("draws", draws, 1), ("seed", seed, 0)):
        if value < least:
            raise UserError(f"{name} must be at least {least}, not {value!r}.")
    return Settings(rule, segment, level, draws, seed)


def named(given: Mapping[str, str | Path] | Sequence[str | Path] | str | Path) -> dict[str, Path]:
    """Estimates by name: of a mapping, of ``NAME=PATH``, or of a path, which is called as its file or folder.

    Raises:
        UserError: If there is none, one has no name or path, or two have the same name.
    """
    if isinstance(given, Mapping):
        pairs = [(name, str(path)) for name, path in given.items()]
    else:
        pairs = [_named(str(one)) for one in ([given] if isinstance(given, str | Path) else given)]
    if not pairs:
        raise UserError("there is no estimate.", "Name at least one table, folder or run.")
    found: dict[str, Path] = {}
    for name, path in pairs:
        if not name or not path:
            raise UserError(f"'{name}={path}' is not NAME=PATH.", "For example ours=out.tsv.")
        if name in found:
            raise UserError(f"two estimates are called {name!r}.", f"Name them: NAME={path}")
        found[name] = Path(path)
    return found


def _named(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if equals and not Path(text).exists():
        return name, path
    whole = Path(text).resolve()
    return whole.name if whole.is_dir() else whole.stem, text


def _sources(systems: Mapping[str, Path]) -> dict[str, event_sources.Source]:
    """What every system says; a label run of several is one for each."""
    found: dict[str, event_sources.Source] = {}
    for name, path in systems.items():
        for inner, source in event_sources.read(path).items():
            whole = f"{name}/{inner}" if inner else name
            if whole in found:
                raise UserError(f"two estimates are called {whole!r}.", f"Name them: NAME={path}")
            found[whole] = source
    return found


def _durations(given: str | Path | Mapping[str, float] | float | None) -> Mapping[str, float] | float | None:
    if given is None:
        return None
    if isinstance(given, str | Path):
        return files.durations_in(Path(given))
    if isinstance(given, Mapping):
        return files.durations_of(given)
    try:
        if length := files.seconds(given):
            return length
        raise ValueError("no clip is 0 s long")
    except (TypeError, ValueError, OverflowError) as fault:
        raise UserError(f"the length of every clip: {fault}.") from fault


def _labels(tables: Mapping[str, EventTable]) -> tuple[str, ...]:
    return tuple(sorted({event.label for table in tables.values() for event in table}))


def _renamed(table: EventTable, own: Mapping[str, str], merge: bool) -> EventTable:
    """The truth's events under the classes of the user's table."""
    events = (replace(e, label=own.get(e.label, e.label)) for e in table if own.get(e.label) != "")
    renamed = EventTable(tuple(events), table.duration_s)
    return renamed.merged() if merge else renamed
