"""Hides a store from the repository that it lies in."""

from __future__ import annotations

from pathlib import Path

from gitmem.errors import NotFound
from gitmem.repo.discovery import find_git_dir


def hide_from_enclosing(root: Path) -> Path | None:
    """Name ``root`` in ``info/exclude`` of the repository around it, unless it stands there.

    That file is local and belongs to no commit: the enclosing repository's index, refs and
    configuration stay as they are. Returns the file that was changed, None where there is no
    repository around or nothing was to do.
    """
    root = root.resolve()
    for folder in root.parents:
        try:
            dirs = find_git_dir(folder)
        except NotFound:
            continue
        if dirs.is_bare:
            return None
        return _exclude(dirs.common / "info" / "exclude", root.relative_to(folder).as_posix())
    return None


def _exclude(path: Path, relative: str) -> Path | None:
    line = "/" + _quoted(relative) + "/"
    old = path.read_bytes() if path.exists() else b""
    if line.encode() in old.split(b"\n"):
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    gap = b"" if not old or old.endswith(b"\n") else b"\n"
    with path.open("ab") as file:
        file.write(gap + line.encode("utf-8", "surrogateescape") + b"\n")
    return path


def _quoted(relative: str) -> str:
    """``relative`` as a pattern that matches itself only."""
    escaped = "".join(f"\\{char}" if char in "\\*?[" else char for char in relative)
    stripped = escaped.rstrip(" ")
    return stripped + "\\ " * (len(escaped) - len(stripped))
