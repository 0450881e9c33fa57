"""Proposals out of conversations and change sets."""

from __future__ import annotations

import builtins
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.memory.opened import OpenMemory

if TYPE_CHECKING:
    from gitmem.results import Progress, ProposalResult
    from gitmem.services.capture import Captured
    from gitmem.services.judging import Found


class Proposing(OpenMemory):
    """The operations that propose."""

    def extract(
        self,
        transcript: str | os.PathLike[str],
        *,
        format: str | None = None,
        again: bool = False,
        progress: Progress | None = None,
    ) -> ProposalResult:
        """Propose what is worth keeping of a conversation; a person approves it later.

        The same file again, or grown, gives only what is new. A turn counts as read only when
        its proposal exists or there is nothing to propose. ``again`` reads it from its beginning,
        whatever was read before: for what was proposed once, and is neither remembered nor
        proposed nor rejected now.

        Raises:
            NotFound, InvalidInput: there is no such file, or it is no conversation.
        """
        from dataclasses import replace

        from gitmem.results import Dropped, ProposalResult
        from gitmem.services.capture import Own, capture_transcript
        from gitmem.services.judging import Unread, find_items
        from gitmem.sessions import Spans

        store, sessions, now = self._opened(), self._sessions(), self._now()
        store.head()
        dropped: builtins.list[Dropped] = []
        reread = 0  # with ``again``: of the messages from which all is known, how many are done
        while True:
            captured = capture_transcript(
                store, sessions, Path(transcript), format, now, progress, again=again
            )
            if isinstance(captured, Own):
                own = Dropped(Path(transcript).name, captured.why)
                nothing = ProposalResult(None, "nothing", (), (), (own,))
                return self._noted(
                    replace(nothing, counts=dict(captured.counts), notes=captured.notes)
                )
            before = (captured.new_from, captured.read_before)
            unread = Unread(captured.session.messages, *((reread, Spans()) if again else before))
            found = find_items(store, unread, progress)
            result = self._propose_found(captured, found, now)
            if result is None:
                continue  # another process was faster with the same conversation
            dropped += [*result.dropped, *found.passed_over]
            left = len(captured.session.messages) - found.upto
            if not (again and left and result.proposal is None):
                break
            reread = found.upto
        notes = list(captured.notes)
        if left:
            notes.append(f"{left} messages are left for another run of the same command")
        if result.proposal is None and not again and (before[0] or before[1].ranges):
            notes.append("--again reads it from its beginning, whatever was read before")
        return self._noted(
            replace(
                result, dropped=tuple(dropped), counts=dict(captured.counts), notes=tuple(notes)
            )
        )

    def _propose_found(self, captured: Captured, found: Found, now: int) -> ProposalResult | None:
        """Propose what was found, and mark how far the conversation is read; None where another
        process marked it meanwhile."""
        from gitmem.services.expiry import expire_sessions
        from gitmem.services.propose import make_batch, propose

        store, sessions, session = self._opened(), self._sessions(), captured.session
        batch = make_batch(found.items)
        origin = self._origin("extract", "rules", session.id, session.attested)
        with store.repo.lock():
            if sessions.consumed(session.id) != captured.new_from:
                return None
            result = propose(store, session, batch, origin)
            upto = max(found.upto, captured.new_from)
            sessions.mark_consumed(session.id, upto, result.proposal, _instant(now))
            expire_sessions(store, sessions, now)
            store.expire_kept(now)
        return result

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
