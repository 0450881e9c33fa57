"""Which records the next turn gets: a selector model's choice, or the ranking's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.cache import Projection, RecordRow
from gitmem.cache.index import ProjectionIndex
from gitmem.domain.layout import VIEW
from gitmem.domain.model_answers import MAX_SELECTED, NAMES_SCHEMA, read_names
from gitmem.domain.recall_block import Recalled
from gitmem.domain.text import one_line
from gitmem.domain.validity import marks, validity
from gitmem.errors import ModelFailed, NotFound
from gitmem.llm import Budget, ModelClient, ask
from gitmem.ranking import search
from gitmem.resources import prompt
from gitmem.store import Store

#: Records that a selector chooses from; of more, those that a search finds first.
CATALOGUE = 200


@dataclass(frozen=True, slots=True)
class Chosen:
    """Names for one turn. ``degraded`` says that no model chose, although one was set, and
    ``reason`` why; also where none is set, ``reason`` says so."""

    names: tuple[str, ...]
    degraded: bool
    reason: str


def ranked(projection: Projection, query: str, day: str, limit: int = MAX_SELECTED) -> list[str]:
    """Return the names that a search finds first, of records that hold on ``day`` (UTC)."""
    gone = projection.out_of_force(day)
    found = search(query, ProjectionIndex(projection), limit + len(gone))
    return [name for name, _ in found if name not in gone][:limit]


def choose(
    projection: Projection,
    query: str,
    day: str,
    client: ModelClient | None,
    budget: Budget,
    nonce: str,
) -> Chosen:
    """Let the selector model choose; whatever goes wrong, the ranking does, and that is told."""
    if client is None:
        return Chosen(tuple(ranked(projection, query, day)), False, "no model is set")
    rows = _catalogue(projection, query, day)
    if not rows:
        return Chosen((), False, "")
    known = {row.name for row in rows}
    data = {
        "query": query,
        "catalogue": [
            {"name": row.name, "type": row.type, "description": row.description} for row in rows
        ],
    }
    try:
        asked = ask(
            client,
            role="selector",
            prompt=prompt("selector"),
            data=data,
            read=lambda text: read_names(text, known),
            budget=budget,
            nonce=nonce,
            schema=NAMES_SCHEMA,
        )
    except ModelFailed as error:
        why = one_line(error.message)
        return Chosen(tuple(ranked(projection, query, day)), True, why)
    return Chosen(asked.value, False, "")


def _catalogue(projection: Projection, query: str, day: str) -> list[RecordRow]:
    """Return what there is to choose from: all, or the best of very many."""
    if projection.count() > CATALOGUE:
        rows = (projection.record(name) for name in ranked(projection, query, day, CATALOGUE))
        return sorted(row for row in rows if row is not None)
    gone = projection.out_of_force(day)
    return [row for row in projection.records() if row.name not in gone]


def recalled(store: Store, names: Sequence[str], day: str) -> list[Recalled]:
    """Return records as they are injected, with the days of their quotes.

    Raises:
        NotFound: there is no such record any more.
    """
    found = []
    for name in names:
        row = store.projection.record(name)
        if row is None:
            raise NotFound(f"there is no record {name}")
        record = store.facts.record(row.blob, row.path)
        quotes = [store.facts.evidence(oid, name) for oid in record.evidence]
        holds = validity(row.valid_from, row.valid_until, day)
        said = marks(row.status, row.valid_from, row.valid_until, holds, ())
        dates = tuple(quote.at[:10] for quote in quotes)
        found.append(Recalled(name, row.type, row.description, record.body, dates, said))
    return found


def view_text(store: Store) -> str:
    """Return MEMORY.md as the newest accepted commit has it, whatever the checked-out file says."""
    head = store.head()
    entry = store.facts.entry(store.repo.reader.commit(head.accepted).tree, VIEW)
    assert entry is not None  # every accepted commit has its view
    return store.repo.reader.blob(entry.oid).decode("utf-8")
