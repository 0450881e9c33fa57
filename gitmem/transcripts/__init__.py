"""Conversations in: one adapter per client, found by the file's beginning or by name."""

from __future__ import annotations

import difflib
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gitmem.errors import InvalidInput, NotFound
from gitmem.transcripts.base import Adapter, Conversation, PartCounts, RawMessage
from gitmem.transcripts.openai import EXPECTED, OpenAIAdapter

__all__ = [
    "ADAPTERS",
    "Adapter",
    "Conversation",
    "PartCounts",
    "RawMessage",
    "read_messages",
    "read_transcript",
]

_OPENAI = OpenAIAdapter()

#: Every adapter by the name that ``--format`` takes; detection asks them in this order.
ADAPTERS: dict[str, Adapter] = {_OPENAI.name: _OPENAI}

_HEAD = 64 * 1024


def read_transcript(path: Path, format: str | None = None) -> Conversation:
    """Read the conversation in a file; ``format`` names an adapter, None detects it.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no regular file, empty, unreadable, larger than a limit, not a
            conversation, or ``format`` is not known.
    """
    adapter = None if format is None else _named(format)
    where = str(path)
    try:
        with _open_regular(path) as source:
            size = source.seek(0, 2)
            source.seek(0)
            head = source.read(_HEAD)
            source.seek(0)
            if not size:
                raise InvalidInput("the file is empty", where=where, hint=EXPECTED)
            return (adapter or _detected(head, where)).read(source, where, size)
    except FileNotFoundError:
        raise NotFound(
            f"{where}: no such file", hint="Check the path; a session file may have moved."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is not usable"
        raise InvalidInput(f"cannot be read: {reason}", where=where) from None


def read_messages(messages: Iterable[Any], where: str = "messages") -> Conversation:
    """Read chat messages that a program or a change set gives; ``where`` names the field.

    Message ``i`` of the result is entry ``i`` of ``messages``.

    Raises:
        InvalidInput: an entry is not an object with a role.
    """
    return _OPENAI.read_messages(messages, where)


def _open_regular(path: Path) -> Any:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise InvalidInput("a directory", where=str(path), hint="Name one session file inside it.")
    if not stat.S_ISREG(mode):
        raise InvalidInput("not a regular file", where=str(path))
    return path.open("rb")


def _named(format: str) -> Adapter:
    if format in ADAPTERS:
        return ADAPTERS[format]
    close = difflib.get_close_matches(format.lower(), ADAPTERS, n=1, cutoff=0.5)
    meant = f"Did you mean {close[0]}? " if close else ""
    raise InvalidInput(
        f"unknown format {format!r}", hint=f"{meant}Formats: {', '.join(sorted(ADAPTERS))}."
    )


def _detected(head: bytes, where: str) -> Adapter:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidInput("UTF-16 text", where=where, hint="Save the file as UTF-8.")
    for adapter in ADAPTERS.values():
        if adapter.recognises(head):
            return adapter
    raise InvalidInput("not a conversation that gitmem can read", where=where, hint=EXPECTED)
