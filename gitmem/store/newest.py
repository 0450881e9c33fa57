"""The newest accepted commit that was seen, kept outside the projection, which may be deleted."""

from __future__ import annotations

import os

from gitmem.domain.objects import is_oid
from gitmem.repo import Repo
from gitmem.repo.files import write_file

#: The file below the git directory that says it.
NEWEST_FILE = "newest"
_MAX_BYTES = 64


def read_newest(repo: Repo) -> str | None:
    """Return the newest accepted commit that a command saw; None where nothing legible says."""
    path = repo.private / NEWEST_FILE
    try:
        if path.is_symlink():
            return None
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES).decode("ascii", "replace").strip()
    except OSError:
        return None
    return text if is_oid(text) else None


def note_newest(repo: Repo, oid: str) -> None:
    """Note what main has; not durably, since what it guards against is no power cut."""
    if read_newest(repo) == oid or not os.access(repo.private, os.W_OK):
        return
    write_file(repo.private / NEWEST_FILE, f"{oid}\n".encode("ascii"), durable=False)
