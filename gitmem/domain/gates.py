"""When a consolidation is due: four gates and a threshold, each of which alone holds it back."""

from __future__ import annotations

from dataclasses import dataclass

HOUR = 3600

#: Seconds by which two clocks may differ. A time that is further ahead was written by a wrong one.
SKEW = 60


@dataclass(frozen=True, slots=True)
class GateSettings:
    """How much has to have happened; times are in seconds."""

    changed: int = 10
    """Records changed since the last consolidation."""
    age: int = 24 * HOUR
    """Since the last consolidation."""
    sessions: int = 5
    """Sessions seen since the last consolidation."""
    scan: int = 600
    """Since the gates were last looked at and found closed."""
    lock: int = HOUR
    """After which a lock that nobody gave back counts as a dead process's."""


@dataclass(frozen=True, slots=True)
class Since:
    """What has happened since the last consolidation. Times are in seconds since 1970; 0: never."""

    consolidated_at: int = 0
    scanned_at: int = 0
    locked_at: int = 0
    changed: int = 0
    sessions: int = 0


def closed_gates(since: Since, now: int, settings: GateSettings) -> tuple[str, ...]:
    """Return why no consolidation is due, one sentence for each closed gate; none: it is due.

    A time in the future (a clock that was wrong) counts as none, so that no gate stays closed
    longer than it says.
    """
    closed = []
    if since.changed < settings.changed:
        closed.append(
            f"{since.changed} records changed since the last one; it takes {settings.changed}"
        )
    if left := _left(since.consolidated_at, now, settings.age):
        closed.append(f"the last one was {_told(settings.age - left)} ago; {_told(left)} to go")
    if since.sessions < settings.sessions:
        closed.append(f"{since.sessions} sessions since the last one; it takes {settings.sessions}")
    if left := _left(since.scanned_at, now, settings.scan):
        closed.append(f"it was looked at just now; the next look is in {_told(left)}")
    if left := _left(since.locked_at, now, settings.lock):
        closed.append(f"one is under way; its lock ends in {_told(left)} at the latest")
    return tuple(closed)


def _left(at: int, now: int, wait: int) -> int:
    if not at or at > now + SKEW:
        return 0
    return max(0, wait - max(0, now - at))


def _told(seconds: int) -> str:
    if seconds >= HOUR:
        return f"{seconds / HOUR:.1f} h"
    return f"{-(-seconds // 60)} min"
