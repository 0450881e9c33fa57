"""What would be asked of models: plain frozen data with ``to_json``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gitmem.results.reports import Result


@dataclass(frozen=True)
class Question(Result):
    """The first request of a conversation with a model. ``endpoint`` is host and port;
    ``messages`` and ``tools`` are as they are sent, ``schema`` is what the answer has to be."""

    role: str
    model: str
    endpoint: str
    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...] = ()
    schema: dict[str, Any] | None = field(default=None)


@dataclass(frozen=True)
class DryRun(Result):
    """What an operation would ask; ``notes`` say what it would not ask, and why."""

    questions: tuple[Question, ...]
    notes: tuple[str, ...] = ()
