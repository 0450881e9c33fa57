"""hooks install, remove, status."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem import MemoryStore

if TYPE_CHECKING:
    from tests.cli.harness import RunCommand
    from tests.conftest import RunGit

pytestmark = pytest.mark.skipif(os.name != "posix", reason="hooks are shell scripts")

EVENTS = ["post-checkout", "post-commit", "post-merge", "post-rewrite", "pre-commit"]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A memory where it is found without being named."""
    MemoryStore.init(tmp_path / ".memory").close()
    return tmp_path / ".memory"


def test_hooks_are_shown_removed_and_installed_again(gitmem: RunCommand, store: Path) -> None:
    lines = gitmem("hooks", "status").out.splitlines()
    assert [line.split("\t")[:2] for line in lines] == [[event, "installed"] for event in EVENTS]
    report = gitmem("hooks", "remove", "git", "--json").json
    assert {hook["state"] for hook in report["hooks"]} == {"absent"}
    assert not report["complete"]
    assert list((store / ".git/hooks").iterdir()) == []
    own = store / ".git/hooks/pre-commit"
    own.write_text("#!/bin/sh\n# 我的\n")
    own.chmod(0o755)
    lines = gitmem("hooks", "install", "git").out.splitlines()
    assert [line.split("\t")[0] for line in lines] == EVENTS
    assert lines[-1] == "pre-commit\tinstalled\tyour own hook runs first"
    report = gitmem("hooks", "status", "--json").json
    assert report["complete"] and report["target"] == "git" and report["elsewhere"] is None
    assert report["hooks"][-1] == {"event": "pre-commit", "state": "installed", "own": True}
    gitmem("hooks", "remove", "git")
    assert own.read_text() == "#!/bin/sh\n# 我的\n"


def test_what_cannot_be_removed_ends_with_a_reason(gitmem: RunCommand, store: Path) -> None:
    with (store / ".git/hooks/post-merge").open("a") as file:
        file.write("echo 我的\n")
    done = gitmem("hooks", "remove", "git", code=1)
    assert "post-merge\tinstalled, and edited by hand since" in done.out
    assert "edited by hand" in done.err and "rm " in done.err


def test_another_folder_of_hooks_is_named_with_what_to_do(
    gitmem: RunCommand, store: Path, git: RunGit, tmp_path: Path
) -> None:
    git(store, "config", "core.hooksPath", str(tmp_path / "共享"))
    error = gitmem("hooks", "install", "git", "--json", code=1).error
    assert "core.hooksPath" in error["message"] and "共享" in error["message"]
    assert 'gitmem hook "${0##*/}" "$@"' in error["hint"]
    assert "共享" in gitmem("hooks", "status").err
    assert not gitmem("hooks", "status", "--json").json["complete"]
    assert not (tmp_path / "共享").exists()


def test_hooks_are_not_installed_where_there_is_no_memory(
    gitmem: RunCommand, git: RunGit, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "plain")
    done = gitmem("--store", "plain", "hooks", "install", "git", code=1)
    assert "no memory" in done.err
    assert not (tmp_path / "plain/.git/hooks").exists()


def test_an_unknown_target_is_a_wrong_call(gitmem: RunCommand, store: Path) -> None:
    done = gitmem("hooks", "install", "svn", code=2)
    assert "svn" in done.err and "git" in done.err
