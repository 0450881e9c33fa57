"""What a person changed by hand: in checked-out files, or between two commits.

What counts is the content, so an index that is behind, line ends that a checkout made, and
settings of filters make no edit. Nothing is written here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.domain.layout import MAIN, RECORDS
from gitmem.domain.objects import blob_id
from gitmem.domain.shell import shell_word
from gitmem.errors import InvalidInput
from gitmem.repo.checkout import read_plain, unlocking
from gitmem.repo.index import IndexEntry, WorkTree, on_files, special_entries
from gitmem.repo.reader import Found
from gitmem.repo.refs import symbolic_target
from gitmem.repo.runner import failed
from gitmem.repo.trees import changed_paths, diff_trees, is_beyond_measure
from gitmem.repo.worktree import is_behind, standing_in_the_way, work_trees
from gitmem.repo.writer import stays_inside

if TYPE_CHECKING:
    from gitmem.repo.repository import Repo

MAX_EDITED = 256 * 1024
"""Bytes of a changed file that are looked at; the largest legal file of a store has 32 KB."""

_MAX_DEPTH = 8
"""Folders within ``records`` that are looked into; a store has two."""

_FILES = ("100644", "100755")
_KINDS = {"120000": "a symbolic link", "160000": "a repository of its own"}


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One path that a person changed.

    ``old`` and ``new`` are the blobs before and now (None: there is none), ``data`` the content
    now. ``problem`` says why what is there cannot be read; then ``data`` is None.
    """

    path: str
    old: str | None
    new: str | None
    data: bytes | None = None
    problem: str = ""

    @property
    def is_gone(self) -> bool:
        """Whether nothing is there any more."""
        return self.new is None and not self.problem


def edits_between(repo: Repo, old: str, new: str, read: Callable[[str], bool]) -> list[FileEdit]:
    """What the commit ``new`` has otherwise than the commit ``old``, by path.

    The content comes along for the paths that ``read`` asks for: a stray may have any others.

    Raises:
        NotFound, InvalidInput: one of them is no commit here, or has more files than anybody
            could look at.
    """
    trees = repo.reader.commit(old).tree, repo.reader.commit(new).tree
    try:
        changes = diff_trees(repo.reader, *trees)
    except InvalidInput:  # folders nested deeper than a store's; git copes
        if is_beyond_measure(repo.reader, *trees):
            raise
        changes = changed_paths(repo.runner, *trees)
    found = []
    for change in changes:
        data, problem = None, ""
        if change.new_oid and change.new_mode not in _FILES:
            problem = f"it is {_KINDS.get(change.new_mode, 'no plain file')}"
        elif change.new_oid and read(change.path):
            data, problem = _blob(repo, change.new_oid)
        found.append(FileEdit(change.path, change.old_oid, change.new_oid, data, problem))
    return found


def _blob(repo: Repo, oid: str) -> tuple[bytes | None, str]:
    (found,) = repo.reader.read_many([oid], max_bytes=MAX_EDITED)
    if isinstance(found, Found):
        return found.data, ""
    return None, _too_large(found.size) if found else f"its content ({oid}) is missing"


def _too_large(size: int) -> str:
    return f"it has {size} bytes; at most {MAX_EDITED} are looked at"


def main_work_trees(repo: Repo) -> tuple[list[WorkTree], list[str]]:
    """The work trees whose files can be compared with main, and why another one cannot."""
    notes = []
    head = symbolic_target(repo.work_git_dir)
    this = WorkTree("", repo.root, repo.work_git_dir) if repo.root is not None else None
    if this is not None and head != MAIN and (reason := standing_in_the_way(this)):
        # Such as a rebase, which leaves main until it is over.
        notes.append(_not_looked_at(this, reason))
    elif this is not None and head != MAIN:
        at = head.removeprefix("refs/heads/") if head else "a commit of its own"
        notes.append(
            f"{this.path} is at {at} and not on main, so its files were not looked at: "
            "what was edited by hand is adopted from a checkout of main"
        )
    found = []
    trees = work_trees(repo)
    if this is not None and head == MAIN and this.path not in [tree.path for tree in trees]:
        notes.append(
            f"{this.path} has no index, so its files were not looked at; this makes one and "
            "keeps the files: gitmem fsck --repair"
        )
    for tree in trees:
        reason = standing_in_the_way(tree)
        if reason is None and is_behind(repo):
            reason = "they are still as before the last merge"
        if reason:
            notes.append(_not_looked_at(tree, reason))
        elif not _is_folder_or_gone(tree.path / RECORDS):
            # Else every record would look as if a person had deleted it.
            notes.append(
                f"{tree.path / RECORDS} is no folder, so the files there were not looked at: "
                "`gitmem fsck` says how to move it away"
            )
        else:
            found.append(tree)
    return found, notes


