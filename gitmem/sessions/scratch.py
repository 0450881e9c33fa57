"""A place to try out what capturing a client's file would give."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitmem.sessions.files import SessionFiles
from gitmem.sessions.folder import UNFINISHED, Folder


@contextmanager
def scratch_sessions(directory: Path) -> Iterator[SessionFiles]:
    """Yield session files of their own that know what those in ``directory`` know.

    They hold copies of the sessions that came from files, and are gone afterwards; what a kill
    leaves is swept like any conversation that was not read to its end.
    """
    folder = Folder(directory)
    folder.make()
    folder.sweep()
    with tempfile.TemporaryDirectory(dir=directory, prefix=UNFINISHED) as name:
        for path, _ in folder.alike({"attested": "file"}):
            shutil.copyfile(path, Path(name) / path.name)
        yield SessionFiles(Path(name))
