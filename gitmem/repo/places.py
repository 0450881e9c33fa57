"""What stands in a place of the git directory and is of the wrong kind: named, with the way out.

A file where a folder belongs, a folder where a file does, or a link that leads out of it: git
follows one to write its refs, their logs and its packs, into whatever repository it names.
"""

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
#: What git writes to, and might be led out by a link.
_WRITTEN = ("objects", "objects/pack", "refs", "refs/heads", *_FOLDERS, f"logs/{MAIN}")
_WRITTEN_FILES = ("logs/HEAD", "packed-refs")


class LeadsOut(NamedTuple):
    """A link at ``path`` that leads out of the git directory, to ``target``."""

    path: Path
    target: Path

    @property
    def what(self) -> str:
        """What is wrong with it."""
        return f"is a symbolic link out of the git directory, to {str(self.target)!r}"

    @property
    def fix(self) -> str:
        """A sentence with a command that puts in its place what it leads to."""
        link, target = shell_word(str(self.path)), shell_word(str(self.target))
        if not os.path.exists(self.target):
            return f"Remove it: rm {link}"
        return f"Put what it leads to in its place: rm {link} && cp -R {target} {link}"

    @property
    def error(self) -> GitmemError:
        """What to raise where something would be written through it."""
        return GitmemError(
            f"{self.path}: {self.what}; gitmem writes only inside the git directory", hint=self.fix
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
    def fix(self) -> str:
        """A sentence with the command that moves it out of the way."""
        return f"Move it away: {self.away}"

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


def misplaced_for_refs(git_dir: Path) -> Iterator[Misplaced | LeadsOut]:
    """Yield what would stop git from moving a ref below ``git_dir``, or lead it elsewhere."""
    yield from leading_out(git_dir, (*_WRITTEN, *_WRITTEN_FILES))
    yield from misplaced(git_dir, _FOLDERS, _FILES)


def leading_out(git_dir: Path, names: Iterable[str]) -> Iterator[LeadsOut]:
    """Yield the links among those places that lead out of ``git_dir``, which is no link."""
    for name in names:
        if not os.path.islink(os.path.join(git_dir, name)):
            continue
        path = git_dir / name
        if not (target := path.resolve()).is_relative_to(git_dir):
            yield LeadsOut(path, target)


def places_of_ref(ref: str) -> Iterator[str]:
    """What git writes below the git directory when it moves ``ref``.

    The ref's own file is not among them: git replaces a link there.
    """
    for base in ("", "logs/"):
        parts = f"{base}{ref}".split("/")
        yield from ("/".join(parts[:end]) for end in range(1, len(parts)))
    yield f"logs/{ref}"


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
