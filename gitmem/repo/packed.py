"""git's file of packed refs: whether git can read it, and how it can again.

A line that is none stops every git program at once, and no ref that stands there is found.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from gitmem.errors import Busy
from gitmem.repo.files import fsync_folder, read_regular, write_file

PACKED_REFS = "packed-refs"
_MAX_BYTES = 256 * 1024 * 1024
_REF = re.compile(rb"[0-9a-f]{40} refs/[^\x00-\x20\x7f~^:?*\[\\]+\n")
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_PEELED = re.compile(rb"\^[0-9a-f]{40}\n")


def unreadable_lines(git_dir: Path) -> list[int]:
    """Return the numbers of the lines of ``packed-refs`` that are none, from 1."""
    data = b""
    with suppress(OSError):  # whoever needs it says why it cannot be read
        data = read_regular(git_dir / PACKED_REFS, _MAX_BYTES) or b""
    return [number for number, _, is_good in _judged(data) if not is_good]


def mend(git_dir: Path, kept: Path) -> list[int]:
    """Take out of ``packed-refs`` what is no line of it; the file as it was goes to ``kept``.

    Returns the numbers of those lines. The file is never away meanwhile.

    Raises:
        Busy: a git program is writing it.
        OSError: it could not be written.
    """
    path = git_dir / PACKED_REFS
    lock = path.with_name(f"{PACKED_REFS}.lock")
    if not unreadable_lines(git_dir):
        return []
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        raise Busy(f"{lock} is there: git is writing the refs", hint="Try again.") from None
    try:
        os.close(descriptor)
        data = read_regular(path, _MAX_BYTES) or b""
        lines = _judged(data)
        write_file(kept, data)
        fsync_folder(kept.parent)
        write_file(path, b"".join(line for _, line, is_good in lines if is_good))
        fsync_folder(git_dir)
    finally:
        with suppress(FileNotFoundError):
            lock.unlink()
    return [number for number, _, is_good in lines if not is_good]


def _judged(data: bytes) -> list[tuple[int, bytes, bool]]:
    """Return each line with its number, and whether it is one; what is peeled follows its ref."""
    found: list[tuple[int, bytes, bool]] = []
    before = False
    for number, line in enumerate(_LINE.findall(data), start=1):
        if line.startswith(b"#"):
            is_good = number == 1 and line.endswith(b"\n")
        elif line.startswith(b"^"):
            is_good = before and _PEELED.fullmatch(line) is not None
        else:
            is_good = before = _REF.fullmatch(line) is not None
        found.append((number, line, is_good))
    return found
