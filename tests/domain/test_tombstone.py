"""Tombstones: named by what they bury, in one form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.canonical import canonical_file
from gitmem.domain.layout import parse_tombstone_path, tombstone_path
from gitmem.domain.tombstone import (
    MAX_TOMBSTONE_BYTES,
    Tombstone,
    parse_tombstone,
    statement_hash,
)
from gitmem.errors import InvalidInput


def bury(statement: str = "用制表符") -> Tombstone:
    return Tombstone(
        version=1,
        id="forget-20261130-7f3a2c",
        names=["prefers-tabs"],
        who=["human:Ada <ada@example.org>"],
        when="2026-11-30T16:20:11Z",
        reason="不再成立\nsecond line",
        hash=statement_hash(statement),
    )


def test_a_tombstone_is_read_back_from_its_only_form() -> None:
    data = bury().to_bytes()
    assert parse_tombstone(data, "t") == bury()
    assert bury().to_bytes() == data
    assert data.count(b"\n") == 1


def test_its_file_is_named_by_the_hash_of_the_statement() -> None:
    key = bury().key
    assert len(key) == 40
    assert bury().hash.startswith(key)
    assert parse_tombstone_path(tombstone_path(key)) == key


@pytest.mark.parametrize(
    "other",
    [
        "User prefers TABS!",
        "user   prefers\ntabs.",
        "Ｕｓｅｒ ｐｒｅｆｅｒｓ ｔａｂｓ",
        "“User” prefers — tabs",
        "user pre\u200bfers tabs",
    ],
)
def test_case_punctuation_width_and_space_do_not_bring_a_fact_back(other: str) -> None:
    assert statement_hash(other) == statement_hash("User prefers tabs")


@pytest.mark.parametrize(
    "other",
    [
        "缩进用制表符、不用空格！数据库是 postgresql 16",
        "「缩进用制表符」，“不用空格”。【数据库是 PostgreSQL 16】……",
        "缩进用制表符,不用空格.数据库是\u3000ＰｏｓｔｇｒｅＳＱＬ\u3000１６。",
        "缩进用制表符\n不用空格；数据库是 PostgreSQL\xa016",
        "缩进用制表\u200b符，不用空格。数据库是 PostgreSQL 16\ufe0f",
    ],
)
def test_chinese_punctuation_and_full_width_forms_do_not_bring_a_fact_back(other: str) -> None:
    """Where two sentences meet something must part them; what it is does not matter."""
    fact = "缩进用制表符，不用空格。数据库是 PostgreSQL 16"
    assert statement_hash(other) == statement_hash(fact)


@pytest.mark.parametrize("other", ["User prefers spaces", "User prefers tab", "用户喜欢 tabs", ""])
def test_another_fact_has_another_hash(other: str) -> None:
    assert statement_hash(other) != statement_hash("User prefers tabs")


def test_the_hash_of_a_statement_never_changes() -> None:
    # Stores hold these names for ever; a second implementation has to find the same ones.
    assert statement_hash("User prefers tabs\n用制表符。")[:40] == (
        "760643bfc942cf32f5af964d09e0ad44b50877a7"
    )


@pytest.mark.parametrize(
    ("id", "verb"),
    [("forget-20261101-aaaaaa", "forgot"), ("extract-20261101-aaaaaa", "rejected")],
)
def test_it_says_what_was_done_when_and_why(id: str, verb: str) -> None:
    tombstone = bury().model_copy(update={"id": id})
    assert tombstone.verb == verb
    assert tombstone.decision == f"on 2026-11-30 ({id}): 不再成立 second line"
    assert tombstone.model_copy(update={"reason": ""}).decision == f"on 2026-11-30 ({id})"


@pytest.mark.parametrize("field", ["id", "when", "reason"])
def test_what_it_says_obeys_no_escape_sequence(field: str) -> None:
    tombstone = bury().model_copy(update={field: "x\x1b[2J\u202e\ny"})
    assert tombstone.decision.isprintable()


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": True},
        {"id": None},
        {"names": "prefers-tabs"},
        {"who": []} | {"extra": 1},
        {"hash": "f" * 40},
        {"hash": "F" * 64},
        {"reason": 3},
    ],
)
def test_another_shape_is_refused(change: dict[str, object]) -> None:
    fields = {**bury().model_dump(), **change}
    with pytest.raises(InvalidInput, match=r"^where: "):
        parse_tombstone(canonical_file(fields), "where")


def test_the_same_content_in_other_bytes_is_refused() -> None:
    with pytest.raises(InvalidInput, match="canonical"):
        parse_tombstone(json.dumps(bury().model_dump()).encode(), "where")


@pytest.mark.parametrize("data", [b"", b"[]", b"null\n", b"\xff", b"[" * 4000, b"{}\n"])
def test_what_is_no_tombstone_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        parse_tombstone(data, "where")


def test_an_oversize_tombstone_is_refused_with_limit_and_size() -> None:
    with pytest.raises(InvalidInput, match=f"4097 bytes.*{MAX_TOMBSTONE_BYTES}"):
        parse_tombstone(b" " * (MAX_TOMBSTONE_BYTES + 1), "where")


@given(st.text())
def test_every_statement_has_a_file(statement: str) -> None:
    path = tombstone_path(statement_hash(statement)[:40])
    assert parse_tombstone_path(path) == statement_hash(statement)[:40]
