"""Proposals from items: what a proposer hands in becomes one branch, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gitmem.documents import make_evidence, write_evidence
from gitmem.domain.checks import check_citation
from gitmem.domain.evidence import Evidence, supports
from gitmem.domain.instants import format_instant
from gitmem.domain.layout import check_name
from gitmem.domain.objects import Identity
from gitmem.domain.planned import LEDGER_IDENTITY
from gitmem.domain.proposal_item import Item, Retirement
from gitmem.domain.record import MAX_BYTES, MAX_DESCRIPTION, MAX_EVIDENCE, make_record, statement
from gitmem.domain.review import Finding
from gitmem.domain.session import Session
from gitmem.domain.structure import MAX_CHANGES, check_type
from gitmem.domain.text import fold_whitespace, normalise_statement, one_line, to_nfc
from gitmem.domain.tombstone import MAX_REASON
from gitmem.errors import InvalidInput, NotFound
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
    shown_state,
    tombstones,
)
from gitmem.store.fresh_id import with_fresh_id


@dataclass(frozen=True, slots=True)
class Batch:
    """What one proposer hands in at once, about one session; :func:`make_batch` checks it."""

    items: Sequence[Item]
    retire: Sequence[Retirement] = ()


def make_batch(items: Sequence[Item], retire: Sequence[Retirement] = ()) -> Batch:
    """Check the shape of what a proposer hands in, before anything is written.

    Raises:
        InvalidInput: naming the item, the field and the limit; nothing of it can be proposed.
    """
    if len(items) + len(retire) > MAX_CHANGES:
        raise InvalidInput(
            f"touches {len(items) + len(retire)} records; at most {MAX_CHANGES} are allowed",
            where="change set",
            hint="Hand it in as several change sets.",
        )
    for item in items:
        _check_shape(item)
    for gone in retire:
        check_name(gone.name)
        if len(gone.reason) > MAX_REASON:
            raise InvalidInput(
                f"has {len(gone.reason)} characters; the limit is {MAX_REASON}",
                where=f"{gone.name}: reason",
            )
    names = Counter([item.name for item in items] + [gone.name for gone in retire])
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise InvalidInput("stands twice in one change set", where=twice[0])
    return Batch(items, retire)


def propose(store: Store, session: Session, batch: Batch, origin: Origin) -> ProposalResult:
    """Put one proposal on a branch of its own, out of what of ``batch`` stands up.

    An item whose evidence fails, that is known already, or that the checks block is dropped
    alone and named; its siblings go on.

    Raises:
        InvalidInput: a revised record breaks a limit; then nothing of the batch is proposed.
    """
    # One at a time: two that say the same at once must find each other.
    with store.repo.lock():
        head = store.head()
        dropped: list[Dropped] = []
        retire = _known_retirements(store, batch.retire, dropped)
        entries = _entries(store, session, batch.items, origin, dropped)
        searched: dict[str, list[str]] = {}
        follows = origin.follows
        entries = _without_known(store, head.accepted, entries, dropped, searched, follows)
        origin = with_fresh_id(store, origin)
        draft, findings = _checked_draft(store, session, entries, retire, origin, dropped, searched)
        if not draft.proposal.changes:
            return ProposalResult(None, "nothing", (), (), tuple(dropped), session=session.id)
        review = checks_review(draft, findings, origin.now)
        author = Identity(f"gitmem {origin.proposed_by.partition(':')[0]}", LEDGER_IDENTITY.email)
        tip = store.put_proposal(draft, [review], author)
        judged = store.judged(tip)
    return ProposalResult(
        proposal=draft.proposal.id,
        state=shown_state(judged.decision),
        records=effects(draft.proposal, draft.records),
        findings=finding_views(findings),
        dropped=tuple(dropped),
        session=session.id,
        by=origin.proposed_by,
    )


def _check_shape(item: Item) -> None:
    check_name(item.name)
    check_type(item.type)
    count = len({(citation.message, citation.quote) for citation in item.evidence})
    if not 1 <= count <= MAX_EVIDENCE:
        raise InvalidInput(
            f"cites {count} quotes; a record cites 1 to {MAX_EVIDENCE}",
            where=f"{item.name}: evidence",
            hint="Quote the sentences that say it.",
        )
    for field, text, limit in (
        ("description", item.description, MAX_DESCRIPTION),
        ("body", item.body, MAX_BYTES),
    ):
        if len(text) > MAX_BYTES:  # not even looked at
            raise InvalidInput(
                f"has {len(text)} characters; the limit is {limit}", where=f"{item.name}: {field}"
            )
    try:
        record = make_record(
            name=item.name,
            description=item.description,
            type=item.type,
            # Stand for the ids of the quotes, which have the same length.
            evidence=[f"{number:040x}" for number in range(count)],
            body=item.body,
        )
        write_record(record)
    except InvalidInput as error:
        where = error.where if error.where.startswith(item.name) else f"{item.name}: {error.where}"
        raise InvalidInput(error.reason, where=where, hint=error.hint) from error


def _known_retirements(
    store: Store, retire: Sequence[Retirement], dropped: list[Dropped]
) -> dict[str, str]:
    known = {}
    for gone in retire:
        if store.projection.record(gone.name) is None:
            dropped.append(Dropped(gone.name, "there is no such record to retire"))
        else:
            known[gone.name] = fold_whitespace(to_nfc(gone.reason))
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
        evidence = _evidence(session, item, format_instant(origin.now))
        if isinstance(evidence, Dropped):
            dropped.append(evidence)
            continue
        row = store.projection.record(item.name)
        keep = store.facts.record(row.blob, row.path) if row else None
        if keep and (strange := [q.cls for q in evidence if not supports(q.cls, keep.type)]):
            # Else a tool's text, as a fact of the project, would take the place of a person's.
            why = f"it is a {keep.type} record, which {strange[0]} text does not change"
            dropped.append(Dropped(item.name, why))
            continue
        entries.append(Entry(item.name, item.type, item.description, item.body, evidence, keep))
    return entries


def _evidence(session: Session, item: Item, now: str) -> tuple[Evidence, ...] | Dropped:
    """Return the item's quotes as evidence, or why the item is dropped."""
    found: dict[tuple[int, str], Evidence] = {}
    for citation in item.evidence:
        check = check_citation(citation.quote, citation.message, session, item.type)
        if check.reason:
            return Dropped(item.name, check.reason)
        try:
            quote = make_evidence(
                item.name,
                session=session.id,
                message=citation.message,
                cls=check.cls,
                attested=session.attested,
                at=check.at or now,
                digest=check.digest,
                quote=citation.quote.strip(),
            )
            write_evidence(quote)
        except InvalidInput as error:
            return Dropped(item.name, error.reason)
        found[(citation.message, fold_whitespace(citation.quote))] = quote
    return tuple(found.values())


