"""Memories with very many open proposals, all of them real, written by one import."""

from __future__ import annotations

from pathlib import Path

from gitmem.domain.commit_message import write_message
from gitmem.domain.evidence import Evidence
from gitmem.domain.layout import PROPOSALS
from gitmem.domain.objects import Identity, format_signature
from gitmem.domain.planned import LEDGER_IDENTITY
from gitmem.domain.proposal import proposal_message
from gitmem.domain.review import review_message
from gitmem.store import Draft, Entry, Origin, Store, checks_review, make_draft
from tests.store.stories import NOW, plain

SESSION = "openai-20260921-000000000000"


def crowd(root: Path, count: int) -> list[str]:
    """Open ``count`` proposals, each of a record and a quote of its own; their ids in order."""
    store = Store.open(root)
    try:
        names = [f"port-{n}" for n in range(count)]
        ground = store.facts.ground(store.head().accepted, names)
    finally:
        store.close()
    ids, stream = [], []
    for n, name in enumerate(names):
        text = f"Service {n} listens on port {n}, 端口号不变。"
        origin = Origin("extract", "rules", SESSION, "file", f"{n:06x}" * 5, NOW)
        draft = make_draft(
            ground, origin, [Entry(name, "project", text, text, (_quote(text),))], {}
        )
        ids.append(draft.proposal.id)
        stream.append(_branch(draft, text))
    plain(root, "fast-import", "--done", "--quiet", stdin=b"".join([*stream, b"done\n"]))
    return ids


def _quote(text: str) -> Evidence:
    return Evidence(
        session=SESSION,
        message=0,
        cls="human",
        attested="file",
        at="2026-09-21T00:00:00Z",
        digest="sha256:" + "0" * 64,
        quote=text,
    )


def _branch(draft: Draft, text: str) -> bytes:
    """The proposal and the review of its checks, as fast-import reads them."""
    proposal = draft.proposal
    quotes = {name: [text] for name in proposal.names}
    parts = [_commit(proposal.id, write_message(proposal_message(proposal, draft.records, quotes)))]
    parts.append(f"from {proposal.base}\n".encode())
    for path, data in draft.files.items():
        assert isinstance(data, bytes)
        parts.append(f"M 100644 inline {path}\n".encode() + _data(data))
    review = review_message(checks_review(draft, (), NOW), proposal.id)
    return b"".join([*parts, _commit(proposal.id, write_message(review))])


def _commit(proposal_id: str, message: str) -> bytes:
    author = format_signature(Identity("gitmem rules", LEDGER_IDENTITY.email), NOW)
    who = f"author {author}\ncommitter {format_signature(LEDGER_IDENTITY, NOW)}\n"
    return f"commit {PROPOSALS}{proposal_id}\n{who}".encode() + _data(message.encode())


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)
