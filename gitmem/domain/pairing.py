"""Whether the tool calls of a chat history and their results belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.errors import InvalidInput

_HINT = "Give the whole history, with every tool call and its result, before any compaction."


def check_pairs(messages: Sequence[Mapping[str, Any]]) -> None:
    """Check that each tool call is answered once, right after it, and nothing else is answered.

    ``messages`` are chat messages as the OpenAI API has them. An id may come again once its call
    is answered: some endpoints count from 0 in each reply. A history in which they do not
    pair was cut or compacted: its indexes would not be those of the conversation.

    Raises:
        InvalidInput: naming the message.
    """
    waiting: dict[str, int] = {}
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            answered = message.get("tool_call_id")
            if not isinstance(answered, str) or answered not in waiting:
                raise _unpaired(index, f"answers the tool call {answered!r:.80}, which is not open")
            del waiting[answered]
            continue
        _check_answered(waiting)
        calls = message.get("tool_calls") or ()
        if not isinstance(calls, list | tuple):
            raise _unpaired(index, "has tool calls that are no list")
        for call in calls:
            name = call.get("id") if isinstance(call, Mapping) else None
            if not isinstance(name, str) or not name:
                raise _unpaired(index, "has a tool call without an id")
            if name in waiting:
                raise _unpaired(index, f"has the tool call {name[:80]!r} a second time")
            waiting[name] = index
    _check_answered(waiting)


def _check_answered(waiting: Mapping[str, int]) -> None:
    for name, index in waiting.items():
        raise _unpaired(index, f"has the tool call {name[:80]!r}, which nothing answers")


def _unpaired(index: int, what: str) -> InvalidInput:
    return InvalidInput(what, where=f"message {index}", hint=_HINT)
