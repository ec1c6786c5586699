"""The database file of a run: its tables, versions, and how it is opened."""

import sqlite3
from pathlib import Path

from earwitness.errors import UserError

VERSION = 2

ITEMS = """
CREATE TABLE items (
    item_id INTEGER PRIMARY KEY, system TEXT NOT NULL, sample_id TEXT NOT NULL, row TEXT NOT NULL,
    UNIQUE (system, sample_id));
"""
FILES = """
CREATE TABLE files (
    item_id INTEGER NOT NULL, role TEXT NOT NULL,
    size INTEGER, mtime_ns INTEGER, file_hash TEXT, pcm_hash TEXT, facts TEXT NOT NULL,
    PRIMARY KEY (item_id, role)) WITHOUT ROWID;
"""
HEARINGS = """
CREATE TABLE hearings (
    key TEXT PRIMARY KEY, question TEXT NOT NULL, texts TEXT NOT NULL, repeat INTEGER NOT NULL,
    reason TEXT NOT NULL, detail TEXT NOT NULL, reply TEXT, usage TEXT, raw TEXT NOT NULL,
    served TEXT NOT NULL);
"""
_TABLES = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
{ITEMS} {FILES} {HEARINGS}
CREATE TABLE item_hearings (
    item_id INTEGER NOT NULL, side TEXT NOT NULL, repeat INTEGER NOT NULL,
    key TEXT, reason TEXT NOT NULL, detail TEXT NOT NULL,
    PRIMARY KEY (item_id, side, repeat)) WITHOUT ROWID;
"""

NETWORK_FILE_SYSTEMS = ("nfs", "cifs", "smb", "9p", "lustre", "beegfs", "gpfs", "ceph", "gluster", "fuse.")
"""Prefixes of file systems on which SQLite's shared-memory WAL index is not safe."""


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open the file with an SQLite open mode (``ro``, ``rw``, ``rwc``).

    Raises:
        UserError: If it cannot be opened.
    """
    quoted = str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        # A listener may draw its calls, and so our reads, from a thread of its own; one at a time.
        return sqlite3.connect(f"file:{quoted}?mode={mode}", uri=True, timeout=30, check_same_thread=False)
    except sqlite3.OperationalError as fault:
        raise UserError(f"{path}: cannot be opened: {fault}.", "Check the folder's permissions.") from fault


def make(db: sqlite3.Connection) -> None:
    """Lay the tables of the current version in an empty database."""
    db.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")


def no_ledger(path: Path, fault: Exception) -> UserError:
    """What to say of a file that is not a ledger."""
    return UserError(f"{path}: not an earwitness ledger: {fault}.", "Name a run folder made with -o.")


def check_version(path: Path, db: sqlite3.Connection) -> int:
    """The version of an opened ledger.

    Raises:
        UserError: If it is no ledger, or one of a newer earwitness.
    """
    try:
        version: int = db.execute("PRAGMA user_version").fetchone()[0]
        db.execute("SELECT 1 FROM item_hearings LIMIT 1")
    except sqlite3.DatabaseError as fault:
        raise UserError(
            f"{path}: not an earwitness ledger: {fault}", "Name a run folder made with -o."
        ) from fault
    if version > VERSION:
        raise UserError(
            f"{path}: written by a newer earwitness: ledger version {version}, known up to {VERSION}.",
            "Upgrade earwitness.",
        )
    return version


def on_network(path: Path) -> bool:
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
