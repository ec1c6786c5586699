"""A recipe's scenes as a folder: mixes, scene files, tables and a card.

Conventions
-----------
``metadata.csv`` has one row a key, in the order of the keys: the columns :data:`HEAD`, the recipe's own, and
``pcm_hash`` (:func:`earwitness.audio.pcm_hash` of the mix that answers the prompt). Mixes are 16-bit wav:
``<role>/<key>.wav``, beside ``scenes/<key>.json`` for the role ``audio`` and ``scenes/<role>/<key>.json`` for
any other; stems are ``stems/<key>/<nn>-<label>.wav`` and ``stems/<key>/<role>/<nn>-<label>.wav``.
``checksums/<key>.sha256`` lists every wav file of the key, as sha256sum does.

Every file takes its place whole, and a key's checksums come last: where they are, the key was done, and what
does not agree with them was altered afterwards and is made again.
The same recipe, bank and versions give the same bytes in every file, whatever the number of workers and
however often the work was interrupted.
"""

import csv
import errno
import fcntl
import hashlib
import os
import re
import secrets
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness import audio
from earwitness.errors import UserError
from earwitness.files import whole, write_text
from earwitness.scenes import card, making, scene
from earwitness.scenes.bank import Bank
from earwitness.scenes.card import Used
from earwitness.scenes.recipe import MIX, Recipe
from earwitness.scenes.render import mix, render
from earwitness.scenes.scene import Scene
from earwitness.workers import check as check_engine
from earwitness.workers import parts

HEAD = ("file_name", "prompt_id", "prompt")
"""Columns that every data set begins with."""
HASH = "pcm_hash"
METADATA, PROMPTS, SCENES = "metadata.csv", "prompts.csv", "scenes"
CHECKSUMS = "checksums"

