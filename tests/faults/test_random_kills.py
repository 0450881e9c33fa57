"""A program that merges without end is killed again and again; what it acknowledged is there."""

from __future__ import annotations

from pathlib import Path

from gitmem import MemoryStore
from tests.conftest import Effort
from tests.faults.machine import Machine
from tests.faults.points import Bench
from tests.faults.shared import Mode
from tests.memory.words import ADA
from tests.store.stories import copy, plain

FARTHEST = 700
"""The effect before which a program is killed at the latest: some four merges."""


def test_what_was_acknowledged_is_there_after_any_number_of_kills(
    bench: Bench, machine: Machine, effort: Effort, tmp_path: Path
) -> None:
    chance = effort.chance("kills")
    below = tmp_path / "below"
    root = copy(bench.template[0], below / "memory")
    acknowledged: list[str] = []
    for _ in range(effort.count(5, 1000)):
        at = len(acknowledged)
        told = {"store": str(root), "rounds": list(range(at, at + 100))}
        ended = machine.tell(told, below, Mode.KILL_ALL, chance.randrange(FARTHEST))
        assert ended.code == -9, ended.err
        acknowledged += ended.out.split()
        with MemoryStore.open(root) as memory:
            names = {line.name for line in memory.list()}
        assert set(acknowledged) <= names, f"killed at {ended.at}"
        if f"machine-{len(acknowledged)}" in names:  # killed before it could say so
            acknowledged.append(f"machine-{len(acknowledged)}")
    with MemoryStore.open(root) as memory:
        memory.remember("Enough.", name="enough", type="project", person=ADA)
        assert memory.fsck().ok
    plain(root, "fsck", "--strict", "--no-dangling", "--no-progress")
    assert plain(root, "status", "--porcelain") == ""
