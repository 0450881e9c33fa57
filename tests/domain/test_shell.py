"""A name becomes one word of a command, whatever it holds, and the command stays on one line."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitmem.domain.shell import shell_argument, shell_word
from gitmem.domain.text import one_line

NAMES = [
    "",
    "用制表符.md",
    "he lm;touch PWN;.md",
    "it's",
    "$(x)`x`${IFS}",
    "-x",
    "~",
    "*",
    "a\\b",
    "!",
]
ODD = ["a  b", " a ", "a\nb", "a\tb\r", "\x1b[2J", "a\u202eb", "a\u3000b", "\u200d", "\x7f'\\"]
BYTES = os.fsdecode(b"\xff\xfe '\n")
# What a file system can hold.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@pytest.mark.parametrize("text", ["use-tabs", "/home/ada/memory", "records/user/a_b.md"])
def test_a_plain_name_stays_as_it_is(text: str) -> None:
    assert shell_word(text) == shell_argument(text) == text


@given(st.lists(TEXT, min_size=1, max_size=8))
@example([*NAMES, *ODD, BYTES])
def test_a_word_stays_as_it_is_on_one_line_of_a_message(texts: list[str]) -> None:
    line = " ".join(["mv", *map(shell_word, texts)])
    assert line.isprintable()
    assert one_line(line) == line


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes there")
@pytest.mark.parametrize("shell", ["bash", "zsh", "ksh"])
def test_a_shell_reads_the_very_words(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    texts = [*NAMES, *ODD, BYTES, *(f"x{chr(code)}1" for code in range(1, 0x250))]
    command = " ".join(["printf", "'%s\\0'", *map(shell_word, texts)])
    done = subprocess.run([shell, "-c", command], capture_output=True, check=True)
    assert [os.fsdecode(word) for word in done.stdout.split(b"\0")[:-1]] == texts


def test_an_argument_is_never_taken_for_an_option() -> None:
    assert shell_argument("-x") == "-- -x"
    assert shell_argument("--all;x") == "-- '--all;x'"
