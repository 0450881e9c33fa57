"""Keeping checked-out files in step with ``refs/heads/main``.

A branch that moves under a checkout shows what came in as deleted, and the next
``git commit -a`` would undo it. So before main moves, each work tree on it is noted with the
commit that it is at; afterwards it is brought along and the note goes. What a crash leaves is
the note, and the next command goes on from there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.domain.layout import MAIN, MANIFEST, POLICY, VIEW, WORKTREE_NOTE
from gitmem.domain.objects import EMPTY_TREE, ZERO
from gitmem.domain.shell import shell_word
from gitmem.errors import Busy, GitFailed, GitmemError, Refused
from gitmem.repo.begun import read_begun, write_begun
from gitmem.repo.checkout import (
    AT_WORK,
    advance,
    advance_index,
    clear_unwritten,
    unfinished,
    unlocking,
)
from gitmem.repo.discovery import linked_git_dir, read_pointer
from gitmem.repo.files import read_regular
from gitmem.repo.index import WorkTree, index_tree, is_at, read_into_index
from gitmem.repo.refs import read_ref, symbolic_target
from gitmem.repo.worktree_note import drop_note, parsed_note, read_note, write_note

if TYPE_CHECKING:
    from gitmem.repo.repository import Repo

NO_INDEX = "git's index of them is gone; `gitmem fsck --repair` makes it anew"
"""Why files wait for an index: without one nobody could tell a person's changes from main's."""

INDEX_LOCK_AGE = 600.0
"""Seconds after which the lock on an index counts as left behind. git holds one for as long as a
person writes the message of ``git commit -a``, so nobody but that person can be sure."""

DAMAGED = "damaged"
"""The folder below gitmem's own for what stood in the way; nothing in it is ever read again."""

DAMAGED_INDEX = "its index is damaged; `gitmem fsck --repair` makes it anew"
_INDEX_MAGIC = b"DIRC"
_TOPS = (MANIFEST, VIEW, POLICY)
"""Files that every checkout of main has at its top."""

_MAIN_TREE = "."
_COMMIT_WAIT = 10.0  # seconds for which a person's commit waits for a merge to end

