"""Lines of Claude Code session files, as these tests write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

AT = "2026-11-30T16:20:11.123Z"


def human(text: Any, uuid: str = "u1", **fields: Any) -> dict[str, Any]:
    """A line of type user, with the fields that every such line has."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/ada/项目",
        "sessionId": "11111111-2222-3333-4444-555555555555",
        "version": "2.1.42",
        "gitBranch": "main",
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": uuid,
        "timestamp": AT,
        **fields,
    }


def agent(*parts: dict[str, Any], uuid: str = "a1", **fields: Any) -> dict[str, Any]:
    """A line of type assistant."""
    message = {"role": "assistant", "model": "stub-1", "content": list(parts)}
    return {**human(None, uuid), "type": "assistant", "message": message, **fields}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(command: str, name: str = "Bash") -> dict[str, Any]:
    return {"type": "tool_use", "id": "t1", "name": name, "input": {"command": command}}


def answer(content: Any, *beside: dict[str, Any], uuid: str = "t1", **more: Any) -> dict[str, Any]:
    """A line of type user that carries what a tool answered."""
    result = {"type": "tool_result", "tool_use_id": "t1", "content": content}
    return human([result, *beside], uuid, **more)


def write(path: Path, lines: Sequence[Any], end: str = "\n") -> Path:
    """Write lines; what is no dictionary stands there as it is."""
    shown = (json.dumps(x, ensure_ascii=False) if isinstance(x, dict) else x for x in lines)
    path.write_bytes(("\n".join(shown) + end).encode("utf-8", "surrogatepass"))
    return path
