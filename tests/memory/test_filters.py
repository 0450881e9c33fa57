"""Filters that a store's own configuration names, over an index whose times say nothing.

git compares a file with its index by content where both were changed in the same instant, and
runs the store's filter for it. Nothing that gitmem does may set that off.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import gitmem
from gitmem import MemoryStore, hook
from gitmem.repo import Repo
from gitmem.repo.index import index_tree
from gitmem.repo.worktree import work_trees
from tests.store.stories import ADA, MAIN, QUOTE, names, opened, plain, rev

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the filter is a shell's")

SAVED = 1_790_000_000
UNTOUCHED = "README.md"


@pytest.fixture
def marker(root: Path, tmp_path: Path) -> Path:
    """What the filter leaves behind; every file of the store is as young as its index."""
    marker = tmp_path / "it ran"
    for key, value in {
        "filter.x.clean": f"touch '{marker}'; cat",
        "core.checkStat": "minimal",
        "core.trustctime": "false",
    }.items():
        plain(root, "config", key, value)
    for path in root.rglob("*"):
        if path.is_file() and ".git" not in path.relative_to(root).parts:
            os.utime(path, (SAVED, SAVED))
    plain(root, "update-index", "-q", "--really-refresh")
    os.utime(root / ".git/index", (SAVED, SAVED))
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/attributes").write_text("* filter=x\n")
    return marker


def in_memory(call: Callable[[MemoryStore], object]) -> Callable[[Path], object]:
    def run(root: Path) -> object:
        with opened(root) as memory:
            return call(memory)

    return run


def hooks(_: Path) -> None:
    for event in hook.EVENTS:
        assert hook.main([event, "a", "b", "1"]) == 0


def cut_off(root: Path) -> None:
    """A move of main whose process died before the index: a commit brings that along first."""
    old = rev(root, MAIN)
    (root / ".git/gitmem/worktree-at").write_text(f'{{".": "{old}"}}')
    tree = plain(root, "mktree", stdin=plain(root, "ls-tree", MAIN) + "\n" + _a_file(root))
    new = plain(root, "commit-tree", "-m", "a file more", "-p", old, tree)
    plain(root, "update-ref", MAIN, new)
    hook.main(["pre-commit"])
    assert (root / "added.txt").read_text() == "new\n"


def _a_file(root: Path) -> str:
    oid = plain(root, "hash-object", "-w", "--no-filters", "--stdin", stdin="new\n")
    return f"100644 blob {oid}\tadded.txt\n"


OPERATIONS: dict[str, Callable[[Path], object]] = {
    "status": in_memory(lambda memory: memory.status()),
    "list": in_memory(lambda memory: memory.list()),
    "adopt": in_memory(lambda memory: memory.adopt(person=ADA)),
    "fsck": in_memory(lambda memory: memory.fsck()),
    "fsck --repair": in_memory(lambda memory: memory.fsck(repair=True)),
    "approve": in_memory(lambda memory: memory.approve(memory.proposals()[0].id, person=ADA)),
    "hooks": hooks,
    "a merge that was cut off": cut_off,
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_nothing_that_gitmem_does_runs_a_filter_and_git_still_looks_at_each_file(
    root: Path, marker: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    OPERATIONS[name](root)
    assert not marker.exists()
    plain(root, "status", "--porcelain", "--", UNTOUCHED)
    assert marker.exists(), "the filter is there to be run, and the file as suspect as before"


def test_an_edit_in_the_instant_of_the_index_is_still_seen_by_git_after_a_merge(
    root: Path, marker: Path, proposal: str
) -> None:
    mine = (root / UNTOUCHED).read_text().swapcase()
    (root / UNTOUCHED).write_text(mine)
    os.utime(root / UNTOUCHED, (SAVED, SAVED))
    with opened(root) as memory:
        memory.approve(proposal, person=ADA)
    assert not marker.exists()
    assert plain(root, "status", "--porcelain") == f"M {UNTOUCHED}"
    assert (root / UNTOUCHED).read_text() == mine


def test_the_tree_of_an_index_is_written_without_a_look_at_files(root: Path, marker: Path) -> None:
    """Also where the configuration says where the files are, and the index knows no tree yet."""
    plain(root, "config", "core.worktree", str(root))
    (root / ".git/info/attributes").rename(root / ".git/info/away")
    plain(root, "rm", "-q", "--cached", "MEMORY.md")
    os.utime(root / ".git/index", (SAVED, SAVED))
    (root / ".git/info/away").rename(root / ".git/info/attributes")
    with Repo.open(root) as repo, repo.lock():
        (tree,) = work_trees(repo)
        written = index_tree(repo.runner, tree)
    assert not marker.exists()
    assert written
    assert plain(root, "diff-tree", "-r", "--name-only", MAIN, written) == "MEMORY.md"
    plain(root, "status", "--porcelain", "--", UNTOUCHED)
    assert marker.exists()


def test_what_stands_in_the_way_of_an_empty_folder_is_never_used_as_one(
    root: Path, marker: Path, proposal: str
) -> None:
    planted = root / ".git/gitmem/no-files" / UNTOUCHED
    planted.parent.mkdir()
    planted.write_bytes((root / UNTOUCHED).read_bytes())
    os.utime(planted, (SAVED, SAVED))
    with opened(root) as memory:
        memory.approve(proposal, person=ADA)
        assert any("done next time" in note for note in memory.notes)
    assert not marker.exists()
    assert names(root) == ["use-tabs", "db-postgres"]
    planted.unlink()  # what a process leaves that was killed
    with opened(root) as memory:
        memory.status()
    assert not marker.exists()
    assert not planted.parent.exists()
    assert QUOTE in (root / "records/project/db-postgres.md").read_text(encoding="utf-8")
    (root / ".git/info/attributes").unlink()
    assert plain(root, "status", "--porcelain") == ""


def test_one_module_alone_shows_git_a_persons_files() -> None:
    code = Path(gitmem.__file__).parent
    found = {
        path.relative_to(code).as_posix()
        for path in code.rglob("*.py")
        if "work_tree=" in path.read_text(encoding="utf-8")
    }
    assert found == {"repo/index.py"}
