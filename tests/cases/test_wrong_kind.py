"""A file where a folder belongs, or a folder where a file does, is named; it is never a bug."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.errors import GitmemError
from tests.cases.calls import call, reads, writes
from tests.cases.conftest import Project
from tests.cli.harness import ADA
from tests.store.stories import plain

PRIVATE, SESSIONS = ".git/gitmem", ".git/gitmem/sessions"
FOLDERS = [
    SESSIONS,
    ".git/gitmem/edited",
    ".git/refs/gitmem",
    ".git/refs/gitmem/kept",
    ".git/refs/gitmem/inflight",
    ".git/refs/heads/proposals",
    ".git/logs",
    "records",
    "records/user",
    "evidence",
    "tombstones",
    "reviewers",
]
FILES = [
    ".git/gitmem/lock",
    ".git/gitmem/worktree-at",
    ".git/gitmem/root",
    ".git/gitmem/newest",
    ".git/gitmem/cache.sqlite",
    ".git/HEAD.lock",
    ".git/packed-refs.lock",
    ".git/index",
    "MEMORY.md",
    "manifest.json",
    "policy.yaml",
    "records/user/use-tabs.md",
]
WORDS = "The staging server stands in Dalian. 测试服务器在大连。"
ENDED = (0, 1, 4)


def swap(path: Path) -> Path:
    """Put a file where a folder is, or a folder with something in it where a file is."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
        path.mkdir(parents=True)
        (path / "里面").write_text("x\n")
        return path
    path.write_text("x\n")
    return path


def put(store: Path, place: str) -> Path:
    path = store / place
    if place in FOLDERS and not path.exists():
        path.mkdir(parents=True)
    return swap(path)


@pytest.mark.parametrize("place", [PRIVATE, SESSIONS, ".git/refs/gitmem", ".git/gitmem/newest"])
def test_no_command_takes_it_for_a_bug(project: Project, tmp_path: Path, place: str) -> None:
    path = put(project.store, place)
    for args in [*reads(project.ids), *writes(project.ids, tmp_path / "in")]:
        done = call(project.store, *args)
        assert done.code in ENDED, (args, done)
        if place == PRIVATE and args[:1] != ["completion"] and args != ["hooks", "status"]:
            assert done.code == 1 and str(path) in done.err, (args, done)


@pytest.mark.parametrize("place", [*FOLDERS, *FILES])
def test_fsck_and_status_name_it_and_the_way_out_works_when_pasted(
    project: Project, place: str
) -> None:
    path = put(project.store, place)
    found = call(project.store, "fsck", "--json")
    assert found.code == 1
    (problem,) = [one for one in found.json["problems"] if one["where"] == str(path)]
    assert "belongs there" in problem["what"]
    subprocess.run(problem["fix"].partition(": ")[2], shell=True, check=True)
    if place == ".git/index":
        plain(project.store, "read-tree", "main")
    assert call(project.store, "status").code == 0
    done = call(project.store, "remember", WORDS, "--yes")
    assert done.code == 0, done
    after = call(project.store, "fsck")
    assert after.code == 0, after


@pytest.mark.parametrize("place", [SESSIONS, ".git/gitmem/newest", ".git/refs/gitmem"])
def test_what_does_not_need_it_is_answered(project: Project, place: str) -> None:
    put(project.store, place)
    for args in [["list"], ["show", "use-tabs"], ["search", "tabs"], ["log"], ["proposals"]]:
        assert call(project.store, *args).code == 0, args
    found = call(project.store, "status", "--json")
    assert found.code == 0
    assert str(project.store / place) in [one["path"] for one in found.json["problems"]]
    assert any(step.endswith(" fsck") for step in found.json["next"])


def test_a_write_names_what_stands_in_its_way_and_changes_nothing(project: Project) -> None:
    path = put(project.store, ".git/refs/gitmem")
    before = plain(project.store, "for-each-ref")
    done = call(project.store, "remember", WORDS, "--yes")
    assert done.code == 1
    error, hint = done.err.splitlines()[-2:]
    assert error == f"error: {path}: is a file, and a folder belongs there"
    command = hint.partition("run the command again: ")[2]
    assert shlex.split(command)[:2] == ["mv", str(path)]
    assert plain(project.store, "for-each-ref") == before
    subprocess.run(command, shell=True, check=True)
    assert call(project.store, "remember", WORDS, "--yes").code == 0


def test_a_program_gets_an_error_of_gitmem_too(project: Project, tmp_path: Path) -> None:
    put(project.store, SESSIONS)
    with MemoryStore.open(project.store) as memory, pytest.raises(GitmemError, match="a folder"):
        memory.remember(WORDS, person=ADA)
    os.unlink(project.store / SESSIONS)
    put(project.store, PRIVATE)
    with pytest.raises(GitmemError, match="a folder"), MemoryStore.open(project.store) as memory:
        memory.status()
