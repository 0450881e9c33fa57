"""The lock files that a git process of gitmem's own leaves when it is killed.

A lock file of git does not say whose it is, so one that another program may hold is waited for
until it is old. Those of gitmem's own are known sooner: before it starts a git that takes some,
it notes which of them are not there yet, and lets go of the note when git has ended by itself.
Who finds the note, holding the store's lock, knows that nobody is left of those who wrote it.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gitmem.domain.layout import PRIVATE
from gitmem.repo.files import read_regular
from gitmem.repo.runner import Runner

UNDER_WAY = "under-way"
"""The note's name in gitmem's own folder: a JSON list of paths below the git directory."""

_MAX_NOTE = 64 * 1024
_SOON = 5.0  # seconds in which git, once it is started, has taken its locks
_STILL = 0.1  # seconds: a living git program is done with a lock in a few milliseconds


@contextmanager
def may_leave(
    runner: Runner, locks: Iterable[Path], healed: list[str] | None = None
) -> Iterator[None]:
    """Note, for a block that runs one git process, the locks that it may take.

    What is there already is somebody else's. Locks that git leaves, since it was killed or could
    not remove them, are cleared, and ``healed`` gets a sentence for each. An exception leaves the
    note for the next who gets the store's lock. Nothing is noted by who does not hold that: they
    write nothing.
    """
    if not runner.write_fds:
        yield
        return
    git_dir = runner.git_dir
    path = git_dir / PRIVATE / UNDER_WAY
    free = [os.path.relpath(lock, git_dir) for lock in locks if not os.path.lexists(lock)]
    # Without a note, the locks are cleared when they are old.
    with suppress(OSError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(json.dumps(free).encode("ascii"))
    yield
    if any(os.path.lexists(git_dir / name) for name in free):
        said = clear_own_locks(git_dir)
        if healed is not None:
            healed += said
        return
    with suppress(OSError):
        path.unlink(missing_ok=True)


def clear_own_locks(git_dir: Path) -> list[str]:
    """Remove the locks that a killed git of gitmem's own has left; a sentence for each.

    The caller holds the store's lock, and no git process of its own is at work.
    """
    path = git_dir / PRIVATE / UNDER_WAY
    try:
        since = path.lstat().st_mtime
        noted = json.loads(read_regular(path, _MAX_NOTE) or b"[]")
    except (OSError, ValueError, RecursionError):  # none, or one cut off before git was started
        noted, since = [], 0.0
    names = [name for name in noted if isinstance(name, str)] if isinstance(noted, list) else []
    healed = []
    seen = {name: left for name in names if (left := _left(git_dir, name, since))}
    if seen:
        time.sleep(_STILL)
    for name, left in seen.items():
        if _left(git_dir, name, since) == left:
            with suppress(OSError):  # it is waited for then, and named
                (git_dir / name).unlink(missing_ok=True)
                healed.append(f"Removed the lock file {name}, left by a write that was cut off.")
    with suppress(OSError):
        path.unlink(missing_ok=True)
    return healed


def _left(git_dir: Path, name: str, since: float) -> tuple[int, int] | None:
    """What tells a lock that git took soon after ``since`` from a later one, if it is there."""
    path = git_dir / name
    if not name.endswith((".lock", ".new")) or ".." in Path(name).parts or Path(name).is_absolute():
        return None
    try:
        found = path.lstat()
    except OSError:
        return None
    is_own = stat.S_ISREG(found.st_mode) and 0 <= found.st_mtime - since <= _SOON
    return (found.st_ino, found.st_mtime_ns) if is_own else None
