"""One SQLite file a run: items and hearings, keyed by content.

Every answer is committed as it arrives, so a kill loses at most the calls in flight. Identical
content (same sound, question, listener, repeat) is heard once and linked to every item that has
it. Captions and paths are kept, so every output can be rebuilt from the file; secrets never enter.
"""

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from earwitness.errors import UserError
from earwitness.ledger import schema, version_1
from earwitness.ledger.keys import file_hash
from earwitness.listeners.base import Hearing, Unheard
from earwitness.manifest import AUDIO, SOURCE, Item

PATH_COLUMNS = {AUDIO: "audio", SOURCE: "source_audio"}
"""The manifest's column for every role of a file."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """What reading a file showed.

    ``facts`` holds duration_s, rate_hz, channels and warnings, or reason and detail if unusable.
    """

    size: int | None
    mtime_ns: int | None
    file_hash: str | None
    pcm_hash: str | None
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item as the ledger holds it, with those of its files that were read, by role."""

    item_id: int
    item: Item
    files: Mapping[str, StoredFile]

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts of the clip itself; empty until it was read."""
        return self.files[AUDIO].facts if AUDIO in self.files else {}


@dataclass(frozen=True, slots=True)
class Heard:
    """One hearing of one item: ``reason`` is empty when it was heard and ``reply`` then holds the answer."""

    side: str
    repeat: int
    reason: str
    detail: str
    question: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    reply: Mapping[str, Any] = field(default_factory=dict)


class Ledger:
    """The run's database. Open with :meth:`create` (reads and writes) or :meth:`read`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: IO[str] | None) -> None:
        self.path = path
        self._db = connection
        self._lock = lock

    @classmethod
    def create(cls, path: Path) -> "Ledger":
        """Open for writing, made anew if absent; one process at a time.

        Raises:
            UserError: If another process writes to it, or it is not a ledger of this version.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            files = sorted(p.name for p in path.parent.iterdir() if p.is_file())
            if not path.exists() and set(files) - {"ledger.lock"}:
                raise UserError(
                    f"{path.parent} holds files but no run: {', '.join(files[:3])}.",
                    "Choose a new or empty run folder with -o.",
                )
            lock = (path.parent / "ledger.lock").open("w")
        except OSError as fault:
            raise UserError(
                f"{path.parent} cannot be a run folder: {fault.strerror}.", "Choose another with -o."
            ) from fault
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise UserError(
                f"{path.parent} is in use by another earwitness process.",
                "Wait for it to end, or choose another run folder with -o.",
            ) from None
        db = schema.connect(path, "rwc")
        try:
            db.execute(f"PRAGMA journal_mode = {'DELETE' if schema.on_network(path) else 'WAL'}")
            db.execute("PRAGMA synchronous = NORMAL")
            if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                schema.make(db)
        except sqlite3.DatabaseError as fault:
            raise schema.no_ledger(path, fault) from fault
        if schema.check_version(path, db) == 1:
            version_1.upgrade(db)
        return cls(path, db, lock)

    @classmethod
    def read(cls, path: Path) -> "Ledger":
        """Open an existing ledger for reading.

        Raises:
            UserError: If there is none, or it is not a ledger of a known version.
        """
        if not path.exists():
            raise UserError(
                f"{path.parent} holds no run: {path.name} is missing.", "Name a folder made with -o."
            )
        writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        waiting = path.with_name(path.name + "-wal").exists()
        # Reading a WAL file needs its index beside it; on a read-only disk a closed one is read as it is.
        db = schema.connect(path, "rw" if writable else "ro" if waiting else "ro&immutable=1")
        if schema.check_version(path, db) == 1:  # brought up to date in memory: the file may be read-only
            copy = sqlite3.connect(":memory:", check_same_thread=False)
            db.backup(copy)
            db.close()
            db = copy
            version_1.upgrade(db)
        return cls(path, db, None)

    def close(self) -> None:
        self._db.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- what the run is -------------------------------------------------------------------------

    def meta(self) -> dict[str, Any]:
        """The run's settings, by name."""
        rows = self._db.execute("SELECT name, value FROM meta ORDER BY name")
        return {name: json.loads(value) for name, value in rows}

    def forget_if_unheard(self) -> None:
        """Drop settings and items of a run in which nothing was settled yet, so that it may begin anew."""
        if self._db.execute("SELECT 1 FROM item_hearings LIMIT 1").fetchone() is None:
            with self._db:
                for table in ("meta", "items", "files", "hearings"):
                    self._db.execute(f"DELETE FROM {table}")

    def begin(self, meta: Mapping[str, Any], items: Iterable[Item]) -> None:
        """Keep the run's settings and its items, new ones and known ones alike, all or nothing.

        What may not change is checked before: see :meth:`changed_rows` and :meth:`changed_files`.
        """
        settings = [
            (name, json.dumps(value, sort_keys=True, allow_nan=False)) for name, value in meta.items()
        ]
        rows = ((i.system, i.sample_id, json.dumps(_row(i), ensure_ascii=False)) for i in items)
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", settings)
            self._db.executemany(
                "INSERT INTO items (system, sample_id, row) VALUES (?, ?, ?)"
                " ON CONFLICT (system, sample_id) DO UPDATE SET row = excluded.row",
                rows,
            )

    def changed_rows(self, items: Iterable[Item]) -> list[str]:
        """Every difference between rows given and rows kept, in words.

        A clip may have moved: another path with the content that was heard is no change.
        """
        changes = []
        for item in items:
            kept = self._db.execute(
                "SELECT item_id, row FROM items WHERE system = ? AND sample_id = ?",
                (item.system, item.sample_id),
            ).fetchone()
            if kept:
                changes += _changes(self._stored(kept), item)
        return changes

    def changed_files(self) -> list[str]:
        """Every file whose content is not what was heard, in words."""
        heard = "SELECT 1 FROM item_hearings h WHERE h.item_id = items.item_id AND h.reason = ''"
        rows = self._db.execute(f"SELECT item_id, row FROM items WHERE EXISTS ({heard})").fetchall()
        return [fault for row in rows for fault in _changed_files(self._stored(row))]

    # --- items -----------------------------------------------------------------------------------

    def items(self) -> Iterator[StoredItem]:
        """Every item, in the order it was added."""
        for row in self._db.execute("SELECT item_id, row FROM items ORDER BY item_id"):
            yield self._stored(row)

    def item_ids(self) -> list[int]:
        return [row[0] for row in self._db.execute("SELECT item_id FROM items ORDER BY item_id")]

    def item(self, item_id: int) -> StoredItem:
        return self._stored(
            self._db.execute("SELECT item_id, row FROM items WHERE item_id = ?", (item_id,)).fetchone()
        )

    def _stored(self, row: tuple[int, str]) -> StoredItem:
        item_id, data = row[0], json.loads(row[1])
        source = data.get("source_audio")
        item = Item(
            **{**data, "audio": Path(data["audio"]), "source_audio": Path(source) if source else None}
        )
        files = {
            role: StoredFile(size, mtime_ns, file_hash, pcm_hash, json.loads(facts))
            for role, size, mtime_ns, file_hash, pcm_hash, facts in self._db.execute(
                "SELECT role, size, mtime_ns, file_hash, pcm_hash, facts FROM files WHERE item_id = ?",
                (item_id,),
            )
        }
        return StoredItem(item_id, item, files)

    def set_file(self, item_id: int, role: str, file: StoredFile) -> None:
        """Keep what reading one of the item's files showed."""
        facts = json.dumps(file.facts, ensure_ascii=False)
        with self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
                (item_id, role, file.size, file.mtime_ns, file.file_hash, file.pcm_hash, facts),
            )

    # --- hearings --------------------------------------------------------------------------------

    def done(self, item_id: int) -> dict[tuple[str, int], str]:
        """(side, repeat) -> reason of what is recorded for an item; empty reason = heard."""
        rows = self._db.execute(
            "SELECT side, repeat, reason FROM item_hearings WHERE item_id = ?", (item_id,)
        )
        return {(side, repeat): reason for side, repeat, reason in rows}

    def outcome(self, key: str) -> tuple[str, str] | None:
        """(reason, detail) of a recorded hearing, or None if there is none."""
        row = self._db.execute("SELECT reason, detail FROM hearings WHERE key = ?", (key,)).fetchone()
        return (row[0], row[1]) if row else None

    def record(
        self,
        key: str,
        question: str,
        texts: Mapping[str, str],
        repeat: int,
        answer: Hearing | Unheard,
        asked_by: Iterable[tuple[int, str]],
    ) -> tuple[str, str]:
        """Keep an answer under its content key and as the hearing of every item that asked for it.

        Args:
            asked_by: Items with the side on which each asked.

        Returns:
            (reason, detail) of the answer; both empty when it was heard.
        """
        reason = detail = served = ""
        reply = None
        before = self._db.execute("SELECT usage FROM hearings WHERE key = ?", (key,)).fetchone()
        usage = dict(answer.usage)
        for name, amount in json.loads(before[0] if before and before[0] else "{}").items():
            usage[name] = usage.get(name, 0) + amount  # what an earlier failure cost was spent all the same
        if isinstance(answer, Hearing):
            reply, served = json.dumps(answer.reply, ensure_ascii=False, allow_nan=False), answer.served
        else:
            reason, detail = answer.reason, answer.detail
        row = (
            key,
            question,
            json.dumps(dict(texts), ensure_ascii=False),
            repeat,
            reason,
            detail,
            reply,
            json.dumps(usage, allow_nan=False),
            answer.raw,
            served,
        )
        links = [(item_id, side, repeat, key, reason, detail) for item_id, side in asked_by]
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO hearings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            self._db.executemany("INSERT OR REPLACE INTO item_hearings VALUES (?, ?, ?, ?, ?, ?)", links)
        return reason, detail

    def link(self, item_id: int, side: str, repeat: int, key: str | None, reason: str, detail: str) -> None:
        """Say which hearing is an item's; ``key`` is None where nothing was asked, for the reason given."""
        with self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO item_hearings VALUES (?, ?, ?, ?, ?, ?)",
                (item_id, side, repeat, key, reason, detail),
            )

    def heard(self, item_id: int) -> list[Heard]:
        """Every recorded hearing of an item, by side and repeat."""
        rows = self._db.execute(
            "SELECT i.side, i.repeat, i.reason, i.detail, h.question, h.texts, h.reply"
            " FROM item_hearings i LEFT JOIN hearings h ON h.key = i.key"
            " WHERE i.item_id = ? ORDER BY i.side, i.repeat",
            (item_id,),
        )
        return [
            Heard(
                side,
                repeat,
                reason,
                detail,
                question or "",
                json.loads(texts) if texts else {},
                json.loads(reply) if reply else {},
            )
            for side, repeat, reason, detail, question, texts, reply in rows
        ]

    def usage(self) -> dict[str, float]:
        """Sum of every count that answers reported."""
        total: dict[str, float] = {}
        for (text,) in self._db.execute(
            "SELECT usage FROM hearings WHERE usage IS NOT NULL AND usage != '{}'"
        ):
            for name, value in json.loads(text).items():
                total[name] = total.get(name, 0) + value
        return total

    def dearest(self, name: str) -> float | None:
        """The largest count of that name that any one hearing reported; None if none did."""
        row = self._db.execute(
            "SELECT max(json_extract(usage, ?)) FROM hearings WHERE usage IS NOT NULL", (f'$."{name}"',)
        ).fetchone()
        return None if row[0] is None else float(row[0])

    def faults(self) -> list[tuple[str, str, int]]:
        """Why answers are missing: reason, detail and how many, the most frequent first."""
        rows = self._db.execute(
            "SELECT reason, detail, count(*) FROM item_hearings WHERE reason != ''"
            " GROUP BY reason, detail ORDER BY count(*) DESC, reason, detail"
        )
        return rows.fetchall()

    def served(self) -> dict[str, int]:
        """How many hearings each model gave, by the name the server gave it."""
        rows = self._db.execute(
            "SELECT served, count(*) FROM hearings WHERE served != '' GROUP BY served ORDER BY served"
        )
        return dict(rows.fetchall())


