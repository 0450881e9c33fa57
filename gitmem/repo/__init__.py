"""The only code that runs git: everything else asks here.

Names are loaded on first use, so that ``gitmem.repo.refs`` and ``gitmem.repo.discovery``,
which the read path needs, stay free of GitPython and filelock.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gitmem.repo.publish import RefUpdate
    from gitmem.repo.reader import Found, Oversize, Reader
    from gitmem.repo.repository import Repo
    from gitmem.repo.trees import PathChange, diff_trees
    from gitmem.repo.worktree import bring_along, finish_worktree, note_worktree
    from gitmem.repo.writer import NewCommit

_HOMES = {
    "Found": "reader",
    "NewCommit": "writer",
    "Oversize": "reader",
    "PathChange": "trees",
    "Reader": "reader",
    "RefUpdate": "publish",
    "Repo": "repository",
    "bring_along": "worktree",
    "diff_trees": "trees",
    "finish_worktree": "worktree",
    "note_worktree": "worktree",
}

__all__ = [
    "Found",
    "NewCommit",
    "Oversize",
    "PathChange",
    "Reader",
    "RefUpdate",
    "Repo",
    "bring_along",
    "diff_trees",
    "finish_worktree",
    "note_worktree",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
