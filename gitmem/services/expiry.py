"""Conversations are kept for a while, not for ever: they hold more than what is remembered."""

from __future__ import annotations

from gitmem.errors import InvalidInput, NotFound
from gitmem.sessions import Artifacts, SessionFiles
from gitmem.store import Store

#: Days for which a conversation is kept after the last message was added to it.
KEEP_DAYS = 30
_DAY = 86_400


def expire_sessions(store: Store, sessions: SessionFiles, artifacts: Artifacts, now: int) -> int:
    """Delete conversations that are old and that no open proposal cites; return how many.

    A record keeps its quotes; only the messages around them are gone then.
    """
    old = sessions.older_than(now - KEEP_DAYS * _DAY)
    if not old:
        return 0
    cited = _cited(store)
    if cited is None:
        return 0
    gone = [session_id for session_id in old if session_id not in cited]
    for session_id in gone:
        sessions.remove(session_id)
    # An artifact is no older than the session that names it.
    artifacts.expire(sessions.oldest(now))
    return len(gone)


def _cited(store: Store) -> set[str] | None:
    """The sessions that open proposals quote; None where one cannot be read."""
    cited: set[str] = set()
    for tip in store.open_proposals().values():
        try:
            branch = store.facts.branch(tip)
        except (InvalidInput, NotFound):
            return None
        for name, record in branch.records.items():
            cited |= {store.facts.evidence(oid, name).session for oid in record.evidence}
    return cited
