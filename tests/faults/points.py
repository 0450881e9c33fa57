"""Which of an operation's effects on disk are tried."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.faults.machine import Ended, Machine
from tests.faults.operations import OPERATIONS, Ids, Operation, Run, build, prepared
from tests.faults.shared import Mode, Point
from tests.faults.sound import Before, before

_CACHE = "cache.sqlite"


@dataclass(frozen=True)
class Trial:
    """A run in which something went wrong."""

    run: Run
    operation: Operation
    was: Before
    ended: Ended
    told: str


class Bench:
    """The machine, the memory that every run gets a copy of, and what each operation does."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine = machine
        self._folder = folder
        self.template: tuple[Path, Ids] = (folder / "template", build(folder / "template"))
        self._points: dict[str, list[Point]] = {}
        self._count = 0

    def points(self, name: str) -> list[Point]:
        """Every effect of an operation; of a row of the same the first and the last."""
        if name not in self._points:
            with self._copy(name) as run:
                ended = self.machine.run(run.below, OPERATIONS[name].argv(run), Mode.COUNT)
            assert ended.code == 0, f"{name}: {ended.err}"
            self._points[name] = _ends_of_rows(ended.points)
        return self._points[name]

    def sample(
        self, name: str, mode: Mode, chance: random.Random, count: int | None
    ) -> list[Point]:
        """Points at which ``mode`` makes a difference: ``count`` of them, or all."""
        points = self.points(name)
        if mode in (Mode.KILL_GIT, Mode.KILL_GITMEM):
            points = [point for point in points if point.is_git]
        if mode in (Mode.SHORT, Mode.FULL):
            points = [point for point in points if point.call == "write"]
        if count is None:
            return points
        # The projection can always be made anew; most of the chance goes to what cannot.
        rare = [point for point in points if _CACHE not in point.path]
        return chance.sample(rare or points, min(count, len(rare or points)))

    @contextmanager
    def trial(self, name: str, mode: Mode, point: Point) -> Iterator[Trial]:
        """Run an operation with what goes wrong at a point, in a copy that is removed then."""
        with self._copy(name) as run:
            operation, was = OPERATIONS[name], before(run)
            ended = self.machine.run(run.below, operation.argv(run), mode, point.number)
            told = f"{name}, {mode.name} at {ended.at} (exit status {ended.code})"
            yield Trial(run, operation, was, ended, told)
            self.machine.settle()

    @contextmanager
    def _copy(self, name: str) -> Iterator[Run]:
        self._count += 1
        folder = self._folder / str(self._count)
        yield prepared(self.template, folder / "below", OPERATIONS[name])
        shutil.rmtree(folder)  # not where a test failed: it is looked at then


def _ends_of_rows(points: list[Point]) -> list[Point]:
    def key(point: Point) -> tuple[str, str, str]:
        return point.role, point.call, point.path

    inner = {
        one.number
        for before, one, after in zip(points, points[1:], points[2:], strict=False)
        if key(before) == key(one) == key(after)
    }
    return [point for point in points if point.number not in inner]
