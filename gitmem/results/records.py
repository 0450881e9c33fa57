"""What ``list``, ``show`` and ``search`` return.

Named tuples, not dataclasses: they cost a fresh process next to nothing to define.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gitmem.domain.validity import marks


class RecordSummary(NamedTuple):
    """One line of ``list``: ``change`` is the proposal that made it so.

    ``validity`` is ``expired``, ``future``, or None on a day on which the record holds;
    ``superseded_by`` are the present records that take its place.
    """

    name: str
    type: str
    description: str
    blob: str
    change: str
    approved_at: str
    status: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    validity: str | None = None
    superseded_by: tuple[str, ...] = ()

    @property
    def marks(self) -> tuple[str, ...]:
        """What lists say beside the description: ``unconfirmed``, ``until 2026-12-31``."""
        dates = (self.valid_from, self.valid_until)
        return marks(self.status, *dates, self.validity, self.superseded_by)

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape; what a record does not have is left out."""
        return _without_blanks(self._asdict())


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
    """One result of a search; a higher score is a better match. For the rest, see
    :class:`RecordSummary`."""

    name: str
    description: str
    score: float
    status: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    validity: str | None = None
    superseded_by: tuple[str, ...] = ()

    @property
    def marks(self) -> tuple[str, ...]:
        """What is said beside the description, as in :class:`RecordSummary`."""
        dates = (self.valid_from, self.valid_until)
        return marks(self.status, *dates, self.validity, self.superseded_by)

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape; what a record does not have is left out."""
        return _without_blanks(self._asdict())


def _without_blanks(raw: dict[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in raw.items() if value not in (None, ())}
    if "superseded_by" in found:
        found["superseded_by"] = list(found["superseded_by"])
    return found
