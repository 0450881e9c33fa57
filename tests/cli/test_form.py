"""The form of ``gitmem edit``: what is written is read back, and nonsense changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.cli.form import Form, read_form, write_form
from gitmem.errors import InvalidInput

FORM = Form("用户喜欢制表符: yes # really", "user", "# A heading\n\nUse tabs.\n\ntype: not a field")
FULL = FORM._replace(
    valid_from="2026-01-31",
    valid_until="2026-12-31",
    status="unconfirmed",
    supersedes=("old-rule", "older-rule"),
)
LINES = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), max_size=30)


@given(LINES, LINES, st.lists(LINES).map("\n".join))
def test_what_is_written_is_read_back(description: str, kind: str, body: str) -> None:
    form = Form(description.strip(), kind.strip(), body.strip())
    assert read_form(write_form(form).encode("utf-8"), "x") == form


def test_the_lines_that_need_not_be_there_are_read_back_too() -> None:
    assert read_form(write_form(FULL).encode("utf-8"), "x") == FULL
    assert "\nvalid_until: 2026-12-31\nstatus: unconfirmed\n" in write_form(FULL)
    fields = [line for line in write_form(FORM).split("\n") if not line.startswith("#")]
    assert [line.partition(":")[0] for line in fields[:3]] == ["description", "type", ""]


def test_a_line_taken_out_or_emptied_takes_away_what_it_said() -> None:
    lines = write_form(FULL).split("\n")
    without = "\n".join(line for line in lines if not line.startswith(("valid_", "supersedes")))
    assert read_form(without.encode("utf-8"), "x") == FORM._replace(status="unconfirmed")
    emptied = without.replace("\nstatus: unconfirmed", "\nstatus:\nsupersedes: none\nvalid_from: ")
    assert read_form(emptied.encode("utf-8"), "x") == FORM


def test_an_editor_may_change_line_ends_and_add_a_mark() -> None:
    data = b"\xef\xbb\xbf" + write_form(FORM).replace("\n", "\r\n").encode("utf-8")
    assert read_form(data, "x") == FORM


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no empty line"),
        (b"description: x\ntype: user", "no empty line"),
        (b"description: x\n\nbody", "'type: ...' is missing"),
        (b"type: user\ntype: user\n\nbody", "f.md, line 2: 'type' is there twice"),
        (b"# note\nname: x\n\nbody", "f.md, line 2: expected 'description: ...'"),
        (b"description: x\ntype: user\noops\n\nbody", "f.md, line 3"),
        (b"status: a\ntype: user\nstatus: b\n\nbody", "f.md, line 3: 'status' is there twice"),
        (b"description: \xff\ntype: user\n\nbody", "byte 13 is not UTF-8"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(data: bytes, words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_form(data, "f.md")
    assert words in refused.value.message
