"""Turns that wait: worked off one by one, by whoever comes to it."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from gitmem.memory.proposing import Proposing
from gitmem.memory.reviewing import Reviewing

if TYPE_CHECKING:
    from gitmem.results import ProposalResult
    from gitmem.sessions import Queued, Spool


class Queueing(Proposing, Reviewing):
    """The operations on queued turns."""

    def _spool(self) -> Spool:
        from gitmem.domain.layout import SPOOL
        from gitmem.sessions import Spool

        return Spool(self._opened().repo.private / SPOOL)

    def queued(self) -> builtins.list[Queued]:
        """Return the sessions that were not read to their end, the oldest first."""
        return self._spool().entries()

    def work_off(
        self, session: str | None = None, *, set_aside: bool = False
    ) -> builtins.list[ProposalResult]:
        """Propose from what is queued, or from one ``session`` of it, and let it be reviewed.

        What fails stays queued, with its reason; after three tries it is set aside, and only
        read again with ``set_aside``, or when its session goes on. What another process is
        working on is left to it.
        """
        spool = self._spool()
        done = []
        for entry in spool.entries():
            if session not in (None, entry.session) or (entry.is_set_aside and not set_aside):
                continue
            with spool.claimed(entry) as mine:
                if mine:
                    done += self._work_off(spool, entry)
        return done

    def _work_off(self, spool: Spool, entry: Queued) -> builtins.list[ProposalResult]:
        """Read one session to its end; return what was proposed."""
        from gitmem.errors import GitmemError, NotFound, Waiting

        done = []
        try:
            while not self._is_read(spool, entry.session):
                result = self.extract_session(entry.session)
                done.append(result)
                self.review_drawn(result)
        except NotFound as error:
            self._note(f"a queued turn is gone: {error.message}")
            with self._opened().repo.lock():
                spool.done(entry.session)
        except Waiting as error:
            self._note(f"{entry.session} waits: {error.message}")
        except GitmemError as error:
            self._note(f"{entry.session} stays queued: {error.message}")
            with self._opened().repo.lock():
                spool.failed(entry.session, error.message)
        return done

    def _is_read(self, spool: Spool, session: str) -> bool:
        """Whether a session is read to its end; it is then off the queue."""
        sessions = self._sessions()
        with self._opened().repo.lock():
            stored = sessions.load(session)
            if stored is not None and sessions.consumed(session) < len(stored.messages):
                return False
            spool.done(session)
            return True
