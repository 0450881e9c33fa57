"""Whether a record holds on a day, and what lists say of it."""

from __future__ import annotations

import pytest

from gitmem.domain.validity import EXPIRED, FUTURE, marks, validity


@pytest.mark.parametrize(
    ("valid_from", "valid_until", "day", "expected"),
    [
        (None, None, "2026-10-01", None),
        (None, "2026-10-01", "2026-10-01", None),
        (None, "2026-10-01", "2026-10-02", EXPIRED),
        ("2026-10-01", None, "2026-10-01", None),
        ("2026-10-01", None, "2026-09-30", FUTURE),
        ("2026-10-01", "2026-10-01", "2026-10-01", None),
        ("2026-10-01", "2026-10-02", "2026-10-03", EXPIRED),
        ("2026-10-01", "2026-10-02", "0001-01-01", FUTURE),
    ],
)
def test_both_dates_belong_to_the_time_in_which_a_record_holds(
    valid_from: str | None, valid_until: str | None, day: str, expected: str | None
) -> None:
    assert validity(valid_from, valid_until, day) == expected


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ((None, None, None, None, ()), ()),
        (("unconfirmed", None, None, None, ()), ("unconfirmed",)),
        ((None, "2026-01-01", None, None, ()), ()),
        ((None, "2026-01-01", "2026-12-31", None, ()), ("until 2026-12-31",)),
        ((None, "2026-01-01", "2026-12-31", FUTURE, ()), ("from 2026-01-01", "until 2026-12-31")),
        ((None, "2026-01-01", "2026-12-31", EXPIRED, ()), ("expired 2026-12-31",)),
        (
            ("unconfirmed", None, "2026-12-31", EXPIRED, ("甲", "b")),
            ("unconfirmed", "expired 2026-12-31", "superseded by 甲, b"),
        ),
    ],
)
def test_marks_say_what_matters_on_that_day(
    record: tuple[str | None, str | None, str | None, str | None, tuple[str, ...]],
    expected: tuple[str, ...],
) -> None:
    assert marks(*record) == expected
