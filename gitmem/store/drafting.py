"""Drafts: a proposal as files and facts, before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.documents import write_evidence
from gitmem.domain.evidence import Evidence
from gitmem.domain.instants import compact_day
from gitmem.domain.layout import RECORD_TYPES, SHARD_AT, evidence_path, record_path
from gitmem.domain.objects import blob_id
from gitmem.domain.proposal import Proposal, RecordAt, RecordChange
from gitmem.domain.record import Record, make_record
from gitmem.domain.terms import Terms, terms_of
from gitmem.domain.verify import Ground
from gitmem.errors import InvalidInput
from gitmem.records import write_record


@dataclass(frozen=True, slots=True)
class Entry:
    """A record that a draft adds or revises.

    ``keep`` is the record that it revises; without ``terms`` it holds on the terms of that one.
    """

    name: str
    type: str
    description: str
    body: str
    evidence: tuple[Evidence, ...]
    keep: Record | None = None
    terms: Terms | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a draft comes from. ``nonce`` is random hex; ``now`` in seconds since 1970.

    ``follows`` is the earlier draft whose findings it answers, in the ``round``-th round.
    """

    kind: str
    proposed_by: str
    session: str | None
    attested: str | None
    nonce: str
    now: int
    follows: str | None = None
    round: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposal and its files. ``texts`` has the whole file of each record."""

    proposal: Proposal
    files: Mapping[str, bytes | str | None]
    records: Mapping[str, Record]
    texts: Mapping[str, str]
    evidence: Mapping[str, Mapping[str, Evidence]] = field(default_factory=dict)


def proposal_id(origin: Origin) -> str:
    """Return the id of a proposal, like ``extract-20261130-7f3a2c``."""
    return f"{origin.kind}-{compact_day(origin.now)}-{origin.nonce[:6]}"


def make_draft(
    ground: Ground, origin: Origin, entries: Sequence[Entry], retire: Mapping[str, str]
) -> Draft:
    """Build the smallest complete change: records, their quotes, and what is retired and why.

    ``ground`` must know every name that is touched.

    Raises:
        InvalidInput: a record breaks a rule, a name stands twice, or a retired one is unknown.
    """
    files: dict[str, bytes | None] = {}
    changes: list[RecordChange] = []
    records: dict[str, Record] = {}
    evidence: dict[str, dict[str, Evidence]] = {}
    texts: dict[str, str] = {}
    counts = Counter({t: getattr(ground.manifest.records.by_type, t) for t in RECORD_TYPES})
    counts.update(entry.type for entry in entries if ground.records[entry.name] is None)
    for entry in entries:
        if entry.name in records or entry.name in retire:
            raise InvalidInput("stands twice in one change", where=entry.name)
        quotes = {blob_id(data): (data, e) for e in entry.evidence if (data := write_evidence(e))}
        record = _record(entry, tuple(quotes))
        data = write_record(record)
        old = ground.records[entry.name]
        sharded = counts[entry.type] >= SHARD_AT
        path = old.path if old else record_path(entry.type, entry.name, sharded=sharded)
        new = RecordAt(path, blob_id(data))
        if new == old:
            continue
        files[path] = data
        files.update(_evidence_files(ground, entry.name, {o: d for o, (d, _) in quotes.items()}))
        changes.append(RecordChange(entry.name, old, new))
        records[entry.name] = record
        texts[entry.name] = data.decode("utf-8")
        evidence[entry.name] = {oid: quote for oid, (_, quote) in quotes.items()}
    for name in retire:
        old = ground.records[name]
        if old is None:
            raise InvalidInput("there is no such record to retire", where=name)
        files[old.path] = None
        files.update(_evidence_files(ground, name, {}))
        changes.append(RecordChange(name, old, None))
    proposal = Proposal(
        id=proposal_id(origin),
        kind=origin.kind,
        proposed_by=origin.proposed_by,
        session=origin.session,
        attested=origin.attested,
        base=ground.commit,
        nonce=origin.nonce,
        created_at=origin.now,
        changes=tuple(sorted(changes, key=lambda change: change.name)),
        retire_reasons=tuple(sorted((name, why) for name, why in retire.items() if why)),
        follows=origin.follows,
        round=origin.round,
    )
    return Draft(proposal, files, records, texts, evidence)


def _record(entry: Entry, quotes: tuple[str, ...]) -> Record:
    keep = entry.keep
    terms = entry.terms or (terms_of(keep) if keep else Terms())
    return make_record(
        name=entry.name,
        description=entry.description,
        type=entry.type,
        evidence=quotes,
        body=entry.body,
        valid_from=terms.valid_from,
        valid_until=terms.valid_until,
        status=terms.status,
        supersedes=terms.supersedes,
        extra=dict(keep.extra) if keep else None,  # type: ignore[arg-type]  # checked before
    )


def _evidence_files(
    ground: Ground, name: str, quotes: Mapping[str, bytes]
) -> dict[str, bytes | None]:
    files: dict[str, bytes | None] = {
        evidence_path(name, oid): None for oid in ground.evidence[name] - quotes.keys()
    }
    for oid, data in quotes.items():
        if oid not in ground.evidence[name]:
            files[evidence_path(name, oid)] = data
    return files
