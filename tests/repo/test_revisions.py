"""A revision is what a person may call a commit, and never an option of git."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gitmem.repo import Repo
from gitmem.repo.revisions import find_commit

Commit = Callable[..., str]
Git = Callable[..., str]


def test_a_commit_is_found_by_what_names_it(repo: Repo, commit: Commit, git: Git) -> None:
    first = commit(repo, {"a": b"1"})
    second = commit(repo, {"a": b"2"})
    assert repo.root
    git(repo.root, "tag", "-a", "-m", "x", "标签", first)
    git(repo.root, "tag", "main", first)
    for name in (first, first[:10], first.upper(), "main~1", "main^", "refs/tags/标签", "标签"):
        assert find_commit(repo.runner, name) == first, name
    for name in (second, "main", "main~0", "main^0", "refs/heads/main", "heads/main"):
        assert find_commit(repo.runner, name) == second, name


@pytest.mark.parametrize(
    "name",
    ["", "-", "--help", "--all", "--git-dir", "main~9", "maine", "main:a", "main^{tree}", "^main",
     "main..main", "0" * 40, "没有", "a\0b", "a\nb", "\udcff", "\ud800", "x" * 2000, "*", "@{u}"],
    ids=lambda name: ascii(name)[:20],
)  # fmt: skip
def test_what_names_no_commit_is_none(repo: Repo, commit: Commit, name: str) -> None:
    commit(repo, {"a": b"1"})
    assert find_commit(repo.runner, name) is None
