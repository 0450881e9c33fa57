"""On which form of main each file was begun that a merge left as a person has it.

A file that was edited stays as it is while main goes on, and nothing in it says how old the rest
of it is. So the blob that it was begun on is noted, for :mod:`gitmem.store.begun` to tell what is
the person's. Where the note is lost or damaged, the file counts as it stands.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.domain.objects import is_oid
from gitmem.errors import GitmemError
from gitmem.repo.files import fsync_folder, read_regular, write_file
from gitmem.repo.lock import make_private
from gitmem.repo.refusals import refusal

if TYPE_CHECKING:
    from gitmem.repo.repository import Repo

BEGUN_NOTE = "begun-on"
_MAX_NOTE = 1024 * 1024
_MAX_PATHS = 1000
"""Paths noted for one work tree, the newest; nobody edits as many at once."""


@dataclass(frozen=True, slots=True)
class Begun:
    """What a file was begun on; blobs, or empty where there was no file.

    ``on`` is what main had when it was left first. ``base`` is what the person has put it
    together with since, as far as that goes: fields that are not in ``told`` were begun on
    ``past``, where that is not None. A sentence that main has changed it stands for the file as
    it was then (``said``), for what main had then (``seen``), and for the fields that it was about
    (``about``, one a line; None: for all of them); None before there is one.
    """

    on: str
    base: str
    said: str | None = None
    seen: str | None = None
    about: str | None = None
    told: str = ""
    past: str | None = None

    def at(self, file: str) -> Begun:
        """What holds for the content ``file``: once it was changed after the sentence, the person
        has seen what that was about."""
        if self.said is None or self.seen is None or file == self.said:
            return self
        if self.about is None:
            return Begun(self.on, self.seen)
        told = "\n".join(sorted({*self.told.split("\n"), *self.about.split("\n")}))
        past = self.base if self.past is None else self.past
        return Begun(self.on, self.seen, told=told, past=past)


Notes = dict[str, dict[str, Begun]]
"""By the work tree's key, then by path."""


def read_begun(repo: Repo) -> Notes:
    """What is noted; nothing where that cannot be read."""
    try:
        data = json.loads(read_regular(_path(repo), _MAX_NOTE) or b"{}")
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    return {
        key: {path: begun for path, row in rows.items() if (begun := _begun(row))}
        for key, rows in data.items()
        if isinstance(rows, dict)
    }


def _begun(row: Any) -> Begun | None:
    if not isinstance(row, list) or len(row) not in (4, 7):
        return None
    blobs = [blob for blob in (*row[:4], *row[6:]) if blob not in ("", None)]
    if None in row[:2] or not all(isinstance(blob, str) and is_oid(blob) for blob in blobs):
        return None
    about, told = row[4:6] or (None, "")
    if not isinstance(about, str | None) or not isinstance(told, str):
        return None
    return Begun(*row)


def write_begun(repo: Repo, notes: Mapping[str, Mapping[str, Begun]]) -> None:
    """Write down what holds now, under the store's lock.

    Raises:
        GitmemError: it could not be written.
    """
    kept = {key: dict(list(rows.items())[-_MAX_PATHS:]) for key, rows in notes.items() if rows}
    if kept == read_begun(repo):
        return
    path = _path(repo)
    make_private(repo.private)
    rows = {key: {at: astuple(begun) for at, begun in kept[key].items()} for key in kept}
    try:
        if rows:
            write_file(path, json.dumps(rows).encode("ascii"))
            fsync_folder(repo.private)
        elif os.path.lexists(path):
            path.unlink()
    except OSError as error:
        why, hint = refusal(error)
        raise GitmemError(f"{path}: could not be written ({why})", hint=hint) from error


def _path(repo: Repo) -> Path:
    path: Path = repo.private / BEGUN_NOTE
    return path