def _row(item: Item) -> dict[str, Any]:
    source = str(item.source_audio) if item.source_audio else None
    return {**asdict(item), "audio": str(item.audio), "source_audio": source}


def _changes(kept: StoredItem, item: Item) -> list[str]:
    old, new = _row(kept.item), _row(item)
    differ = [name for name in old if name != "row" and old[name] != new[name]]  # rows may change places
    for role, column in PATH_COLUMNS.items():
        if column in differ and role in item.files and _same_content(kept.files.get(role), item.files[role]):
            differ.remove(column)
    return [
        f"system {item.system!r}, sample {item.sample_id!r}: {name} was {old[name]!r}, is now {new[name]!r}"
        for name in differ
    ]


def _same_content(kept: StoredFile | None, path: Path) -> bool:
    return kept is None or kept.pcm_hash is None or kept.file_hash == file_hash(path)


def _changed_files(stored: StoredItem) -> Iterator[str]:
    for role, kept in stored.files.items():
        path = stored.item.files[role]
        if kept.pcm_hash is None:
            continue  # nobody could hear it: it may be put right
        try:
            stat = path.stat()
            same = (stat.st_size, stat.st_mtime_ns) == (kept.size, kept.mtime_ns)
            if same or file_hash(path) == kept.file_hash:
                continue
        except OSError:
            continue  # gone: what was heard stands, and the page says that the file is missing
        yield f"{path}: its content is not what was heard (sha256 was {(kept.file_hash or '')[:12]}…)"
