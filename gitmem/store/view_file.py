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
from gitmem.domain.objects import blob_id
from gitmem.errors import Busy
from gitmem.repo import Repo, finish_worktree
from gitmem.repo.files import fsync_folder, make_folder, write_file
from gitmem.repo.index import WorkTree, read_index
from gitmem.repo.lock import make_private
from gitmem.repo.reader import MAX_OBJECT
from gitmem.repo.worktree import is_behind, standing_in_the_way, work_trees
from gitmem.store.ledger import Head

EDITED = "edited"
_MAIN_TREE = "."


def restore_view(repo: Repo, head: Head) -> list[str]:
    """Make MEMORY.md in the main work tree what is remembered; return what was done.

    That is what the newest accepted commit has. Where somebody has checked out a stray on top of
    it, the file is left as git put it there; nothing of a stray is ever written here.

    Costs reading two small trees and the file where nothing is to be done. Nothing is touched
    while the work tree is on another branch, in the middle of a merge or rebase, or behind main,
    when another writer is at work, or in a store that cannot be written.
    """
    notes = finish_worktree(repo)
    tree = _main_tree(repo)
    wanted = _accepted(repo, head)
    if tree is None or _is_as_accepted(tree, wanted) or not _writable(repo, tree):
        return notes
    try:
        with repo.lock(timeout=0):
            if repo.read_ref(MAIN) != head.tip:
                return notes  # whoever moved main has brought the file along
            if is_behind(repo) or standing_in_the_way(tree):
                return notes
            entry = read_index(repo.runner, tree, [VIEW]).get(VIEW)
            if entry and (entry.is_hidden or (head.strays and entry.oid != wanted)):
                return notes
            return notes + list(_restore(repo, tree, wanted))
    except Busy:  # whoever holds the lock may be bringing the file along; the next command looks
        return notes


def _main_tree(repo: Repo) -> WorkTree | None:
    return next((tree for tree in work_trees(repo) if tree.key == _MAIN_TREE), None)


def _accepted(repo: Repo, head: Head) -> str:
    """The blob that the newest accepted commit has as its view."""
    entries = repo.reader.tree(repo.reader.commit(head.accepted).tree)
    return next(entry.oid for entry in entries if entry.name == VIEW)


def _is_as_accepted(tree: WorkTree, wanted: str) -> bool:
    try:
        content = _content(tree.path / VIEW)
    except OSError:
        return False
    return content is not None and _is(content, wanted)


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


def _restore(repo: Repo, tree: WorkTree, wanted: str) -> Iterator[str]:
    path = tree.path / VIEW
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
