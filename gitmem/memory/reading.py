"""What is remembered, and how it came to be."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from gitmem.memory.opened import OpenMemory

if TYPE_CHECKING:
    from gitmem.results import LogEntry, RecordDetail, RecordSummary, SearchHit, Why


class Reading(OpenMemory):
    """The operations that only look at main."""

    def list(self, *, type: str | None = None) -> builtins.list[RecordSummary]:
        """Return a line for each record, by type and name.

        Raises:
            Usage: there is no such type.
        """
        from gitmem.services.reading import list_records

        return self._read(lambda projection: list_records(projection, type))

    def show(self, name: str) -> RecordDetail:
        """Return one record whole, with its quotes.

        Raises:
            NotFound: nothing of this name is remembered.
        """
        from gitmem.services.reading import show_record

        return self._read(lambda projection: show_record(projection, name))

    def search(self, query: str, *, limit: int = 10) -> builtins.list[SearchHit]:
        """Return the records that match ``query`` best, the best first.

        Raises:
            Usage: ``limit`` is not between 1 and 1000.
        """
        from gitmem.services.reading import search_records

        return self._read(lambda projection: search_records(projection, query, limit))

    def log(self, name: str | None = None, *, limit: int | None = None) -> builtins.list[LogEntry]:
        """Return the commits of main, newest first; those that touched ``name`` if given.

        Raises:
            NotFound: nothing of this name was ever remembered.
            Usage: ``limit`` is less than 1.
        """
        from gitmem.services.history import log

        return log(self._opened(), name, limit)

    def why(self, name: str) -> Why:
        """Return why a record is believed: quotes, sessions, reviews, approvals, merges.

        Raises:
            NotFound: nothing of this name is remembered.
        """
        from gitmem.services.history import why

        store = self._opened()
        with store.snapshot():
            return why(store, self._sessions(), self.show(name))
