"""Proposals out of conversations and change sets."""

from __future__ import annotations

import builtins
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.memory.asking import Asking

if TYPE_CHECKING:
    from gitmem.llm import Budget
    from gitmem.results import Dropped, Progress, ProposalResult
    from gitmem.services.capture import Captured, Own
    from gitmem.services.judging import Found, Unread


class Proposing(Asking):
    """The operations that propose."""

    def extract(
        self,
        transcript: str | os.PathLike[str],
        *,
        format: str | None = None,
        again: bool = False,
        by_model: bool | None = None,
        progress: Progress | None = None,
    ) -> ProposalResult:
        """Propose what is worth keeping of a conversation; a person approves it later.

        The same file again, or grown, gives only what is new. A turn counts as read only when
        its proposal exists or there is nothing to propose. ``again`` reads it from its beginning,
        whatever was read before: for what was proposed once, and is neither remembered nor
        proposed nor rejected now.

        ``by_model`` says whether the proposer model reads it, or the rules that need none; by
        default the model, where one is set.

        Raises:
            NotFound, InvalidInput: there is no such file, or it is no conversation; or no model
                is set and one was asked for.
            ModelFailed: the model gave no usable answer. Nothing counts as read then.
            Waiting: models have opened as many proposals today as the policy allows.
        """
        from dataclasses import replace

        from gitmem.services.capture import Own, capture_transcript
        from gitmem.services.judging import Unread
        from gitmem.sessions import Spans

        store, sessions, now = self._opened(), self._sessions(), self._now()
        store.head()
        budget = self._budget_for(by_model)
        dropped: builtins.list[Dropped] = []
        reread = 0  # with ``again``: of the messages from which all is known, how many are done
        while True:
            asked = (store, sessions, Path(transcript), format, now, progress)
            captured = capture_transcript(*asked, again=again)
            if isinstance(captured, Own):
                return self._noted(_own_doing(captured, Path(transcript).name))
            before = (captured.new_from, captured.read_before)
            unread = Unread(captured.session.messages, *((reread, Spans()) if again else before))
            found, by = self._find(unread, budget, progress)
            result = self._propose_found(captured, found, by, now)
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
        counts = dict(captured.counts)
        result = replace(result, dropped=tuple(dropped), counts=counts, notes=tuple(notes))
        return self._noted(_taken(result, budget))

    def extract_session(
        self, session: str, *, by_model: bool | None = None, progress: Progress | None = None
    ) -> ProposalResult:
        """Propose what is worth keeping of what is unread in a stored session.

        Raises:
            NotFound: it is not on this machine, or no model is set and one was asked for.
            ModelFailed: the model gave no usable answer. Nothing counts as read then.
            Waiting: models have opened as many proposals today as the policy allows.
        """
        from gitmem.services.capture import Captured, stored_session
        from gitmem.services.judging import Unread

        store, sessions, now = self._opened(), self._sessions(), self._now()
        store.head()
        budget = self._budget_for(by_model)
        while True:
            found = stored_session(sessions, session)
            start, before = sessions.consumed(session), sessions.read_before(session)
            drawn, by = self._find(Unread(found.messages, start, before), budget, progress)
            captured = Captured(found, start, {}, (), before)
            result = self._propose_found(captured, drawn, by, now)
            if result is not None:
                return self._noted(_taken(result, budget))

    def _budget_for(self, by_model: bool | None) -> Budget | None:
        """Return what a proposer may take; None where the rules read it."""
        by_model = self._has_model("proposer") if by_model is None else by_model
        return self._budget() if by_model else None

    def _find(
        self, unread: Unread, budget: Budget | None, progress: Progress | None
    ) -> tuple[Found, str]:
        """Return what the model, or the rules where there is no ``budget``, make of what is
        unread, and who that was."""
        from gitmem.services.judging import Found, find_items

        store = self._opened()
        if budget is None:
            return find_items(store, unread, progress), "rules"
        from gitmem.services.extracting import Asking as How
        from gitmem.services.extracting import check_daily, draw_items
        from gitmem.services.propose import make_batch

        check_daily(store, self._now())
        with self._client("proposer") as client:
            how = How(client, budget, os.urandom(8).hex(), make_batch)
            drawn = draw_items(
                store, unread.messages, unread.start, unread.read_before, how, progress
            )
        return Found(drawn.items, (), drawn.upto), drawn.who or "rules"

    def _propose_found(
        self, captured: Captured, found: Found, by: str, now: int
    ) -> ProposalResult | None:
        """Propose what was found, and mark how far the conversation is read; None where another
        process marked it meanwhile."""
        from gitmem.services.expiry import expire_sessions
        from gitmem.services.propose import make_batch, propose

        store, sessions, session = self._opened(), self._sessions(), captured.session
        batch = make_batch(found.items)
        origin = self._origin("extract", by, session.id, session.attested)
        with store.repo.lock():
            if sessions.consumed(session.id) != captured.new_from:
                return None
            result = propose(store, session, batch, origin)
            upto = max(found.upto, captured.new_from)
            sessions.mark_consumed(session.id, upto, result.proposal, _instant(now))
            expire_sessions(store, sessions, self._artifacts(), now)
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


def _own_doing(captured: Own, name: str) -> ProposalResult:
    """Return what came of a conversation that is gitmem's own doing: nothing."""
    from gitmem.results import Dropped, ProposalResult

    return ProposalResult(
        None,
        "nothing",
        (),
        (),
        (Dropped(name, captured.why),),
        counts=dict(captured.counts),
        notes=captured.notes,
    )


def _taken(result: ProposalResult, budget: Budget | None) -> ProposalResult:
    """Return a result with what a model took of a budget for it."""
    from dataclasses import replace

    if budget is None:
        return result
    return replace(result, questions=budget.spent.calls, tokens=budget.spent.total)


def _instant(now: int) -> str:
    from gitmem.domain.instants import format_instant

    return format_instant(now)
