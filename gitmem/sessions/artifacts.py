"""Tool results that are too long for a message: kept whole beside the sessions, masked."""

from __future__ import annotations

import re
from pathlib import Path

from gitmem.domain.canonical import sha256_hex
from gitmem.domain.session import Part
from gitmem.errors import GitmemError, InvalidInput, NotFound
from gitmem.redaction import redact
from gitmem.repo.files import fsync_folder, read_regular, write_file
from gitmem.transcripts.base import RawMessage, part

#: Characters of a tool's result that stays whole in its message.
MAX_RESULT = 30_000
#: Characters of a longer one that stand in the message: its beginning and its end.
HEAD, TAIL = 8_000, 4_000
#: Characters that one look into an artifact shows.
PAGE = 10_000
_MAX_BYTES = 256 * 1024 * 1024
#: How a message names the artifact of what was left out of it.
ARTIFACT = re.compile(r"^\[[0-9]+ characters left out; artifact ([0-9a-f]{32})\]$", re.MULTILINE)
_ID = re.compile(r"[0-9a-f]{32}")


class Artifacts:
    """The artifacts of one store. ``directory`` is made (mode 0700) when first needed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def shortened(self, raw: RawMessage) -> RawMessage:
        """Return a message whose tool results are short enough; what was cut is kept first."""
        if not any(_is_long(piece) for piece in raw.parts):
            return raw
        parts = tuple(self._short(piece) for piece in raw.parts)
        return RawMessage(raw.role, parts, raw.at, raw.client_id, raw.client_time)

    def _short(self, piece: Part) -> Part:
        if not _is_long(piece):
            return piece
        # Masked before it is cut: half a secret would not be known for one.
        text = redact(piece.text).text
        if len(text) <= MAX_RESULT:
            return part(piece.kind, piece.cls, text)
        left = len(text) - HEAD - TAIL
        mark = f"\n[{left} characters left out; artifact {self._put(text)}]\n"
        return part(piece.kind, piece.cls, text[:HEAD] + mark + text[-TAIL:])

    def _put(self, text: str) -> str:
        data = text.encode("utf-8")
        name = sha256_hex(data)[:32]
        self._check()
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(self._directory / f"{name}.txt", data)
        fsync_folder(self._directory)
        return name

    def read(self, name: str, start: int) -> tuple[str, int]:
        """Return a page of an artifact from character ``start`` on, and its whole length.

        Raises:
            InvalidInput: that is no artifact's name.
            NotFound: there is none of that name (any more).
        """
        if not _ID.fullmatch(name):
            raise InvalidInput(f"{name[:80]!r} is no artifact's name")
        self._check()
        try:
            data = read_regular(self._directory / f"{name}.txt", _MAX_BYTES)
        except FileNotFoundError:
            data = None
        if data is None or sha256_hex(data)[:32] != name:
            raise NotFound(f"the artifact {name} is not on this machine (any more)")
        text = data.decode("utf-8")
        return text[max(0, start) : max(0, start) + PAGE], len(text)

    def expire(self, before: float) -> None:
        """Delete what was kept before ``before`` (seconds since 1970)."""
        self._check()
        for path in self._directory.glob("*.txt"):
            if path.lstat().st_mtime < before:
                path.unlink(missing_ok=True)

    def _check(self) -> None:
        if self._directory.is_symlink():
            raise GitmemError(
                f"{self._directory}: is a symbolic link; results are kept only inside the git "
                "directory"
            )


def _is_long(piece: Part) -> bool:
    return piece.kind == "tool_result" and len(piece.text) > MAX_RESULT
