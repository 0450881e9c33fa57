"""The session files of Claude Code: JSON Lines, one entry a line, appended while it works.

Lines of type user and assistant are messages, and so is a prompt that a person queued while
the agent worked. Every other type is bookkeeping of the client: counted, and no message. A type
that is not known is counted by its name, and never taken for a person's words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from gitmem.domain.session import Part, PartClass
from gitmem.errors import InvalidInput
from gitmem.transcripts.base import (
    FORMATS,
    MAX_NAMED,
    MAX_PARTS,
    RawMessage,
    Reading,
    Tally,
    part,
    utc_time,
)
from gitmem.transcripts.claude_channel import assistant_class, queued_class, user_class
from gitmem.transcripts.lines import BLANK, BOM, Line, json_values, read_lines
from gitmem.transcripts.parts import (
    content_parts,
    divided,
    note_parts_left_out,
    without_own_blocks,
)
from gitmem.transcripts.position import Position
from gitmem.transcripts.speaker import is_tool_result

EXPECTED = (
    'A Claude Code session file has one entry a line, like {"type": "user", "uuid": "...", '
    '"message": {"role": "user", "content": "..."}}.'
)
#: Types of lines that are the client's own bookkeeping.
BOOKKEEPING = frozenset(
    {"summary", "system", "attachment", "progress", "file-history-snapshot", "queue-operation"}
    | {"ai-title", "custom-title", "agent-name", "agent-color", "agent-setting", "last-prompt"}
    | {"mode", "permission-mode", "tag", "pr-link", "worktree-state", "content-replacement"}
)
_MESSAGES = ("user", "assistant")
_HEAD_LINES = 50
#: Fields by which an entry of a type that is not known is one of a session file.
_FIELDS = ("sessionId", "parentUuid", "leafUuid")
_BEGINNING = re.compile(rb'"(?:sessionId|parentUuid)"\s*:|"message"\s*:\s*\{')
_NO_TYPE = "no type, so not an entry of a session"
_NO_MESSAGE = "its message is no object"
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True)
class ClaudeCodeAdapter:
    """Reads Claude Code's session files, line by line, of any size."""

    name: str = "claude-code"
    expected: str = EXPECTED

    def recognises(self, head: bytes) -> bool:
        """Say whether one of the first lines in ``head`` is an entry of a session file."""
        lines = head.removeprefix(BOM).split(b"\n")[:_HEAD_LINES]
        values = [value for value in map(_loads_or_none, lines) if isinstance(value, dict)]
        for value in values:
            if "role" in value or "messages" in value:  # a message as other clients write it
                return False
            if value.get("type") in _MESSAGES and _is_entry(value):
                return True
        if any(_is_entry(value) for value in values):
            return True
        # The first line may be longer than what was read of it.
        return len(lines) == 1 and _BEGINNING.search(head[:4096]) is not None

    def read(self, source: BinaryIO, where: str, size: int) -> Reading:
        """Begin to read; see :class:`gitmem.transcripts.base.Adapter`."""
        tally, position = Tally(), Position()
        messages = _messages(source, tally, where, position)
        return Reading(self.name, messages, tally, where, position)

    def read_on(self, source: BinaryIO, where: str, state: Mapping[str, Any]) -> Reading | None:
        """Begin behind what is known; see :class:`gitmem.transcripts.base.Adapter`.

        Every entry says all about itself, so nothing of the lines before is needed.
        """
        position = Position.found(source, state["position"])
        if position is None:
            return None
        tally = Tally.resumed(state["tally"])
        messages = _messages(source, tally, where, position)
        return Reading(self.name, messages, tally, where, position)


def _is_entry(value: Any) -> bool:
    if not isinstance(value, dict) or "role" in value:
        return False
    kind = value.get("type")
    if kind in _MESSAGES:
        return "message" in value
    if not isinstance(kind, str):
        return False
    return kind in BOOKKEEPING or any(field in value for field in _FIELDS)


def _loads_or_none(line: bytes) -> Any:
    try:
        return json.loads(line.strip(BLANK))
    except (ValueError, RecursionError):
        return None


