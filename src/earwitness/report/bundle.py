"""A run as a folder to give away: prompts, sound, replies, tables, page and card, whole in itself.

Conventions
-----------
Every clip is in it once, encoded anew from its samples, so that no tag of the original comes along; what
cannot be read is listed and the rest goes on. Nothing in it names a path of the machine, and the ledger,
which does, stays behind. Clips are scored as in the run's own outputs. What a data set of scenes says of the
licences of its clips comes along. With ``anonymous`` the systems are called System A, System B, ...; the key
lies beside the folder. The folder appears when it is complete. All its files bear the same time.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from earwitness.errors import InputFaults, UserError
from earwitness.files import appearing, new_folder
from earwitness.ledger import Ledger
from earwitness.listeners.base import REASONS
from earwitness.report import build, card, hiding, licences, panel, replies, summary_files, tables
from earwitness.report.bundle_distances import renamed
from earwitness.report.cells import csv_rows, safe
from earwitness.report.encode import FORMATS
from earwitness.report.packing import Packed, Sounds, write_packed
from earwitness.tasks import label
from earwitness.tasks.ritta_wanted import wanted
from earwitness.tasks.rows import ItemRow, Source, Summary

Progress = Callable[[str, int, int, float | None], None]
"""Called with the stage (``packing``, ``drawing``), how much of it is done, how much there is, and None: it
costs nothing."""

_TIME_S = 315_532_800  # 1980-01-01: the earliest that archives hold


@dataclass(frozen=True, slots=True)
class Bundle:
    """A finished bundle.

    Attributes:
        missing: What could not be packed, in words.
        notes: What else the giver should know.
        key: Where the names of anonymous systems are kept; None for a bundle with names.
    """

    folder: Path
    size_bytes: int
    packed: tuple[Packed, ...]
    missing: tuple[str, ...]
    notes: tuple[str, ...]
    key: Path | None
    summary: Summary


def bundle(
    run: str | Path,
    out: str | Path,
    *,
    anonymous: bool = False,
    audio: str = "ogg",
    options: build.Options | None = None,
    progress: Progress | None = None,
) -> Bundle:
    """Write a run as a folder to give away.

    Args:
        run: The run folder.
        out: The folder to make; it must not be there or be empty.
        anonymous: Name no system.
        audio: ``ogg`` (Vorbis), ``mp3``, ``flac`` or ``wav``.

    Raises:
        UserError: If the folder holds something, there is no run, or a name could not be hidden.
        InputFaults: If clips have changed since they were heard.
    """
    run, out = Path(run), Path(out)
    if audio not in FORMATS:
        raise UserError(f"clips cannot be packed as {audio!r}.", f"Known: {', '.join(FORMATS)}.")
    target = new_folder(out)
    panel.check_single(run)
    options = build.as_last_scored(run, options or build.Options())
    with build.open_run(run) as ledger, appearing(target) as folder:
        if changed := ledger.changed_files():
            raise InputFaults(f"{run}: clips have changed since they were heard", changed, "Judge them anew.")
        packer = _Packer(
            ledger, build.of_ledger(ledger, options.unclaimed, options.scoring), folder, anonymous, audio
        )
        packer.pack(progress)
        drawing = (lambda done, of: progress("drawing", done, of, None)) if progress else None
        summary = build.write(folder, packer.shown(), options, drawing)
        if summary.task != label.TASK.name:  # whose captions are answers
            _write_prompts(folder / "prompts.csv", packer.rows, packer.expected())
        licensed = licences.copy(packer.datasets, folder)
        write_packed(folder / "audio.csv", packer.packed, originals=not anonymous)
        about = card.About(
            summary,
            packer.meta,
            audio,
            anonymous,
            packer.missing,
            packer.notes,
            tables.markdown(summary, options.table),
            licensed,
        )
        (folder / "README.md").write_text(card.text(about), encoding="utf-8", newline="\n")
        packer.check()
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        key = packer.write_key(target) if anonymous else None
    notes = (*packer.notes, *filter(None, [licensed.warning]), *packer.private_notes)
    return Bundle(out, size, packer.packed, packer.missing, notes, key, summary)


class _Packer:
    """What goes into the folder: rows with other names and paths, and the sound itself."""

    def __init__(self, ledger: Ledger, run: build.Run, folder: Path, anonymous: bool, form: str) -> None:
        self._ledger, self._run, self._folder = ledger, run, folder.absolute()
        self._originals = list(run.rows())
        files = {Path(row.audio) for row in self._originals}
        files |= {Path(row.source.audio) for row in self._originals if row.source}
        self._parents = sorted({path.parent for path in files} | {ledger.path.parent.absolute()})
        self._without_paths = hiding.without_paths([*sorted(files), *self._parents])
        self.datasets = licences.datasets(files)
        names = list(dict.fromkeys(row.system for row in self._originals))
        secret = hashlib.sha256("\n".join(sorted(map(str, files))).encode(errors="surrogateescape")).digest()
        self._measures = measures = run.task.measures(run.hearer)
        shown = hiding.baselines(self._originals, measures) if anonymous else names
        self._hidden = [name for name in names if name not in shown]
        self.aliases = hiding.aliases(self._hidden, secret) | {name: name for name in shown}
        for name in self._hidden:
            if name.casefold() in {alias.casefold() for alias in self.aliases.values()}:
                raise UserError(f"a system is called {name!r}, as an anonymous one would be.", "Rename it.")
        self._ordinary = hiding.ordinary(self._hidden)
        self._name = hiding.without_names(self._hidden)
        self._word = hiding.without_names([name for name in self._hidden if name not in self._ordinary])
        self._touched: set[str] = set()
        self._sounds = Sounds(self._folder, form, shared=run.task.name != label.TASK.name)
        self.missing: tuple[str, ...] = ()
        self.rows: tuple[ItemRow, ...] = ()
        self.meta = self._clean_meta()

    # --- texts -----------------------------------------------------------------------------------

    def _ours(self, text: str) -> str:
        """A text that earwitness wrote: no path at all, no name, and no server that tells whose it is."""
        kept = hiding.without_any_path(self._without_paths(text))
        return self._words(hiding.without_addresses(kept) if self._hidden else kept)

    def _words(self, text: str) -> str:
        """A text of the user's or the listener's."""
        kept = self._word(self._without_paths(text))
        if kept != text:
            self._touched.add(text)
        return kept

    def _clean_meta(self) -> dict[str, Any]:
        """The run's settings without the command, which is full of paths."""

        meta = {name: value for name, value in self._run.meta.items() if name not in ("command", "notes")}
        notes = [hiding.without_any_path(self._without_paths(note)) for note in self._run.meta["notes"]]
        kept = [note for note in notes if self._name(note) == note]  # the others list systems in their order
        if len(kept) < len(notes):
            kept.append(f"{len(notes) - len(kept)} notes on the manifest name systems and were left out")
        return {**hiding.through(meta, self._ours), "notes": kept, "command": ""}

    def _row(self, number: int, row: ItemRow) -> ItemRow:
        """A row under other names, its sound packed."""
        system, sample = self.aliases[row.system], self._name(row.sample_id)
        file, fault = self._packed(row.audio, system, sample)
        warnings = [self._ours(warning) for warning in row.warnings]
        if fault:
            warnings.append(f"the clip could not be packed: {fault}")
            self.missing += (f"{system}, {sample}: {fault}",)
        source = None
        if row.source:
            source_file, fault = self._packed(row.source.audio, "source", sample)
            source = Source(source_file, row.source.duration_s, hiding.through(row.source.heard, self._words))
            if fault:
                warnings.append(f"the source clip could not be packed: {fault}")
                self.missing += (f"source of {system}, {sample}: {fault}",)
        return replace(
            row,
            item_id=number,
            system=system,
            sample_id=sample,
            caption=self._words(row.caption),
            reversed_caption=self._words(row.reversed_caption),
            audio=file,
            cluster=self._name(self._without_paths(row.cluster)),
            reason=row.reason if row.reason in REASONS else self._ours(row.reason),
            detail=self._ours(row.detail),
            asked=hiding.through(row.asked, self._words),
            heard=hiding.through(row.heard, self._words),
            source=source,
            texts=hiding.through(row.texts, self._words),
            tags=hiding.through(row.tags, self._words),
            warnings=tuple(warnings),
        )

    # --- sound -----------------------------------------------------------------------------------

    def pack(self, progress: Progress | None) -> None:
        """Encode every clip and set up the rows, system by system under their new names."""
        order = sorted(
            range(len(self._originals)), key=lambda index: self._place(self._originals[index].system)
        )
        self._originals = [self._originals[index] for index in order]
        for row in self._originals:
            if row.system == self._measures.ceiling:  # whose clips others hand back: they are called by it
                self._packed(row.audio, self.aliases[row.system], self._name(row.sample_id))
        rows = []
        for number, row in enumerate(self._originals, 1):
            rows.append(self._row(number, row))
            if progress:
                progress("packing", number, len(self._originals), None)
        self.rows = tuple(rows)
        names = [(row.system, row.sample_id) for row in rows]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise UserError(
                f"without the systems' names, two samples of {twice[0]} are called {twice[1]!r}.",
                "Give samples ids that differ in more than a system's name.",
            )

    def _packed(self, original: str, system: str, sample: str) -> tuple[str, str]:
        file, fault = self._sounds.pack(Path(original), system, sample)
        return file, self._ours(fault)

    @property
    def packed(self) -> tuple[Packed, ...]:
        """Every sound file."""
        return self._sounds.packed

    def _place(self, system: str) -> tuple[int, int, str]:
        """Aliases in their order, and then what is not hidden; names as they come in the run."""
        if system in self._hidden:
            return 0, len(self.aliases[system]), self.aliases[system]
        return 1, list(self.aliases).index(system), ""

    # --- the run ---------------------------------------------------------------------------------

    def shown(self) -> build.Run:
        """The run as the folder shows it."""
        used = {**self._run.used, "served": hiding.through(self._run.used["served"], self._ours)}
        return replace(
            self._run,
            meta=self.meta,
            used=used,
            rows=lambda: iter(self.rows),
            replies=self._replies,
            distances=self._run.distances
            and renamed(self._run.distances, self.aliases, self._place, self._ours, self._name),
        )

    def _replies(self) -> Iterator[Mapping[str, Any]]:
        fixed = ("task", "side", "question", "listener", "repeat")
        for original, row in zip(self._originals, self.rows, strict=True):
            for reply in replies.of_item(self._ledger, self._run.task, self._run.hearer, original.item_id):
                kept = {name: reply[name] for name in fixed}
                kept |= {"system": row.system, "sample_id": row.sample_id}
                kept |= {"reason": reply["reason"], "detail": self._ours(reply["detail"])}
                rest = {name: value for name, value in reply.items() if name not in kept}
                yield {**kept, **hiding.through(rest, self._words)}

    def expected(self) -> dict[tuple[str, str], str]:
        """What prompts of relations ask for, by sample_id and caption, as JSON: a data set's column of that
        name."""
        found = {}
        for stored in self._ledger.items():
            if stored.item.expected:
                asked = hiding.through(wanted(stored.item.expected).expected.to_json(), self._words)
                sample, caption = self._name(stored.item.sample_id), self._words(stored.item.caption)
                found[sample, caption] = json.dumps(asked, sort_keys=True)
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever opens the folder should know."""
        notes = self._sounds.notes()
        if self._touched:
            held = "1 text" if len(self._touched) == 1 else f"{len(self._touched)} texts"
            notes.append(
                f"{held} held a system's name or a path; {hiding.NAME} and {hiding.PATH} stand instead."
            )
        return tuple(notes)

    @property
    def private_notes(self) -> tuple[str, ...]:
        """What the giver alone should know: which names are not hidden everywhere."""
        if not self._ordinary:
            return ()
        listed = ", ".join(map(repr, self._ordinary))
        return (
            f"Not hidden everywhere, being ordinary words: {listed}. Taken out of sample ids and notes, left "
            "where captions and replies hold the word. Rename and judge anew if that must not be.",
        )

    def check(self) -> None:
        """Make sure that nothing in the folder names a system that is anonymous, or a folder here."""
        sought = [name for name in self._hidden if name not in self._ordinary]
        found = hiding.found(self._folder, sought)
        paths = [str(path) for path in (*self._parents, Path.home()) if len(path.parts) > 2]
        found += [f"{file} names a folder of this machine" for file in hiding.naming(self._folder, paths)]
        if found:
            raise InputFaults(
                "the folder would give away what it must not",
                found,
                "A name that stands in a report for another reason (a listener's, a model's, a heading) "
                "cannot be hidden: give the system another name in the manifest and judge it anew.",
            )
        _same_time(self._folder)

    def write_key(self, out: Path) -> Path:
        """Keep the names of the systems and the hashes of the originals beside the folder."""
        path = out.with_name(f"{out.name}.key.json")
        originals = {
            one.file: {name: value for name, value in asdict(one).items() if name.startswith("original_")}
            for one in self.packed
        }
        systems = {alias: name for name, alias in sorted(self.aliases.items(), key=lambda pair: pair[1])}
        if path.exists() and json.loads(path.read_text(encoding="utf-8")).get("systems") != systems:
            raise UserError(f"{path} is the key of another bundle.", "Move it away, or name another folder.")
        summary_files.write_json(path, {"systems": systems, "originals": originals})
        return path


def _same_time(folder: Path) -> None:
    """One time for all, so that none tells when, or in what order, a system was judged."""
    for path in folder.rglob("*"):
        os.utime(path, (_TIME_S, _TIME_S))


def _write_prompts(path: Path, rows: Sequence[ItemRow], expected: Mapping[tuple[str, str], str]) -> None:
    """The prompt set: every sample once, with its caption and what else it was asked with.

    Args:
        expected: Of prompts for relations, what sample_id and caption ask for, as JSON.
    """
    headings = list(dict.fromkeys(heading for row in rows for heading in row.texts))
    sources = any(row.source for row in rows)
    reversals = any(row.reversed_caption for row in rows)
    prompts: dict[tuple[str, ...], None] = {}
    folder = f"{path.parent.absolute()}/"
    for row in rows:
        cells = [row.sample_id, row.caption]
        cells += [row.reversed_caption] if reversals else []
        cells += [row.texts.get(heading, "") for heading in headings]
        cells += [row.source.audio.removeprefix(folder) if row.source else ""] if sources else []
        cells += [expected.get((row.sample_id, row.caption), "")] if expected else []
        prompts.setdefault(tuple(cells))
    with path.open("w", encoding="utf-8", newline="") as file:
        write = csv_rows(file)
        columns = ["sample_id", "caption", *(["reversed_caption"] if reversals else [])]
        columns += [heading.lower().replace(" ", "_") for heading in headings]
        columns += ["source_audio"] if sources else []
        write(columns + (["expected"] if expected else []))
        for cells_of in sorted(prompts):
            write([safe(cell) for cell in cells_of])
