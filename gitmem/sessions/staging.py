"""A conversation on its way into a session file: canonical, masked, and in no session yet.

It is written message by message into a file of its own beside the sessions, so that neither
its length nor the time it takes matters: nothing of it is held in memory, and no lock is. What
it becomes (a session, the end of one, or nothing) is decided afterwards.
"""

from __future__ import annotations

import functools
import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from gitmem.domain.canonical import canonical_file, canonical_json, sha256_hex
from gitmem.domain.session import Message, Part, message_digest
from gitmem.redaction import Redacted, ends_in_key, redact_continuation
from gitmem.transcripts.base import RawMessage, part

#: Bytes that are kept free at the beginning of the file for the header.
HEADER_ROOM = 2048
#: Texts of at most so many characters are masked once where they come again; ``ok`` does.
_SHORT = 200


class Staged:
    """The canonical messages of a conversation in a file that is open, after room for a header.

    It holds the messages from index ``base`` on, one a line, up to ``count``; where that is all of
    them, ``first`` is the digest of the first and ``digest`` stands for all. ``is_cut`` says that
    its last text may end within a secret, which then goes on in the next one.
    """

    def __init__(self, file: BinaryIO, path: Path, base: int = 0) -> None:
        self.file = file
        self.path = path
        self.base = self.count = base
        self.is_cut = False
        self.first: str | None = None
        self.keyed = False
        self._kinds: dict[str, array[int]] = {}
        self._hash = hashlib.sha256(b"[")
        file.write(b" " * (HEADER_ROOM - 1) + b"\n")

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the canonical JSON of all messages as one list."""
        whole = self._hash.copy()
        whole.update(b"]")
        return whole.hexdigest()

    def fill(self, conversation: Iterable[RawMessage]) -> None:
        """Write every message of a conversation.

        Raises:
            InvalidInput: the conversation cannot be read to its end.
        """
        before = ""
        for raw in conversation:
            message, kinds, before = canonical_message(raw, self.count, before)
            self._write(message, raw)
            for kind in kinds:
                self._kinds.setdefault(kind, array("Q")).append(message.index)
        self.is_cut = ends_in_key(before)
        self.file.flush()

    def redactions(self, start: int) -> dict[str, int]:
        """Return how much was masked from message ``start`` on, by kind."""
        found = {kind: len(at) - bisect_left(at, start) for kind, at in self._kinds.items()}
        return {kind: number for kind, number in found.items() if number}

    def rewind(self) -> None:
        """Go to where the first message's line begins."""
        self.file.seek(HEADER_ROOM)

    def head(self, header: dict[str, Any]) -> None:
        """Write the header into the room for it.

        Raises:
            ValueError: it does not fit.
        """
        data = canonical_json(header)
        if len(data) >= HEADER_ROOM:
            raise ValueError(f"a header of {len(data)} bytes; there is room for {HEADER_ROOM - 1}")
        self.file.seek(0)
        self.file.write(data)

    def _write(self, message: Message, raw: RawMessage) -> None:
        line = canonical_json(message.to_json())
        self._hash.update(line if not self.count else b"," + line)
        if not self.count:
            self.first = message_digest(message)
        if raw.client_id is not None or raw.client_time is not None:
            self.keyed = True
            # Sorted keys: what says when and where comes before the parts, and no text does.
            before, parts, said = line.partition(b',"parts":')
            keys = f',"keys":["{_key("id", raw.client_id, said)}",'
            keys += f'"{_key("time", raw.client_time, said)}"]'
            line = before + keys.encode() + parts + said
        self.file.write(line + b"\n")
        self.count += 1


def canonical_message(raw: RawMessage, index: int, before: str) -> tuple[Message, list[str], str]:
    """Return the canonical form of a message, what kinds were masked in it, and its last text.

    What a message becomes depends on it and on the text before it alone, so that a grown
    conversation has the same beginning. (The text before: a key may be cut in two.)
    """
    parts: list[Part] = []
    kinds: list[str] = []
    for piece in raw.parts:
        short = len(piece.text) <= _SHORT and len(before) <= _SHORT
        done = (_redact_again if short else redact_continuation)(before, piece.text)
        kinds += done.kinds
        parts.append(piece if done.text == piece.text else part(piece.kind, piece.cls, done.text))
        before = piece.text
    return Message(index=index, role=raw.role, parts=tuple(parts), at=raw.at), kinds, before


@functools.lru_cache(maxsize=4096)
def _redact_again(before: str, text: str) -> Redacted:
    return redact_continuation(before, text)


def _key(kind: str, name: str | None, said: bytes) -> str:
    """Return what a copy of a message in another file is known by: a hash of what its client
    calls it (or when, by ``kind``) and of what it says; nothing where the client is silent."""
    if name is None:
        return ""
    return sha256_hex(f"{kind}\0{clean(name)}\0".encode() + said)[:16]


def clean(name: str | None) -> str | None:
    """Return a client's name for something as text that can be hashed, whatever it holds."""
    return None if name is None else name.encode("utf-8", "replace").decode("utf-8")


def statement_lines(messages: Sequence[Message]) -> bytes:
    """Return the lines of messages that came from no client."""
    return b"".join(canonical_file(message.to_json()) for message in messages)
