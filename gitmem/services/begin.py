"""init: a new memory, out of nothing but a folder."""

from __future__ import annotations

from pathlib import Path

from gitmem.cache import Projection
from gitmem.documents import policy_file
from gitmem.domain.layout import CACHE, MANIFEST, POLICY, README, REVIEWERS
from gitmem.domain.policy import Policy
from gitmem.errors import GitFailed, Refused
from gitmem.repo import Repo
from gitmem.repo.discovery import resolved
from gitmem.repo.enclosing import hide_from_enclosing
from gitmem.repo.hooks import install
from gitmem.resources import reviewer_definitions
from gitmem.store import Store

_README = b"""# An agent's memory

Kept by gitmem: every change was proposed with evidence, reviewed, and merged.
`git log --first-parent` is the ledger, MEMORY.md what is remembered now, records/ the facts.
Do not edit here by hand: a change that nobody reviewed is no memory.
"""


def first_files() -> dict[str, bytes]:
    """Return what the first commit of a memory holds: README, policy, the shipped reviewers."""
    files = {README: _README, POLICY: policy_file(Policy())}
    files.update({f"{REVIEWERS}/{name}": data for name, data in reviewer_definitions().items()})
    return files


def begin(path: Path, store_id: str, now: int) -> Store:
    """Make a memory at ``path`` and open it.

    A repository around it is told, in its local exclude file, to leave the folder alone; where
    that does not do, a note says what would. The hooks of git are installed.

    Raises:
        Refused: something that is no empty folder and no memory lies there.
    """
    if resolved(path) is None:
        raise Refused(f"no folder can be at {ascii(str(path))[:200]}", hint="Name another one.")
    if path.is_symlink() and not path.exists():
        raise Refused(f"{path} is a link to nowhere", hint="Remove it, or name another folder.")
    if path.exists() and not path.is_dir():
        raise Refused(f"{path} is a file", hint="Name a folder that is empty or not there yet.")
    if (path / ".git").exists() and (path / MANIFEST).exists():
        raise Refused(
            f"there is a memory at {path} already",
            hint="Run `gitmem status` to see it, or name another folder.",
        )
    if path.is_dir() and any(path.iterdir()) and not _is_unborn(path):
        raise Refused(
            f"{path} is not empty",
            hint="Name a folder that is empty or not there yet, for example `.memory`.",
        )
    repo = Repo.init(path)
    store = Store(repo, Projection.open(repo.private / CACHE))
    store.begin(store_id, first_files(), now)
    store.notes += _install_hooks(repo)
    above = next((p for p in path.resolve().parent.parents if (p / ".memory/.git").exists()), None)
    if above is not None and path.name == ".memory":
        store.notes.append(f"from here on this memory is found instead of {above / '.memory'}")
    hidden = hide_from_enclosing(path)
    if hidden:
        store.notes.append(hidden)
    return store


def _install_hooks(repo: Repo) -> list[str]:
    """Install the hooks of git; where that cannot be, the memory is made all the same."""
    try:
        with repo.lock():
            return install(repo.git_dir)[1]
    except (Refused, GitFailed) as error:
        return [f"no hooks were installed: {error}"]


def _is_unborn(path: Path) -> bool:
    """Whether only an empty repository lies there: an init that was cut off, for example."""
    if [entry.name for entry in path.iterdir()] != [".git"]:
        return False
    git = path / ".git"
    names = (git / "refs" / "heads").glob("**/*")
    # The lock of a branch that was never made is no branch.
    is_named = any(path.suffix != ".lock" and not path.is_dir() for path in names)
    return not (git / "packed-refs").exists() and not is_named