_UNDER_WAY = {
    "rebase-merge": "a rebase is under way there",
    "rebase-apply": "a rebase is under way there",
    "MERGE_HEAD": "a merge is under way there",
    "CHERRY_PICK_HEAD": "a cherry-pick is under way there",
    "REVERT_HEAD": "a revert is under way there",
    "sequencer": "a revert or a cherry-pick of several commits is under way there",
    "BISECT_LOG": "a bisect is under way there",
    "index.lock": AT_WORK,
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
        if dot_git and dot_git.name == ".git" and linked_git_dir(dot_git) == git_dir:
            yield WorkTree(f"worktrees/{git_dir.name}", dot_git.parent, git_dir)


def _main_tree(repo: Repo, unborn: bool) -> Iterable[WorkTree]:
    root = repo.root if repo.work_git_dir == repo.git_dir else None
    if root is None and repo.git_dir.name == ".git":
        root = repo.git_dir.parent  # opened through a linked work tree, or by its git directory
    # Nothing is checked out where there is no index: a bare repository, or clone --no-checkout.
    expected = unborn and repo.root is not None
    if root is not None and (expected or (repo.git_dir / "index").exists()):
        yield WorkTree(_MAIN_TREE, root, repo.git_dir)


def note_worktree(repo: Repo, old: str | None, ground: str | None = None) -> None:
    """Write down, durably, that the work trees on main are at ``old`` (None: nothing yet).

    ``ground`` is the commit that they are at where main went on to ``old`` without them.

    To be called under the lock, before main moves. A work tree that an earlier move left
    behind keeps its older note.
    """
    noted, _ = read_note(repo)
    trees = [*work_trees(repo, unborn=old is None), *(without_index(repo) if old else ())]
    fresh = {tree.key: _files_of(repo, tree, old, ground) for tree in trees}
    if fresh:
        write_note(repo, fresh | noted)


def bring_along(repo: Repo, old: str | None, new: str, ground: str | None = None) -> list[str]:
    """Bring every work tree on main from commit ``old`` (None: nothing) to ``new``.

    ``ground`` is as for :func:`note_worktree`. Returns sentences about what was left as it is,
    and why.
    """
    with repo.lock():
        noted, sentences = read_note(repo)
        trees = work_trees(repo, unborn=old is None)
        fresh = {tree.key: _files_of(repo, tree, old, ground) for tree in trees}
        return sentences + _advance(repo, fresh | noted, new)


def _files_of(repo: Repo, tree: WorkTree, old: str | None, ground: str | None) -> str:
    """The commit whose files a work tree has, as far as its index tells."""
    if old is None:
        return ZERO
    if ground is None or index_tree(repo.runner, tree) != repo.reader.commit(ground).tree:
        return old
    return ground


def bring_one_along(repo: Repo, tree: WorkTree, old: str, new: str) -> list[str]:
    """Bring one work tree on main from commit ``old`` to ``new``. See :func:`bring_along`."""
    with repo.lock():
        noted, sentences = read_note(repo)
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
            noted, sentences = read_note(repo)
            new = repo.read_ref(MAIN)
            if new is not None:
                return sentences + _advance(repo, noted, new, cut_off=True)
            drop_note(note)
            return sentences
    except Busy:  # whoever holds the lock finishes it, or the next command does
        return []
    except GitmemError as error:  # reading goes on, also where the disk is full
        why = f"{error.message}. {error.hint}".rstrip()
        return [f"The files that main moved past could not be brought along now: {why}"]


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
    if _behind(repo, git_dir, parsed_note(repo.private / WORKTREE_NOTE) or {}) is None:
        return None  # the usual case beside a writer that is at work: main has not moved yet
    with repo.lock(timeout=_COMMIT_WAIT):
        noted, _ = read_note(repo)
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


def _advance(repo: Repo, noted: dict[str, str], new: str, *, cut_off: bool = False) -> list[str]:
    """Bring every noted work tree to ``new``, or to its own HEAD where that has left main.

    A checkout of another commit carries along what a merge had not reached yet, as if it were
    a person's change. ``cut_off``: whoever noted it has ended, maybe in the middle of it.
    """
    sentences: list[str] = []
    pending: dict[str, str] = {}
    begun = read_begun(repo)
    for tree in _all_trees(repo, unborn=True):
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
        if reason is None and old != ZERO and not _has_index(tree):
            reason = NO_INDEX
        if reason:
            said, done = [unfinished(tree, reason)], False
        else:
            mine = begun.setdefault(tree.key, {})
            rules = (repo.same_text, repo.carries, mine)
            if cut_off:
                clear_unwritten(repo.runner, repo.reader, tree, old_tree, new_tree)
            said, done = advance(repo.runner, repo.reader, tree, old_tree, new_tree, *rules)
            if cut_off and done:
                said.append(f"Finished bringing the files in {tree.path} along to main.")
        sentences += said
        if not done:
            pending[tree.key] = old
    write_begun(repo, begun)  # first: once the other note is gone, nobody could tell any more
    write_note(repo, pending)
    return sentences


def _head_commit(repo: Repo, tree: WorkTree) -> str | None:
    branch = symbolic_target(tree.git_dir)
    return repo.read_ref(branch) if branch else read_ref(tree.git_dir, "HEAD")


def _tree(repo: Repo, commit: str) -> str | None:
    return EMPTY_TREE if commit == ZERO else repo.reader.resolve(f"{commit}^{{tree}}")


def standing_in_the_way(tree: WorkTree) -> str | None:
    """Why the files of ``tree`` are not to be touched now, or None where nothing is under way."""
    there = (why for name, why in _UNDER_WAY.items() if os.path.lexists(tree.git_dir / name))
    return next(there, DAMAGED_INDEX if has_damaged_index(tree) else None)


def under_way(repo: Repo) -> list[tuple[WorkTree, str]]:
    """The work trees in which git is at work, or waits for a person to end something, and what."""
    found = ((tree, standing_in_the_way(tree)) for tree in _all_trees(repo, unborn=True))
    return [(tree, why) for tree, why in found if why]


# --- an index that is locked, or gone --------------------------------------------------------


def index_locks(repo: Repo, now: float) -> list[tuple[Path, float]]:
    """The locks on the indexes of all work trees, each with its age in seconds.

    ``now`` is in seconds since 1970.
    """
    found = []
    for tree in _all_trees(repo, unborn=True):
        try:
            found.append((tree.lock, now - tree.lock.lstat().st_mtime))
        except (FileNotFoundError, NotADirectoryError):
            continue
    return found


def stale_index_locks(repo: Repo, now: float) -> list[Path]:
    """Those of :func:`index_locks` that are older than :data:`INDEX_LOCK_AGE`."""
    return [lock for lock, age in index_locks(repo, now) if age > INDEX_LOCK_AGE]


def clear_stale_index_lock(repo: Repo, lock: Path, now: float) -> Path | None:
    """Move a stale lock on an index into gitmem's own folder; where it is then.

    None, and nothing is done, where it is not one of :func:`stale_index_locks` any more.

    Raises:
        GitmemError: it could not be moved.
    """
    with repo.lock():
        if lock not in stale_index_locks(repo, now):
            return None
        folder: Path = repo.private / DAMAGED
        stem = lock.relative_to(repo.git_dir).as_posix().replace("/", "-")
        names = (f"{stem}-{int(now)}{end}" for end in ("", *(f"-{n}" for n in range(2, 1000))))
        try:
            if folder.is_symlink():
                raise FileExistsError(0, f"{folder} is a symbolic link")
            folder.mkdir(mode=0o700, exist_ok=True)
            target = next(folder / name for name in names if not os.path.lexists(folder / name))
            lock.rename(target)
        except OSError as error:
            raise GitmemError(
                f"{lock}: could not be moved away ({error.strerror})",
                hint=f"If no git program is at work there: rm {shell_word(str(lock))}",
            ) from error
        return target


def has_damaged_index(tree: WorkTree) -> bool:
    """Whether the index of ``tree`` does not begin as an index does, as after a full disk."""
    try:
        data = read_regular(tree.git_dir / "index", len(_INDEX_MAGIC))
    except OSError:
        return False
    return data != _INDEX_MAGIC


def without_index(repo: Repo) -> list[WorkTree]:
    """The work trees on main whose index is gone, though files of main are there.

    Where there are none, as after ``clone --no-checkout``, nothing was checked out.
    """
    lacking = [tree for tree in work_trees(repo, unborn=True) if not _has_index(tree)]
    if not lacking or repo.read_ref(MAIN) is None:
        return []
    return [tree for tree in lacking if any(os.path.lexists(tree.path / top) for top in _TOPS)]


def _has_index(tree: WorkTree) -> bool:
    return os.path.lexists(tree.git_dir / "index")


def make_index(repo: Repo, tree: WorkTree) -> None:
    """Make the index of ``tree`` anew from its HEAD; no file is touched.

    Where main moved since the index was gone, it is made from the commit that the files are at;
    :func:`finish_worktree` brings both along then.

    Raises:
        GitmemError: it has one, or none can be made.
    """
    with repo.lock():
        if _has_index(tree):
            raise Refused(f"{tree.path} has an index already")
        noted, _ = read_note(repo)
        at = noted.get(tree.key) or _head_commit(repo, tree)
        at = EMPTY_TREE if at == ZERO else at  # cut off while the first files came
        if at is None or not read_into_index(repo.runner, tree, at):
            raise GitFailed(f"no index could be made for {tree.path}{unlocking(tree)}")
