"""Proposals out of conversations and change sets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.memory.opened import OpenMemory

if TYPE_CHECKING:
    from gitmem.results import Progress, ProposalResult


class Proposing(OpenMemory):
    """The operations that propose."""

    def extract(
        self,
        transcript: str | os.PathLike[str],
        *,
        format: str | None = None,
        progress: Progress | None = None,
    ) -> ProposalResult:
        """Propose what is worth keeping of a conversation; a person approves it later.

        The same file again, or grown, gives only what is new. A turn counts as read only when
        its proposal exists or there is nothing to propose.

        Raises:
            NotFound, InvalidInput: there is no such file, or it is no conversation.
        """
        from dataclasses import replace

        from gitmem.results import Dropped, ProposalResult
        from gitmem.services.capture import Own, capture_transcript
        from gitmem.services.expiry import expire_sessions
        from gitmem.services.judging import Unread, find_items
        from gitmem.services.propose import make_batch, propose

        store, sessions, now = self._opened(), self._sessions(), self._now()
        store.head()
        while True:
            captured = capture_transcript(store, sessions, Path(transcript), format, now, progress)
            if isinstance(captured, Own):
                dropped = Dropped(Path(transcript).name, captured.why)
                nothing = ProposalResult(None, "nothing", (), (), (dropped,))
                return self._noted(
                    replace(nothing, counts=dict(captured.counts), notes=captured.notes)
                )
            session = captured.session
            unread = Unread(session.messages, captured.new_from, captured.read_before)
            found = find_items(store, unread, progress)
            batch = make_batch(found.items)
            origin = self._origin("extract", "rules", session.id, session.attested)
            with store.repo.lock():
                if sessions.consumed(session.id) != captured.new_from:
                    continue  # another process was faster with the same conversation
                result = propose(store, session, batch, origin)
                sessions.mark_consumed(session.id, found.upto, result.proposal, _instant(now))
                expire_sessions(store, sessions, now)
                store.expire_kept(now)
            break
        left = len(session.messages) - found.upto
        more = (f"{left} messages are left for another run of the same command",) if left else ()
        return self._noted(
            replace(
                result,
                dropped=(*result.dropped, *found.passed_over),
                counts=dict(captured.counts),
                notes=(*captured.notes, *more),
            )
        )

    def propose(self, change_set: Mapping[str, Any]) -> ProposalResult:
        """Propose a change set, as ``gitmem propose FILE`` reads it.

        Raises:
            InvalidInput: its shape is illegal; then nothing of it is proposed.
            NotFound: its session is not on this machine.
        """
        from dataclasses import replace

        from gitmem.services.capture import capture_messages, read_change_set, stored_session
        from gitmem.services.propose import make_batch, propose

        asked = read_change_set(change_set)
        batch = make_batch(asked.records, asked.retire)
        store, sessions = self._opened(), self._sessions()
        store.head()
        counts: Mapping[str, int] = {}
        notes: tuple[str, ...] = ()
        if asked.messages is not None:
            captured = capture_messages(store, sessions, asked.messages, self._now())
            session, counts, notes = captured.session, captured.counts, captured.notes
        else:
            session = stored_session(sessions, asked.session or "")
        origin = self._origin(asked.kind, "caller", session.id, session.attested)
        result = propose(store, session, batch, origin)
        store.expire_kept(origin.now)
        return self._noted(replace(result, counts=dict(counts), notes=notes))


def _instant(now: int) -> str:
    from gitmem.domain.instants import format_instant

    return format_instant(now)
