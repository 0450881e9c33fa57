"""What one operation may spend on models: tokens and time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from gitmem.errors import ModelFailed

#: Characters of a token, for endpoints that do not count: low, so that they are overcounted.
CHARACTERS = 2


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that were read and written, and how many questions that took."""

    prompt: int = 0
    completion: int = 0
    calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.calls + other.calls,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt - other.prompt,
            self.completion - other.completion,
            self.calls - other.calls,
        )

    @property
    def total(self) -> int:
        """Tokens read and written."""
        return self.prompt + self.completion


class Budget:
    """Tokens and seconds of one operation, over all of its questions.

    Not refilled. ``clock`` is in seconds and only ever goes forward.
    """

    def __init__(
        self, tokens: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.tokens = tokens
        self.seconds = seconds
        self.spent = Usage()
        self._clock = clock
        self._start = clock()

    def spend(self, usage: Usage) -> None:
        """Count what one question took."""
        self.spent += usage

    def left(self) -> float:
        """Return the seconds that are left.

        Raises:
            ModelFailed: tokens or time are spent.
        """
        left = self.seconds - (self._clock() - self._start)
        if left <= 0:
            raise ModelFailed(
                f"the time for it is spent ({self.seconds:g} seconds)", hint=_MORE.format("seconds")
            )
        if self.spent.total >= self.tokens:
            raise ModelFailed(
                f"the tokens for it are spent ({self.spent.total} of {self.tokens})",
                hint=_MORE.format("tokens"),
            )
        return left


_MORE = "Nothing was changed. `gitmem config set budget.{} N` allows more."
