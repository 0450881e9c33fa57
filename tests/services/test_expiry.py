"""Old conversations go; those that an open proposal rests on stay."""

from __future__ import annotations

import json
import os
from pathlib import Path

from gitmem import MemoryStore
from gitmem.services.expiry import KEEP_DAYS

ADA = "Ada <ada@example.org>"
NOW = 1_790_000_000
DAY = 86_400


def chat(path: Path, text: str) -> Path:
    messages = [{"role": "user", "content": text}]
    path.write_text(json.dumps(messages, ensure_ascii=False), encoding="utf-8")
    return path


def test_a_conversation_is_kept_for_its_days_and_while_a_proposal_rests_on_it(
    tmp_path: Path,
) -> None:
    root = tmp_path / "m"
    with MemoryStore.init(root, clock=lambda: NOW) as memory:
        merged = memory.extract(chat(tmp_path / "a.json", "We always use tabs in this repo."))
        waits = memory.extract(chat(tmp_path / "b.json", "提交信息一律用英文写。"))
        assert merged.proposal and waits.proposal and merged.session and waits.session
        memory.approve(merged.proposal, person=ADA)
    for path in (root / ".git/gitmem/sessions").glob("*.jsonl"):
        os.utime(path, (NOW, NOW))

    def stored() -> set[str]:
        return {path.stem for path in (root / ".git/gitmem/sessions").glob("*.jsonl")}

    for days, kept in ((KEEP_DAYS, True), (KEEP_DAYS + 1, False)):
        with MemoryStore.open(root, clock=lambda days=days: NOW + days * DAY) as memory:
            memory.extract(chat(tmp_path / f"{days}.json", f"Hello, it is day {days}."))
        assert (merged.session in stored()) == kept
        assert waits.session in stored()
    with MemoryStore.open(root) as memory:
        (name,) = [record.name for record in memory.list()]
        assert memory.why(name).contexts == {}
        assert memory.show(name).evidence[0].quote == "We always use tabs in this repo."
        assert memory.fsck().ok
