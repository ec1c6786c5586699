"""One SQLite file a run: items and hearings, keyed by content.

Every answer is committed as it arrives, so a kill loses at most the calls in flight. Identical
content (same sound, question, listener, repeat) is heard once and linked to every item that has
it. Captions and paths are kept, so every output can be rebuilt from the file; secrets never enter.
"""

import fcntl
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from earwitness.errors import UserError
from earwitness.listeners.base import Hearing, Unheard
from earwitness.manifest import Item

SCHEMA_VERSION = 1

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE items (
    item_id INTEGER PRIMARY KEY, system TEXT NOT NULL, sample_id TEXT NOT NULL, row TEXT NOT NULL,
    file_size INTEGER, file_mtime_ns INTEGER, file_hash TEXT, pcm_hash TEXT, facts TEXT,
    UNIQUE (system, sample_id));
CREATE TABLE hearings (
    key TEXT PRIMARY KEY, question TEXT NOT NULL, caption TEXT NOT NULL, repeat INTEGER NOT NULL,
    reason TEXT NOT NULL, detail TEXT NOT NULL, reply TEXT, usage TEXT, raw TEXT NOT NULL);
CREATE TABLE item_hearings (
    item_id INTEGER NOT NULL, side TEXT NOT NULL, repeat INTEGER NOT NULL,
    key TEXT, reason TEXT NOT NULL, detail TEXT NOT NULL,
    PRIMARY KEY (item_id, side, repeat)) WITHOUT ROWID;
"""

ITEM_COLUMNS = "item_id, row, pcm_hash, file_hash, file_size, file_mtime_ns, facts"

NETWORK_FILE_SYSTEMS = ("nfs", "cifs", "smb", "9p", "lustre", "beegfs", "gpfs", "ceph", "gluster", "fuse.")
"""Prefixes of file systems on which SQLite's shared-memory WAL index is not safe."""


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item as the ledger holds it; ``facts`` is empty until its file was read.

    ``facts`` holds duration_s, rate_hz, channels and warnings, or reason and detail if unusable.
    """

    item_id: int
    item: Item
    pcm_hash: str | None
    file_hash: str | None
    file_size: int | None
    file_mtime_ns: int | None
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Heard:
    """One hearing of one item: ``reason`` is empty when it was heard and ``reply`` then holds the answer."""

    side: str
    repeat: int
    reason: str
    detail: str
    question: str = ""
    caption: str = ""
    reply: Mapping[str, Any] = field(default_factory=dict)


def content_key(
    pcm_hashes: Iterable[str],
    question: str,
    caption: str,
    listener: str,
    version: str,
    settings: Mapping[str, Any],
    repeat: int,
) -> str:
    """sha256 of everything an answer depends on.

    Args:
        question: Fingerprint of prompt and reply schema.
        caption: Text shown with it; empty for detectors.
        repeat: Independent repeats are different content.
    """
    parts = [list(pcm_hashes), question, caption, listener, version, dict(settings), repeat]
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


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
        db = _connect(path, "rwc")
        try:
            db.execute(f"PRAGMA journal_mode = {'DELETE' if _on_network(path) else 'WAL'}")
            db.execute("PRAGMA synchronous = NORMAL")
            if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
        except sqlite3.DatabaseError as fault:
            raise _no_ledger(path, fault) from fault
        _check_version(path, db)
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
        db = _connect(path, "rw" if writable else "ro" if waiting else "ro&immutable=1")
        _check_version(path, db)
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
                f"SELECT {ITEM_COLUMNS} FROM items WHERE system = ? AND sample_id = ?",
                (item.system, item.sample_id),
            ).fetchone()
            if kept:
                changes += _changes(_stored(kept), item)
        return changes

    def changed_files(self) -> list[str]:
        """Every file whose content is not what was heard, in words."""
        heard = "SELECT 1 FROM item_hearings h WHERE h.item_id = items.item_id AND h.reason = ''"
        rows = self._db.execute(f"SELECT {ITEM_COLUMNS} FROM items WHERE EXISTS ({heard})")
        return [fault for row in rows if (fault := _changed_file(_stored(row)))]

    # --- items -----------------------------------------------------------------------------------

    def items(self) -> Iterator[StoredItem]:
        """Every item, in the order it was added."""
        for row in self._db.execute(f"SELECT {ITEM_COLUMNS} FROM items ORDER BY item_id"):
            yield _stored(row)

    def item_ids(self) -> list[int]:
        return [row[0] for row in self._db.execute("SELECT item_id FROM items ORDER BY item_id")]

    def item(self, item_id: int) -> StoredItem:
        return _stored(
            self._db.execute(f"SELECT {ITEM_COLUMNS} FROM items WHERE item_id = ?", (item_id,)).fetchone()
        )

    def set_file(
        self,
        item_id: int,
        size: int | None,
        mtime_ns: int | None,
        file_hash: str | None,
        pcm_hash: str | None,
        facts: Mapping[str, Any],
    ) -> None:
        """Keep what reading the item's file showed."""
        with self._db:
            self._db.execute(
                "UPDATE items SET file_size = ?, file_mtime_ns = ?, file_hash = ?, pcm_hash = ?, facts = ?"
                " WHERE item_id = ?",
                (size, mtime_ns, file_hash, pcm_hash, json.dumps(facts, ensure_ascii=False), item_id),
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
        self, key: str, question: str, caption: str, repeat: int, answer: Hearing | Unheard
    ) -> tuple[str, str]:
        """Keep an answer under its content key; returns its (reason, detail)."""
        if isinstance(answer, Hearing):
            reason, detail = "", ""
            reply = json.dumps(answer.reply, ensure_ascii=False, allow_nan=False)
            usage = json.dumps(answer.usage, allow_nan=False)
        else:
            reason, detail, reply, usage = answer.reason, answer.detail, None, None
        with self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO hearings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (key, question, caption, repeat, reason, detail, reply, usage, answer.raw),
            )
        return reason, detail

    def link(self, item_id: int, side: str, repeat: int, key: str | None, reason: str, detail: str) -> None:
        """Say which hearing is an item's; ``key`` is None for a file that nobody could hear."""
        with self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO item_hearings VALUES (?, ?, ?, ?, ?, ?)",
                (item_id, side, repeat, key, reason, detail),
            )

    def heard(self, item_id: int) -> list[Heard]:
        """Every recorded hearing of an item, by side and repeat."""
        rows = self._db.execute(
            "SELECT i.side, i.repeat, i.reason, i.detail, h.question, h.caption, h.reply"
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
                caption or "",
                json.loads(reply) if reply else {},
            )
            for side, repeat, reason, detail, question, caption, reply in rows
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


