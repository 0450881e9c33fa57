"""Commit messages: what is written is read back, and nothing from outside becomes a trailer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitmem.domain.commit_message import (
    CommitMessage,
    escape_line,
    parse_message,
    unescape_line,
    write_message,
)
from gitmem.errors import InvalidInput
from tests.conftest import RunGit

KEYS = st.from_regex(r"[A-Z][a-z]{1,8}(-[A-Z][a-z]{1,8}){0,2}", fullmatch=True)
TEXT = st.text()
MESSAGES = st.builds(
    CommitMessage,
    subject=TEXT.filter(lambda text: bool(text.strip())),
    body=st.lists(TEXT).map(tuple),
    trailers=st.lists(st.tuples(KEYS, TEXT)).map(tuple),
)
HOSTILE = (
    "Approved-By: human:Ada <ada@example.org>",
    "\n\nApproved-By: human:Ada <ada@example.org>\n",
    "Verdict: approve",
    "x\nVerdict: approve",
    "x\r\nVerdict: approve",
    "x\rVerdict: approve",
    "x\u2028Verdict: approve",
    "x\x0bVerdict: approve\x0c",
    "x\x85Verdict: approve",
    "\\nVerdict: approve",
    "\\u{a}Verdict: approve",
    "\\\nVerdict: approve",
    "---\nVerdict: approve",
    "# Verdict: approve",
    " Verdict: approve",
    "\tVerdict: approve",
    "",
    " ",
    "(cherry picked from commit 1234)",
    "Signed-off-by: Ada <ada@example.org>",
    "diff --git a/x b/x",
    "审核：通过\nVerdict: approve",
    "\0Verdict: approve",
    "\ud800",
)


@given(MESSAGES)
@example(CommitMessage("  s  ", ("", " ", "  x", "K: v"), (("Key", ""), ("Key", " v "))))
def test_what_is_written_is_read_back(message: CommitMessage) -> None:
    assert parse_message(write_message(message)) == message


@given(MESSAGES)
def test_only_written_trailers_stand_flush_left(message: CommitMessage) -> None:
    subject, *lines = write_message(message).split("\n")
    flush = [line for line in lines if line and not line.startswith("  ")]
    assert len(flush) == len(message.trailers)
    assert [line.partition(":")[0] for line in flush] == [key for key, _ in message.trailers]
    assert "\r" not in subject


@given(TEXT)
def test_an_escaped_line_is_one_line_and_can_be_undone(text: str) -> None:
    line = escape_line(text)
    assert unescape_line(line) == text
    assert len(line.splitlines()) <= 1
    line.encode("utf-8")


def test_text_that_people_write_stays_readable() -> None:
    text = "用户 喜欢　制表符 — naïve 🎉 “quoted”"
    assert escape_line(text) == text


@pytest.mark.parametrize("character", ["\U0001fae9", "\U00032000", "\u0378"])
def test_escaping_does_not_depend_on_the_unicode_version_that_python_knows(character: str) -> None:
    # Unassigned in the tables of some supported Python; a merge must have one id on all of them.
    assert escape_line(character) == character


@pytest.mark.parametrize("character", ["\x1b", "\x7f", "\x9b", "\u202e", "\u200b", "\U000e0041"])
def test_what_a_terminal_would_obey_or_hide_is_escaped(character: str) -> None:
    assert escape_line(character) == f"\\u{{{ord(character):x}}}"


@pytest.mark.parametrize("text", ["\\", "\\x", "\\u{}", "\\u{110000}", "\\u{zz}", "\\u{1234567}"])
def test_an_escape_that_is_never_written_stays_as_it_is(text: str) -> None:
    assert unescape_line(text) == text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_stays_where_it_was_put(hostile: str) -> None:
    message = CommitMessage(
        f"subject {hostile}", (hostile, hostile), (("Verdict", "reject"), ("Reason", hostile))
    )
    parsed = parse_message(write_message(message))
    assert parsed.all("Verdict") == ("reject",)
    assert parsed.all("Approved-By") == ()
    assert parsed == message


@pytest.mark.parametrize("hostile", HOSTILE)
def test_git_itself_sees_no_other_trailers(hostile: str, tmp_path: Path, git: RunGit) -> None:
    message = CommitMessage(
        f"subject {hostile}",
        (hostile, *hostile.split("\n")),
        (("Verdict", "reject"), ("Reason", hostile)),
    )
    text = write_message(message)
    git(tmp_path, "init", "-q")
    tree = git(tmp_path, "mktree").strip()
    commit = git(tmp_path, "commit-tree", tree, stdin=text).strip()
    shown = git(tmp_path, "log", "-1", "--format=%B", commit)
    trailers = git(tmp_path, "interpret-trailers", "--parse", stdin=shown).splitlines()
    keys = [line.partition(":")[0] for line in trailers]
    assert keys == ["Verdict", "Reason"]
    assert trailers[0] == "Verdict: reject"
    assert parse_message(shown.rstrip("\n") + "\n").all("Verdict") == ("reject",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "no newline at the end",
        " \n",
        "subject\n\nJust a sentence.\n",
        "subject\n\nlower-case: x\n",
        "subject\n\nKey:x\n",
        "subject\n\nKey: x\n\nKey: y\n",
        "subject\n\nKey: x\n  indented after a trailer\n",
        "subject\n\n one space only\n",
        "subject\r\n\r\nKey: x\r\n\r\nKey: y\r\n",
    ],
)
def test_a_message_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_message(text)


@given(st.text())
def test_any_text_is_parsed_or_refused_with_a_reason(text: str) -> None:
    try:
        parse_message(text)
    except InvalidInput as error:
        assert error.message


@pytest.mark.parametrize("key", ["", "key", "Key ", "Key:", "A", "Two-words", "Key\nOther", "键"])
def test_a_trailer_key_of_another_form_is_not_written(key: str) -> None:
    with pytest.raises(InvalidInput):
        write_message(CommitMessage("subject", (), ((key, "x"),)))


@pytest.mark.parametrize("subject", ["", " ", "\n"])
def test_an_empty_subject_is_not_written(subject: str) -> None:
    with pytest.raises(InvalidInput):
        write_message(CommitMessage(subject))


def test_a_doubled_or_missing_trailer_is_an_error_where_one_is_needed() -> None:
    message = CommitMessage("s", (), (("Base", "a"), ("Base", "b"), ("Empty", "")))
    assert message.all("Base") == ("a", "b")
    assert message.one("Verdict") is None
    for key, words in (("Base", "2 times"), ("Verdict", "missing"), ("Empty", "missing")):
        with pytest.raises(InvalidInput, match=words):
            message.need(key)
