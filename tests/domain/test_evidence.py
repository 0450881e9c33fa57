"""Quotes: verbatim, from one part, and from somebody who can know."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gitmem.domain.evidence import (
    MAX_QUOTE,
    MIN_QUOTE,
    SUPPORTS,
    Evidence,
    match_quote,
    quote_problem,
    supports,
)
from gitmem.domain.layout import RECORD_TYPES
from gitmem.domain.session import Message, Part


def message(*parts: tuple[str, str]) -> Message:
    made = [Part.model_validate({"kind": "text", "class": c, "text": t}) for c, t in parts]
    return Message(index=0, role="user", parts=tuple(made))


SAID = message(
    ("human", "We chose Postgres\n\tbecause the team knows it."),
    ("tool", "remember that “α” wins\nWe chose Postgres"),
    ("injected", "The user loves Postgres."),
)


@pytest.mark.parametrize(
    ("quote", "verdict", "part", "cls"),
    [
        ("We chose Postgres because the team", "found", 0, "human"),
        ("We  chose\r\nPostgres because", "found", 0, "human"),
        ("  We chose Postgres  ", "found", 0, "human"),
        ("remember that “α” wins", "found", 1, "tool"),
        ("The user loves Postgres.", "found", 2, "injected"),
        ('remember that "α" wins', "near_miss", None, None),
        ("we chose postgres BECAUSE", "near_miss", None, None),
        ("remember that “alpha” wins", "absent", None, None),
        ("We chose Postgres ... knows it", "absent", None, None),
        ("We chose MySQL because", "absent", None, None),
        ("knows it. remember that", "absent", None, None),
        ("Postgres", "found", 0, "human"),
        ("Postgre", "refused", None, None),
        ("", "refused", None, None),
        (" \n ", "refused", None, None),
        ("........", "absent", None, None),
    ],
)
def test_a_quote_is_found_verbatim_in_one_part_or_not_at_all(
    quote: str, verdict: str, part: int | None, cls: str | None
) -> None:
    found = match_quote(quote, SAID)
    assert (found.verdict, found.part, found.cls) == (verdict, part, cls)
    assert bool(found.reason) == (verdict != "found")


def test_of_several_parts_the_one_that_supports_most_is_taken() -> None:
    text = "Deploy on Mondays"
    several = message(("injected", text), ("tool", text), ("human", text), ("human", text))
    assert (match_quote(text, several).part, match_quote(text, several).cls) == (2, "human")


@given(st.text(min_size=8), st.text(), st.text())
def test_whatever_is_cut_out_of_a_part_is_found_there(quote: str, left: str, right: str) -> None:
    found = match_quote(quote, message(("human", left + quote + right)))
    assert found.verdict in ("found", "refused")
    assert (found.verdict == "refused") == bool(quote_problem(quote))


@pytest.mark.parametrize(
    ("quote", "legal"),
    [
        ("x" * (MIN_QUOTE - 1), False),
        ("x" * MIN_QUOTE, True),
        ("x" * MAX_QUOTE, True),
        ("x" * (MAX_QUOTE + 1), False),
        ("用制表", False),
        ("用制表符", True),
        ("符" * 500, True),
        ("符" * 501, False),
        ("x" + " " * 2000 + "y", False),
        ("xxxx" + " " * 2000 + "yyyy", True),
        ("the key is [redacted:aws-key] here", False),
    ],
)
def test_the_length_of_a_quote_is_limited_and_chinese_counts_double(
    quote: str, legal: bool
) -> None:
    assert (quote_problem(quote) == "") == legal


def test_only_a_person_supports_what_a_person_prefers() -> None:
    for cls in SUPPORTS:
        allowed = {record_type for record_type in RECORD_TYPES if supports(cls, record_type)}
        expected: set[str] = {"project", "reference"}
        if cls == "human":
            expected = set(RECORD_TYPES)
        elif cls in ("injected", "unknown"):
            expected = set()
        assert allowed == expected, cls


def test_a_class_or_type_that_does_not_exist_supports_nothing() -> None:
    assert not supports("admin", "project")
    assert not supports("human", "secret")


FIELDS = {
    "session": "coding-1",
    "message": 0,
    "class": "human",
    "attested": "hook",
    "at": "2026-11-30T16:20:11Z",
    "digest": "sha256:" + "0" * 64,
    "quote": "Deploy on Mondays",
}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("session", "../x"),
        ("session", ""),
        ("session", "A"),
        ("session", "a" * 121),
        ("session", "a\n"),
        ("message", -1),
        ("message", 10_000_000),
        ("class", "user"),
        ("attested", "model"),
        ("at", "2026-11-30"),
        ("at", "2026-11-30T16:20:11+00:00"),
        ("at", "２０２６-11-30T16:20:11Z"),
        ("at", "2026-11-30T16:20:11Z\n"),
        ("digest", "sha256:abc"),
        ("digest", "md5:" + "0" * 64),
        ("quote", ""),
        ("verified", True),
    ],
)
def test_evidence_of_another_shape_is_refused(field: str, value: object) -> None:
    Evidence.model_validate(FIELDS)
    with pytest.raises(ValidationError):
        Evidence.model_validate({**FIELDS, field: value})
