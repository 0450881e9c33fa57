"""Timing: rounds in which everything that is compared is done in turn."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from typing import Literal, NamedTuple, TypedDict

By = Literal["passed", "worked"]


class Figure(TypedDict):
    """Milliseconds that passed, the least of all rounds and their median; and the median of those
    in which a processor worked on it."""

    least: float
    median: float
    worked: float


class Ratio(TypedDict):
    """What was compared to what, by the time that passed and by that in which a processor worked.

    ``limit`` is None where nothing is promised; it is for the one that ``by`` names.
    """

    passed: float
    worked: float
    limit: float | None
    by: By


class Spent(NamedTuple):
    """Milliseconds: that passed, and in which processors worked."""

    passed: float
    worked: float


def spent(action: Callable[[], object]) -> Spent:
    """What ``action`` takes, here and in the processes that ended meanwhile."""
    worked, start = _worked(), time.perf_counter()
    action()
    return Spent((time.perf_counter() - start) * 1000, _worked() - worked)


def _worked() -> float:
    here = resource.getrusage(resource.RUSAGE_SELF)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(one.ru_utime + one.ru_stime for one in (here, ended)) * 1000


class Rounds:
    """Times by name, one in each round.

    Whatever else a machine does meanwhile slows both sides of a round, and seldom all rounds: a
    ratio is the median of the ratios of the rounds.
    """

    def __init__(self) -> None:
        self.times: dict[str, list[Spent]] = {}

    def note(self, name: str, took: Spent) -> None:
        self.times.setdefault(name, []).append(took)

    def figures(self) -> dict[str, Figure]:
        return {name: figure(times) for name, times in self.times.items()}

    def ratio(self, name: str, floor: str, limit: float | None = None, by: By = "passed") -> Ratio:
        """``name`` in multiples of ``floor``."""
        return compared(self.times[name], self.times[floor], limit, by)


def figure(times: list[Spent]) -> Figure:
    passed, worked = zip(*times, strict=True)
    return {
        "least": round(min(passed), 2),
        "median": round(statistics.median(passed), 2),
        "worked": round(statistics.median(worked), 2),
    }


def compared(
    ones: list[Spent], others: list[Spent], limit: float | None = None, by: By = "passed"
) -> Ratio:
    pairs = list(zip(ones, others, strict=True))
    return {
        "passed": round(statistics.median(a.passed / b.passed for a, b in pairs), 2),
        "worked": round(statistics.median(a.worked / b.worked for a, b in pairs), 2),
        "limit": limit,
        "by": by,
    }
