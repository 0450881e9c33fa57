"""Dry runs show to the letter what would be sent; nobody is asked, and nothing is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemorySession, MemoryStore
from gitmem.errors import NotFound, Waiting
from gitmem.results import DryRun
from gitmem.sessions.folder import UNFINISHED
from gitmem.testing import ScriptedModels
from tests.cases.calls import call
from tests.memory.words import ADA, private_files, state, user, write_lines

SAID = "In this repository we always use tabs, 不要用空格。"
KEY = "sk-test-0123456789-secret"
APPROVE = '{"verdict": "approve", "findings": []}'
ITEM = {
    "name": "use-tabs",
    "type": "feedback",
    "description": "Use tabs in this repository",
    "body": "Use tabs, not spaces.",
    "evidence": [{"message": 0, "quote": "we always use tabs"}],
}
ROLES = {
    "PROPOSER": "writer-1",
    "REVIEWER": "judge-2",
    "SELECTOR": "picker-3",
    "CONSOLIDATOR": "tidy-4",
}


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModels]:
    monkeypatch.setenv("MY_KEY", KEY)
    with ScriptedModels() as running:
        for role, model in ROLES.items():
            monkeypatch.setenv(f"GITMEM_{role}_MODEL", model)
            monkeypatch.setenv(f"GITMEM_{role}_BASE_URL", running.url)
            monkeypatch.setenv(f"GITMEM_{role}_API_KEY_ENV", "MY_KEY")
        running.always("writer-1", json.dumps([ITEM])).always("judge-2", APPROVE)
        running.always("picker-3", "[]").always("tidy-4", "[]")
        yield running


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "对话.jsonl", [user(SAID)])


def told(messages: Any) -> list[dict[str, Any]]:
    """Messages without what is random in them."""
    text = json.dumps(list(messages), ensure_ascii=False)
    data = next(m["content"] for m in messages if m["role"] == "user")
    text = re.sub(r'sha256=\\"[0-9a-f]+', "sha256", text)  # covers the nonce as well
    return json.loads(text.replace(data.split()[1], "NONCE"))  # type: ignore[no-any-return]


def untouched(memory: MemoryStore) -> tuple[Any, dict[str, bytes]]:
    """All that an operation could leave behind; not the caches, and the lock that says who."""
    own = {
        name: content
        for name, content in private_files(memory.path).items()
        if "cache.sqlite" not in name and not name.endswith("gitmem/lock")
    }
    return state(memory.path), own


def test_extract_shows_what_it_then_asks_and_keeps_no_conversation(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    memory.remember("Use spaces in Python files.", name="use-spaces", person=ADA)
    before = untouched(memory)
    shown = memory.preview_extract(chat)
    assert untouched(memory) == before and models.requests == []
    (question,) = shown.questions
    assert (question.role, question.model) == ("proposer", "writer-1")
    assert KEY not in json.dumps(shown.to_json())
    assert memory.extract(chat).proposal, "nothing was marked as read"
    assert told(models.requests[0]["messages"]) == told(question.messages)
    again = memory.preview_extract(chat)
    assert again.questions == () and "nothing would be asked about it" in again.notes
    assert len(memory.preview_extract(chat, again=True).questions) == 1


def test_extract_shows_only_what_is_new_of_a_conversation_that_has_grown(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    memory.extract(chat)
    write_lines(chat, [user(SAID), user("And we deploy on Tuesdays.")])
    before = untouched(memory)
    (question,) = memory.preview_extract(chat).questions
    assert untouched(memory) == before
    assert "Tuesdays" in str(question.messages) and "不要用空格" not in str(question.messages)
    memory.extract(chat)
    assert told(models.requests[-1]["messages"]) == told(question.messages)


def test_every_stretch_of_a_long_conversation_is_shown(
    memory: MemoryStore, models: ScriptedModels, tmp_path: Path
) -> None:
    long = [user(f"{n} " + "词 word " * 4_000) for n in range(3)]
    shown = memory.preview_extract(write_lines(tmp_path / "long.jsonl", long))
    assert len(shown.questions) == 3


def test_the_queue_stays_as_it_is(memory: MemoryStore, models: ScriptedModels) -> None:
    models.always("writer-1", "no")
    with MemorySession(memory.path, background=False) as live:
        live.complete([user(SAID)])
    before, asked = untouched(memory), len(models.requests)
    (question,) = memory.preview_queued().questions
    assert SAID in question.messages[1]["content"].replace("\\n", "")
    assert untouched(memory) == before and len(models.requests) == asked
    assert len(memory.queued()) == 1


def test_review_shows_the_first_request_to_each_reviewer(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    proposal = memory.extract(chat).proposal
    assert proposal
    before, asked = untouched(memory), len(models.requests)
    shown = memory.preview_review(proposal)
    assert len(shown.questions) == 4 and shown.notes == ()
    assert {tool["function"]["name"] for tool in shown.questions[0].tools} >= {"read_session"}
    assert len(memory.preview_review(proposal, only="safety").questions) == 1
    with pytest.raises(NotFound, match="conflict, durability"):
        memory.preview_review(proposal, only="nobody")
    assert untouched(memory) == before and len(models.requests) == asked
    memory.review(proposal)
    sent = [told(request["messages"]) for request in models.requests[asked:]]
    assert sent == [told(question.messages) for question in shown.questions]
    assert memory.preview_review(proposal) == DryRun((), ("every reviewer has judged it already",))


def test_review_says_whom_it_would_not_ask(
    memory: MemoryStore, models: ScriptedModels, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = memory.extract(chat).proposal
    assert proposal
    monkeypatch.setenv("GITMEM_REVIEWER_MODEL", "writer-1")
    shown = memory.preview_review(proposal)
    assert shown.questions == () and len(shown.notes) == 4
    assert "evidence would be asked nothing: reviewer identity not different" in shown.notes[2]


def test_select_keeps_no_query_and_consolidate_no_scan(
    memory: MemoryStore, models: ScriptedModels
) -> None:
    assert memory.preview_select("tabs").notes == (
        "nothing is remembered, so nothing would be asked",
    )
    memory.remember("Use tabs everywhere, 到处用。", name="use-tabs", person=ADA)
    memory.remember("We deploy on Tuesdays.", name="deploy-day", person=ADA)
    before = untouched(memory)
    (question,) = memory.preview_select("which tabs? AKIAIOSFODNN7EXAMPLQ").questions
    assert "which tabs?" in str(question.messages) and "AKIA" not in str(question)
    with pytest.raises(Waiting, match="no consolidation is due"):
        memory.preview_consolidate()
    (tidying,) = memory.preview_consolidate(now=True).questions
    assert "到处用" in str(tidying.messages)
    assert untouched(memory) == before and models.requests == []
    memory.select("which tabs?")
    assert memory.status().usage["selector"]["questions"] == 1


def test_without_a_model_it_says_what_would_happen_instead(memory: MemoryStore, chat: Path) -> None:
    assert "the rules would read it" in memory.preview_extract(chat).notes[0]
    assert "the rules would read them" in memory.preview_queued().notes[0]
    assert "the ranking would choose" in memory.preview_select("tabs").notes[0]
    with pytest.raises(NotFound, match=r"gitmem config set consolidator\.model"):
        memory.preview_consolidate(now=True)


def test_a_day_that_is_full_shows_that_nothing_would_be_asked(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    memory.set_policy("daily_proposals", "0", person=ADA)
    with pytest.raises(Waiting, match="the policy allows 0"):
        memory.preview_extract(chat)


def test_what_a_killed_dry_run_leaves_is_swept(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    import os

    memory.extract(chat)
    left = memory.path / ".git/gitmem/sessions" / f"{UNFINISHED}left"
    left.mkdir()
    (left / "openai-20260101-0123456789ab.jsonl").write_text("{}\n")
    os.utime(left, (1_000_000, 1_000_000))
    memory.preview_extract(chat)
    assert not left.exists()


def test_the_commands_print_it_readably_and_as_json(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    proposal = memory.extract(chat).proposal
    assert proposal
    memory.remember("We deploy on Tuesdays.", name="deploy-day", person=ADA)
    before, asked = state(memory.path), len(models.requests)
    for args in (
        ["extract", str(chat), "--again"],
        ["extract", "--queued"],
        ["review", proposal],
        ["review", proposal, "--try", "safety"],
        ["select", "tabs"],
        ["consolidate", "--now"],
    ):
        shown = call(memory.path, *args, "--dry-run")
        assert shown.code == 0 and shown.out.endswith("Nothing was asked, and nothing written.\n")
        found = call(memory.path, *args, "--dry-run", "--json").json
        assert all(question["messages"][0]["role"] == "system" for question in found["questions"])
        assert KEY not in shown.out + json.dumps(found)
    shown = call(memory.path, "review", proposal, "--dry-run")
    assert "reviewer: judge-2 at 127.0.0.1" in shown.out and "tools read_" not in shown.out
    assert (
        SAID.partition("，")[0]
        in call(memory.path, "extract", str(chat), "--again", "--dry-run").out
    )
    assert call(memory.path, "extract", str(chat), "--rules", "--dry-run").code == 2
    assert state(memory.path) == before and len(models.requests) == asked
