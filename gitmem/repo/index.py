"""The index of a work tree: the one place that lets git at a person's files.

A store's own configuration may name filter programs, and git runs them on every file whose
content it writes or compares. It compares some whenever it writes an index: those that were
changed in the same instant as the index, so that their times say nothing. There is no way to
switch off a filter without knowing its name; so where there may be one, git is not asked about
files, and gets to see none while it writes an index.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gitmem.domain.layout import PRIVATE
from gitmem.repo.opening import read_config
from gitmem.repo.own_locks import may_leave
from gitmem.repo.runner import Result, Runner

_ANY_STATUS = range(-128, 256)  # below 0: ended by a signal
_NO_FILES = "no-files"
"""An empty folder beside the store's lock, there while git writes an index."""


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A work tree of the store: its ``key`` in the notes, its files, its own git directory.

    ``index`` is an index that git uses just now in place of the work tree's own.
    """

    key: str
    path: Path
    git_dir: Path
    index: Path | None = None

    @property
    def lock(self) -> Path:
        """The file that is there while a git program writes the index, or was killed at it."""
        index = self.index or self.git_dir / "index"
        return index.with_name(f"{index.name}.lock")


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A path as the index holds it; ``flag`` is ``git ls-files -v``'s letter."""

    flag: str
    mode: str
    oid: str
    stage: str

    @property
    def is_hidden(self) -> bool:
        """Whether a person told git to leave the file out, or to overlook its changes."""
        return self.flag in "Ss" or self.flag.islower()


def read_index(runner: Runner, tree: WorkTree, paths: Sequence[str]) -> dict[str, IndexEntry]:
    """The entries at and below ``paths``, or all of them where none is given."""
    return dict(map(_entry, _list_index(runner, tree, paths)))


def special_entries(runner: Runner, tree: WorkTree) -> dict[str, IndexEntry]:
    """The entries with a conflict, and those that a person told git to leave out or overlook.

    Of the others, which are nearly all, no entry is made.
    """
    lines = _list_index(runner, tree, [])
    some = (line for line in lines if not (line.startswith("H ") and line[49:52] == " 0\t"))
    entries = dict(map(_entry, some))
    return {path: e for path, e in entries.items() if e.is_hidden or e.stage != "0"}


def _list_index(runner: Runner, tree: WorkTree, paths: Sequence[str]) -> list[str]:
    out = _git(runner, tree, ["ls-files", "--stage", "-v", "-z", "--", *paths], ok=(0,)).out
    return out.decode("utf-8", "surrogateescape").split("\0")[:-1]


def _entry(line: str) -> tuple[str, IndexEntry]:
    head, _, path = line.partition("\t")
    flag, mode, oid, stage = head.split(" ")
    return path, IndexEntry(flag, mode, oid, stage)


def is_at(runner: Runner, tree: WorkTree, commit: str) -> bool:
    """Whether the index that ``tree`` names holds exactly what ``commit`` does."""
    args = ["diff-index", "--cached", "--quiet", commit, "--"]
    return _git(runner, tree, args, ok=(0, 1)).code == 0


def on_files(runner: Runner, tree: WorkTree, args: Sequence[str]) -> Result | None:
    """Run ``git ARGS``, which compares or writes files of ``tree``, and maybe its index.

    None, and nothing is run, where git might run a filter.
    """
    return None if _filters_possible(runner.git_dir) else _git_on_index(runner, tree, args)


def update_index(runner: Runner, tree: WorkTree, args: Sequence[str], stdin: bytes) -> bool:
    """Run ``git update-index ARGS``, under the store's lock; whether it went well.

    ``stdin`` has whole entries, or paths whose flags alone change.
    """
    done = _writing(runner, tree, ["update-index", *args], stdin)
    return done is not None and done.code == 0


def read_into_index(runner: Runner, tree: WorkTree, commit: str) -> bool:
    """Make the index be what ``commit`` has, under the store's lock; whether it went well.

    No file is touched.
    """
    done = _writing(runner, tree, ["read-tree", commit])
    return done is not None and done.code == 0


def index_tree(runner: Runner, tree: WorkTree) -> str | None:
    """The tree object that the index makes, written under the store's lock.

    None where it has conflicts, or cannot be written.
    """
    done = _writing(runner, tree, ["write-tree"])
    return done.out.decode("ascii").strip() if done is not None and done.code == 0 else None


def _writing(
    runner: Runner, tree: WorkTree, args: Sequence[str], stdin: bytes | None = None
) -> Result | None:
    """Run what writes the index; None where the system refuses."""
    if not _filters_possible(runner.git_dir):
        return _git_on_index(runner, tree, args, stdin)
    index = tree.index or tree.git_dir / "index"
    empty = runner.git_dir / PRIVATE / _NO_FILES
    try:
        time = index.stat().st_mtime_ns if index.exists() else None
        with suppress(FileNotFoundError):
            empty.rmdir()  # left by a process that was killed; with something in it, it stays
        empty.mkdir(mode=0o700)
        try:
            done = _git_on_index(runner, tree, args, stdin, files=empty)
        finally:
            empty.rmdir()
        if time is not None:
            # What git could not compare, it has to go on suspecting: such files are not older.
            os.utime(index, ns=(time, time))
    except OSError:
        return None
    return done


def _git_on_index(
    runner: Runner,
    tree: WorkTree,
    args: Sequence[str],
    stdin: bytes | None = None,
    *,
    files: Path | None = None,
) -> Result:
    """Run what may write the index, and clear the lock file of a git that was killed at it."""
    lock = tree.lock
    was_locked = os.path.lexists(lock)
    with may_leave(runner, [lock]):
        done = _git(runner, tree, args, stdin, files=files)
    if done.code < 0 and not was_locked:
        with suppress(OSError):  # it stays in the way then, and is named
            lock.unlink(missing_ok=True)
    return done


def _git(
    runner: Runner,
    tree: WorkTree,
    args: Sequence[str],
    stdin: bytes | None = None,
    ok: Sequence[int] = _ANY_STATUS,
    *,
    files: Path | None = None,
) -> Result:
    return runner.run(
        args,
        stdin=stdin,
        ok=ok,
        writes=True,
        git_dir=tree.git_dir,
        work_tree=files or tree.path,
        index_file=tree.index,
    )


def _filters_possible(common: Path) -> bool:
    """Whether the repository's configuration may name a filter program."""
    config = read_config(common)
    if any(word in config for word in (b"filter", b"include")):
        return True
    return any((folder / "config.worktree").exists() for folder in _linked(common))


def _linked(common: Path) -> Iterable[Path]:
    try:
        return list((common / "worktrees").iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
