"""A person's own changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.memory.opened import OpenMemory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitmem.memory.opened import Confirm
    from gitmem.results import ProposalResult


class Changing(OpenMemory):
    """The operations that change memory in a person's name, in one step."""

    def remember(
        self,
        text: str,
        *,
        name: str | None = None,
        type: str | None = None,
        description: str | None = None,
        valid_from: str | None = None,
        valid_until: str | None = None,
        person: str | None = None,
        confirm: Confirm | None = None,
    ) -> ProposalResult:
        """Remember a person's own words: proposed, checked, approved by them, merged.

        ``confirm`` is shown the change before anything is written; None means that the caller
        is the person and has decided. Without ``type`` the offline rules say what it is, else
        it is about the user. ``valid_from`` and ``valid_until`` are ISO dates, both included.

        Raises:
            InvalidInput: the text breaks a limit, or holds a secret.
            Refused: the name is taken, or a check blocks it.
        """
        from gitmem.domain.terms import NewTerms
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
                terms=NewTerms(valid_from, valid_until),
            )
        )

    def edit(
        self,
        name: str,
        *,
        body: str | None = None,
        description: str | None = None,
        type: str | None = None,
        valid_from: str | None = None,
        valid_until: str | None = None,
        status: str | None = None,
        supersedes: Sequence[str] | None = None,
        person: str | None = None,
        confirm: Confirm | None = None,
    ) -> ProposalResult:
        """Revise a record in a person's name. See :meth:`remember`.

        What is None stays as it is. A date is ISO, or ``none`` to take it away; ``status`` is
        ``unconfirmed`` or ``confirmed``; ``supersedes`` are all the names that it takes the
        place of.

        Raises:
            NotFound: nothing of this name is remembered, or of one that it is to supersede.
            Usage: nothing would change.
        """
        from gitmem.domain.terms import NewTerms
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
                terms=NewTerms(valid_from, valid_until, status, supersedes),
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
