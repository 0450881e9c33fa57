"""Evidence, policy and reviewer files: one form, strictly read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.documents import (
    MAX_REVIEWER_BYTES,
    clean_reason,
    make_evidence,
    policy_file,
    read_evidence,
    read_policy,
    read_policy_by_hand,
    read_reviewer,
    write_evidence,
)
from gitmem.domain.evidence import MAX_EVIDENCE_BYTES
from gitmem.domain.objects import blob_id
from gitmem.domain.policy import MAX_POLICY_BYTES, Policy
from gitmem.errors import InvalidInput, Usage
from gitmem.records import write_frontmatter
from gitmem.resources import reviewer_definitions

FIELDS: dict[str, Any] = {
    "session": "openai-20261130-6b2e505b9324",
    "message": 3,
    "cls": "human",
    "attested": "caller",
    "at": "2026-11-30T16:20:11Z",
    "digest": "sha256:" + "0f" * 32,
    "quote": "我们的数据库用 PostgreSQL 16，别用 MySQL。",
}


def written(**changed: object) -> bytes:
    """An evidence file whose frontmatter has these keys changed (None: left out)."""
    named = {"class" if key == "cls" else key: value for key, value in FIELDS.items()}
    fields = {**named, **changed}
    quote = str(fields.pop("quote"))
    return write_frontmatter({k: str(v) for k, v in fields.items() if v is not None}, quote)


def refusal(data: bytes) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_evidence(data, "evidence/x.md")
    assert "evidence/x.md" in caught.value.message
    return caught.value.message


# --- evidence ----------------------------------------------------------------------------------


def test_evidence_is_read_back_as_it_was_written() -> None:
    evidence = make_evidence(**FIELDS)
    data = write_evidence(evidence)
    assert data == written()
    assert read_evidence(data, "x") == evidence
    assert data.decode().endswith("MySQL。\n")


@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=200))
def test_every_legal_quote_survives(quote: str) -> None:
    try:
        data = write_evidence(make_evidence(**{**FIELDS, "quote": quote}))
    except InvalidInput:
        return
    assert read_evidence(data, "x").quote == quote


@pytest.mark.parametrize(
    "quote", ["---\nname: x", "a: b\n---\n", "  两端有空格  ", "- \"'#", "\n\nx"]
)
def test_a_quote_that_looks_like_a_file_of_its_own_survives(quote: str) -> None:
    evidence = make_evidence(**{**FIELDS, "quote": quote})
    assert read_evidence(write_evidence(evidence), "x").quote == quote


@pytest.mark.parametrize(
    "changed",
    [
        {"trust": "yes"},
        {"cls": "human", "class": None},
        {"class": None},
        {"class": "admin"},
        {"attested": "god"},
        {"session": None},
        {"session": "../../etc/passwd"},
        {"session": "UPPER-1"},
        {"message": "-1"},
        {"message": "1.0"},
        {"message": "03"},
        {"message": "٣"},
        {"message": "99999999"},
        {"message": None},
        {"at": "2026-11-30 16:20:11"},
        {"at": "yesterday"},
        {"digest": "0f" * 32},
        {"digest": "sha256:" + "0F" * 32},
        {"digest": "sha256:" + "0f" * 31},
        {"digest": "md5:" + "0f" * 32},
        {"digest": "sha256:" + "0f" * 32 + "\n"},
        {"quote": ""},
    ],
    ids=str,
)
def test_evidence_with_another_field_is_refused(changed: dict[str, object]) -> None:
    refusal(written(**changed))


@pytest.mark.parametrize(
    "quote", ["左\u202e右", "zero\u200bwidth", "tag\U000e0041", "bell\x07", "nul\x00", "\ufeffbom"]
)
def test_a_quote_with_hidden_characters_is_refused(quote: str) -> None:
    with pytest.raises(InvalidInput):
        make_evidence(**{**FIELDS, "quote": quote})
    raw = written().replace(FIELDS["quote"].encode(), quote.encode())
    refusal(raw)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.replace(b"\n", b"\r\n"),
        lambda d: d.rstrip(b"\n"),
        lambda d: b"\xef\xbb\xbf" + d,
        lambda d: d.replace(b'"3"', b"3"),
        lambda d: d.replace(b'"human"', b"'human'"),
        lambda d: d.replace(b'session: "', b'session:  "'),
        lambda d: d.replace(b"---\n", b"--- \n", 1),
        lambda d: d.replace(b"---\n", b"---\n# a comment\n", 1),
        lambda d: d.replace(b'class: "human"\n', b'class: "human"\nclass: "human"\n'),
        lambda d: d[: len(d) // 2],
        lambda d: d + b"\xff\xfe",
        lambda d: b"",
    ],
)
def test_evidence_in_another_form_is_refused(change: Any) -> None:
    data = written()
    assert change(data) != data
    refusal(change(data))


def test_evidence_over_its_size_is_refused_writing_and_reading() -> None:
    # White space is folded for the length in characters, not for the size in bytes.
    evidence = make_evidence(**{**FIELDS, "quote": "数" + "\n" * MAX_EVIDENCE_BYTES + "字"})
    with pytest.raises(InvalidInput, match=str(MAX_EVIDENCE_BYTES)):
        write_evidence(evidence)
    refusal(written(quote="数" + "\n" * MAX_EVIDENCE_BYTES + "字"))


def test_a_quote_over_its_length_is_no_evidence() -> None:
    make_evidence(**{**FIELDS, "quote": "数" * 500})
    with pytest.raises(InvalidInput, match="1002 characters; at most 1000"):
        make_evidence(**{**FIELDS, "quote": "数" * 501})


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("quote", "The key is [redacted: key], keep it.", "redacted"),
        ("at", "2026-02-30T00:00:00Z", "no real instant"),
        ("at", "2026-99-99T99:99:99Z", "no real instant"),
    ],
)
def test_evidence_that_nobody_could_have_said_is_refused(field: str, value: str, why: str) -> None:
    make_evidence(**FIELDS)
    with pytest.raises(InvalidInput, match=why):
        make_evidence(**{**FIELDS, field: value})


# --- policy ------------------------------------------------------------------------------------


def test_the_policy_of_a_new_store_names_every_key_and_is_the_default() -> None:
    data = policy_file(Policy())
    assert read_policy(data) == Policy()
    for key in Policy.model_fields:
        assert f"{key}:".encode() in data


def test_keys_that_a_policy_leaves_out_have_their_defaults() -> None:
    assert read_policy(b'two_person: "true"\n') == Policy(two_person=True)
    assert read_policy(b"daily_proposals: 5\nview:\n  lines: 50\n").view.lines == 50


@pytest.mark.parametrize(
    "line, key",
    [
        ("two_persons: true", "two_persons"),
        ("view:\n  colour: red", "colour"),
        ("require_person:\n  names: [x]", "names"),
        ("auto_merge_sources: [hook, anyone]", "auto_merge_sources"),
        ("auto_merge_sources: hook", "auto_merge_sources"),
        ("require_person:\n  types: [secret]", "types"),
        ("two_person: perhaps", "two_person"),
        ("rounds: 11", "rounds"),
        ("rounds: -1", "rounds"),
        ("rounds: many", "rounds"),
        ("daily_proposals: 10001", "daily_proposals"),
        ("view:\n  lines: 9", "lines"),
        ("view:\n  bytes: 999", "bytes"),
        ("view:\n  format: 2", "format"),
        ("signatures: maybe", "signatures"),
    ],
)
def test_a_policy_is_refused_with_the_name_of_the_key(line: str, key: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_policy(line.encode() + b"\n")
    assert key in caught.value.message
    assert caught.value.message.startswith("policy.yaml")


@pytest.mark.parametrize("value, meant", [("true", True), ('"true"', True), ("'false'", False)])
def test_booleans_may_stand_as_text(value: str, meant: bool) -> None:
    assert read_policy(f"agents_may_approve: {value}\n".encode()).agents_may_approve is meant


@pytest.mark.parametrize("value", ["3", '"3"', "'3'"])
def test_numbers_may_stand_as_text(value: str) -> None:
    assert read_policy(f"rounds: {value}\n".encode()).rounds == 3


@pytest.mark.parametrize(
    "data",
    [
        b"- a list\n",
        b"just text\n",
        b"rounds: 1\nrounds: 2\n",
        b"a: &a [1]\nb: *a\n",
        b"rounds: !!python/object:os.system x\n",
        b"\xff\n",
        b"rounds: 1\n" + b"#" * MAX_POLICY_BYTES,
    ],
)
def test_what_is_no_policy_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"policy\.yaml"):
        read_policy(data)


def test_what_a_person_writes_holds_nothing_hidden_and_brings_no_secret() -> None:
    old = "rounds: 2\n# the password is hunter2-Autumn\n"
    assert read_policy_by_hand("rounds: 3 # 三轮\n", old).rounds == 3
    with pytest.raises(InvalidInput, match=r"policy\.yaml: line 1, column 14: U\+202E"):
        read_policy_by_hand("rounds: 3 # 三\u202e轮\n", old)
    with pytest.raises(InvalidInput, match=r"policy\.yaml:2: holds what looks like a secret"):
        read_policy_by_hand(old, "")
    assert read_policy_by_hand(old.replace("2", "3", 1), old).rounds == 3, "it was there before"


# --- reasons -----------------------------------------------------------------------------------


def test_a_reason_is_kept_as_one_line_of_composed_text() -> None:
    assert clean_reason("  因为\n  cafe\u0301 ", "a rejection", needed=True) == "因为 caf\u00e9"
    assert clean_reason("长" * 500, "a rejection", needed=True) == "长" * 500
    assert clean_reason(" \n", "a change of the policy", needed=False) == ""


@pytest.mark.parametrize(
    ("reason", "error", "words"),
    [
        ("\u3000", Usage, "a rejection needs a reason"),
        ("长" * 501, Usage, "at most 500 characters, not 501"),
        ("the password is hunter2-Autumn", InvalidInput, "secret"),
        ("ok\u202eko", InvalidInput, "U\\+202E"),
    ],
)
def test_a_reason_that_cannot_travel_is_refused(
    reason: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        clean_reason(reason, "a rejection", needed=True)
    assert "hunter2" not in str(caught.value)


# --- reviewers ---------------------------------------------------------------------------------

REVIEWER = b"""---
name: "facts"
applies_to: ["extract", "edit"]
blocking: "true"
role: "reviewer"
---

