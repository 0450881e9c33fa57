"""extract by a proposer model over real HTTP, and drafts that go back to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.errors import ModelFailed, Waiting
from gitmem.testing import Answer, ScriptedModels
from tests.cases.calls import call
from tests.memory.words import ADA, NOW, user, why_dropped, write_lines

SAID = "In this repository we always use tabs, 不要用空格。"
APPROVE = '{"verdict": "approve", "findings": []}'


def answer(**fields: Any) -> str:
    whole = {
        "name": "use-tabs",
        "type": "feedback",
        "description": "Use tabs in this repository",
        "body": "Use tabs, not spaces.",
        "evidence": [{"message": 0, "quote": "we always use tabs, 不要用空格"}],
        **fields,
    }
    return json.dumps([whole], ensure_ascii=False)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModels]:
    with ScriptedModels() as running:
        for role, model in (("PROPOSER", "writer-1"), ("REVIEWER", "judge-2")):
            monkeypatch.setenv(f"GITMEM_{role}_MODEL", model)
            monkeypatch.setenv(f"GITMEM_{role}_BASE_URL", running.url)
        yield running


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return write_lines(
        tmp_path / "对话.jsonl", [user(SAID), {"role": "assistant", "content": "OK"}]
    )


def test_a_model_proposes_with_quotes_and_is_named(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    models.say("writer-1", Answer(answer(), model="Writer-1-2026"))
    result = memory.extract(chat)
    assert result.proposal and [r.name for r in result.records] == ["use-tabs"]
    (line,) = memory.proposals()
    assert line.proposed_by.startswith("model:Writer-1-2026@127.0.0.1:")
    assert memory.extract(chat).proposal is None
    assert len(models.requests) == 1, "nothing is new, so nothing is asked"


def test_the_proposer_sees_classes_names_and_what_is_near_as_data(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    memory.remember("Use spaces in Python files.", name="use-spaces", person=ADA)
    models.say("writer-1", "[]")
    assert memory.extract(chat).proposal is None
    system, data = models.requests[0]["messages"]
    body = json.loads(data["content"].partition("\n")[2].rpartition("\n")[0])
    assert [part["class"] for m in body["messages"] for part in m["parts"]] == [
        "human",
        "assistant",
    ]
    assert body["names"] == ["use-spaces"] and body["related"][0]["name"] == "use-spaces"
    assert SAID not in system["content"]
    memory.extract(chat)
    assert len(models.requests) == 1, "what holds nothing was read, too"


@pytest.mark.parametrize(
    "said",
    [
        Answer(status=503, headers={"x-should-retry": "false"}),
        Answer(answer(), finish_reason="length"),
        Answer(answer(), model=""),
        Answer("I found nothing."),
        Answer(answer(verified=True)),
        Answer(answer(name="Not A Name")),
        Answer(answer(type="opinion")),
        Answer(answer(description="x" * 201)),
        Answer(answer(evidence=[])),
        Answer(answer(body="x" * 5000)),
    ],
    ids=lambda said: (said.text or "")[:30],
)
def test_an_answer_of_no_use_proposes_nothing_and_the_turn_stays_unread(
    memory: MemoryStore, models: ScriptedModels, chat: Path, said: Answer
) -> None:
    models.say("writer-1", said, said, answer())
    try:
        with pytest.raises(ModelFailed):
            memory.extract(chat)
    finally:
        models._queued["writer-1"].clear()
    assert memory.proposals() == []
    models.say("writer-1", answer())
    assert memory.extract(chat).proposal


def test_what_no_message_says_is_dropped_alone_and_named(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    good = json.loads(answer())[0]
    other = {**good, "name": "use-vim", "evidence": [{"message": 0, "quote": "I always use vim"}]}
    by_tool = {**good, "name": "says-ok", "evidence": [{"message": 1, "quote": "OK, will do that"}]}
    models.say("writer-1", json.dumps([good, other, by_tool]))
    result = memory.extract(chat)
    assert [r.name for r in result.records] == ["use-tabs"]
    assert set(why_dropped(result)) == {"use-vim", "says-ok"}


def test_the_rules_read_where_that_is_asked_for(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    result = memory.extract(chat, by_model=False)
    assert result.proposal and models.requests == []
    assert memory.proposals()[0].proposed_by == "rules"


def test_a_day_has_an_end_for_models(
    memory: MemoryStore, models: ScriptedModels, chat: Path, tmp_path: Path
) -> None:
    memory.set_policy("daily_proposals", "1", person=ADA)
    memory.extract(chat, by_model=False)
    more = write_lines(tmp_path / "more.jsonl", [user("We deploy on Tuesdays, always.")])
    deploy = answer(
        name="deploy-day",
        body="Deploy on Tuesdays.",
        description="Deploy on Tuesdays",
        evidence=[{"message": 0, "quote": "We deploy on Tuesdays"}],
    )
    models.say("writer-1", deploy)
    first = memory.extract(more).proposal
    third = write_lines(tmp_path / "third.jsonl", [user("The port is 8081, remember that.")])
    with pytest.raises(Waiting, match="1 proposals today"):
        memory.extract(third)
    assert first
    memory.approve(first, person=ADA)
    with pytest.raises(Waiting, match="the policy allows 1"):
        memory.extract(third)
    assert len(models.requests) == 1
    with MemoryStore.open(memory.path, clock=lambda: NOW + 86_400) as tomorrow:
        models.say("writer-1", "[]")
        tomorrow.extract(third)


def test_a_long_conversation_goes_in_stretches_and_no_piece_loses_its_class(
    memory: MemoryStore, models: ScriptedModels, tmp_path: Path
) -> None:
    long = "word 词 " * 9_000
    messages = [user(SAID), {"role": "assistant", "content": long}, user("Thanks, 谢谢你。")]
    chat = write_lines(tmp_path / "long.jsonl", messages)
    models.always("writer-1", "[]")
    memory.extract(chat)
    seen = []
    for request in models.requests:
        data = request["messages"][1]["content"]
        assert len(data) < 60_000
        body = json.loads(data.partition("\n")[2].rpartition("\n")[0])
        seen += [(m["index"], p["class"], p["text"]) for m in body["messages"] for p in m["parts"]]
    assert len(models.requests) > 1
    assert {(index, cls) for index, cls, _ in seen} == {
        (0, "human"),
        (1, "assistant"),
        (2, "human"),
    }
    assert "".join(text for index, _, text in seen if index == 1).strip() == long.strip()


# --- rounds ----------------------------------------------------------------------------------


def changes(text: str = "The message says: in this repository.") -> str:
    finding = {
        "record": "use-tabs",
        "line": 9,
        "evidence": None,
        "text": text,
        "change": "Narrow it.",
    }
    return json.dumps({"verdict": "request_changes", "findings": [finding]})


def test_a_draft_that_is_sent_back_is_answered_by_another(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    models.say("writer-1", answer(), answer(body="Use tabs in this repository, not spaces."))
    first = memory.extract(chat).proposal
    assert first
    models.say("judge-2", changes(), APPROVE, APPROVE, APPROVE).always("judge-2", APPROVE)
    outcome = memory.review(first)
    assert outcome.state == "waiting" and outcome.proposal != first
    (line,) = memory.proposals()
    assert line.id == outcome.proposal
    (kept,) = memory.kept()
    assert (kept.id, kept.state, kept.by) == (first, "superseded", outcome.proposal)
    assert kept.reason == "answered in round 1"
    assert [
        f.text for review in kept.reviews for f in review.findings if review.reviewer == "conflict"
    ]
    told = models.asked("writer-1")[-1]["messages"]
    assert "The message says: in this repository." in told[1]["content"]
    assert "The message says" not in told[0]["content"]
    memory.approve(outcome.proposal, person=ADA)
    assert "in this repository" in memory.show("use-tabs").body
    assert memory.fsck().ok


def test_after_the_last_round_a_person_decides(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    models.say("writer-1", *(answer(body=f"Use tabs, not spaces. ({n})") for n in range(3)))
    models.always("judge-2", changes())
    first = memory.extract(chat).proposal
    assert first
    outcome = memory.review(first)
    assert outcome.state == "changes_requested" and len(memory.kept()) == 2
    assert len(models.asked("writer-1")) == 3
    assert memory.review(outcome.proposal).state == "changes_requested"
    assert len(models.asked("writer-1")) == 3
    memory.approve(outcome.proposal, person=ADA)


def test_why_shows_every_round_with_what_was_found_in_it(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    models.say("writer-1", *(answer(body=f"Use tabs, not spaces. ({n})") for n in range(3)))
    asked_for = [changes(f"第 {n} 轮: too wide.") for n in range(2)]
    models.say("judge-2", asked_for[0], *[APPROVE] * 3, asked_for[1]).always("judge-2", APPROVE)
    first = memory.extract(chat).proposal
    assert first
    last = memory.review(first).proposal
    memory.approve(last, person=ADA)
    (merged,) = memory.why("use-tabs").history
    assert [(draft.round, draft.missing) for draft in merged.earlier] == [(0, ""), (1, "")]
    assert merged.earlier[0].proposal == first and merged.proposal == last
    found = [
        [f.text for r in draft.reviews for f in r.findings if r.reviewer == "conflict"]
        for draft in merged.earlier
    ]
    assert found == [[f"第 {n} 轮: too wide. To mend it: Narrow it."] for n in range(2)]
    assert {(kept.round, kept.follows) for kept in memory.kept()} == {(0, None), (1, first)}
    shown = call(memory.path, "why", "use-tabs").out
    assert f"first draft {first}" in shown and "第 0 轮: too wide." in shown
    assert shown.index("第 0 轮") < shown.index("第 1 轮") < shown.index("approved by")
    listed = call(memory.path, "proposals", "--kept").out
    assert "answered in round 1; conflict: 第 0 轮: too wide." in listed
    as_json = call(memory.path, "why", "use-tabs", "--json").json
    assert as_json["history"][0]["earlier"][1]["reviews"][1]["verdict"] == "request_changes"
    memory.reopen(first)
    assert [draft.missing for draft in memory.why("use-tabs").history[0].earlier] == ["", ""]
    with MemoryStore.open(memory.path, clock=lambda: NOW + 91 * 86_400) as later:
        later._opened().expire_kept(NOW + 91 * 86_400)
        (second,) = later.why("use-tabs").history[0].earlier
    assert (second.round, second.reviews) == (1, ()) and "not kept" in second.missing
    assert "its reviews: it is not kept on this machine" in call(memory.path, "why", "use-tabs").out


def test_what_its_proposer_withdraws_is_put_aside(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    models.say("writer-1", answer(), "[]")
    models.always("judge-2", changes())
    first = memory.extract(chat).proposal
    assert first and memory.review(first).state == "withdrawn"
    assert memory.proposals() == [] and "withdrawn" in memory.kept()[0].reason


def test_a_proposer_that_cannot_answer_leaves_its_draft_to_a_person(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    models.say("writer-1", answer(), "no", "no")
    models.always("judge-2", changes())
    first = memory.extract(chat).proposal
    assert first and memory.review(first).state == "changes_requested"
    assert [line.id for line in memory.proposals()] == [first] and memory.kept() == []
    assert any("waits for a person" in note for note in memory.notes)


# --- what a reviewer turned down ---------------------------------------------------------------

REJECT = json.dumps(
    {
        "verdict": "reject",
        "findings": [
            {"record": "use-tabs", "line": None, "evidence": None, "text": "不对。", "change": None}
        ],
    }
)


def rejected(memory: MemoryStore, models: ScriptedModels, chat: Path) -> str:
    """A proposal of a model that another one rejected."""
    models.say("writer-1", answer())
    proposal = memory.extract(chat).proposal
    assert proposal
    models.say("judge-2", REJECT).always("judge-2", APPROVE)
    assert memory.review(proposal).state == "rejected"
    return proposal


def test_what_a_model_rejected_is_not_proposed_again_and_the_way_back_is_named(
    memory: MemoryStore, models: ScriptedModels, chat: Path, tmp_path: Path
) -> None:
    proposal = rejected(memory, models, chat)
    told = f"judge-2 rejected this in {proposal}; to have it judged again: gitmem reopen {proposal}"
    models.say("writer-1", answer(name="tabs-again"))
    again = memory.extract(chat, again=True)
    assert again.proposal is None and why_dropped(again) == {"tabs-again": told}
    other = write_lines(tmp_path / "other.jsonl", [user(SAID), user("And deploy on Tuesdays.")])
    deploy = json.loads(answer(name="deploy-day", body="Deploy on Tuesdays.", description="Day"))
    deploy[0]["evidence"] = [{"message": 1, "quote": "deploy on Tuesdays"}]
    models.say("writer-1", json.dumps([*json.loads(answer()), *deploy]))
    result = memory.extract(other)
    assert [r.name for r in result.records] == ["deploy-day"], "its siblings go on"
    assert why_dropped(result) == {"use-tabs": told}


def test_what_a_model_rejected_can_be_reopened_reworded_and_remembered_by_a_person(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    proposal = rejected(memory, models, chat)
    models.say("writer-1", answer(body="Use tabs in this repository, nowhere else."))
    assert memory.extract(chat, again=True).proposal
    item = json.loads(answer())[0]
    kept = memory.remember(item["body"], name="mine", description=item["description"], person=ADA)
    assert kept.state == "merged"
    memory.forget("mine", person=ADA)
    assert memory.reopen(proposal).proposal == proposal
    assert memory.approve(proposal, person=ADA).state == "merged"


def test_what_no_reviewer_rejected_may_come_again(
    memory: MemoryStore, models: ScriptedModels, chat: Path
) -> None:
    """A draft that was answered by another one was not turned down."""
    narrower = answer(body="Use tabs in this repository, not spaces.")
    models.say("writer-1", answer(), narrower)
    first = memory.extract(chat).proposal
    assert first
    models.say("judge-2", changes(), APPROVE, APPROVE, APPROVE).always("judge-2", APPROVE)
    assert [kept.state for kept in (memory.review(first) and memory.kept())] == ["superseded"]
    models.say("writer-1", answer(name="first-again"))
    assert memory.extract(chat, again=True).proposal
