"""Whether a record holds on a day. A day is UTC, as text: ``2026-11-30``."""

from __future__ import annotations

EXPIRED = "expired"
"""The record's last day is over."""

FUTURE = "future"
"""The record's first day has not come."""


def validity(valid_from: str | None, valid_until: str | None, day: str) -> str | None:
    """Return :data:`EXPIRED`, :data:`FUTURE`, or None where the record holds on ``day``.

    Both dates belong to the time in which it holds.
    """
    if valid_until is not None and valid_until < day:
        return EXPIRED
    if valid_from is not None and valid_from > day:
        return FUTURE
    return None


def marks(
    status: str | None,
    valid_from: str | None,
    valid_until: str | None,
    validity: str | None,
    superseded_by: tuple[str, ...],
) -> tuple[str, ...]:
    """Return what lists say of a record beside its description, as ``until 2026-12-31``."""
    found = [status] if status else []
    if validity == EXPIRED:
        found.append(f"expired {valid_until}")
    else:
        found += [f"from {valid_from}"] if validity == FUTURE else []
        found += [f"until {valid_until}"] if valid_until else []
    if superseded_by:
        found.append(f"superseded by {', '.join(superseded_by)}")
    return tuple(found)
