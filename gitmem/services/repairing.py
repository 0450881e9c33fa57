"""fsck --repair: what can be put right without losing anything. Each repair says what it did."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from gitmem.cache import Damaged, Projection, Unusable
from gitmem.cache.comparing import difference
from gitmem.domain.commit_message import CommitMessage
from gitmem.domain.kept import Closing
from gitmem.domain.layout import MAIN, MANIFEST, PROPOSALS, VIEW
from gitmem.domain.objects import ZERO
from gitmem.domain.verify import read_decision
from gitmem.errors import GitmemError, InvalidInput, NotFound, Refused
from gitmem.repo import RefUpdate, Repo, diff_trees
from gitmem.repo.worktree import bring_along, bring_one_along, note_worktree, work_trees
from gitmem.store import Head, Ledger, Store
from gitmem.store.facts import committed_at, message_of
from gitmem.store.keeping import STRAY
from gitmem.store.view_file import restore_view

#: Below gitmem's own folder: files that stood for refs and named no commit.
DAMAGED = "damaged"
#: Commits of main among whose files those of a work tree that fell behind are looked for.
_LOOKED_BACK = 200


def repair(store: Store, now: int) -> list[str]:
    """Put right what can be without losing anything, and return a sentence for each.

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
        done += _said(store)
        for step in (_projection, _files_for_refs, _strays, _lost_mains, _branches, _work_trees):
            done += step(store, now)
            done += _said(store)
        done += restore_view(store.repo)
        done += [f"let go of {name}, kept for long enough" for name in store.expire_kept(now)]
    return done


def _said(store: Store) -> list[str]:
    """Take the sentences about what healed by itself on the way."""
    said = [*store.repo.healed, *store.notes]
    store.repo.healed.clear()
    store.notes.clear()
    return said


def _projection(store: Store, now: int) -> Iterator[str]:
    """Make the projection anew where it says something else than git."""
    fresh = Projection.open(None)
    try:
        ledger = Ledger(store.repo, fresh)
        ledger.catch_up()
        try:
            store.head()
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
    """Move away files that stand where proposals' refs are and name no commit."""
    for ref, file in store.broken_proposals().items():
        folder = store.repo.private / DAMAGED
        folder.mkdir(mode=0o700, exist_ok=True)
        target = _free(folder, f"{ref.replace('/', '-')}-{now}")
        os.rename(file, target)
        yield f"moved the damaged file of {ref} to {target}"


def _free(folder: Path, name: str) -> Path:
    path, number = folder / name, 1
    while os.path.lexists(path):
        number += 1
        path = folder / f"{name}-{number}"
    return path


def _lost_mains(store: Store, now: int) -> Iterator[str]:
    """Move main forward again to where it was, if nothing was merged since it was set back.

    Else what it has no more is brought back on top of what it has.
    """
    for ref, lost in store.lost_mains().items():
        head = store.head()
        try:
            chain = store.ledger.left_out(lost)
        except (InvalidInput, NotFound) as error:
            where = quote(str(store.repo.root or store.repo.git_dir))
            yield (
                f"left {ref} as it is: {error.message}. "
                f"To remove it: git -C {where} update-ref -d {quote(ref)}"
            )
            continue
        if store.repo.reader.commit(chain[-1]).parents[:1] == (head.accepted,):
            _move_main(store, head, lost)
            yield f"moved main forward again to {lost[:12]}, from where it had been set back"
        else:
            yield from _brought_back(store, ref, lost, chain)


def _brought_back(store: Store, ref: str, lost: str, chain: Sequence[str]) -> Iterator[str]:
    """Open merges again as proposals, decide again what was decided, keep strays aside."""
    for oid in reversed(chain):
        try:
            message = message_of(store.repo.reader.commit(oid), oid)
        except InvalidInput:
            message = CommitMessage("made by hand")
        if message.one("Proposal-Id") is not None:
            name = _as_proposal(store, store.repo.reader.commit(oid).parents[-1])
            if name:
                yield f"main went another way since {oid[:12]}; open again: {name}"
        elif message.one("Decision") is not None:
            yield _decided_again(store, oid, message)
        elif store.repo.read_ref(f"{STRAY}{oid[:12]}") is None:
            store.repo.publish([RefUpdate(f"{STRAY}{oid[:12]}", oid, ZERO)])
            yield f"kept the stray {oid[:12]}; to propose what it says: gitmem adopt {oid[:12]}"
    is_open = set(store.repo.refs(PROPOSALS).values())
    missing = [store.repo.reader.commit(oid).parents[-1] for oid in store.ledger.missing(lost)]
    if is_open.issuperset(missing):
        store.repo.publish([RefUpdate(ref, None, lost)])


