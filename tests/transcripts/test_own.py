"""What gitmem itself said: its prompts, blocks and commands, and nothing that only looks so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.injected import is_own_command, is_own_prompt, mark_own, own_pieces, wrap
from gitmem.transcripts import OwnSession, read_messages

NONCE = "0123456789abcdef"
BLOCK = wrap("- 制表符: The person prefers tabs.", NONCE)


@given(st.text(), st.sampled_from(["proposer", "reviewer", "selector", "consolidator"]))
def test_a_prompt_is_known_by_its_mark_and_only_at_its_beginning(text: str, role: str) -> None:
    prompt = mark_own(text, role, NONCE)
    assert is_own_prompt(prompt)
    assert is_own_prompt("\n " + prompt)
    assert not is_own_prompt("Look: " + prompt)
    assert not is_own_prompt(prompt.replace(NONCE, NONCE[::-1]))
    assert not is_own_prompt(prompt.replace(role, "planner"))
    assert not is_own_prompt(text)


@pytest.mark.parametrize(("role", "nonce"), [("", NONCE), ("A", NONCE), ("a", "xyz"), ("a b", "0")])
def test_a_mark_of_another_form_is_refused(role: str, nonce: str) -> None:
    with pytest.raises(ValueError, match="a role is"):
        mark_own("x", role, nonce)


@given(st.lists(st.sampled_from([BLOCK, BLOCK.replace(NONCE, NONCE[::-1]), "<", "我", "\n", " x"])))
def test_own_blocks_are_told_from_what_stands_around_them(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = own_pieces(text)
    assert "".join(piece for piece, _ in found) == text
    assert [piece for piece, own in found if own] == [BLOCK] * pieces.count(BLOCK)


@pytest.mark.parametrize(
    "text",
    [
        "gitmem",
        "gitmem list",
        "gitmem --version",
        "  $ gitmem search '制表符 tabs' --json\n\n! gitmem status",
        "/usr/local/bin/gitmem select tabs",
        "GITMEM_STORE=/tmp/m gitmem show use-tabs",
        "~/.venv/bin/gitmem why use-tabs",
    ],
)
def test_a_command_of_gitmem_is_one(text: str) -> None:
    assert is_own_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gitmemory",
        "gitmem list; rm -rf build",
        "gitmem list | head",
        "echo $(gitmem list)",
        "gitmem list\nI prefer tabs.",
        "记住：gitmem",
        "We use gitmem here.",
        "gitmem please note that we never deploy on Fridays",
        "gitmem 记住：我喜欢用制表符。",
        "gitmem listens",
        "gitmem list\n" * 10_000,
    ],
)
def test_what_does_more_or_says_something_is_no_command_of_gitmem(text: str) -> None:
    assert not is_own_command(text)


def test_a_conversation_that_says_nothing_is_nobodys() -> None:
    own = OwnSession()
    for message in read_messages([{"role": "user", "content": " "}]).messages:
        own.see(message)
    assert own.why is None
