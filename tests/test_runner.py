"""The runner and the ledger together, on real files, with a listener that answers from a script."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import earwitness
from earwitness.errors import InputFaults, UserError
from earwitness.ledger import SCHEMA_VERSION, Ledger
from earwitness.listeners import open_listener
from earwitness.listeners.base import Call, Hearing, Unheard
from earwitness.listeners.scripted import Scripted
from earwitness.manifest import Item
from earwitness.runner import Ask, Counts, run
from sounds import events_reply, noise, script

ONCE = [Ask("clip", "events", "", 0)]
DOG = events_reply(("Dog", 0.0, 0.4))


def item(path: Path, sample_id: str = "", system: str = "a") -> Item:
    return Item(system=system, sample_id=sample_id or path.stem, audio=path, caption="a dog barks")


def hear(folder: Path, items: list[Item], listener: Any, asks: list[Ask] = ONCE, **options: Any) -> Counts:
    with Ledger.create(folder / "ledger.sqlite") as ledger:
        faults = ledger.changed_rows(items) + ledger.changed_files()
        if faults:
            raise InputFaults("changed", faults)
        ledger.begin({}, items)
        return run(ledger, listener, lambda stored: asks, seed=0, **options)


def outcomes(folder: Path) -> dict[str, list[str]]:
    with Ledger.read(folder / "ledger.sqlite") as ledger:
        return {s.item.sample_id: [h.reason for h in ledger.heard(s.item_id)] for s in ledger.items()}


@pytest.fixture
def clips(tmp_path: Path) -> list[Item]:
    paths = [tmp_path / f"clip{index}.wav" for index in range(4)]
    for seed, path in enumerate(paths):
        noise(path, seed)
    return [item(path) for path in paths]


@pytest.fixture
def dog_hearer(tmp_path: Path) -> Scripted:
    name = script(tmp_path / "s.jsonl", [{"pcm_hash": "*", "question": "events", "reply": DOG}])
    listener = open_listener(name)
    assert isinstance(listener, Scripted)
    return listener


def test_every_item_is_heard_and_nothing_twice(
    tmp_path: Path, clips: list[Item], dog_hearer: Scripted
) -> None:
    assert hear(tmp_path / "run", clips, dog_hearer) == Counts(asked=4, reused=0, unheard=0)
    assert hear(tmp_path / "run", clips, dog_hearer) == Counts(asked=0, reused=0, unheard=0)
    assert outcomes(tmp_path / "run") == {f"clip{i}": [""] for i in range(4)}


def test_identical_sound_is_heard_once_and_counted_for_each_item(
    tmp_path: Path, clips: list[Item], dog_hearer: Scripted
) -> None:
    twin = tmp_path / "twin.wav"
    twin.write_bytes(clips[0].audio.read_bytes())
    counts = hear(tmp_path / "run", [clips[0], item(twin, system="b")], dog_hearer)
    assert counts == Counts(asked=1, reused=1, unheard=0)
    assert outcomes(tmp_path / "run") == {"clip0": [""], "twin": [""]}


def test_a_new_system_costs_only_its_own_clips(
    tmp_path: Path, clips: list[Item], dog_hearer: Scripted
) -> None:
    hear(tmp_path / "run", clips[:3], dog_hearer)
    assert hear(tmp_path / "run", clips, dog_hearer).asked == 1


def test_unusable_files_are_recorded_with_their_reason_and_the_run_goes_on(
    tmp_path: Path, clips: list[Item], dog_hearer: Scripted
) -> None:
    broken, empty, short = tmp_path / "broken.wav", tmp_path / "empty.wav", tmp_path / "short.wav"
    broken.write_bytes(b"this is no sound at all" * 9)
    empty.write_bytes(b"")
    noise(short, 9, seconds=0.010)
    hear(tmp_path / "run", [item(broken), item(empty), item(short), *clips], dog_hearer)
    found = outcomes(tmp_path / "run")
    assert (found["broken"], found["empty"], found["short"]) == (["unreadable"], ["empty"], ["too_short"])
    assert [found[f"clip{i}"] for i in range(4)] == [[""]] * 4


class Breaks:
    """Raises on one clip, as a listener with a fault in it would; answers the others."""

    name, version, settings, known_labels, measured = "breaks", "1", {}, frozenset(), ""

    def __init__(self, base: Scripted, bad: str) -> None:
        self.needs, self._base, self._bad = base.needs, base, bad

    def hear(self, calls: Iterable[Call]) -> Iterator[tuple[str, Hearing | Unheard]]:
        window: list[Call] = []
        for call in calls:
            window.append(call)
            if len(window) == 2:
                yield self._one(window.pop(0))
        yield from map(self._one, window)

    def _one(self, call: Call) -> tuple[str, Hearing | Unheard]:
        if call.clips[0].pcm_hash == self._bad:
            raise RuntimeError("planted")
        return next(self._base.hear([call]))


def test_a_listener_that_breaks_on_one_clip_loses_only_that_clip(
    tmp_path: Path, clips: list[Item], dog_hearer: Scripted
) -> None:
    bad = noise(tmp_path / "clip2.wav", 2)
    counts = hear(tmp_path / "run", clips, Breaks(dog_hearer, bad))
    assert counts.unheard == 1
    assert outcomes(tmp_path / "run") == {
        "clip0": [""], "clip1": [""], "clip2": ["transport"], "clip3": [""],
    }  # fmt: skip
    # What failed in transport is asked again by the next run, and only that.
    assert hear(tmp_path / "run", clips, Breaks(dog_hearer, "")) == Counts(asked=1, reused=0, unheard=0)


def test_a_reply_that_breaks_the_questions_rules_is_invalid_not_a_number(
    tmp_path: Path, clips: list[Item]
) -> None:
    backwards = events_reply(("Dog", 0.4, 0.1))
    name = script(tmp_path / "s.jsonl", [{"pcm_hash": "*", "question": "events", "reply": backwards}])
    hear(tmp_path / "run", clips[:1], open_listener(name))
    assert outcomes(tmp_path / "run") == {"clip0": ["invalid"]}


def test_only_retry_asks_again_what_was_refused(tmp_path: Path, clips: list[Item]) -> None:
    line = {"pcm_hash": "*", "question": "events", "reason": "refused", "detail": "no"}
    listener = open_listener(script(tmp_path / "s.jsonl", [line]))
    assert hear(tmp_path / "run", clips, listener).asked == 4
    assert hear(tmp_path / "run", clips, listener).asked == 0
    assert hear(tmp_path / "run", clips, listener, retry=True).asked == 4


def test_repeats_are_separate_hearings(tmp_path: Path, clips: list[Item], dog_hearer: Scripted) -> None:
    asks = [Ask("clip", "events", "", repeat) for repeat in range(3)]
    assert hear(tmp_path / "run", clips[:1], dog_hearer, asks).asked == 3


def test_a_changed_row_is_refused_with_the_difference(
    tmp_path: Path, clips: list[Item], dog_hearer: Scripted
) -> None:
    hear(tmp_path / "run", clips[:1], dog_hearer)
    changed = Item(system="a", sample_id="clip0", audio=clips[0].audio, caption="a cat meows")
    with pytest.raises(InputFaults, match="caption was 'a dog barks', is now 'a cat meows'"):
        hear(tmp_path / "run", [changed], dog_hearer)


def test_a_changed_file_is_refused_and_a_rewritten_identical_one_is_not(
    tmp_path: Path, clips: list[Item], dog_hearer: Scripted
) -> None:
    hear(tmp_path / "run", clips, dog_hearer)
    clips[1].audio.write_bytes(clips[1].audio.read_bytes())
    assert hear(tmp_path / "run", clips, dog_hearer).asked == 0
    noise(clips[1].audio, 77)
    with pytest.raises(InputFaults, match=r"clip1\.wav: its content is not what was heard"):
        hear(tmp_path / "run", clips, dog_hearer)


def test_two_processes_may_not_write_one_run(tmp_path: Path) -> None:
    with (
        Ledger.create(tmp_path / "run" / "ledger.sqlite"),
        pytest.raises(UserError, match="in use by another"),
    ):
        Ledger.create(tmp_path / "run" / "ledger.sqlite")


def test_what_is_no_ledger_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("not a database, but long enough to look like a file")
    with pytest.raises(UserError, match="not an earwitness ledger"):
        Ledger.read(tmp_path / "ledger.sqlite")
    with pytest.raises(UserError, match="holds no run"):
        Ledger.read(tmp_path / "nowhere" / "ledger.sqlite")


def test_a_newer_ledger_is_refused_and_this_version_is_read(
    tmp_path: Path, clips: list[Item], dog_hearer: Scripted
) -> None:
    hear(tmp_path / "run", clips, dog_hearer)
    path = tmp_path / "run" / "ledger.sqlite"
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(UserError, match="newer earwitness"):
        Ledger.read(path)


def test_what_a_file_showed_is_kept(tmp_path: Path, clips: list[Item], dog_hearer: Scripted) -> None:
    hear(tmp_path / "run", clips[:1], dog_hearer)
    with Ledger.read(tmp_path / "run" / "ledger.sqlite") as ledger:
        stored = ledger.item(1)
    assert stored.pcm_hash == noise(tmp_path / "again.wav", 0)
    assert stored.facts["duration_s"] == 0.5
    assert json.dumps(stored.facts["warnings"]) == "[]"


def test_a_broken_clip_can_be_put_right_and_is_then_heard_on_retry(
    tmp_path: Path, dog_hearer: Scripted
) -> None:
    path = tmp_path / "late.wav"
    path.write_bytes(b"half a file")
    hear(tmp_path / "run", [item(path)], dog_hearer)
    noise(path, 5)
    assert hear(tmp_path / "run", [item(path)], dog_hearer).asked == 0
    assert hear(tmp_path / "run", [item(path)], dog_hearer, retry=True).asked == 1
    assert outcomes(tmp_path / "run") == {"late": [""]}


def test_a_clip_that_moved_is_the_same_clip(tmp_path: Path, clips: list[Item], dog_hearer: Scripted) -> None:
    hear(tmp_path / "run", clips[:1], dog_hearer)
    moved = clips[0].audio.rename(tmp_path / "elsewhere.wav")
    assert hear(tmp_path / "run", [item(moved, "clip0")], dog_hearer).asked == 0
    with Ledger.read(tmp_path / "run" / "ledger.sqlite") as ledger:
        assert ledger.item(1).item.audio == moved


def test_a_listener_that_never_answers_leaves_the_reason(
    tmp_path: Path, clips: list[Item], dog_hearer: Scripted
) -> None:
    class Silent(Breaks):
        def hear(self, calls: Iterable[Call]) -> Iterator[tuple[str, Hearing | Unheard]]:
            for _ in calls:
                yield from ()

    hear(tmp_path / "run", clips[:2], Silent(dog_hearer, ""))
    assert outcomes(tmp_path / "run") == {"clip0": ["transport"], "clip1": ["transport"]}


def test_a_ledger_killed_while_it_was_made_is_made_again(
    tmp_path: Path, clips: list[Item], dog_hearer: Scripted
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    db = sqlite3.connect(folder / "ledger.sqlite")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    assert (folder / "ledger.sqlite").stat().st_size > 0
    assert hear(folder, clips, dog_hearer).asked == 4


@pytest.mark.parametrize("name", ["a file", "ledger.sqlite"])
def test_a_place_that_cannot_be_a_run_folder_is_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "a file").write_text("x")
    (tmp_path / "ledger.sqlite").write_text("no database, though it has some length to it" * 9)
    folder = tmp_path / name if name == "a file" else tmp_path
    with pytest.raises(UserError, match=r"cannot be a run folder|not an earwitness ledger"):
        Ledger.create(folder / "ledger.sqlite")


def test_a_ledger_of_version_1_is_read_and_reported(tmp_path: Path) -> None:
    """Kept as it was written by the first version; later ones must still read it."""
    dump = (Path(__file__).parent / "data" / "ledger_v1.sql").read_text(encoding="utf-8")
    db = sqlite3.connect(tmp_path / "ledger.sqlite")
    db.executescript(dump)
    db.execute("PRAGMA user_version = 1")
    db.close()
    rows = {row.system: row for row in earwitness.rebuild(tmp_path).summary.rows}
    assert (rows["ours"].scored, rows["ours"].unheard, rows["base"].not_applicable) == (3, 1, 1)
    assert rows["ours"].metrics["toa"].value == pytest.approx(2 / 3)
