"""How much of a proposal's branch is a proposal, where somebody committed on it by hand."""

from __future__ import annotations

from gitmem.errors import GitmemError
from gitmem.store.store import Store


def newest_readable(store: Store, name: str, tip: str) -> str | None:
    """Return the newest commit of a branch up to which it is the proposal ``name``, or None."""
    for oid in store.repo.first_parents(tip):
        if store.ledger.is_accepted(oid):
            return None
        try:
            found = store.facts.branch(oid, any_base=True).proposal.id
        except GitmemError:
            continue
        return oid if found == name else None
    return None
