"""The folder of session files, and what is done with a file in it whatever it says."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from gitmem.domain.session import MAX_SESSION_ID, SESSION_ID
from gitmem.domain.shell import shell_word
from gitmem.errors import GitmemError, NotFound
from gitmem.repo.files import fsync_folder, make_folder
from gitmem.repo.places import misplaced
from gitmem.sessions.format import Stored, end_of_lines, is_message, read_header, scan

#: How the name of a file begins that is no session yet.
UNFINISHED = ".new-"
#: How the name of a file begins that says how far a client's file was kept.
MARK = ".read-"
_ID = re.compile(SESSION_ID)
#: Seconds after which an unfinished file has nobody any more who is writing it.
_ABANDONED = 86_400
#: Seconds after which a mark that nobody used speaks of no session any more.
_FORGOTTEN = 40 * 86_400


class Folder:
    """The session files of one store. The folder is made (mode 0700) when first needed.

    A link is never followed, neither in place of the folder nor of a file in it: every method
    that looks at one raises GitmemError.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def path(self, session_id: str) -> Path:
        """Return where the session with this id is, or would be."""
        return self.directory / f"{session_id}.jsonl"

    def paths(self) -> Iterator[Path]:
        """Yield the session files, sorted by their ids."""
        self.check()
        if not self.directory.is_dir():
            return
        for path in sorted(self.directory.iterdir()):
            if path.suffix == ".jsonl" and _ID.fullmatch(path.stem) and path.is_file():
                yield path

    def alike(self, wanted: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Yield the session files whose headers hold what is ``wanted``, and their headers."""
        for path in self.paths():
            _check_file(path)
            header = read_header(path)
            if header and all(header.get(key) == value for key, value in wanted.items()):
                yield path, header

    def check(self) -> None:
        """Refuse a link, or a file, in place of the folder."""
        if self.directory.is_symlink():
            raise GitmemError(
                f"{self.directory}: is a symbolic link; conversations are kept only inside the "
                "git directory",
                hint=f"Remove it if you did not make it: rm {shell_word(str(self.directory))}",
            )
        for found in misplaced(self.directory.parent, [self.directory.name], []):
            raise found.error

    def read(self, session_id: str) -> Stored | None:
        """Look through a session file; None where there is none with this id.

        Raises:
            InvalidInput: it is damaged or of a newer version.
        """
        if not _ID.fullmatch(session_id) or len(session_id) > MAX_SESSION_ID:
            return None
        self.check()
        path = self.path(session_id)
        _check_file(path)
        try:
            return scan(path)
        except FileNotFoundError:
            return None

    def has_messages_after(self, session_id: str, end: int) -> bool:
        """Whether a session file holds messages from byte ``end`` on; markers are none.

        Also where the file is shorter than that, or has no line's end there.

        Raises:
            NotFound: there is no such file.
        """
        self.check()
        path = self.path(session_id)
        _check_file(path)
        try:
            with path.open("rb") as file:
                file.seek(end - 1)
                first, *rest = file.read().split(b"\n")
        except FileNotFoundError as error:
            raise NotFound(f"no session {session_id!r} on this machine") from error
        return bool(first) or any(is_message(line) for line in rest)

    def publish(self, written: Path, session_id: str) -> None:
        """Make a file that is written and durable the session with this id."""
        os.replace(written, self.path(session_id))
        fsync_folder(self.directory)

    def make(self) -> None:
        """Make the folder where it is not there; nobody but the owner can look into it."""
        self.check()
        self.directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_folder(self.directory)
        self.directory.chmod(0o700)

    def sweep(self) -> None:
        """Delete what processes left that died while they read a conversation, and old marks."""
        for beginning, seconds in ((UNFINISHED, _ABANDONED), (MARK, _FORGOTTEN)):
            for path in self.directory.glob(f"{beginning}*"):
                with contextlib.suppress(OSError):
                    if path.lstat().st_mtime >= time.time() - seconds:
                        continue
                    if path.is_dir() and not path.is_symlink():
                        shutil.rmtree(path)
                    else:
                        path.unlink()

    def append(self, session_id: str, lines: BinaryIO) -> None:
        """Append whole lines, to their end, after cutting off a torn last line."""
        self.check()
        path = self.path(session_id)
        _check_file(path)
        with path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            end = end_of_lines(file, size)
            if end != size:
                file.truncate(end)
            file.seek(end)
            shutil.copyfileobj(lines, file, 1024 * 1024)
            file.flush()
            os.fsync(file.fileno())


def _check_file(path: Path) -> None:
    """Refuse what is no plain file: opening a pipe would wait for somebody to write to it."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        what = "a symbolic link" if path.is_symlink() else "no plain file"
        raise GitmemError(
            f"{path}: is {what}, and no session that gitmem stored",
            hint=f"Remove it: rm {shell_word(str(path))}",
        )
