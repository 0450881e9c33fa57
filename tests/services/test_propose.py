"""Proposals get an id of their own, whatever the chance that made it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.domain.proposal_item import Citation, Item
from gitmem.domain.session import Message, Part, Session
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
