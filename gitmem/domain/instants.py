"""Instants: seconds since 1970 in commits, ``2026-11-30T16:20:11Z`` in texts."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from gitmem.errors import InvalidInput

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
        raise InvalidInput(f"{text!r} is no instant; write it like 2026-11-30T16:20:11Z")
    try:
        return int(datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp())
    except ValueError as error:
        raise InvalidInput(f"{text!r} names no real instant") from error


def compact_day(epoch: int) -> str:
    """Return the UTC day of ``epoch`` as it stands in ids, like ``20261130``."""
    return format_instant(epoch)[:10].replace("-", "")
