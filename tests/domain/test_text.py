from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gitmem.domain import unicode_tables
from gitmem.domain.text import (
    escape_markdown,
    escape_terminal,
    fold_whitespace,
    illegal_characters,
    is_nfc,
    is_plain,
    normalise_statement,
    one_line,
    quote_length,
    to_nfc,
)

#: Of the tables, and of the answers below: whatever changes them changes ids of accepted commits.
TABLES_DIGEST = "1b6a4218242adeb7fe97aa37f840a96ca7d535d2e1f2e248abef529d7e0d8d46"
ANSWERS_DIGEST = "9a3fb939bb00989a7860669ad6aceac3e98d8728a05e3a5ada5a5033b0902b3a"

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
SCOTLAND = "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "gbsct") + "\U000e007f"


def tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(letter)) for letter in text)


def refused(text: str, *, allow_newlines: bool = False) -> list[int]:
    return [found.codepoint for found in illegal_characters(text, allow_newlines=allow_newlines)]


@pytest.mark.parametrize(
    "text",
    [
        "User prefers tabs",
        "用户喜欢制表符。数据库先迁移，再部署",
        "ユーザーはタブを好む",
        "사용자는 탭을 선호한다",
        "naïve café — “quoted” … №",
        FAMILY,
        "\U0001f469\U0001f3fd\u200d\U0001f4bb",
        "\U0001f3f3\ufe0f\u200d\U0001f308",
        "\u2764\ufe0f \u2764\ufe0f\u200d\U0001f525",
        "1\ufe0f\u20e3 #\ufe0f\u20e3",
        "\U0001f1e9\U0001f1ea",
        SCOTLAND,
        "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian, a prefix set off
        "\u06a9\u0627\u0631\u200c\u0647\u0627",  # after a letter that does not join
        "PDF\u200c\u0647\u0627",  # a Latin abbreviation with a Persian ending
        "\u0915\u094d\u200d\u0937",  # Hindi, a half form
        "\u0d15\u0d4d\u200c",  # Malayalam, a visible virama
        "\u09b0\u200d\u09cd\u09af\u09be\u09ac",  # Bengali, ya-phalaa
        "\u845b\U000e0100\u57ce",  # a Han variant in a Japanese place name
        "\u1828\u180b",  # a Mongolian variant
        "\u0627\u06dd",  # Arabic end of verse: of category Cf, and drawn
        "\U0001faef",  # assigned by a later Unicode than the oldest Python knows
    ],
)
def test_what_people_write_is_legal(text: str) -> None:
    assert refused(text) == []


@pytest.mark.parametrize(
    ("text", "codepoint"),
    [
        ("a\x00b", 0x00),
        ("a\x1b[31m", 0x1B),
        ("a\x7f", 0x7F),
        ("a\x85b", 0x85),
        ("a\x9b31m", 0x9B),
        ("a\rb", 0x0D),
        ("a\nb", 0x0A),
        ("a\tb", 0x09),
        ("allow \u202eyned", 0x202E),
        ("a\u2066b", 0x2066),
        ("a\u200eb", 0x200E),
        ("a\u200fb", 0x200F),
        ("a\u061cb", 0x061C),
        ("a\u200bb", 0x200B),
        ("a\u2060b", 0x2060),
        ("a\u00adb", 0x00AD),
        ("a\ufeffb", 0xFEFF),
        ("a\u034fb", 0x034F),
        ("a\u115fb", 0x115F),
        ("a\u1160b", 0x1160),
        ("a\u3164b", 0x3164),
        ("a\uffa0b", 0xFFA0),
        ("a\u180eb", 0x180E),
        ("a\u2028b", 0x2028),
        ("a\u2029b", 0x2029),
        ("a\ufff9b", 0xFFF9),
        ("a\ud83d", 0xD83D),
        ("a\ufdd0", 0xFDD0),
        ("a\uffff", 0xFFFF),
        ("a\U0010ffff", 0x10FFFF),
        ("a\ue000", 0xE000),
        ("a\U000f0000", 0xF0000),
        ("a\ufe0f", 0xFE0F),
        ("1\ufe0f", 0xFE0F),
        ("a\U000e0100", 0xE0100),
        ("\u845b\U000e01ef", 0xE01EF),
        ("a\u200db", 0x200D),
        ("a\u200cb", 0x200C),
        ("\U0001f468\u200d", 0x200D),
        ("\u200d\U0001f468", 0x200D),
        ("\U0001f468\u200d ", 0x200D),
        ("\u0646\u200c ", 0x200C),
    ],
)
def test_what_hides_reorders_or_is_no_text_is_refused(text: str, codepoint: int) -> None:
    assert refused(text) == [codepoint]


