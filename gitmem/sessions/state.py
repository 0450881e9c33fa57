"""What gitmem remembers about its own work on this machine: consolidations, the last queries,
what models took.

Nothing here is memory: a file that is lost or damaged starts anew, and gates stay closed a while
longer. What changes it expects its caller to hold the store's lock.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from gitmem.domain.canonical import canonical_file
from gitmem.repo.files import read_regular, write_file

#: Queries that are kept, and characters of one.
MAX_QUERIES = 200
MAX_QUERY = 1000
#: Days (UTC) of which it is known what models took.
USAGE_DAYS = 31
#: A control character takes six bytes of JSON.
_MAX_BYTES = 4 * MAX_QUERIES * MAX_QUERY * 6


@dataclass(frozen=True, slots=True)
class LocalState:
    """Times are in seconds since 1970, 0: never. ``consolidated`` is the accepted commit of main
    that the last consolidation saw; ``queries`` are the last ones, the newest at the end;
    ``usage`` is what models took, by day (``2026-11-30``, UTC) and role."""

    consolidated: str = ""
    consolidated_at: int = 0
    scanned_at: int = 0
    locked_at: int = 0
    queries: tuple[str, ...] = ()
    usage: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)


class StateFile:
    """The file ``gitmem/state.json`` of one store."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> LocalState:
        """Return what it says; one that cannot be read says nothing."""
        try:
            raw = json.loads(read_regular(self._path, _MAX_BYTES) or b"{}")
            numbers = {k: int(raw.get(k, 0)) for k in _NUMBERS}
            queries = tuple(_text(query) for query in raw.get("queries", ()))[-MAX_QUERIES:]
            seen, usage = _text(raw.get("consolidated", "")), _usage(raw.get("usage"))
            return LocalState(seen, **numbers, queries=queries, usage=usage)
        except (OSError, ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return LocalState()

    def change(self, **fields: object) -> LocalState:
        """Set fields, and return what the file says then."""
        state = replace(self.read(), **fields)  # type: ignore[arg-type]  # callers name them
        write_file(self._path, canonical_file({"version": 1, **asdict(state)}), durable=False)
        return state

    def add_query(self, query: str) -> None:
        """Keep a query, in place of the oldest; the same again moves to the end."""
        short = _text(query[:MAX_QUERY])
        known = [old for old in self.read().queries if old != short]
        self.change(queries=tuple([*known, short][-MAX_QUERIES:]))

    def add_usage(self, day: str, role: str, questions: int, tokens: int) -> None:
        """Add to what a role took on a day; of more than :data:`USAGE_DAYS` the oldest go."""
        usage = self.read().usage
        before = usage.setdefault(day, {}).get(role, {"questions": 0, "tokens": 0})
        usage[day][role] = {
            "questions": before["questions"] + questions,
            "tokens": before["tokens"] + tokens,
        }
        self.change(usage={day: usage[day] for day in sorted(usage)[-USAGE_DAYS:]})


def _text(value: object) -> str:
    """Return what can be written as UTF-8: no half of a pair of surrogates."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _usage(raw: Any) -> dict[str, dict[str, dict[str, int]]]:
    """Return what can be read of a table of usage; a day that cannot be is left out."""
    found = {}
    for day, roles in raw.items() if isinstance(raw, dict) else ():
        try:
            found[day] = {
                role: {"questions": int(took["questions"]), "tokens": int(took["tokens"])}
                for role, took in roles.items()
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            continue
    return found


_NUMBERS = ("consolidated_at", "scanned_at", "locked_at")
