"""The file of the projection: opening, healing, transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

#: Raised whenever a table, or what a parsed blob looks like, changes; other files are rebuilt.
SCHEMA = 1
#: Milliseconds that a connection waits for another process's transaction.
BUSY_MS = 10_000
_TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE blobs(oid TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE records(
  name TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, rank INTEGER NOT NULL,
  path TEXT NOT NULL, blob TEXT NOT NULL, description TEXT NOT NULL, status TEXT,
  valid_from TEXT, valid_until TEXT, superseded INTEGER NOT NULL, change TEXT NOT NULL,
  approved_by TEXT NOT NULL, approved_at TEXT NOT NULL);
CREATE INDEX records_in_order ON records(superseded, rank, name);
CREATE TABLE supersedes(name TEXT NOT NULL, by TEXT NOT NULL, PRIMARY KEY(name, by)) WITHOUT ROWID;
CREATE INDEX supersedes_by ON supersedes(by);
CREATE TABLE commits(
  seq INTEGER PRIMARY KEY, oid TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, change TEXT NOT NULL,
  at TEXT NOT NULL, approved_by TEXT NOT NULL, records TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE touched(name TEXT NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY(name, seq)) WITHOUT ROWID;
CREATE TABLE decided(id TEXT PRIMARY KEY, what TEXT NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE blocks(term TEXT NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY(term, block)) WITHOUT ROWID;
"""


class Trial:
    """The outcome of a trial change: kept or, by default, undone."""

    kept = False

    def keep(self) -> None:
        """Let the change stand."""
        self.kept = True


class Database:
    """One connection to the file. Not for use by several threads at once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    @classmethod
    def open(cls, path: Path | None) -> Self:
        """Open the file at ``path``, made new where it is missing, outdated or damaged.

        ``None``, or a place that cannot be written, gives a projection in memory: everything
        works, only slower.
        """
        if path is not None:
            try:
                return cls._open_file(path)
            except sqlite3.OperationalError:
                pass  # read-only or unreachable: fall through to memory
            except sqlite3.DatabaseError:
                _remove(path)
                try:
                    return cls._open_file(path)
                except sqlite3.OperationalError:
                    pass
        return cls._prepared(sqlite3.connect(":memory:", isolation_level=None))

    @classmethod
    def _open_file(cls, path: Path) -> Self:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        try:
            return cls._prepared(connection)
        except sqlite3.DatabaseError:
            connection.close()
            raise

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Open an existing, current projection for reading; None where there is none.

        For read paths: no table is made and no lock is waited for longer than a moment.
        """
        try:
            connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            connection.isolation_level = None
            connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
            projection = cls(connection)
            if projection.meta("schema") == str(SCHEMA):
                return projection
            connection.close()
        except sqlite3.DatabaseError:
            pass  # absent, damaged or of another schema: the caller takes the long way
        return None

    @classmethod
    def _prepared(cls, connection: sqlite3.Connection) -> Self:
        projection = cls(connection)
        if projection._schema() != str(SCHEMA):
            with projection.transaction():
                if projection._schema() != str(SCHEMA):
                    projection._create()
        return projection

    def _schema(self) -> str | None:
        row = self._db.execute(
            "SELECT 1 FROM sqlite_master WHERE type='table' AND name='meta'"
        ).fetchone()
        return self.meta("schema") if row else None

    def _create(self) -> None:
        tables = self._db.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
        for (name,) in tables:
            self._db.execute(f'DROP TABLE "{name}"')
        for command in _TABLES.split(";"):
            if command.strip():
                self._db.execute(command)
        self.set_meta("schema", str(SCHEMA))

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock; everything inside happens or nothing does."""
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:  # commits, or rolls back and raises
            yield

    @contextmanager
    def trial(self) -> Iterator[Trial]:
        """Undo everything that happens inside, unless it says :meth:`Trial.keep`."""
        trial = Trial()
        self._db.execute("SAVEPOINT trial")
        try:
            yield trial
        finally:
            if not trial.kept:
                self._db.execute("ROLLBACK TO trial")
            self._db.execute("RELEASE trial")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one state throughout, whatever another process writes meanwhile."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    # --- small values ---------------------------------------------------------------------

    def meta(self, key: str) -> str | None:
        """Return a small value, None where it was never set."""
        row = self._db.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
        return row[0] if row else None

    def set_meta(self, key: str, value: str) -> None:
        """Set a small value."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES(?,?)", (key, value))


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
