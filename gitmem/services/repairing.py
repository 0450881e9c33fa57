"""fsck --repair: what can be put right without losing anything. Each repair says what it did."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from gitmem.cache import Damaged, Projection, Unusable
from gitmem.cache.comparing import difference
from gitmem.domain.kept import Closing
from gitmem.domain.layout import MAIN
from gitmem.domain.objects import ZERO
from gitmem.domain.shell import shell_word
from gitmem.errors import InvalidInput, NotFound, Refused
from gitmem.repo import RefUpdate, finish_worktree
from gitmem.repo.index import index_tree
from gitmem.repo.packed import PACKED_REFS, mend, unreadable_lines
from gitmem.repo.worktree import (
    DAMAGED,
    bring_along,
    bring_one_along,
    clear_stale_index_lock,
    has_damaged_index,
    make_index,
    note_worktree,
    stale_index_locks,
    without_index,
    work_trees,
)
from gitmem.sessions import SessionFiles
from gitmem.store import Head, Ledger, Store
from gitmem.store.keeping import STRAY
from gitmem.store.newest import read_newest
from gitmem.store.readable import newest_readable
from gitmem.store.replaying import bring_back
from gitmem.store.view_file import restore_view

#: Commits of main among whose files those of a work tree that fell behind are looked for.
_LOOKED_BACK = 200


def repair(store: Store, sessions: SessionFiles, now: int) -> list[str]:
    """Put right what can be without losing anything, and return a sentence for each.

    What could not be put right is told in the notes of the store.

    What is taken out of its place is kept: strays and hand-made commits below
    ``refs/gitmem/kept/``, files that are no refs below gitmem's own folder.

    Raises:
        Refused: the store cannot be written.
        Busy: somebody else is writing.
    """
    if not os.access(store.repo.private, os.W_OK):
        raise Refused(f"{store.repo.private} cannot be written, so nothing can be repaired")
    done: list[str] = []
    with store.repo.lock():  # getting it clears what dead writers left
        done += _packed_refs(store, now)
        done += _main(store, now)
        done += _projection(store, now)
        done += _files_for_refs(store, now)
        done += _strays(store, now)
        store.keep_lost()  # where that fails, nothing would seem to be lost
        done += _lost_mains(store, sessions, now)
        done += _branches(store, now)
        done += _indexes(store, now)
        done += _work_trees(store, now)
        done += restore_view(store.repo, store.head())
        done += [f"let go of {name}, kept for long enough" for name in store.expire_kept(now)]
    healed = list(store.repo.healed)
    store.repo.healed.clear()
    return healed + done


def _packed_refs(store: Store, now: int) -> Iterator[str]:
    """Take out of git's file of packed refs what stops git from reading it."""
    if not unreadable_lines(store.repo.git_dir):
        return
    kept = _place_for(store, PACKED_REFS, now)
    lines = mend(store.repo.git_dir, kept)
    if lines:
        yield (
            f"took {len(lines)} {'line' if len(lines) == 1 else 'lines'} that git cannot read "
            f"out of {PACKED_REFS}; the file as it was is kept in {kept}"
        )


def _main(store: Store, now: int) -> Iterator[str]:
    """Make main again where it is gone, or names no commit."""
    newest = read_newest(store.repo)
    try:
        old = store.repo.read_ref(MAIN)
    except InvalidInput:
        yield _moved_away(store, MAIN, store.repo.git_dir / MAIN, now)
        old = None
    if newest is None or not _is_commit(store, newest) or (old and _is_commit(store, old)):
        return
    store.repo.publish([RefUpdate(MAIN, newest, old or ZERO)])
    yield f"made main again, at {newest[:12]}, which was its newest accepted commit"


def _is_commit(store: Store, oid: str) -> bool:
    try:
        store.repo.reader.commit(oid)
    except (InvalidInput, NotFound):
        return False
    return True


def _projection(store: Store, now: int) -> Iterator[str]:
    """Make the projection anew where it says something else than git."""
    fresh = Projection.open(None)
    try:
        ledger = Ledger(store.repo, fresh)
        ledger.catch_up()
        try:
            store.ledger.catch_up()
            reason = difference(store.projection, fresh)
        except Unusable:
            return
        except Damaged as error:
            reason = error.reason
        if reason:
            store.projection.start_over()
            store.head()
            yield f"made the projection anew: it differed in {reason}"
    finally:
        fresh.close()


def _files_for_refs(store: Store, now: int) -> Iterator[str]:
    """Move away files that stand where gitmem's refs are and name no commit."""
    for ref, file in store.broken_refs().items():
        yield _moved_away(store, ref, file, now)


def _moved_away(store: Store, ref: str, file: Path, now: int) -> str:
    target = _place_for(store, ref, now)
    os.rename(file, target)
    return f"moved the damaged file of {ref} to {target}"


