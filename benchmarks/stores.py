"""Stores of any size for benchmarks: real records with real quotes, written in large batches."""

from __future__ import annotations

from pathlib import Path

from gitmem.documents import make_evidence
from gitmem.domain.objects import Identity
from gitmem.domain.review import PERSON, Review
from gitmem.services.begin import begin
from gitmem.store import Draft, Entry, Origin, Store, checks_review, make_draft

PERSON_NAME = "human:Ada <ada@example.org>"
START = 1_764_500_000
SESSION = "bench-20260101-000000000000"
_BATCH = 1000
_PLACES = ("indentation", "migration", "deployment", "缩进", "数据库", "logging", "部署", "review")


def entry(number: int) -> Entry:
    """One record with one quote, different for each number."""
    place = _PLACES[number % len(_PLACES)]
    text = f"For {place} in module {number} we always use setting {number * 7919 % 10007}."
    quote = make_evidence(
        session=SESSION,
        message=number,
        cls="human",
        attested="file",
        at="2026-01-01T00:00:00Z",
        digest="sha256:" + f"{number:064x}",
        quote=text,
    )
    body = f"{text}\n**Why:** it was measured."
    return Entry(f"module-{number}", "project", text, body, (quote,))


def put(store: Store, numbers: range, nonce: int) -> Draft:
    """Propose the records of ``numbers`` in one approved proposal."""
    now = START + nonce
    origin = Origin("extract", "rules", SESSION, "file", f"{nonce:032x}"[::-1], now)
    entries = [entry(number) for number in numbers]
    ground = store.facts.ground(store.head().accepted, [e.name for e in entries])
    draft = make_draft(ground, origin, entries, {})
    approval = Review(PERSON_NAME, PERSON, "approve", draft.proposal.change, None, (), now)
    reviews = [checks_review(draft, [], now), approval]
    store.put_proposal(draft, reviews, Identity("rules", "noreply@gitmem.invalid"))
    return draft


def build(path: Path, records: int) -> Store:
    """Make a store with so many records and open it."""
    store = begin(path, "0" * 32, START)
    for start in range(0, records, _BATCH):
        draft = put(store, range(start, min(start + _BATCH, records)), start + 1)
        store.merge(draft.proposal.id)
    return store
