"""The ranker's postings as the projection holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gitmem.cache.projection import Projection
from gitmem.ranking import Index


class ProjectionIndex(Index):
    """What the ranker asks, answered by a projection."""

    def __init__(self, projection: Projection) -> None:
        self._projection = projection

    def size(self) -> tuple[int, int]:
        """Return the number of documents and of their terms."""
        return self._projection.size()

    def blocks(self, terms: Sequence[str]) -> Iterable[tuple[str, bytes]]:
        """Return the postings of these terms."""
        return self._projection.blocks(terms)

    def names(self, documents: Sequence[int]) -> Mapping[int, str]:
        """Return the names of these documents."""
        return self._projection.names(documents)

    def first_names(self, documents: Sequence[int], limit: int) -> Mapping[int, str]:
        """Return the names of those ``limit`` of these documents whose names come first."""
        return self._projection.first_names(documents, limit)
