"""Models on the command line: config, review, select, consolidate, extract."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.testing import Answer, ScriptedModels, tool_call
from tests.cases.calls import call
from tests.memory.words import ADA, user, write_lines

SAID = "In this repository we always use tabs, 不要用空格。"
APPROVE = '{"verdict": "approve", "findings": []}'
ITEM = {
    "name": "use-tabs",
    "type": "feedback",
    "description": "Use tabs in this repository",
    "body": "Use tabs, not spaces.",
    "evidence": [{"message": 0, "quote": "we always use tabs, 不要用空格"}],
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "memory"
    MemoryStore.init(root).close()
    return root


@pytest.fixture
def models() -> Iterator[ScriptedModels]:
    with ScriptedModels() as running:
        running.always("writer-1", json.dumps([ITEM])).always("judge-2", APPROVE)
        yield running


@pytest.fixture
def chosen(store: Path, models: ScriptedModels) -> ScriptedModels:
    """A proposer and a reviewer, set as a person does."""
    for role, model in (("proposer", "writer-1"), ("reviewer", "judge-2")):
        for key, value in (("model", model), ("base_url", models.url)):
            assert call(store, "config", "set", f"{role}.{key}", value).code == 0
    return models


@pytest.fixture
def chat(tmp_path: Path) -> str:
    return str(write_lines(tmp_path / "对话.jsonl", [user(SAID)]))


def test_settings_are_shown_with_where_they_come_from(
    store: Path, chosen: ScriptedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITMEM_REVIEWER_MODEL", "other-9")
    shown = call(store, "config", "show", "--json").json
    assert shown["settings"]["proposer.model"] == {"value": "writer-1", "from": "file"}
    assert shown["settings"]["reviewer.model"] == {
        "value": "other-9",
        "from": "GITMEM_REVIEWER_MODEL",
    }
    assert shown["settings"]["reviewer.timeout"] == {"value": 60, "from": "default"}
    assert Path(shown["file"]).is_relative_to(Path.home())
    assert "writer-1" in call(store, "config").out
    done = call(store, "config", "set", "reviewer.model", "judge-3")
    assert "GITMEM_REVIEWER_MODEL is set and goes before the file" in done.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["reviewer.modle", "x"], "reviewer.model"),
        (["reviewer.base_url", "http://example.com"], "neither https nor on this machine"),
        (["reviewer.api_key_env", "sk-sekret-12345678"], "never written here"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(store: Path, args: list[str], said: str) -> None:
    done = call(store, "config", "set", *args)
    assert done.code in (1, 2) and said in done.err and "sekret" not in done.err


def plays(request: Any) -> str | Answer:
    """A model that does what ``config check`` asks of it."""
    if request.get("tools") and not any(m["role"] == "tool" for m in request["messages"]):
        return Answer(tool_calls=(tool_call("look"),))
    return '{"answer": "marmalade"}'


def test_each_endpoint_can_be_tried(store: Path, chosen: ScriptedModels) -> None:
    chosen.always("writer-1", plays).always("judge-2", plays)
    done = call(store, "config", "check", "--json")
    assert done.code == 0
    assert done.json["reviewer"]["usable"] and done.json["reviewer"]["tools"] == "yes"
    assert (
        done.json["proposer"]["model"] == "writer-1" and done.json["proposer"]["json"] == "schema"
    )


def test_an_endpoint_that_cannot_play_its_role_says_why(
    store: Path, chosen: ScriptedModels
) -> None:
    chosen.always("judge-2", '{"answer": "yes"}')
    done = call(store, "config", "check", "reviewer")
    assert done.code == 1 and "not usable" in done.out and "it called no tool" in done.out
    chosen.always("judge-2", Answer("Yes, gladly!", model="", headers={"X": "y"}))
    done = call(store, "config", "check", "reviewer")
    assert done.code == 1 and "does not say which model answered" in done.out
    chosen.always("judge-2", Answer(status=401))
    done = call(store, "config", "check", "reviewer")
    assert done.code == 1 and "HTTP status 401" in done.out
    assert "  hint   The endpoint does not take the key.\n" in done.out
    assert call(store, "config", "check", "selector").code == 1
    assert call(store, "config", "check", "boss").code == 2


def test_proposer_and_reviewer_that_are_one_model_are_noticed(
    store: Path, chosen: ScriptedModels
) -> None:
    chosen.always(
        "judge-2",
        lambda r: (
            Answer(plays(r), model="Writer-1-latest")
            if isinstance(plays(r), str)
            else Answer(tool_calls=(tool_call("look"),), model="Writer-1-latest")
        ),
    )
    chosen.always("writer-1", plays)
    assert "the same model" in call(store, "config", "check").err


def test_extract_proposes_and_lets_it_be_reviewed(
    store: Path, chosen: ScriptedModels, chat: str
) -> None:
    done = call(store, "extract", chat)
    assert done.code == 0 and "evidence (model:judge-2@" in done.out
    assert "a person must approve it: its source (file)" in done.out
    (line,) = call(store, "proposals", "--json").json
    again = call(store, "review", line["id"])
    assert again.code == 4 and "judged it already" in again.out
    assert call(store, "approve", line["id"], "--yes", "--as", ADA).code == 0
    why = call(store, "why", "use-tabs").out
    assert "judge-2" in why and "writer-1" in why


def test_extract_without_a_reviewer_says_that_a_person_has_to_judge(
    store: Path, chosen: ScriptedModels, chat: str
) -> None:
    assert call(store, "config", "set", "reviewer.model", "none").code == 0
    done = call(store, "extract", chat)
    assert done.code == 0 and "gitmem config set reviewer.model NAME" in done.err
    assert [line["state"] for line in call(store, "proposals", "--json").json] == ["waiting"]


def test_extract_by_the_rules_asks_nobody(store: Path, chosen: ScriptedModels, chat: str) -> None:
    assert call(store, "extract", chat, "--rules").code == 0
    assert chosen.requests == []


def test_extract_without_a_review_leaves_it_to_later(
    store: Path, chosen: ScriptedModels, chat: str
) -> None:
    result = call(store, "extract", chat, "--no-review", "--json").json
    assert chosen.asked("judge-2") == [] and "review" not in result
    tried = call(store, "review", result["proposal"], "--try", "safety", "--json")
    assert tried.code == 0 and tried.json["reviews"][0]["reviewer"] == "safety"
    reviewed = call(store, "review", result["proposal"], "--json")
    assert reviewed.code == 4 and len(reviewed.json["reviews"]) == 4


def test_a_model_that_fails_ends_extract_with_its_reason_and_nothing_is_read(
    store: Path, chosen: ScriptedModels, chat: str
) -> None:
    chosen.always("writer-1", "Sure! Here are the memories.")
    done = call(store, "extract", chat)
    assert done.code == 1 and "gave no usable answer" in done.err
    assert "Sure!" not in done.out + done.err and "/v1" not in done.err
    chosen.always("writer-1", json.dumps([ITEM]))
    assert call(store, "extract", chat, "--json").json["proposal"]


def test_without_models_each_command_says_how_to_set_one(store: Path, chat: str) -> None:
    proposal = call(store, "extract", chat, "--json").json["proposal"]
    for args, role in (
        (["review", proposal], "reviewer"),
        (["consolidate", "--now"], "consolidator"),
    ):
        done = call(store, *args)
        assert done.code == 1 and f"gitmem config set {role}.model" in done.err
    assert call(store, "extract").code == 2
    assert call(store, "extract", chat, "--queued").code == 2


def test_select_prints_the_block_of_a_turn(store: Path) -> None:
    with MemoryStore.open(store) as memory:
        memory.remember(
            "用户服务器部署在腾讯云国内节点。", name="cloud", type="project", person=ADA
        )
    done = call(store, "select", "腾讯云上有什么")
    assert done.code == 0 and done.out.startswith("<relevant_memories nonce=")
    found = call(store, "select", "腾讯云", "--json").json
    assert found["names"] == ["cloud"] and found["degraded"] is False and found["block"]
    assert call(store, "select", "quantum").out == "Nothing that is remembered fits.\n"


def test_status_counts_what_waits_and_says_why_it_failed(
    store: Path, chosen: ScriptedModels
) -> None:
    from gitmem import MemorySession

    chosen.always("writer-1", "no")
    with MemorySession(store, background=False) as live:
        assert live.complete([user(SAID)])
    found = call(store, "status", "--json").json
    assert found["spool"] == 1 and any("extract --queued" in step for step in found["next"])
    assert call(store, "extract", "--queued").code == 0
    (warning,) = call(store, "status", "--json").json["warnings"]
    assert "was tried once" in warning and "no usable answer" in warning
    chosen.always("writer-1", json.dumps([ITEM]))
    done = call(store, "extract", "--queued")
    assert done.code == 0 and "use-tabs" in done.out
    assert call(store, "status", "--json").json["spool"] == 0
    assert [line["name"] for line in call(store, "list", "--json").json] == ["use-tabs"]


def test_status_says_what_models_took_today(store: Path, chosen: ScriptedModels, chat: str) -> None:
    assert "models today" not in call(store, "status").out
    chosen.always("writer-1", Answer(json.dumps([ITEM]), usage=(40, 2)))
    chosen.always("judge-2", Answer(APPROVE, usage=(10, 5)))
    assert "1 question, 42 tokens" in call(store, "extract", chat).out
    shown = call(store, "status").out
    assert "models today  proposer 1 question, 42 tokens; reviewer 4 questions, 60 tokens" in shown
    assert call(store, "status", "--json").json["usage"]["reviewer"]["tokens"] == 60
