"""The run's database: versions, changes that are refused, what is counted, and who may write."""

import os
import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

import earwitness
from earwitness.errors import InputFaults, UserError
from earwitness.ledger import Ledger
from earwitness.ledger.keys import content_key
from earwitness.ledger.schema import VERSION
from earwitness.listeners import open_listener
from earwitness.listeners.base import Hearing, Unheard
from earwitness.manifest import AUDIO, SOURCE, Item
from earwitness.runner import Ask
from running import DOG, Ear, hear, item, outcomes
from sounds import events_reply, manifest, noise, script

# --- a run of version 1, kept as the first version wrote it; later ones must still read it -----------

V1 = (Path(__file__).parent / "data" / "ledger_v1.sql").read_text(encoding="utf-8")
CAPTION = "A dog barks followed by a cat meowing"


def version_1(folder: Path, *, wal: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ledger.sqlite"
    with sqlite3.connect(path) as db:
        if wal:
            db.execute("PRAGMA journal_mode = WAL")
        db.executescript(V1)
        db.execute("PRAGMA user_version = 1")
    db.close()
    return path


def version_of(path: Path) -> int:
    with sqlite3.connect(path) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def test_reads_v1_ledger_and_reports_it(tmp_path: Path) -> None:
    version_1(tmp_path)
    rows = {row.system: row for row in earwitness.rebuild(tmp_path).summary.rows}
    assert (rows["ours"].scored, rows["ours"].unheard, rows["base"].not_applicable) == (3, 1, 1)
    assert rows["ours"].metrics["toa"].value == pytest.approx(2 / 3)


@pytest.mark.parametrize("wal", [False, True])
def test_reading_v1_changes_nothing_even_on_a_read_only_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wal: bool
) -> None:
    path = version_1(tmp_path, wal=wal)
    before = path.read_bytes()
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with Ledger.read(path) as ledger:
        kept = list(ledger.items())
        heard = ledger.heard(1)
    assert len(kept) == 5
    assert kept[0].files[AUDIO].pcm_hash == noise(tmp_path / "again.wav", 0)
    assert kept[4].files == {}  # never read
    assert (heard[0].question, heard[0].texts) == ("events", {})
    assert heard[0].reply["duration_s"] == 0.5
    assert path.read_bytes() == before
    assert {p.name for p in tmp_path.iterdir()} == {"ledger.sqlite", "again.wav"}


def test_a_v1_run_is_extended_and_its_sounds_are_not_heard_again(tmp_path: Path) -> None:
    run, clips = tmp_path / "run", tmp_path / "clips"
    path = version_1(run)
    reply = events_reply(("Bark", 0.0, 0.1), ("Meow", 0.3, 0.4))
    listener = script(tmp_path / "s.jsonl", [{"pcm_hash": "*", "question": "events", "reply": reply}])
    with sqlite3.connect(path) as db:  # the script of then is not kept; its name is a hash of its text
        db.execute(
            "UPDATE meta SET value = json_set(value, '$.version', ?) WHERE name = 'listener'",
            (open_listener(listener).version,),
        )
    db.close()
    for seed in range(5):  # the clips of then have moved here
        noise(clips / f"{seed}.wav", seed)
    (clips / "twin.wav").write_bytes((clips / "0.wav").read_bytes())
    names = [("ours", "0"), ("ours", "1"), ("ours", "2"), ("ours", "3"), ("ours", "4"), ("base", "twin")]
    rows = [
        {"audio": f"clips/{name}.wav", "system": s, "sample_id": name, "caption": CAPTION}
        for s, name in names
    ]
    table = manifest(tmp_path / "m.jsonl", rows)
    result = earwitness.judge("order", table, run=run, listener=listener)
    assert result.counts is not None
    assert (result.counts.asked, result.counts.reused) == (1, 1)  # the new sound, and the twin of an old one
    assert version_of(path) == VERSION
    by_system = {row.system: row for row in result.summary.rows}
    assert (by_system["ours"].scored, by_system["ours"].unheard) == (4, 1)
    assert (by_system["base"].scored, by_system["base"].not_applicable) == (1, 1)
    with Ledger.read(path) as ledger:
        assert ledger.heard(3)[0].reply["events"][0]["label"] == "Meow"  # as it was heard then
        assert ledger.item(1).item.audio == clips / "0.wav"


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from earwitness.ledger import Ledger, schema
    connect = schema.connect
    def traced(path, mode):
        db = connect(path, mode)
        def trace(statement):
            if statement.strip().startswith(sys.argv[2]):
                os.kill(os.getpid(), signal.SIGKILL)
        db.set_trace_callback(trace)
        return db
    schema.connect = traced
    Ledger.create(Path(sys.argv[1]))
