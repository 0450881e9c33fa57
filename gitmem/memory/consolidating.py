"""Consolidation: when it is due, and doing it."""

from __future__ import annotations

import builtins
import os
from typing import TYPE_CHECKING

from gitmem.memory.asking import Asking

if TYPE_CHECKING:
    from gitmem.domain.gates import GateSettings
    from gitmem.results import ProposalResult


class Consolidating(Asking):
    """The operations that tidy a memory."""

    def closed_gates(self, settings: GateSettings | None = None) -> builtins.list[str]:
        """Return why no consolidation is due now; nothing: it is due."""
        from gitmem.domain.gates import GateSettings, Since, closed_gates

        store, now = self._opened(), self._now()
        store.head()
        state = self._state().read()
        since = Since(
            consolidated_at=state.consolidated_at,
            scanned_at=state.scanned_at,
            locked_at=state.locked_at,
            changed=len(store.projection.changed_since(state.consolidated or None)),
            sessions=self._sessions().count_since(state.consolidated_at),
        )
        return builtins.list(closed_gates(since, now, settings or GateSettings()))

    def consolidate(self, *, now: bool = False) -> ProposalResult:
        """Let the consolidator model tidy the memory, and propose what it makes of it.

        A person approves it, as the policy wants for what retires records. ``now`` passes all
        gates.

        Raises:
            Waiting: it is not due.
            NotFound: no model is set for the consolidator.
            ModelFailed: the model gave no usable answer; nothing changed.
            InvalidInput: a record that it makes is illegal, or a source changed meanwhile.
        """
        from dataclasses import replace

        from gitmem.errors import Waiting
        from gitmem.results import ProposalResult
        from gitmem.services.consolidating import propose_tidied, tidy
        from gitmem.store import Origin

        store, at = self._opened(), self._now()
        closed = self.closed_gates()
        if closed and not now:
            with store.repo.lock():
                self._state().change(scanned_at=at)
            raise Waiting(
                f"no consolidation is due: {closed[0]}",
                hint="To do it all the same: gitmem consolidate --now",
            )
        budget = self._budget()
        with self._client("consolidator") as client:
            with store.repo.lock():
                self._state().change(locked_at=at)
            try:
                head = store.head()
                tidied = tidy(store, client, budget, os.urandom(8).hex(), at)
                result = ProposalResult(None, "nothing", (), (), tuple(tidied.dropped))
                if tidied.records:
                    # Its quotes are of many sessions, so none of them vouches for it.
                    nonce = os.urandom(16).hex()
                    origin = Origin("consolidate", tidied.who, None, None, nonce, at)
                    queries = self._state().read().queries
                    result = propose_tidied(store, tidied, origin, queries)
            finally:
                with store.repo.lock():
                    self._state().change(locked_at=0)
        with store.repo.lock():
            self._state().change(consolidated=head.accepted, consolidated_at=at)
        spent = budget.spent
        return self._noted(replace(result, questions=spent.calls, tokens=spent.total))
