"""Tests run on nobody's machine: what ``conftest.py`` promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import RunGit

ROOT = Path(__file__).parents[2]


def test_a_test_starts_in_its_own_empty_folder(tmp_path: Path) -> None:
    assert Path.cwd() == tmp_path
    assert list(tmp_path.iterdir()) == []
    assert list(Path.home().iterdir()) == []


def test_nothing_of_the_caller_reaches_git(tmp_path: Path, git: RunGit) -> None:
    settings = git(tmp_path, "config", "--list", "--show-origin")
    assert settings == ""
    assert [name for name in os.environ if name.startswith("GITMEM_")] == []
    git(tmp_path, "init", "-q")
    assert [path.name for path in (tmp_path / ".git").glob("hooks/*")] == []


def test_the_git_fixture_has_an_identity_and_the_machine_has_none(
    tmp_path: Path, git: RunGit
) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "记住")
    assert git(tmp_path, "log", "--format=%an <%ae> %s") == "Ada <ada@example.org> 记住\n"
    named = subprocess.run(["git", "config", "user.name"], check=False, capture_output=True)
    assert named.returncode == 1


def test_a_failing_git_fails_the_test(tmp_path: Path, git: RunGit) -> None:
    with pytest.raises(pytest.fail.Exception, match="ended with 128"):
        git(tmp_path, "log")


@pytest.mark.parametrize(
    "attempt",
    [
        "open(store / 'HEAD')",
        "store.mkdir()",
        "os.listdir(store)",
        "sqlite3.connect(store / 'cache.sqlite')",
    ],
)
def test_a_store_outside_the_test_cannot_be_touched(attempt: str, tmp_path: Path) -> None:
    # In a session of its own, whose folders are elsewhere: there, this folder is foreign.
    inner = tmp_path / "test_inner.py"
    inner.write_text(
        "import os, sqlite3\nfrom pathlib import Path\n"
        f"store = Path({str(tmp_path)!r}) / '.memory'\n"
        f"def test_inner():\n    {attempt}\n"
    )
    (tmp_path / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, "--basetemp", str(tmp_path / "elsewhere"), str(inner)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode != 0
    assert "StoreOutsideTheTest" in done.stdout
    assert not (tmp_path / ".memory").exists()
