"""A person's yes and a person's no: each counts once, for what the person saw, with a trace."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.errors import InvalidInput, NotFound, Refused, Usage, Waiting
from tests.memory.words import (
    ADA,
    BEN,
    NOW,
    change_set,
    item,
    objects,
    opened,
    pushed,
    state,
    user,
    why_dropped,
)
from tests.store.stories import blob, commit_object, plain, rev, tree_with

SAID = "用户服务器部署在腾讯云国内节点。"


def proposed(memory: MemoryStore, text: str = SAID, **other: Any) -> str:
    asked = change_set([user(text)], item(text, description=text[:60], body=text, **other))
    proposal = memory.propose(asked).proposal
    assert proposal
    return proposal


# --- approve -----------------------------------------------------------------------------------


def test_what_was_approved_is_what_was_shown(memory: MemoryStore) -> None:
    proposal = proposed(memory)
    before = state(memory.path)
    with pytest.raises(Refused, match="changed while you were reading") as caught:
        memory.approve(proposal, person=ADA, expected_change="0" * 64)
    assert f"gitmem diff {proposal}" in caught.value.hint
    assert state(memory.path) == before
    shown = memory.diff(proposal)
    done = memory.approve(proposal, person=BEN, expected_change=shown.change)
    assert done.state == "merged" and done.commit == rev(memory.path, "main")
    blob_id = plain(memory.path, "hash-object", f"{memory.path}/{shown.records[0].path}")
    assert memory.show("db-choice").summary.blob == blob_id


def test_a_second_yes_says_that_it_was_merged(memory: MemoryStore) -> None:
    proposal = proposed(memory)
    memory.approve(proposal, person=ADA)
    for decide in (memory.approve, lambda name: memory.reject(name, reason="doch nicht")):
        with pytest.raises(NotFound, match=f"{proposal} is not open: it was merged"):
            decide(proposal)


def test_a_proposal_is_found_by_the_beginning_of_its_id(memory: MemoryStore) -> None:
    first = proposed(memory)
    proposed(memory, "测试环境的端口是 8081。", name="test-port")
    with pytest.raises(NotFound, match="beginning of 2 open proposals") as caught:
        memory.diff("extract-2")
    assert "gitmem proposals" in caught.value.hint
    for unknown in ("extract-19990101-000000", "", "没有"):
        with pytest.raises(NotFound, match="no open proposal"):
            memory.approve(unknown, person=ADA)
    assert memory.diff(first[:-1]).summary.id == first


def test_a_proposal_whose_record_changed_meanwhile_is_stale(memory: MemoryStore) -> None:
    memory.remember("The port is 8080.", name="db-choice", type="project", person=ADA)
    proposal = proposed(memory, "The port is 9090 in every environment.")
    memory.edit("db-choice", body="The port is 8081.", person=BEN)
    before = state(memory.path)
    with pytest.raises(Waiting, match="stale.*db-choice") as caught:  # noqa: RUF043
        memory.approve(proposal, person=ADA)
    assert caught.value.exit_code == 4
    assert f"gitmem rebase {proposal}" in caught.value.hint
    assert state(memory.path) == before
    assert [line.state for line in memory.proposals()] == ["stale"]
    assert any(f"gitmem rebase {proposal}" in step for step in memory.status().next)
    memory.reject(proposal, reason="8081 it is", person=ADA)
    assert memory.show("db-choice").body == "The port is 8081."


def test_a_quote_that_its_session_does_not_bear_out_any_more_is_told_before_approving(
    memory: MemoryStore,
) -> None:
    proposal = proposed(memory)
    (session,) = (memory.path / ".git/gitmem/sessions").glob("*.jsonl")
    session.write_text(session.read_text().replace("腾讯云", "阿里云"))
    codes = {finding.code for finding in memory.diff(proposal).summary.findings}
    assert "session-changed" in codes


def message_of(memory: MemoryStore, commit: str) -> str:
    return plain(memory.path, "log", "-1", "--format=%B", commit) + "\n"


def assert_not_approved(memory: MemoryStore, proposal: str, why: str, shown: str) -> None:
    before = state(memory.path)
    with pytest.raises(Refused, match=why) as caught:
        memory.approve(proposal, person=ADA)
    assert f"gitmem diff {proposal}" in caught.value.hint
    assert state(memory.path) == before
    assert [line.state for line in memory.proposals()] == [shown]
    assert any(proposal in step for step in memory.status().next)


def test_a_proposal_that_the_checks_block_is_not_approved(memory: MemoryStore) -> None:
    proposal = proposed(memory)
    ref = f"refs/heads/proposals/{proposal}"
    message = message_of(memory, ref).replace("Verdict: approve", "Verdict: request_changes")
    message += "Finding: blocker secret db-choice:3 里面有密码\n"
    tree = plain(memory.path, "rev-parse", f"{ref}^{{tree}}")
    review = plain(memory.path, "commit-tree", tree, "-p", f"{ref}^", stdin=message)
    plain(memory.path, "update-ref", ref, review)
    assert_not_approved(memory, proposal, "db-choice: 里面有密码", "changes_requested")


def test_a_text_that_the_checks_did_not_see_is_not_approved(memory: MemoryStore) -> None:
    """Somebody changes the branch with plain git, and puts the old review on it."""
    proposal = proposed(memory)
    ref = f"refs/heads/proposals/{proposal}"
    path = memory.diff(proposal).records[0].path
    text = plain(memory.path, "show", f"{ref}:{path}").replace(SAID, "改过的内容。") + "\n"
    tree = tree_with(
        memory.path, f"{ref}^{{tree}}", {path: ("100644", blob(memory.path, text.encode()))}
    )
    forged = ["commit-tree", tree, "-p"]
    change = plain(memory.path, *forged, f"{ref}^^", stdin=message_of(memory, f"{ref}^"))
    review = plain(memory.path, *forged, change, stdin=message_of(memory, ref))
    plain(memory.path, "update-ref", ref, review)
    assert_not_approved(memory, proposal, "checks have not run on this change", "inconclusive")


def test_a_no_of_another_person_is_not_overruled_by_a_yes_on_the_branch(
    memory: MemoryStore,
) -> None:
    proposal = proposed(memory)
    memory.reject(proposal, reason="写错了", person=BEN)
    with pytest.raises(NotFound, match="it was rejected"):
        memory.approve(proposal, person=ADA)


@pytest.mark.parametrize("person", ["Ada", "Ada <a@b>\nReviewed-By: x", "<a@b>", "艾达"])
def test_a_person_has_a_name_and_an_address(memory: MemoryStore, person: str) -> None:
    proposal = proposed(memory)
    before = state(memory.path)
    with pytest.raises(Usage, match=r"Ada Lovelace <ada@example\.org>"):
        memory.approve(proposal, person=person)
    assert state(memory.path) == before


# --- reject ------------------------------------------------------------------------------------


def test_a_rejected_text_is_kept_here_and_reachable_from_nothing_that_is_pushed(
    memory: MemoryStore,
) -> None:
    proposal = proposed(memory)
    assert SAID.encode() in pushed(memory.path)
    memory.reject(proposal, reason="服务器搬走了", person=BEN)
    assert SAID.encode() not in pushed(memory.path)
    assert SAID.encode() in objects(memory.path, f"refs/gitmem/kept/{proposal}")
    assert memory.proposals() == []
    (entry, _) = memory.log()
    assert (entry.kind, entry.reason) == ("decision", "服务器搬走了")
    assert entry.approved_by == (f"human:{BEN}",)
    again = memory.propose(change_set([user(SAID)], item(SAID, description=SAID, body=SAID)))
    assert again.proposal is None
    assert "服务器搬走了" in why_dropped(again)["db-choice"]
    assert BEN in why_dropped(again)["db-choice"]
    assert memory.fsck().ok


def test_what_was_rejected_is_not_extracted_again(memory: MemoryStore, tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_text(
            '[{"role": "user", "content": "Please remember that the port is 8081."}, '
            f'{{"role": "assistant", "content": "{name}"}}]',
            encoding="utf-8",
        )
    first = memory.extract(tmp_path / "one.json").proposal
    assert first
    memory.reject(first, reason="only in my branch", person=ADA)
    again = memory.extract(tmp_path / "two.json")
    assert again.proposal is None
    assert any("only in my branch" in reason for reason in why_dropped(again).values())


@pytest.mark.parametrize(
    ("reason", "error", "words"),
    [
        ("", Usage, "needs a reason"),
        (" \n\u3000", Usage, "needs a reason"),
        ("长" * 501, Usage, "not 501"),
        ("the password is hunter2-Autumn", InvalidInput, "secret"),
        ("ok\u202eko", InvalidInput, "U\\+202E"),
        ("ok\x1b[31m", InvalidInput, "U\\+001B"),
    ],
    ids=["none", "blank", "long", "secret", "bidi", "escape"],
)
def test_a_rejection_needs_a_reason_that_can_travel(
    memory: MemoryStore, reason: str, error: type[Exception], words: str
) -> None:
    proposal = proposed(memory)
    before = state(memory.path)
    with pytest.raises(error, match=words) as caught:
        memory.reject(proposal, reason=reason, person=ADA)
    assert "hunter2" not in str(caught.value)
    assert state(memory.path) == before
    memory.reject(proposal, reason="长" * 500, person=ADA)
    assert memory.fsck().ok


def broken(memory: MemoryStore, how: str) -> str:
    """An open proposal's name whose branch cannot be read."""
    name = proposed(memory)
    if how == "a copy under another name":
        plain(memory.path, "branch", "proposals/extract-20260101-abcdef", f"proposals/{name}")
        memory.approve(name, person=ADA)
        return "extract-20260101-abcdef"
    path = memory.diff(name).records[0].path if how == "an illegal record" else "notes.txt"
    tip = f"refs/heads/proposals/{name}"
    tree = tree_with(memory.path, f"{tip}^{{tree}}", {path: ("100644", blob(memory.path, b"?\n"))})
    message = plain(memory.path, "log", "-1", "--format=%B", f"{tip}^")
    commit = plain(memory.path, "commit-tree", tree, "-p", f"{tip}^^", stdin=message)
    if how == "no proposal at all":
        commit = plain(memory.path, "commit-tree", tree, "-p", tip, "-m", "手写的提交")
    plain(memory.path, "update-ref", tip, commit)
    return name


