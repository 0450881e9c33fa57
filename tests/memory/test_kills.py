"""What takes two commits on main, killed at every git command that writes, is done or goes on.

Operations of one commit are killed at every effect on disk: see tests/faults.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.cache import Projection
from gitmem.domain.layout import CACHE
from gitmem.repo import Repo
from gitmem.store import Store
from tests.memory.words import ADA, BEN, NOW, change_set, item, opened, user
from tests.store.stories import copy, plain

CLOUD, TABS = "用户服务器部署在腾讯云国内节点。", "Always use tabs in this project."
WRITES = {"fast-import", "update-ref", "update-index", "read-tree"}


class KillAt:
    """Kills its own process at the n-th git command that writes."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self, args: Sequence[str]) -> None:
        if WRITES & set(args):
            self.left -= 1
            if self.left < 0:
                os.kill(os.getpid(), signal.SIGKILL)


def two(memory: MemoryStore) -> str:
    texts = {"use-tabs": TABS, "cloud": CLOUD}
    records = [
        item(text, n, type="feedback", name=name, description=text[:50], body=text)
        for n, (name, text) in enumerate(texts.items())
    ]
    result = memory.propose(change_set([user(text) for text in texts.values()], *records))
    assert result.proposal
    return result.proposal


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """One fact, and one open proposal that is older than it."""
    root = tmp_path_factory.mktemp("start") / "memory"
    with MemoryStore.init(root, clock=lambda: NOW) as memory:
        proposal = two(memory)
        memory.remember("说中文。", name="language", type="user", person=BEN)
    return root, proposal


def killed(root: Path, proposal: str, number: int) -> bool:
    """Run in a process of its own; whether it was killed before it was done."""

    def child() -> None:
        memory = MemoryStore.open(root, clock=lambda: NOW + 60)
        repo = Repo.open(root, trace=KillAt(number))
        memory._store = Store(repo, Projection.open(repo.private / CACHE))
        memory.approve_part(proposal, only=["cloud"], rejected=["use-tabs"], person=ADA)
        os._exit(0)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    return process.exitcode != 0


def no_is_a_no(memory: MemoryStore) -> bool:
    """Once the part is remembered, what was rejected with it is neither open nor comes back."""
    if "cloud" not in [line.name for line in memory.list()]:
        return True
    again = change_set(
        [user(TABS)], item(TABS, name="use-tabs", type="feedback", body=TABS, description=TABS[:50])
    )
    return memory.proposals() == [] and memory.propose(again).proposal is None


def test_killed_anywhere_nothing_is_half_done(start: tuple[Path, str], tmp_path: Path) -> None:
    template, proposal = start
    for number in range(40):
        root = copy(template, tmp_path / str(number))
        was_killed = killed(root, proposal, number)
        with opened(root, NOW + 120) as memory:
            known = {line.name for line in memory.list()}
            assert {"language"} <= known <= {"language", "cloud"}
            assert no_is_a_no(memory)
            report = memory.fsck(repair=True)
            assert report.ok, (number, report.problems)
            memory.remember("And now it goes on.", name="on", type="project", person=BEN)
            for line in memory.proposals():
                if line.state == "open":
                    memory.approve(line.id, person=ADA)
            assert memory.fsck().ok
        assert plain(root, "for-each-ref", "refs/gitmem/inflight") == ""
        assert plain(root, "status", "--porcelain") == ""
        if not was_killed:
            assert number, "something was written"
            return
    raise AssertionError("it never came to its end")
