"""What ``list``, ``show`` and ``search`` return.

Named tuples, not dataclasses: they cost a fresh process next to nothing to define.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class RecordSummary(NamedTuple):
    """One line of ``list``: ``change`` is the proposal that made it so."""

    name: str
    type: str
    description: str
    blob: str
    change: str
    approved_at: str
    status: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape; what a record does not have is left out."""
        return {key: value for key, value in self._asdict().items() if value is not None}


class Quote(NamedTuple):
    """A piece of evidence as it is shown. ``cls`` is ``class`` in JSON."""

    id: str
    session: str
    message: int
    cls: str
    attested: str
    at: str
    quote: str

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape."""
        raw = self._asdict()
        raw["class"] = raw.pop("cls")
        return raw


class RecordDetail(NamedTuple):
    """One record whole, with its quotes."""

    summary: RecordSummary
    body: str
    evidence: tuple[Quote, ...]
    supersedes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape."""
        return {
            **self.summary.to_json(),
            "body": self.body,
            "evidence": [quote.to_json() for quote in self.evidence],
            "supersedes": list(self.supersedes),
        }


class SearchHit(NamedTuple):
    """One result of a search; a higher score is a better match."""

    name: str
    description: str
    score: float

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape."""
        return self._asdict()
