"""A main that a newer gitmem or somebody else wrote on: refused, or passed over by readers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem import InvalidInput, MemoryStore
from gitmem.domain.objects import TreeEntry, encode_tree
from gitmem.repo import Repo

if TYPE_CHECKING:
    from tests.conftest import RunGit

ADA = "Ada <ada@example.org>"


def test_a_main_of_a_newer_format_is_refused_plainly(tmp_path: Path, git: RunGit) -> None:
    with MemoryStore.init(tmp_path / "m") as memory:
        root = memory.path
    manifest = (root / "manifest.json").read_text().replace('"version":1', '"version":2')
    (root / "manifest.json").write_text(manifest)
    git(root, "commit", "-qam", "from the future")
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
