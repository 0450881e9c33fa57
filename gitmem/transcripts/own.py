"""Conversations that gitmem itself made: what it asked a model, what it recalled and printed.

A memory that reads its own output as a conversation learns from itself, without end. Two kinds
are known: one whose first text carries the mark of gitmem's prompts, and one in which a person
or an agent did nothing but use gitmem.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from gitmem.domain.injected import is_own_command, is_own_prompt, own_pieces
from gitmem.transcripts.base import RawMessage

#: A command line that a person typed to their client, as the client writes it down.
_TYPED = re.compile("<bash-input>([^<]{1,1000})</bash-input>")
#: A command of gitmem that a client offers as one of its own.
_SLASH = re.compile("<command-name>/?gitmem[a-z:-]{0,40}</command-name>")
#: How the names of gitmem's tools begin where a client has them from a server.
_TOOLS = "mcp__gitmem__"


class OwnSession:
    """Watches a conversation while it is read, and says in the end whether it is gitmem's own."""

    def __init__(self) -> None:
        self._begun = False
        self._asked = False
        self._used = False
        self._other = False

    def state(self) -> dict[str, bool]:
        """Return what was seen so far; :meth:`resume` goes on from there."""
        return {name.removeprefix("_"): value for name, value in vars(self).items()}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on as the one who said ``state``."""
        for name in vars(self):
            setattr(self, name, state.get(name.removeprefix("_")) is True)

    def see(self, message: RawMessage) -> None:
        """Take the next message into account."""
        if self._begun and self._other:
            return  # nothing that follows can make it gitmem's own
        for piece in message.parts:
            if not piece.text.strip():
                continue
            if not self._begun:
                self._begun = True
                asked = piece.kind == "text" and message.role != "assistant"
                self._asked = asked and is_own_prompt(piece.text)
            if piece.kind == "tool_call":
                self._note(_is_own_call(piece.text))
            elif piece.cls == "human":
                self._note(is_own_command(piece.text))
            elif piece.cls == "injected":
                self._used = self._used or any(own for _, own in own_pieces(piece.text))
                self._used = self._used or _SLASH.search(piece.text) is not None
                for command in _TYPED.finditer(piece.text):
                    self._note(is_own_command(command[1]))

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


def _is_own_call(text: str) -> bool:
    """Say whether a tool call runs a command of gitmem, or is one of its tools."""
    try:
        call = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(call, dict):
        return False
    name, arguments = call.get("name"), call.get("arguments")
    command = arguments.get("command") if isinstance(arguments, dict) else None
    tool = isinstance(name, str) and name.startswith(_TOOLS)
    return tool or (isinstance(command, str) and is_own_command(command))