@pytest.mark.parametrize(
    "text",
    [
        "plain" + tags("do evil"),
        "\U0001f3f4" + tags("do evil") + "\U000e007f",
        "\U0001f3f4" + tags("gbsct"),
        SCOTLAND + tags("x"),
        "\U0001f600" + "\ufe0f\U000e0101\U000e0102",
        "\u845b\U000e0100\U000e0100",
        "\u0646\u0645\u06cc\u200c\u200c\u062e",
        "\u0915\u094d\u200d\u200d\u0937",
    ],
)
def test_words_cannot_hide_behind_what_an_emoji_or_a_script_may_use(text: str) -> None:
    assert refused(text)


def test_every_tag_of_a_hidden_sentence_is_named() -> None:
    assert refused("plain" + tags("do evil")) == [0xE0000 + ord(letter) for letter in "do evil"]


def test_a_body_may_hold_line_feeds_and_tabs_but_no_carriage_return() -> None:
    assert refused("a\n\tb\n", allow_newlines=True) == []
    assert refused("a\r\nb", allow_newlines=True) == [0x0D]


def test_a_finding_names_line_column_code_point_and_reason() -> None:
    (found,) = illegal_characters("one\n二つ\u202e", allow_newlines=True)
    assert (found.line, found.column, found.codepoint) == (2, 3, 0x202E)
    assert str(found).startswith("line 2, column 3: U+202E is a mark that changes the order")


@given(st.text())
def test_no_control_format_or_surrogate_character_is_overlooked(text: str) -> None:
    found = {(f.line, f.column) for f in illegal_characters(text, allow_newlines=False)}
    line, column = 1, 0
    for character in text:
        column += 1
        if unicodedata.category(character) in ("Cc", "Cs", "Co", "Zl", "Zp"):
            assert (line, column) in found
        if character == "\n":
            line, column = line + 1, 0


def test_the_written_table_covers_every_invisible_format_character_this_python_knows() -> None:
    drawn = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    known = {code for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"}
    assert [hex(code) for code in sorted(known - drawn) if not refused(f"a{chr(code)}b")] == []


def test_white_space_of_any_kind_folds_to_one_space() -> None:
    assert fold_whitespace("\u3000a \t\r\n b\u00a0c\u2028") == "a b c"


@pytest.mark.parametrize(
    ("text", "length"),
    [("", 0), ("tabs", 4), ("用制表符", 8), ("タブ。", 6), ("탭", 2), ("ｱ！", 4), ("é🙂", 2)],
)
def test_a_cjk_character_counts_two_in_a_quote(text: str, length: int) -> None:
    assert quote_length(text) == length


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User prefers tabs.", "  user   PREFERS\n“tabs”!"),
        ("Straße", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("ＡＰＩ１", "api1"),
        ("用户喜欢制表符。", "用户喜欢制表符"),
        ("ｶﾞ", "ガ"),
        ("\u2764\ufe0f tabs", "tabs"),
        ("\u845b\U000e0100", "\u845b"),
        ("ta\u200bbs", "tabs"),
    ],
)
def test_the_same_statement_written_otherwise_is_normalised_alike(one: str, other: str) -> None:
    assert normalise_statement(one) == normalise_statement(other)


def test_marks_that_change_a_word_are_kept_in_a_normalised_statement() -> None:
    assert normalise_statement("कि") != normalise_statement("क")
    assert normalise_statement("ガ") != normalise_statement("カ")


