"""What a person changed by hand, taken into the queue."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gitmem.memory.ruling import Ruling

if TYPE_CHECKING:
    from gitmem.memory.opened import Confirm
    from gitmem.memory.ruling import ConfirmPolicy
    from gitmem.results import ProposalResult
    from gitmem.store import Store
    from gitmem.store.edited import Edits


class Adopting(Ruling):
    """The operation on what was edited or committed by hand."""

    def adopt(
        self,
        commit: str | None = None,
        *,
        person: str | None = None,
        confirm: Confirm | None = None,
        confirm_policy: ConfirmPolicy | None = None,
    ) -> ProposalResult:
        """Propose what was edited in files checked out from main, or committed by hand.

        Nothing is merged and no file is changed: the proposal waits for an approval. A changed
        policy is no matter of a proposal; it is decided about at once, by itself. What can be
        neither is in ``dropped`` with its reason.

        Args:
            commit: the beginning of the id of one stray, where a later merge has passed over it.
            confirm, confirm_policy: are shown the change before anything is written; None means
                that the caller is the person and has decided.

        Raises:
            NotFound: there is no such commit on main.
            Refused: that commit is no stray.
            Waiting: what is edited changed on main meanwhile.
        """
        from dataclasses import replace

        from gitmem.services.adopting import adopt, passed_over
        from gitmem.store.edits import find_commit_edits, find_edits
        from gitmem.store.statements import Person

        store = self._opened()
        asked = Person(self._who(person), self._now(), os.urandom(16).hex(), confirm)
        edits = find_edits(store, asked.who) if commit is None else find_commit_edits(store, commit)
        policy = self._legal_policy(store, edits)
        result = adopt(store, self._sessions(), asked, edits)
        if policy is not None:
            state = self._decide(edits, policy, person, confirm_policy)
            result = replace(result, state=state if result.state == "nothing" else result.state)
        if commit is None and result.state == "nothing" and not edits.dropped:
            edits.notes += passed_over(store)
        dropped, notes = tuple(edits.dropped), tuple(edits.notes)
        return self._noted(replace(result, dropped=dropped, notes=notes))

    def _legal_policy(self, store: Store, edits: Edits) -> str | None:
        """Return the changed policy, if it is one that takes nothing back unseen; what is wrong
        with it is dropped."""
        from gitmem.documents import read_policy_by_hand
        from gitmem.domain.layout import POLICY
        from gitmem.errors import InvalidInput
        from gitmem.store.older_policy import taken_back

        if edits.policy is None:
            return None
        try:
            text = edits.policy.decode("utf-8")
            read_policy_by_hand(text, self.policy().text)
            older = taken_back(store, text)
        except UnicodeDecodeError as error:
            edits.drop(POLICY, f"byte {error.start} is not UTF-8")
        except InvalidInput as error:
            edits.drop(POLICY, error.message)
        else:
            if not older:
                return text
            edits.drop(POLICY, older)
        return None

    def _decide(
        self, edits: Edits, text: str, person: str | None, confirm: ConfirmPolicy | None
    ) -> str:
        """Decide about a changed policy, and say in the notes what came of it."""
        from gitmem.domain.layout import POLICY
        from gitmem.errors import Refused, Waiting

        try:
            ruled = self.replace_policy(
                text, expected=edits.policy_now, person=person, confirm=confirm
            )
        except (Refused, Waiting) as error:
            edits.drop(POLICY, f"{error.message}. {error.hint}")
            return "nothing"
        if ruled.decision is None:
            edits.notes.append(f"{POLICY}: the policy in force is as before")
        else:
            edits.notes.append(f"{POLICY}: decided in {ruled.decision}, commit {ruled.commit}")
        return ruled.state