_PAYS = 1000  # keys for which another worker is worth its start and its own decoding of the bank
_STEM_LETTERS = 40  # of a label in the name of its stem: with 4 bytes a letter, still a file name

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
    engine: str = "local",
    progress: Progress | None = None,
    command: str = "",
) -> Written:
    """Draw and render every key of a recipe; what an earlier, interrupted call finished is kept.

    A key counts as finished if its scene files say what would be drawn now and all its sound has the
    checksums it was written with.

    Args:
        folder: Made if absent; else empty, or begun by a call with the same settings and no more keys. Not
            within the bank.
        recipe: Its settings state ``seed``, ``rate_hz`` and ``duration_s``, or ``samples``.
        bank: What the recipe draws from.
        stems: Write every sound of a scene apart, too.
        workers: Processes; 1 works in this one. By default one a processor, or fewer for little work; on Ray
            one for every CPU of the cluster.
        engine: One of :data:`earwitness.workers.ENGINES`; it changes no byte. The nodes of a cluster must
            share the folder and the bank, under the same paths.
        command: How it was made, for the card.

    Raises:
        UserError: If the folder holds something else or is made with other settings (all differences are
            listed), cannot be written, is being written by another process or lies within the bank; if the
            settings are none for a scene (:func:`.scene.check_settings`); if a worker died; or whatever the
            recipe, the bank or the engine refuse.
    """
    keys = recipe.keys()
    _check(keys)
    _check_settings(recipe.settings)
    refuse_within(bank, folder)
    if workers is not None and workers < 1:
        raise UserError(f"workers must be at least 1, not {workers}.")
    check_engine(engine)
    if workers is None and engine == "local":
        workers = min(len(os.sched_getaffinity(0)), max(1, len(keys) // _PAYS))
    made, uses = 0, Counter[Used]()
    with _written(folder) as token:
        maker = _Maker(recipe, bank, folder, stems, token)
        making.begin(folder, {**recipe.settings, "stems": stems}, len(keys))
        with _tables(folder, recipe.columns) as add:
            done = 0
            for part in parts(maker.make, keys, workers, engine):
                for row in part.rows:
                    add(row)
                uses.update(part.uses)
                made, done = made + part.made, done + len(part.rows)
                if progress:
                    progress(done, len(keys))
        used = card.used_clips(uses, bank)
        with whole(folder / "licences.csv") as path:
            card.write_licences(path, used)
        facts = card.Made(recipe.settings, len(keys), stems, command, used)
        write_text(folder / "README.md", card.text(recipe.card, facts))
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
        write_text(folder / "README.md", card.text(about, made))
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
    safe = re.sub(r"[^\w-]+", "_", label)[:_STEM_LETTERS]
    return f"{number:02d}-{safe}.wav"


def checksums_path(folder: Path, key: str) -> Path:
    return folder / CHECKSUMS / f"{key}.sha256"


def refuse_within(bank: Bank, path: Path) -> None:
    """Refuse to write where a bank's clips lie: it would be read as sound of the bank, or take its place.

    Raises:
        UserError: Naming the bank's folder.
    """
    target = path.resolve()
    sources = (source for found in bank.sources.values() for source in found)
    for place in {_place(source.path, source.name) for source in sources if source.path is not None}:
        if target.is_relative_to(place.resolve()):
            raise UserError(f"{path} lies within the bank, {place}.", "Name a place outside the bank.")


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
    token: str

    def make(self, keys: Sequence[str]) -> _Part:
        self._check_shared()
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

    def _check_shared(self) -> None:
        """Another machine may have another folder of that name, or none, and would write there unseen."""
        lock = self.folder / making.LOCK
        if not lock.is_file() or lock.read_text() != self.token:
            raise UserError(
                f"{self.folder} is not the same folder on {socket.gethostname()}.",
                "Name a folder that all machines share.",
            )

    def _kept(self, scenes: Mapping[str, Scene]) -> str | None:
        """Hash of the mix on disk if all that belongs to these scenes is there, else None."""
        key = scenes[MIX].scene_id
        stated = checksums_path(self.folder, key)
        if not stated.is_file():
            return None
        if not all(_holds(scene_path(self.folder, role, key), one) for role, one in scenes.items()):
            return None
        sounds = self._sounds(scenes)
        if not all(path.is_file() for path in sounds) or stated.read_bytes() != self._checksums(sounds):
            return None
        return audio.read(mix_path(self.folder, MIX, key)).pcm_hash

    def _sounds(self, scenes: Mapping[str, Scene]) -> list[Path]:
        """Every wav file of a key."""
        mixes = [mix_path(self.folder, role, one.scene_id) for role, one in scenes.items()]
        if not self.stems:
            return mixes
        return mixes + [path for role, one in scenes.items() for path in stem_paths(self.folder, role, one)]

    def _checksums(self, sounds: Sequence[Path]) -> bytes:
        lines = (
            f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(self.folder).as_posix()}\n"
            for path in sounds
        )
        return "".join(lines).encode()

    def _write(self, scenes: Mapping[str, Scene]) -> str:
        pcm_hash = ""
        checksums_path(self.folder, scenes[MIX].scene_id).unlink(missing_ok=True)
        for role, one in _in_turn(scenes):
            if self.stems:
                rendered = render(one, self.bank)
                samples = rendered.mix
                for path, stem in zip(stem_paths(self.folder, role, one), rendered.stems, strict=True):
                    write_sound(path, stem, one.rate_hz)
            else:
                samples = mix(one, self.bank)
            write_sound(mix_path(self.folder, role, one.scene_id), samples, one.rate_hz)
            path = scene_path(self.folder, role, one.scene_id)
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole(path) as part:
                scene.write(part, one)
            pcm_hash = audio.pcm_hash(samples[np.newaxis], one.rate_hz)
        stated = checksums_path(self.folder, scenes[MIX].scene_id)
        stated.parent.mkdir(exist_ok=True)
        with whole(stated) as part:
            part.write_bytes(self._checksums(self._sounds(scenes)))
        return pcm_hash


def write_sound(path: Path, samples: NDArray[np.float32], rate_hz: int) -> None:
    """Write mono samples (n,) as a 16-bit wav file, whole, with the folders that lead to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as part:
        audio.write_wav(part, samples[np.newaxis], rate_hz)


def _in_turn(scenes: Mapping[str, Scene]) -> list[tuple[str, Scene]]:
    """Roles in the order of writing: the mix that answers the prompt comes last."""
    return [*((role, one) for role, one in scenes.items() if role != MIX), (MIX, scenes[MIX])]


def _holds(path: Path, one: Scene) -> bool:
    try:
        return scene.read(path) == one
    except UserError:  # no scene, or one of another version: it is made again
        return False


def _place(path: Path, name: str) -> Path:
    """The bank's folder that holds a clip of that name; a clip from elsewhere stands for itself."""
    inner = PurePath(name).parts
    if not inner or ".." in inner or path.parts[-len(inner) :] != inner:
        return path
    return path.parents[len(inner) - 1]


def _check_settings(settings: Mapping[str, Any]) -> None:
    rate_hz, seed = settings["rate_hz"], settings["seed"]
    duration_s = settings["duration_s"] if "duration_s" in settings else settings["samples"] / rate_hz
    scene.check_settings(rate_hz=rate_hz, duration_s=duration_s, seed=seed)


def _check(keys: Sequence[str]) -> None:
    if not keys:
        raise UserError("There is nothing to make: the recipe has no keys.", "Ask for at least one.")
    bad = next((key for key in keys if not scene.is_name(key)), None)
    if bad is not None:
        raise UserError(
            f"The key {bad!r} cannot be the name of a file.",
            "Use letters, digits, . - and _; at most 200 in all.",
        )
    if len(set(keys)) < len(keys):
        twice = next(key for key, count in Counter(keys).items() if count > 1)
        raise UserError(f"The key {twice!r} is there twice.", "Give every prompt a name of its own.")


# Files


@contextmanager
def _written(folder: Path) -> Iterator[str]:
    """The folder, made, held against other processes, and with faults of the disk told as the user's.

    Yields:
        What the lock holds meanwhile, by which workers know the folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        making.refuse_others(folder)
        with (folder / making.LOCK).open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as fault:
                raise UserError(f"{folder} is being written by another process.", "Wait for it.") from fault
            token = secrets.token_hex()
            lock.truncate(0)  # what a call that was killed left there
            lock.write(token)
            lock.flush()
            try:
                yield token
            finally:
                lock.truncate(0)  # the file stays: whoever waits for it must find this one
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
        whole(folder / METADATA) as rows_path,
        whole(folder / PROMPTS) as prompts_path,
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
