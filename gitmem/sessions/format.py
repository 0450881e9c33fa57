"""The lines of a session file: what they mean, and which ones are refused."""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, get_args

from gitmem.domain.session import Attested, Message, Session
from gitmem.errors import InvalidInput
from gitmem.sessions.history import StoredMessages, read_message

#: The version of the file format; a newer one is refused. Version 2 added ``keys`` to messages
#: and the marker ``read_before``.
VERSION = 2

#: How a line with a message begins, as gitmem writes it.
_MESSAGE = re.compile(
    rb'\{(?:"at":"(?P<at>[0-9TZ:-]{1,40})",)?"index":(?P<index>\d{1,15}),(?:"keys":|"parts":)'
)
_KEYS = re.compile(
    rb'\{(?:"at":"[0-9TZ:-]{1,40}",)?"index":\d{1,15},"keys":\["([0-9a-f]{0,16})","([0-9a-f]{0,16})"\]'
)


@dataclass(frozen=True)
class Spans:
    """Some messages of a session, as ranges of their indexes in order."""

    ranges: tuple[tuple[int, int], ...] = ()

    def __contains__(self, index: int) -> bool:
        at = bisect_right(self.ranges, index, key=lambda span: span[0]) - 1
        return at >= 0 and index < self.ranges[at][1]

    def count(self, start: int) -> int:
        """Return how many there are from index ``start``."""
        return sum(max(0, end - max(start, first)) for first, end in self.ranges)


@dataclass(frozen=True)
class Stored:
    """A session file as it was read. ``read_before`` are messages that stand in another session
    too, from which they were consumed. ``starts`` says where each message's line begins,
    ``first_at`` is the first time that a message has."""

    header: dict[str, Any]
    messages: StoredMessages
    consumed: int
    starts: array[int]
    read_before: Spans = field(default_factory=Spans)
    first_at: str | None = None


def scan(path: Path) -> Stored:
    """Look through the session file at ``path``; a line counts when its line feed is there.

    Raises:
        FileNotFoundError: there is none.
        InvalidInput: a line is damaged, or the file is of a newer version.
    """
    starts = array("Q")
    consumed = 0
    spans: list[tuple[int, int]] = []
    first_at: str | None = None
    with path.open("rb") as file:
        line = file.readline()
        header = _checked_header(line if line.endswith(b"\n") else b"", path)
        at = len(line)
        for number, line in enumerate(file, start=2):
            if not line.endswith(b"\n"):
                break
            begun = _MESSAGE.match(line)
            if begun and line.endswith(b"}\n") and int(begun["index"]) == len(starts):
                starts.append(at)
                if first_at is None and begun["at"]:
                    first_at = begun["at"].decode()
            else:
                marker = _marker(line, path, number, len(starts))
                if isinstance(marker, Message):
                    starts.append(at)
                    first_at = first_at or marker.at
                elif isinstance(marker.get("consumed"), int):
                    consumed = max(consumed, min(marker["consumed"], len(starts)))
                else:
                    spans += _spans(marker["read_before"], path, number)
            at += len(line)
    messages = StoredMessages(path, starts)
    return Stored(header, messages, consumed, starts, Spans(tuple(sorted(spans))), first_at)


def is_message(line: bytes) -> bool:
    """Whether a line of a session file is a message, as gitmem writes one."""
    return _MESSAGE.match(line) is not None


def keys_of(line: bytes) -> tuple[int, int]:
    """Return what a message is known by in other files, as numbers; 0 where there is nothing."""
    match = _KEYS.match(line)
    if match is None:
        return 0, 0
    return int(match[1] or b"0", 16), int(match[2] or b"0", 16)


def consumed_keys(path: Path) -> array[int]:
    """Return what the consumed messages of a session file are known by, in their order.

    A damaged line says nothing here: whoever asks for this session is told of it.
    """
    keys = array("Q")
    consumed = 0
    with path.open("rb") as file:
        for line in file:
            if _MESSAGE.match(line):
                keys.extend(keys_of(line))
            elif b'"consumed":' in line and (value := _value_or_none(line)):
                marked = value.get("consumed")
                consumed = max(consumed, marked if isinstance(marked, int) else 0)
    del keys[2 * consumed :]
    return keys


def _marker(line: bytes, path: Path, number: int, count: int) -> dict[str, Any] | Message:
    """Return the marker that a line holds, or the message, written in another notation."""
    value = _value(line, path, number)
    if isinstance(value.get("consumed"), int) or isinstance(value.get("read_before"), list):
        return value
    try:
        message = read_message(value)
    except ValueError:
        raise _damaged(path, number, "neither a message nor a marker") from None
    if message.index != count:
        raise _damaged(path, number, f"message {message.index} out of its order")
    return message


def _spans(value: Any, path: Path, number: int) -> list[tuple[int, int]]:
    spans = [(span[0], span[1]) for span in value if isinstance(span, list) and len(span) == 2]
    if len(spans) < len(value) or not all(type(at) is int for span in spans for at in span):
        raise _damaged(path, number, "neither a message nor a marker")
    return spans


def end_of_lines(file: BinaryIO, size: int) -> int:
    """Return where the last complete line ends, looking backwards from the end."""
    end = size
    while end > 0:
        start = max(0, end - 64 * 1024)
        file.seek(start)
        at = file.read(end - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def read_header(path: Path) -> dict[str, Any] | None:
    """Return a file's header without reading the rest, or None where it is not readable."""
    try:
        with path.open("rb") as file:
            return _value_or_none(file.readline(64 * 1024))
    except OSError:
        return None


def _checked_header(line: bytes, path: Path) -> dict[str, Any]:
    header = _value(line, path, 1)
    version = header.get("version")
    if isinstance(version, int) and version > VERSION:
        raise InvalidInput(
            f"session format {version}; this gitmem knows up to {VERSION}",
            where=str(path),
            hint="Update gitmem.",
        )
    texts = all(isinstance(header.get(k), str) for k in ("format", "captured_at", "attested"))
    vouched = header.get("attested") in get_args(Attested)
    if not texts or not vouched or header.get("session") != path.stem:
        raise _damaged(path, 1, "no header of this session")
    return header


def _value(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise _damaged(path, number, "not JSON") from None
    if not isinstance(value, dict):
        raise _damaged(path, number, "not a JSON object")
    return value


def _value_or_none(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _damaged(path: Path, number: int, what: str) -> InvalidInput:
    return InvalidInput(
        f"damaged session file: {what}",
        where=f"{path}:{number}",
        hint="Move the file away; the conversation can be captured again from its source.",
    )


def session_of(stored: Stored) -> Session:
    """Return the session that a file holds; it starts with its first time."""
    header = stored.header
    return Session(
        id=header["session"],
        attested=header["attested"],
        format=header["format"],
        messages=stored.messages,
        started_at=stored.first_at or header["captured_at"],
    )
