"""On what terms a record holds: changed one by one, and said in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitmem.domain.terms import NewTerms, Terms, changed_terms, in_words
from gitmem.errors import InvalidInput

OLD = Terms("2026-01-31", "2026-12-31", "unconfirmed", ("old-rule",))


def test_what_is_not_said_stays() -> None:
    assert changed_terms(OLD, NewTerms()) == OLD
    assert in_words("use-tabs", OLD, OLD) == ""
    assert changed_terms(OLD, NewTerms(valid_until="2027-01-01")) == replace(
        OLD, valid_until="2027-01-01"
    )


def test_everything_can_be_taken_away() -> None:
    assert changed_terms(OLD, NewTerms("none", "none", "confirmed", ())) == Terms()


def test_each_change_is_a_sentence() -> None:
    assert in_words("This", Terms(), OLD) == (
        "This is valid from 2026-01-31. This is valid until 2026-12-31. This is unconfirmed. "
        "This takes the place of old-rule."
    )
    assert in_words("use-tabs", OLD, Terms()) == (
        "use-tabs has no first day. use-tabs has no last day. use-tabs is confirmed. "
        "use-tabs takes the place of no other."
    )


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (NewTerms(valid_from="2026-02-30"), "valid_from: '2026-02-30' is not a date"),
        (NewTerms(valid_from="20260201"), "valid_from: '20260201' is not a date"),
        (NewTerms(valid_until="明年"), "valid_until: '明年' is not a date like 2026-11-30"),
        (NewTerms(valid_until=""), "valid_until: '' is not a date"),
        (NewTerms(valid_until="2026-01-30"), "2026-01-30 is before valid_from 2026-01-31"),
        (NewTerms(status="sure"), "status: 'sure' is not one of unconfirmed, confirmed"),
        (NewTerms(supersedes=["Old Rule"]), "supersedes: "),
        (NewTerms(supersedes=["a", ""]), "supersedes: "),
        (NewTerms(supersedes="old-rule"), "must be a list of names"),
    ],
)
def test_what_cannot_be_is_refused_by_its_field(new: NewTerms, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        changed_terms(OLD, new)
    assert words in caught.value.message
