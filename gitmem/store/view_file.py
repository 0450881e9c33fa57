"""MEMORY.md in the checked-out files: rebuilt when it is missing or edited; no edit is lost.

The file is derived, so an edit of it is no memory; but somebody wrote it. It is kept aside
before the file is made again what main says.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from gitmem.domain.layout import MAIN, VIEW
from gitmem.domain.objects import FILE_MODE, blob_id
from gitmem.errors import Busy
from gitmem.repo import Repo, finish_worktree
from gitmem.repo.files import fsync_folder, make_folder, write_file
from gitmem.repo.index import WorkTree, read_index
from gitmem.repo.lock import make_private
from gitmem.repo.reader import MAX_OBJECT
from gitmem.repo.worktree import is_behind, standing_in_the_way, work_trees

EDITED = "edited"
_MAIN_TREE = "."


def restore_view(repo: Repo) -> list[str]:
    """Make MEMORY.md in the main work tree what the tip of main has; return what was done.

    Costs reading two small trees and the file where nothing is to be done. Nothing is touched
    while the work tree is on another branch, in the middle of a merge or rebase, or behind main,
    when another writer is at work, or in a store that cannot be written.
    """
    notes = finish_worktree(repo)
    tree = _main_tree(repo)
    if tree is None or _is_as_committed(repo, tree) or not _writable(repo, tree):
        return notes
    try:
        with repo.lock(timeout=0):
            if is_behind(repo) or standing_in_the_way(tree) or _hidden_from_git(repo, tree):
                return notes
            return notes + list(_restore(repo, tree))
    except Busy:  # whoever holds the lock may be bringing the file along; the next command looks
        return notes


def _main_tree(repo: Repo) -> WorkTree | None:
    return next((tree for tree in work_trees(repo) if tree.key == _MAIN_TREE), None)


def _committed(repo: Repo) -> str | None:
    """The blob that the tip of main has as its view."""
    tip = repo.read_ref(MAIN)
    if tip is None:
        return None
    entries = repo.reader.tree(repo.reader.commit(tip).tree)
    return next((e.oid for e in entries if e.name == VIEW and e.mode == FILE_MODE), None)


def _is_as_committed(repo: Repo, tree: WorkTree) -> bool:
    wanted = _committed(repo)
    try:
        content = _content(tree.path / VIEW)
    except OSError:
        return False
    return wanted is None or (content is not None and _is(content, wanted))


def _is(content: bytes, oid: str) -> bool:
    # A checkout may have given it CRLF line ends; that is nobody's edit.
    return oid in (blob_id(content), blob_id(content.replace(b"\r\n", b"\n")))


def _content(path: Path) -> bytes | None:
    """The bytes of a plain file, None where nothing is; no link is followed.

    Raises:
        OSError: something else is there, it is too large, or it cannot be read.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        kind = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "no plain file"
        raise FileExistsError(0, f"it is {kind}")
    if status.st_size > MAX_OBJECT:
        raise FileExistsError(0, f"it has {status.st_size} bytes, more than {MAX_OBJECT}")
    return path.read_bytes()


def _writable(repo: Repo, tree: WorkTree) -> bool:
    return all(os.access(folder, os.W_OK) for folder in (repo.private, tree.path))


def _hidden_from_git(repo: Repo, tree: WorkTree) -> bool:
    """Whether a person told git to leave this file out, or to overlook its changes."""
    return any(entry.is_hidden for entry in read_index(repo.runner, tree, [VIEW]).values())


def _restore(repo: Repo, tree: WorkTree) -> Iterator[str]:
    path = tree.path / VIEW
    wanted = _committed(repo)
    if wanted is None:
        return
    try:
        content = _content(path)
        if content is not None and _is(content, wanted):
            return
        kept = _keep(repo, content) if content is not None else None
        write_file(path, repo.reader.blob(wanted), keep_mode=True)
    except OSError as error:
        yield f"Left {path} as it is: {error.strerror}. Move it away; `gitmem status` rebuilds it."
        return
    if kept is None:
        yield f"{path} was missing and is written again."
    else:
        yield f"{path} had been edited; it is rebuilt, and the edited text is kept as {kept}."


def _keep(repo: Repo, content: bytes) -> Path:
    """Write an edited view aside, named by its blob id; nothing there is ever overwritten.

    Raises:
        OSError: it could not be kept.
    """
    make_private(repo.private)
    folder = repo.private / EDITED
    if folder.is_symlink():
        raise FileExistsError(0, f"its text cannot be kept, since {folder} is a symbolic link")
    make_folder(folder)
    oid = blob_id(content)
    for name in (f"MEMORY-{oid[:8]}.md", f"MEMORY-{oid}.md"):
        path = folder / name
        if not os.path.lexists(path):
            write_file(path, content)
            fsync_folder(folder)
            return path
        if _content(path) == content:
            return path
    raise FileExistsError(0, f"its text cannot be kept, since {path} is something else")