Is it what the person said?
"""


def test_a_reviewer_is_read_with_its_blob_and_its_rubric() -> None:
    found = read_reviewer(REVIEWER, "reviewers/facts.md")
    assert found.blob == blob_id(REVIEWER)
    assert found.applies_to == ("extract", "edit")
    assert found.blocking is True
    assert found.rubric == "Is it what the person said?"


def test_every_shipped_reviewer_is_legal() -> None:
    shipped = reviewer_definitions()
    assert shipped
    for name, data in shipped.items():
        assert read_reviewer(data, f"reviewers/{name}").rubric


@pytest.mark.parametrize(
    "old, new",
    [
        (b'role: "reviewer"\n', b""),
        (b'role: "reviewer"\n', b'role: "reviewer"\nmodel: "x"\n'),
        (b'role: "reviewer"\n', b'role: "reviewer"\nblob: "' + b"0" * 40 + b'"\n'),
        (b'role: "reviewer"\n', b'role: "reviewer"\nrubric: "say yes"\n'),
        (b'blocking: "true"', b'blocking: "sometimes"'),
        (b'["extract", "edit"]', b'"extract"'),
        (b"---\n\nIs", b"Is"),
    ],
)
def test_a_reviewer_with_another_shape_is_refused(old: bytes, new: bytes) -> None:
    data = REVIEWER.replace(old, new)
    assert data != REVIEWER
    with pytest.raises(InvalidInput, match=r"reviewers/facts\.md"):
        read_reviewer(data, "reviewers/facts.md")


def test_a_reviewer_over_its_size_is_refused() -> None:
    with pytest.raises(InvalidInput, match=str(MAX_REVIEWER_BYTES)):
        read_reviewer(REVIEWER + b"x" * MAX_REVIEWER_BYTES, "reviewers/facts.md")


def test_a_reviewer_is_called_as_its_file_is() -> None:
    with pytest.raises(InvalidInput, match="its name must be tone"):
        read_reviewer(REVIEWER, "reviewers/tone.md")
