"""Which stored session a conversation continues, and what of it was read in another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gitmem.sessions.folder import Folder
from gitmem.sessions.format import Stored, consumed_keys, keys_of
from gitmem.sessions.staging import Staged

#: Keys that are compared at once: some tens of megabytes as a set.
_AT_ONCE = 500_000
#: A conversation that shares messages with others in more pieces than this is new from there.
_MAX_RANGES = 100_000


def same_session(
    folder: Folder, staged: Staged, wanted: dict[str, Any]
) -> tuple[Stored, int] | None:
    """Return the stored session that these messages continue or are the beginning of, and
    where in the staged file its messages end."""
    best: tuple[Stored, int] | None = None
    for path, header in folder.alike(wanted):
        if header.get("first") != staged.first:
            continue
        stored = folder.read(path.stem)
        if stored is None or (best and len(stored.messages) <= len(best[0].messages)):
            continue
        end = _end_of_shared(staged, stored, path)
        if end is not None:
            best = stored, end
    return best


def read_before(
    folder: Folder,
    staged: Staged,
    alike: dict[str, Any],
    start: int = 0,
    but: str = "",
    *,
    at_once: int = _AT_ONCE,
) -> list[tuple[int, int]]:
    """Return which staged messages from ``start`` on were consumed from another session whose
    header holds what is ``alike``, as ranges; ``but`` is the session that is not asked.

    ``at_once`` bounds the memory: so many keys are compared in one pass over the messages.
    """
    if not staged.keyed:
        return []
    seen = bytearray(staged.count)
    for path, _ in folder.alike(alike):
        if path.stem == but:
            continue
        keys = consumed_keys(path)
        for first in range(0, len(keys), at_once):
            _mark(seen, staged, set(keys[first : first + at_once]) - {0})
    return _ranges(seen, start)


def _mark(seen: bytearray, staged: Staged, known: set[int]) -> None:
    """Mark the staged messages that have one of the ``known`` keys."""
    staged.rewind()
    for index in range(staged.base, len(seen) if known else 0):
        if not known.isdisjoint(keys_of(staged.file.readline())):
            seen[index] = 1


def _ranges(seen: bytearray, start: int) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    first = seen.find(1, start)
    while first >= 0 and len(ranges) < _MAX_RANGES:
        end = seen.find(0, first)
        end = len(seen) if end < 0 else end
        ranges.append((first, end))
        first = seen.find(1, end)
    return ranges


def _end_of_shared(staged: Staged, stored: Stored, path: Path) -> int | None:
    """Return where in the staged file the messages of a stored session end, or where the file
    ends that is a beginning of them; None where they differ."""
    staged.rewind()
    with path.open("rb") as file:
        for start in stored.starts:
            line = staged.file.readline()
            if not line:
                break
            if file.tell() != start:
                file.seek(start)
            if file.readline() != line:
                return None
    return staged.file.tell()
