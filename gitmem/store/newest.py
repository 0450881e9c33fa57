"""The newest accepted commit that was seen, kept outside the projection, which may be deleted."""

from __future__ import annotations

import os
from contextlib import suppress

from gitmem.domain.objects import is_oid
from gitmem.repo import Repo
from gitmem.repo.files import read_regular, write_file

#: The file below the git directory that says it.
NEWEST_FILE = "newest"
_MAX_BYTES = 64


def read_newest(repo: Repo) -> str | None:
    """Return the newest accepted commit that a command saw; None where nothing legible says."""
    path = repo.private / NEWEST_FILE
    try:
        data = read_regular(path, _MAX_BYTES) or b""
    except OSError:
        return None
    text = data.decode("ascii", "replace").strip()
    return text if is_oid(text) else None


def note_newest(repo: Repo, oid: str) -> None:
    """Note what main has; not durably, since what it guards against is no power cut."""
    path = repo.private / NEWEST_FILE
    if read_newest(repo) == oid or not os.access(repo.private, os.W_OK):
        return
    if path.is_dir():  # whoever looks for what is wrong is told of it; reading goes on
        return
    with suppress(OSError):  # as on a full disk, where reading goes on
        write_file(path, f"{oid}\n".encode("ascii"), durable=False)
