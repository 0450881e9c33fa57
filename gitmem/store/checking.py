"""Runs the deterministic checks on a draft, and gives their review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitmem import __version__
from gitmem.cache.index import ProjectionIndex
from gitmem.domain.checks import Candidate, KnownRecord, check_proposal
from gitmem.domain.layout import tombstone_path
from gitmem.domain.record import statement
from gitmem.domain.review import CHECKS, Finding, Review
from gitmem.domain.session import Session
from gitmem.domain.tombstone import (
    MAX_TOMBSTONE_BYTES,
    Tombstone,
    parse_tombstone,
    statement_hash,
)
from gitmem.ranking import search
from gitmem.redaction import find_secrets
from gitmem.store.buried import buried_statements
from gitmem.store.drafting import Draft
from gitmem.store.store import Store

#: Records that are compared with each new one: the best matches of a search for its text.
NEIGHBOURS = 5


def check_draft(
    store: Store,
    draft: Draft,
    sessions: Mapping[str, Session],
    *,
    own_words: bool = False,
    searched: dict[str, list[str]] | None = None,
) -> tuple[Finding, ...]:
    """Return what the checks find in a draft that stands on the projection's head.

    ``searched`` is as in :func:`neighbours`.
    """
    kinds = {change.name: change.kind for change in draft.proposal.changes}
    candidates = [
        Candidate(
            name=name,
            record=record,
            text=draft.texts[name],
            evidence=draft.evidence[name],
            change="added" if kinds[name] == "added" else "revised",
        )
        for name, record in draft.records.items()
    ]
    statements = [statement(record) for record in draft.records.values()]
    found = check_proposal(
        candidates,
        sessions=sessions,
        known=neighbours(store, statements, searched),
        tombstones=tombstones(store, draft.proposal.base, statements),
        buried=buried_statements(store, draft.proposal.base) if statements else (),
        secrets=lambda text: [(found.kind, found.line) for found in find_secrets(text)],
        own_words=own_words,
        reasons=dict(draft.proposal.retire_reasons),
    )
    return (*found, *_circles(store, draft))


def _circles(store: Store, draft: Draft) -> Iterator[Finding]:
    """Yield a blocker for each record of a draft that would come to supersede itself."""
    gone = {change.name for change in draft.proposal.changes if change.new is None}

    def older(name: str) -> Sequence[str]:
        record = draft.records.get(name)
        names = record.supersedes if record else store.projection.supersedes(name)
        return [old for old in names if old not in gone]

    for name, record in draft.records.items():
        waiting = [(old, old) for old in record.supersedes]
        seen: set[str] = set()
        while waiting:
            old, first = waiting.pop()
            if old == name:
                text = f"it cannot supersede {first}: that supersedes it, at once or in the end"
                yield Finding("blocker", "circle", text, name)
                break
            if old not in seen:
                seen.add(old)
                waiting += [(older_one, first) for older_one in older(old)]


def neighbours(
    store: Store, texts: Sequence[str], searched: dict[str, list[str]] | None = None
) -> list[KnownRecord]:
    """Return the records that a search for each of ``texts`` finds first.

    ``searched`` keeps what searches found, so that nothing is looked for twice while main
    stands still.
    """
    index = ProjectionIndex(store.projection)
    searched = {} if searched is None else searched
    for text in texts:
        if text not in searched:
            searched[text] = [name for name, _ in search(text, index, NEIGHBOURS)]
    names = {name for text in texts for name in searched[text]}
    found = []
    for name in sorted(names):
        row = store.projection.record(name)
        if row is not None:
            found.append(KnownRecord(name, statement(store.facts.record(row.blob, row.path))))
    return found


def tombstones(store: Store, commit: str, statements: Sequence[str]) -> dict[str, Tombstone]:
    """Return the tombstones of these very statements, by their keys."""
    tree = store.repo.reader.commit(commit).tree
    found = {}
    for text in statements:
        key = statement_hash(text)[:40]
        path = tombstone_path(key)
        entry = store.facts.entry(tree, path)
        if entry is not None:
            data = store.repo.reader.blob(entry.oid, max_bytes=MAX_TOMBSTONE_BYTES)
            found[key] = parse_tombstone(data, path)
    return found


def checks_review(draft: Draft, findings: Sequence[Finding], now: int) -> Review:
    """Return the review named ``checks``: it approves unless something blocks."""
    blocked = any(finding.severity == "blocker" for finding in findings)
    return Review(
        by=f"gitmem:{__version__}",
        reviewer=CHECKS,
        verdict="request_changes" if blocked else "approve",
        change=draft.proposal.change,
        rubric=None,
        findings=tuple(findings),
        at=now,
    )
