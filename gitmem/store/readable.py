"""How much of a proposal's branch is a proposal, where somebody committed on it by hand."""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice, takewhile

from gitmem.errors import GitmemError
from gitmem.store.store import Store

#: Commits of a branch that are looked at; a proposal has far fewer.
_LOOKED_AT = 100_000
#: Commits from main on among which the proposal is; its own is the first, unless main went back.
_BEGINNING = 64


def newest_readable(store: Store, name: str, tip: str) -> str | None:
    """Return the newest commit of a branch up to which it is the proposal ``name``, or None.

    What makes a branch unreadable is one of its commits, and from that one on all of it is: the
    last one before is found by halving, however many there are.
    """
    walked = islice(store.repo.first_parents(tip), _LOOKED_AT)
    try:
        chain = list(takewhile(lambda oid: not store.ledger.is_accepted(oid), walked))[::-1]
    except GitmemError:  # a commit of it is missing or damaged
        return None
    for start, oid in enumerate(chain[:_BEGINNING]):
        if _is_readable(store, name, oid):
            end = bisect_left(
                chain, True, lo=start + 1, key=lambda later: not _is_readable(store, name, later)
            )
            return chain[end - 1]
    return None


def _is_readable(store: Store, name: str, oid: str) -> bool:
    try:
        return store.facts.branch(oid, any_base=True).proposal.id == name
    except GitmemError:
        return False
