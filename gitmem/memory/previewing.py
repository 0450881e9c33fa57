"""Dry runs: what would be asked of models, with nothing asked and nothing written."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.memory.consolidating import Consolidating
from gitmem.memory.queueing import Queueing
from gitmem.memory.selecting import Selecting

if TYPE_CHECKING:
    from gitmem.domain.session import Session
    from gitmem.llm import RecordingClient
    from gitmem.results import DryRun
    from gitmem.sessions import Spans


class Previewing(Queueing, Selecting, Consolidating):
    """What the operations that ask models would send: the first request of each conversation.

    No proposal, no review, no session, no query is kept, nothing is marked as read, no model is
    asked and no key looked for. What a request says of earlier answers is as if those had been
    empty.
    """

    def preview_extract(
        self, transcript: str | os.PathLike[str], *, format: str | None = None, again: bool = False
    ) -> DryRun:
        """Return what :meth:`extract` would ask the proposer about a conversation.

        Raises:
            NotFound, InvalidInput: there is no such file, or it is no conversation.
            Waiting: models have opened as many proposals today as the policy allows.
        """
        from gitmem.domain.layout import SESSIONS
        from gitmem.results import DryRun
        from gitmem.services.capture import Own, capture_transcript
        from gitmem.sessions import Spans
        from gitmem.sessions.scratch import scratch_sessions

        store = self._opened()
        store.head()
        if not self._has_model("proposer"):
            why = "no model is set for the proposer: the rules would read it, and send nothing"
            return self._noted(DryRun((), (why,)))
        client = self._recorder("proposer", "[]")
        path = Path(transcript)
        with scratch_sessions(store.repo.private / SESSIONS) as sessions:
            found = capture_transcript(store, sessions, path, format, self._now(), again=again)
            if isinstance(found, Own):
                return self._noted(DryRun((), (found.why,)))
            read = (0, Spans()) if again else (found.new_from, found.read_before)
            self._draw(client, found.session, *read)
        notes = (*found.notes, *(() if client.asked else ("nothing would be asked about it",)))
        return self._noted(DryRun(tuple(client.asked), notes))

    def preview_queued(self) -> DryRun:
        """Return what working off the queue would ask the proposer.

        Raises:
            Waiting: models have opened as many proposals today as the policy allows.
        """
        from gitmem.errors import NotFound
        from gitmem.results import DryRun
        from gitmem.services.capture import stored_session

        self._opened().head()
        if not self._has_model("proposer"):
            why = "no model is set for the proposer: the rules would read them, and send nothing"
            return self._noted(DryRun((), (why,)))
        client, sessions = self._recorder("proposer", "[]"), self._sessions()
        notes = []
        for entry in self._spool().entries():
            try:
                found = stored_session(sessions, entry.session)
                read = sessions.consumed(entry.session), sessions.read_before(entry.session)
            except NotFound as error:
                notes.append(error.message)
                continue
            self._draw(client, found, *read)
        return self._noted(DryRun(tuple(client.asked), tuple(notes)))

    def _draw(self, client: RecordingClient, session: Session, start: int, before: Spans) -> None:
        from gitmem.services.extracting import Asking as How
        from gitmem.services.extracting import check_daily, draw_items
        from gitmem.services.propose import make_batch

        store = self._opened()
        check_daily(store, self._now())
        how = How(client, self._budget(), os.urandom(8).hex(), make_batch)
        draw_items(store, session.messages, start, before, how)

    def preview_review(self, proposal: str, *, only: str | None = None) -> DryRun:
        """Return what :meth:`review` would ask the reviewer model about a proposal.

        Raises:
            NotFound: the proposal is not open, there is no such reviewer, or no model is set.
            InvalidInput: its branch breaks a rule.
        """
        from gitmem.results import DryRun
        from gitmem.services.reviewing import Reviewing, judgements

        client = self._recorder("reviewer")
        how = Reviewing(client, self._budget(), os.urandom(8).hex(), self._now())
        notes, asked = [], 0
        for found in judgements(self._opened(), self._sessions(), proposal, only, how):
            if len(client.asked) == asked:
                notes.append(f"{found.reviewer} would be asked nothing: {found.reason}")
            asked = len(client.asked)
        if not client.asked and not notes:
            notes.append("every reviewer has judged it already")
        return self._noted(DryRun(tuple(client.asked), tuple(notes)))

    def preview_select(self, query: str) -> DryRun:
        """Return what :meth:`select` would ask the selector model."""
        from gitmem.memory.selecting import masked
        from gitmem.results import DryRun
        from gitmem.services.selecting import choose

        if not self._has_model("selector"):
            why = "no model is set for the selector: the ranking would choose, and send nothing"
            return DryRun((), (why,))
        client, store = self._recorder("selector"), self._opened()
        nonce = os.urandom(8).hex()
        with store.snapshot():
            today = self._today()
            choose(store.projection, masked(query), today, client, self._budget(), nonce)
        notes = () if client.asked else ("nothing is remembered, so nothing would be asked",)
        return self._noted(DryRun(tuple(client.asked), notes))

    def preview_consolidate(self, *, now: bool = False) -> DryRun:
        """Return what :meth:`consolidate` would ask the consolidator.

        Raises:
            Waiting: it is not due.
            NotFound: no model is set.
        """
        from gitmem.errors import ModelFailed, Waiting
        from gitmem.results import DryRun
        from gitmem.services.consolidating import tidy

        closed = self.closed_gates()
        if closed and not now:
            raise Waiting(
                f"no consolidation is due: {closed[0]}",
                hint="To see it all the same: gitmem consolidate --now --dry-run",
            )
        client, store = self._recorder("consolidator"), self._opened()
        store.head()
        with suppress(ModelFailed):  # so it ends where no question is answered
            tidy(store, client, self._budget(), os.urandom(8).hex(), self._now())
        notes = () if client.asked else ("there is nothing to tidy, so nothing would be asked",)
        return self._noted(DryRun(tuple(client.asked), notes))
