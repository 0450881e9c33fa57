"""Policy and reviewers, and a person's decisions about them."""

from __future__ import annotations

import builtins
import os
from typing import TYPE_CHECKING

from gitmem.memory.opened import OpenMemory

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitmem.results import (
        PolicyDiff,
        PolicyResult,
        PolicyView,
        ReviewerDiff,
        ReviewerResult,
        ReviewerView,
    )
    from gitmem.services import ruling

    ConfirmPolicy = Callable[[PolicyDiff], bool]
    ConfirmReviewer = Callable[[ReviewerDiff], bool]


class Ruling(OpenMemory):
    """The operations on the policy and the reviewers of a store."""

    def policy(self) -> PolicyView:
        """Return the policy in force: every key, and who set it last."""
        from gitmem.services.ruling import policy

        return self._noted(policy(self._opened()))

    def set_policy(
        self,
        key: str,
        value: str,
        *,
        reason: str = "",
        person: str | None = None,
        confirm: ConfirmPolicy | None = None,
    ) -> PolicyResult:
        """Set one key of the policy in a person's name, as in ``set_policy("view.lines", "50")``.

        A list is written with commas, an empty one as ``none``. ``confirm`` is shown the change
        before anything is written; None means that the caller is the person and has decided.

        Raises:
            Usage: there is no such key, or the reason is too long.
            InvalidInput: the value is none that the key can have, or the reason holds a secret.
            Refused: nobody could take it back.
            Waiting: the policy changed meanwhile.
        """
        from gitmem.services.ruling import set_policy

        asked = self._ruling(reason, person)
        return self._noted(set_policy(self._opened(), asked, key, value, confirm))

    def replace_policy(
        self,
        text: str,
        *,
        expected: str | None = None,
        reason: str = "",
        person: str | None = None,
        confirm: ConfirmPolicy | None = None,
    ) -> PolicyResult:
        """Replace ``policy.yaml`` as a whole, comments and all. See :meth:`set_policy`.

        ``expected`` is ``PolicyView.blob`` of the policy that the person began with.
        """
        from gitmem.services.ruling import replace_policy

        asked = self._ruling(reason, person)
        return self._noted(replace_policy(self._opened(), asked, text, expected, confirm))

    def reviewers(self) -> builtins.list[ReviewerView]:
        """Return the reviewers in force: whose judgement of what kinds of proposals counts."""
        from gitmem.services.ruling import reviewers

        return self._noted(reviewers(self._opened()))

    def set_reviewer(
        self,
        name: str,
        text: str | bytes,
        *,
        reason: str = "",
        person: str | None = None,
        confirm: ConfirmReviewer | None = None,
    ) -> ReviewerResult:
        """Add a reviewer, or replace the one of that name; ``text`` is its whole file.

        What the one before it said of open proposals counts no more. ``confirm`` is as for
        :meth:`set_policy`.

        Raises:
            InvalidInput: that is no definition of a reviewer of that name, or it or the reason
                holds hidden characters or a secret.
            Usage: the reason is too long.
            Refused: decisions need a signature.
            Waiting: the reviewers changed meanwhile.
        """
        from gitmem.services.ruling import set_reviewer

        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        asked = self._ruling(reason, person)
        return self._noted(set_reviewer(self._opened(), asked, name, data, confirm))

    def remove_reviewer(
        self,
        name: str,
        *,
        reason: str = "",
        person: str | None = None,
        confirm: ConfirmReviewer | None = None,
    ) -> ReviewerResult:
        """Take a reviewer away; what no blocking reviewer judges then waits for a person.

        ``confirm`` is as for :meth:`set_policy`.

        Raises:
            NotFound: there is no such reviewer.
            InvalidInput, Usage, Refused, Waiting: as for :meth:`set_reviewer`.
        """
        from gitmem.services.ruling import remove_reviewer

        asked = self._ruling(reason, person)
        return self._noted(remove_reviewer(self._opened(), asked, name, confirm))

    def _ruling(self, reason: str, person: str | None) -> ruling.Ruling:
        from gitmem.services import ruling

        return ruling.Ruling(self._who(person), self._now(), os.urandom(16).hex(), reason)