@given(st.text())
def test_normalising_a_statement_twice_changes_nothing_more(text: str) -> None:
    once = normalise_statement(text)
    assert normalise_statement(once) == once


def test_a_terminal_is_shown_what_it_must_not_obey() -> None:
    assert (
        escape_terminal("a\x1b]0;x\x07\r\nb\x9b\u202e\u200b\U000e0041\ud83d")
        == "a\\x1b]0;x\\x07\\x0d\\x0ab\\x9b\\u{202e}\\u{200b}\\u{e0041}\\u{d83d}"
    )
    assert escape_terminal("a\n\tb\r", multiline=True) == "a\n\tb\\x0d"


def test_legal_text_is_shown_as_it_is() -> None:
    text = f"制表符 {FAMILY} C:\\x \u0646\u0645\u06cc\u200c\u062e"
    assert escape_terminal(text) == text


@given(
    st.text(st.characters())
    | st.text(
        st.sampled_from("\u200c\u200d\ufe0f\U000e0100\u202e\u034f\U0001f468\u0646\u0915\u094d葛a1")
    )
)
def test_escaped_text_is_legal_and_can_be_encoded(text: str) -> None:
    escaped = escape_terminal(text)
    assert refused(escaped) == []
    escaped.encode("utf-8")


def test_a_joiner_whose_neighbour_is_escaped_is_escaped_too() -> None:
    assert escape_terminal("क\u094d\u200d\ufe0f") == "क\u094d\u200d\\u{fe0f}"
    assert refused(escape_terminal("\U0001f468\ufe0f\u200d\ufe0f\U0001f468")) == []


def test_what_is_quickly_found_plain_is_never_escaped() -> None:
    plain = [c for c in map(chr, range(0x11000)) if is_plain(c)]
    assert len(plain) > 40_000
    assert [c for c in plain if illegal_characters(c, allow_newlines=False)] == []
    assert not is_plain("a\nb") and not is_plain("中\u200b文") and not is_plain("a\x7f")


def test_one_line_folds_and_escapes() -> None:
    assert one_line(" a\n\tb\x1b ") == "a b\\x1b"


MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def rendered(markdown: str) -> tuple[str, set[str]]:
    """The text of the one list item, and the kinds of inline token in it."""
    blocks = MARKDOWN.parse(markdown)
    assert [block.type for block in blocks] == [
        "bullet_list_open",
        "list_item_open",
        "paragraph_open",
        "inline",
        "paragraph_close",
        "list_item_close",
        "bullet_list_close",
    ]
    children = blocks[3].children or []
    return "".join(child.content for child in children), {child.type for child in children}


TRAPS = [
    "*a* **b** _c_ __d__ ~~e~~ `f` ``g``",
    "[a](b) ![a](b) [a][b] [a]: b <http://x.example> <b>h</b> <!-- c -->",
    "&amp; &#42; &#x2a; R&D a&b; \\* \\",
    "# h",
    "> q",
    "- a",
    "+ a",
    "---",
    "===",
    "***",
    "_ _ _",
    "1. a",
    "12) a",
    "1_000 1._x_",
    "1) _x_ *y*",
    "-_x_",
    "~~~ a",
    "| a | b |",
    "snake_case_name and _x_y_ 中_文_字 。_x_。",
    "http://x.example www.x.example a@b.example",
    "[ ] todo",
    "$x$ :smile: a!",
    "喜欢 *制表符*，见 [这里](x)",
]


@pytest.mark.parametrize("text", TRAPS)
@pytest.mark.parametrize("before", ["- ", "- [n](records/user/n.md) — "])
def test_escaped_markdown_renders_as_exactly_the_text(before: str, text: str) -> None:
    shown, kinds = rendered(before + escape_markdown(text))
    assert shown == ("n — " if "[" in before else "") + text
    assert kinds <= {"text", "text_special", "link_open", "link_close"}
    assert sum(kind == "link_open" for kind in kinds) == ("[" in before)


