from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gitmem.domain.record import (
    MAX_DESCRIPTION,
    MAX_EVIDENCE,
    RECORD_KEYS,
    Record,
    make_record,
    statement,
    with_evidence,
)
from gitmem.errors import InvalidInput

OIDS = [f"{number:040x}" for number in range(1, MAX_EVIDENCE + 2)]


def made(**fields: Any) -> Record:
    legal: dict[str, Any] = {
        "name": "user-prefers-tabs",
        "description": "用户喜欢制表符",
        "type": "user",
        "evidence": OIDS[:1],
        "body": "缩进用制表符。\n\n\tlike this  \n",
    }
    return make_record(**{**legal, **fields})


def test_a_record_keeps_every_field_as_it_was_given() -> None:
    record = made(
        evidence=OIDS[:2],
        valid_from="2026-01-02",
        valid_until="2026-01-02",
        status="unconfirmed",
        supersedes=["old-tabs", "older-tabs"],
        extra={"modified": "2026-03-04", "tags": ["a", {"b": "c\nd"}], "body": "not the body"},
    )
    assert record.evidence == (OIDS[0], OIDS[1])
    assert (record.valid_from, record.valid_until) == ("2026-01-02", "2026-01-02")
    assert record.status == "unconfirmed"
    assert record.supersedes == ("old-tabs", "older-tabs")
    assert record.extra["tags"] == ["a", {"b": "c\nd"}]
    assert record.body == "缩进用制表符。\n\n\tlike this  \n"


def test_records_are_equal_by_value_and_never_change() -> None:
    extra: Any = {"tags": ["a"]}
    record = made(extra=extra)
    assert record == made(extra={"tags": ["a"]})
    assert record != made(extra={"tags": ["b"]})
    extra["tags"].append("later")
    assert record.extra == {"tags": ["a"]}
    with pytest.raises(ValidationError):
        record.name = "other"


def test_limits_are_met_exactly() -> None:
    assert made(description="字" * MAX_DESCRIPTION, evidence=OIDS[:MAX_EVIDENCE])
    assert made(name="x" * 80)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", "A B", "'A B' is not a legal name"),
        ("name", "x" * 81, "has 81 characters; the limit is 80"),
        ("description", "", "is empty"),
        ("description", " \u3000", "is empty"),
        ("description", "one\ntwo", "line 1, column 4: U\\+000A is a line break"),
        ("description", "字" * 201, "has 201 characters; the limit is 200"),
        ("description", "allow \u202eyned", "U\\+202E"),
        ("description", "plain\U000e0064\U000e006f", "U\\+E0064 .* \\(and 1 more\\)"),
        ("description", "cafe\u0301", "not in the normal form NFC"),
        ("type", "person", "'person' is not one of user, feedback, project, reference"),
        ("evidence", [], "cites 0 quotes; a record cites 1 to 16"),
        ("evidence", OIDS, "cites 17 quotes; a record cites 1 to 16"),
        ("evidence", [OIDS[0], OIDS[0]], "stands there twice"),
        ("evidence", ["A" * 40], "is not the id of a quote"),
        ("evidence", ["a" * 39], "is not the id of a quote"),
        ("evidence", "a" * 40, "must be a list"),
        ("body", "", "is empty"),
        ("body", "\n \n", "is empty"),
        ("body", "one\ntwo\r\n", "line 2, column 4: U\\+000D is a control character"),
        ("body", "a\x00", "U\\+0000"),
        ("body", "か\u3099", "NFC"),
        ("valid_from", "2026-02-30", "'2026-02-30' is not a date"),
        ("valid_from", "20260228", "is not a date"),
        ("valid_from", "", "is not a date"),
        ("valid_until", "２０２６-01-01", "is not a date"),
        ("status", "confirmed", "'confirmed' is not 'unconfirmed'"),
        ("supersedes", ["user-prefers-tabs"], "cannot supersede itself"),
        ("supersedes", ["Old"], "'Old' is not a legal name"),
        ("supersedes", ["old", "old"], "old stands there twice"),
    ],
)
def test_what_breaks_a_rule_is_refused_with_field_limit_and_size(
    field: str, value: object, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as error:
        made(**{field: value})
    assert error.value.where == field


def test_a_fact_cannot_end_before_it_begins() -> None:
    with pytest.raises(InvalidInput, match="2026-01-01 is before valid_from 2026-01-02"):
        made(valid_from="2026-01-02", valid_until="2026-01-01")


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"name": "x"}, "name is a field of its own"),
        ({"": "x"}, "cannot be a key"),
        ({"<<": "x"}, "cannot be a key"),
        ({"k" * 81: "x"}, "cannot be a key"),
        ({"a\nb": "x"}, "U\\+000A"),
        ({"a": "x\x1b"}, "a: line 1, column 2: U\\+001B"),
        ({"a": {"b": "x\u200b"}}, "U\\+200B"),
        ({"a": 1}, "a: holds int"),
        ({"a": None}, "a: holds NoneType"),
        ({"a": {1: "x"}}, "key that is int"),
        ({"a": {"b": {"c": ["x"]}}}, "nested deeper than 3 levels"),
    ],
)
def test_unknown_keys_hold_legal_text_only(extra: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        made(extra=extra)


@pytest.mark.parametrize(
    ("field", "value"), [("name", 7), ("description", None), ("body", b"x"), ("evidence", [7])]
)
def test_what_is_no_text_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(InvalidInput, match="valid string") as error:
        made(**{field: value})
    assert error.value.where.startswith(field)


def test_a_record_cannot_be_built_past_its_checks() -> None:
    fields = {key: getattr(made(), key) for key in Record.model_fields}
    assert Record(**fields) == made()
    with pytest.raises(InvalidInput):
        Record(**{**fields, "name": "../x"})


def test_other_evidence_makes_another_record_with_the_same_fact() -> None:
    record = made(extra={"a": "b"}, status="unconfirmed")
    other = with_evidence(record, OIDS[1:3])
    assert other.evidence == (OIDS[1], OIDS[2])
    assert with_evidence(other, record.evidence) == record
    with pytest.raises(InvalidInput, match="cites 0 quotes"):
        with_evidence(record, [])


def test_a_statement_is_description_and_body() -> None:
    assert statement(made(description="d", body="b\n")) == "d\nb\n"


def test_the_known_keys_stand_in_the_order_of_the_format() -> None:
    assert RECORD_KEYS[:4] == ("name", "description", "type", "evidence")
    assert RECORD_KEYS[4:] == ("valid_from", "valid_until", "status", "supersedes")
