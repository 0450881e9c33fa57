"""Where a store's git directory is, found by reading files. Stdlib only, no git process."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gitmem.errors import GitmemError, NotFound

_MAX_POINTER = 8192
"""Bytes read of a ``.git`` file, ``commondir`` or ``HEAD``; each holds one path or ref."""


class GitDirs(NamedTuple):
    """The directories of one repository.

    ``private`` belongs to one work tree (its HEAD and index), ``common`` holds refs, objects
    and configuration; they differ in a linked work tree only.
    """

    private: Path
    common: Path
    is_bare: bool


def read_pointer(path: Path) -> str | None:
    """The one line of a small file that git writes, or None where there is no such file."""
    try:
        with path.open("rb") as file:
            return file.read(_MAX_POINTER).decode("utf-8", "surrogateescape").rstrip("\r\n")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def looks_like_git_dir(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def resolved(path: Path) -> Path | None:
    """``path`` without links; None where no file can be: it holds a NUL or what is no name on
    this system, is too long, or goes round in a circle of links.

    Raises:
        PermissionError: a folder on the way may not be looked into.
    """
    try:
        found = path.resolve()
        found.exists()  # fails where the name is too long
        return found
    except PermissionError:
        raise
    except (OSError, RuntimeError, ValueError):
        return None


def common_dir(private: Path) -> Path:
    """The directory that holds refs and objects of the work tree whose own is ``private``."""
    pointer = read_pointer(private / "commondir")
    return (resolved(private / pointer) if pointer else None) or private


def linked_git_dir(dot_git: Path) -> Path | None:
    """Where a ``.git`` *file* points, or None when it is not one."""
    pointer = read_pointer(dot_git)
    if pointer is None or not pointer.startswith("gitdir: "):
        return None
    return resolved(dot_git.parent / pointer.removeprefix("gitdir: "))


def find_git_dir(root: Path) -> GitDirs:
    """The git directories of the store at ``root``: a work tree or a bare repository.

    Only ``root`` itself is looked at, never its parents.

    Raises:
        NotFound: there is no git repository at ``root``.
    """
    place = resolved(root)
    if place is None:
        raise NotFound(f"{ascii(str(root))[:200]}: no folder can be there", hint="Name another.")
    root = place
    dot_git = root / ".git"
    try:
        private = dot_git.resolve() if dot_git.is_dir() else linked_git_dir(dot_git)
        if private is not None:
            common = common_dir(private)
            if (private / "HEAD").is_file() and _looks_like_git_dir_common(common):
                return GitDirs(private, common, is_bare=False)
        elif looks_like_git_dir(root):
            return GitDirs(root, root, is_bare=True)
    except PermissionError as error:
        raise GitmemError(f"{root}: may not be read ({error.strerror})") from error
    raise NotFound(
        f"{root}: not a git repository", hint="Make a store there with: gitmem init PATH"
    )


def is_own_git_dir(root: Path, dirs: GitDirs) -> bool:
    """Whether ``root``, which is no link, has its git directory inside of it, or that one names it.

    False also for a submodule, whose configuration alone could tell. A ``.git`` that is a file or
    a link, or has a ``commondir``, may name any repository of the person's.
    """
    if dirs.private != dirs.common:
        back = read_pointer(dirs.private / "gitdir")
        is_linked = back is not None and dirs.private.parent == dirs.common / "worktrees"
        return is_linked and resolved((dirs.private / str(back)).parent) == root
    dot_git = root / ".git"
    return dirs.is_bare or not (dot_git.is_symlink() or dot_git.is_file())


def _looks_like_git_dir_common(path: Path) -> bool:
    return (path / "objects").is_dir() and (path / "refs").is_dir()
