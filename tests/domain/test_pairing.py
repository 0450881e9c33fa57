"""Tool calls and results of a history belong together, or the history is refused."""

from __future__ import annotations

from typing import Any

import pytest

from gitmem.domain.pairing import check_pairs
from gitmem.errors import InvalidInput

ASK = {"role": "user", "content": "看看"}
END = {"role": "assistant", "content": "done"}


def call(*ids: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [{"id": i} for i in ids]}


def result(name: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": "x"}


@pytest.mark.parametrize(
    "history",
    [
        [],
        [ASK, END],
        [ASK, call("a", "b"), result("b"), result("a"), END],
        [ASK, call("a"), result("a"), call("b"), result("b"), END],
        [ASK, call("call_0"), result("call_0"), END, ASK, call("call_0"), result("call_0"), END],
    ],
)
def test_a_whole_history_passes(history: list[dict[str, Any]]) -> None:
    check_pairs(history)


@pytest.mark.parametrize(
    ("history", "where"),
    [
        ([ASK, call("a")], "message 1"),
        ([ASK, call("a"), END], "message 1"),
        ([ASK, call("a", "b"), result("a"), END], "message 1"),
        ([ASK, result("a")], "message 1"),
        ([call("a"), result("a"), result("a")], "message 2"),
        ([call("a", "a"), result("a"), result("a")], "message 0"),
        ([{"role": "assistant", "tool_calls": 7}], "message 0"),
        ([call("a"), result(None)], "message 1"),
        ([call(None)], "message 0"),
        ([{"role": "assistant", "tool_calls": ["x"]}], "message 0"),
    ],
)
def test_what_does_not_pair_is_named(history: list[dict[str, Any]], where: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_pairs(history)
    assert caught.value.where == where and "whole history" in caught.value.hint
