"""log and why: how memory came to be what it is."""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.cache import CommitRow
from gitmem.domain.kept import KEPT_DAYS
from gitmem.domain.layout import evidence_path
from gitmem.domain.proposal import MAX_ROUNDS, Proposal
from gitmem.errors import InvalidInput, NotFound, Usage
from gitmem.results import (
    EarlierDraft,
    HistoryEntry,
    LogEntry,
    RecordDetail,
    ReviewView,
    Source,
    Why,
)
from gitmem.sessions import SessionFiles
from gitmem.store import Store, review_view
from gitmem.store.lineage import Relative, ancestors, descendants
from gitmem.store.presenting import quote_view
from gitmem.store.quoted import message_around


def log(
    store: Store, name: str | None = None, limit: int | None = None, last: int | None = None
) -> list[LogEntry]:
    """Return the commits of main up to the place ``last``, newest first.

    Where ``name`` is given, those that touched it, what it came of, or what became of it.

    Raises:
        NotFound: nothing of this name was ever remembered.
        Usage: ``limit`` is less than 1.
    """
    if limit is not None and limit < 1:
        raise Usage(f"a log shows 1 commit or more, not {limit}")
    store.head()
    if name is None:
        return [_entry(row) for row in store.projection.commits(None, limit, last=last)]
    own = store.projection.commits(name, last=last)
    if not own:
        then = "" if last is None else " up to then"
        raise NotFound(f"nothing was ever remembered as {name}{then}", hint="Run `gitmem list`.")
    found = {row.seq: (row, "") for row in own}
    end = store.projection.commits(None, 1)[0].seq if last is None else last
    for relative in ancestors(store, name, end):
        for row in store.projection.commits(relative.name, last=relative.place):
            found.setdefault(row.seq, (row, relative.name))
    for relative in descendants(store, name, end):
        for row in store.projection.commits(relative.name, last=end):
            if row.seq >= relative.place:
                found.setdefault(row.seq, (row, relative.name))
    return [_entry(*found[seq]) for seq in sorted(found, reverse=True)[:limit]]


def _entry(row: CommitRow, via: str = "") -> LogEntry:
    about = (row.oid, row.kind, row.change, row.at, row.approved_by, row.records, row.reason)
    return LogEntry(*about, via=via)


def why(store: Store, sessions: SessionFiles, record: RecordDetail, last: int | None = None) -> Why:
    """Return every merge up to the place ``last`` of main that touched a record, the records
    that it came of, and the messages around all quotes."""
    name = record.summary.name
    end = store.projection.commits(None, 1)[0].seq if last is None else last
    sources = tuple(_sources(store, ancestors(store, name, end)))
    cited = [(name, record.evidence), *((source.name, source.evidence) for source in sources)]
    found = {
        quote.id: message_around(
            sessions, store.facts.evidence(quote.id, evidence_path(owner, quote.id))
        )
        for owner, quotes in cited
        for quote in quotes
    }
    unread = [one.missing for one in found.values() if one.state == "unreadable"]
    store.notes += dict.fromkeys(unread)
    return Why(
        name=name,
        record=record,
        history=_history(store, name, end),
        contexts={oid: one.message for oid, one in found.items() if one.message is not None},
        sources=sources,
        missing={oid: one.missing for oid, one in found.items() if one.message is None},
    )


def _sources(store: Store, relatives: Iterable[Relative]) -> Iterable[Source]:
    for relative in relatives:
        rows = store.projection.commits(relative.name, last=relative.place)
        row = next((r for r in rows if dict(r.records)[relative.name] != "retired"), None)
        tree = store.repo.reader.commit(row.oid).tree if row else None
        place = store.facts.record_at(tree, relative.name) if tree else None
        if place is None:
            continue  # a record can name in ``supersedes`` what was never remembered
        record = store.facts.record(place.blob, place.path)
        yield Source(
            name=record.name,
            became=relative.via,
            type=record.type,
            description=record.description,
            evidence=tuple(
                quote_view(oid, store.facts.evidence(oid, evidence_path(record.name, oid)))
                for oid in record.evidence
            ),
            history=_history(store, record.name, relative.place),
        )


def _history(store: Store, name: str, last: int) -> tuple[HistoryEntry, ...]:
    rows = [row for row in store.projection.commits(name, last=last) if row.kind == "merge"]
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
                earlier=_earlier(store, branch.proposal),
            )
        )
    return tuple(history)


def _earlier(store: Store, proposal: Proposal) -> tuple[EarlierDraft, ...]:
    """Return the drafts that a proposal answers the findings of, as far as they are kept here."""
    if proposal.follows is None:
        return ()
    tips = {one.closing.id: one.tip for one in reversed(store.kept()) if one.closing}
    tips |= store.open_proposals()  # it may have been reopened
    found: list[EarlierDraft] = []
    after: Proposal | None = proposal
    while after is not None and after.follows is not None and len(found) < MAX_ROUNDS:
        name, number = after.follows, max(after.round - 1, 0)
        reviews: tuple[ReviewView, ...] = ()
        after, missing = None, f"it is not kept on this machine ({KEPT_DAYS} days)"
        if name in tips:
            try:
                branch = store.facts.branch(tips[name], any_base=True)
                after, missing = branch.proposal, ""
                reviews = tuple(review_view(review) for review in branch.reviews)
            except (InvalidInput, NotFound) as error:
                missing = error.message
        found.append(EarlierDraft(name, number, reviews, missing))
    return tuple(reversed(found))
