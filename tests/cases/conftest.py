"""A project with a prepared memory in it, and the real command."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cases.calls import Ids, build
from tests.cli.conftest import gitmem, terminal
from tests.cli.harness import ADA
from tests.store.stories import copy, plain

__all__ = ["gitmem", "terminal"]


class Project(NamedTuple):
    """A person's repository, the memory in it, and the ids of what waits there."""

    root: Path
    store: Path
    ids: Ids


@pytest.fixture(scope="session")
def _project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ids]:
    root = tmp_path_factory.mktemp("prepared") / "project"
    return root, build(root)


@pytest.fixture
def project(_project: tuple[Path, Ids], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A copy of the prepared project of one's own, and Ada who works in it."""
    monkeypatch.setenv("GITMEM_USER", ADA)
    root = copy(_project[0], tmp_path / "project")
    plain(root / ".memory", "update-index", "-q", "--refresh")
    return Project(root, root / ".memory", _project[1])
