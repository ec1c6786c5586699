"""A recipe's scenes as a folder: mixes, scene files, tables and a card.

Conventions
-----------
``metadata.csv`` has one row a key, in the order of the keys: the columns :data:`HEAD`, the recipe's own, and
``pcm_hash`` (:func:`earwitness.audio.pcm_hash` of the mix that answers the prompt). Mixes are 16-bit wav:
``<role>/<key>.wav``, beside ``scenes/<key>.json`` for the role ``audio`` and ``scenes/<role>/<key>.json`` for
any other; stems are ``stems/<key>/<nn>-<label>.wav`` and ``stems/<key>/<role>/<nn>-<label>.wav``.

Every file takes its place whole, and a key's ``scenes/<key>.json`` comes last: where it is, the key is done.
The same recipe, bank and versions give the same bytes in every file, whatever the number of workers and
however often the work was interrupted.
"""

import csv
import errno
import fcntl
import os
import re
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness import audio
from earwitness.errors import EarwitnessError, UnusableAudio, UserError
from earwitness.scenes import card, making, scene
from earwitness.scenes.bank import Bank
from earwitness.scenes.card import Used
from earwitness.scenes.recipe import MIX, Recipe
from earwitness.scenes.render import mix, render
from earwitness.scenes.scene import Scene

HEAD = ("file_name", "prompt_id", "prompt")
"""Columns that every data set begins with."""
HASH = "pcm_hash"
METADATA, PROMPTS, SCENES = "metadata.csv", "prompts.csv", "scenes"

_CHUNK = 16  # keys a worker takes at a time
_PAYS = 1000  # keys for which another worker is worth its start and its own decoding of the bank
_KEY = re.compile(r"\w[\w.-]*")
_HEADER_BYTES = 44  # of a 16-bit wav file as audio.write_wav makes it

Progress = Callable[[int, int], None]
"""Called with the number of keys that are done, and of all."""


@dataclass(frozen=True, slots=True)
class Written:
    """A finished data set: how many keys were made now, and how many were there already."""

    folder: Path
    made: int
    kept: int


