"""Keeping checked-out files in step with ``refs/heads/main``.

A branch that moves under a checkout shows what came in as deleted, and the next
``git commit -a`` would undo it. So before main moves, each work tree on it is noted with the
commit that it is at; afterwards it is brought along and the note goes. What a crash leaves is
the note, and the next command goes on from there.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.domain.layout import MAIN, WORKTREE_NOTE
from gitmem.domain.objects import EMPTY_TREE, ZERO, is_oid
from gitmem.domain.shell import shell_word
from gitmem.errors import Busy, GitmemError
from gitmem.repo.checkout import advance, advance_index, unfinished
from gitmem.repo.discovery import linked_git_dir, read_pointer
from gitmem.repo.files import fsync_folder, write_file
from gitmem.repo.index import WorkTree, is_at
from gitmem.repo.lock import make_private
from gitmem.repo.refs import read_ref, symbolic_target

if TYPE_CHECKING:
    from gitmem.repo.repository import Repo

_MAX_NOTE = 1024 * 1024
_MAIN_TREE = "."
_COMMIT_WAIT = 10.0  # seconds for which a person's commit waits for a merge to end

_UNDER_WAY = {
    "rebase-merge": "a rebase is under way there",
    "rebase-apply": "a rebase is under way there",
    "MERGE_HEAD": "a merge is under way there",
    "CHERRY_PICK_HEAD": "a cherry-pick is under way there",
    "REVERT_HEAD": "a revert is under way there",
    "BISECT_LOG": "a bisect is under way there",
    "index.lock": "git is at work there (index.lock)",
}


@dataclass(frozen=True, slots=True)
class IndexHealing:
    """What became of an index that was behind.

    ``left``: paths that both a merge and a person changed, each with what stands in it now.
    ``empty``: nothing is different from HEAD any more, so there is nothing to commit.
    """

    left: dict[str, str]
    empty: bool


def work_trees(repo: Repo, *, unborn: bool = False) -> list[WorkTree]:
    """The work trees whose HEAD is ``refs/heads/main``, the main one first.

    ``unborn`` says that main has, or just had, no commit: then no index is expected. A linked
    one counts only if it points back here: a store that names somebody else's folder as its
    work tree must not get to write there.
    """
    return [tree for tree in _all_trees(repo, unborn) if symbolic_target(tree.git_dir) == MAIN]


def is_checked_out(repo: Repo, ref: str) -> bool:
    """Whether ``ref`` is the HEAD of a work tree; taking it away would leave that without one."""
    return any(symbolic_target(tree.git_dir) == ref for tree in _all_trees(repo, unborn=False))


def _all_trees(repo: Repo, unborn: bool) -> Iterable[WorkTree]:
    yield from _main_tree(repo, unborn)
    try:
        linked = sorted((repo.git_dir / "worktrees").iterdir())
    except (FileNotFoundError, NotADirectoryError):
        linked = []
    for git_dir in linked:
        pointer = read_pointer(git_dir / "gitdir")
        dot_git = (git_dir / pointer) if pointer else None
        if dot_git and dot_git.name == ".git" and linked_git_dir(dot_git) == git_dir.resolve():
            yield WorkTree(f"worktrees/{git_dir.name}", dot_git.parent, git_dir)


def _main_tree(repo: Repo, unborn: bool) -> Iterable[WorkTree]:
    root = repo.root if repo.work_git_dir == repo.git_dir else None
    if root is None and repo.git_dir.name == ".git":
        root = repo.git_dir.parent  # opened through a linked work tree, or by its git directory
    # Nothing is checked out where there is no index: a bare repository, or clone --no-checkout.
    expected = unborn and repo.root is not None
    if root is not None and (expected or (repo.git_dir / "index").exists()):
        yield WorkTree(_MAIN_TREE, root, repo.git_dir)


def note_worktree(repo: Repo, old: str | None) -> None:
    """Write down, durably, that the work trees on main are at ``old`` (None: nothing yet).

    To be called under the lock, before main moves. A work tree that an earlier move left
    behind keeps its older note.
    """
    noted, _ = _read(repo)
    fresh = {tree.key: old or ZERO for tree in work_trees(repo, unborn=old is None)}
    if fresh:
        _write(repo, fresh | noted)


def bring_along(repo: Repo, old: str | None, new: str) -> list[str]:
    """Bring every work tree on main from commit ``old`` (None: nothing) to ``new``.

    Returns sentences about what was left as it is, and why.
    """
    with repo.lock():
        noted, sentences = _read(repo)
        fresh = {tree.key: old or ZERO for tree in work_trees(repo, unborn=old is None)}
        return sentences + _advance(repo, fresh | noted, new)


def bring_one_along(repo: Repo, tree: WorkTree, old: str, new: str) -> list[str]:
    """Bring one work tree on main from commit ``old`` to ``new``. See :func:`bring_along`."""
    with repo.lock():
        noted, sentences = _read(repo)
        return sentences + _advance(repo, noted | {tree.key: old}, new)


def finish_worktree(repo: Repo) -> list[str]:
    """Go on where a program that died, or a rebase that is over now, stood in the way.

    Costs one look at a file where there is nothing to finish. Does nothing in a store that
    cannot be written, or while another writer is at work.
    """
    note = repo.private / WORKTREE_NOTE
    if not os.path.lexists(note) or not os.access(repo.private, os.W_OK):
        return []
    try:
        with repo.lock(timeout=0):
            noted, sentences = _read(repo)
            new = repo.read_ref(MAIN)
            if new is not None:
                return sentences + _advance(repo, noted, new)
            _drop(note)
            return sentences
    except Busy:  # whoever holds the lock finishes it, or the next command does
        return []


def is_behind(repo: Repo) -> bool:
    """Whether some work tree could not be brought along yet; then its files are not main's."""
    return os.path.lexists(repo.private / WORKTREE_NOTE)