def _messages(
    source: BinaryIO, tally: Tally, where: str, position: Position
) -> Iterator[RawMessage]:
    entries = position.size > 0  # else nothing would have been kept of it
    for line in read_lines(source, tally, position):
        values, wrong = json_values(line)
        if not all(isinstance(value, dict) for value in values):
            values, wrong = [], "not a JSON object"
        if not values:
            tally.refuse(line.place, wrong)
            continue
        if wrong or len(values) > 1:
            tally.note(f"{line.place} holds more than one entry{f': {wrong}' if wrong else ''}")
        entries = entries or any(_is_entry(value) for value in values)
        read = [_message(value, tally) for value in values]
        found = [entry for entry in read if isinstance(entry, RawMessage)]
        _count_line(line, found, [entry for entry in read if isinstance(entry, str)], tally)
        yield from found
    if not entries:
        raise InvalidInput(
            "no line is an entry of a Claude Code session",
            where=where,
            hint=f"{EXPECTED} {FORMATS}",
        )


def _count_line(line: Line, found: list[RawMessage], others: list[str], tally: Tally) -> None:
    """Count a line once, whatever it holds, so that the counts add up to the lines."""
    if found:
        tally.count_once([piece for message in found for piece in message.parts])
    elif others[0] in (_NO_TYPE, _NO_MESSAGE):
        tally.refuse(line.place, others[0])
    else:
        known = others[0] in tally.ignored or len(tally.ignored) < MAX_NAMED
        tally.ignored[others[0] if known else "lines of further unknown types"] += 1


def _message(entry: Mapping[str, Any], tally: Tally) -> RawMessage | str:
    """Return the message of an entry, or why it holds none."""
    if tally.source_id is None and isinstance(entry.get("sessionId"), str):
        tally.source_id = entry["sessionId"]
    kind = entry.get("type")
    if kind == "attachment" and (queued := _queued_prompt(entry)) is not None:
        return _queued(entry, queued, tally)
    if kind not in _MESSAGES:
        if not isinstance(kind, str):
            return _NO_TYPE
        known = kind in BOOKKEEPING
        return f"{kind} line" if known else f"line of the unknown type {tally.clean(kind)[:40]!r}"
    message = entry.get("message")
    if message is not None and not isinstance(message, Mapping):
        return _NO_MESSAGE
    role = message.get("role", kind) if message else kind
    if role != kind:
        tally.note("a line whose type and role differ read as from an unknown speaker")
        return _made(entry, "unknown", _said(message, "unknown", tally))
    if kind == "assistant":
        cls = assistant_class(entry)
        return _made(entry, kind, _said(message, cls, tally))
    cls, why = user_class(entry)
    if why:
        tally.note(f"a user line read as from an unknown speaker: {why}")
    return _made(entry, kind, _user_parts(message, cls, tally))


def _queued_prompt(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
    attachment = entry.get("attachment")
    queued = isinstance(attachment, Mapping) and attachment.get("type") == "queued_command"
    return attachment if queued else None


def _queued(entry: Mapping[str, Any], attachment: Mapping[str, Any], tally: Tally) -> RawMessage:
    cls, why = queued_class(entry, attachment)
    if why:
        tally.note(f"a queued prompt read as from an unknown speaker: {why}")
    return _made(entry, "user", _user_parts({"content": attachment.get("prompt")}, cls, tally))


def _user_parts(message: Mapping[str, Any] | None, cls: PartClass, tally: Tally) -> list[Part]:
    """Return the parts of a user line. Text beside a tool's answer is not the person's."""
    content = message.get("content") if message else None
    answers = isinstance(content, list) and any(
        isinstance(item, Mapping) and is_tool_result(item) for item in content
    )
    if cls == "tool" or (cls == "human" and answers):
        cls = "injected" if answers else "tool"
    parts = _said(message, cls, tally)
    return list(divided(parts, cls)) if cls in ("human", "subagent") else parts


def _said(message: Mapping[str, Any] | None, cls: PartClass, tally: Tally) -> list[Part]:
    content = message.get("content") if message else None
    if not isinstance(content, list):
        return list(content_parts(content, cls, tally))
    parts: list[Part] = []
    for item in content[:MAX_PARTS]:
        # What a model thought it did not say.
        kind = item.get("type") if isinstance(item, Mapping) else None
        thought = isinstance(kind, str) and kind in _THOUGHTS
        parts += [part("other", cls)] if thought else content_parts([item], cls, tally)
    note_parts_left_out(content, tally)
    return parts


def _made(entry: Mapping[str, Any], role: str, parts: list[Part]) -> RawMessage:
    copied = entry.get("forkedFrom")
    original = copied.get("messageUuid") if isinstance(copied, Mapping) else None
    name, time = original or entry.get("uuid"), entry.get("timestamp")
    return RawMessage(
        role=role,
        parts=tuple(without_own_blocks(parts)),
        at=utc_time(time),
        client_id=name if isinstance(name, str) and name else None,
        client_time=time if isinstance(time, str) and time else None,
    )
