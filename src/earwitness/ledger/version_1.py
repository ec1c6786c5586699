"""Ledgers of version 1 brought up to version 2, so that their runs can be read and extended.

Version 1 had one file an item and a caption in place of texts by name. It fingerprinted a detector's
question by its reply schema too, though a detector is asked nothing in words; such hearings stand and get
the keys under which they are looked for today. A judge's do not: its questions have been reworded.
"""

import json
import sqlite3
from typing import Any

from earwitness.ledger import schema
from earwitness.ledger.keys import content_key
from earwitness.questions import QUESTIONS

_TABLES = f"""
ALTER TABLE items RENAME TO items_1;
ALTER TABLE hearings RENAME TO hearings_1;
{schema.ITEMS} {schema.FILES} {schema.HEARINGS}
INSERT INTO items SELECT item_id, system, sample_id, row FROM items_1;
INSERT INTO files SELECT item_id, 'audio', file_size, file_mtime_ns, file_hash, pcm_hash, facts
    FROM items_1 WHERE facts IS NOT NULL;
"""
_OLD_TABLES = "DROP TABLE items_1; DROP TABLE hearings_1;"


def upgrade(db: sqlite3.Connection) -> None:
    """Bring a database of version 1 up to version 2, all or nothing."""
    with db:  # commits, or takes everything back
        db.executescript(f"BEGIN IMMEDIATE; {_TABLES}")
        settings = dict(db.execute("SELECT name, value FROM meta").fetchall())
        if "questions" in settings:  # else the run was stopped before it began
            asked = json.loads(settings["questions"])
            asked |= {name: QUESTIONS[name].fingerprint for name in asked if _wordless(name)}
            db.execute("UPDATE meta SET value = ? WHERE name = 'questions'", (json.dumps(asked),))
            db.execute("INSERT INTO meta VALUES ('ask', '\"seed\"')")
        keys = _keys_of_detectors(db, json.loads(settings["listener"])) if "listener" in settings else {}
        for key, question, caption, *rest in db.execute("SELECT * FROM hearings_1").fetchall():
            texts = json.dumps({"caption": caption} if caption else {}, ensure_ascii=False)
            row = (keys.get(key, key), question, texts, *rest, "")
            db.execute("INSERT INTO hearings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        changed = [(new, old) for old, new in keys.items()]
        db.executemany("UPDATE item_hearings SET key = ? WHERE key = ?", changed)
        for statement in (*_OLD_TABLES.split(";"), "PRAGMA user_version = 2"):
            db.execute(statement)


def _wordless(question: str) -> bool:
    return question in QUESTIONS and not QUESTIONS[question].prompt


def _keys_of_detectors(db: sqlite3.Connection, listener: dict[str, Any]) -> dict[str, str]:
    """Today's key for every key of a hearing that no words were needed for."""
    rows = db.execute(
        "SELECT h.key, h.question, h.repeat, f.pcm_hash FROM hearings_1 h"
        " JOIN item_hearings i ON i.key = h.key JOIN files f ON f.item_id = i.item_id"
    )
    name, version, settings = listener["name"], listener["version"], listener["settings"]
    return {
        key: content_key([pcm_hash], QUESTIONS[question].fingerprint, {}, name, version, settings, repeat)
        for key, question, repeat, pcm_hash in rows
        if _wordless(question)
    }
