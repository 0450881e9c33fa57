"""Instants: one form in texts, seconds in commits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.instants import compact_day, format_instant, parse_instant, read_moment
from gitmem.errors import InvalidInput

LAST = 253402300799  # 9999-12-31T23:59:59Z


@given(st.integers(0, LAST))
def test_seconds_survive_their_text(epoch: int) -> None:
    assert parse_instant(format_instant(epoch)) == epoch


def test_the_text_is_utc() -> None:
    assert format_instant(1796055611) == "2026-11-30T16:20:11Z"
    assert compact_day(1796055611) == "20261130"


@pytest.mark.parametrize("epoch", [-1, LAST + 1, 10**18, -(10**18)])
def test_seconds_outside_1970_to_9999_are_refused(epoch: int) -> None:
    with pytest.raises(InvalidInput, match="1970 and 9999"):
        format_instant(epoch)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-30",
        "2026-11-30T16:20:11",
        "2026-11-30T16:20:11+00:00",
        "2026-11-30 16:20:11Z",
        "2026-11-30T16:20:11Z\n",
        "2026-02-30T00:00:00Z",
        "2026-11-30T24:00:00Z",
        "２０２６-11-30T16:20:11Z",
    ],
)
def test_a_text_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_instant(text)


# --- what a person types -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-11-30", "2026-11-30T23:59:59Z"),
        ("2024-2-29", "2024-02-29T23:59:59Z"),
        ("2026-11-30T16:20", "2026-11-30T16:20:00Z"),
        ("2026-11-30 6:20:11", "2026-11-30T06:20:11Z"),
        ("2026-11-30T16:20:11Z", "2026-11-30T16:20:11Z"),
        ("2026-11-30t16:20:11z", "2026-11-30T16:20:11Z"),
        ("2026-12-01T00:20:11+08:00", "2026-11-30T16:20:11Z"),
        ("2026-11-30T11:20:11-0500", "2026-11-30T16:20:11Z"),
        ("1970-01-01T00:00", "1970-01-01T00:00:00Z"),
    ],
)
def test_a_day_lasts_to_its_end_and_all_is_utc_unless_said_otherwise(
    text: str, instant: str
) -> None:
    assert read_moment(text) == parse_instant(instant)


def test_days_before_1970_and_the_last_one_have_their_seconds() -> None:
    assert read_moment("1969-12-31") == -1
    assert read_moment("0001-01-01T00:00+23:59") is not None
    assert read_moment("9999-12-31") == LAST
    assert read_moment("9999-12-31T23:59:59-12:00") == LAST + 12 * 3600


@pytest.mark.parametrize(
    "text",
    ["", "main", "2026", "2026-11", "20261130", "2026-11-30T", "2026-11-30T16", "2026-11-30Z",
     "2026-11-30\n", " 2026-11-30", "２０２６-11-30", "2026-11-30T16:20+8", "26-11-30", "昨天"],
)  # fmt: skip
def test_another_text_is_no_moment(text: str) -> None:
    assert read_moment(text) is None


@pytest.mark.parametrize(
    "text",
    ["2026-02-29", "2026-00-10", "0000-01-01", "2026-11-31", "2026-11-30T24:00",
     "2026-11-30T10:60", "2026-11-30T10:00:60", "2026-11-30T10:00+24:00", "2026-11-30T10:00-0060"],
)  # fmt: skip
def test_a_day_or_time_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"no real day or time|no offset"):
        read_moment(text)


@given(st.integers(0, LAST))
def test_the_form_of_commits_is_one_that_can_be_typed(epoch: int) -> None:
    assert read_moment(format_instant(epoch)) == epoch
