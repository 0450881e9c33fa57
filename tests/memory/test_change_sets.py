"""A change set is proposed as a whole, refused as a whole, or loses what its quotes do not hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.errors import GitmemError, InvalidInput, NotFound
from tests.memory.words import (
    ADA,
    change_set,
    item,
    objects,
    state,
    user,
    why_dropped,
)

SAID = "The database of the ledger is PostgreSQL 16, not MySQL."
SAID_TOO = "数据库迁移必须先备份，因为去年丢过一次数据。"
GOOD = item(SAID)
SIBLING = item(SAID_TOO, 1, name="backup-first", type="feedback", body=SAID_TOO)
MESSAGES = [user(SAID), user(SAID_TOO)]


def refused(memory: MemoryStore, asked: Any) -> GitmemError:
    """The change set is refused, and neither a ref nor a session was written."""
    before = state(memory.path)
    with pytest.raises(InvalidInput) as caught:
        memory.propose(asked)
    assert state(memory.path) == before
    assert memory.proposals() == []
    return caught.value


def with_second(**other: Any) -> dict[str, Any]:
    return change_set(MESSAGES, GOOD, {**SIBLING, **other})


# --- an illegal shape refuses the whole --------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (with_second(verified=True), "records.1.verified"),
        (
            with_second(evidence=[{"message": 1, "quote": SAID_TOO, "skip_check": True}]),
            "skip_check",
        ),
        (change_set(MESSAGES, GOOD, approved=True), "approved"),
        (change_set(MESSAGES, GOOD, retire=[{"name": "a", "reason": "", "x": 1}]), "retire.0.x"),
        (with_second(path="../x"), "records.1.path"),
        ({**with_second(), "records": [{k: v for k, v in GOOD.items() if k != "body"}]}, "body"),
        (with_second(body=None), "records.1.body"),
        (with_second(name=7), "records.1.name"),
        (with_second(evidence="all"), "records.1.evidence"),
        (with_second(evidence=[SAID_TOO]), "records.1.evidence.0"),
        (with_second(evidence=[{"message": "1", "quote": SAID_TOO}]), "evidence.0.message"),
        (with_second(evidence=[{"message": True, "quote": SAID_TOO}]), "evidence.0.message"),
        (with_second(evidence=[{"message": 1.0, "quote": SAID_TOO}]), "evidence.0.message"),
        (with_second(evidence=[{"message": 1, "quote": ["a"]}]), "evidence.0.quote"),
        ({**with_second(), "records": {"name": "x"}}, "records"),
        ({**with_second(), "kind": "remember"}, "kind"),
        ({**with_second(), "kind": 1}, "kind"),
        ({**with_second(), "session": "some-session"}, "change set"),
        ({"kind": "extract", "records": [GOOD]}, "change set"),
        ({**with_second(), "messages": []}, "messages: holds no message"),
        ({**with_second(), "messages": ["嗨"]}, "messages.0"),
        ({**with_second(), "messages": [{"content": "嗨"}]}, "messages[0]"),
        ([GOOD], "change set"),
        ("db-choice", "change set"),
        (None, "change set"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_key_or_a_kind_of_value_that_does_not_belong_refuses_all(
    memory: MemoryStore, asked: Any, field: str
) -> None:
    error = refused(memory, asked)
    assert field in str(error)
    assert error.hint or error.message


LONG = "x" * 255
NAMES = [
    "CON", "nul", "nul.md", "com1", "COM1.txt", "lpt9", "a:b", "trail. ", "..", ".git", "a/b",
    "a\\b", "-rf", LONG, "가" * 85, "Foo", "café", "cafe\u0301", "．．／x", "", "A B", "../x",
    "a--b", "ｆｏｏ", "名字", "x" * 81, "/etc/x.md", "%2e%2e/x", "records/./a.md", ".", "a\0b",
    "a.lock",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:20])
def test_an_illegal_name_refuses_all_and_is_never_rewritten(memory: MemoryStore, name: str) -> None:
    error = refused(memory, with_second(name=name))
    assert "name" in error.message
    assert len(error.message) < 600
    assert "lower-case" in error.hint
    assert not any(character in str(error) for character in "\0．ｆ")


def test_names_that_differ_in_case_only_cannot_both_be_proposed(memory: MemoryStore) -> None:
    refused(memory, change_set(MESSAGES, item(SAID, name="foo"), item(SAID, name="Foo")))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"type": "preference"}, ["'preference'", "user, feedback, project, reference"]),
        ({"type": ""}, ["user, feedback, project, reference"]),
        ({"description": ""}, ["backup-first: description", "empty"]),
        ({"description": " \u3000"}, ["backup-first: description", "empty"]),
        ({"description": "两\n行"}, ["backup-first: description"]),
        ({"description": "字" * 201}, ["backup-first: description", "201", "200"]),
        ({"body": ""}, ["backup-first: body", "empty"]),
        ({"body": "cafe\u0301"}, ["backup-first: body", "NFC"]),
        ({"body": "a\u202eb"}, ["backup-first: body", "U+202E"]),
        ({"body": "x" * 50_000_000}, ["backup-first: body", "50000000", "4096"]),
        ({"description": "x" * 50_000_000}, ["backup-first: description", "50000000", "200"]),
        ({"evidence": []}, ["backup-first: evidence", "0", "16"]),
        ({"name": "db-choice"}, ["db-choice", "twice"]),
    ],
    ids=lambda value: ascii(str(value))[:40],
)
def test_a_field_past_its_limit_refuses_all_and_names_item_field_and_limit(
    memory: MemoryStore, change: dict[str, Any], words: list[str]
) -> None:
    error = refused(memory, with_second(**change))
    assert [word for word in words if word not in str(error)] == []


def test_what_is_wrong_is_shown_shortly_and_on_one_line(memory: MemoryStore) -> None:
    error = refused(memory, change_set(MESSAGES, {**GOOD, "\x1b[31m" + "k" * 1_000_000: 1}))
    assert len(error.message) < 400
    assert error.message.isprintable()


def test_a_name_cannot_be_revised_and_retired_at_once(memory: MemoryStore) -> None:
    retire = [{"name": "db-choice", "reason": "old"}]
    assert "twice" in refused(memory, change_set(MESSAGES, GOOD, retire=retire)).message


def test_a_reason_for_retiring_has_a_limit(memory: MemoryStore) -> None:
    asked = change_set(MESSAGES, GOOD, retire=[{"name": "old", "reason": "因" * 501}])
    error = refused(memory, asked)
    assert "old: reason" in error.message and "501" in error.message and "500" in error.message


def test_a_batch_of_more_than_a_thousand_is_refused_before_anything_is_written(
    memory: MemoryStore,
) -> None:
    many = [item(SAID, name=f"record-{number}") for number in range(1001)]
    error = refused(memory, change_set(MESSAGES, *many))
    assert "1001" in error.message and "1000" in error.message


# --- limits, to the byte -----------------------------------------------------------------------


@pytest.mark.parametrize("filler", ["b", "字"])
def test_a_file_has_at_most_4096_bytes(memory: MemoryStore, filler: str) -> None:
    def after(body: str) -> bytes:
        result = memory.propose(change_set(MESSAGES, item(SAID, body=body)))
        assert result.proposal
        return memory.diff(result.proposal).records[0].after.encode()

    def body(size: int) -> str:
        room, wide = size - bare, len(filler.encode())
        return filler * (room // wide) + "b" * (room % wide)

    bare = len(after("c")) - 1
    assert [len(after(body(size))) for size in (4095, 4096)] == [4095, 4096]
    before = state(memory.path)
    with pytest.raises(InvalidInput, match=r"db-choice.*4097.*4096"):
        after(body(4097))
    assert state(memory.path) == before


def test_a_file_has_at_most_200_lines(memory: MemoryStore) -> None:
    head = 8  # what the frontmatter of a record with one quote and the blank line take
    result = memory.propose(change_set(MESSAGES, item(SAID, body="\n".join("行" * (200 - head)))))
    assert result.proposal
    assert len(memory.diff(result.proposal).records[0].after.splitlines()) == 200
    memory.reject(result.proposal, reason="only measured", person=ADA)
    error = refused(memory, change_set(MESSAGES, item(SAID, body="\n".join("行" * (201 - head)))))
    assert "201 lines" in error.message and "200" in error.message


def test_a_description_of_200_characters_is_kept_whole(memory: MemoryStore) -> None:
    for text in ("x" * 199, "字" * 200):
        result = memory.propose(change_set(MESSAGES, item(SAID, description=text, body=text)))
        assert result.records[0].description == text


def test_a_record_cites_at_most_sixteen_quotes(memory: MemoryStore) -> None:
    messages = [user(f"In service {n} we use PostgreSQL 16.") for n in range(17)]
    quotes = [{"message": n, "quote": m["content"]} for n, m in enumerate(messages)]
    error = refused(memory, change_set(messages, item("", evidence=quotes)))
    assert (
        "db-choice: evidence" in error.message and "17" in error.message and "16" in error.message
    )
    result = memory.propose(change_set(messages, item("", evidence=quotes[:16])))
    assert result.proposal
    assert len(memory.diff(result.proposal).records[0].quotes) == 16


def test_a_quote_given_twice_is_cited_once(memory: MemoryStore) -> None:
    twice = [{"message": 0, "quote": SAID}, {"message": 0, "quote": f" {SAID} "}]
    result = memory.propose(change_set(MESSAGES, item("", evidence=twice)))
    assert result.proposal
    assert len(memory.diff(result.proposal).records[0].quotes) == 1


# --- an item whose quote fails is dropped alone ------------------------------------------------

TALK = [
    user("He said “use tabs” — and I agree with α in (0, 1)."),
    user("好的，使用制表符缩进代码。"),
    user("I use tabs\n   in every\tfile of the project."),
    user("a" * 1001 + " " + "字" * 501),
]


@pytest.mark.parametrize(
    ("message", "quote", "reason"),
    [
        (0, "I never said this at all", "does not stand in message 0"),
        (0, 'He said "use tabs" — and I agree', "near miss"),
        (0, "he said “use tabs” — and i agree", "near miss"),
        (0, "I agree with alpha in (0, 1)", "does not stand"),
        (0, "He said ... I agree", "does not stand"),
        (0, "I use tabs in every file", "it stands in message 2"),
        (-1, "I use tabs in every file", "messages 0 to 3"),
        (4, "I use tabs in every file", "messages 0 to 3"),
        (10**30, "I use tabs in every file", "messages 0 to 3"),
        (0, "use tab", "7 characters"),
        (1, "好的，", "6 characters"),
        (0, "", "0 characters"),
        (0, "        \n       ", "0 characters"),
        (3, "a" * 1001, "1001 characters"),
        (3, "字" * 501, "1002 characters"),
        (0, "[redacted:password] is the one", "redacted"),
    ],
    ids=lambda value: ascii(str(value))[:30],
)
def test_an_item_whose_quote_fails_is_dropped_and_its_sibling_goes_on(
    memory: MemoryStore, message: int, quote: str, reason: str
) -> None:
    good = item("好的，使用", 1, name="good", type="user", body="用制表符")
    result = memory.propose(change_set(TALK, item(quote, message), good))
    assert why_dropped(result).keys() == {"db-choice"}
    assert reason in why_dropped(result)["db-choice"]
    assert [record.name for record in result.records] == ["good"]


@pytest.mark.parametrize(
    ("message", "quote"),
    [
        (0, "use tabs"),
        (1, "使用制表"),
        (2, "I use tabs in every file of the project."),
        (2, "I use\ntabs in\n every file"),
        (3, "a" * 1000),
        (3, "字" * 500),
    ],
    ids=lambda value: ascii(str(value))[:30],
)
def test_a_quote_at_the_limit_or_wrapped_otherwise_is_accepted(
    memory: MemoryStore, message: int, quote: str
) -> None:
    result = memory.propose(change_set(TALK, item(quote, message)))
    assert result.dropped == ()
    assert result.proposal
    (record,) = memory.diff(result.proposal).records
    assert record.quotes[0].quote == quote
    assert memory.approve(result.proposal, person=ADA).state == "merged"


def test_one_failing_quote_of_two_drops_the_item(memory: MemoryStore) -> None:
    both = [{"message": 0, "quote": SAID}, {"message": 1, "quote": "没有人说过这句话"}]
    result = memory.propose(change_set(MESSAGES, item("", evidence=both), SIBLING))
    assert why_dropped(result).keys() == {"db-choice"}
    assert [record.name for record in result.records] == ["backup-first"]


def test_a_quote_of_another_session_is_refused(memory: MemoryStore) -> None:
    first = memory.propose(change_set(MESSAGES, GOOD))
    other = memory.propose(change_set([user("Something else was said here.")], SIBLING))
    assert "messages 0 to 0" in why_dropped(other)["backup-first"]
    asked = {"session": first.session, "records": [SIBLING]}
    assert [record.name for record in memory.propose(asked).records] == ["backup-first"]
    with pytest.raises(NotFound, match=r"no-such-session.*not on this machine"):
        memory.propose({"session": "no-such-session", "records": [SIBLING]})


@pytest.mark.parametrize(
    "make",
    [
        lambda: ("The token\u202e is kept in the vault.", "The token\u202e is kept in the vault."),
        lambda: ("用 Postgres" + " " * 20_000 + "十六", "用 Postgres" + " " * 20_000 + "十六"),
    ],
    ids=["hidden character", "mostly blanks"],
)
def test_a_quote_that_cannot_be_kept_drops_its_item_alone(
    memory: MemoryStore, make: Callable[[], tuple[str, str]]
) -> None:
    text, quote = make()
    asked = change_set([user(text), user(SAID_TOO)], item(quote), SIBLING)
    result = memory.propose(asked)
    assert why_dropped(result).keys() == {"db-choice"}
    assert [record.name for record in result.records] == ["backup-first"]


def test_a_hundred_megabytes_of_quote_never_reach_git(memory: MemoryStore) -> None:
    huge = "大象" * 17_000_000
    result = memory.propose(change_set(MESSAGES, item(huge), SIBLING))
    assert "at most 1000" in why_dropped(result)["db-choice"]
    assert len(objects(memory.path)) < 200_000


def test_two_items_that_say_the_same_become_one_record(memory: MemoryStore) -> None:
    twin = {**GOOD, "name": "twin", "body": GOOD["body"].upper()}
    result = memory.propose(change_set(MESSAGES, GOOD, twin))
    assert [record.name for record in result.records] == ["db-choice"]
    assert why_dropped(result) == {"twin": "says the same as db-choice beside it"}


def test_messages_that_only_a_caller_vouches_for_wait_for_a_person(memory: MemoryStore) -> None:
    said = "I prefer dark mode in every editor."
    asked = change_set([user(said)], item(said, name="dark", type="user"))
    assert memory.propose(asked).state == "waiting"
    (line,) = memory.proposals()
    assert any("caller" in reason for reason in line.waits_for)
    (record,) = memory.diff(line.id).records
    assert [quote.attested for quote in record.quotes] == ["caller"]
    assert memory.list() == []


# --- retiring ----------------------------------------------------------------------------------


def test_a_retired_record_waits_for_a_person_and_an_unknown_one_is_dropped(
    memory: MemoryStore,
) -> None:
    first = memory.propose(change_set(MESSAGES, GOOD)).proposal
    assert first
    memory.approve(first, person=ADA)
    retire = [{"name": "db-choice", "reason": "换了 MySQL"}, {"name": "unknown", "reason": ""}]
    result = memory.propose(change_set(MESSAGES, retire=retire))
    assert why_dropped(result) == {"unknown": "there is no such record to retire"}
    assert result.proposal
    assert memory.diff(result.proposal).retire_reasons == {"db-choice": "换了 MySQL"}
    (waiting,) = memory.proposals()
    assert any("retires" in reason for reason in waiting.waits_for)
    memory.approve(result.proposal, person=ADA)
    assert memory.list() == []
    assert memory.fsck().ok


def test_a_change_set_that_leaves_nothing_makes_no_proposal(memory: MemoryStore) -> None:
    retire = [{"name": "unknown", "reason": ""}]
    result = memory.propose(change_set(MESSAGES, item("没有人说过这句话"), retire=retire))
    assert (result.proposal, result.state) == (None, "nothing")
    assert len(result.dropped) == 2
    assert memory.proposals() == []


# --- many at once ------------------------------------------------------------------------------


def test_three_hundred_records_are_proposed_and_merged_at_once(
    memory: MemoryStore, tmp_path: Path
) -> None:
    said = [f"服务 {n} 监听端口 {8000 + n}, behind proxy {n * 7}." for n in range(300)]
    records = [
        item(text, n, name=f"service-{n}", description=text, body=text)
        for n, text in enumerate(said)
    ]
    result = memory.propose(change_set([user(text) for text in said], *records))
    assert result.proposal and len(result.records) == 300
    assert len(result.findings) <= 3 * 300
    memory.approve(result.proposal, person=ADA)
    assert len(memory.list()) == 300
    assert memory.search("8042")[0].name == "service-42"
