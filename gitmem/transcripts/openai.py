"""OpenAI chat messages: a JSON array, an object with ``messages``, or JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

from gitmem.domain.injected import segments_of_parts
from gitmem.domain.session import Part, PartClass
from gitmem.errors import InvalidInput
from gitmem.transcripts.base import (
    MAX_ARRAY_FILE,
    MAX_LINE,
    MAX_LINES_FILE,
    ROLES,
    Conversation,
    RawMessage,
    Tally,
    part,
    utc_time,
)
from gitmem.transcripts.speaker import (
    TIME_FIELDS,
    foreign_field,
    foreign_part_field,
    is_tool_result,
    message_class,
    plain_name,
)

EXPECTED = (
    'Expected OpenAI chat messages, {"role": "user", "content": "..."}: a JSON array of them, '
    'an object with "messages", or one message a line.'
)
ONE_EACH = "Give each conversation a file: nothing may follow an array or a messages object."
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n\0"
_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
#: Kinds of text that only a model writes.
_MODEL_TYPES = frozenset({"output_text", "refusal"})
_IMAGE_TYPES = frozenset({"image_url", "input_image", "image", "image_file"})
_CALL_TYPES = frozenset({"tool_call", "tool_use", "function_call", "mcp_call"})


@dataclass(frozen=True)
class OpenAIAdapter:
    """Reads OpenAI chat messages."""

    name: str = "openai"

    def recognises(self, head: bytes) -> bool:
        """Say whether a file beginning with ``head`` looks like chat messages."""
        head = head.removeprefix(_BOM).lstrip(_BLANK)
        if head.startswith(b"["):
            rest = head[1:].lstrip(_BLANK)
            return rest.startswith((b"{", b"]"))
        if not head.startswith(b"{"):
            return False
        for line in head.split(b"\n")[:50]:
            value = _loads_or_none(line)
            if isinstance(value, dict) and (_is_message(value) or "messages" in value):
                return True
        start = head[:4096]
        return b'"messages"' in start or (b'"role"' in start and b'"content"' in start)

    def read(self, source: BinaryIO, where: str, size: int) -> Conversation:
        """Read a whole file; see :class:`gitmem.transcripts.base.Adapter`."""
        line = source.readline(MAX_LINE + 1).removeprefix(_BOM)
        first = _loads_or_none(line)
        if isinstance(first, dict):
            by_line = "messages" not in first or _is_message(first)
        elif len(line) > MAX_LINE:
            by_line = line.lstrip(_BLANK).startswith(b"{") and b'"messages"' not in line[:4096]
        else:
            later = (_loads_or_none(rest) for rest in source.read(64 * 1024).split(b"\n")[:50])
            by_line = not isinstance(first, list) and any(
                isinstance(value, dict) and _is_message(value) for value in later
            )
        source.seek(0)
        if by_line:
            return self._read_lines(source, where, size)
        return self._read_value(source, where, size)

    def _read_value(self, source: BinaryIO, where: str, size: int) -> Conversation:
        if size > MAX_ARRAY_FILE:
            raise InvalidInput(
                f"{size} bytes as one JSON value; the limit is {MAX_ARRAY_FILE}",
                where=where,
                hint=f"Write one message a line (JSON Lines); the limit is then {MAX_LINES_FILE}.",
            )
        tally = Tally()
        value = _parse(_decode(source.read(MAX_ARRAY_FILE + 1), tally), where)
        source_id = None
        if isinstance(value, dict) and "messages" in value:
            source_id = value["id"] if isinstance(value.get("id"), str) else None
            value = value["messages"]
        elif isinstance(value, dict) and _is_message(value):
            value = [value]
        if not isinstance(value, list):
            raise InvalidInput("not a conversation", where=where, hint=EXPECTED)
        entries = ((f"message {index}", entry) for index, entry in enumerate(value))
        conversation = _conversation(entries, tally, source_id)
        if value and not conversation.messages:
            raise InvalidInput("none of its entries is a chat message", where=where, hint=EXPECTED)
        return conversation

    def _read_lines(self, source: BinaryIO, where: str, size: int) -> Conversation:
        if size > MAX_LINES_FILE:
            raise InvalidInput(
                f"{size} bytes; the limit for a JSON Lines file is {MAX_LINES_FILE}",
                where=where,
                hint="Split the file between two messages and give the parts one after another.",
            )
        tally = Tally()
        conversation = _conversation(_entries(source, tally, where), tally, None)
        if not conversation.messages:
            raise InvalidInput("no line is a chat message", where=where, hint=EXPECTED)
        return conversation

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

        return _conversation(checked(), Tally(), None)


def _is_message(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("role"), str)


def _loads_or_none(data: bytes) -> Any:
    try:
        return json.loads(data.strip(_BLANK))
    except (ValueError, RecursionError):
        return None


def _decode(data: bytes, tally: Tally) -> str:
    data = data.removeprefix(_BOM).strip(b"\0")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        tally.note("bytes that are not UTF-8 replaced with U+FFFD")
        return data.decode("utf-8", "replace")


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
    number = 0
    while line := source.readline(MAX_LINE + 1):
        number += 1
        place = f"line {number}"
        if len(line) > MAX_LINE:
            length = len(line)
            while not line.endswith(b"\n") and (line := source.readline(MAX_LINE)):
                length += len(line)
            tally.refuse(place, f"{length} bytes long; the limit is {MAX_LINE}")
            continue
        if not line.removeprefix(_BOM).strip(_BLANK):
            if b"\0" in line:
                tally.note("a run of NUL bytes left out")
            continue
        yield from _line_entry(line, place, tally, where)


def _line_entry(line: bytes, place: str, tally: Tally, where: str) -> Iterator[tuple[str, Any]]:
    if line.startswith(b"\0"):
        tally.note("a run of NUL bytes left out")
    text = _decode(line.removeprefix(_BOM).strip(_BLANK), tally)
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        cut = "" if line.endswith(b"\n") else " (the last line; it may be cut off)"
        tally.refuse(place, f"not JSON{cut}")
        return
    if isinstance(value, dict) and "messages" in value and not _is_message(value):
        raise InvalidInput(
            f"{place} holds a whole conversation",
            where=where,
            hint=ONE_EACH,
        )
    yield place, value


def _conversation(
    entries: Iterable[tuple[str, Any]], tally: Tally, source_id: str | None
) -> Conversation:
    messages: list[RawMessage] = []
    agents: set[str] = set()
    for place, entry in entries:
        if not isinstance(entry, Mapping):
            tally.refuse(place, "not a JSON object")
        elif not _is_message(entry):
            tally.refuse(place, "no role, so not a chat message")
        else:
            message = _message(entry, place, tally, agents)
            tally.count(message)
            messages.append(message)
    return Conversation("openai", source_id, tuple(messages), tally.counts(), tally.notes())


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
        _note_field(foreign_field(entry), "message", tally)
    parts = list(_content_parts(entry.get("content"), cls, tally))
    if isinstance(entry.get("refusal"), str) and entry["refusal"]:
        parts.append(part("text", cls, tally.clean(entry["refusal"])))
    calls = entry.get("tool_calls")
    calls = list(calls) if isinstance(calls, list | tuple) else []
    if entry.get("function_call") is not None:
        calls.append(entry["function_call"])
    for call in calls:
        parts.append(part("tool_call", _caller(cls), _call_text(call, tally)))
    if cls == "human":
        parts = list(_divided(parts))
    at = next((t for key in TIME_FIELDS if (t := utc_time(entry.get(key)))), None)
    return RawMessage(role, tuple(parts), at)


def _note_field(field: str | None, of: str, tally: Tally) -> None:
    if field is not None:
        tally.note(f"a user {of} with the field {field[:40]!r} read as from an unknown speaker")


def _caller(cls: PartClass) -> PartClass:
    """Return who makes a call in a message: a person calls no tools."""
    return "unknown" if cls == "human" else cls


def _content_parts(content: Any, cls: PartClass, tally: Tally) -> Iterator[Part]:
    if content is None or content == "":
        return
    if isinstance(content, str):
        yield _text_part(content, cls, tally)
    elif isinstance(content, list | tuple):
        for item in content:
            yield _item_part(item, cls, tally)
    elif isinstance(content, Mapping):
        yield _item_part(content, cls, tally)
    else:
        yield part("other", "unknown")


def _item_part(item: Any, cls: PartClass, tally: Tally) -> Part:
    """Return the part that one entry of a content list is."""
    if isinstance(item, str):
        return _text_part(item, cls, tally)
    if not isinstance(item, Mapping):
        return part("other", "unknown")
    kind = item.get("type")
    if kind is None and "text" in item:
        kind = "text"
    if not isinstance(kind, str):
        return part("other", "unknown")
    if is_tool_result(item):
        return part("tool_result", "tool", tally.clean(_result_text(item)))
    if kind in _CALL_TYPES:
        return part("tool_call", _caller(cls), _call_text(item, tally))
    if kind in _TEXT_TYPES:
        return _typed_text_part(item, kind, cls, tally)
    return part("image" if kind in _IMAGE_TYPES else "other", cls)


def _typed_text_part(item: Mapping[str, Any], kind: str, cls: PartClass, tally: Tally) -> Part:
    if cls == "human":
        field = foreign_part_field(item)
        _note_field(field, "part", tally)
        if field is not None or kind in _MODEL_TYPES:
            cls = "unknown"
    text = item.get("refusal") if kind == "refusal" else item.get("text")
    return _text_part(text, cls, tally) if isinstance(text, str) else part("other", cls)


def _text_part(text: str, cls: PartClass, tally: Tally) -> Part:
    return part("tool_result" if cls == "tool" and text else "text", cls, tally.clean(text))


def _divided(parts: list[Part]) -> Iterator[Part]:
    """Yield a user message's parts, its text divided by who it comes from.

    The texts are read as one, because a client's tag may open in one and close in another.
    """
    texts = [piece.text for piece in parts if piece.cls == "human"]
    divided = iter(segments_of_parts(texts))
    for piece in parts:
        segments = next(divided) if piece.cls == "human" else ()
        for segment in segments:
            shape: Literal["text", "tool_result"]
            shape = "tool_result" if segment.cls == "tool" else "text"
            yield part(shape, segment.cls, segment.text)
        if not segments:
            yield piece


def _result_text(item: Mapping[str, Any]) -> str:
    for key in ("content", "output", "text", "result"):
        value = item.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list | tuple):
            texts = [piece.get("text") for piece in value if isinstance(piece, Mapping)]
            return "\n".join(text for text in texts if isinstance(text, str))
        if value is not None:
            return _json_text(value)
    return ""


def _call_text(call: Any, tally: Tally) -> str:
    """Return canonical JSON of a call's function name and arguments."""
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        function = call if isinstance(call, Mapping) else {"arguments": call}
    arguments = function.get("arguments", function.get("input"))
    if isinstance(arguments, str):
        # The model's JSON, read where it is JSON, so that no quote is hidden by escapes.
        parsed = _loads_or_none(arguments.encode("utf-8", "surrogatepass"))
        arguments = arguments if parsed is None else parsed
    return tally.clean(_json_text({"name": function.get("name"), "arguments": arguments}))


def _json_text(value: Any) -> str:
    """Return JSON with sorted keys; what JSON cannot hold is shown as its type."""
    try:
        return json.dumps(
            value,
            sort_keys=True,
            ensure_ascii=False,
            separators=(",", ":"),
            default=lambda o: f"<{type(o).__name__}>",
        )
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__} that JSON cannot hold>"
