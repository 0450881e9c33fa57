"""What a person can do about objects that are missing or damaged here."""

from __future__ import annotations

from gitmem.repo import Repo


def restoring(repo: Repo) -> str:
    """Return the sentence that goes with such an error; nothing on this machine can make them."""
    return (
        "Bring it back from another copy of this memory (a clone, a backup): "
        f"git -C {repo.shell_word} fetch --refetch COPY main. "
        "Where git calls a file damaged, move that file away first."
    )
