"""What is printed: escaped, coloured only where it is wanted, JSON that is safe to show."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from gitmem.cli.output import Stream, Styled, json_text, without_credentials
from gitmem.domain.text import illegal_characters
from tests.cli.harness import RunOnTerminal

HOSTILE = {
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "clear": "\x1b[2J\x1b[H",
    "overwrite": "real\rfake",
    "c1": "\x9b2J",
    "bidi": "abc\u202edcba",
    "invisible": "a\u200bb",
    "delete": "x\x7f",
    "line separator": "a\u2028b",
}


def printed(*pieces: str | Styled) -> str:
    file = io.StringIO()
    Stream(file).line(*pieces)
    return file.getvalue()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_line_shows_hostile_text_and_does_not_obey_it(text: str) -> None:
    for shown in (printed(text), printed(Styled(text, "bad"))):
        assert illegal_characters(shown.rstrip("\n"), allow_newlines=False) == []
        assert "\\x" in shown or "\\u{" in shown


def test_a_line_stays_one_line() -> None:
    assert printed("first\nsecond\tthird") == "first\\x0asecond\\x09third\n"


def test_chinese_and_emoji_are_printed_as_they_are() -> None:
    assert printed("用户喜欢制表符 👩‍💻") == "用户喜欢制表符 👩‍💻\n"


def test_a_block_keeps_its_lines_and_nothing_else() -> None:
    file = io.StringIO()
    Stream(file).block("one\n\ttwo\x1b[2J\n\n", indent=2)
    assert file.getvalue() == "  one\n  \ttwo\\x1b[2J\n"


def test_a_table_in_a_pipe_is_lines_of_fields_without_a_heading() -> None:
    file = io.StringIO()
    Stream(file).table(["name", "what"], [["a\tb", "[bold]x[/]"], [Styled("c", "good"), "中文"]])
    assert file.getvalue() == "a\\x09b\t[bold]x[/]\nc\t中文\n"


def test_a_table_without_anything_to_escape_is_printed_as_one_with_it() -> None:
    plain, other = io.StringIO(), io.StringIO()
    rows = [["a", "it’s 中文，“是”"], [Styled("c-1", "dim"), "~ ü α Ж 한글 —"]]
    Stream(plain).table(["name", "what"], rows)
    Stream(other).table(["name", "what"], [*rows, ["\x1b", "👩‍💻"]])
    assert other.getvalue() == plain.getvalue() + "\\x1b\t👩‍💻\n"


def test_an_empty_table_in_a_pipe_is_empty() -> None:
    file = io.StringIO()
    Stream(file).table(["name"], [])
    assert file.getvalue() == ""


@given(
    st.recursive(
        st.text() | st.none() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_json_reads_back_equal_and_holds_nothing_that_a_terminal_obeys(document: object) -> None:
    text = json_text(document)
    assert json.loads(text) == document
    assert illegal_characters(text, allow_newlines=True) == []
    text.encode("utf-8")


WORDS = st.text('ab中文\n"\\{}[], :')
FLAT = st.dictionaries(WORDS, st.none() | st.booleans() | st.floats() | st.integers() | WORDS)


@given(st.lists(FLAT | st.dictionaries(WORDS, st.lists(st.integers()), max_size=2)))
def test_a_list_of_objects_is_indented_as_json_does_it(document: list[object]) -> None:
    assert json_text(document) == json.dumps(document, ensure_ascii=False, indent=2)


def test_json_keeps_chinese_readable() -> None:
    assert json_text({"a": "记住"}, indent=None) == '{"a": "记住"}'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://ada:pa55@example.org/x.git", "see https://example.org/x.git"),
        ("ssh://git@example.org/x and http://t0ken@h/", "ssh://example.org/x and http://h/"),
        ("mail ada@example.org, https://example.org/@ada", None),
    ],
)
def test_credentials_are_cut_out_of_addresses(text: str, shown: str | None) -> None:
    assert without_credentials(text) == (shown or text)


SHOW = """
import sys
from gitmem.cli.output import Stream, Styled
text = sys.argv[1].encode().decode("unicode_escape")
stream = Stream(sys.stdout)
stream.line(text)
stream.line(Styled(text, "bad"))
stream.block(text)
stream.table(["name", "what"], [[Styled(text, "name"), text]])
stream.json({"text": text})
"""


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_terminal_gets_colour_from_us_and_nothing_from_the_text(
    terminal: RunOnTerminal, text: str
) -> None:
    argument = text.encode("unicode_escape").decode()
    done = terminal(argument, python=["-c", SHOW])
    plain = terminal(argument, python=["-c", SHOW], env={"NO_COLOR": "1"})
    assert done.code == plain.code == 0
    assert "\x1b[1;31m" in done.out
    assert illegal_characters(plain.out.replace("\r\n", "\n"), allow_newlines=True) == []


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}])
def test_colour_can_be_had_without(terminal: RunOnTerminal, env: dict[str, str]) -> None:
    assert "\x1b" not in terminal("x", python=["-c", SHOW], env=env).out


def test_an_empty_no_color_means_nothing(terminal: RunOnTerminal) -> None:
    assert "\x1b" in terminal("x", python=["-c", SHOW], env={"NO_COLOR": ""}).out


TABLE = """
import sys
from gitmem.cli.output import Stream
Stream(sys.stdout).table(
    ["name", "what"],
    [["abc", "[red]plain[/red] :smile:"], ["用户", "喜欢制表符"], ["ab", "x " * 60]],
)
"""


@pytest.mark.parametrize("columns", [20, 40, 100])
def test_a_table_fits_its_terminal_also_with_wide_characters(
    terminal: RunOnTerminal, columns: int
) -> None:
    done = terminal(python=["-c", TABLE], env={"COLUMNS": str(columns), "NO_COLOR": "1"})
    lines = done.out.split("\r\n")
    assert max(map(cell_len, lines)) <= columns
    assert "".join(done.out.split()).count("x") == 60


@pytest.mark.parametrize("columns", [100, 80, 60, 30, 20])
def test_what_is_to_be_copied_stays_on_one_line_however_narrow_the_terminal_is(
    terminal: RunOnTerminal, columns: int
) -> None:
    code = (
        "import sys\nfrom gitmem.cli.output import Stream\nStream(sys.stdout).table(\n"
        "    ['id', 'at', 'what'],\n"
        "    [['extract-20261130-7f3a2c', '2026-11-30T19:44:58Z', 'x ' * 90]],\n"
        "    whole=['id', 'at'])"
    )
    done = terminal(python=["-c", code], env={"COLUMNS": str(columns), "NO_COLOR": "1"})
    assert "extract-20261130-7f3a2c" in done.out
    assert "2026-11-30T19:44:58Z" in done.out
    assert done.out.count("x") == 91
    text = [line for line in done.out.split("\r\n") if "x x" in line]
    assert max(map(cell_len, text)) <= columns


def test_a_table_aligns_wide_characters_and_takes_no_markup(terminal: RunOnTerminal) -> None:
    lines = terminal(python=["-c", TABLE], env={"NO_COLOR": "1"}).out.split("\r\n")
    rows = {line.split()[0]: line for line in lines if line.strip()}
    assert "[red]plain[/red] :smile:" in rows["abc"]
    starts = {
        cell_len(rows["abc"][: rows["abc"].index("[red]")]),
        cell_len(rows["用户"][: rows["用户"].index("喜")]),
        cell_len(rows["name"][: rows["name"].index("what")]),
    }
    assert len(starts) == 1