@given(
    st.text(st.sampled_from(r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~ ab1é中。""" + "\n"), min_size=1)
    | st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf"]), min_size=1)
)
def test_no_text_escapes_from_its_place_in_markdown(text: str) -> None:
    folded = fold_whitespace(text)
    for before in ("- [n](x) — ", "- " if folded else "- n "):
        shown, kinds = rendered(before + escape_markdown(text) + "\n")
        assert shown.endswith(folded)
        assert kinds <= {"text", "text_special", "link_open", "link_close"}


def test_what_needs_no_escape_stays_readable() -> None:
    text = "Run `x` — no: use snake_case, R&D (see docs/a.md), 100% 用户喜欢。"
    assert escape_markdown(text) == text.replace("`", "\\`")


def test_normal_form_is_told_and_made() -> None:
    assert is_nfc("caf\u00e9") and not is_nfc("cafe\u0301")
    assert to_nfc("cafe\u0301") == "caf\u00e9"
    assert to_nfc("か\u3099") == "が"


# --- the same answers under every Python


def test_the_tables_of_unicode_14_are_those_that_the_format_froze() -> None:
    tables = {name: value for name, value in vars(unicode_tables).items() if name.isupper()}
    text = "\n".join(f"{name} {' '.join(tables[name].split())}" for name in sorted(tables))
    assert sha256(text.encode()).hexdigest() == TABLES_DIGEST


@pytest.mark.skipif(
    unicodedata.unidata_version != "14.0.0", reason="this Python knows another Unicode"
)
def test_the_tables_are_what_the_first_supported_python_says() -> None:
    path = Path(__file__).parents[2] / "docs" / "generate_unicode_tables.py"
    spec = spec_from_file_location("generate_unicode_tables", path)
    assert spec is not None and spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.module() == script.TARGET.read_text(encoding="utf-8")


def sampled() -> Iterator[str]:
    """Every nineteenth character, and those at the ends of what was not assigned, among others."""
    edges = {int(code, 16) for code in re.findall("[0-9a-f]+", unicode_tables.UNASSIGNED)}
    for code in sorted({*range(0, 0x1FFFF, 19), *range(0x1FA00, 0x1FB00), *edges}):
        if 0xD800 <= code <= 0xDFFF:
            continue
        character = chr(code)
        yield f"A{character}\u0301#{character}"
        yield f"{character}\u200c\u0627 \u0928\u200d{character}\u200d\u094d"
        yield f"{character}www.x_{character}"


def test_every_python_gives_the_same_answers_whatever_unicode_it_knows() -> None:
    digest = sha256()
    for text in sampled():
        answers = (
            str(illegal_characters(text, allow_newlines=True)),
            str(is_nfc(text)),
            to_nfc(text),
            normalise_statement(text),
            escape_markdown(text),
            fold_whitespace(text),
            str(quote_length(text)),
        )
        digest.update("\0".join(answers).encode())
    assert digest.hexdigest() == ANSWERS_DIGEST


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("I like \U0001fae8 faces", "i like \U0001fae8 faces"),  # a symbol of Unicode 15
        ("\u1c89\U00010d50", "\u1c89\U00010d50"),  # capital letters of Unicode 16
        ("a\U00010d69\u0301", "a\U00010d69\u0301"),  # a mark of Unicode 16 stays where it stands
        ("cafe\u200d\u0301", "caf\u00e9"),
        ("C# c#, 100% #a ##", "c# c# 100% a"),
    ],
)
def test_what_unicode_14_did_not_know_is_kept_as_it_is(text: str, normalised: str) -> None:
    assert normalise_statement(text) == normalised


def test_a_later_character_takes_no_part_in_the_normal_form() -> None:
    later = "\U000105d2\u0307"  # composes to U+105C9 since Unicode 16
    assert is_nfc(later) and to_nfc(later) == later
    assert not is_nfc(f"{later}e\u0301") and to_nfc(f"{later}e\u0301") == f"{later}\u00e9"


def test_an_address_is_disarmed_after_any_letter_but_those_of_ascii() -> None:
    assert escape_markdown("见www.a.b") == "见www\\.a.b"
    assert escape_markdown("_www.a.b awww.c") == "\\_www\\.a.b awww.c"
