"""Differences as people read them, through GitPython.

For commands that a person waits for, not for the paths that every turn takes: importing
GitPython alone costs a tenth of a second. Each call is a process of its own, so nothing of
GitPython's lives on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gitmem.domain.objects import is_oid
from gitmem.errors import GitFailed, InvalidInput
from gitmem.repo.environment import local_environment
from gitmem.repo.refs import check_ref
from gitmem.repo.runner import DEFAULT_TIMEOUT, failed, finish

if TYPE_CHECKING:
    from gitmem.repo.repository import Repo

MAX_TEXT = 16 * 1024 * 1024
"""Bytes of a difference; more is refused rather than cut."""

# No program of the store's configuration renders anything, and its settings and attributes hide
# nothing.
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all", "--text")
_SETTINGS = ("-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false")

_environment_lock = threading.Lock()


def diff_text(repo: Repo, old: str, new: str, paths: Sequence[str] = ()) -> str:
    """The unified difference between two commits or trees.

    Raises:
        InvalidInput: ``old`` or ``new`` is neither an id nor a full ref name.
        GitFailed: git failed, or the text is over :data:`MAX_TEXT`.
    """
    revs = [_rev(old), _rev(new)]
    args = ["diff-tree", "-r", "--patch", "--no-renames", *_PLAIN]
    return _execute(repo, [*args, "--end-of-options", *revs, "--", *paths])


def _rev(rev: str) -> str:
    if is_oid(rev):
        return rev
    if rev.startswith("-"):
        raise InvalidInput(f"{rev[:80]!r} cannot name a revision", where="revision")
    return check_ref(rev)


@contextmanager
def _without_git_variables() -> Iterator[None]:
    """Take every ``GIT_*`` out of this process's environment for a moment.

    GitPython copies the environment and cannot unset a variable, so there is no other way to
    keep one away from it. Its own ``GIT_PYTHON_*`` settings go too.
    """
    with _environment_lock:
        taken = {name: os.environ.pop(name) for name in list(os.environ) if name[:4] == "GIT_"}
        try:
            yield
        finally:
            os.environ.update(taken)


def _execute(repo: Repo, args: Sequence[str]) -> str:
    command = repo.runner.command([*args], None, None)
    command[1:1] = _SETTINGS
    with _without_git_variables():
        import git

        running = git.Git(str(repo.git_dir)).execute(
            command,
            as_process=True,
            env=local_environment(),
            start_new_session=os.name == "posix",
        )
    process = running.proc
    if process is None:
        raise GitFailed(f"git {args[0]} could not be started")
    result = finish(process, args[0], None, DEFAULT_TIMEOUT, MAX_TEXT)
    if result.code != 0:
        raise failed(args[0], result, repo.git_dir)
    return result.out.decode("utf-8", "replace")
