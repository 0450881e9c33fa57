"""The policy, and a person's decisions about it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gitmem.memory.opened import OpenMemory

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitmem.results import PolicyDiff, PolicyResult, PolicyView
    from gitmem.services import ruling

    ConfirmPolicy = Callable[[PolicyDiff], bool]


class Ruling(OpenMemory):
    """The operations on the policy of a store."""

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

        asked = self._ruling(reason, person, confirm)
        return self._noted(set_policy(self._opened(), asked, key, value))

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

        asked = self._ruling(reason, person, confirm)
        return self._noted(replace_policy(self._opened(), asked, text, expected))

    def _ruling(
        self, reason: str, person: str | None, confirm: ConfirmPolicy | None
    ) -> ruling.Ruling:
        from gitmem.services import ruling

        who, nonce = self._who(person), os.urandom(16).hex()
        return ruling.Ruling(who, self._now(), nonce, reason, confirm)
