"""Doing again on the main of today what was done on a main that went another way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitmem.domain.commit_message import CommitMessage
from gitmem.domain.layout import MANIFEST, PROPOSALS, VIEW, parse_tombstone_path
from gitmem.domain.objects import ZERO
from gitmem.domain.verify import DecisionFields, read_decision
from gitmem.errors import GitmemError, InvalidInput, NotFound, Refused, Waiting
from gitmem.repo import RefUpdate, diff_trees
from gitmem.sessions import SessionFiles
from gitmem.store.facts import committed_at, message_of
from gitmem.store.keeping import STRAY
from gitmem.store.rebasing import rebase_branch
from gitmem.store.store import Store


def bring_back(
    store: Store, sessions: SessionFiles, ref: str, lost: str, chain: Sequence[str], now: int
) -> Iterator[str]:
    """Merge and decide again, in the order in which it was done; keep strays aside.

    An approval counts as far as the change is the same; what is another change now waits. The
    ref ``ref``, which keeps ``lost``, goes when everything is merged, decided, open, or said by
    main already. ``chain`` is :meth:`Ledger.left_out` of it. Yields a sentence for each step.
    """
    strays = store.ledger.strays_among(chain)
    settled: set[str] = set()
    for oid in reversed(chain):
        if oid in strays:
            yield from _kept_aside(store, oid)
            continue
        message = message_of(store.repo.reader.commit(oid), oid)
        if message.one("Proposal-Id") is not None:
            yield from _merged_again(store, sessions, oid, now, settled)
        else:
            yield from _decided_again(store, oid, message, settled)
    if settled >= set(store.ledger.missing(lost)):
        store.repo.publish([RefUpdate(ref, None, lost)])


def _kept_aside(store: Store, oid: str) -> Iterator[str]:
    ref = f"{STRAY}{oid[:12]}"
    if store.repo.read_ref(ref) is None:
        store.repo.publish([RefUpdate(ref, oid, ZERO)])
        yield f"kept the stray {oid[:12]}; to propose what it says: gitmem adopt {oid[:12]}"


def _merged_again(
    store: Store, sessions: SessionFiles, oid: str, now: int, settled: set[str]
) -> Iterator[str]:
    """Merge again what a merge brought in that main has no more, or open it again.

    What main says already is settled, and so is what waits for a person.
    """
    tip = store.repo.reader.commit(oid).parents[-1]
    if any(k.tip == tip and k.closing and k.closing.state == "emptied" for k in store.kept()):
        settled.add(oid)
        return
    try:
        name = store.facts.branch(tip, any_base=True).proposal.id
    except GitmemError as error:
        store.notes.append(f"{oid[:12]} cannot be merged again: {error.message}")
        return
    if store.projection.decided(name):
        return
    ref = PROPOSALS + name
    settled.add(oid)
    at = store.repo.read_ref(ref)
    if at is None:
        store.repo.publish([RefUpdate(ref, tip, ZERO)])
    elif at != tip and not _is_mergeable(store, at):
        return  # it waits for a person
    try:
        # Where a repair was cut off, it is open already: what was approved of it still counts.
        new = rebase_branch(store, sessions, name, at or tip, now)
        if new is not None:
            store.merge(name, new)
            yield f"merged {name} again; main had gone another way since {oid[:12]}"
    except (InvalidInput, NotFound, Refused, Waiting) as error:
        if at is None:
            yield f"opened {name} again, which main has no more: {error.message}"


def _is_mergeable(store: Store, tip: str) -> bool:
    try:
        return store.judged(tip).decision.mergeable
    except (InvalidInput, NotFound):
        return False


def _decided_again(
    store: Store, oid: str, message: CommitMessage, settled: set[str]
) -> Iterator[str]:
    """Make a decision of a person again on the main of today, where nothing contradicts it.

    What it decided that is so already is settled.
    """
    try:
        fields = read_decision(message, committed_at(store.repo.reader.commit(oid), oid))
        if store.projection.has_change(fields.id) or (
            fields.rejects and store.projection.decided(fields.rejects)
        ):
            return
        changes = _changes_again(store, oid, fields, message)
        if changes or (changes is not None and fields.rejects):
            store.decide(fields, changes)
            yield f"decided {fields.id} again; main had gone another way since {oid[:12]}"
    except (InvalidInput, NotFound, Refused, Waiting) as error:
        store.notes.append(f"{oid[:12]} cannot be decided again: {error.message}")
    else:
        if changes is not None:
            settled.add(oid)


def _changes_again(
    store: Store, oid: str, fields: DecisionFields, message: CommitMessage
) -> dict[str, bytes | None] | None:
    """Return what a decision is to change now; None, and a note, where main contradicts it."""
    commit = store.repo.reader.commit(oid)
    skipped = set(message.all("Skipped"))
    ground = next(one for one in store.repo.first_parents(commit.parents[0]) if one not in skipped)
    changes: dict[str, bytes | None] = {}
    now_tree = store.repo.reader.commit(store.head().accepted).tree
    for path in diff_trees(store.repo.reader, store.repo.reader.commit(ground).tree, commit.tree):
        if path.path in (MANIFEST, VIEW):
            continue
        entry = store.facts.entry(now_tree, path.path)
        now, new = entry.oid if entry else None, path.new_oid
        if now == new or (now and new and parse_tombstone_path(path.path)):
            continue  # it is so; of a text that was rejected twice the first reason stands
        if now != path.old_oid:
            store.notes.append(
                f"{fields.id} was decided on {path.path}, which is another one now; to see it, "
                f"and decide again: git -C {store.repo.shell_word} show {oid[:12]}"
            )
            return None
        changes[path.path] = store.repo.reader.blob(new) if new is not None else None
    return changes
