"""How far a client's file was read, so that one that has only grown is read on from there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, BinaryIO, Self

_PIECE = 1024 * 1024


class Position:
    """What was read of a file from its beginning: bytes, lines, and the hash of all of it.

    ``whole`` says that the last line ends with a line feed: what follows is a line of its own.
    """

    def __init__(self) -> None:
        self.size = 0
        self.lines = 0
        self.whole = True
        self._hash = hashlib.sha256()

    @classmethod
    def found(cls, source: BinaryIO, known: Mapping[str, Any]) -> Self | None:
        """Go to a position that :meth:`to_json` told, where ``source`` has the same bytes before
        it as then; else return None, the source being anywhere.

        Raises:
            OSError: it cannot be read.
        """
        position = cls()
        left = known["bytes"]
        source.seek(0)
        while left > 0 and (piece := source.read(min(left, _PIECE))):
            position.take(piece)
            left -= len(piece)
        position.lines = known["lines"]
        return position if position.to_json() == known else None

    def take(self, data: bytes) -> None:
        """Count bytes that were read."""
        self.size += len(data)
        self.whole = data.endswith(b"\n")
        self._hash.update(data)

    def to_json(self) -> dict[str, Any]:
        """Return it in a form that can be kept: no text of the file is in it."""
        return {"bytes": self.size, "lines": self.lines, "sha256": self._hash.hexdigest()}
