"""The review queue, and a person's decisions about it."""

from __future__ import annotations

import builtins
import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from gitmem.config import agent_client
from gitmem.errors import Refused, Usage
from gitmem.memory.opened import OpenMemory

if TYPE_CHECKING:
    from gitmem.memory.opened import Confirm
    from gitmem.results import (
        KeptProposal,
        MergeResult,
        ProposalDiff,
        ProposalResult,
        ProposalSummary,
    )


class Deciding(OpenMemory):
    """The operations on open proposals."""

    def proposals(self, *, limit: int | None = None) -> builtins.list[ProposalSummary]:
        """Return the open proposals by id, and what each waits for.

        Of more than ``limit`` the first are returned, and a note says how many there are.
        """
        from gitmem.services.queue import first_proposals

        found, count = first_proposals(self._opened(), limit)
        if len(found) < count:
            self._note(
                f"the first {len(found)} of {count} open proposals; for all of them: "
                "gitmem proposals --all"
            )
        return self._noted(found)

    def diff(self, proposal: str) -> ProposalDiff:
        """Return an open proposal as a person reads it, by the beginning of its id.

        Raises:
            NotFound: none is open, or several begin so.
        """
        from gitmem.services.queue import diff

        return self._noted(diff(self._opened(), self._sessions(), proposal))

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

    def reject(
        self,
        proposal: str,
        *,
        reason: str,
        person: str | None = None,
        expected_change: str | None = None,
    ) -> MergeResult:
        """Reject a proposal in a person's name; what it says does not come back by itself.

        ``expected_change`` is ``ProposalDiff.change`` of what the person saw.

        Raises:
            Usage: there is no reason.
            NotFound: it is not open.
            Refused: it changed since.
        """
        from gitmem.services.queue import reject

        who = self._who(person)
        nonce = os.urandom(16).hex()
        asked = (who, self._now(), reason, nonce, expected_change)
        return self._noted(reject(self._opened(), proposal, *asked))

    def approve_part(
        self,
        proposal: str,
        *,
        only: Collection[str],
        texts: Mapping[str, bytes] | None = None,
        rejected: Collection[str] = (),
        person: str | None = None,
        expected_change: str | None = None,
        confirm: Confirm | None = None,
    ) -> MergeResult:
        """Approve a part of a proposal, or its text in other words, and merge that.

        What is approved becomes a proposal of its own, and the first one is put aside.

        Args:
            only: the names that are approved.
            texts: whole record files, by name, in place of what was proposed.
            rejected: names that are left out for good: they do not come back by themselves.
            confirm: is shown what will be merged, with what the checks find in it, where a text
                is in other words, before anything is written; declined, nothing is.

        Raises:
            NotFound: the proposal is not open, or does not touch a name.
            InvalidInput: a text is illegal.
            Refused: it changed since, a check blocks it, or the policy says no.
            Waiting: it is stale.
        """
        from gitmem.services.partial import Choice, approve_part

        choice = Choice(frozenset(only), dict(texts or {}), frozenset(rejected))
        return self._noted(
            approve_part(
                self._opened(),
                self._sessions(),
                self._person(person, confirm),
                proposal,
                choice,
                expected_change,
            )
        )

    def rebase(self, proposal: str) -> ProposalResult:
        """Put an open proposal on the newest accepted commit.

        Raises:
            NotFound: none is open, or several begin so.
            InvalidInput: its branch breaks a rule.
        """
        from gitmem.services.rebasing import rebase

        return self._noted(rebase(self._opened(), self._sessions(), proposal, self._now()))

    def revert(
        self, merge: str, *, person: str | None = None, confirm: Confirm | None = None
    ) -> ProposalResult:
        """Undo a merge by a new one in a person's name; what was changed after it is kept.

        ``merge`` is the beginning of the merged proposal's id or of the merge's commit id.
        ``confirm`` is as for :meth:`remember`.

        Raises:
            NotFound: main has no such merge, or several.
            Refused: it is no merge, or everything that it did was changed again.
        """
        from gitmem.services.reverting import revert
        from gitmem.store import Origin

        who, nonce = self._who(person), os.urandom(16).hex()
        origin = Origin("revert", who, None, None, nonce, self._now())
        return self._noted(revert(self._opened(), self._sessions(), origin, merge, confirm))

    def kept(self) -> builtins.list[KeptProposal]:
        """Return the proposals that were put aside on this machine, the newest first."""
        from gitmem.services.keeping import kept_proposals

        return self._noted(kept_proposals(self._opened()))

    def reopen(self, proposal: str) -> ProposalResult:
        """Propose again what was put aside, by the beginning of its id.

        Raises:
            NotFound: nothing, or several, are kept under such a name.
            Refused: it is open.
        """
        from gitmem.services.keeping import reopen

        nonce = os.urandom(16).hex()
        return self._noted(reopen(self._opened(), self._sessions(), proposal, self._now(), nonce))

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
