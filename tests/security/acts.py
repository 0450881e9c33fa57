"""What these tests do again and again: a turn of an agent, an answer of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gitmem import MemorySession, MemoryStore
from tests.memory.words import NOW

ROLES = {
    "PROPOSER": "writer-1",
    "REVIEWER": "judge-2",
    "SELECTOR": "picker-3",
    "CONSOLIDATOR": "tidy-5",
}
APPROVE = '{"verdict": "approve", "findings": []}'
SAID = "In this repository we always use tabs, 不要用空格。"


def item(**fields: Any) -> dict[str, Any]:
    """One item of a proposer's answer, about :data:`SAID`."""
    whole = {
        "name": "use-tabs",
        "type": "feedback",
        "description": "Use tabs in this repository",
        "body": "Use tabs, not spaces.",
        "evidence": [{"message": 0, "quote": "we always use tabs, 不要用空格"}],
    }
    return {**whole, **fields}


def items(*answered: Mapping[str, Any]) -> str:
    return json.dumps(answered, ensure_ascii=False)


def verdict(word: str, **finding: Any) -> str:
    whole = {"record": None, "line": None, "evidence": None, "text": "不对。", "change": None}
    return json.dumps({"verdict": word, "findings": [{**whole, **finding}]}, ensure_ascii=False)


def turn(memory: MemoryStore, *messages: Mapping[str, Any] | str) -> None:
    """Let an agent's turn be over, and queued: texts are a person's."""
    history = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
    with MemorySession(memory.path, clock=lambda: NOW, background=False) as session:
        assert session.complete(history), session.last_error


def proposed(memory: MemoryStore, *messages: Mapping[str, Any] | str) -> Any:
    """Let the proposer work off one turn, and nobody review it; return the one result."""
    before = {entry.session for entry in memory.queued()}
    turn(memory, *messages)
    (session,) = {entry.session for entry in memory.queued()} - before
    return memory.extract_session(session)


def data_of(request: Mapping[str, Any]) -> Any:
    """The data of a question."""
    content = request["messages"][1]["content"]
    return json.loads(content.partition("\n")[2].rpartition("\n")[0])


def names(listed: Sequence[Any]) -> list[str]:
    return sorted(line.name for line in listed)
