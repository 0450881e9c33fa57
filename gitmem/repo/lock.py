"""The store's lock: one writer at a time, for as long as its last git process lives."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from gitmem.domain.shell import shell_word
from gitmem.errors import Busy, GitmemError
from gitmem.repo.files import fsync_folder
from gitmem.repo.refusals import refusal
from gitmem.repo.runner import Runner

DEFAULT_WAIT = 30.0
"""Seconds to wait for another writer. A merge takes tens of milliseconds."""

_POLL = 0.01

_TURN = 1.0
"""Seconds after which who waits for its turn looks whether the lock is free all the same: whoever
is before it may have been stopped (Ctrl-Z)."""

LOCK_FILE = "lock"
QUEUE_FILE = "queue"
"""Held by the one who gets the lock next, as long as it waits."""


def make_private(private: Path) -> None:
    """Create gitmem's own directory under the git directory.

    Raises:
        GitmemError: it is a link, or cannot be made.
    """
    if private.is_symlink():
        raise GitmemError(
            f"{private}: is a symbolic link; gitmem writes only inside the git directory",
            hint=f"Remove it if you did not make it: rm {shell_word(str(private))}",
        )
    try:
        private.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise _unwritable(private, error) from error


def _unwritable(path: Path, error: OSError) -> GitmemError:
    why, hint = refusal(error)
    return GitmemError(
        f"{path}: cannot be made ({why}); only reading works where the store cannot be written",
        hint=hint,
    )


def _check_plain(path: Path) -> None:
    """Refuse a link, a pipe or a folder in the lock's place: it would lock nothing, or wait."""
    try:
        is_plain = stat.S_ISREG(path.lstat().st_mode)
    except OSError:  # not there yet, or whoever opens it says why not
        return
    if not is_plain:
        raise GitmemError(
            f"{path}: is no plain file, and no lock that gitmem made",
            hint=f"Remove it if no gitmem is running: rm -r {shell_word(str(path))}",
        )


def _held(path: Path, timeout: float) -> Busy:
    pids = _holders(path)
    who = f" (process {', '.join(map(str, pids))})" if pids else ""
    see = f" To see it: ps -fp {','.join(map(str, pids))}" if pids else ""
    return Busy(
        f"another gitmem process held {path} for {timeout:g} seconds{who}",
        hint=f"Try again when it is done.{see}",
    )


def _holders(path: Path) -> list[int]:
    """Who has the lock: whoever took it, or, where that was killed, its git; as far as is known.

    Only Linux says so. Another process that waits has the file open for moments only, and is
    no git.
    """
    try:
        found = path.stat()
        device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
        lines = Path("/proc/locks").read_text("ascii").split("\n")
        taken = [line.split() for line in lines if " FLOCK " in line and device in line.split()]
        pids = [int(words[4]) for words in taken if words[1] != "->"]
        alive = [pid for pid in pids if pid > 0 and Path(f"/proc/{pid}").exists()]
        return alive or _having_open(path)
    except (AttributeError, OSError, ValueError, IndexError):
        return []


def _having_open(path: Path) -> list[int]:
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):  # it ended meanwhile, or is another user's
            if os.readlink(link) == str(path):
                found.add(int(link.parts[2]))
    return sorted(found - {os.getpid()})


class StoreLock:
    """A :class:`filelock.FileLock` whose descriptor goes to the git processes that write.

    If this program is killed, the lock lasts until the last of them has ended. Reentrant.

    Who wants it goes through a second lock first, and gives that back once it has the first. So
    who has just been the writer cannot overtake one that waits.
    """

    def __init__(self, runner: Runner, private: Path, on_acquire: Callable[[], None]) -> None:
        self._runner = runner
        self._private = private
        self._on_acquire = on_acquire
        self._depth = 0
        self._lock = FileLock(
            private / LOCK_FILE,
            thread_local=False,
            poll_interval=_POLL,
            on_acquired=self._share if os.name == "posix" else None,
        )
        self._queue = FileLock(private / QUEUE_FILE, thread_local=False, poll_interval=_POLL)

    def _share(self, descriptor: int) -> None:
        self._runner.write_fds = (descriptor,)

    @contextmanager
    def hold(self, timeout: float = DEFAULT_WAIT) -> Iterator[None]:
        """Hold the lock for a block; what a dead writer left is cleared first.

        Raises:
            Busy: another process held it for ``timeout`` seconds.
        """
        if self._depth == 0:
            self._acquire(timeout)
        self._depth += 1
        try:
            if self._depth == 1:
                self._on_acquire()
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._runner.write_fds = ()
                self._lock.release()

    def _acquire(self, timeout: float) -> None:
        make_private(self._private)
        lock = self._private / LOCK_FILE
        for path in (lock, self._private / QUEUE_FILE):
            _check_plain(path)
        try:
            if not lock.exists():  # the first write ever: whoever made the
                fsync_folder(self._private.parent)  # folder may not have made it durable
            self._take(time.monotonic() + timeout)
        except Timeout as error:
            raise _held(lock, timeout) from error
        except OSError as error:
            raise _unwritable(Path(error.filename or lock), error) from error

    def _take(self, deadline: float) -> None:
        """Wait for one's turn, then for the lock.

        Raises:
            Timeout: somebody else had it at the deadline.
        """
        while (left := deadline - time.monotonic()) > 0:
            try:
                with self._queue.acquire(timeout=min(left, _TURN)):
                    self._lock.acquire(timeout=max(0.0, deadline - time.monotonic()))
                return
            except Timeout:
                if self._is_free():
                    return
        self._lock.acquire(timeout=0)

    def _is_free(self) -> bool:
        """Take the lock if nobody has it."""
        with suppress(Timeout):
            self._lock.acquire(timeout=0)
            return True
        return False
