"""How far a client's file was kept, so that what was kept is not masked again at each reading.

A mark lies beside the session that it speaks of and is written after it. It is only believed where
both files still begin as they did then; where it is missing, or in doubt, the file is read from
its beginning. It holds hashes and counts, and no text that was not masked.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gitmem import __version__
from gitmem.redaction import redact
from gitmem.sessions.folder import MARK, Folder

#: Bytes of a client's file from which on a mark is worth its while. A hash of a line or two could
#: also be tried out against the words that may have been masked in it.
LEAST = 64 * 1024
_PIECE = 1024 * 1024


@dataclass(frozen=True)
class Mark:
    """What was read of a file (``read``, in its reader's words, and ``seen``, in the caller's),
    and the session that holds it: its ``messages`` stand in the first ``size`` bytes of its file.
    """

    session: str
    messages: int
    size: int
    sha256: str
    read: dict[str, Any]
    seen: dict[str, Any]
    version: str = __version__


def find_mark(folder: Folder, source: Path) -> Mark | None:
    """Return the mark of a client's file, None where there is none that can be used."""
    try:
        path = _path(folder, source)
        if path.is_symlink():
            return None
        mark = Mark(**json.loads(path.read_bytes()))
        usable = isinstance(mark.session, str) and isinstance(mark.read, dict)
        numbers = isinstance(mark.messages, int) and isinstance(mark.size, int)
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    good = usable and numbers and isinstance(mark.seen, dict)
    return mark if good and mark.version == __version__ else None


def put_mark(folder: Folder, source: Path, mark: Mark) -> None:
    """Keep the mark of a client's file, completely or not at all."""
    path = _path(folder, source)
    unfinished = path.with_name(f"{path.name}-{os.getpid()}")
    text = json.dumps(asdict(mark) | {"read": _masked(mark.read)}, sort_keys=True)
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(unfinished, path)


def forget_mark(folder: Folder, source: Path) -> None:
    """Take away the mark of a client's file."""
    _path(folder, source).unlink(missing_ok=True)


def is_as_left(folder: Folder, mark: Mark) -> bool:
    """Whether the session's file begins with the bytes that it had when the mark was made."""
    return hash_of(folder.path(mark.session), mark.size) == mark.sha256


def hash_of(path: Path, size: int) -> str:
    """Return the SHA-256 of the first ``size`` bytes of a file, or of all where it has less.

    Raises:
        OSError: it cannot be read.
    """
    found = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0 and (piece := file.read(min(size, _PIECE))):
            found.update(piece)
            size -= len(piece)
    return found.hexdigest()


def _masked(value: Any) -> Any:
    """Mask what a client or a person may have written: it stands in names of counts and notes."""
    if isinstance(value, Mapping):
        return {redact(str(key)).text: _masked(of) for key, of in value.items()}
    return value


def _path(folder: Folder, source: Path) -> Path:
    name = hashlib.sha256(os.fsencode(os.path.realpath(source))).hexdigest()[:32]
    return folder.directory / f"{MARK}{name}"
