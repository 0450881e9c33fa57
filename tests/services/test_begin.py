"""Making a memory, also where an earlier attempt was cut off."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import gitmem
from gitmem import MemoryStore, Refused

if TYPE_CHECKING:
    from tests.conftest import RunGit

SHIM = """#!/bin/sh
case "$*" in *fast-import*) kill -9 $PPID; exit 1;; esac
exec {git} "$@"
"""
INIT = "from gitmem import MemoryStore; MemoryStore.init('m')"


@pytest.mark.skipif(os.name != "posix", reason="needs a shell script in place of git")
def test_an_init_that_was_killed_can_be_run_again(tmp_path: Path) -> None:
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(SHIM.format(git=shutil.which("git")))
    shim.chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{shim.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(gitmem.__file__).parents[1]),
    }
    done = subprocess.run([sys.executable, "-c", INIT], cwd=tmp_path, env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    with MemoryStore.init(tmp_path / "m") as memory:
        assert memory.list() == []
        assert memory.fsck().ok


@pytest.mark.parametrize("lock", ["main.lock", "proposals/some.lock"])
def test_a_lock_of_a_branch_that_was_never_made_stops_no_init(tmp_path: Path, lock: str) -> None:
    """A kill at the last moment leaves one; it is waited for until it is old."""
    left = tmp_path / "m" / ".git" / "refs" / "heads" / lock
    subprocess.run(["git", "init", "-q", tmp_path / "m"], check=True)
    left.parent.mkdir(exist_ok=True)
    left.touch()
    os.utime(left, (1_000_000_000, 1_000_000_000))
    with MemoryStore.init(tmp_path / "m") as memory:
        assert any(lock in note for note in memory.notes)
        assert memory.fsck().ok
    assert not left.exists()


@pytest.mark.parametrize("lock", ["HEAD.lock", "config.lock"])
def test_what_a_killed_git_init_left_stops_no_init(tmp_path: Path, lock: str) -> None:
    left = tmp_path / "m" / ".git" / lock
    subprocess.run(["git", "init", "-q", tmp_path / "m"], check=True)
    left.with_suffix("").unlink()  # it was to take this one's place
    left.touch()
    with MemoryStore.init(tmp_path / "m") as memory:
        assert memory.fsck().ok
    assert not left.exists()


def test_a_repository_with_a_branch_is_not_taken_for_an_unfinished_one(
    tmp_path: Path, git: RunGit
) -> None:
    root = tmp_path / "m"
    root.mkdir()
    git(root, "init", "-q", "-b", "trunk")
    git(root, "commit", "-q", "--allow-empty", "-m", "somebody's")
    with pytest.raises(Refused, match="not empty"):
        MemoryStore.init(root)
    assert git(root, "rev-parse", "--abbrev-ref", "HEAD").strip() == "trunk"


def test_no_memory_is_made_where_no_folder_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Refused, match="cannot be made"):
        MemoryStore.init(tmp_path / "file" / "m")
    with MemoryStore.init(tmp_path / "m") as memory, pytest.raises(Refused, match="git directory"):
        MemoryStore.init(memory.path / ".git" / "x")


def test_a_memory_that_hides_an_outer_one_says_so(tmp_path: Path) -> None:
    MemoryStore.init(tmp_path / ".memory").close()
    (tmp_path / "子目录").mkdir()
    with MemoryStore.init(tmp_path / "子目录" / ".memory") as memory:
        assert any(str(tmp_path / ".memory") in note for note in memory.notes)


def test_an_init_where_a_memory_is_says_so_and_changes_nothing(tmp_path: Path) -> None:
    with MemoryStore.init(tmp_path / "m") as memory:
        memory.remember("提交信息一律用英文写。", person="Ada <ada@example.org>")
    with pytest.raises(Refused, match=r"a memory at .* already"):
        MemoryStore.init(tmp_path / "m")
    with MemoryStore.open(tmp_path / "m") as memory:
        assert len(memory.list()) == 1


def test_a_new_memory_has_the_hooks_of_git_and_pulls_only_forward(
    tmp_path: Path, git: RunGit
) -> None:
    with MemoryStore.init(tmp_path / "我的 记忆") as memory:
        assert memory.notes == []
        assert memory.hooks().complete
    assert git(tmp_path / "我的 记忆", "config", "--local", "pull.ff").strip() == "only"


def test_a_hook_that_a_template_brought_is_kept_and_runs_first(tmp_path: Path, git: RunGit) -> None:
    root = tmp_path / "m"
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    own = root / ".git/hooks/pre-commit"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\n# 模板\n")
    own.chmod(0o700)
    with MemoryStore.init(root) as memory:
        assert memory.hooks().complete
        assert memory.remove_hooks().hooks[-1].state == "foreign"
    assert own.read_text() == "#!/bin/sh\n# 模板\n"
    assert own.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("way", ["core.hooksPath", "symbolic link"])
def test_a_memory_is_made_where_no_hook_can_be_installed(
    tmp_path: Path, git: RunGit, way: str
) -> None:
    root, shared = tmp_path / "m", tmp_path / "共享"
    shared.mkdir()
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    if way == "core.hooksPath":
        git(root, "config", "--global", "core.hooksPath", str(shared))
    else:
        (root / ".git/hooks").symlink_to(shared)
    with MemoryStore.init(root) as memory:
        (note,) = memory.notes
        assert way in note and "gitmem hook" in note
        assert memory.fsck().ok
    assert list(shared.iterdir()) == []
