"""Conversations with more in them than one person reads at once."""

from __future__ import annotations

import json
from pathlib import Path

from gitmem import MemoryStore
from gitmem.services.judging import MAX_ITEMS

ADA = "Ada <ada@example.org>"


def write(path: Path, contents: list[str]) -> Path:
    messages = [{"role": "user", "content": content} for content in contents]
    path.write_text(json.dumps(messages, ensure_ascii=False), encoding="utf-8")
    return path


def fact(number: int) -> str:
    word = "".join(chr(ord("a") + int(digit)) for digit in str(number))
    return f"We decided to use the {word}lib library for {word}work in this project."


def test_a_long_conversation_is_proposed_in_readable_pieces(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.json", [fact(number) for number in range(MAX_ITEMS + 30)])
    with MemoryStore.init(tmp_path / "m") as memory:
        first = memory.extract(path)
        assert len(first.records) == MAX_ITEMS
        assert any("30 messages are left" in note for note in first.notes)
        second = memory.extract(path)
        assert len(second.records) == 30
        assert not {r.name for r in first.records} & {r.name for r in second.records}
        third = memory.extract(path)
        assert third.proposal is None
        assert any("nothing is new" in note for note in third.notes)


def test_a_message_with_too_many_facts_names_what_is_left_out(tmp_path: Path) -> None:
    text = "\n".join(fact(number) for number in range(MAX_ITEMS + 5))
    path = write(tmp_path / "chat.json", [text])
    with MemoryStore.init(tmp_path / "m") as memory:
        result = memory.extract(path)
        assert len(result.records) == MAX_ITEMS
        assert sum("more than a person can read" in d.reason for d in result.dropped) == 5


def test_a_correction_after_many_read_messages_still_revises_the_record(tmp_path: Path) -> None:
    with MemoryStore.init(tmp_path / "m") as memory:
        chat = ["We use Postgres 15 in production."] + ["Thanks, that works."] * 120
        before = memory.extract(write(tmp_path / "chat.json", chat))
        assert before.proposal is not None
        memory.approve(before.proposal, person=ADA)
        chat.append("Correction: we use Postgres 16 in production, not 15.")
        after = memory.extract(write(tmp_path / "chat.json", chat))
        assert [(r.name, r.change) for r in after.records] == [(before.records[0].name, "revised")]
