"""How the tests run the real command: in a pipe, and on a terminal."""

from __future__ import annotations

import json
import os
import select
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).parents[2]
ADA = "Ada <ada@example.org>"
PATIENCE = 60.0


@dataclass(frozen=True)
class Done:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error of a command that was called with --json."""
        error: dict[str, Any] = json.loads(self.err.splitlines()[-1])["error"]
        return error


# What a person types at a prompt; a function may do something first.
Answer = str | Callable[[], str]


class RunCommand(Protocol):
    """Runs ``python -m gitmem`` with its output in a pipe."""

    def __call__(
        self,
        *args: str,
        stdin: str | bytes = "",
        env: Mapping[str, str] | None = None,
        code: int | None = 0,
        cwd: Path | None = None,
    ) -> Done: ...


class RunOnTerminal(Protocol):
    """Runs a command on a pseudo-terminal; ``answers`` are typed one at each prompt."""

    def __call__(
        self,
        *args: str,
        answers: Sequence[Answer] = (),
        env: Mapping[str, str] | None = None,
        python: Sequence[str] = ("-m", "gitmem"),
    ) -> Done: ...


def environment(more: Mapping[str, str] | None) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "GITMEM_USER": ADA,
        **(more or {}),
    }


def converse(terminal: int, answers: list[Answer]) -> bytes:
    """Read until the program ends, typing the next answer whenever it asks."""
    printed, asked = b"", 0
    while True:
        ready, _, _ = select.select([terminal], [], [], PATIENCE)
        assert ready, f"nothing happened for {PATIENCE} seconds after:\n{printed!r}"
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # the other end was closed
            return printed
        if not chunk:
            return printed
        printed += chunk
        if printed.count(b"[y/N]") > asked and answers:
            asked += 1
            answer = answers.pop(0)
            os.write(terminal, (answer if isinstance(answer, str) else answer()).encode())
