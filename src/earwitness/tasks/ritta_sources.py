"""A RiTTA data set and the clips that systems made from its prompts -> items, with ceilings and floors."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from earwitness import audio
from earwitness.errors import InputFaults, UnusableAudio, UserError
from earwitness.manifest import Item, Manifest, from_outputs
from earwitness.manifest.table import listing, read_table
from earwitness.scenes import scene
from earwitness.scenes.dataset import METADATA, PROMPTS, SCENES
from earwitness.scenes.making import NAME as MADE
from earwitness.scenes.recipe import MIX
from earwitness.scores.relations import Expected, from_json
from earwitness.tasks.ritta_measures import BASELINES, ORACLE, REFERENCE, SHUFFLED, SILENCE
from earwitness.tasks.ritta_wanted import truth_text, wanted, wanted_text

_COLUMNS = ("file_name", "prompt_id", "prompt", "relation", "expected", "pcm_hash")
_MAKE = "Make the data set with: earwitness bench ritta make --bank FOLDER -o DATA"


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A row of the data set: its clip, and the columns ``expected`` and ``truth`` of its items."""

    prompt_id: str
    caption: str
    audio: Path
    relation: str
    expected: str
    truth: str
    pcm_hash: str
    samples: int
    rate_hz: int
    row: int


def manifest(
    data: Path,
    outputs: Mapping[str, Path],
    *,
    silence: Path,
    id_from: str = "",
    seed: int = 0,
) -> Manifest:
    """The systems' clips, and the baselines: reference, oracle, silence, shuffled.

    The baselines have every prompt of which some system has a clip; without a system, every prompt.

    Args:
        data: The data set's folder, as scenes.dataset wrote it with the recipe of RiTTA.
        outputs: System name to folder; the stem of a clip, or what ``id_from`` finds, is its prompt_id. The
            data set itself may be one of them: its mixes are then that system's.
        silence: A silent clip as long as the data set's.
        id_from: See :func:`earwitness.manifest.from_outputs`.
        seed: Of what ``shuffled`` draws.

    Raises:
        InputFaults: With every fault: of the table, of scene files (sounds of one label that overlap, or that
            leave the clip), mixes that are missing, and those that ``from_outputs`` finds.
        UserError: If there is no data set, none with clips of its own, or a system has a baseline's name.
    """
    if taken := sorted(outputs.keys() & BASELINES.keys()):
        raise UserError(
            f"{taken[0]!r} is the name of a baseline, so the clips in {outputs[taken[0]]} need another.",
            "Name every folder: NAME=FOLDER.",
        )
    prompts = _prompts(data)
    notes: list[str] = []
    items: list[Item] = []
    if outputs:
        folders = {name: _folder_of(data, folder) for name, folder in outputs.items()}
        found = from_outputs(data / PROMPTS, folders, id_from=id_from)
        _same_prompts(data, found.items, prompts)
        items = [_item(prompts[item.sample_id], item.system, item.audio) for item in found.items]
        notes += found.notes
    answered = {item.sample_id for item in items} if outputs else prompts.keys()
    if len(answered) < len(prompts):
        # how many those are depends on the whole run, of which this may be a part: the summary counts them
        notes.append(
            f"the data set has {len(prompts)} prompts; baselines have those that some system has a clip of"
        )
    others = shuffled(
        [(one.prompt_id, one.caption, one.relation, one.expected) for one in prompts.values()], seed
    )
    alone = [name for name, other in others.items() if other is None]
    if alone:
        notes.append(
            f"{SHUFFLED} has no clip for those of the data set's prompts that no other prompt of their "
            f"relation differs from ({len(alone)}): {listing(sorted(alone))}"
        )
    for one in prompts.values():
        if one.prompt_id in answered:
            items.append(_item(one, REFERENCE, one.audio))
            items.append(replace(_item(one, ORACLE, one.audio), truth=one.truth))
            items.append(_item(one, SILENCE, silence.absolute()))
            if (other := others[one.prompt_id]) is not None:
                items.append(_item(one, SHUFFLED, prompts[other].audio))
    places = {name: index for index, name in enumerate((*outputs, *BASELINES))}
    items.sort(key=lambda item: places[item.system])
    return Manifest(tuple(items), tuple(notes), str(data))


def _item(one: _Prompt, system: str, audio: Path) -> Item:
    return Item(system, one.prompt_id, audio, one.caption, expected=one.expected, row=one.row)


def _folder_of(data: Path, folder: Path) -> Path:
    """Where a system's clips lie: of the data set itself, its mixes alone."""
    return data / MIX if os.path.isdir(folder) and folder.resolve() == data.resolve() else folder


