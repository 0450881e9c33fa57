"""From a conversation to proposed records."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.domain.session import Message
from gitmem.rules.model import KnownRecord, RuleResult


def propose(
    messages: Sequence[Message], existing: Sequence[KnownRecord], new_from: int = 0
) -> RuleResult:
    """Return the records that the human parts of ``messages`` call for.

    ``existing`` are the records of the store; a statement that changes one of them becomes an
    item of the same name. Messages below index ``new_from`` were seen before: they are context
    only, and no item rests on them alone. Never raises for any text.
    """
    return RuleResult((), ())
