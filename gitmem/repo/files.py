"""Writing files so that they are whole, durable, and never somebody else's through a link."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import uuid
from pathlib import Path

_UNFINISHED = re.compile(r"\..{1,40}\.[0-9a-f]{32}\.tmp", re.DOTALL)


def write_file(path: Path, data: bytes, *, keep_mode: bool = False, durable: bool = True) -> None:
    """Write a file beside its place, sync it, and move it there.

    A link at ``path`` is replaced, not followed. ``keep_mode`` gives the new file the
    permissions of the one it replaces. Without ``durable`` a power failure may leave an older
    or an empty file: for what can be made again, such as a checked-out file.

    Raises:
        OSError: it could not be written, or not as a whole; what was there still is.
    """
    temporary = path.with_name(f".{path.name[:40]}.{uuid.uuid4().hex}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, 0o666), "wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
            if os.fstat(file.fileno()).st_size != len(data):
                raise OSError(0, "the disk took only a part of it")
            if keep_mode and os.name == "posix" and path.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(path.lstat().st_mode))
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def clear_unfinished(folder: Path) -> None:
    """Remove what :func:`write_file` leaves in ``folder`` when it is killed.

    The caller makes sure that nobody is writing there.
    """
    with contextlib.suppress(OSError):  # no such folder, or it cannot be written
        for name in os.listdir(folder):
            if _UNFINISHED.fullmatch(name):
                (folder / name).unlink(missing_ok=True)


def read_regular(path: Path, max_bytes: int) -> bytes | None:
    """The first bytes of a plain file; None where something else is there, such as a pipe.

    No link is followed, and opening waits for nobody.

    Raises:
        OSError: it is not there, or cannot be read.
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        return None
    # Something else may stand there by now.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
        return file.read(max_bytes)


def make_folder(folder: Path) -> None:
    """Make a folder of this user's own where there is none; its name is durable then.

    Raises:
        OSError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise
    else:
        fsync_folder(folder.parent)


def fsync_folder(folder: Path) -> None:
    """Make the renames in ``folder`` durable; git syncs files, never folders.

    Raises:
        OSError: the system could not.
    """
    if os.name != "posix":
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:  # the last ref in it is gone, and git removed the folder
        return
    try:
        os.fsync(handle)
    except OSError as error:
        error.filename = str(folder)
        raise
    finally:
        os.close(handle)
