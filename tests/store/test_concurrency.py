"""Several writers, and writers that die: the old memory or the new one, whole."""

from __future__ import annotations

import multiprocessing
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.cache import Projection
from gitmem.domain.layout import CACHE
from gitmem.domain.review import Review
from gitmem.errors import Busy, NotFound, Refused
from gitmem.repo import Repo
from gitmem.store import Store
from tests.store.stories import (
    ADA,
    MAIN,
    clock,
    commit_text,
    files,
    fsck,
    names,
    opened,
    plain,
    propose,
    rev,
)

ROOT = Path(__file__).parents[2]
APPROVE = """
import sys
from gitmem import MemoryStore
with MemoryStore.open(sys.argv[1]) as memory:
    sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
    memory.approve(sys.argv[2], person="Ada <ada@example.org>")
"""


def test_processes_that_merge_at_once_lose_nothing(root: Path, proposal: str) -> None:
    ids = [proposal, *(propose(root, f"fact-{n}", f"Fact {n} 号 about the build.") for n in "123")]
    start = rev(root, MAIN)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", APPROVE, str(root), name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in ids
    ]
    for child in children:
        assert child.stdout and child.stdout.readline() == b"ready\n"
    for child in children:
        assert child.stdin
        child.stdin.write(b"go\n")
        child.stdin.flush()
    for child in children:
        _, error = child.communicate(timeout=60)
        assert child.returncode == 0, error.decode()
    chain = plain(root, "rev-list", "--first-parent", f"{start}..main").split()
    assert len(chain) == len(ids)
    assert {commit_text(root, oid).split("\n\n")[1].split()[1] for oid in chain} == {
        f"{name}:" for name in ids
    }
    assert sorted(names(root)) == ["db-postgres", "fact-1", "fact-2", "fact-3", "use-tabs"]
    assert fsck(root) == []
    assert plain(root, "status", "--porcelain") == ""
    assert plain(root, "for-each-ref", "--format=%(refname)") == MAIN


def test_the_same_proposal_approved_by_two_at_once_is_merged_once(
    root: Path, proposal: str
) -> None:
    start = rev(root, MAIN)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", APPROVE, str(root), proposal],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for child in children:
        assert child.stdout and child.stdout.readline() == b"ready\n"
    for child in children:
        child.communicate(b"go\n", timeout=60)
    assert 0 in {child.returncode for child in children}
    assert len(plain(root, "rev-list", "--first-parent", f"{start}..main").split()) == 1
    assert fsck(root) == []


class Meanwhile:
    """Does something at the moment when gitmem is about to run a git command."""

    def __init__(self, root: Path, command: str) -> None:
        self.root = root
        self.command = command
        self.done = False

    def __call__(self, args: Sequence[str]) -> None:
        if self.command in args and not self.done:
            self.done = True
            plain(self.root, "commit", "-q", "--allow-empty", "-m", "meanwhile, by hand")


@pytest.mark.parametrize("command", ["fast-import", "update-ref"])
def test_when_main_moves_between_planning_and_publishing_nothing_is_half_done(
    root: Path, proposal: str, command: str
) -> None:
    with opened(root) as memory:  # an approval is there, the merge is not
        change = memory.diff(proposal).change
    person = Store.open(root)
    approval = Review(f"human:{ADA}", "person", "approve", change, None, (), int(clock()))
    person.add_review(proposal, rev(root, f"proposals/{proposal}"), approval)
    person.close()

    meanwhile = Meanwhile(root, command)
    repo = Repo.open(root, trace=meanwhile)
    store = Store(repo, Projection.open(repo.private / CACHE))
    try:
        with pytest.raises(Busy) as caught:
            store.merge(proposal)
        assert meanwhile.done
        assert "try again" in caught.value.hint
        by_hand = rev(root, MAIN)
        assert commit_text(root, by_hand).endswith("meanwhile, by hand\n")
        assert names(root) == ["use-tabs"]
        assert store.open_proposals() == {proposal: rev(root, f"proposals/{proposal}")}
        merge = store.merge(proposal)
    finally:
        store.close()
    assert rev(root, f"{merge}^1") == by_hand
    assert names(root) == ["use-tabs", "db-postgres"]
    assert plain(root, "status", "--porcelain") == ""
    assert plain(root, "for-each-ref", "refs/gitmem/inflight") == ""


def remember_for_ever(root: Path, start: int) -> None:
    with MemoryStore.open(root, clock=clock) as memory:
        for n in range(start, start + 1000):
            memory.remember(f"Fact 第 {n} of many.", name=f"many-{n}", type="project", person=ADA)


def test_a_merging_process_may_be_killed_at_any_point(root: Path) -> None:
    fork = multiprocessing.get_context("fork")
    luck = random.Random(20261130)
    moved = 0
    for turn in range(10):
        tip = rev(root, MAIN)
        child = fork.Process(target=remember_for_ever, args=(root, turn * 1000))
        child.start()
        child.join(luck.uniform(0.05, 0.6))
        assert child.is_alive()
        child.kill()
        child.join()
        moved += rev(root, MAIN) != tip
        assert plain(root, "merge-base", tip, "main") == tip
        stored = {Path(p).stem for p in files(root, "main") if p.startswith("records/")}
        assert stored == set(names(root))
        assert fsck(root) == []
    assert moved, "some merges were complete"
    with opened(root) as memory:
        mine = [line for line in memory.proposals() if line.kind == "remember"]
        assert {line.state for line in mine} <= {"open"}, "approved, and cut off before the merge"
        memory.remember("And now it goes on.", name="on", type="project", person=ADA)
    assert "on" in names(root)
    assert plain(root, "status", "--porcelain") == ""
    assert plain(root, "for-each-ref", "refs/gitmem/inflight") == ""
    plain(root, "fsck", "--full", "--strict")


def test_a_reader_keeps_its_state_while_another_process_merges(root: Path, proposal: str) -> None:
    reader = Projection.read(root / ".git/gitmem" / CACHE)
    assert reader
    with reader.reading():
        before = reader.records()
        done = subprocess.run(
            [sys.executable, "-c", APPROVE, str(root), proposal],
            cwd=ROOT,
            input=b"go\n",
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        assert reader.records() == before
        assert reader.record("db-postgres") is None
        assert reader.meta("tip") == rev(root, "main^1")
    assert [row.name for row in reader.records()] == ["use-tabs", "db-postgres"]
    reader.close()


def test_an_open_memory_sees_what_another_process_merged_and_rejected(
    root: Path, proposal: str
) -> None:
    second = propose(root, "deploy", "We deploy on Fridays, 星期五。")
    with opened(root) as here, opened(root) as there:
        assert len(here.proposals()) == 2
        there.approve(proposal, person=ADA)
        assert [line.name for line in here.list()] == ["use-tabs", "db-postgres"]
        with pytest.raises(NotFound, match="was merged"):
            here.approve(proposal, person=ADA)
        there.reject(second, reason="no", person=ADA)
        with pytest.raises(NotFound, match="was rejected"):
            here.approve(second, person=ADA)
        assert here.proposals() == []


def test_an_approval_of_what_one_saw_fails_when_it_became_something_else(
    root: Path, proposal: str
) -> None:
    with opened(root) as memory:
        seen = memory.diff(proposal).change
        with pytest.raises(Refused, match="changed while you were reading"):
            memory.approve(proposal, person=ADA, expected_change=seen[::-1])
        assert [line.name for line in memory.list()] == ["use-tabs"]
        memory.approve(proposal, person=ADA, expected_change=seen)
