"""An id by its beginning: the one, or what to type instead."""

from __future__ import annotations

import pytest

from gitmem.errors import NotFound
from gitmem.store.finding import find_by_prefix

IDS = ["edit-20261130-aaaaaa", "extract-20261130-7f3a2c", "extract-20261130-7fbbbb", "extra"]


def find(prefix: str, ids: list[str] = IDS) -> str:
    return find_by_prefix(prefix, ids, "open proposal", "gitmem proposals")


@pytest.mark.parametrize(
    ("typed", "found"),
    [("ed", IDS[0]), (IDS[1], IDS[1]), ("extract-20261130-7fb", IDS[2]), ("extra", "extra")],
)
def test_the_one_that_begins_so_or_is_it_is_found(typed: str, found: str) -> None:
    assert find(typed) == found


def test_too_short_a_beginning_is_answered_with_all_that_begin_so() -> None:
    with pytest.raises(NotFound, match="extract-2 is the beginning of 2 open proposals") as caught:
        find("extract-2")
    assert caught.value.hint.splitlines()[1:3] == [f"  {IDS[1]}", f"  {IDS[2]}"]


def test_of_very_many_the_first_are_listed_and_the_rest_counted() -> None:
    ids = [f"extract-20261130-{number:06x}" for number in range(100)]
    with pytest.raises(NotFound, match="100 open proposals") as caught:
        find("extract", ids)
    lines = caught.value.hint.splitlines()
    assert len(lines) == 11
    assert lines[1] == f"  {ids[0]}"
    assert lines[-2:] == ["  and 92 more", "To see what there is: gitmem proposals"]


def test_a_misspelt_id_is_answered_with_the_ones_like_it() -> None:
    with pytest.raises(NotFound, match="there is no open proposal exrtact") as caught:
        find("exrtact-20261130-7f3a2c")
    assert f"Did you mean {IDS[1]}" in caught.value.hint
    assert "gitmem proposals" in caught.value.hint


def test_a_misspelt_beginning_is_answered_with_what_begins_so() -> None:
    with pytest.raises(NotFound) as caught:
        find("exrtract-20")
    assert caught.value.hint.startswith(f"Did you mean {IDS[1]} or {IDS[2]}")


@pytest.mark.parametrize("typed", ["", "没有", "zzz"])
def test_what_is_like_none_is_answered_with_where_to_look(typed: str) -> None:
    with pytest.raises(NotFound) as caught:
        find(typed)
    assert caught.value.hint == "To see what there is: gitmem proposals"