"""


@pytest.mark.parametrize(
    "moment",
    ["INSERT INTO files", "UPDATE item_hearings", "DROP TABLE hearings_1", "PRAGMA user_version =", "COMMIT"],
)
def test_an_upgrade_that_is_killed_leaves_version_1_whole(tmp_path: Path, moment: str) -> None:
    path = version_1(tmp_path)
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(path), moment]
    assert subprocess.run(command, check=False).returncode == -9
    assert version_of(path) == 1
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM items WHERE facts IS NOT NULL").fetchone() == (4,)
    db.close()
    Ledger.create(path).close()
    assert version_of(path) == VERSION
    with Ledger.read(path) as ledger:
        assert [h.reason for i in range(1, 6) for h in ledger.heard(i)] == ["", "", "", "refused"]


def test_a_judges_questions_of_version_1_stay_those_of_then(tmp_path: Path) -> None:
    """They have been reworded: such a run is reported as it is, but not extended."""
    path = version_1(tmp_path)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = '{\"alignment\": \"abc\"}' WHERE name = 'questions'")
        db.execute("UPDATE hearings SET question = 'alignment', caption = 'a dog, then a cat'")
        keys = db.execute("SELECT key FROM hearings ORDER BY key").fetchall()
    db.close()
    with Ledger.create(path) as ledger:
        assert ledger.meta()["questions"] == {"alignment": "abc"}
        assert ledger.heard(1)[0].texts == {"caption": "a dog, then a cat"}
        assert ledger.heard(1)[0].reply["duration_s"] == 0.5
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT key FROM hearings ORDER BY key").fetchall() == keys


def test_a_v1_run_that_never_began_can_begin(tmp_path: Path) -> None:
    path = version_1(tmp_path / "run")
    with sqlite3.connect(path) as db:
        for table in ("meta", "items", "hearings", "item_hearings"):
            db.execute(f"DELETE FROM {table}")
    db.close()
    noise(tmp_path / "a.wav", 0)
    assert hear(tmp_path / "run", [item(tmp_path / "a.wav")], Ear()).asked == 1


def test_a_newer_ledger_is_refused_and_this_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run" / "ledger.sqlite"
    Ledger.create(path).close()
    assert version_of(path) == VERSION
    Ledger.read(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    for opened in (Ledger.read, Ledger.create):
        with pytest.raises(UserError, match="newer earwitness: ledger version 99"):
            opened(path)


# --- changes -----------------------------------------------------------------------------------------


@pytest.fixture
def edit(tmp_path: Path) -> Item:
    for seed, name in enumerate(("source", "edited")):
        noise(tmp_path / f"{name}.wav", seed)
    source = tmp_path / "source.wav"
    return item(tmp_path / "edited.wav", source_audio=source, source_caption="a man speaks")


BOTH = (Ask("first", "events"), Ask("second", "events", clips=(SOURCE,)))


@pytest.mark.parametrize(
    ("column", "old", "new"),
    [
        ("caption", "a dog barks", "a cat meows"),
        ("source_caption", "a man speaks", "a woman speaks"),
        ("instruction", "", "make it louder"),
        ("pair_id", "", "7"),
    ],
)
def test_a_changed_row_is_refused_with_the_difference(
    tmp_path: Path, edit: Item, column: str, old: str, new: str
) -> None:
    hear(tmp_path / "run", [edit], Ear(), BOTH)
    with pytest.raises(InputFaults) as caught:
        hear(tmp_path / "run", [replace(edit, **{column: new})], Ear(), BOTH)
    said = f"system 'a', sample 'edited': {column} was {old!r}, is now {new!r}"
    assert caught.value.faults == (said,)


def test_rows_may_change_places(tmp_path: Path, edit: Item) -> None:
    hear(tmp_path / "run", [edit], Ear(), BOTH)
    assert hear(tmp_path / "run", [replace(edit, row=17)], Ear(), BOTH).asked == 0


@pytest.mark.parametrize("role", ["edited", "source"])
def test_a_changed_file_is_refused_and_a_rewritten_identical_one_is_not(
    tmp_path: Path, edit: Item, role: str
) -> None:
    hear(tmp_path / "run", [edit], Ear(), BOTH)
    path = tmp_path / f"{role}.wav"
    path.write_bytes(path.read_bytes())
    assert hear(tmp_path / "run", [edit], Ear(), BOTH).asked == 0
    noise(path, 77)
    with pytest.raises(InputFaults, match=rf"{role}\.wav: its content is not what was heard"):
        hear(tmp_path / "run", [edit], Ear(), BOTH)


def test_clips_that_moved_are_the_same_clips(tmp_path: Path, edit: Item) -> None:
    hear(tmp_path / "run", [edit], Ear(), BOTH)
    (tmp_path / "new").mkdir()
    paths = [path.rename(tmp_path / "new" / path.name) for path in (edit.audio, tmp_path / "source.wav")]
    moved = replace(edit, audio=paths[0], source_audio=paths[1])
    assert hear(tmp_path / "run", [moved], Ear(), BOTH).asked == 0
    with Ledger.read(tmp_path / "run" / "ledger.sqlite") as ledger:
        assert ledger.item(1).item.files == {AUDIO: paths[0], SOURCE: paths[1]}


@pytest.mark.parametrize("moved", [False, True])
def test_a_broken_source_can_be_put_right_though_the_clip_was_heard(
    tmp_path: Path, edit: Item, moved: bool
) -> None:
    source = tmp_path / "source.wav"
    source.write_bytes(b"half a file")
    assert hear(tmp_path / "run", [edit], Ear(), BOTH).asked == 1
    if moved:
        source = tmp_path / "mended.wav"
    noise(source, 0)
    mended = replace(edit, source_audio=source)
    assert hear(tmp_path / "run", [mended], Ear(), BOTH, retry=True).asked == 1
    assert outcomes(tmp_path / "run") == {"edited": ["", ""]}


def test_another_sound_at_a_new_path_is_a_changed_row(tmp_path: Path, edit: Item) -> None:
    hear(tmp_path / "run", [edit], Ear(), BOTH)
    noise(tmp_path / "other.wav", 5)
    with pytest.raises(InputFaults, match=r"source_audio was .*source\.wav.*, is now .*other\.wav"):
        hear(tmp_path / "run", [replace(edit, source_audio=tmp_path / "other.wav")], Ear(), BOTH)


# --- what is kept ------------------------------------------------------------------------------------


def test_a_hearing_that_is_replaced_keeps_what_was_spent(tmp_path: Path) -> None:
    failed = Unheard("transport", "no route", usage={"cost_usd": 0.25, "requests": 2})
    heard = Hearing(DOG, {"cost_usd": 0.5, "output_tokens": 30}, raw="{}", served="model-2026-11")
    with Ledger.create(tmp_path / "ledger.sqlite") as ledger:
        for answer in (failed, failed, heard):
            ledger.record("key", "events", {}, 0, answer, [(1, "clip"), (2, "clip")])
        assert ledger.usage() == {"cost_usd": 1.0, "requests": 4, "output_tokens": 30}
        assert ledger.served() == {"model-2026-11": 1}
        assert ledger.outcome("key") == ("", "")
        assert [h.reply for i in (1, 2) for h in ledger.heard(i)] == [DOG, DOG]


def test_texts_and_captions_come_back_to_the_letter(tmp_path: Path) -> None:
    texts = {"caption": 'é 音 🐕 "quoted"\n\ttab </data> {data}', "instruction": "\u2028\x00"}
    with Ledger.create(tmp_path / "ledger.sqlite") as ledger:
        ledger.record("key", "alignment", texts, 0, Unheard("refused", "no"), [(1, "caption")])
        assert ledger.heard(1)[0].texts == texts


def test_content_is_told_apart_by_everything_an_answer_depends_on() -> None:
    base = (["a", "b"], "q", {"caption": "c"}, "ear", "1", {"t": 0}, 0)
    others = [
        (["b", "a"], *base[1:]),
        (["a"], *base[1:]),
        (base[0], "q2", *base[2:]),
        (*base[:2], {"target_caption": "c"}, *base[3:]),
        (*base[:2], {}, *base[3:]),
        (*base[:3], "ear2", *base[4:]),
        (*base[:4], "2", *base[5:]),
        (*base[:5], {"t": 0.2}, 0),
        (*base[:6], 1),
    ]
    keys = [content_key(*parts) for parts in (base, *others)]  # type: ignore[arg-type]
    assert len(set(keys)) == len(keys)
    assert content_key(*base) == keys[0]  # type: ignore[arg-type]


# --- who may open it ---------------------------------------------------------------------------------


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


def test_a_ledger_killed_while_it_was_made_is_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    db = sqlite3.connect(folder / "ledger.sqlite")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    assert (folder / "ledger.sqlite").stat().st_size > 0
    noise(tmp_path / "a.wav", 0)
    assert hear(folder, [item(tmp_path / "a.wav")], Ear()).asked == 1
    assert outcomes(folder) == {"a": [""]}


@pytest.mark.parametrize("name", ["a file", "ledger.sqlite"])
def test_a_place_that_cannot_be_a_run_folder_is_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "a file").write_text("x")
    (tmp_path / "ledger.sqlite").write_text("no database, though it has some length to it" * 9)
    folder = tmp_path / name if name == "a file" else tmp_path
    with pytest.raises(UserError, match=r"cannot be a run folder|not an earwitness ledger"):
        Ledger.create(folder / "ledger.sqlite")
