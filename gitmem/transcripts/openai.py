"""OpenAI chat messages: a JSON array, an object with ``messages``, or JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from gitmem.errors import InvalidInput
from gitmem.transcripts.base import (
    FORMATS,
    MAX_ARRAY_FILE,
    MAX_LINE,
    MAX_LINES_FILE,
    ROLES,
    Conversation,
    RawMessage,
    Reading,
    Tally,
    part,
    utc_time,
)
from gitmem.transcripts.lines import BLANK, BOM, decode, json_values, read_lines
from gitmem.transcripts.parts import (
    call_text,
    caller,
    content_parts,
    divided,
    note_field,
    without_own_blocks,
)
from gitmem.transcripts.speaker import TIME_FIELDS, foreign_field, message_class, plain_name

EXPECTED = (
    'Expected OpenAI chat messages, {"role": "user", "content": "..."}: a JSON array of them, '
    'an object with "messages", or one message a line.'
)
ONE_EACH = "Give each conversation a file: nothing may follow an array or a messages object."


@dataclass(frozen=True)
class OpenAIAdapter:
    """Reads OpenAI chat messages."""

    name: str = "openai"
    expected: str = EXPECTED

    def recognises(self, head: bytes) -> bool:
        """Say whether a file beginning with ``head`` looks like chat messages."""
        head = head.removeprefix(BOM).lstrip(BLANK)
        if head.startswith(b"["):
            rest = head[1:].lstrip(BLANK)
            return rest.startswith((b"{", b"]"))
        if not head.startswith(b"{"):
            return False
        for line in head.split(b"\n")[:50]:
            value = _loads_or_none(line)
            if isinstance(value, dict) and (_is_message(value) or "messages" in value):
                return True
        start = head[:4096]
        return b'"messages"' in start or (b'"role"' in start and b'"content"' in start)

    def read(self, source: BinaryIO, where: str, size: int) -> Reading:
        """Read a whole file; see :class:`gitmem.transcripts.base.Adapter`."""
        line = source.readline(MAX_LINE + 1).removeprefix(BOM)
        first = _loads_or_none(line)
        if isinstance(first, dict):
            by_line = "messages" not in first or _is_message(first)
        elif len(line) > MAX_LINE:
            by_line = line.lstrip(BLANK).startswith(b"{") and b'"messages"' not in line[:4096]
        else:
            later = (_loads_or_none(rest) for rest in source.read(64 * 1024).split(b"\n")[:50])
            by_line = not isinstance(first, list) and any(
                isinstance(value, dict) and _is_message(value) for value in later
            )
        source.seek(0)
        if by_line:
            return self._read_lines(source, where, size)
        return self._read_value(source, where, size)

    def read_on(self, source: BinaryIO, where: str, state: Mapping[str, Any]) -> Reading | None:
        """Return None: who an earlier message names as an agent is one in all later ones."""
        return None

    def _read_value(self, source: BinaryIO, where: str, size: int) -> Reading:
        if size > MAX_ARRAY_FILE:
            raise InvalidInput(
                f"{size} bytes as one JSON value; the limit is {MAX_ARRAY_FILE}",
                where=where,
                hint=f"Write one message a line (JSON Lines); the limit is then {MAX_LINES_FILE}.",
            )
        tally = Tally()
        value = _parse(decode(source.read(MAX_ARRAY_FILE + 1), tally), where)
        source_id = None
        if isinstance(value, dict) and "messages" in value:
            source_id = value["id"] if isinstance(value.get("id"), str) else None
            value = value["messages"]
        elif isinstance(value, dict) and _is_message(value):
            value = [value]
        if not isinstance(value, list):
            raise InvalidInput("not a conversation", where=where, hint=EXPECTED)
        entries = ((f"message {index}", entry) for index, entry in enumerate(value))
        tally.source_id = source_id
        none = "none of its entries is a chat message" if value else ""
        return Reading(self.name, _messages(entries, tally, none, where), tally, where)

    def _read_lines(self, source: BinaryIO, where: str, size: int) -> Reading:
        if size > MAX_LINES_FILE:
            raise InvalidInput(
                f"{size} bytes; the limit for a JSON Lines file is {MAX_LINES_FILE}",
                where=where,
                hint="Split the file between two messages and give the parts one after another.",
            )
        tally = Tally()
        entries = _entries(source, tally, where)
        messages = _messages(entries, tally, "no line is a chat message", where)
        return Reading(self.name, messages, tally, where)

    def read_messages(self, messages: Iterable[Any], where: str) -> Conversation:
        """Read messages that a program gives; each entry has to be an object with a role.

        Raises:
            InvalidInput: an entry is no chat message; it would shift the indexes of the rest.
        """

        def checked() -> Iterator[tuple[str, Any]]:
            for index, entry in enumerate(messages):
                if not isinstance(entry, Mapping) or not _is_message(entry):
                    raise InvalidInput(
                        "not a chat message", where=f"{where}[{index}]", hint=EXPECTED
                    )
                yield f"message {index}", entry

        tally = Tally()
        return Reading(self.name, _messages(checked(), tally, "", where), tally, where).whole()


class Continuing:
    """Reads a conversation that grows: each call gets only the messages that came since.

    What speaks in a message depends on what came before it (an assistant's name makes its
    later messages its own), so the same object reads all of one conversation.
    """

    def __init__(self) -> None:
        self._tally = Tally()
        self._agents: set[str] = set()

    def read(self, messages: Iterable[Mapping[str, Any]]) -> list[RawMessage]:
        """Return what these messages are.

        Raises:
            InvalidInput: one is no chat message; none of them is taken then.
        """
        entries = []
        for entry in messages:
            if not isinstance(entry, Mapping) or not _is_message(entry):
                raise InvalidInput("not a chat message", where="history", hint=EXPECTED)
            entries.append(("", entry))
        return list(_messages(entries, self._tally, "", "history", self._agents))


def _is_message(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("role"), str)


def _loads_or_none(data: bytes) -> Any:
    try:
        return json.loads(data.strip(BLANK))
    except (ValueError, RecursionError):
        return None


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}",
            where=where,
            hint=ONE_EACH if error.msg == "Extra data" else EXPECTED,
        ) from None
    except (ValueError, RecursionError):
        raise InvalidInput(
            "a number too long or values nested too deep for JSON here", where=where, hint=EXPECTED
        ) from None


def _entries(source: BinaryIO, tally: Tally, where: str) -> Iterator[tuple[str, Any]]:
    """Yield the JSON value of every line with its place; count the lines that have none."""
    for line in read_lines(source, tally):
        values, wrong = json_values(line)
        if len(values) != 1 or wrong:
            tally.refuse(line.place, wrong or f"{len(values)} values where one belongs")
            continue
        (value,) = values
        if isinstance(value, dict) and "messages" in value and not _is_message(value):
            raise InvalidInput(
                f"{line.place} holds a whole conversation", where=where, hint=ONE_EACH
            )
        yield line.place, value


def _messages(
    entries: Iterable[tuple[str, Any]],
    tally: Tally,
    none: str,
    where: str,
    agents: set[str] | None = None,
) -> Iterator[RawMessage]:
    """Yield the messages among ``entries``; where there is no one, that is an error (``none``)."""
    agents = set() if agents is None else agents
    found = False
    for place, entry in entries:
        if not isinstance(entry, Mapping):
            tally.refuse(place, "not a JSON object")
        elif not _is_message(entry):
            tally.refuse(place, "no role, so not a chat message")
        else:
            message = _message(entry, place, tally, agents)
            tally.count(message)
            found = True
            yield message
    if none and not found:
        raise InvalidInput(none, where=where, hint=f"{EXPECTED} {FORMATS}")


def _message(entry: Mapping[str, Any], place: str, tally: Tally, agents: set[str]) -> RawMessage:
    role = entry["role"]
    if role not in ROLES:
        tally.note("a role that is not known read as unknown")
        role = "unknown"
    name = entry.get("name")
    if role == "assistant" and isinstance(name, str):
        agents.add(plain_name(name))
    cls = message_class(entry, role, agents)
    if role == "user" and cls == "unknown":
        note_field(foreign_field(entry), "message", tally)
    parts = list(content_parts(entry.get("content"), cls, tally))
    if isinstance(entry.get("refusal"), str) and entry["refusal"]:
        parts.append(part("text", cls, tally.clean(entry["refusal"])))
    calls = entry.get("tool_calls")
    calls = list(calls) if isinstance(calls, list | tuple) else []
    if entry.get("function_call") is not None:
        calls.append(entry["function_call"])
    for call in calls:
        parts.append(part("tool_call", caller(cls), call_text(call, tally)))
    if cls == "human":
        parts = list(divided(parts))
    parts = list(without_own_blocks(parts))
    at = next((t for key in TIME_FIELDS if (t := utc_time(entry.get(key)))), None)
    return RawMessage(role, tuple(parts), at)
