"""A store written by a newer gitmem: refused, not half read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem import InvalidInput, MemoryStore

if TYPE_CHECKING:
    from tests.conftest import RunGit


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
