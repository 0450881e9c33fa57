"""The lines of a session file: what they mean, and which ones are refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from gitmem.domain.session import Message, Session
from gitmem.errors import InvalidInput

#: The version of the file format; a newer one is refused.
VERSION = 1


@dataclass(frozen=True)
class Stored:
    """A session file as it was read."""

    header: dict[str, Any]
    messages: tuple[Message, ...]
    consumed: int


def parse(lines: Sequence[bytes], path: Path) -> Stored:
    """Read the complete lines of the session file at ``path``.

    Raises:
        InvalidInput: a line is damaged, or the file is of a newer version.
    """
    header = _checked_header(lines[0] if lines else b"", path)
    messages: list[Message] = []
    consumed = 0
    for number, line in enumerate(lines[1:], start=2):
        value = _value(line, path, number)
        if isinstance(value.get("consumed"), int):
            consumed = max(consumed, min(value["consumed"], len(messages)))
            continue
        try:
            message = Message.model_validate(value)
        except ValueError:
            raise _damaged(path, number, "neither a message nor a marker") from None
        if message.index != len(messages):
            raise _damaged(path, number, f"message {message.index} out of its order")
        messages.append(message)
    return Stored(header, tuple(messages), consumed)


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
            value = json.loads(file.readline(64 * 1024))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


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
    if not texts or header.get("session") != path.stem:
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


def _damaged(path: Path, number: int, what: str) -> InvalidInput:
    return InvalidInput(
        f"damaged session file: {what}",
        where=f"{path}:{number}",
        hint="Move the file away; the conversation can be captured again from its source.",
    )


def session_of(header: dict[str, Any], messages: tuple[Message, ...]) -> Session:
    """Return the session that a file's header and messages make; it starts with its first time."""
    started = next((message.at for message in messages if message.at), header["captured_at"])
    return Session(
        id=header["session"],
        attested=header["attested"],
        format=header["format"],
        messages=messages,
        started_at=started,
    )
