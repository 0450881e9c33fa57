"""Proposals get an id of their own, and are not made of what a person buried."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.domain.layout import tombstone_path
from gitmem.domain.proposal_item import Citation, Item
from gitmem.domain.session import Message, Part, Session
from gitmem.domain.tombstone import Tombstone, statement_hash
from gitmem.domain.verify import DecisionFields
from gitmem.results import ProposalResult
from gitmem.services.propose import make_batch, propose
from gitmem.services.queue import approve, proposals, reject
from gitmem.store import Origin, Store

NOW = 1_790_000_000
NONCE = "ab12cd" + "0" * 26
TAKEN = "extract-20260921-ab12cd"
PERSON = "human:本 <ben@example.org>"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    MemoryStore.init(tmp_path / "memory", clock=lambda: NOW).close()
    store = Store.open(tmp_path / "memory")
    yield store
    store.close()


def put(store: Store, text: str, nonce: str = NONCE) -> ProposalResult:
    part = Part.model_validate({"kind": "text", "class": "human", "text": text})
    session = Session(
        id="talk",
        attested="file",
        format="openai",
        messages=(Message(index=0, role="user", parts=(part,)),),
    )
    item = Item(
        name=f"port-{text[-4:]}",
        type="project",
        description=text,
        body=text,
        evidence=(Citation(message=0, quote=text),),
    )
    origin = Origin("extract", "rules", session.id, session.attested, nonce, NOW)
    return propose(store, session, make_batch([item]), origin)


def test_an_id_that_is_taken_by_an_open_proposal_is_not_used_again(store: Store) -> None:
    first, second = put(store, "端口是 8081"), put(store, "端口是 8082")
    assert first.proposal == TAKEN
    assert second.proposal and second.proposal != TAKEN
    assert [line.id for line in proposals(store)] == sorted([TAKEN, second.proposal])


@pytest.mark.parametrize("decision", ["merged", "rejected"])
def test_an_id_that_was_decided_is_not_used_again(store: Store, decision: str) -> None:
    """A proposal under it would be taken for decided, and put away."""
    put(store, "端口是 8081")
    if decision == "merged":
        approve(store, TAKEN, PERSON, NOW)
    else:
        reject(store, TAKEN, PERSON, NOW, "不对", "0" * 32)
    second = put(store, "端口是 8082").proposal
    assert second and second != TAKEN
    assert [line.id for line in proposals(store)] == [second]
    assert approve(store, second, PERSON, NOW).state == "merged"


def bury(store: Store, text: str, **other: object) -> None:
    """A decision that buries a text, as whoever can write to the memory may have made it."""
    tombstone = Tombstone(
        version=1,
        id="extract-20260901-000000",
        names=["port-8081"],
        who=[PERSON, "human:Ada <ada@example.org>"],
        when="2026-09-01T08:00:00Z",
        reason="端口换了",
        hash=statement_hash(f"{text}\n{text}"),
    ).model_copy(update=other)
    fields = DecisionFields("purge-20260901-000000", "purge", PERSON, "", NOW)
    store.decide(fields, {tombstone_path(tombstone.key): tombstone.to_bytes()})


def test_what_is_buried_is_dropped_with_who_did_it_when_and_why(store: Store) -> None:
    bury(store, "端口是 8081")
    result = put(store, "端口是 8081")
    assert result.proposal is None
    assert [dropped.reason for dropped in result.dropped] == [
        "本 <ben@example.org>, Ada <ada@example.org> rejected this on 2026-09-01 "
        "(extract-20260901-000000): 端口换了"
    ]
    assert put(store, "端口是 8082").proposal


def test_a_tombstone_made_by_hand_can_neither_break_nor_paint_what_is_said(store: Store) -> None:
    paint = "x\x1b[2J\u202e\ny"
    bury(
        store,
        "端口是 8081",
        names=["../../config", "con", "", paint, "a" * 300],
        **dict.fromkeys(("id", "when", "reason"), paint),
        who=[paint],
    )
    (dropped,) = put(store, "端口是 8081").dropped
    assert dropped.reason.isprintable()
    assert put(store, "端口是 8082").proposal
