"""The file of the projection: opening, healing, transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from gitmem.errors import Busy, GitmemError

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
    """One connection to the file. Not for use by several threads at once.

    Every question may raise ``Busy`` where another process holds the file for too long, and
    ``GitmemError`` where it turns out to be damaged or cannot be written. A damaged file is
    removed, since git has it all, and the next process makes it anew.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path | None = None) -> None:
        self._db = connection
        self._path = path

    @classmethod
    def open(cls, path: Path | None, *, wait_ms: int = BUSY_MS) -> Self:
        """Open the file at ``path``, made new where it is missing, outdated or damaged.

        ``None``, or a place that cannot be written, gives a projection in memory: everything
        works, only slower. ``wait_ms`` is how long another process's transaction is waited for.
        """
        if path is not None:
            try:
                return cls._open_file(path, wait_ms)
            except (OSError, sqlite3.OperationalError):
                pass  # read-only or unreachable: fall through to memory
            except sqlite3.DatabaseError:
                _remove(path)
                try:
                    return cls._open_file(path, wait_ms)
                except sqlite3.OperationalError:
                    pass
        return cls._prepared(sqlite3.connect(":memory:", isolation_level=None), None)

    @classmethod
    def _open_file(cls, path: Path, wait_ms: int) -> Self:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute(f"PRAGMA busy_timeout={wait_ms}")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            return cls._prepared(connection, path)
        except (sqlite3.DatabaseError, GitmemError):
            connection.close()
            raise

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Open an existing, current projection for reading; None where there is none.

        For read paths: no table is made and no lock is waited for longer than a moment.
        """
        if not path.is_file():
            return None
        try:
            connection = sqlite3.connect(path, isolation_level=None)
            connection.execute("PRAGMA query_only=ON")
            connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
            if _schema(connection) == str(SCHEMA):
                return cls(connection, path)
            connection.close()
        except sqlite3.DatabaseError:
            pass  # absent, damaged or of another schema: the caller takes the long way
        return None

    @classmethod
    def _prepared(cls, connection: sqlite3.Connection, path: Path | None) -> Self:
        projection = cls(connection, path)
        if _schema(connection) != str(SCHEMA):
            with projection.transaction():
                if _schema(connection) != str(SCHEMA):
                    projection._create()
        return projection

    def _create(self) -> None:
        for (name,) in self._run("SELECT name FROM sqlite_master WHERE type='table'"):
            self._run(f'DROP TABLE "{name}"')
        for command in _TABLES.split(";"):
            if command.strip():
                self._run(command)
        self.set_meta("schema", str(SCHEMA))

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock; everything inside happens or nothing does."""
        self._run("BEGIN IMMEDIATE")
        try:
            yield
            self._run("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.rollback()

    @contextmanager
    def trial(self) -> Iterator[Trial]:
        """Undo everything that happens inside, unless it says :meth:`Trial.keep`."""
        trial = Trial()
        self._run("SAVEPOINT trial")
        try:
            yield trial
        finally:
            if not trial.kept:
                self._run("ROLLBACK TO trial")
            self._run("RELEASE trial")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one state throughout, whatever another process writes meanwhile."""
        self._run("BEGIN")
        try:
            yield
        finally:
            self._db.rollback()  # nothing was written

    # --- small values ---------------------------------------------------------------------

    def meta(self, key: str) -> str | None:
        """Return a small value, None where it was never set."""
        rows = self._run("SELECT value FROM meta WHERE key=?", (key,))
        return rows[0][0] if rows else None

    def set_meta(self, key: str, value: str) -> None:
        """Set a small value."""
        self._run("INSERT OR REPLACE INTO meta VALUES(?,?)", (key, value))

    # --- the one way to the file ----------------------------------------------------------

    def _run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._explained(error) from error

    def _run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        try:
            self._db.executemany(sql, rows)
        except sqlite3.DatabaseError as error:
            raise self._explained(error) from error

    def _explained(self, error: sqlite3.DatabaseError) -> Exception:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the extended part
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return Busy(
                f"another process is bringing {self._path} up to date and takes long",
                hint="Try again in a moment.",
            )
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) and self._path is not None:
            _remove(self._path)
            return GitmemError(
                f"{self._path} was damaged ({error}); it only repeats what git holds",
                hint="It is removed. Run the command again: it is made anew.",
            )
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY):
            return GitmemError(f"{self._path} could not be written: {error}")
        return error  # a fault of the program


def _schema(connection: sqlite3.Connection) -> str | None:
    table = "SELECT 1 FROM sqlite_master WHERE type='table' AND name='meta'"
    if not connection.execute(table).fetchone():
        return None
    row = connection.execute("SELECT value FROM meta WHERE key='schema'").fetchone()
    return row[0] if row else None


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
