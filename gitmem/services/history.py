"""log and why: how memory came to be what it is."""

from __future__ import annotations

from gitmem.domain.session import message_digest
from gitmem.errors import NotFound, Usage
from gitmem.results import HistoryEntry, LogEntry, RecordDetail, Why
from gitmem.sessions import SessionFiles
from gitmem.store import Store, review_view


def log(store: Store, name: str | None = None, limit: int | None = None) -> list[LogEntry]:
    """Return the commits of main, newest first; those that touched ``name`` where it is given.

    Raises:
        NotFound: nothing of this name was ever remembered.
        Usage: ``limit`` is less than 1.
    """
    if limit is not None and limit < 1:
        raise Usage(f"a log shows 1 commit or more, not {limit}")
    store.head()
    rows = store.projection.commits(name, limit)
    if name is not None and not rows:
        raise NotFound(f"nothing was ever remembered as {name}", hint="Run `gitmem list`.")
    return [
        LogEntry(row.oid, row.kind, row.change, row.at, row.approved_by, row.records, row.reason)
        for row in rows
    ]


def why(store: Store, sessions: SessionFiles, record: RecordDetail) -> Why:
    """Return every merge that touched a record, and the messages around its quotes."""
    name = record.summary.name
    rows = [row for row in store.projection.commits(name) if row.kind == "merge"]
    history = []
    for row in rows:
        tip = store.repo.reader.commit(row.oid).parents[1]
        branch = store.facts.branch(tip)
        history.append(
            HistoryEntry(
                proposal=branch.proposal.id,
                kind=branch.proposal.kind,
                change=dict(row.records)[name],
                proposed_by=branch.proposal.proposed_by,
                session=branch.proposal.session,
                reviews=tuple(review_view(review) for review in branch.reviews),
                approved_by=row.approved_by,
                approved_at=row.at,
                merge=row.oid,
            )
        )
    return Why(name, record, tuple(history), contexts(store, sessions, record))


def contexts(store: Store, sessions: SessionFiles, record: RecordDetail) -> dict[str, str]:
    """Return the whole message around each quote, for sessions that are on this machine."""
    found = {}
    for quote in record.evidence:
        session = sessions.load(quote.session)
        message = session.message(quote.message) if session else None
        evidence = store.projection.blob(quote.id)
        if message and evidence and message_digest(message) == evidence["digest"]:
            found[quote.id] = "\n".join(part.text for part in message.parts if part.text)
    return found