def _as_proposal(store: Store, tip: str) -> str | None:
    """Open a merged branch again, unless main has decided it or it is open."""
    try:
        name = store.facts.branch(tip, any_base=True).proposal.id
    except GitmemError:
        return None
    ref = PROPOSALS + name
    if store.projection.decided(name) or store.repo.read_ref(ref) is not None:
        return None
    store.repo.publish([RefUpdate(ref, tip, ZERO)])
    return name


def _decided_again(store: Store, oid: str, message: CommitMessage) -> str:
    """Make a decision of a person again on the main of today, where nothing contradicts it."""
    commit = store.repo.reader.commit(oid)
    fields = read_decision(message, committed_at(commit, oid))
    if store.projection.has_change(fields.id) or (
        fields.rejects and store.projection.decided(fields.rejects)
    ):
        return f"{fields.id} is on main already"
    skipped = set(message.all("Skipped"))
    ground = next(one for one in store.repo.first_parents(commit.parents[0]) if one not in skipped)
    changes: dict[str, bytes | None] = {}
    now_tree = store.repo.reader.commit(store.head().accepted).tree
    for path in diff_trees(store.repo.reader, store.repo.reader.commit(ground).tree, commit.tree):
        if path.path in (MANIFEST, VIEW):
            continue
        entry = store.facts.entry(now_tree, path.path)
        if (entry.oid if entry else None) != path.old_oid:
            return (
                f"{fields.id} was decided on {path.path}, which is another one now; "
                f"decide again: git show {oid[:12]}"
            )
        new = path.new_oid
        changes[path.path] = store.repo.reader.blob(new) if new is not None else None
    store.decide(fields, changes)
    return f"main went another way since {oid[:12]}; decided again: {fields.id}"


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
        good = _newest_readable(store, name, tip)
        if good is None or good == tip:
            continue
        closing = Closing(name, "unreadable", now, "made by hand on the proposal's branch")
        if store.cut_back(tip, good, closing):
            yield (
                f"cut what was made by hand off {name}; it is kept, and `gitmem approve --edit` "
                "is how a proposal is put in other words"
            )
        else:
            where = quote(str(store.repo.root or store.repo.git_dir))
            yield (
                f"left {name} as it is while it is checked out; leave it, and repair again: "
                f"git -C {where} checkout main"
            )


def _newest_readable(store: Store, name: str, tip: str) -> str | None:
    """The newest commit of a branch up to which it is the proposal of its name."""
    for oid in store.repo.first_parents(tip):
        if store.ledger.is_accepted(oid):
            return None
        try:
            found = store.facts.branch(oid, any_base=True).proposal.id
        except GitmemError:
            continue
        return oid if found == name else None
    return None


def _work_trees(store: Store, now: int) -> Iterator[str]:
    """Bring along checked-out files that are those of an earlier main, to the letter."""
    tip = store.head().tip
    for tree in work_trees(store.repo):
        index = _index_tree(store.repo, tree.git_dir)
        if index is None or index == store.repo.reader.commit(tip).tree:
            continue
        old = _with_tree(store, tip, index)
        if old is not None:
            store.notes += bring_one_along(store.repo, tree, old, tip)
            yield f"brought the files in {tree.path} along from {old[:12]}"


def _index_tree(repo: Repo, git_dir: Path) -> str | None:
    """The tree that an index would make; None where it has conflicts."""
    result = repo.runner.run(["write-tree"], ok=range(256), writes=True, git_dir=git_dir)
    return result.out.decode("ascii", "replace").strip() if result.code == 0 else None


def _with_tree(store: Store, tip: str, tree: str) -> str | None:
    for number, oid in enumerate(store.repo.first_parents(tip)):
        if number >= _LOOKED_BACK:
            return None
        if store.repo.reader.commit(oid).tree == tree:
            return oid
    return None
