"""Processes that begin at the same moment, and what became of them."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from gitmem import MemoryStore
from gitmem.errors import GitmemError
from tests.memory.words import NOW, opened

_FORK = multiprocessing.get_context("fork")
PATIENCE = 600.0

Wait = Callable[[], None]
"""What a member of the crowd calls when it is ready; it goes on when all are."""

Member = Callable[[Wait], Any]
Act = Callable[[MemoryStore], object]


class Said(NamedTuple):
    """How an operation ended: ``done``, or the name of the error, its exit code and its words."""

    how: str
    code: int = 0
    words: str = ""


def crowd(*members: Member) -> list[Any]:
    """Run each in a process of its own, all at once; what each returned, in order."""
    barrier = _FORK.Barrier(len(members))
    started = []
    for member in members:
        here, there = _FORK.Pipe(duplex=False)

        def run(member: Member = member, there: Connection = there) -> None:
            is_fine, result = False, None
            try:
                result = member(lambda: barrier.wait(PATIENCE) and None)
                is_fine = True
            finally:
                if not is_fine:  # the others are not to wait for this one
                    barrier.abort()
                there.send((is_fine, result if is_fine else traceback.format_exc()))

        process = _FORK.Process(target=run)
        process.start()
        there.close()
        started.append((process, here))
    results = []
    for process, here in started:
        is_fine, result = here.recv()
        process.join()
        assert is_fine, result
        results.append(result)
    return results


def at_once(*operations: tuple[Path, Act], now: float = NOW + 60) -> list[Said]:
    """Do each on its store in a process of its own, all at once; how each ended."""

    def member(root: Path, act: Act) -> Member:
        def run(wait: Wait) -> Said:
            with opened(root, int(now)) as memory:
                wait()
                return outcome(lambda: act(memory))

        return run

    return crowd(*(member(root, act) for root, act in operations))


def outcome(act: Callable[[], object]) -> Said:
    """How it ends."""
    try:
        act()
    except GitmemError as error:
        return Said(type(error).__name__, error.exit_code, error.message)
    return Said("done")
