"""What models took: told with each result, and added up by day and role for status."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.sessions.state import USAGE_DAYS, StateFile
from gitmem.testing import Answer, ScriptedModels
from tests.memory.words import ADA, DAY, NOW, opened, user, write_lines

SAID = "In this repository we always use tabs, 不要用空格。"
APPROVE = Answer('{"verdict": "approve", "findings": []}', usage=(100, 10))
ITEM = {
    "name": "use-tabs",
    "type": "feedback",
    "description": "Use tabs in this repository",
    "body": "Use tabs, not spaces.",
    "evidence": [{"message": 0, "quote": "we always use tabs"}],
}


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModels]:
    with ScriptedModels() as running:
        for role, model in (
            ("PROPOSER", "writer-1"),
            ("REVIEWER", "judge-2"),
            ("SELECTOR", "picker-3"),
        ):
            monkeypatch.setenv(f"GITMEM_{role}_MODEL", model)
            monkeypatch.setenv(f"GITMEM_{role}_BASE_URL", running.url)
        running.always("writer-1", Answer(json.dumps([ITEM]), usage=(40, 2)))
        running.always("judge-2", APPROVE).always("picker-3", Answer("[]", usage=(7, 1)))
        yield running


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "chat.jsonl", [user(SAID)])


def test_what_each_role_took_stands_with_its_work_and_is_added_up(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    assert memory.status().usage == {}
    models.say("writer-1", Answer("none", usage=(50, 5)))
    result = memory.extract(chat)
    assert (result.questions, result.tokens) == (2, 97), "an answer of no use was paid, too"
    assert result.proposal and memory.review(result.proposal).tokens == 440
    assert "100 tokens read, 10 written, 1 questions" in _branch(memory, result.proposal)
    memory.remember("We deploy on Tuesdays.", person=ADA)
    memory.select("tabs")
    memory.select("deploy")
    assert memory.status().usage == {
        "proposer": {"questions": 2, "tokens": 97},
        "reviewer": {"questions": 4, "tokens": 440},
        "selector": {"questions": 2, "tokens": 16},
    }
    assert memory.status().to_json()["usage"]["reviewer"]["questions"] == 4
    with opened(memory.path, NOW + DAY) as tomorrow:
        assert tomorrow.status().usage == {}


def _branch(memory: MemoryStore, proposal: str) -> str:
    store = memory._opened()
    reviews = store.facts.branch(store.open_proposals()[proposal]).reviews
    return " ".join(review.usage for review in reviews)


def test_what_failed_counts_too_and_what_was_never_answered_does_not(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    models.always("writer-1", Answer(status=500, headers={"x-should-retry": "false"}))
    with pytest.raises(Exception, match="no usable answer"):
        memory.extract(chat)
    assert memory.status().usage == {}
    models.always("writer-1", Answer("no", usage=(3, 1)))
    with pytest.raises(Exception, match="no usable answer"):
        memory.extract(chat)
    assert memory.status().usage == {"proposer": {"questions": 2, "tokens": 8}}


def test_by_the_rules_nothing_is_taken(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    assert memory.extract(chat, by_model=False).questions == 0
    assert memory.status().usage == {}


def test_where_it_cannot_be_written_the_work_is_done_all_the_same(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    state = memory.path / ".git/gitmem/state.json"
    state.unlink(missing_ok=True)
    state.mkdir()
    result = memory.extract(chat)
    assert result.proposal and result.tokens == 42
    assert memory.select("tabs").reason == ""
    assert any("what the proposer took was not noted" in note for note in memory.notes)


def test_a_writer_that_holds_the_store_stops_no_selection(
    memory: MemoryStore, models: ScriptedModels
) -> None:
    memory.remember("Use tabs everywhere.", person=ADA)
    with opened(memory.path) as other, other._opened().repo.lock():
        assert not memory.select("tabs").degraded
    assert memory.status().usage == {}


def test_a_month_is_kept_and_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    state = StateFile(tmp_path / "state.json")
    for day in range(40):
        state.add_usage(f"2026-{1 + day // 28:02}-{1 + day % 28:02}", "reviewer", 1, day)
    kept = state.read().usage
    assert len(kept) == USAGE_DAYS and min(kept) == "2026-01-10"
    state.add_query("保留")
    assert state.read().usage == kept
    raw = json.loads((tmp_path / "state.json").read_text())
    raw["usage"]["2026-02-01"] = {"reviewer": {"questions": "many", "tokens": 1}}
    raw["usage"]["2026-02-02"] = ["no"]
    (tmp_path / "state.json").write_text(json.dumps(raw))
    assert set(kept) - set(state.read().usage) == {"2026-02-01", "2026-02-02"}
    assert state.read().queries == ("保留",)
    for odd in ('{"usage": 5}', '{"usage": {"x": 5}}', "[]", "{"):
        (tmp_path / "state.json").write_text(odd)
        assert state.read().usage == {}
