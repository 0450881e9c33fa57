"""With which commit this store's main begins: its id, which never changes."""

from __future__ import annotations

import os
from contextlib import suppress

from gitmem.domain.objects import is_oid
from gitmem.domain.shell import shell_word
from gitmem.errors import Refused
from gitmem.repo import Repo
from gitmem.repo.files import read_regular, write_file

#: The file below the git directory that remembers it.
ROOT_FILE = "root"
_MAX_BYTES = 64


def check_root(repo: Repo, root: str) -> None:
    """Refuse a main that begins with another commit than this store's always did.

    The first look remembers it; a store that cannot be written is taken as it is.

    Raises:
        Refused: its history was replaced by another memory's.
    """
    path = repo.private / ROOT_FILE
    try:
        data = read_regular(path, _MAX_BYTES)
    except FileNotFoundError:
        if os.access(repo.private, os.W_OK):
            with suppress(OSError):  # as on a full disk: the next look remembers it
                write_file(path, f"{root}\n".encode("ascii"))
        return
    if data is None:
        raise Refused(
            f"{path}: is no plain file, so it does not say with which commit this memory begins",
            hint=f"Remove it if you did not make it: rm -r {shell_word(str(path))}",
        )
    known = data.decode("ascii", "replace").strip()
    if not is_oid(known):
        raise Refused(
            f"{path}: is damaged, so it does not say with which commit this memory begins",
            hint=f"Remove it if main is as it should be: rm {shell_word(str(path))}",
        )
    if known != root:
        raise Refused(
            f"main begins with {root[:12]}, but this memory with {known[:12]}: its history was "
            "replaced by another memory's",
            hint=f"Set main back (git reflog main), or remove {path} if you mean it.",
        )