def _without_known(
    store: Store,
    accepted: str,
    entries: list[Entry],
    dropped: list[Dropped],
    searched: dict[str, list[str]],
    follows: str | None,
) -> list[Entry]:
    """Leave out what is remembered, waits in an open proposal, or was rejected or forgotten."""
    waiting = _waiting_statements(store, follows) if entries else {}
    refused = _refused_statements(store) if entries else {}
    here: dict[str, str] = {}
    kept = []
    for entry in entries:
        text = f"{entry.description}\n{entry.body}"
        plain = normalise_statement(text)
        same = [
            n.name
            for n in neighbours(store, [text], searched)
            if normalise_statement(n.statement) == plain
        ]
        buried = tombstones(store, accepted, [text])
        if same:
            dropped.append(Dropped(entry.name, f"already remembered as {same[0]}"))
        elif plain in here:
            dropped.append(Dropped(entry.name, f"says the same as {here[plain]} beside it"))
        elif plain in waiting:
            dropped.append(Dropped(entry.name, f"already proposed in {waiting[plain]}"))
        elif buried:
            (tomb,) = buried.values()
            who = one_line(", ".join(by.removeprefix("human:") for by in tomb.who))
            dropped.append(Dropped(entry.name, f"{who} {tomb.verb} this {tomb.decision}"))
        elif plain in refused:
            dropped.append(Dropped(entry.name, refused[plain]))
        else:
            here[plain] = entry.name
            kept.append(entry)
    return kept


def _waiting_statements(store: Store, but: str | None) -> dict[str, str]:
    """Return what open proposals say, all but the draft that is being answered."""
    found = {}
    for proposal_id, tip in store.open_proposals().items():
        if proposal_id == but:
            continue
        try:
            branch = store.facts.branch(tip)
        except InvalidInput as error:
            store.notes.append(f"{proposal_id} cannot be read: {error.message}")
            continue
        for record in branch.records.values():
            found[normalise_statement(statement(record))] = proposal_id
    return found


def _refused_statements(store: Store) -> dict[str, str]:
    """Return what a model rejected and is kept aside, each with who rejected it in what."""
    found: dict[str, str] = {}
    for kept in store.kept():
        closing = kept.closing
        if closing is None or closing.state != "rejected" or not closing.by.startswith("model:"):
            continue
        try:
            branch = store.facts.branch(kept.tip, any_base=True)
        except (InvalidInput, NotFound):
            continue  # `gitmem proposals --kept` says so; what cannot be read equals nothing
        who = one_line(closing.by.removeprefix("model:").rpartition("@")[0])
        why = (
            f"{who} rejected this in {kept.name}; to have it judged again: "
            f"gitmem reopen {kept.name}"
        )
        for record in branch.records.values():
            found.setdefault(normalise_statement(statement(record)), why)
    return found


def _checked_draft(
    store: Store,
    session: Session,
    entries: list[Entry],
    retire: Mapping[str, str],
    origin: Origin,
    dropped: list[Dropped],
    searched: dict[str, list[str]],
) -> tuple[Draft, tuple[Finding, ...]]:
    """Build the draft, drop the records that a check blocks, and build it again without."""
    while True:
        names = [entry.name for entry in entries] + list(retire)
        ground = store.facts.ground(store.head().accepted, names)
        draft = make_draft(ground, origin, entries, retire)
        findings = check_draft(store, draft, {session.id: session}, searched=searched)
        blocked = {f.record: f.text for f in findings if f.severity == "blocker" and f.record}
        if not blocked:
            return draft, findings
        dropped += [Dropped(name, text) for name, text in sorted(blocked.items())]
        entries = [entry for entry in entries if entry.name not in blocked]
        retire = {name: why for name, why in retire.items() if name not in blocked}
