"""The operations of a memory: each calls the use cases that it is made of."""

from __future__ import annotations

import builtins
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gitmem.config import agent_client, find_store
from gitmem.errors import Refused, Usage
from gitmem.memory.opened import OpenMemory

if TYPE_CHECKING:
    from gitmem.memory.opened import Clock, Confirm
    from gitmem.results import (
        FsckReport,
        LogEntry,
        MergeResult,
        Progress,
        ProposalDiff,
        ProposalResult,
        ProposalSummary,
        RecordDetail,
        RecordSummary,
        SearchHit,
        Status,
        Why,
    )


class MemoryStore(OpenMemory):
    """One memory. Use it as a context manager, or :meth:`close` it. Not for several threads.

    Attributes:
        path: the root of the store.
        notes: sentences for a person about what an operation healed, left or skipped.
    """

    @classmethod
    def init(cls, path: str | os.PathLike[str] = ".memory", *, clock: Clock = time.time) -> Self:
        """Make a new memory in an empty or missing folder, and open it.

        Raises:
            Refused: the folder is not empty.
        """
        from gitmem.services.begin import begin

        root = Path(path)
        store = begin(root, os.urandom(16).hex(), int(clock()))
        memory = cls(root, clock=clock)
        memory._store = store
        memory._take_notes()
        return memory

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None, *, clock: Clock = time.time) -> Self:
        """Open a memory: ``path``, else ``GITMEM_STORE``, else ``.memory`` here or above.

        Raises:
            NotFound: there is none.
        """
        return cls(find_store(path, os.environ), clock=clock)

    # --- reading --------------------------------------------------------------------------

    def status(self) -> Status:
        """Return what is there, whether something is wrong, and what to do next."""
        from gitmem.services.inspecting import status

        store = self._opened()
        with store.snapshot():
            return self._noted(status(store, self._sessions(), self.proposals()))

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

    def fsck(self, *, progress: Progress | None = None) -> FsckReport:
        """Verify every commit of main from its parents."""
        from gitmem.services.verifying import fsck

        return fsck(self._opened(), progress)

    # --- a person's own change ------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        name: str | None = None,
        type: str | None = None,
        description: str | None = None,
        person: str | None = None,
        confirm: Confirm | None = None,
    ) -> ProposalResult:
        """Remember a person's own words: proposed, checked, approved by them, merged.

        ``confirm`` is shown the change before anything is written; None means that the caller
        is the person and has decided. Without ``type`` the offline rules say what it is, else
        it is about the user.

        Raises:
            InvalidInput: the text breaks a limit, or holds a secret.
            Refused: the name is taken, or a check blocks it.
        """
        from gitmem.services.personal import remember
        from gitmem.services.sorting import type_of

        return self._noted(
            remember(
                self._opened(),
                self._sessions(),
                self._person(person, confirm),
                text,
                name=name,
                record_type=type_of(text) if type is None else type,
                description=description,
            )
        )

    def edit(
        self,
        name: str,
        *,
        body: str | None = None,
        description: str | None = None,
        type: str | None = None,
        person: str | None = None,
        confirm: Confirm | None = None,
    ) -> ProposalResult:
        """Revise a record in a person's name. See :meth:`remember`.

        Raises:
            NotFound: nothing of this name is remembered.
            Usage: nothing would change.
        """
        from gitmem.services.personal import edit

        return self._noted(
            edit(
                self._opened(),
                self._sessions(),
                self._person(person, confirm),
                name,
                body=body,
                description=description,
                record_type=type,
            )
        )

    def forget(
        self,
        name: str,
        *,
        reason: str = "",
        person: str | None = None,
        confirm: Confirm | None = None,
    ) -> ProposalResult:
        """Take a record out of memory in a person's name; it does not come back by itself.

        Raises:
            NotFound: nothing of this name is remembered.
        """
        from gitmem.services.personal import forget

        asked = self._person(person, confirm)
        return self._noted(forget(self._opened(), self._sessions(), asked, name, reason=reason))

    # --- proposing ------------------------------------------------------------------------

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

        from gitmem.services.capture import capture_transcript, find_items
        from gitmem.services.expiry import expire_sessions
        from gitmem.services.propose import make_batch, propose

        store, sessions, now = self._opened(), self._sessions(), self._now()
        store.head()
        while True:
            captured = capture_transcript(store, sessions, Path(transcript), format, now)
            session = captured.session
            found = find_items(store, captured, progress)
            batch = make_batch(found.items)
            origin = self._origin("extract", "rules", session.id, session.attested)
            with store.repo.lock():
                if sessions.consumed(session.id) != captured.new_from:
                    continue  # another process was faster with the same conversation
                result = propose(store, session, batch, origin)
                sessions.mark_consumed(session.id, found.upto, result.proposal, _instant(now))
                expire_sessions(store, sessions, now)
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
        return self._noted(replace(result, counts=dict(counts), notes=notes))

    # --- deciding -------------------------------------------------------------------------

    def proposals(self) -> builtins.list[ProposalSummary]:
        """Return every open proposal and what it waits for."""
        from gitmem.services.queue import proposals

        return self._noted(proposals(self._opened()))

    def diff(self, proposal: str) -> ProposalDiff:
        """Return an open proposal as a person reads it, by the beginning of its id.

        Raises:
            NotFound: none is open, or several begin so.
        """
        from gitmem.services.queue import diff

        return self._noted(diff(self._opened(), proposal))

    def patch(self, proposal: str) -> str:
        """Return an open proposal as the unified difference that git shows.

        Raises:
            NotFound: none is open, or several begin so.
            InvalidInput: its branch breaks a rule.
        """
        from gitmem.services.queue import patch

        return self._noted(patch(self._opened(), proposal))

    def approve(
        self, proposal: str, *, person: str | None = None, expected_change: str | None = None
    ) -> MergeResult:
        """Approve a proposal in a person's name and merge it.

        ``expected_change`` is ``ProposalDiff.change`` of what the person saw.

        Raises:
            Refused: it changed since, a check blocks it, or the policy says no.
            Waiting: it is stale.
        """
        from gitmem.services.queue import approve

        who = self._who(person)
        return self._noted(approve(self._opened(), proposal, who, self._now(), expected_change))

    def reject(self, proposal: str, *, reason: str, person: str | None = None) -> MergeResult:
        """Reject a proposal in a person's name; what it says does not come back by itself.

        Raises:
            Usage: there is no reason.
            NotFound: it is not open.
        """
        from gitmem.services.queue import reject

        who = self._who(person)
        nonce = os.urandom(16).hex()
        return self._noted(reject(self._opened(), proposal, who, self._now(), reason, nonce))

    def may_approve(self, *, yes: bool, terminal: bool) -> None:
        """Check whether a decision may be taken here. A guard rail, not a lock.

        Args:
            yes: it was confirmed by a flag, not by an answer.
            terminal: a person can be asked.

        Raises:
            Usage: nobody can be asked, and nothing was confirmed.
            Refused: the policy forbids the flag, or this is an agent's session.
        """
        store = self._opened()
        policy = store.facts.ground(store.head().accepted).policy
        client = agent_client(os.environ)
        if client and not policy.agents_may_approve:
            raise Refused(
                f"this command runs inside an agent's session ({client} is set); "
                "decisions about memory are a person's",
                hint="Run it in a terminal of your own.",
            )
        if not yes and not terminal:
            raise Usage("nobody can be asked here", hint="Confirm with --yes.")
        if yes and not policy.allow_yes:
            raise Refused(
                "the policy of this store does not allow --yes",
                hint="Run it on a terminal, without --yes, and answer there.",
            )


def _instant(now: int) -> str:
    from gitmem.domain.instants import format_instant

    return format_instant(now)
