"""What the machine refuses, in plain words, and what to do about it.

The system says it by a number, git by the system's English words (its language is pinned).
Nothing is decided by these words; they only make an error worth reading.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from typing import NamedTuple


class Refusal(NamedTuple):
    """Why the machine did not do it, and what helps; both empty where that is not known."""

    why: str
    hint: str


_FULL = Refusal("the disk is full", "Make room on that disk, and run the command again.")
_TOO_LARGE = Refusal(
    "the file would be larger than is allowed here",
    "Raise the limit on the size of files (ulimit -f), and run the command again.",
)
_KNOWN = {
    "EACCES": Refusal("permission denied", "Check whose it is and what you may do there: ls -ld"),
    "EDQUOT": Refusal(
        "your share of the disk is used up", "Make room on that disk, and run the command again."
    ),
    "EFBIG": _TOO_LARGE,
    "EMFILE": Refusal("", "Close programs, or raise the limit: ulimit -n"),
    "ENAMETOOLONG": Refusal("", "Give a shorter name."),
    "ENFILE": Refusal("", "Close programs, or raise the limit: ulimit -n"),
    "ENOMEM": Refusal("", "Close programs, or raise the limit: ulimit -v"),
    "ENOSPC": _FULL,
    "EPERM": Refusal("", "Check whose it is and what you may do there: ls -ld"),
    "EROFS": Refusal(
        "the disk is read-only",
        "It can be read, but not changed; work on a copy that can be written.",
    ),
}
#: Free bytes below which a disk is full: git's smallest files take one block each. Where files
#: may not even be as large, no store can be written.
_NEARLY_NOTHING = 16 * 1024

# What git prints for them: the system's words in the C locale, and one of its own.
_WORDS = {
    "Disk quota exceeded": "EDQUOT",
    "File too large": "EFBIG",
    "No space left on device": "ENOSPC",
    "Out of diskspace": "ENOSPC",
    "Permission denied": "EACCES",
    "Read-only file system": "EROFS",
}


def refusal(error: OSError) -> Refusal:
    """Why the system refused, in plain words or its own, and what helps (empty if unknown)."""
    known = _KNOWN.get(errno.errorcode.get(error.errno or 0, ""), Refusal("", ""))
    return known._replace(why=known.why or error.strerror or str(error))


def refusal_of_git(code: int, said: str, git_dir: Path) -> Refusal | None:
    """Why the machine stopped a git that ended with ``code``; None where it did not.

    Where git does not pass on what the system said, the disk of ``git_dir`` and the limit on the
    size of files are looked at.
    """
    if sys.platform != "win32" and code == -signal.SIGXFSZ:
        return _TOO_LARGE
    name = next((name for words, name in _WORDS.items() if words in said), None)
    if name is None and code != 0:
        name = _state_of_disk(git_dir) or _state_of_limit()
    return _KNOWN[name] if name else None


def _state_of_disk(folder: Path) -> str | None:
    if sys.platform == "win32":
        return None
    try:
        disk = os.statvfs(folder)
    except OSError:
        return None
    if disk.f_flag & os.ST_RDONLY:
        return "EROFS"
    has_inodes = disk.f_files == 0 or disk.f_favail > 0  # some disks do not count them
    return None if has_inodes and disk.f_bavail * disk.f_frsize >= _NEARLY_NOTHING else "ENOSPC"


def _state_of_limit() -> str | None:
    if sys.platform == "win32":
        return None
    import resource  # only where something went wrong

    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return "EFBIG" if 0 <= limit < _NEARLY_NOTHING else None
