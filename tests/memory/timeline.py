"""A past to look back on: changes of memory on given days, with dates, status and supersedes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gitmem import MemoryStore
from gitmem.documents import make_evidence
from gitmem.domain.evidence import Evidence
from gitmem.domain.instants import format_instant, parse_instant
from gitmem.domain.layout import evidence_path
from gitmem.domain.record import make_record
from gitmem.store import Entry, Origin, Store, checks_review, make_draft, person_identity
from tests.memory.words import ADA

_A_DIGEST = "sha256:" + "0" * 64


def at(day: str, time: str = "12:00:00") -> int:
    """Seconds since 1970 of a day, at noon unless said otherwise."""
    return parse_instant(f"{day}T{time}Z")


def on(root: Path, day: str) -> MemoryStore:
    """The memory, opened at noon of a day."""
    return MemoryStore.open(root, clock=lambda: at(day))


def said(text: str, now: int) -> Evidence:
    return make_evidence(
        "quote",
        session="s-timeline",
        message=0,
        cls="human",
        attested="caller",
        at=format_instant(now),
        digest=_A_DIGEST,
        quote=text,
    )


def fact(name: str, text: str, *, quotes_of: Iterable[str] = (), **more: Any) -> dict[str, Any]:
    """A record to merge; ``quotes_of`` are records whose quotes it carries on, else its text."""
    return {"name": name, "text": text, "quotes_of": tuple(quotes_of), **more}


def proposed(
    root: Path,
    day: str,
    *facts: Mapping[str, Any],
    retire: Iterable[str] = (),
    kind: str = "consolidate",
    digits: str = "",
) -> str:
    """Propose a change on a day, ready to be approved; the proposal's id, which ends in
    ``digits`` where they are given."""
    gone = dict.fromkeys(retire, "")
    with on(root, day) as memory:
        store = memory._opened()
        names = [one["name"] for one in facts]
        ground = store.facts.ground(store.head().accepted, [*names, *gone])
        nonce = f"{digits or store.head().accepted[:6]}{len(store.open_proposals()):026d}"
        origin = Origin(kind, "rules", None, None, nonce, at(day))
        draft = make_draft(ground, origin, [_entry(store, one, at(day)) for one in facts], gone)
        checks = checks_review(draft, [], at(day))
        store.put_proposal(draft, [checks], person_identity(f"human:{ADA}"))
        return draft.proposal.id


def merged(root: Path, day: str, *facts: Mapping[str, Any], **more: Any) -> str:
    """Propose a change on a day, and approve it on the same; the proposal's id."""
    proposal = proposed(root, day, *facts, **more)
    with on(root, day) as memory:
        memory.approve(proposal, person=ADA)
    return proposal


def _entry(store: Store, one: Mapping[str, Any], now: int) -> Entry:
    carried = [quote for name in one["quotes_of"] for quote in _quotes(store, name)]
    fields = {key: one[key] for key in one.keys() - {"text", "quotes_of"}}
    fields = {"type": "project", "description": one["text"], "body": one["text"], **fields}
    keep = make_record(evidence=["0" * 40], **fields)
    return Entry(
        name=keep.name,
        type=keep.type,
        description=keep.description,
        body=keep.body,
        evidence=tuple(carried or [said(one["text"], now)]),
        keep=keep,
    )


def _quotes(store: Store, name: str) -> list[Evidence]:
    row = store.projection.record(name)
    assert row is not None
    record = store.facts.record(row.blob, row.path)
    return [store.facts.evidence(oid, evidence_path(name, oid)) for oid in record.evidence]