@pytest.mark.parametrize(
    "how",
    ["a foreign file", "an illegal record", "no proposal at all", "a copy under another name"],
)
def test_a_branch_that_cannot_be_read_is_shown_with_its_reason_and_can_be_cleared_away(
    memory: MemoryStore, how: str
) -> None:
    name = broken(memory, how)
    tip = rev(memory.path, f"proposals/{name}")
    (shown,) = memory.proposals()
    assert (shown.id, shown.state) == (name, "inconclusive")
    assert shown.findings[0].text
    assert [problem.path for problem in memory.status().problems] == [f"proposals/{name}"]
    for look in (memory.diff, memory.approve):
        with pytest.raises(InvalidInput, match=f"{name} cannot be read") as caught:
            look(name)
        assert f'gitmem reject --reason "unreadable" -- {name}' in caught.value.hint
    memory.reject(name, reason="读不出来", person=ADA)
    assert memory.proposals() == []
    assert rev(memory.path, f"refs/gitmem/kept/{name}^") == tip
    assert plain(memory.path, "ls-tree", "-r", "--name-only", "main", "tombstones/") == ""
    assert any("no tombstones" in note for note in memory.notes)
    assert memory.fsck().ok


def put_ref(memory: MemoryStore, name: str, oid: str) -> None:
    """Point a proposal's branch at anything, which git itself would refuse."""
    path = memory.path / ".git/refs/heads/proposals" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{oid}\n", encoding="utf-8")


