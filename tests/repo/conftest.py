"""Real repositories, opened as gitmem opens them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from gitmem.domain.objects import ZERO, Identity
from gitmem.repo import NewCommit, RefUpdate, Repo

ADA = (Identity("Ada 王", "ada@example.org"), 1_790_000_000)
MAIN = "refs/heads/main"

Changes = Mapping[str, bytes | str | None]
Commit = Callable[..., str]


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    """An empty store with a work tree."""
    with Repo.init(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def commit() -> Commit:
    """Writes one commit on top of main (or of ``parents``) and, unless told not to, publishes."""

    def run(
        repo: Repo,
        changes: Changes,
        *,
        message: str = "a change\n",
        parents: tuple[str, ...] | None = None,
        publish: bool = True,
    ) -> str:
        old = repo.read_ref(MAIN)
        if parents is None:
            parents = (old,) if old else ()
        with repo.lock():
            (oid,) = repo.write([NewCommit(parents, message, ADA, ADA, changes)])
            if publish:
                repo.publish([RefUpdate(MAIN, oid, old or ZERO)])
        return oid

    return run
