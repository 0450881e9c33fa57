"""The file of the projection: opening, healing, transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from gitmem.cache.place import refusal, remove
from gitmem.cache.tables import APPLICATION, SCHEMA, commands
from gitmem.errors import Busy, GitmemError

#: Milliseconds that a writer waits for another process's transaction.
BUSY_MS = 10_000
#: Milliseconds that a reader waits, which can take the long way instead. Readers wait for
#: nobody but a process that repairs the file after a crash.
READ_MS = 500

_UNUSABLE = (
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
)


class Damaged(GitmemError):
    """The projection contradicts itself or git, or another program changed it.

    Nothing is lost by it: :meth:`Database.start_over`, and git is asked again.
    """

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(
            f"{where} is damaged ({reason}); it only repeats what git holds",
            hint="Run the command again: it is made anew.",
        )
        self.reason = reason


class Unusable(GitmemError):
    """The file cannot be opened or written: :meth:`Database.go_on_in_memory` instead."""


class Trial:
    """The outcome of a trial change: kept or, by default, undone."""

    kept = False

    def keep(self) -> None:
        """Let the change stand."""
        self.kept = True


class Database:
    """One connection to the file. Not for use by several threads at once.

    Every question may raise ``Busy`` where another process holds the file for too long,
    :class:`Damaged` or :class:`Unusable`. ``notes`` collects sentences for a person.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path | None = None) -> None:
        self._db = connection
        self._path = path
        self._distrusted = ""
        self.notes: list[str] = []

    # --- opening and closing --------------------------------------------------------------

    @classmethod
    def open(cls, path: Path | None, *, wait_ms: int = BUSY_MS) -> Self:
        """Open the file at ``path``, made new where it is missing or outdated.

        ``None``, or a place that cannot be used, gives a projection in memory: everything
        works, only slower. A link, another program's database or another user's file is left
        alone. ``wait_ms`` is how long another process's transaction is waited for.

        Raises:
            Busy: another process holds the file for longer.
        """
        why = ""
        if path is not None:
            try:
                return cls._open_file(path, wait_ms)
            except Unusable as error:
                why = error.message
        database = cls(_connect(":memory:"))
        database._create()
        if why:
            database.notes.append(_slower(why))
        return database

    @classmethod
    def _open_file(cls, path: Path, wait_ms: int) -> Self:
        why = refusal(path)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            why = why or f"{path.parent}: {error.strerror}"
        if why:
            raise Unusable(why)
        try:
            return cls._prepared(path, wait_ms)
        except Damaged as error:  # so badly that nothing in it can be read
            _remove(path)
            database = cls._prepared(path, wait_ms)
            database.notes.append(f"{path} was damaged ({error.reason}) and is made anew")
            return database

    @classmethod
    def _prepared(cls, path: Path, wait_ms: int) -> Self:
        database = cls._connected(path, wait_ms)
        try:
            if database._is_foreign():
                raise database._foreign()
            database._run("PRAGMA journal_mode=WAL")
            database._run("PRAGMA synchronous=NORMAL")
            if not database._is_current():
                with database._writing():
                    if not database._is_current():  # another process was faster
                        database._create()
            return database
        except GitmemError:
            database._db.close()
            raise

    @classmethod
    def _connected(cls, path: Path, wait_ms: int) -> Self:
        try:
            database = cls(_connect(str(path)), path)
        except sqlite3.Error as error:
            raise Unusable(f"{path} cannot be opened: {error}") from error
        database._run(f"PRAGMA busy_timeout={int(wait_ms)}")
        return database

    @classmethod
    def read(cls, path: Path, *, wait_ms: int = READ_MS) -> Self | None:
        """Open an existing, current projection for reading; None where the long way is due.

        For read paths: nothing is made or repaired, and nobody is waited for longer than a
        moment.
        """
        if refusal(path) or not path.is_file():
            return None
        try:
            database = cls._connected(path, wait_ms)
        except GitmemError:
            return None
        try:
            database._run("PRAGMA query_only=ON")
            if not database._is_foreign() and database._is_current():
                database.check()
                return database
        except GitmemError:
            pass  # busy, damaged, not to be read: the long way finds out, and says so
        database._db.close()
        return None

    def close(self) -> None:
        """Close the connection. The next who opens a file that was distrusted makes it anew."""
        if self._distrusted and self._path is not None:
            try:
                self._db.rollback()
                self._db.execute("PRAGMA query_only=OFF")
                self._db.execute("UPDATE seal SET sealed=-1")
            except sqlite3.OperationalError:
                pass  # busy or read-only: whoever reads it next finds the same damage
            except sqlite3.DatabaseError:
                with suppress(Unusable):
                    _remove(self._path)
        self._db.close()

    # --- trust ----------------------------------------------------------------------------

    def check(self) -> None:
        """Check that nothing but gitmem wrote here since the last transaction.

        Raises:
            Damaged: another program, or another gitmem's schema, changed a row or a table.
        """
        seal = self._run("SELECT changes, sealed, cookie FROM seal")
        cookie = self._run("PRAGMA schema_version")[0][0]
        changes, sealed, known = seal[0] if len(seal) == 1 else (0, -1, 0)
        if changes != sealed or known != cookie or not self._is_current():
            raise Damaged(self._where(), "something else than gitmem changed it")

    def damaged(self, reason: str) -> Damaged:
        """Return the error to raise where the contents are found to be wrong."""
        self._distrusted = reason
        return Damaged(self._where(), reason)

    def start_over(self) -> None:
        """Empty the projection after :class:`Damaged`; with it goes all that was parsed."""
        try:
            self._emptied()
        except Unusable as error:
            self.go_on_in_memory(error)
        else:
            self.notes.append(f"{self._where()} was damaged and is made anew from git")
        self._distrusted = ""

    def _emptied(self) -> None:
        try:
            # In place: another process may have the file open, and would go on with a lost one.
            with self._writing():
                if self._distrusted or not self._is_sound():
                    self._create()
        except Damaged:
            if self._path is None:
                raise
            self._db.close()
            _remove(self._path)
            self._db = type(self)._prepared(self._path, BUSY_MS)._db

    def _is_sound(self) -> bool:
        """Whether another process has healed it meanwhile."""
        try:
            self.check()
        except Damaged:
            return False
        return True

    def go_on_in_memory(self, error: Unusable) -> None:
        """Take what is known along into memory, after the file could not be written."""
        memory = _connect(":memory:")
        try:
            self.check()
            self._db.backup(memory)
            (cookie,) = memory.execute("PRAGMA schema_version").fetchone()
            memory.execute("UPDATE seal SET cookie=?", (cookie,))
            known = True
        except (sqlite3.Error, GitmemError):
            memory, known = _connect(":memory:"), False
        self._db.close()
        self._db, self._path = memory, None
        if not known:
            self._create()
        self.notes.append(_slower(error.message))

    # --- making ---------------------------------------------------------------------------

    def _is_foreign(self) -> bool:
        mark = self._run("PRAGMA application_id")[0][0]
        if mark == APPLICATION:
            return False
        return bool(mark or self._run("SELECT 1 FROM sqlite_master LIMIT 1"))

    def _foreign(self) -> Unusable:
        return Unusable(f"{self._where()} is another program's database, and is left alone")

    def _is_current(self) -> bool:
        mark = self._run("PRAGMA application_id")[0][0]
        version = self._run("PRAGMA user_version")[0][0]
        return (mark, version) == (APPLICATION, SCHEMA)

    def _create(self) -> None:
        """Drop whatever is there and make the tables; in a database of gitmem's own only."""
        if self._is_foreign():
            raise self._foreign()
        found = self._run("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite^_%'"
                          " ESCAPE '^'")  # fmt: skip
        for kind in ("trigger", "view", "table"):
            for name in (name for of_kind, name in found if of_kind == kind):
                quoted = str(name).replace('"', '""')
                self._run(f'DROP {kind} IF EXISTS "{quoted}"')
        for command in commands():
            self._run(command)
        cookie = self._run("PRAGMA schema_version")[0][0]
        self._run("UPDATE seal SET cookie=?", (cookie,))

    # --- transactions ---------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock; everything inside happens or nothing does.

        Raises:
            Damaged: another program changed the contents before.
        """
        with self._writing():
            self.check()
            yield
            self._run("UPDATE seal SET sealed=changes")

    @contextmanager
    def _writing(self) -> Iterator[None]:
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
            if self._db.in_transaction:  # else SQLite itself undid all, as on a full disk
                if not trial.kept:
                    self._run("ROLLBACK TO trial")
                self._run("RELEASE trial")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one state throughout, whatever another process writes meanwhile.

        Inside of another block of the same connection, it is that block's state.
        """
        if self._db.in_transaction:
            yield
            return
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
        if code == sqlite3.SQLITE_FULL:
            return Unusable(
                f"{self._where()} could not be written: the disk is full",
                hint="Make room on that disk, and run the command again.",
            )
        if code in _UNUSABLE:
            return Unusable(f"{self._where()} could not be written: {error}")
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.NotSupportedError):
            return error  # a fault of the program
        # What is left comes from contents that are not as gitmem writes them: a broken page, a
        # missing table, text that is not UTF-8, a row that is there already.
        return self.damaged(str(error))

    def _where(self) -> str:
        return str(self._path or "the projection in memory")


def _connect(place: str) -> sqlite3.Connection:
    return sqlite3.connect(place, isolation_level=None)


def _remove(path: Path) -> None:
    try:
        remove(path)
    except OSError as error:
        raise Unusable(f"{path} is damaged and cannot be removed: {error.strerror}") from error


def _slower(why: str) -> str:
    return f"{why}; gitmem answers from git instead, which takes longer"
