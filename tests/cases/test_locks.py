"""Locks that a dead program left, locks that a living one holds, and many who want the same."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitmem.errors import Busy
from gitmem.repo import Repo
from tests.cases.calls import call, reads
from tests.cases.conftest import Project
from tests.cli.harness import ADA, ROOT
from tests.memory.words import change_set, item, user
from tests.repo.test_writing import hold
from tests.store.stories import opened, plain, rev

REFS = ["HEAD.lock", "refs/heads/main.lock", "packed-refs.lock", "packed-refs.new"]
BRANCHES = ["refs/heads/proposals/{id}.lock", "refs/gitmem/kept/x.lock", "refs/tags/v1.lock"]
NOT_OURS = ["index.lock", "config.lock", "gitmem/lock"]


def put(git_dir: Path, name: str, age: float) -> Path:
    path = git_dir / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time.time() - age,) * 2)
    return path


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_locks_of_refs_that_a_dead_program_left_are_cleared_and_named(
    project: Project, packed: bool
) -> None:
    store, ids = project.store, project.ids
    if packed:
        plain(store, "pack-refs", "--all")
    left = [name.format(id=ids.open) for name in REFS + BRANCHES]
    paths = [put(store / ".git", name, age=3600) for name in left]
    done = call(store, "approve", ids.open, "--yes")
    assert done.code == 0, done
    assert [path for path in paths if path.exists()] == []
    assert [name for name in left if f"Removed the lock file {name}," not in done.err] == []
    assert "db-choice" in call(store, "list").out
    assert call(store, "reject", ids.refusable, "--reason=no", "--yes").err == ""
    assert call(store, "fsck").code == 0


@pytest.mark.parametrize("name", NOT_OURS)
def test_a_lock_of_something_else_stops_no_merge_and_stays(project: Project, name: str) -> None:
    """However old: it is not gitmem's to judge whose index or settings are being written."""
    lock = put(project.store / ".git", name, age=3600)
    done = call(project.store, "approve", project.ids.open, "--yes")
    assert done.code == 0, done
    assert lock.exists()
    assert ("index.lock" in done.err) == (name == "index.lock"), done
    assert "db-choice" in call(project.store, "list").out
    if name == "index.lock":
        assert call(project.store, "status").code == 0
        lock.unlink()
        assert call(project.store, "fsck", "--repair").code == 0
    assert plain(project.store, "status", "--porcelain") == ""


def test_a_program_that_died_a_moment_ago_holds_nobody_up_for_long(project: Project) -> None:
    """Its lock becomes old while the command waits, and is cleared then."""
    lock = put(project.store / ".git", "HEAD.lock", age=9.5)
    done = call(project.store, "approve", project.ids.open, "--yes")
    assert (done.code, lock.exists()) == (0, False), done
    assert "Removed the lock file HEAD.lock," in done.err
    assert "db-choice" in call(project.store, "list").out


@pytest.mark.parametrize("name", REFS[:2])
def test_a_lock_that_a_living_program_holds_is_waited_for(project: Project, name: str) -> None:
    attempts: list[object] = []
    with (
        hold(project.store / ".git" / name) as holder,
        opened(project.store) as memory,
    ):
        assert holder.stdin and holder.stdout

        def release(args: Sequence[str]) -> None:
            if "update-ref" not in args:
                return
            attempts.append(args)
            if len(attempts) == 2:
                holder.stdin.close()
                assert holder.stdout.readline() == "free\n", "nobody else took the lock away"

        memory._opened().repo.runner.trace = release
        memory.approve(project.ids.open, person=ADA)
    assert len(attempts) >= 2
    assert "db-choice" in call(project.store, "list").out
    assert call(project.store, "fsck").code == 0


def test_packed_refs_that_a_living_program_writes_hold_up_no_merge(project: Project) -> None:
    """The merge is made; the branch of the proposal goes with the next command."""
    store, ids = project.store, project.ids
    plain(store, "pack-refs", "--all")
    with hold(store / ".git/packed-refs.lock") as holder:
        assert call(store, "approve", ids.open, "--yes").code == 0
        assert (store / ".git/packed-refs.lock").exists()
        assert "db-choice" in call(store, "list").out
        assert holder.stdin
        holder.stdin.close()
    assert call(store, "reject", ids.refusable, "--reason=no", "--yes").code == 0
    assert ids.open not in plain(store, "branch", "--list")
    assert call(store, "fsck").code == 0


@contextmanager
def another_writer(store: Path) -> Iterator[None]:
    code = (
        "import sys; from pathlib import Path; from gitmem.repo import Repo\n"
        "with Repo.open(Path(sys.argv[1])) as repo, repo.lock():\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(store)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout and process.stdout.readline() == "held\n"
        yield
        process.stdin.close()


def test_while_another_command_writes_every_read_answers(project: Project) -> None:
    store = project.store
    with another_writer(store):
        for args in reads(project.ids):
            done = call(store, *args)
            assert done.code == 0, (args, done)
        with (
            Repo.open(store) as repo,
            pytest.raises(Busy, match="another gitmem process held"),
            repo.lock(timeout=0),
        ):
            pytest.fail("two writers at once")


# --- many at once ------------------------------------------------------------------------------

MERGE = """
import sys
from gitmem import MemoryStore
from gitmem.errors import Waiting
with MemoryStore.open(sys.argv[1]) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    for proposal in sys.argv[2:]:
        try:
            memory.approve(proposal, person="Ada <ada@example.org>")
            print("merged", flush=True)
        except Waiting:
            print("stale", flush=True)
"""


def test_many_proposals_on_one_base_are_merged_by_eight_processes_at_once(project: Project) -> None:
    """Each is in, or told to be stale where another was faster about the same record."""
    store = project.store
    with opened(store) as memory:
        proposals = []
        for number in range(24):
            text = f"Fact {number}: the 第{number}号 service listens on port {8100 + number}."
            name = f"fact-{number}" if number % 5 else "use-tabs"
            made = memory.propose(change_set([user(text)], item(text, name=name, body=text)))
            assert made.proposal, made
            proposals.append(made.proposal)
    start = rev(store, "main")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MERGE, str(store), *proposals[first::8]],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for first in range(8)
    ]
    for process in processes:
        assert process.stdout and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [line for process in processes for line in process.communicate()[0].split()]
    assert (said.count("merged"), said.count("stale")) == (20, 4)
    assert len(plain(store, "rev-list", "--first-parent", f"{start}..main").split()) == 20
    listed = {record["name"] for record in call(store, "list", "--json").json}
    assert listed == {f"fact-{n}" for n in range(24) if n % 5} | {"use-tabs", "brief", "old-port"}
    assert plain(store, "status", "--porcelain") == ""
    assert (store / "MEMORY.md").read_text() == plain(store, "show", "main:MEMORY.md") + "\n"
    assert call(store, "fsck").code == 0
    plain(store, "fsck", "--strict")
