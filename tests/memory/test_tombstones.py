"""What a person rejected or forgot does not come back by itself, and a person can bring it back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.errors import Waiting
from gitmem.results import FindingView, ProposalDiff, ProposalResult
from tests.memory.words import (
    ADA,
    BEN,
    DAY,
    NOW,
    change_set,
    item,
    opened,
    user,
    why_dropped,
    write_lines,
)
from tests.store.stories import copy, plain, rev

SAID = "Please remember that the port of the staging server is 8081."
FACT = "缩进用制表符，不用空格，所有的代码都是这样。"
NEARLY = "缩进要用制表符，不用空格，所有的代码都是这样的。"


def asked(*texts: str, name: str = "tabs", **other: Any) -> dict[str, Any]:
    """A change set with one record for each text: tabs, tabs-1, tabs-2."""
    records = [
        item(text, name=f"{name}-{n}" if n else name, description=text[:60], body=text)
        for n, text in enumerate(texts)
    ]
    return change_set([user("\n".join(texts))], *records, **other)


def remember(memory: MemoryStore, text: str = FACT, name: str = "tabs") -> None:
    memory.remember(text, name=name, description=text[:60], type="project", person=ADA)


def rejected(memory: MemoryStore, text: str = FACT, reason: str = "不再成立") -> str:
    proposal = memory.propose(asked(text)).proposal
    assert proposal
    memory.reject(proposal, reason=reason, person=BEN)
    return proposal


def tombstones(memory: MemoryStore) -> list[str]:
    return plain(memory.path, "ls-tree", "-r", "--name-only", "main", "tombstones/").split()


def named(result: ProposalResult | ProposalDiff) -> list[FindingView]:
    findings = result.findings if isinstance(result, ProposalResult) else result.summary.findings
    return [finding for finding in findings if finding.code == "tombstone"]


def conversation(folder: Path, name: str) -> Path:
    answer = {"role": "assistant", "content": f"好的, {name}"}
    return write_lines(folder / f"{name}.jsonl", [user(SAID), answer])


def extracted(memory: MemoryStore, path: Path) -> str:
    proposal = memory.extract(path).proposal
    assert proposal
    return proposal


# --- the same words ----------------------------------------------------------------------------


def test_what_was_forgotten_is_not_extracted_again(memory: MemoryStore, tmp_path: Path) -> None:
    """Neither from the same conversation nor from another one that says the same."""
    one, two = conversation(tmp_path, "one"), conversation(tmp_path, "two")
    memory.approve(extracted(memory, one), person=ADA)
    (line,) = memory.list()
    memory.forget(line.name, reason="端口换了", person=BEN)
    assert memory.extract(one).proposal is None
    again = memory.extract(two)
    assert again.proposal is None
    assert BEN in why_dropped(again)[line.name]
    assert "forgot this on 2026-09-21 (forget-" in why_dropped(again)[line.name]
    assert why_dropped(again)[line.name].endswith(": 端口换了")
    assert memory.list() == [] and memory.proposals() == []


def test_a_clone_that_is_behind_does_not_bring_a_forgotten_fact_back(
    memory: MemoryStore, tmp_path: Path
) -> None:
    memory.approve(extracted(memory, conversation(tmp_path, "one")), person=ADA)
    clone = copy(memory.path, tmp_path / "clone")
    (line,) = memory.list()
    memory.forget(line.name, reason="端口换了", person=ADA)
    with opened(clone) as behind:
        assert behind.extract(conversation(tmp_path, "two")).proposal is None  # it knows it
    follow(clone, memory)
    with opened(clone) as caught_up:
        assert caught_up.list() == []
        again = caught_up.extract(conversation(tmp_path, "three"))
        assert again.proposal is None
        assert "forgot this on 2026-09-21" in why_dropped(again)[line.name]
        assert caught_up.list() == []


def test_a_proposal_older_than_the_forgetting_waits_for_a_person_who_may_approve_it(
    memory: MemoryStore, tmp_path: Path
) -> None:
    clone = copy(memory.path, tmp_path / "clone")
    with opened(clone) as behind:
        proposal = extracted(behind, conversation(tmp_path, "two"))
    memory.approve(extracted(memory, conversation(tmp_path, "one")), person=ADA)
    (line,) = memory.list()
    memory.forget(line.name, reason="端口换了", person=ADA)
    follow(clone, memory)
    with opened(clone) as caught_up:
        assert caught_up.list() == []
        (waiting,) = caught_up.proposals()
        assert waiting.state == "waiting"
        reason = f"a person rejected or forgot this before: {line.name}"
        assert reason in "; ".join(waiting.waits_for)
        caught_up.approve(proposal, person=BEN)
        assert [record.name for record in caught_up.list()] == [line.name]
        assert tombstones(caught_up) == []
        assert caught_up.fsck().ok


def follow(clone: Path, memory: MemoryStore) -> None:
    plain(clone, "fetch", "-q", str(memory.path), "main")
    plain(clone, "merge", "-q", "--ff-only", "FETCH_HEAD")


@pytest.mark.parametrize(
    "text",
    [
        "缩进用制表符, 不用空格. 所有的代码都是这样!",
        "缩进用制表符；不用空格；所有的代码都是这样……",
        "「缩进用制表符」「不用空格」（所有的代码都是这样）",
    ],
)
def test_other_punctuation_does_not_bring_a_fact_back(memory: MemoryStore, text: str) -> None:
    rejected(memory)
    again = memory.propose(asked(text))
    assert again.proposal is None
    assert why_dropped(again)["tabs"].endswith(": 不再成立")


def test_full_width_letters_and_case_do_not_bring_a_fact_back(memory: MemoryStore) -> None:
    rejected(memory, "数据库是 PostgreSQL 16。")
    again = memory.propose(asked("数据库是\u3000ＰＯＳＴＧＲＥＳＱＬ\u3000１６．"))
    assert again.proposal is None
    assert "rejected this on 2026-09-21" in why_dropped(again)["tabs"]


def test_a_record_is_not_revised_to_what_was_forgotten(memory: MemoryStore) -> None:
    remember(memory)
    memory.forget("tabs", reason="不再成立", person=ADA)
    remember(memory, "缩进用四个空格。")
    again = memory.propose(asked(FACT))
    assert again.proposal is None
    assert "forgot this on" in why_dropped(again)["tabs"]
    close = memory.propose(asked(NEARLY))
    assert close.proposal
    assert [effect.change for effect in close.records] == ["revised"]
    assert [finding.record for finding in named(close)] == ["tabs"]


# --- nearly the same words -----------------------------------------------------------------------


def test_what_is_nearly_what_was_forgotten_waits_for_a_person_and_names_the_decision(
    memory: MemoryStore,
) -> None:
    remember(memory)
    forgotten = memory.forget("tabs", reason="不再成立", person=BEN)
    before = tombstones(memory)
    result = memory.propose(asked(NEARLY))
    assert result.proposal and result.state == "waiting"
    (finding,) = named(result)
    assert (finding.severity, finding.record) == ("warning", "tabs")
    assert finding.text.startswith("is close in its words (")
    assert f"to what you forgot on 2026-09-21 ({forgotten.proposal}): 不再成立" in finding.text
    assert named(memory.diff(result.proposal)) == [finding]
    (waiting,) = memory.proposals()
    assert "nearly says, what a person rejected or forgot" in "; ".join(waiting.waits_for)
    memory.approve(result.proposal, person=ADA)
    assert [record.name for record in memory.list()] == ["tabs"]
    assert tombstones(memory) == before  # it buries other words
    assert memory.fsck().ok


def test_what_is_nearly_what_was_rejected_is_named_while_its_text_is_here(
    memory: MemoryStore,
) -> None:
    proposal = rejected(memory)
    first = memory.propose(asked(NEARLY))
    assert first.proposal
    (finding,) = named(first)
    assert f"to what you rejected on 2026-09-21 ({proposal}): 不再成立" in finding.text
    memory.reject(first.proposal, reason="还是不对", person=BEN)
    for kept in (proposal, first.proposal):
        plain(memory.path, "update-ref", "-d", f"refs/gitmem/kept/{kept}")
    with opened(memory.path) as later:
        assert later.propose(asked(FACT)).proposal is None
        plainly = later.propose(asked(NEARLY.replace("所有", "全部")))
        assert plainly.proposal and named(plainly) == []


def test_a_fact_of_other_words_is_proposed_without_a_word(memory: MemoryStore) -> None:
    rejected(memory)
    result = memory.propose(asked("测试数据库是 SQLite，每天晚上清空。"))
    assert result.proposal and result.findings == ()


def test_each_of_many_in_one_batch_is_named(memory: MemoryStore) -> None:
    facts = [f"第 {n} 号服务器在法兰克福机房，端口是 {8000 + n * 7}。" for n in range(4)]
    proposal = memory.propose(asked(*facts)).proposal
    assert proposal
    memory.reject(proposal, reason="机房关了", person=ADA)
    same, close = facts[:2], [fact.replace("，端口是", "，它的端口是") for fact in facts[2:]]
    result = memory.propose(asked(*same, *close))
    assert sorted(why_dropped(result)) == ["tabs", "tabs-1"]
    assert all("机房关了" in reason for reason in why_dropped(result).values())
    assert {finding.record for finding in named(result)} == {"tabs-2", "tabs-3"}
    assert all("机房关了" in finding.text for finding in named(result))


# --- a person brings it back -------------------------------------------------------------------


@pytest.mark.parametrize("how", ["forgotten", "rejected"])
def test_a_person_who_says_it_again_is_told_and_brings_it_back(
    memory: MemoryStore, how: str
) -> None:
    if how == "forgotten":
        remember(memory)
        memory.forget("tabs", reason="不再成立", person=BEN)
    else:
        rejected(memory)
    verb = "forgot" if how == "forgotten" else "rejected"
    before, shown = rev(memory.path, "main"), []

    def answer(yes: bool) -> Any:
        def confirm(diff: ProposalDiff) -> bool:
            shown.append(diff)
            return yes

        return confirm

    said = {"name": "tabs", "description": FACT[:60], "type": "project", "person": ADA}
    with opened(memory.path, NOW + DAY) as later:
        declined = later.remember(FACT, **said, confirm=answer(False))
        assert declined.state == "declined"
        assert (rev(later.path, "main"), len(tombstones(later))) == (before, 1)
        assert later.remember(FACT, **said, confirm=answer(True)).state == "merged"
        for diff in shown:
            (finding,) = named(diff)
            assert finding.text.startswith(f"you {verb} this on 2026-09-21 (")
            assert finding.text.endswith(": 不再成立")
        assert len(shown) == 2
        assert [record.name for record in later.list()] == ["tabs"]
        assert tombstones(later) == []
        assert later.fsck().ok


def test_what_was_brought_back_and_forgotten_again_is_dated_anew(memory: MemoryStore) -> None:
    remember(memory)
    memory.forget("tabs", reason="first", person=BEN)
    with opened(memory.path, NOW + DAY) as later:
        remember(later)
        later.forget("tabs", reason="第二次", person=ADA)
        assert len(tombstones(later)) == 1
        again = later.propose(asked(FACT))
        assert "forgot this on 2026-09-22" in why_dropped(again)["tabs"]
        assert why_dropped(again)["tabs"].endswith(": 第二次")


# --- which decision a tombstone tells of ---------------------------------------------------------


def test_the_first_of_two_decisions_about_the_same_words_is_told(memory: MemoryStore) -> None:
    """Two records came to say the same, and both are forgotten."""
    remember(memory)
    remember(memory, "缩进用四个空格。", name="spaces")
    memory.edit("spaces", body=FACT, description=FACT[:60], person=ADA)
    memory.forget("tabs", reason="最早的理由", person=BEN)
    memory.forget("spaces", reason="later", person=ADA)
    assert len(tombstones(memory)) == 1
    assert why_dropped(memory.propose(asked(FACT)))["tabs"].endswith(": 最早的理由")
    assert memory.fsck().ok


def test_retiring_a_record_buries_nothing(memory: MemoryStore) -> None:
    remember(memory)
    retire = {"kind": "consolidate", "retire": [{"name": "tabs", "reason": "写在文档里了"}]}
    result = memory.propose({"messages": [user("清理一下。")], "records": [], **retire})
    assert result.proposal
    with pytest.raises(Waiting):
        memory._opened().merge(result.proposal)
    memory.approve(result.proposal, person=ADA)
    assert memory.list() == [] and tombstones(memory) == []
    again = memory.propose(asked(FACT))
    assert again.proposal and named(again) == []
    assert named(memory.propose(asked(NEARLY))) == []


def test_the_first_reason_stands_when_the_same_words_are_rejected_again(
    memory: MemoryStore,
) -> None:
    """A proposal older than the forgetting says the same, and is rejected too."""
    proposal = memory.propose(asked(FACT, name="indent")).proposal
    assert proposal
    remember(memory)
    memory.forget("tabs", reason="最早的理由", person=BEN)
    memory.reject(proposal, reason="later", person=ADA)
    assert len(tombstones(memory)) == 1
    again = memory.propose(asked(FACT))
    assert why_dropped(again)["tabs"].endswith(": 最早的理由")
    assert memory.fsck().ok
