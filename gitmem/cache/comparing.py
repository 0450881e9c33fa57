"""Whether two projections of one main say the same."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from gitmem.cache.projection import Projection

#: What they have in common: everything but numbers that were given out.
_COMPARED = {
    "the list of records": "SELECT name, rank, path, blob, description, status, valid_from,"
    " valid_until, superseded, change, approved_by, approved_at FROM records ORDER BY name",
    "what supersedes what": "SELECT name, by FROM supersedes ORDER BY name, by",
    "what came of what": "SELECT name, by, oid FROM lineage JOIN commits USING(seq)"
    " ORDER BY name, by, seq",
    "the history": "SELECT oid, kind, change, at, approved_by, records, reason FROM commits"
    " ORDER BY seq",
    "which commit touched what": "SELECT t.name, c.oid FROM touched t JOIN commits c"
    " USING(seq) ORDER BY t.name, c.seq",
    "what was decided": "SELECT id, what, oid FROM decided JOIN commits USING(seq) ORDER BY id",
    # "lost" is what happened to main here, which no fresh look at it can know.
    "where main stands": "SELECT key, value FROM meta WHERE key<>'lost' ORDER BY key",
    "the text of a record or quote": "SELECT oid, json FROM blobs ORDER BY oid",
}


def difference(one: Projection, other: Projection) -> str:
    """Return in what two projections differ, empty where they say the same.

    Raises:
        Damaged: one of them cannot be read.
    """
    for what, query in _COMPARED.items():
        if one._run(query) != other._run(query):
            return what
    # Both in the order of their terms, so neither is held in memory as a whole.
    pairs = zip(_postings(one), _postings(other), strict=False)
    if _terms(one) != _terms(other) or any(mine != its for mine, its in pairs):
        return "the words for search"
    return ""


def _terms(projection: Projection) -> list[tuple[str]]:
    return projection._run("SELECT DISTINCT term FROM blocks ORDER BY term")


def _postings(projection: Projection) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """Yield each term with the names of its documents and how often it is in which."""
    names = dict(projection._run("SELECT number, name FROM records"))
    for (term,) in _terms(projection):
        found = []
        for _, data in projection.blocks([term]):
            packed = array("I", data)
            half = len(packed) // 2
            for number, code in zip(packed[:half], packed[half:], strict=True):
                if number not in names:
                    raise projection.damaged("a posting names a document that is not there")
                found.append((names[number], code))
        yield term, sorted(found)
