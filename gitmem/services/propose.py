"""Proposals from items: what a proposer hands in becomes one branch, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gitmem.documents import make_evidence
from gitmem.domain.checks import check_citation
from gitmem.domain.evidence import Evidence
from gitmem.domain.instants import format_instant
from gitmem.domain.layout import check_name
from gitmem.domain.objects import Identity
from gitmem.domain.proposal_item import Item, Retirement
from gitmem.domain.record import make_record, statement
from gitmem.domain.review import Finding
from gitmem.domain.session import Session
from gitmem.domain.structure import check_type
from gitmem.domain.text import fold_whitespace, normalise_statement
from gitmem.domain.verify import LEDGER_IDENTITY
from gitmem.errors import InvalidInput
from gitmem.records import write_record
from gitmem.results import Dropped, ProposalResult
from gitmem.store import (
    Draft,
    Entry,
    Origin,
    Store,
    check_draft,
    checks_review,
    effects,
    finding_views,
    make_draft,
    neighbours,
    tombstones,
)

#: Stands for a quote while the shape of an item is checked, before there is any.
_SOME_ID = "0" * 40


@dataclass(frozen=True, slots=True)
class Batch:
    """What one proposer hands in at once, about one session."""

    items: Sequence[Item]
    retire: Sequence[Retirement] = ()


def propose(store: Store, session: Session, batch: Batch, origin: Origin) -> ProposalResult:
    """Put one proposal on a branch of its own, out of what of ``batch`` stands up.

    An item whose evidence fails, that is known already, or that the checks block is dropped
    alone and named; its siblings go on.

    Raises:
        InvalidInput: an item has an illegal shape; then nothing of the batch is proposed.
    """
    for item in batch.items:
        _check_shape(item)
    for retirement in batch.retire:
        check_name(retirement.name)
    _check_distinct(batch)
    head = store.head()
    dropped: list[Dropped] = []
    retire = _known_retirements(store, batch.retire, dropped)
    entries = _entries(store, session, batch.items, origin, dropped)
    entries = _without_known(store, head.accepted, entries, dropped)
    if not entries and not retire:
        return ProposalResult(None, "nothing", (), (), tuple(dropped), session=session.id)
    draft, findings = _checked_draft(store, session, entries, retire, origin, dropped)
    if not draft.proposal.changes:
        return ProposalResult(None, "nothing", (), (), tuple(dropped), session=session.id)
    review = checks_review(draft, findings, origin.now)
    author = Identity(f"gitmem {origin.proposed_by.partition(':')[0]}", LEDGER_IDENTITY.email)
    tip = store.put_proposal(draft, [review], author)
    judged = store.judged(tip)
    return ProposalResult(
        proposal=draft.proposal.id,
        state=judged.decision.state,
        records=effects(draft.proposal, draft.records),
        findings=finding_views(findings),
        dropped=tuple(dropped),
        session=session.id,
    )


def _check_shape(item: Item) -> None:
    check_name(item.name)
    check_type(item.type)
    if not item.evidence:
        raise InvalidInput("cites no evidence; quote the sentence that says it", where=item.name)
    try:
        record = make_record(
            name=item.name,
            description=item.description,
            type=item.type,
            evidence=[_SOME_ID],
            body=item.body,
        )
        write_record(record)
    except InvalidInput as error:
        where = f"{item.name}: {error.where}" if error.where else item.name
        raise InvalidInput(error.reason, where=where, hint=error.hint) from error


def _check_distinct(batch: Batch) -> None:
    names = [item.name for item in batch.items] + [gone.name for gone in batch.retire]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput("stands twice in one change set", where=twice[0])


def _known_retirements(
    store: Store, retire: Sequence[Retirement], dropped: list[Dropped]
) -> dict[str, str]:
    known = {}
    for gone in retire:
        if store.projection.record(gone.name) is None:
            dropped.append(Dropped(gone.name, "there is no such record to retire"))
        else:
            known[gone.name] = gone.reason
    return known


def _entries(
    store: Store,
    session: Session,
    items: Sequence[Item],
    origin: Origin,
    dropped: list[Dropped],
) -> list[Entry]:
    entries = []
    for item in items:
        evidence: dict[tuple[int, str], Evidence] = {}
        reason = ""
        for citation in item.evidence:
            check = check_citation(citation.quote, citation.message, session, item.type)
            if check.reason:
                reason = check.reason
                break
            evidence[(citation.message, fold_whitespace(citation.quote))] = make_evidence(
                item.name,
                session=session.id,
                message=citation.message,
                cls=check.cls,
                attested=session.attested,
                at=check.at or format_instant(origin.now),
                digest=check.digest,
                quote=citation.quote.strip(),
            )
        if reason:
            dropped.append(Dropped(item.name, reason))
            continue
        row = store.projection.record(item.name)
        keep = store.facts.record(row.blob, row.path) if row else None
        entries.append(
            Entry(item.name, item.type, item.description, item.body, tuple(evidence.values()), keep)
        )
    return entries


def _without_known(
    store: Store, accepted: str, entries: list[Entry], dropped: list[Dropped]
) -> list[Entry]:
    """Leave out what is remembered, waits in an open proposal, or was rejected or forgotten."""
    waiting = _waiting_statements(store) if entries else {}
    kept = []
    for entry in entries:
        text = f"{entry.description}\n{entry.body}"
        plain = normalise_statement(text)
        same = [
            n.name for n in neighbours(store, [text]) if normalise_statement(n.statement) == plain
        ]
        buried = tombstones(store, accepted, [text])
        if same:
            dropped.append(Dropped(entry.name, f"already remembered as {same[0]}"))
        elif plain in waiting:
            dropped.append(Dropped(entry.name, f"already proposed in {waiting[plain]}"))
        elif buried:
            tomb = next(iter(buried.values()))
            dropped.append(
                Dropped(
                    entry.name,
                    f"{', '.join(tomb.who)} removed this on {tomb.when} ({tomb.id})"
                    + (f": {tomb.reason}" if tomb.reason else ""),
                )
            )
        else:
            kept.append(entry)
    return kept


def _waiting_statements(store: Store) -> dict[str, str]:
    found = {}
    for proposal_id, tip in store.open_proposals().items():
        try:
            branch = store.facts.branch(tip)
        except InvalidInput as error:
            store.notes.append(f"{proposal_id} cannot be read: {error.message}")
            continue
        for record in branch.records.values():
            found[normalise_statement(statement(record))] = proposal_id
    return found


def _checked_draft(
    store: Store,
    session: Session,
    entries: list[Entry],
    retire: Mapping[str, str],
    origin: Origin,
    dropped: list[Dropped],
) -> tuple[Draft, tuple[Finding, ...]]:
    """Build the draft, drop the records that a check blocks, and build it again without."""
    while True:
        names = [entry.name for entry in entries] + list(retire)
        ground = store.facts.ground(store.head().accepted, names)
        draft = make_draft(ground, origin, entries, retire)
        findings = check_draft(store, draft, {session.id: session})
        blocked = {f.record: f.text for f in findings if f.severity == "blocker" and f.record}
        if not blocked:
            return draft, findings
        dropped += [Dropped(name, text) for name, text in sorted(blocked.items())]
        entries = [entry for entry in entries if entry.name not in blocked]
        retire = {name: why for name, why in retire.items() if name not in blocked}
