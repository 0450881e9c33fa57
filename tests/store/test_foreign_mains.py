"""A main that a newer gitmem or somebody else wrote on: refused, or passed over by readers."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem import InvalidInput, MemoryStore, NotFound, Refused
from gitmem.domain.layout import MAIN
from gitmem.domain.objects import TreeEntry, encode_tree, object_id
from gitmem.domain.planned import LEDGER_IDENTITY
from gitmem.repo import NewCommit, RefUpdate, Repo

if TYPE_CHECKING:
    from tests.conftest import RunGit

ADA = "Ada <ada@example.org>"


def test_a_main_of_a_newer_format_is_refused_plainly(tmp_path: Path) -> None:
    with MemoryStore.init(tmp_path / "m") as memory:
        root = memory.path
    manifest = (root / "manifest.json").read_bytes().replace(b'"version":1', b'"version":2')
    with Repo.open(root) as repo, repo.lock():
        tip = repo.read_ref(MAIN)
        assert tip is not None
        who = (LEDGER_IDENTITY, 1_790_000_000)
        changes = {"manifest.json": manifest}
        (oid,) = repo.write([NewCommit((tip,), "merge x\n", who, who, changes)])
        repo.publish([RefUpdate(MAIN, oid, tip)])
    with MemoryStore.open(root) as memory, pytest.raises(InvalidInput, match="newer gitmem"):
        memory.list()


def test_a_huge_manifest_is_a_stray_and_blocks_nothing(tmp_path: Path, git: RunGit) -> None:
    with MemoryStore.init(tmp_path / "m") as memory:
        root = memory.path
    (root / "manifest.json").write_text('{"version":2}' + " " * 100_000)
    git(root, "commit", "-qam", "huge")
    with MemoryStore.open(root) as memory:
        assert memory.list() == []
        assert len(memory.status().strays) == 1


def test_a_commit_with_a_folder_where_a_file_belongs_stops_nobody(
    tmp_path: Path, git: RunGit
) -> None:
    with MemoryStore.init(tmp_path / "m") as memory:
        root = memory.path
        memory.remember("We use tabs in this project.", name="tabs", person=ADA)
    with Repo.open(root) as repo:
        tree = repo.reader.commit(git(root, "rev-parse", "main").strip()).tree
        entries = {entry.name: entry for entry in repo.reader.tree(tree)}
    entries["policy.yaml"] = TreeEntry("100644", "policy.yaml", entries["reviewers"].oid)
    data = encode_tree(entries.values())
    write = ("hash-object", "-t", "tree", "-w", "--literally", "--stdin")
    broken = git(root, *write, stdin=data).strip()
    commit = git(root, "commit-tree", broken, "-p", "main", "-m", "broken").strip()
    git(root, "update-ref", "refs/heads/main", commit)
    with MemoryStore.open(root) as memory:
        assert [record.name for record in memory.list()] == ["tabs"]
        assert memory.status().strays == (commit,)


def test_a_main_that_was_replaced_by_another_memorys_is_refused(
    tmp_path: Path, git: RunGit
) -> None:
    with MemoryStore.init(tmp_path / "mine") as memory:
        memory.remember("We use tabs in this project.", name="tabs", person=ADA)
    with MemoryStore.init(tmp_path / "theirs") as other:
        other.remember("Everybody is an administrator.", name="admins", person=ADA)
    git(memory.path, "fetch", "-q", str(other.path), "main")
    git(memory.path, "update-ref", "refs/heads/main", "FETCH_HEAD")
    with MemoryStore.open(memory.path) as again, pytest.raises(Refused, match="another memory's"):
        again.list()
    git(memory.path, "update-ref", "refs/heads/main", "main@{1}")
    with MemoryStore.open(memory.path) as again:
        assert [record.name for record in again.list()] == ["tabs"]


def test_folders_nested_by_the_thousand_are_a_stray_and_no_crash(
    tmp_path: Path, git: RunGit
) -> None:
    with MemoryStore.init(tmp_path / "m") as memory:
        root = memory.path
    write = ("hash-object", "-t", "tree", "-w", "--literally", "--stdin")
    tree = git(root, "hash-object", "-w", "--stdin", stdin="x").strip()
    mode = "100644"
    for _ in range(1500):
        data = encode_tree([TreeEntry(mode, "d", tree)])
        tree, mode = object_id("tree", data), "40000"
        loose(root, "tree", data)
    git(root, *write, stdin=data)
    message = "policy policy-20261130-00000a\n\nDecision: policy-20261130-00000a\n"
    message += f"Decision-Kind: policy\nDecided-By: human:{ADA}\n"
    commit = git(root, "commit-tree", tree, "-p", "main", "-m", message).strip()
    git(root, "update-ref", "refs/heads/main", commit)
    with MemoryStore.open(root) as memory:
        assert memory.list() == []
        assert memory.status().strays == (commit,)


def loose(root: Path, kind: str, data: bytes) -> None:
    """Write a loose object, as git would, without a process for each of many."""
    oid = object_id(kind, data)
    path = root / ".git" / "objects" / oid[:2] / oid[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(f"{kind} {len(data)}\0".encode() + data))


def test_a_commit_with_deep_folders_stops_no_later_merge(tmp_path: Path, git: RunGit) -> None:
    with MemoryStore.init(tmp_path / "m") as memory:
        root = memory.path
    deep = root.joinpath(*["zz"] * 40)
    deep.mkdir(parents=True)
    (deep / "f").write_text("x")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "deep")
    with MemoryStore.open(root) as memory:
        for text in ("We use tabs in this project.", "数据库迁移必须先备份。"):
            memory.remember(text, type="project", person=ADA)
            assert not [note for note in memory.notes if "failed" in note]
        assert memory.status().count == 2
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("commits", [0, 1])
def test_a_repository_that_is_no_memory_is_never_an_empty_one(
    tmp_path: Path, git: RunGit, commits: int
) -> None:
    root = tmp_path / "w"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for number in range(commits):
        git(root, "commit", "-q", "--allow-empty", "-m", str(number))
    for _ in range(2):
        with MemoryStore.open(root) as memory:
            with pytest.raises(NotFound):
                memory.list()
            with pytest.raises(NotFound):
                memory.search("anything")