def _prompts(data: Path) -> dict[str, _Prompt]:
    """Every row of the data set by its prompt_id, checked against its scenes and mixes."""
    if not os.path.isfile(data / METADATA):
        raise UserError(f"{data} holds no {METADATA}, so it is no data set.", _MAKE)
    table = read_table(data / METADATA)
    columns = table.choose(_COLUMNS, (), {}, {})
    rows = list(table.texts(columns, _COLUMNS))
    if rows and not any(cells["file_name"] for _, cells in rows):
        raise UserError(
            f"{data} holds prompts without sound: there is no reference to hear, and a number without its "
            "ceiling is not reported.",
            "Import the prompts again with a bank: earwitness bench ritta import --bank FOLDER -o DATA",
        )
    if fault := _cut_short(data, len(rows)):
        table.faults.append(fault)
    found: dict[str, _Prompt] = {}
    for row, cells in rows:
        prompt_id = cells["prompt_id"]
        try:
            if not prompt_id:
                raise ValueError("prompt_id must not be empty")
            if prompt_id in found:
                raise ValueError(f"the prompt {prompt_id!r} is already in row {found[prompt_id].row}")
            found[prompt_id] = _prompt(data, row, cells)
        except UserError as fault:
            table.faults.append(f"row {row}: {fault.message}")
        except ValueError as fault:
            table.faults.append(f"row {row}: {fault}")
    with ThreadPoolExecutor() as pool:  # decoding and hashing leave the interpreter free
        table.faults.extend(filter(None, pool.map(_altered, found.values())))
    table.raise_faults(f"Make the data set again where it was altered. {_MAKE}")
    return found


def _cut_short(data: Path, rows: int) -> str:
    """Says if there are fewer rows than the data set was made with; it may be known to no file."""
    try:
        made = json.loads((data / MADE).read_text(encoding="utf-8"))["prompts"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    if made == rows:
        return ""
    return f"there are {rows} rows, but {MADE} says that the data set was made with {made} prompts"


def _altered(one: _Prompt) -> str:
    """Says if the mix is not the clip whose truth is known; empty if it is."""
    try:
        clip = audio.read(one.audio)
    except UnusableAudio as fault:
        return f"row {one.row}: {one.audio}: {fault.detail}"
    if (clip.samples.shape[1], clip.rate_hz) != (one.samples, one.rate_hz):
        return f"row {one.row}: {one.audio} is not as long as its scene, or of another rate"
    if clip.pcm_hash != one.pcm_hash:
        return f"row {one.row}: {one.audio} is not the sound that was made (pcm_hash {clip.pcm_hash[:12]}...)"
    return ""


def _prompt(data: Path, row: int, cells: Mapping[str, str]) -> _Prompt:
    mix = data.absolute() / cells["file_name"]
    if not os.path.isfile(mix):
        raise ValueError(f"no such file: {mix}")
    file = data / SCENES / f"{cells['prompt_id']}.json"
    one = scene.read(file)
    expected = _expected(cells["expected"])
    if expected.relation != cells["relation"]:
        raise ValueError(
            f"relation is {cells['relation']!r}, but {expected.relation!r} in the column expected"
        )
    if (one.prompt, one.expected) != (cells["prompt"], expected):
        raise ValueError(f"{file} is the scene of another prompt: {one.prompt!r}")
    text = wanted_text(expected, one.duration_s)
    wanted(text)
    return _Prompt(
        prompt_id=cells["prompt_id"],
        caption=cells["prompt"],
        audio=mix,
        relation=expected.relation,
        expected=text,
        truth=truth_text(one),
        pcm_hash=cells["pcm_hash"],
        samples=one.samples,
        rate_hz=one.rate_hz,
        row=row,
    )


def _expected(cell: str) -> Expected:
    try:
        data = json.loads(cell)
    except RecursionError:
        data = None
    if not isinstance(data, dict):
        raise ValueError(f"expected is not what a prompt asks for: {cell[:60]!r}")
    return from_json(data)


def _same_prompts(data: Path, items: Iterable[Item], prompts: Mapping[str, _Prompt]) -> None:
    faults = []
    for item in items:
        if item.sample_id not in prompts:
            faults.append(f"row {item.row}: the prompt {item.sample_id!r} is not in {METADATA}")
        elif item.caption != prompts[item.sample_id].caption:
            faults.append(f"row {item.row}: {item.sample_id!r} has another prompt in {METADATA}")
    if faults:
        raise InputFaults(str(data / PROMPTS), list(dict.fromkeys(faults)), f"Take {PROMPTS} as it was made.")


def shuffled(rows: Iterable[tuple[str, str, str, str]], seed: int) -> dict[str, str | None]:
    """Whose clip stands in for a prompt's own: that of another prompt of its relation.

    It is drawn by seed among the relation's earlier prompts that have neither the same words nor ask for the
    same, so that prompts added at the end change nothing; for the first ones it is the next such prompt.

    Args:
        rows: prompt_id, prompt, relation and what is asked for, one a prompt.

    Returns:
        prompt_id -> another; None where all prompts of the relation are alike.
    """
    of_relation: dict[str, list[tuple[str, str, str]]] = {}
    for prompt_id, prompt, relation, expected in rows:
        of_relation.setdefault(relation, []).append((prompt_id, prompt, expected))
    found: dict[str, str | None] = {}
    for prompts in of_relation.values():
        for at, (prompt_id, prompt, expected) in enumerate(prompts):
            draw = hashlib.sha256(f"{seed} {SHUFFLED} {prompt_id}".encode()).digest()
            start = int.from_bytes(draw[:8]) % max(at, 1)
            turned = chain(prompts[start:at], prompts[:start], prompts[at + 1 :])
            found[prompt_id] = next(
                (other for other, text, asks in turned if text != prompt and asks != expected), None
            )
    return found