def write(
    folder: Path,
    recipe: Recipe,
    bank: Bank,
    *,
    stems: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> Written:
    """Draw and render every key of a recipe; what an earlier, interrupted call finished is kept.

    A key counts as finished if its scene files say what would be drawn now and all its sound is there in
    full length.

    Args:
        folder: Made if absent; else empty, or begun by a call with the same settings and no more keys.
        bank: What the recipe draws from.
        stems: Write every sound of a scene apart, too.
        workers: Processes; 1 works in this one. By default one a processor, or fewer for little work.
        command: How it was made, for the card.

    Raises:
        UserError: If the folder holds something else or is made with other settings (all differences are
            listed), cannot be written, is being written by another process; if a worker died; or
            whatever the recipe or the bank refuse.
    """
    keys = recipe.keys()
    _check(keys)
    if workers is not None and workers < 1:
        raise UserError(f"workers must be at least 1, not {workers}.")
    maker = _Maker(recipe, bank, folder, stems)
    workers = workers or min(len(os.sched_getaffinity(0)), max(1, len(keys) // _PAYS))
    made, uses = 0, Counter[Used]()
    with _written(folder):
        making.begin(folder, {**recipe.settings, "stems": stems}, len(keys))
        with _tables(folder, recipe.columns) as add:
            done = 0
            for part in _parts(maker, keys, workers):
                for row in part.rows:
                    add(row)
                uses.update(part.uses)
                made, done = made + part.made, done + len(part.rows)
                if progress:
                    progress(done, len(keys))
        used = card.used_clips(uses, bank)
        with appearing(folder / "licences.csv") as path:
            card.write_licences(path, used)
        facts = card.Made(recipe.settings, len(keys), stems, command, used)
        _write_text(folder / "README.md", card.text(recipe.card, facts))
    return Written(folder, made, len(keys) - made)


def write_prompts_only(
    folder: Path,
    rows: Iterable[Mapping[str, str]],
    *,
    columns: Sequence[str],
    settings: Mapping[str, Any],
    about: str,
    command: str = "",
) -> Written:
    """Write a data set of prompts without sound: its metadata name no files.

    Args:
        rows: Each with ``prompt_id``, ``prompt`` and the cells of ``columns``.
        columns, settings, about: What a recipe has as ``columns``, ``settings`` and ``card``.

    Raises:
        UserError: As :func:`write`.
    """
    listed = list(rows)
    _check([row["prompt_id"] for row in listed])
    with _written(folder):
        making.begin(folder, settings, len(listed))
        with _tables(folder, columns) as add:
            for row in listed:
                add({**row, "file_name": "", HASH: ""})
        made = card.Made(settings, len(listed), stems=False, command=command, used=None)
        _write_text(folder / "README.md", card.text(about, made))
    return Written(folder, len(listed), 0)


def mix_path(folder: Path, role: str, key: str) -> Path:
    return folder / role / f"{key}.wav"


def scene_path(folder: Path, role: str, key: str) -> Path:
    return folder / SCENES / ("" if role == MIX else role) / f"{key}.json"


def stem_paths(folder: Path, role: str, one: Scene) -> list[Path]:
    """Where the stems of a scene lie, in the order of its sounds."""
    inner = folder / "stems" / one.scene_id / ("" if role == MIX else role)
    return [inner / stem_name(number, sound.label) for number, sound in enumerate(one.sounds)]


def stem_name(number: int, label: str) -> str:
    safe = re.sub(r"[^\w-]+", "_", label)
    return f"{number:02d}-{safe}.wav"


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """A path to write to; it becomes ``path`` if the block ends without fault."""
    part = path.with_name(path.name + ".part")
    yield part
    os.replace(part, path)


@dataclass(frozen=True, slots=True)
class _Part:
    """What became of some keys: rows of the metadata in order, how many scenes use a clip, keys made."""

    rows: list[Mapping[str, str]]
    uses: Counter[Used]
    made: int


@dataclass(frozen=True, slots=True)
class _Maker:
    """Everything that a worker needs."""

    recipe: Recipe
    bank: Bank
    folder: Path
    stems: bool

    def make(self, keys: Sequence[str]) -> _Part:
        rows: list[Mapping[str, str]] = []
        uses = Counter[Used]()
        made = 0
        for key in keys:
            scenes = self.recipe.draw(key)
            pcm_hash = self._kept(scenes)
            if pcm_hash is None:
                pcm_hash = self._write(scenes)
                made += 1
            for one in scenes.values():
                uses.update({Used(sound.name, sound.source) for sound in one.sounds})
            head = {
                "file_name": f"{MIX}/{key}.wav",
                "prompt_id": key,
                "prompt": scenes[MIX].prompt,
                HASH: pcm_hash,
            }
            rows.append({**self.recipe.row(key, scenes), **head})
        return _Part(rows, uses, made)

    def _kept(self, scenes: Mapping[str, Scene]) -> str | None:
        """Hash of the mix on disk if all that belongs to these scenes is there, else None."""
        for role, one in reversed(_in_turn(scenes)):
            path = scene_path(self.folder, role, one.scene_id)
            if not path.exists() or not _holds(path, one):
                return None
            sounds = [mix_path(self.folder, role, one.scene_id)]
            if self.stems:
                sounds += stem_paths(self.folder, role, one)
            if any(_size(sound) != _HEADER_BYTES + 2 * one.samples for sound in sounds):
                return None
        try:
            return audio.read(mix_path(self.folder, MIX, scenes[MIX].scene_id)).pcm_hash
        except UnusableAudio:  # of the right size but no sound: it is made again
            return None

    def _write(self, scenes: Mapping[str, Scene]) -> str:
        pcm_hash = ""
        for role, one in _in_turn(scenes):
            if self.stems:
                rendered = render(one, self.bank)
                for path, stem in zip(stem_paths(self.folder, role, one), rendered.stems, strict=True):
                    write_sound(path, stem, one.rate_hz)
            samples = rendered.mix if self.stems else mix(one, self.bank)
            write_sound(mix_path(self.folder, role, one.scene_id), samples, one.rate_hz)
            path = scene_path(self.folder, role, one.scene_id)
            path.parent.mkdir(parents=True, exist_ok=True)
            with appearing(path) as part:
                scene.write(part, one)
            pcm_hash = audio.pcm_hash(samples[np.newaxis], one.rate_hz)
        return pcm_hash


def write_sound(path: Path, samples: NDArray[np.float32], rate_hz: int) -> None:
    """Write mono samples (n,) as a 16-bit wav file, whole, with the folders that lead to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with appearing(path) as part:
        audio.write_wav(part, samples[np.newaxis], rate_hz)


def _in_turn(scenes: Mapping[str, Scene]) -> list[tuple[str, Scene]]:
    """Roles in the order of writing: the mix that answers the prompt comes last."""
    return [*((role, one) for role, one in scenes.items() if role != MIX), (MIX, scenes[MIX])]


def _holds(path: Path, one: Scene) -> bool:
    try:
        return scene.read(path) == one
    except UserError:  # no scene, or one of another version: it is made again
        return False


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else -1


def _check(keys: Sequence[str]) -> None:
    if not keys:
        raise UserError("There is nothing to make: the recipe has no keys.", "Ask for at least one.")
    bad = next((key for key in keys if not _KEY.fullmatch(key)), None)
    if bad is not None:
        raise UserError(f"The key {bad!r} cannot be the name of a file.", "Use letters, digits, . - and _.")
    if len(set(keys)) < len(keys):
        twice = next(key for key, count in Counter(keys).items() if count > 1)
        raise UserError(f"The key {twice!r} is there twice.", "Give every prompt a name of its own.")


# Workers

_maker: _Maker | None = None


def _parts(maker: _Maker, keys: Sequence[str], workers: int) -> Iterator[_Part]:
    """The parts in the order of the keys; only a few are under way at a time."""
    chunks = (keys[at : at + _CHUNK] for at in range(0, len(keys), _CHUNK))
    if workers == 1:
        yield from map(maker.make, chunks)
        return
    context = get_context("spawn")  # a fork would copy locks that other threads hold
    with ProcessPoolExecutor(workers, context, _start, (maker,)) as pool:
        waiting = deque(pool.submit(_make, chunk) for chunk in islice(chunks, 3 * workers))
        try:
            while waiting:
                part = waiting.popleft().result()
                waiting.extend(pool.submit(_make, chunk) for chunk in islice(chunks, 1))
                yield part
        except BrokenProcessPool as fault:
            raise UserError(
                "A worker process ended before its work was done.",
                "Was memory short? Or is this a script without 'if __name__ == \"__main__\":'? Ask for one "
                "worker to work in this process. What is finished is kept.",
            ) from fault
        finally:
            pool.shutdown(cancel_futures=True)


def _start(maker: _Maker) -> None:
    """In a new worker. Ctrl-C is the parent's to handle; a parent that is killed takes its workers along."""
    global _maker
    _maker = maker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _make(keys: Sequence[str]) -> _Part:
    assert _maker is not None
    try:
        return _maker.make(keys)
    except EarwitnessError as fault:  # of several arguments, which do not survive the way to the parent
        raise UserError(str(fault)) from None


# Files


@contextmanager
def _written(folder: Path) -> Iterator[None]:
    """The folder, made, held against other processes, and with faults of the disk told as the user's."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        making.refuse_others(folder)
        with (folder / making.LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as fault:
                raise UserError(f"{folder} is being written by another process.", "Wait for it.") from fault
            try:
                yield
            finally:
                (folder / making.LOCK).unlink(missing_ok=True)
    except OSError as fault:
        remedy = "Name a folder that can be written."
        if fault.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = "Make room and give the same command again: what is finished is kept."
        raise UserError(f"{folder} cannot be written: {fault.strerror or fault}.", remedy) from fault


@contextmanager
def _tables(folder: Path, columns: Sequence[str]) -> Iterator[Callable[[Mapping[str, str]], None]]:
    """A function that adds a row to the metadata and the prompts."""
    names = list(dict.fromkeys((*HEAD, *columns, HASH)))
    with (
        appearing(folder / METADATA) as rows_path,
        appearing(folder / PROMPTS) as prompts_path,
        rows_path.open("w", encoding="utf-8", newline="") as rows,
        prompts_path.open("w", encoding="utf-8", newline="") as prompts,
    ):
        table = csv.DictWriter(rows, names, lineterminator="\n")
        asked = csv.writer(prompts, lineterminator="\n")
        table.writeheader()
        asked.writerow(("prompt_id", "caption"))

        def add(row: Mapping[str, str]) -> None:
            table.writerow(row)
            asked.writerow((row["prompt_id"], row["prompt"]))

        yield add


def _write_text(path: Path, text: str) -> None:
    with appearing(path) as part:
        part.write_text(text, encoding="utf-8")
