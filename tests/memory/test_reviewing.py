"""Reviews by a model over real HTTP: what approves, what does not, and what never does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.errors import NotFound
from gitmem.testing import Answer, ScriptedModels, tool_call
from tests.memory.words import ADA, NOW, change_set, item, user

TEXT = "Always use tabs in this project, 不要用空格."
APPROVE = '{"verdict": "approve", "findings": []}'
REVIEWERS = ("conflict", "durability", "evidence", "safety")


def verdict(word: str, **finding: object) -> str:
    import json

    whole = {"record": "use-tabs", "line": 7, "evidence": None, "text": "不对。", "change": None}
    return json.dumps({"verdict": word, "findings": [{**whole, **finding}]}, ensure_ascii=False)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModels]:
    with ScriptedModels() as running:
        monkeypatch.setenv("GITMEM_REVIEWER_MODEL", "judge-2")
        monkeypatch.setenv("GITMEM_REVIEWER_BASE_URL", running.url)
        yield running


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore.init(tmp_path / "memory", clock=lambda: NOW) as opened:
        yield opened


@pytest.fixture
def proposal(memory: MemoryStore) -> str:
    """What a model proposed out of a session that a client announced."""
    proposed = put(memory)
    return proposed


def put(memory: MemoryStore, by: str = "model:writer-1@127.0.0.1", attested: str = "hook") -> str:
    from gitmem.domain.proposal_item import Citation, Item
    from gitmem.services.propose import make_batch, propose
    from gitmem.transcripts import read_messages

    sessions, store = memory._sessions(), memory._opened()
    with store.repo.lock():
        kept = sessions.capture(
            read_messages([user(TEXT)]), attested=attested, now="2026-11-30T00:00:00Z"
        )
    origin = memory._origin("extract", by, kept.session.id, attested)
    one = Item(
        name="use-tabs",
        type="feedback",
        description="Use tabs",
        body="Use tabs, not spaces.",
        evidence=(Citation(message=0, quote="Always use tabs in this project"),),
    )
    result = propose(store, kept.session, make_batch([one]), origin)
    assert result.proposal
    return result.proposal


def test_what_every_reviewer_approves_is_merged_and_why_names_them(
    memory: MemoryStore, models: ScriptedModels, proposal: str
) -> None:
    models.always("judge-2", Answer(APPROVE, model="Judge-2-20260101", usage=(10, 5)))
    outcome = memory.review(proposal)
    assert (outcome.state, outcome.tokens) == ("merged", 60)
    assert [line.name for line in memory.list()] == ["use-tabs"]
    (merged,) = memory.why("use-tabs").history
    by_models = [r for r in merged.reviews if r.reviewer != "checks"]
    assert [r.reviewer for r in by_models] == list(REVIEWERS)
    assert {r.by.partition("@")[0] for r in by_models} == {"model:Judge-2-20260101"}
    assert merged.approved_by == (by_models[0].by,)
    assert memory.fsck().ok and memory.proposals() == []


def test_a_reviewer_reads_the_whole_conversation_and_the_store_as_data(
    memory: MemoryStore, models: ScriptedModels, proposal: str
) -> None:
    session = memory.diff(proposal).records[0].quotes[0].session
    memory.remember("We deploy on Tuesdays.", name="deploy-day", person=ADA)
    calls = (
        tool_call("read_session", call_id="a", session=session, message=0),
        tool_call("search_records", call_id="b", query="deploy"),
        tool_call("show_record", call_id="c", name="deploy-day"),
        tool_call("show_diff", call_id="d", name="use-tabs"),
        tool_call("approve", call_id="e", name="use-tabs"),
    )
    models.say("judge-2", Answer(tool_calls=calls)).always("judge-2", APPROVE)
    memory.review(proposal, only="evidence")
    told = [m["content"] for m in models.requests[-1]["messages"] if m["role"] == "tool"]
    assert "不要用空格" in told[0] and "deploy-day" in told[1] and "Tuesdays" in told[2]
    assert "Use tabs, not spaces." in told[3] and "there is no tool" in told[4]
    system = models.requests[0]["messages"][0]["content"]
    assert "use-tabs" not in system.replace("user-prefers-tabs", "") and "writer-1" not in str(
        models.requests
    )


def test_a_reviewer_that_is_tried_leaves_no_trace(
    memory: MemoryStore, models: ScriptedModels, proposal: str
) -> None:
    models.always("judge-2", APPROVE)
    before = memory._opened().repo.refs("refs/")
    outcome = memory.review(proposal, only="safety")
    assert [r.verdict for r in outcome.reviews] == ["approve"]
    assert memory._opened().repo.refs("refs/") == before
    with pytest.raises(NotFound, match="conflict, durability, evidence, safety"):
        memory.review(proposal, only="nobody")


def test_one_reviewer_that_asks_for_changes_holds_it_back_with_its_findings(
    memory: MemoryStore, models: ScriptedModels, proposal: str
) -> None:
    models.say("judge-2", APPROVE, verdict("request_changes", change="只写本项目。"))
    models.always("judge-2", APPROVE)
    outcome = memory.review(proposal)
    assert outcome.state == "changes_requested" and memory.list() == []
    (line,) = memory.proposals()
    assert [(f.record, f.line, f.text) for f in line.findings] == [
        ("use-tabs", 7, "不对。 To mend it: 只写本项目。")
    ]
    assert len(models.requests) == 4
    memory.review(proposal)
    assert len(models.requests) == 4, "who has judged this change is not asked again"


def test_what_a_model_rejects_is_put_aside_and_can_be_reopened(
    memory: MemoryStore, models: ScriptedModels, proposal: str
) -> None:
    models.say("judge-2", verdict("reject")).always("judge-2", APPROVE)
    assert memory.review(proposal).state == "rejected"
    (kept,) = memory.kept()
    assert (kept.state, kept.reason) == ("rejected", "不对。") and "judge-2" in kept.by
    assert memory.proposals() == [] and memory.list() == []
    assert memory._opened().head().tip == memory._opened().head().accepted
    assert memory.reopen(proposal).proposal == proposal


def test_what_only_a_person_may_let_in_waits_for_one(
    memory: MemoryStore, models: ScriptedModels
) -> None:
    proposal = put(memory, attested="file")
    models.always("judge-2", APPROVE)
    outcome = memory.review(proposal)
    assert outcome.state == "waiting" and "may merge by itself" in outcome.waits_for[0]
    assert memory.list() == []


NO_VERDICT = [
    Answer(status=500, headers={"x-should-retry": "false"}),
    Answer("approve"),
    Answer(f"Looks good. {APPROVE}"),
    Answer(f"```json\n{APPROVE}\n```"),
    Answer('{"verdict": "APPROVE", "findings": []}'),
    Answer('{"verdict": "approved", "findings": []}'),
    Answer('{"verdict": "DISAPPROVE", "findings": []}'),
    Answer('{"verdict": "approve"}'),
    Answer('{"findings": []}'),
    Answer('{"verdict": "approve", "findings": [], "gate": "passed"}'),
    Answer('{"verdict": "reject", "verdict": "approve", "findings": []}'),
    Answer(f"{APPROVE}{APPROVE}"),
    Answer(f"<think>{APPROVE}"),
    Answer(f"<think>{APPROVE}</think>"),
    Answer(None, message={"reasoning_content": APPROVE}),
    Answer(None),
    Answer(APPROVE, finish_reason="length"),
    Answer(APPROVE, message={"refusal": "I cannot judge this."}),
    Answer(APPROVE, model=""),
    Answer(APPROVE, model="writer-1"),
    Answer(APPROVE, model="vendor-x/Writer-1-latest"),
    Answer(APPROVE, model="writer-1-2026-11-01"),
    Answer(APPROVE, cut=20),
    Answer(body=b"data: {}\n\n"),
    Answer(body=b'{"error": {"message": "quota"}}'),
]


def test_no_failure_approves_or_rejects(
    memory: MemoryStore, models: ScriptedModels, proposal: str
) -> None:
    start = memory._opened().head().tip
    for number, answer in enumerate(NO_VERDICT):
        models.always("judge-2", answer)
        outcome = memory.review(proposal)
        assert outcome.merge is None and outcome.state == "inconclusive", (number, outcome)
        assert {r.verdict for r in outcome.reviews} == {"inconclusive"}, number
        assert all(r.reason for r in outcome.reviews), number
        assert memory._opened().head().tip == start, number
        assert [line.id for line in memory.proposals()] == [proposal], number
    models.always("judge-2", APPROVE)
    assert memory.review(proposal).state == "merged", "a later verdict counts"


def test_a_model_never_judges_what_it_proposed(memory: MemoryStore, models: ScriptedModels) -> None:
    proposal = put(memory, by="model:vendor/Judge-2-latest@elsewhere.example")
    outcome = memory.review(proposal)
    assert outcome.state == "inconclusive" and models.requests == []
    assert all("not different" in r.reason for r in outcome.reviews)


def test_without_the_session_there_is_no_verdict(
    memory: MemoryStore, models: ScriptedModels, proposal: str
) -> None:
    for name in memory._sessions().list_ids():
        memory._sessions().remove(name)
    outcome = memory.review(proposal)
    assert models.requests == [] and outcome.state == "inconclusive"
    assert all(r.reason.startswith("session not here") for r in outcome.reviews)


def test_the_same_failure_again_is_written_down_once(
    memory: MemoryStore, models: ScriptedModels, proposal: str
) -> None:
    models.always("judge-2", "no")
    memory.review(proposal)
    tip = memory._opened().repo.refs("refs/heads/proposals/")
    memory.review(proposal)
    assert memory._opened().repo.refs("refs/heads/proposals/") == tip


def test_a_spent_budget_is_no_verdict(
    memory: MemoryStore,
    models: ScriptedModels,
    proposal: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text('budget:\n  tokens: "1000"\n')
    monkeypatch.setenv("GITMEM_CONFIG", str(config))
    models.always("judge-2", Answer(APPROVE, usage=(600, 1)))
    outcome = memory.review(proposal)
    assert [r.verdict for r in outcome.reviews] == ["approve", "approve", *["inconclusive"] * 2]
    assert outcome.state == "inconclusive" and "1202 of 1000" in outcome.reviews[-1].reason


def test_without_a_model_it_says_how_to_set_one(memory: MemoryStore, proposal: str) -> None:
    with pytest.raises(NotFound, match=r"gitmem config set reviewer\.model"):
        memory.review(proposal)
    assert change_set and item
