"""Consolidation: a model tidies whole records in batches; what it answers becomes one proposal.

Nothing is deleted first, nothing that the model did not see in full can be a source, and what
is not named stays. A result that loses what an earlier query found says so in a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitmem.domain.evidence import Evidence
from gitmem.domain.instants import format_instant
from gitmem.domain.model_answers import (
    CONSOLIDATION_SCHEMA,
    Consolidation,
    Rewritten,
    read_consolidation,
)
from gitmem.domain.objects import Identity
from gitmem.domain.planned import LEDGER_IDENTITY
from gitmem.domain.record import MAX_EVIDENCE, Record
from gitmem.domain.review import Finding
from gitmem.domain.terms import Terms
from gitmem.domain.text import one_line
from gitmem.errors import InvalidInput, ModelFailed
from gitmem.llm import Asked, Budget, ModelClient, ask
from gitmem.ranking import MemoryIndex, document, search
from gitmem.resources import prompt
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
    shown_state,
)
from gitmem.store.fresh_id import with_fresh_id

#: Characters of records in one question.
BATCH = 40_000
#: Records that a query shows, and queries whose loss is named one by one.
FOUND = 5
MAX_LOST = 20
#: Classes by how much a quote of them can carry.
_STRENGTH = {"human": 0, "tool": 1, "assistant": 2, "subagent": 3}
_ATTESTED = {"hook": 0, "session": 0, "file": 1, "caller": 2}


@dataclass(frozen=True, slots=True)
class Source:
    """A record as the consolidator sees it, whole, with its quotes."""

    record: Record
    evidence: tuple[Evidence, ...]

    @property
    def name(self) -> str:
        return self.record.name

    def to_json(self) -> dict[str, Any]:
        """Return it as data."""
        record = self.record
        return {
            "name": record.name,
            "type": record.type,
            "description": record.description,
            "body": record.body,
            "status": record.status,
            "valid_from": record.valid_from,
            "valid_until": record.valid_until,
            "evidence": [
                {"day": q.at[:10], "class": q.cls, "quote": q.quote} for q in self.evidence
            ],
        }


@dataclass(slots=True)
class Tidied:
    """What all batches gave together; ``who`` answered them, empty where nobody was asked."""

    who: str = ""
    records: list[tuple[Rewritten, tuple[Source, ...]]] = field(default_factory=list)
    retired: dict[str, str] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)


def tidy(store: Store, client: ModelClient, budget: Budget, nonce: str, now: int) -> Tidied:
    """Ask the consolidator about every record, a batch of whole ones at a time.

    A batch without a usable answer is left as it is, and named.

    Raises:
        ModelFailed: no batch got a usable answer, or they came from different models.
    """
    done = Tidied()
    failed: ModelFailed | None = None
    day = format_instant(now)[:10]
    batches = list(_batches(_sources(store)))
    for batch in batches:
        try:
            asked = _ask(batch, client, budget, nonce, day)
        except ModelFailed as error:
            failed = error
            names = f"{batch[0].name} to {batch[-1].name}"
            done.dropped.append(Dropped(names, one_line(error.message)))
            continue
        if done.who and asked.who != done.who:
            raise ModelFailed("the consolidator's endpoint answered with two different models")
        done.who = asked.who
        _take(done, asked.value, {source.name: source for source in batch})
    if failed is not None and len(done.dropped) == len(batches):
        raise failed
    return done


def propose_tidied(
    store: Store, tidied: Tidied, origin: Origin, queries: Sequence[str]
) -> ProposalResult:
    """Put what was tidied on a branch, as one proposal, with what the checks and the queries find.

    Raises:
        InvalidInput: a record breaks a limit; then nothing is proposed.
    """
    with store.repo.lock():
        origin = with_fresh_id(store, origin)
        entries = [_entry(item, sources) for item, sources in tidied.records]
        names = [*(entry.name for entry in entries), *tidied.retired]
        ground = store.facts.ground(store.head().accepted, names)
        moved = _moved(store, tidied)
        if moved:
            raise InvalidInput(
                f"changed while the consolidator read it: {', '.join(moved)}",
                hint="Nothing was proposed; run it again.",
            )
        draft = make_draft(ground, origin, entries, tidied.retired)
        if not draft.proposal.changes:
            return ProposalResult(None, "nothing", (), (), tuple(tidied.dropped))
        findings = (*check_draft(store, draft, {}), *_lost(store, draft, queries))
        author = Identity("gitmem model", LEDGER_IDENTITY.email)
        tip = store.put_proposal(draft, [checks_review(draft, findings, origin.now)], author)
        judged = store.judged(tip)
    return ProposalResult(
        proposal=draft.proposal.id,
        state=shown_state(judged.decision),
        records=effects(draft.proposal, draft.records),
        findings=finding_views(findings),
        dropped=tuple(tidied.dropped),
        by=origin.proposed_by,
    )


# --- asking ------------------------------------------------------------------------------------


def _sources(store: Store) -> Iterator[Source]:
    for row in store.projection.records():
        record = store.facts.record(row.blob, row.path)
        yield Source(record, tuple(store.facts.evidence(oid, row.name) for oid in record.evidence))


def _batches(sources: Iterable[Source]) -> Iterator[list[Source]]:
    batch: list[Source] = []
    size = 0
    for source in sources:
        length = len(str(source.to_json()))
        if batch and size + length > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(source)
        size += length
    if len(batch) > 1 or (batch and size):
        yield batch


def _ask(
    batch: Sequence[Source], client: ModelClient, budget: Budget, nonce: str, day: str
) -> Asked[Consolidation]:
    known = {source.name for source in batch}
    asked = ask(
        client,
        role="consolidator",
        prompt=prompt("consolidator"),
        data={"records": [source.to_json() for source in batch], "today": day},
        read=lambda text: read_consolidation(text, known),
        budget=budget,
        nonce=nonce,
        schema=CONSOLIDATION_SCHEMA,
    )
    if not asked.model:
        raise ModelFailed("the consolidator's endpoint does not say which model answered")
    return asked


def _take(done: Tidied, answer: Consolidation, sources: Mapping[str, Source]) -> None:
    kept_in: dict[str, list[Source]] = {}
    for covered in answer.coverage:
        if covered.kept_in:
            kept_in.setdefault(covered.kept_in, []).append(sources[covered.source])
    for item in answer.records:
        done.records.append((item, tuple(kept_in.get(item.name, ()))))
    done.retired |= {gone.name: one_line(gone.reason) for gone in answer.retired}


# --- proposing ---------------------------------------------------------------------------------


def _entry(item: Rewritten, sources: tuple[Source, ...]) -> Entry:
    """Return the record that a consolidation makes, with the strongest quotes of what it keeps."""
    own = next((source.record for source in sources if source.name == item.name), None)
    gone = [source.name for source in sources if source.name != item.name]
    before = own.supersedes if own else ()
    return Entry(
        name=item.name,
        type=item.type,
        description=item.description,
        body=item.body,
        evidence=strongest(sources),
        keep=own,
        terms=Terms(
            valid_from=own.valid_from if own else None,
            valid_until=own.valid_until if own else None,
            status=item.status or (own.status if own else None),
            supersedes=tuple(dict.fromkeys((*before, *gone))),
        ),
    )


def strongest(sources: Sequence[Source], limit: int = MAX_EVIDENCE) -> tuple[Evidence, ...]:
    """Return the strongest quotes of several records: of each its strongest first.

    A person's own words are stronger than what a tool printed, and what a client announced is
    stronger than what somebody only says was said.
    """
    queues = [sorted(source.evidence, key=_weakness) for source in sources]
    found: list[Evidence] = []
    for rank in range(max((len(queue) for queue in queues), default=0)):
        found += [queue[rank] for queue in queues if rank < len(queue)]
    return tuple(dict.fromkeys(found))[:limit]


def _weakness(quote: Evidence) -> tuple[int, int, int]:
    return _STRENGTH.get(quote.cls, 9), _ATTESTED.get(quote.attested, 9), -len(quote.quote)


def _moved(store: Store, tidied: Tidied) -> list[str]:
    """Return the sources that are no longer what the consolidator saw."""
    moved = set()
    for _, sources in tidied.records:
        for source in sources:
            row = store.projection.record(source.name)
            if row is None or store.facts.record(row.blob, row.path) != source.record:
                moved.add(source.name)
    return sorted(moved | {n for n in tidied.retired if store.projection.record(n) is None})


def _lost(store: Store, draft: Draft, queries: Sequence[str]) -> tuple[Finding, ...]:
    """Return a finding for each earlier query that would no longer find what it found.

    A record that another one supersedes is found where that one is.
    """
    if not queries:
        return ()
    before, after = {}, {}
    for row in store.projection.records():
        record = store.facts.record(row.blob, row.path)
        before[row.name] = document(row.name, record.description, record.body)
    after = {name: text for name, text in before.items() if name not in draft.proposal.names}
    heirs: dict[str, str] = {}
    for name, record in draft.records.items():
        after[name] = document(name, record.description, record.body)
        heirs |= dict.fromkeys(record.supersedes, name)
    old, new = MemoryIndex(before.items()), MemoryIndex(after.items())
    findings = []
    for query in queries:
        now = {name for name, _ in search(query, new, FOUND)}
        for name, _ in search(query, old, FOUND):
            if name in draft.proposal.names and heirs.get(name, name) not in now:
                text = (
                    f"the earlier query {one_line(query)[:120]!r} found it, and would not any more"
                )
                findings.append(Finding("warning", "lost-answer", text, name))
    return tuple(dict.fromkeys(findings))[:MAX_LOST]
