"""Conversations that gitmem itself made: what it asked a model, what it recalled and printed.

A memory that reads its own output as a conversation learns from itself, without end. Two kinds
are known: one whose first text carries the mark of gitmem's prompts, and one in which a person
or an agent did nothing but use gitmem.
"""

from __future__ import annotations

import json

from gitmem.domain.injected import is_own_command, is_own_prompt, own_pieces
from gitmem.transcripts.base import RawMessage


class OwnSession:
    """Watches a conversation while it is read, and says in the end whether it is gitmem's own."""

    def __init__(self) -> None:
        self._begun = False
        self._asked = False
        self._used = False
        self._other = False

    def see(self, message: RawMessage) -> None:
        """Take the next message into account."""
        for piece in message.parts:
            if not piece.text.strip():
                continue
            if not self._begun:
                self._begun = True
                self._asked = message.role != "assistant" and is_own_prompt(piece.text)
            if piece.kind == "tool_call":
                self._note(is_own_command(_command(piece.text)))
            elif piece.cls == "human":
                self._note(is_own_command(piece.text))
            elif piece.cls == "injected" and any(own for _, own in own_pieces(piece.text)):
                self._used = True

    def _note(self, own: bool) -> None:
        self._used = self._used or own
        self._other = self._other or not own

    @property
    def why(self) -> str | None:
        """Say what makes the conversation gitmem's own, or None where it is not."""
        if self._asked:
            return "own session: gitmem asked a model in it"
        if self._used and not self._other:
            return "own session: nothing in it but gitmem's own commands and what they recalled"
        return None


def _command(call: str) -> str:
    """Return the command line that a tool call runs, or nothing where it runs none."""
    try:
        arguments = json.loads(call).get("arguments")
    except (ValueError, AttributeError, RecursionError):
        return ""
    command = arguments.get("command") if isinstance(arguments, dict) else None
    return command if isinstance(command, str) else ""