@pytest.mark.parametrize("name", ["extract-20260101-abcdef", "没有祖先"])
def test_a_branch_without_its_objects_can_be_cleared_away_too(
    memory: MemoryStore, name: str
) -> None:
    main = plain(memory.path, "cat-file", "commit", "main") + "\n"
    parent = f"parent {'2' * 40}\nauthor"
    put_ref(memory, name, commit_object(memory.path, main.replace("author", parent, 1)))
    assert [line.state for line in memory.proposals()] == ["inconclusive"]
    memory.reject(name, reason="缺对象", person=ADA)
    assert memory.proposals() == []


@pytest.mark.parametrize("name", ["extract-20260101-abcdef", "没有提交"])
@pytest.mark.parametrize("end", ["a blob", "nothing"])
def test_a_branch_that_ends_at_no_commit_is_left_with_the_command_that_removes_it(
    memory: MemoryStore, name: str, end: str
) -> None:
    view = plain(memory.path, "rev-parse", "main:MEMORY.md")
    put_ref(memory, name, view if end == "a blob" else "3" * 40)
    before = plain(memory.path, "rev-parse", "main")
    with pytest.raises(NotFound, match=f"{name} is no branch that could be rejected") as caught:
        memory.reject(name, reason="缺对象", person=ADA)
    assert f"branch -D {quote('proposals/' + name)}" in caught.value.hint
    assert plain(memory.path, "rev-parse", "main") == before
    assert [line.id for line in memory.proposals()] == [name]


# --- where a decision may be taken -------------------------------------------------------------


def test_an_agents_session_takes_no_decision(
    memory: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.may_approve(yes=True, terminal=False)
    memory.may_approve(yes=False, terminal=True)
    with pytest.raises(Usage, match="--yes"):
        memory.may_approve(yes=False, terminal=False)
    monkeypatch.setenv("CLAUDECODE", "1")
    for yes in (True, False):
        with pytest.raises(Refused, match="CLAUDECODE") as caught:
            memory.may_approve(yes=yes, terminal=True)
        assert "terminal of your own" in caught.value.hint


def test_who_decides_is_taken_from_the_environment_or_from_git(
    memory: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = proposed(memory)
    second = proposed(memory, "测试环境的端口是 8081。", name="test-port")
    monkeypatch.setenv("GITMEM_USER", BEN)
    memory.approve(first)
    assert memory.log()[0].approved_by == (f"human:{BEN}",)
    monkeypatch.delenv("GITMEM_USER")
    plain(memory.path, "config", "user.name", "Ada")
    plain(memory.path, "config", "user.email", "ada@example.org")
    with opened(memory.path, NOW) as again:
        again.approve(second)
        assert again.log()[0].approved_by == (f"human:{ADA}",)
        assert again.notes == []
