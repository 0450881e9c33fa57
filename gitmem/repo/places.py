"""A file where a folder belongs, or a folder where a file does: named, with the way out."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from gitmem.domain.layout import INFLIGHT, KEPT, MAIN, PROPOSALS
from gitmem.domain.shell import shell_word
from gitmem.errors import GitmemError
from gitmem.repo.discovery import looks_like_git_dir

#: What git and gitmem write below the git directory whenever a ref moves.
_FOLDERS = ("refs/gitmem", KEPT, INFLIGHT, PROPOSALS, "logs", "logs/refs", "logs/refs/heads")
_FILES = (
    MAIN,
    f"{MAIN}.lock",
    f"logs/{MAIN}",
    "HEAD.lock",
    "packed-refs",
    "packed-refs.lock",
    "packed-refs.new",
)


class Misplaced(NamedTuple):
    """Something at ``path`` that is a folder, or else is none and should be one."""

    path: Path
    is_folder: bool

    @property
    def what(self) -> str:
        """What is wrong with it."""
        if self.is_folder:
            return "is a folder, and a file belongs there"
        return "is a file, and a folder belongs there"

    @property
    def away(self) -> str:
        """A command that moves it out of the way; nothing among refs, where all counts as one."""
        git_dir = next((up for up in self.path.parents if looks_like_git_dir(up)), None)
        folder = git_dir or self.path.parent
        target = _free(folder, f"{self.path.name}.away")
        return f"mv {shell_word(str(self.path))} {shell_word(str(target))}"

    @property
    def error(self) -> GitmemError:
        """What to raise where it stops a command."""
        return GitmemError(
            f"{self.path}: {self.what}",
            hint=f"Move it away, and run the command again: {self.away}",
        )


def misplaced(base: Path, folders: Iterable[str], files: Iterable[str]) -> Iterator[Misplaced]:
    """Yield what stands at those places below ``base`` and is of the other kind."""
    for name in folders:
        path = base / name
        if os.path.exists(path) and not os.path.isdir(path):
            yield Misplaced(path, is_folder=False)
    for name in files:
        if os.path.isdir(base / name):
            yield Misplaced(base / name, is_folder=True)


def misplaced_for_refs(git_dir: Path) -> Iterator[Misplaced]:
    """Yield what would stop git from moving a ref below ``git_dir``."""
    return misplaced(git_dir, _FOLDERS, _FILES)


def found_by(error: OSError) -> Misplaced | None:
    """What an error of the system tripped over, if it was something of the wrong kind."""
    for name in (error.filename2, error.filename):
        if not isinstance(name, str | os.PathLike):
            continue
        path = Path(name).absolute()
        if error.errno == errno.EISDIR and os.path.isdir(path):
            return Misplaced(path, is_folder=True)
        if error.errno in (errno.ENOTDIR, errno.EEXIST):
            there = next((up for up in (path, *path.parents) if os.path.lexists(up)), path)
            if os.path.exists(there) and not os.path.isdir(there):
                return Misplaced(there, is_folder=False)
    return None


def _free(folder: Path, name: str) -> Path:
    path, number = folder / name, 1
    while os.path.lexists(path):
        number += 1
        path = folder / f"{name}-{number}"
    return path