def heal_index(repo: Repo, git_dir: Path, index: Path) -> IndexHealing | None:
    """Bring along what git is about to commit, where a merge has not reached it yet.

    ``git_dir`` is the work tree's own git directory, ``index`` the file that git uses, which
    may be a temporary one. The work tree itself is finished too, unless git is at work in it.
    None where nothing is noted for it.

    Raises:
        Busy: another process kept the store's lock.
        GitFailed: the index could not be written.
    """
    if _behind(repo, git_dir, _parsed(repo.private / WORKTREE_NOTE) or {}) is None:
        return None  # the usual case beside a writer that is at work: main has not moved yet
    with repo.lock(timeout=_COMMIT_WAIT):
        noted, _ = _read(repo)
        found = _behind(repo, git_dir, noted)
        if found is None:
            return None
        tree, head, before, after = found
        used = replace(tree, index=index)
        was_right = is_at(repo.runner, used, head)
        _advance(repo, noted, repo.read_ref(MAIN) or head)
        left = advance_index(repo.runner, repo.reader, used, before, after, repo.same_text)
        return IndexHealing(left, empty=not was_right and is_at(repo.runner, used, head))


def _behind(
    repo: Repo, git_dir: Path, noted: dict[str, str]
) -> tuple[WorkTree, str, str, str] | None:
    """The work tree of ``git_dir``, its HEAD, the tree it is at and the one it belongs at."""
    tree = next((t for t in _all_trees(repo, False) if t.git_dir == git_dir.resolve()), None)
    old = noted.get(tree.key) if tree else None
    head = _head_commit(repo, tree) if tree else None
    if tree is None or old is None or head is None:
        return None
    before, after = _tree(repo, old), _tree(repo, head)
    if before is None or after is None or before == after:
        return None
    return tree, head, before, after


def _advance(repo: Repo, noted: dict[str, str], new: str) -> list[str]:
    """Bring every noted work tree to ``new``, or to its own HEAD where that has left main.

    A checkout of another commit carries along what a merge had not reached yet, as if it were
    a person's change.
    """
    sentences: list[str] = []
    pending: dict[str, str] = {}
    for tree in _all_trees(repo, unborn=ZERO in noted.values()):
        old = noted.get(tree.key)
        head = new if symbolic_target(tree.git_dir) == MAIN else _head_commit(repo, tree)
        if old is None or head is None or old == head:
            continue
        old_tree, new_tree = _tree(repo, old), _tree(repo, head)
        if old_tree is None or new_tree is None:
            see = f"git -C {shell_word(str(tree.path))} status"
            sentences.append(f"{tree.path}: commit {old} is gone; compare with: {see}")
            continue
        reason = standing_in_the_way(tree)
        if reason:
            said, done = [unfinished(tree, reason)], False
        else:
            trees = (old_tree, new_tree)
            said, done = advance(repo.runner, repo.reader, tree, *trees, repo.same_text)
        sentences += said
        if not done:
            pending[tree.key] = old
    _write(repo, pending)
    return sentences


def _head_commit(repo: Repo, tree: WorkTree) -> str | None:
    branch = symbolic_target(tree.git_dir)
    return repo.read_ref(branch) if branch else read_ref(tree.git_dir, "HEAD")


def _tree(repo: Repo, commit: str) -> str | None:
    return EMPTY_TREE if commit == ZERO else repo.reader.resolve(f"{commit}^{{tree}}")


def standing_in_the_way(tree: WorkTree) -> str | None:
    """Why the files of ``tree`` are not to be touched now, or None where nothing is under way."""
    return next((why for name, why in _UNDER_WAY.items() if (tree.git_dir / name).exists()), None)


# --- the note ------------------------------------------------------------------------------


def _read(repo: Repo) -> tuple[dict[str, str], list[str]]:
    """What is noted (work tree -> commit), and a sentence if the note cannot be read."""
    path = repo.private / WORKTREE_NOTE
    if not os.path.lexists(path):
        return {}, []
    noted = _parsed(path)
    if noted is None:
        _drop(path)
        see = f"git -C {shell_word(str(repo.root or repo.git_dir))} status"
        return {}, [f"Dropped {path}, which was damaged; compare your files with: {see}"]
    return noted, []


def _parsed(path: Path) -> dict[str, str] | None:
    """What the note says; None where it is damaged or gone."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None  # a link, a folder or a pipe is not what was noted
        with path.open("rb") as file:
            noted = json.loads(file.read(_MAX_NOTE))
    except (FileNotFoundError, ValueError):
        return None
    except OSError as error:
        raise GitmemError(f"{path}: cannot be read ({error.strerror})") from error
    if not isinstance(noted, dict) or not all(
        isinstance(oid, str) and is_oid(oid) for oid in noted.values()
    ):
        return None
    return noted


def _drop(path: Path) -> None:
    """Remove whatever stands in the note's place, unless it is a folder with something in it."""
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            path.rmdir()
        else:
            path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise GitmemError(
            f"{path}: is in the way of a file of gitmem's, and cannot be removed "
            f"({error.strerror})",
            hint=f"Nothing was changed. Move it elsewhere: mv {shell_word(str(path))} SOMEWHERE",
        ) from error


def _write(repo: Repo, noted: dict[str, str]) -> None:
    path: Path = repo.private / WORKTREE_NOTE
    if not noted:
        _drop(path)
        return
    make_private(repo.private)
    try:
        write_file(path, json.dumps(noted, sort_keys=True).encode("ascii"))
        fsync_folder(repo.private)
    except OSError as error:
        raise GitmemError(f"{path}: could not be written ({error.strerror})") from error
