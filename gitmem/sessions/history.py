"""The messages of a stored session, read from its file one at a time.

A conversation may have millions of messages. What is kept of them in memory is where each one
begins: eight bytes.
"""

from __future__ import annotations

import json
import operator
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, overload

from gitmem.domain.session import Message, PartClass
from gitmem.errors import InvalidInput


class StoredMessages(Sequence[Message]):
    """The messages of one session file, in order; slices are views on the same file.

    Reading one that was damaged since the file was looked at raises InvalidInput.
    """

    def __init__(self, path: Path, starts: array[int], indexes: range | None = None) -> None:
        self._path = path
        self._starts = starts
        self._indexes = range(len(starts)) if indexes is None else indexes

    def __len__(self) -> int:
        return len(self._indexes)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> StoredMessages: ...
    def __getitem__(self, index: int | slice) -> Message | StoredMessages:
        """Return one message, or a view on some of them."""
        if isinstance(index, slice):
            return StoredMessages(self._path, self._starts, self._indexes[index])
        at = self._indexes[operator.index(index)]
        with self._open() as file:
            return self._read(file, at)

    def __iter__(self) -> Iterator[Message]:
        """Yield the messages in order, reading the file once from beginning to end."""
        with self._open() as file:
            for at in self._indexes:
                yield self._read(file, at)

    def __reversed__(self) -> Iterator[Message]:
        return iter(self[::-1])

    def __eq__(self, other: object) -> bool:
        """Say whether ``other`` has the same messages, wherever they are kept."""
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # a file may grow

    def __repr__(self) -> str:
        return f"<{len(self)} messages of {self._path.name}>"

    def of_class(self, cls: PartClass) -> Iterator[Message]:
        """Yield the messages with a part of this class; the others are not even parsed."""
        mark = f'"class":"{cls}"'.encode()
        with self._open() as file:
            for at in self._indexes:
                line = self._line(file, at)
                if mark in line:
                    message = self._message(line, at)
                    if any(piece.cls == cls for piece in message.parts):
                        yield message

    def _open(self) -> BinaryIO:
        try:
            return self._path.open("rb")
        except OSError as error:
            raise InvalidInput(
                f"the session cannot be read: {error.strerror}",
                where=str(self._path),
                hint="Run the command again; the conversation can be captured from its source.",
            ) from None

    def _line(self, file: BinaryIO, at: int) -> bytes:
        start = self._starts[at]
        if file.tell() != start:
            file.seek(start)
        return file.readline()

    def _read(self, file: BinaryIO, at: int) -> Message:
        return self._message(self._line(file, at), at)

    def _message(self, line: bytes, at: int) -> Message:
        try:
            message = read_message(json.loads(line))
        except (ValueError, RecursionError, AttributeError):
            message = None
        if message is None or message.index != at:
            raise InvalidInput(
                f"damaged session file: message {at} cannot be read",
                where=str(self._path),
                hint="Move the file away; the conversation can be captured again from its source.",
            )
        return message


def read_message(value: dict[str, Any]) -> Message:
    """Return the message that a line of a session file holds.

    Raises:
        ValueError: it holds none.
    """
    value.pop("keys", None)
    return Message.model_validate(value)
