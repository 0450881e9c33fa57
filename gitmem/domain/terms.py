"""On what terms a record holds: from when, until when, how surely, and in whose place.

Also how a person changes them, and what they have said by it: that is quoted as evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitmem.domain.layout import check_name
from gitmem.domain.record import Record, check_dates
from gitmem.errors import InvalidInput

NONE = "none"
"""How a person takes a date away."""

STATUSES = ("unconfirmed", "confirmed")
"""How surely a record holds; a file says ``unconfirmed`` or nothing."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The dates are ISO, both included; ``supersedes`` are names. See :class:`Record`."""

    valid_from: str | None = None
    valid_until: str | None = None
    status: str | None = None
    supersedes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewTerms:
    """What a person says of the terms; None leaves one as it is.

    A date is ISO or :data:`NONE`, ``status`` one of :data:`STATUSES`; no names at all in
    ``supersedes`` take away those that are there.
    """

    valid_from: str | None = None
    valid_until: str | None = None
    status: str | None = None
    supersedes: Sequence[str] | None = None


def terms_of(record: Record) -> Terms:
    """Return the terms of a record."""
    return Terms(record.valid_from, record.valid_until, record.status, record.supersedes)


def changed_terms(old: Terms, new: NewTerms) -> Terms:
    """Return ``old`` with what ``new`` says.

    Raises:
        InvalidInput: a date is none or they are in the wrong order, the status is unknown, or
            a name is illegal.
    """
    terms = Terms(
        valid_from=_date(old.valid_from, new.valid_from),
        valid_until=_date(old.valid_until, new.valid_until),
        status=_status(old.status, new.status),
        supersedes=old.supersedes if new.supersedes is None else _names(new.supersedes),
    )
    check_dates(terms.valid_from, terms.valid_until)
    return terms


def _date(old: str | None, new: str | None) -> str | None:
    if new is None:
        return old
    return None if new == NONE else new


def _status(old: str | None, new: str | None) -> str | None:
    if new is None:
        return old
    if new not in STATUSES:
        raise InvalidInput(f"{new[:40]!r} is not one of {', '.join(STATUSES)}", where="status")
    return None if new == "confirmed" else new


def _names(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise InvalidInput("must be a list of names", where="supersedes")
    for name in names:
        try:
            check_name(name)
        except InvalidInput as error:
            raise InvalidInput(error.reason, where="supersedes", hint=error.hint) from None
    return tuple(names)


def in_words(subject: str, old: Terms, new: Terms) -> str:
    """Return what somebody says who changes ``old`` to ``new``; nothing where they are equal."""
    return " ".join(f"{subject} {words}." for words in _changes(old, new))


def _changes(old: Terms, new: Terms) -> Iterator[str]:
    if new.valid_from != old.valid_from:
        yield f"is valid from {new.valid_from}" if new.valid_from else "has no first day"
    if new.valid_until != old.valid_until:
        yield f"is valid until {new.valid_until}" if new.valid_until else "has no last day"
    if new.status != old.status:
        yield f"is {new.status or 'confirmed'}"
    if new.supersedes != old.supersedes:
        yield f"takes the place of {', '.join(new.supersedes) or 'no other'}"