def _place_for(store: Store, name: str, now: int) -> Path:
    """A place, below gitmem's own folder, for what is damaged."""
    folder = store.repo.private / DAMAGED
    folder.mkdir(mode=0o700, exist_ok=True)
    return _free(folder, f"{name.replace('/', '-')}-{now}")


def _free(folder: Path, name: str) -> Path:
    path, number = folder / name, 1
    while os.path.lexists(path):
        number += 1
        path = folder / f"{name}-{number}"
    return path


def _lost_mains(store: Store, sessions: SessionFiles, now: int) -> Iterator[str]:
    """Bring back what main was moved away from; what one of several lost mains brings back can be
    what another one waited for."""
    before: dict[str, str] = {}
    lost = store.lost_mains()
    done: list[str] = []
    while done or lost != before:
        done = [
            sentence
            for ref, oid in lost.items()
            for sentence in _lost_main(store, sessions, ref, oid, now)
        ]
        yield from done
        before, lost = lost, store.lost_mains()


def _lost_main(
    store: Store, sessions: SessionFiles, ref: str, lost: str, now: int
) -> Iterator[str]:
    """Move main forward again to where it was, if nothing was merged since it was set back.

    Else what it has no more is brought back on top of what it has.
    """
    head = store.head()
    try:
        chain = store.ledger.left_out(lost)
    except (InvalidInput, NotFound) as error:
        where = store.repo.shell_word
        store.notes.append(
            f"left {ref} as it is: {error.message}. "
            f"To remove it: git -C {where} update-ref -d {shell_word(ref)}"
        )
        return
    if not chain:
        return  # main has all of it again, since another one was brought back
    if store.repo.reader.commit(chain[-1]).parents[:1] == (head.accepted,):
        _move_main(store, head, lost)
        yield f"moved main forward again to {lost[:12]}, from where it had been set back"
    else:
        yield from bring_back(store, sessions, ref, lost, chain, now)


def _strays(store: Store, now: int) -> Iterator[str]:
    """Take strays off the tip of main; each is kept, and ``gitmem adopt`` can propose it."""
    head = store.head()
    if not head.strays:
        return
    for oid in head.strays:
        ref = f"{STRAY}{oid[:12]}"
        if store.repo.read_ref(ref) is None:
            store.repo.publish([RefUpdate(ref, oid, ZERO)])
    _move_main(store, head, head.accepted)
    for oid in head.strays:
        yield f"took the stray {oid[:12]} off main; to propose it: gitmem adopt {oid[:12]}"


def _move_main(store: Store, head: Head, new: str) -> None:
    """Move main to ``new``, whose objects and whose old tip are safe, and the files along."""
    note_worktree(store.repo, head.tip)
    store.repo.publish([RefUpdate(MAIN, new, head.tip)])
    store.notes += bring_along(store.repo, head.tip, new)
    store.head()


def _branches(store: Store, now: int) -> Iterator[str]:
    """Cut commits that were made by hand off the branches of proposals; they are kept."""
    for name, tip in store.open_proposals().items():
        good = newest_readable(store, name, tip)
        if good is None or good == tip:
            continue
        closing = Closing(name, "unreadable", now, "made by hand on the proposal's branch")
        if store.cut_back(tip, good, closing):
            yield (
                f"cut what was made by hand off {name}; it is kept, and `gitmem approve --edit` "
                "is how a proposal is put in other words"
            )
        else:
            where = store.repo.shell_word
            store.notes.append(
                f"left {name} as it is while it is checked out; leave it, and repair again: "
                f"git -C {where} checkout main --"
            )


def _indexes(store: Store, now: int) -> Iterator[str]:
    """Move dead locks of indexes away, and make an index anew where there is none."""
    for lock in stale_index_locks(store.repo, now):
        target = clear_stale_index_lock(store.repo, lock, now)
        if target is not None:
            yield f"moved the dead lock {lock} to {target}"
    for tree in work_trees(store.repo):
        if has_damaged_index(tree):
            yield _moved_away(store, "index", tree.git_dir / "index", now)
    for tree in without_index(store.repo):
        make_index(store.repo, tree)
        yield f"made the index of {tree.path} anew; its files are as they were"
    store.notes += finish_worktree(store.repo)


def _work_trees(store: Store, now: int) -> Iterator[str]:
    """Bring along checked-out files that are those of an earlier main, to the letter."""
    tip = store.head().tip
    for tree in work_trees(store.repo):
        index = index_tree(store.repo.runner, tree)
        if index is None or index == store.repo.reader.commit(tip).tree:
            continue
        old = _with_tree(store, tip, index)
        if old is not None:
            store.notes += bring_one_along(store.repo, tree, old, tip)
            yield f"brought the files in {tree.path} along from {old[:12]}"


def _with_tree(store: Store, tip: str, tree: str) -> str | None:
    for number, oid in enumerate(store.repo.first_parents(tip)):
        if number >= _LOOKED_BACK:
            return None
        if store.repo.reader.commit(oid).tree == tree:
            return oid
    return None
