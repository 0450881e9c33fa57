"""list, show and search: answered out of a projection, without git and heavy imports."""

from __future__ import annotations

from gitmem.cache import Projection, RecordRow
from gitmem.domain.layout import RECORD_TYPES
from gitmem.domain.validity import validity
from gitmem.errors import NotFound, Usage
from gitmem.results import Quote, RecordDetail, RecordSummary, SearchHit

#: Results that one search may ask for.
MAX_HITS = 1000


def list_records(projection: Projection, record_type: str | None, day: str) -> list[RecordSummary]:
    """Return a line for each record, by type and name, as it stands on ``day`` (UTC).

    Raises:
        Usage: there is no such type.
    """
    if record_type is not None and record_type not in RECORD_TYPES:
        raise Usage(f"{record_type[:80]!r} is no type; it is one of {', '.join(RECORD_TYPES)}")
    by = projection.superseded_by(day)
    return [summary(row, day, by.get(row.name, ())) for row in projection.records(record_type)]


def show_record(projection: Projection, name: str, day: str) -> RecordDetail:
    """Return one record whole, with its quotes, as it stands on ``day`` (UTC).

    Raises:
        NotFound: nothing of this name is remembered.
    """
    row = projection.record(name)
    record = projection.blob(row.blob) if row else None
    if row is None or record is None:
        raise NotFound(f"nothing is remembered as {name}", hint=_did_you_mean(projection, name))
    return RecordDetail(
        summary=summary(row, day, projection.superseded_by(day, name).get(name, ())),
        body=record["body"],
        evidence=tuple(quote(projection, oid) for oid in record["evidence"]),
        supersedes=tuple(record["supersedes"]),
    )


def search_records(
    projection: Projection, query: str, limit: int, day: str, every: bool = False
) -> tuple[list[SearchHit], int]:
    """Return the records that match ``query`` best, the best first, and how many were left out.

    Left out is, unless ``every`` is wanted, what does not hold on ``day`` (UTC) or is superseded;
    counted are those that would else have been among the results.

    Raises:
        Usage: ``limit`` is not between 1 and 1000.
    """
    if not 1 <= limit <= MAX_HITS:
        raise Usage(f"a search gives 1 to {MAX_HITS} results, not {limit}")
    from gitmem.cache.index import ProjectionIndex  # list and show do without the ranker
    from gitmem.ranking import search

    without = set() if every else projection.out_of_force(day)
    hits: list[SearchHit] = []
    left_out = 0
    for name, score in search(query, ProjectionIndex(projection), limit + len(without)):
        if len(hits) == limit:
            break
        row = projection.record(name)
        if name in without or row is None:
            left_out += 1
            continue
        by = projection.superseded_by(day, name).get(name, ()) if every else ()
        hits.append(_hit(summary(row, day, by), score))
    return hits, left_out


def _hit(found: RecordSummary, score: float) -> SearchHit:
    return SearchHit(
        name=found.name,
        description=found.description,
        score=round(score, 6),
        status=found.status,
        valid_from=found.valid_from,
        valid_until=found.valid_until,
        validity=found.validity,
        superseded_by=found.superseded_by,
    )


def summary(row: RecordRow, day: str, superseded_by: tuple[str, ...] = ()) -> RecordSummary:
    """Return the line of ``list`` for a row of the projection, as it stands on ``day`` (UTC)."""
    return RecordSummary(
        name=row.name,
        type=row.type,
        description=row.description,
        blob=row.blob,
        change=row.change,
        approved_at=row.approved_at,
        status=row.status,
        valid_from=row.valid_from,
        valid_until=row.valid_until,
        validity=validity(row.valid_from, row.valid_until, day),
        superseded_by=superseded_by,
    )


def quote(projection: Projection, oid: str) -> Quote:
    """Return a piece of evidence that an accepted record cites.

    Raises:
        NotFound: the projection lacks it; rebuilding it helps.
    """
    parsed = projection.blob(oid)
    if parsed is None:
        raise NotFound(f"the projection lacks the quote {oid}", hint="Run `gitmem fsck`.")
    keys = ("session", "message", "cls", "attested", "at", "quote")
    return Quote(id=oid, **{key: parsed[key] for key in keys})


def _did_you_mean(projection: Projection, name: str) -> str:
    from difflib import get_close_matches  # only where something was mistyped

    close = get_close_matches(name, [row.name for row in projection.records()], n=3)
    if close:
        return f"Did you mean {', '.join(close)}?"
    return "Run `gitmem list` or `gitmem search WORDS` to see what is."
