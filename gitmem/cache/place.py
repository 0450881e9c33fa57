"""Whether a file may be the projection's, looked at before SQLite opens or makes anything."""

from __future__ import annotations

import os
import stat
from pathlib import Path

#: What SQLite keeps beside a database, the database itself first.
SUFFIXES = ("", "-wal", "-shm", "-journal")


def refusal(path: Path) -> str:
    """Return why the database at ``path`` is not to be opened; empty where it may be.

    SQLite follows links, so a link in its place would have another program's database changed,
    or a file made anywhere. A file of another user could say anything: its owner is to be this
    user, the owner of the folder, or root.
    """
    try:
        folder = path.parent.lstat()
        if not stat.S_ISDIR(folder.st_mode):
            return f"{path.parent} is no plain folder"
    except FileNotFoundError:
        return ""  # nothing is there yet
    except OSError as error:
        return f"{path.parent}: {error.strerror}"
    for suffix in SUFFIXES:
        file = path.with_name(path.name + suffix)
        try:
            found = file.lstat()
        except FileNotFoundError:
            continue
        except OSError as error:
            return f"{file}: {error.strerror}"
        if not stat.S_ISREG(found.st_mode):
            return f"{file} is no plain file, but a link, a folder or the like"
        if _user() not in (None, found.st_uid) and found.st_uid not in (0, folder.st_uid):
            return f"{file} belongs to another user"
    return ""


def all_own(*places: Path) -> bool:
    """Return whether everything that is there at ``places`` belongs to this user."""
    user = _user()
    for place in places:
        try:
            if user not in (None, place.lstat().st_uid):
                return False
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return True


def remove(path: Path) -> None:
    """Remove a database with what SQLite keeps beside it.

    Raises:
        OSError: it cannot be removed.
    """
    for suffix in SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _user() -> int | None:
    return os.geteuid() if hasattr(os, "geteuid") else None
