"""Statements that say the same, or nearly so, are found in small and in large batches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.duplicates import MAX_CLOSE, NEAR_DUPLICATE, close_statements

WORDS = ["tabs", "spaces", "use", "never", "数据库", "用制表符", "deploy", "ruff", "port", "8081"]
STATEMENT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "User prefers tabs for indentation\nUse tabs, not spaces, for indentation.",
            "User likes tabs for indentation\nUse tabs for indentation, not spaces.",
        ),
        ("用户喜欢用制表符缩进代码，不用空格。", "用户喜欢用制表符缩进代码，而不用空格。"),
    ],
)
def test_nearly_the_same_words_are_close(first: str, second: str) -> None:
    ((close,),) = close_statements([("first", first)], [("second", second)])
    assert (close.name, close.same) == ("first", False)
    assert NEAR_DUPLICATE <= close.score < 1.0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "The staging database is PostgreSQL 16\nIt runs in Frankfurt.",
            "The production database is PostgreSQL 15\nIt is backed up every night.",
        ),
        ("用户服务器部署在腾讯云国内节点。", "用户喜欢用制表符缩进代码。"),
        ("Use tabs.", "Deploy on Mondays."),
    ],
)
def test_other_facts_are_not_close(first: str, second: str) -> None:
    assert close_statements([("first", first)], [("second", second)]) == [[]]


@given(st.lists(STATEMENT, max_size=8), st.lists(STATEMENT, min_size=1, max_size=8))
def test_the_closest_are_those_that_comparing_all_with_all_finds(
    known: list[str], new: list[str]
) -> None:
    texts = [(f"r{number}", text) for number, text in enumerate([*known, *new])]
    found = close_statements(texts[: len(known)], texts[len(known) :])
    for number, close in enumerate(found, start=len(known)):
        pairs = [close_statements([other], [texts[number]])[0] for other in texts[:number]]
        scores = sorted((one.score for pair in pairs for one in pair), reverse=True)
        assert [one.score for one in close] == scores[:MAX_CLOSE]


def test_equal_statements_come_before_close_ones_and_three_are_named() -> None:
    texts = ["Use tabs for all the code.", "Use tabs for all code.", "use TABS for all the code!"]
    known = [(f"r{number}", text) for number, text in enumerate(texts * 2)]
    (close,) = close_statements(known, [("new", texts[0])])
    assert [(one.name, one.same) for one in close] == [("r0", True), ("r2", True), ("r3", True)]


def test_a_thousand_statements_that_share_most_words_are_gone_through() -> None:
    """Every pair is close; comparing each with each would be half a million comparisons."""
    text = "部署在腾讯云国内节点，端口是 {0}，" + " ".join(f"word{n}" for n in range(200))
    new = [(f"r{number}", text.format(number)) for number in range(1000)]
    found = close_statements([], new)
    assert found[0] == []
    assert all(len(close) == MAX_CLOSE for close in found[MAX_CLOSE:])
