"""Instants: one form in texts, seconds in commits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.instants import compact_day, format_instant, parse_instant
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
