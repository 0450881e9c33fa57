"""The memories that these tests begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem import MemoryStore
from tests.memory.words import NOW, opened
from tests.store.stories import _template, copy, proposal, root

__all__ = ["_template", "proposal", "root"]


@pytest.fixture(scope="session")
def _empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("empty") / "memory"
    MemoryStore.init(root, clock=lambda: NOW).close()
    return root


@pytest.fixture
def memory(_empty: Path, tmp_path: Path) -> Iterator[MemoryStore]:
    """An open memory in which nothing is remembered."""
    with opened(copy(_empty, tmp_path / "memory")) as memory:
        yield memory
