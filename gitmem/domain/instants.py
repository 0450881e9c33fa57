"""Instants: seconds since 1970 in commits, ``2026-11-30T16:20:11Z`` in texts.

What a person types may be shorter: a day, or a minute in some time zone.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from gitmem.errors import InvalidInput

_DAY = 86_400
_TYPED = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2})"
    r"(?:[T ](?P<time>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?\Z",
    re.IGNORECASE,
)
_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z\Z")


def format_instant(epoch: int) -> str:
    """Return ``epoch`` (seconds) as UTC text.

    Raises:
        InvalidInput: the year is not between 1970 and 9999.
    """
    try:
        if epoch < 0:
            raise ValueError(epoch)
        return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"{epoch} is no instant between 1970 and 9999") from error


def parse_instant(text: str) -> int:
    """Return the seconds since 1970 of a UTC text.

    Raises:
        InvalidInput: the text has another form or names no real instant.
    """
    if not _FORM.match(text):
        raise InvalidInput(f"{text[:80]!r} is no instant; write it like 2026-11-30T16:20:11Z")
    try:
        return int(datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp())
    except ValueError as error:
        raise InvalidInput(f"{text[:80]!r} names no real instant") from error


def read_moment(text: str) -> int | None:
    """Return the last second that a date as people type it stands for; None for another text.

    ``2026-10-01`` is that day to its end. ``2026-10-01T12:00`` and ``2026-10-01 12:00:30`` are
    instants, with ``Z`` or an offset like ``+08:00`` behind them if need be. Without one, all is
    UTC. What is before 1970 is negative.

    Raises:
        InvalidInput: it has the form of a date and names no real one.
    """
    typed = _TYPED.match(text)
    if typed is None:
        return None
    year, month, day = map(int, typed["day"].split("-"))
    hour, minute, second = map(int, f"{typed['time'] or '0:00'}:00".split(":")[:3])
    try:
        instant = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise InvalidInput(f"{text!r} names no real day or time") from error
    seconds = int(instant.timestamp()) - _offset(typed["zone"] or "Z")
    return seconds if typed["time"] else seconds + _DAY - 1


def _offset(zone: str) -> int:
    if zone in "Zz":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > 23 or minutes > 59:
        raise InvalidInput(f"{zone} is no offset from UTC; write it like +08:00")
    return (hours * 60 + minutes) * (-60 if zone[0] == "-" else 60)


def compact_day(epoch: int) -> str:
    """Return the UTC day of ``epoch`` as it stands in ids, like ``20261130``."""
    return format_instant(epoch)[:10].replace("-", "")