def _is_folder_or_gone(path: Path) -> bool:
    return not os.path.lexists(path) or (path.is_dir() and not path.is_symlink())


def _not_looked_at(tree: WorkTree, reason: str) -> str:
    see = unlocking(tree) or f" End that first; see: git -C {shell_word(str(tree.path))} status"
    return f"the files in {tree.path} were not looked at: {reason}.{see}"


def edits_in_files(repo: Repo, tree: WorkTree, commit: str) -> list[FileEdit]:
    """What the files of ``tree`` have otherwise than ``commit``, by path.

    Every path of the commit counts, and what lies untracked below ``records`` and ends in
    ``.md``. What cannot be taken as it stands has a ``problem``: paths with a conflict, and those
    that a person told git to overlook. Files that are left out (a sparse checkout) are no edits.
    No link is followed.
    """
    committed = {path: oid for _, oid, path in repo.list_tree(commit) if stays_inside(path)}
    suspects = committed.keys() & _suspects(repo, tree, commit, committed)
    special = special_entries(repo.runner, tree)
    untracked = set(_records_below(str(tree.path / RECORDS), RECORDS)) - committed.keys()
    found = []
    for path in sorted(suspects | untracked | special.keys()):
        edit = _compared(tree.path, path, committed.get(path))
        if path in special:
            edit = _special(tree.path, path, committed.get(path), special[path], edit)
        if edit is not None:
            found.append(edit)
    return found


def _special(
    root: Path, path: str, old: str | None, entry: IndexEntry, edit: FileEdit | None
) -> FileEdit | None:
    """A path with a conflict, or one that git was told to overlook: named, never taken."""
    git, word = f"git -C {shell_word(str(root))}", shell_word(path)
    if entry.stage != "0":
        problem = (
            "it has a conflict in git: put both together in the file, then run this and "
            f"`gitmem adopt` again: {git} add -- {word}"
        )
        return FileEdit(path, old, None, None, problem)
    if edit is None or edit.problem or (edit.is_gone and entry.flag in "Ss"):
        return edit if edit and edit.problem else None
    flag = "--no-skip-worktree" if entry.flag in "Ss" else "--no-assume-unchanged"
    problem = f"it is changed, but is to be overlooked by git: {git} update-index {flag} -- {word}"
    return FileEdit(path, old, None, None, problem)


def _suspects(
    repo: Repo, tree: WorkTree, commit: str, committed: Collection[str]
) -> Collection[str]:
    """The paths that have to be read: git knows of most that they were not touched since.

    Where git might run a filter to find out, it is not asked, and that is all of them.
    """
    args = ["diff-index", "--raw", "-z", "--no-renames", "--ignore-submodules=all", commit, "--"]
    done = on_files(repo.runner, tree, args)
    if done is None:
        return committed
    if done.code != 0:
        raise failed(args[0], done, repo.git_dir)
    return set(done.out.decode("utf-8", "surrogateescape").split("\0")[1::2])


def _compared(root: Path, path: str, old: str | None) -> FileEdit | None:
    try:
        data = _content(root, path)
    except OSError as error:
        return FileEdit(path, old, None, None, f"it cannot be read: {error.strerror}")
    if data is None:
        return FileEdit(path, old, None) if old else None
    if old in (blob_id(data), blob_id(data.replace(b"\r\n", b"\n"))):
        return None
    if len(data) > MAX_EDITED:
        return FileEdit(path, old, None, None, _too_large(len(data)))
    return FileEdit(path, old, blob_id(data), data)


def _content(root: Path, path: str) -> bytes | None:
    """The bytes of a plain file below real folders, or None when nothing is there.

    Raises:
        OSError: something else is there, or it cannot be read.
    """
    for parent in _folders(path):
        if (root / parent).is_symlink():
            raise FileExistsError(0, f"the folder {parent} is a symbolic link")
    if (root / path).is_symlink():
        raise FileExistsError(0, "a symbolic link is in its place")
    try:
        return read_plain(root / path)
    except NotADirectoryError:  # a file is in the place of a folder, so this one is gone
        return None


def _folders(path: str) -> Iterable[str]:
    parts = path.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts)))


def _records_below(folder: str, path: str, depth: int = 0) -> Iterator[str]:
    """The paths of everything named like a record's file; editors' own files begin with a dot.

    ``path`` is how a store calls ``folder``.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if depth < _MAX_DEPTH:
                yield from _records_below(entry.path, f"{path}/{entry.name}", depth + 1)
        elif entry.name.endswith(".md") and not entry.name.startswith("."):
            yield f"{path}/{entry.name}"
