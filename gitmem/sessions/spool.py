"""Turns that wait to be proposed from: one small file for each session, durable.

A file is written before the turn's caller goes on, and goes when what the session holds has been
read. Whoever finds one works it off, whatever process wrote it. What changes an entry expects its
caller to hold the store's lock, so that no turn is queued between a look and what follows it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from gitmem.domain.canonical import canonical_file
from gitmem.domain.session import MAX_SESSION_ID, SESSION_ID
from gitmem.errors import GitmemError
from gitmem.repo.files import fsync_folder, read_regular, write_file
from gitmem.repo.places import misplaced

#: Tries after which a turn is set aside, with its reason, until a person looks.
MAX_TRIES = 3
_MAX_BYTES = 64 * 1024
_ID = re.compile(SESSION_ID)


@dataclass(frozen=True, slots=True)
class Queued:
    """A session that was not read to its end. ``error`` is why the last try failed."""

    session: str
    queued_at: str
    tries: int = 0
    error: str = ""

    @property
    def is_set_aside(self) -> bool:
        """Whether it failed too often to be tried again by itself."""
        return self.tries >= MAX_TRIES


class Spool:
    """The queue of one store. ``directory`` is made (mode 0700) when first needed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, session_id: str, now: str) -> None:
        """Queue a session, durably. One that was set aside is tried anew: it has grown."""
        self._check()
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._write(Queued(session_id, now))

    def entries(self) -> list[Queued]:
        """Return what waits, the oldest first; a file that says nothing counts by its name."""
        self._check()
        if not self._directory.is_dir():
            return []
        found = []
        for path in self._directory.glob("*.json"):
            if _ID.fullmatch(path.stem) and len(path.stem) <= MAX_SESSION_ID:
                found += [entry] if (entry := self._read(path)) else []
        return sorted(found, key=lambda entry: (entry.queued_at, entry.session))

    def failed(self, session_id: str, error: str) -> None:
        """Note that a try failed, and why."""
        entry = self._read(self._path(session_id))
        if entry is not None:
            self._write(replace(entry, tries=entry.tries + 1, error=error))

    def done(self, session_id: str) -> None:
        """Take a session off the queue that was read to its end."""
        self._path(session_id).unlink(missing_ok=True)

    @contextmanager
    def claimed(self, entry: Queued) -> Iterator[bool]:
        """Work on an entry alone; False where another process does already."""
        lock = FileLock(self._path(entry.session).with_suffix(".lock"), timeout=0)
        try:
            lock.acquire()
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def _path(self, session_id: str) -> Path:
        return self._directory / f"{session_id}.json"

    def _write(self, entry: Queued) -> None:
        write_file(self._path(entry.session), canonical_file(asdict(entry)))
        fsync_folder(self._directory)

    def _read(self, path: Path) -> Queued | None:
        try:
            data = read_regular(path, _MAX_BYTES) or b""
        except OSError:
            return None
        try:
            raw = json.loads(data)
            entry = Queued(path.stem, str(raw["queued_at"]), int(raw["tries"]), str(raw["error"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            return Queued(path.stem, "", 0, "")
        return entry

    def _check(self) -> None:
        if self._directory.is_symlink():
            raise GitmemError(
                f"{self._directory}: is a symbolic link; turns are queued only inside the git "
                "directory"
            )
        for found in misplaced(self._directory.parent, [self._directory.name], []):
            raise found.error
