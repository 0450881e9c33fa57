"""Conversations in: one adapter per client, found by the file's beginning or by name."""

from __future__ import annotations

import difflib
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from gitmem.errors import InvalidInput, NotFound
from gitmem.transcripts.base import (
    FORMATS,
    Adapter,
    Conversation,
    PartCounts,
    RawMessage,
    Reading,
)
from gitmem.transcripts.claude_code import ClaudeCodeAdapter
from gitmem.transcripts.openai import OpenAIAdapter
from gitmem.transcripts.own import OwnSession

__all__ = [
    "ADAPTERS",
    "Adapter",
    "Conversation",
    "OwnSession",
    "PartCounts",
    "RawMessage",
    "Reading",
    "open_transcript",
    "read_messages",
    "read_transcript",
]

_OPENAI = OpenAIAdapter()
_CLAUDE_CODE = ClaudeCodeAdapter()

#: Every adapter by the name that ``--format`` takes; detection asks them in this order, the
#: strictest first.
ADAPTERS: dict[str, Adapter] = {_CLAUDE_CODE.name: _CLAUDE_CODE, _OPENAI.name: _OPENAI}

_HEAD = 64 * 1024


@contextmanager
def open_transcript(
    path: Path, format: str | None = None, state: Mapping[str, Any] | None = None
) -> Iterator[Reading]:
    """Open the conversation in a file, to be read message by message inside the ``with``.

    ``format`` names an adapter; None detects it by what the file holds, whatever it is called.
    ``state`` is what :meth:`Reading.state` said of it before: where the file has only grown, the
    reading goes on from there.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no regular file, empty, unreadable, larger than a limit, not a
            conversation, or ``format`` is not known.
    """
    adapter = None if format is None else _named(format)
    where = str(path)
    source, size, head = _opened(path, where)
    with source:
        adapter = adapter or _detected(head, where)
        yield _read_on(adapter, source, where, state) or adapter.read(source, where, size)


def _read_on(
    adapter: Adapter, source: BinaryIO, where: str, state: Mapping[str, Any] | None
) -> Reading | None:
    if state is None or state.get("format") != adapter.name:
        return None
    reading = None
    with suppress(OSError, KeyError, TypeError, ValueError, AttributeError):
        reading = adapter.read_on(source, where, state)
    if reading is None:
        source.seek(0)
    return reading


def read_transcript(path: Path, format: str | None = None) -> Conversation:
    """Read the conversation in a file whole; see :func:`open_transcript`."""
    with open_transcript(path, format) as reading:
        return reading.whole()


def read_messages(messages: Iterable[Any], where: str = "messages") -> Conversation:
    """Read chat messages that a program or a change set gives; ``where`` names the field.

    Message ``i`` of the result is entry ``i`` of ``messages``.

    Raises:
        InvalidInput: an entry is not an object with a role.
    """
    return _OPENAI.read_messages(messages, where)


def _opened(path: Path, where: str) -> tuple[BinaryIO, int, bytes]:
    """Open a file; return it at its beginning, its size and its first bytes."""
    try:
        source = _open_regular(path)
        try:
            size = source.seek(0, 2)
            source.seek(0)
            head = source.read(_HEAD)
            source.seek(0)
        except OSError:
            source.close()
            raise
    except FileNotFoundError:
        raise NotFound(
            f"{where}: no such file", hint="Check the path; a session file may have moved."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is not usable"
        raise InvalidInput(f"cannot be read: {reason}", where=where) from None
    if not size:
        source.close()
        raise InvalidInput("the file is empty", where=where, hint=_expected())
    return source, size, head


def _expected() -> str:
    """Say which formats exist, and how a file of each looks."""
    looks = " ".join(adapter.expected for adapter in ADAPTERS.values())
    return f"{looks} {FORMATS}"


def _open_regular(path: Path) -> BinaryIO:
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
        f"unknown format {format[:80]!r}", hint=f"{meant}Formats: {', '.join(sorted(ADAPTERS))}."
    )


def _detected(head: bytes, where: str) -> Adapter:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidInput("UTF-16 text", where=where, hint="Save the file as UTF-8.")
    for adapter in ADAPTERS.values():
        if adapter.recognises(head):
            return adapter
    raise InvalidInput("not a conversation that gitmem can read", where=where, hint=_expected())