def _stored(row: tuple[Any, ...]) -> StoredItem:
    data = json.loads(row[1])
    item = Item(**{**data, "audio": Path(data["audio"])})
    return StoredItem(row[0], item, row[2], row[3], row[4], row[5], json.loads(row[6]) if row[6] else {})


def _row(item: Item) -> dict[str, Any]:
    return {**asdict(item), "audio": str(item.audio)}


def _changes(kept: StoredItem, item: Item) -> list[str]:
    old, new = _row(kept.item), _row(item)
    differ = [name for name in old if name != "row" and old[name] != new[name]]  # rows may change places
    if differ == ["audio"] and kept.file_hash in (None, file_hash(item.audio)):
        return []
    return [
        f"system {item.system!r}, sample {item.sample_id!r}: {name} was {old[name]!r}, is now {new[name]!r}"
        for name in differ
    ]


def file_hash(path: Path) -> str:
    """sha256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _changed_file(stored: StoredItem) -> str:
    path = stored.item.audio
    try:
        stat = path.stat()
        same = (stat.st_size, stat.st_mtime_ns) == (stored.file_size, stored.file_mtime_ns)
        if same or file_hash(path) == stored.file_hash:
            return ""
    except OSError:
        return ""  # gone: what was heard stands, and the page says that the file is missing
    return f"{path}: its content is not what was heard (sha256 was {(stored.file_hash or '')[:12]}…)"


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    quoted = str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        # A listener may draw its calls, and so our reads, from a thread of its own; one at a time.
        return sqlite3.connect(f"file:{quoted}?mode={mode}", uri=True, timeout=30, check_same_thread=False)
    except sqlite3.OperationalError as fault:
        raise UserError(f"{path}: cannot be opened: {fault}.", "Check the folder's permissions.") from fault


def _no_ledger(path: Path, fault: Exception) -> UserError:
    return UserError(f"{path}: not an earwitness ledger: {fault}.", "Name a run folder made with -o.")


def _check_version(path: Path, db: sqlite3.Connection) -> None:
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        db.execute("SELECT 1 FROM item_hearings LIMIT 1")
    except sqlite3.DatabaseError as fault:
        raise UserError(
            f"{path}: not an earwitness ledger: {fault}", "Name a run folder made with -o."
        ) from fault
    if version > SCHEMA_VERSION:
        raise UserError(
            f"{path}: written by a newer earwitness: ledger version {version}, known up to {SCHEMA_VERSION}.",
            "Upgrade earwitness.",
        )


def _on_network(path: Path) -> bool:
    """Whether the folder lies on a network file system, by the longest matching mount point."""
    folder, kind, longest = path.parent.resolve(), "", -1
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return False
    for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines():
        _, point, type_, *_ = line.split(" ")
        if len(point) > longest and folder.is_relative_to(point.replace("\\040", " ")):
            kind, longest = type_, len(point)
    return kind.startswith(NETWORK_FILE_SYSTEMS)
