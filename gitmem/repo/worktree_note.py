"""The note that says which work trees a move of main may not have reached yet, and where they are.

A kill can leave it behind, never half of it; one that is damaged is dropped, and told.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.domain.layout import WORKTREE_NOTE
from gitmem.domain.objects import is_oid
from gitmem.domain.shell import shell_word
from gitmem.errors import GitmemError
from gitmem.repo.files import fsync_folder, read_regular, write_file
from gitmem.repo.lock import make_private
from gitmem.repo.refusals import refusal

if TYPE_CHECKING:
    from gitmem.repo.repository import Repo

_MAX_NOTE = 1024 * 1024


def read_note(repo: Repo) -> tuple[dict[str, str], list[str]]:
    """What is noted (work tree -> commit), and a sentence if the note cannot be read."""
    path = repo.private / WORKTREE_NOTE
    if not os.path.lexists(path):
        return {}, []
    noted = parsed_note(path)
    if noted is None:
        drop_note(path)
        see = f"git -C {shell_word(str(repo.root or repo.git_dir))} status"
        return {}, [f"Dropped {path}, which was damaged; compare your files with: {see}"]
    return noted, []


def parsed_note(path: Path) -> dict[str, str] | None:
    """What the note says; None where it is damaged or gone."""
    try:
        # A link, a folder or a pipe is not what was noted.
        noted = json.loads(read_regular(path, _MAX_NOTE) or b"")
    except (FileNotFoundError, RecursionError, ValueError):
        return None
    except OSError as error:
        raise GitmemError(f"{path}: cannot be read ({error.strerror})") from error
    if not isinstance(noted, dict) or not all(
        isinstance(oid, str) and is_oid(oid) for oid in noted.values()
    ):
        return None
    return noted


def drop_note(path: Path) -> None:
    """Remove whatever stands in the note's place, unless it is a folder with something in it."""
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            path.rmdir()
        else:
            path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise GitmemError(
            f"{path}: is in the way of a file of gitmem's, and cannot be removed "
            f"({error.strerror})",
            hint=f"Nothing was changed. Move it elsewhere: mv {shell_word(str(path))} SOMEWHERE",
        ) from error


def write_note(repo: Repo, noted: dict[str, str]) -> None:
    path: Path = repo.private / WORKTREE_NOTE
    if not noted:
        drop_note(path)
        return
    make_private(repo.private)
    try:
        write_file(path, json.dumps(noted, sort_keys=True).encode("ascii"))
        fsync_folder(repo.private)
    except OSError as error:
        why, hint = refusal(error)
        raise GitmemError(f"{path}: could not be written ({why})", hint=hint) from error
