"""Long work says how far it is."""

from __future__ import annotations

import json
from pathlib import Path

from gitmem import MemoryStore

ADA = "Ada <ada@example.org>"


def test_reading_a_conversation_tells_each_message_and_their_number(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": f"第 {number} 句，没有什么要记的。"} for number in range(5)
    ]
    (tmp_path / "chat.json").write_text(json.dumps(messages), encoding="utf-8")
    told: list[tuple[str, int, int | None]] = []
    with MemoryStore.init(tmp_path / "m") as memory:
        memory.extract(tmp_path / "chat.json", progress=lambda *args: told.append(args))
    assert told == [("reading", done, 5) for done in range(1, 6)]


def test_verifying_tells_each_commit_and_their_number(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    with MemoryStore.init(tmp_path / "m") as memory:
        memory.remember("We use tabs in this project.", person=ADA)
        memory.remember("提交信息一律用英文写。", person=ADA)
        assert memory.fsck(progress=lambda *args: told.append(args)).ok
    assert told == [("verifying", done, 3) for done in range(1, 4)]
