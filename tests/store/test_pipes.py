"""Somebody put a pipe where gitmem's own files are: nothing waits for a writer that never comes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.domain.layout import CACHE, WORKTREE_NOTE
from gitmem.repo.begun import BEGUN_NOTE
from gitmem.repo.runner import GIT_STAMP
from gitmem.store.newest import NEWEST_FILE
from gitmem.store.root import ROOT_FILE

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs pipes in the file system")

USED = """
import sys
from gitmem import MemoryStore
from gitmem.errors import GitmemError
for act in (
    lambda memory: memory.status(),
    lambda memory: memory.remember(sys.argv[2], person="Ada <ada@example.org>"),
    lambda memory: memory.adopt(person="Ada <ada@example.org>"),
    lambda memory: memory.fsck(),
):
    try:
        with MemoryStore.open(sys.argv[1]) as memory:
            act(memory)
    except GitmemError as error:
        print(error.message)
"""


def used(root: Path) -> str:
    """What a process of its own says to a use of the store; it may not wait."""
    done = subprocess.run(
        [sys.executable, "-c", USED, str(root), "我们在中午吃饭。"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        timeout=60,
        check=True,
    )
    return done.stdout.decode("utf-8")


def test_a_pipe_in_place_of_what_can_be_made_again_is_passed_over(root: Path) -> None:
    private = root / ".git/gitmem"
    for name in (GIT_STAMP, NEWEST_FILE, WORKTREE_NOTE, BEGUN_NOTE, CACHE):
        (private / name).unlink(missing_ok=True)
        os.mkfifo(private / name)
    os.mkfifo(root / "records/user/a-pipe.md")
    (root / "MEMORY.md").unlink()
    os.mkfifo(root / "MEMORY.md")
    assert used(root) == ""


@pytest.mark.parametrize("name", ["lock", "queue", ROOT_FILE])
def test_a_pipe_in_place_of_what_is_needed_is_named(root: Path, name: str) -> None:
    path = root / ".git/gitmem" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    (root / ".git/gitmem" / CACHE).unlink()
    assert f"{path}: is no plain file" in used(root)


def test_a_pipe_in_place_of_a_conversation_is_named(root: Path) -> None:
    session = next((root / ".git/gitmem/sessions").glob("*.jsonl"))
    session.unlink()
    os.mkfifo(session)
    from gitmem.errors import GitmemError
    from gitmem.sessions import SessionFiles

    with pytest.raises(GitmemError, match="is no plain file"):
        SessionFiles(session.parent).load(session.stem)
