"""Asking a person: only on a terminal, and no is the answer to silence."""

from __future__ import annotations

import sys
import unicodedata
from typing import TYPE_CHECKING

from gitmem.cli.output import Output
from gitmem.errors import Usage, Waiting

if TYPE_CHECKING:
    from gitmem.memory import MemoryStore

_YES = {"y", "yes", "是"}


def has_terminal() -> bool:
    """Whether a person can be asked: they type on a terminal and see standard error."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def require_person(store: MemoryStore, *, yes: bool) -> None:
    """Refuse where nobody can be asked and nobody has said yes, or where the policy forbids it.

    Raises:
        Waiting: there is no terminal and no ``--yes``.
        Refused: the policy forbids ``--yes``, or an approval from inside an agent client.
    """
    try:
        store.may_approve(yes=yes, terminal=has_terminal())
    except Usage as error:
        raise Waiting(
            "a person must confirm this, and there is no terminal to ask on",
            hint="Run it on a terminal, or add --yes once you have read what it changes.",
        ) from error


def ask(output: Output, question: str) -> bool:
    """Ask a yes-or-no question; anything but a yes, and the end of input, is no."""
    output.shown.prompt(f"{question} [y/N]")
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        output.shown.line()
    return unicodedata.normalize("NFKC", answer).strip().casefold() in _YES
