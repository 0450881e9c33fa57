"""What is kept aside: branches that are open no more, each closed by a commit that says why.

A branch that is kept ends with one empty commit below ``refs/gitmem/kept/``. Its date is when
the branch was put aside; its first parent is the tip that the branch had.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from gitmem.domain.commit_message import CommitMessage
from gitmem.errors import InvalidInput

State = Literal["rejected", "superseded", "merged", "emptied", "unreadable"]
#: How long what is kept aside stays on this machine.
KEPT_DAYS = 90


@dataclass(frozen=True, slots=True)
class Closing:
    """Why and when a branch was put aside. ``by`` is a proposal's id, or who decided it."""

    id: str
    state: State
    at: int
    reason: str = ""
    by: str = ""


def closing_message(closing: Closing) -> CommitMessage:
    """Return the message of the commit that closes a branch."""
    trailers = [("Kept", closing.id), ("Kept-As", closing.state)]
    trailers += [("Kept-By", closing.by)] if closing.by else []
    trailers += [("Reason", closing.reason)] if closing.reason else []
    return CommitMessage(f"keep {closing.id}: {closing.state}", (), tuple(trailers))


def read_closing(message: CommitMessage, at: int) -> Closing:
    """Return what the message of a closing commit says.

    Raises:
        InvalidInput: it closes nothing, or a trailer is missing, doubled or unknown.
    """
    state = message.need("Kept-As")
    if state not in get_args(State):
        raise InvalidInput(f"{state[:40]!r} is no reason for keeping a branch aside")
    return Closing(
        id=message.need("Kept"),
        state=state,  # type: ignore[arg-type]  # checked above
        at=at,
        reason=message.one("Reason") or "",
        by=message.one("Kept-By") or "",
    )
