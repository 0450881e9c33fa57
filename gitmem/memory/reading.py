"""What is remembered, and how it came to be.

``at`` is a moment of the past, as a person names it: a date (``2026-10-01``, to its end in UTC,
or ``2026-10-01T12:00+08:00``) or a commit of main (an id, ``main~3``, a tag, the id of a merged
proposal). None is now. Whether a record holds is then judged by the day of that moment. Where
``at`` names nothing, the operations raise NotFound; Refused for a commit that is not main's own;
InvalidInput for a date that does not exist.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from gitmem.memory.opened import OpenMemory

if TYPE_CHECKING:
    from gitmem.results import LogEntry, RecordDetail, RecordSummary, SearchHit, Why


class Reading(OpenMemory):
    """The operations that only look at main."""

    def list(
        self, *, type: str | None = None, at: str | None = None
    ) -> builtins.list[RecordSummary]:
        """Return a line for each record, by type and name.

        Raises:
            Usage: there is no such type.
        """
        from gitmem.services.reading import list_records

        return self._read_at(at, lambda projection, day: list_records(projection, type, day))

    def show(self, name: str, *, at: str | None = None) -> RecordDetail:
        """Return one record whole, with its quotes.

        Raises:
            NotFound: nothing of this name is remembered.
        """
        from gitmem.services.reading import show_record

        return self._read_at(
            at, lambda projection, day: show_record(projection, name, day), quotes_of=name
        )

    def search(
        self, query: str, *, limit: int = 10, all: bool = False, at: str | None = None
    ) -> builtins.list[SearchHit]:
        """Return the records that match ``query`` best, the best first.

        What is expired, not valid yet or superseded is left out, which a note says, unless
        ``all`` is wanted.

        Raises:
            Usage: ``limit`` is not between 1 and 1000.
        """
        from gitmem.services.reading import search_records

        hits, left_out = self._read_at(
            at,
            lambda projection, day: search_records(projection, query, limit, day, every=all),
            words=True,
        )
        if left_out:
            what = "1 match is" if left_out == 1 else f"{left_out} matches are"
            self._note(
                f"{what} left out, being expired, not valid yet or superseded; --all shows all"
            )
        return hits

    def log(
        self, name: str | None = None, *, limit: int | None = None, at: str | None = None
    ) -> builtins.list[LogEntry]:
        """Return the commits of main, newest first; with ``name``, the life of that record.

        That is every commit that touched it, the records that it came of (renamed, consolidated)
        or the records that it became; ``via`` names those.

        Raises:
            NotFound: nothing of this name was ever remembered.
            Usage: ``limit`` is less than 1.
        """
        from gitmem.services.history import log

        store = self._opened()
        with store.snapshot():
            self._say_strays(store.projection)
            return self._noted(log(store, name, limit, self._place(at)))

    def why(self, name: str, *, at: str | None = None) -> Why:
        """Return why a record is believed: quotes, sessions, reviews, approvals, merges.

        Raises:
            NotFound: nothing of this name is remembered.
        """
        from gitmem.services.history import why

        store = self._opened()
        with store.snapshot():
            record = self.show(name, at=at)
            return self._noted(why(store, self._sessions(), record, self._place(at)))

    def _place(self, at: str | None) -> int | None:
        """The place on main of a moment; None for now. Ask inside of a snapshot."""
        if at is None:
            return None
        from gitmem.store.past import find_moment

        return find_moment(self._opened(), at, self._now()).place
