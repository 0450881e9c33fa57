"""A memory that asks scripted models for everything, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.testing import ScriptedModels
from tests.memory.conftest import _empty
from tests.memory.words import opened
from tests.security.acts import ROLES
from tests.store.stories import copy

__all__ = ["_empty"]


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModels]:
    with ScriptedModels() as running:
        for role, model in ROLES.items():
            monkeypatch.setenv(f"GITMEM_{role}_MODEL", model)
            monkeypatch.setenv(f"GITMEM_{role}_BASE_URL", running.url)
        yield running


@pytest.fixture
def memory(_empty: Path, tmp_path: Path) -> Iterator[MemoryStore]:
    """An open memory in which nothing is remembered."""
    with opened(copy(_empty, tmp_path / "memory")) as memory:
        yield memory
