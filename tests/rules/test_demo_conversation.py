"""The conversation that is shipped for the demonstration gives what its tour tells."""

from __future__ import annotations

import json
from pathlib import Path

from gitmem.domain.session import Message
from gitmem.rules import RuleResult, propose
from gitmem.transcripts import read_transcript

CONVERSATION = Path(__file__).parents[2] / "demo" / "conversation.jsonl"


def proposed() -> RuleResult:
    conversation = read_transcript(CONVERSATION)
    messages = [
        Message(index=index, role=raw.role, parts=raw.parts)
        for index, raw in enumerate(conversation.messages)
    ]
    return propose(messages, [])


def test_five_records_come_out_of_it_and_nothing_else() -> None:
    assert [(item.name, item.type, item.body) for item in proposed().items] == [
        (
            "prefer-tabs-over-spaces",
            "user",
            "I prefer tabs over spaces.\n**Why:** my screen reader announces each tab once.",
        ),
        (
            "shengchan-shujuku-qianyi-beifen",
            "feedback",
            "生产数据库迁移必须先备份。\n**Why:** 去年升级时丢过一次数据。",
        ),
        ("postgres-16-production", "project", "We use Postgres 16 in production."),
        ("jiekou-wendang", "reference", "接口文档在 docs/api.md。"),
        (
            "never-push-directly-main-repo-every",
            "feedback",
            "Never push directly to main in this repo, every change goes through a pull request.",
        ),
    ]


def test_its_questions_tasks_and_hearsay_are_passed_over() -> None:
    assert {(left.quote, left.reason) for left in proposed().passed_over} == {
        ("Should we always run the migrations in a transaction?", "a question"),
        ("For now, skip the slow integration tests.", "a task of the moment"),
        ("这次先用 SQLite 跑单元测试就行。", "a task of the moment"),
        ("We use Postgres 15 in production.", "corrected later"),
        ("老板说以后都用英文写注释，不过还没定。", "somebody else's words"),
    }


def test_every_tool_call_in_it_has_its_result() -> None:
    lines = [json.loads(line) for line in CONVERSATION.read_text(encoding="utf-8").splitlines()]
    calls = [call["id"] for line in lines for call in line.get("tool_calls", [])]
    results = [line["tool_call_id"] for line in lines if line["role"] == "tool"]
    assert calls == results
    assert len(calls) == 3
