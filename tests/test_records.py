from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.record import MAX_BYTES, MAX_LINES, Record, Value, make_record
from gitmem.domain.text import illegal_characters, is_nfc
from gitmem.domain.yaml_form import NOT_IN_YAML, is_written
from gitmem.errors import InvalidInput
from gitmem.records import (
    MAX_YAML_BYTES,
    check_record_size,
    read_frontmatter,
    read_record,
    read_yaml_mapping,
    write_frontmatter,
    write_record,
    write_yaml_mapping,
)

OID = "3fa9c1d4e5f60718293a4b5c6d7e8f9012345678"
WHERE = "records/user/x.md"
LIMIT = 1 << 20

IMPLICIT = [
    "no",
    "yes",
    "on",
    "off",
    "y",
    "n",
    "true",
    "False",
    "NULL",
    "null",
    "~",
    "0123",
    "007",
    "1e3",
    "1_000",
    "0x1F",
    "0o17",
    "1.0",
    ".inf",
    ".nan",
    "12:30:45",
    "2026-01-02",
    "2026-03-04T05:06:07.890Z",
    "=",
    "<<",
]
SIGNS = ["-", "?", ":", "---", "...", "!", "&", "*", "@", "`", "%", "|", ">", "{", "}", "[", "]"]
TRAPS = [
    *IMPLICIT,
    *SIGNS,
    "",
    " leading and trailing ",
    "#general is the team channel",
    "prefers tabs, see issue #42 for the reason",
    "Order: db first, then api",
    '"blue" is the theme',
    "it's 'quoted'",
    "\\x41 C:\\new\\table",
    "a\tb",
    "- item",
    "key: value",
    "!!python/object/apply:os.getcwd []",
    "用户：喜欢 #制表符",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647 "
    "\u0915\u094d\u200d\u0937 \u2764\ufe0f \u00a0\u3000",
]
TEXTS = st.sampled_from(TRAPS) | st.text(st.characters(exclude_categories=["Cs"]))
KEYS = st.sampled_from([trap for trap in TRAPS if trap not in ("", "<<")]) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20
).filter(lambda key: key != "<<")
LEVEL_3 = st.lists(TEXTS, max_size=3) | st.dictionaries(KEYS, TEXTS, max_size=3)
LEVEL_2 = st.lists(TEXTS | LEVEL_3, max_size=3) | st.dictionaries(KEYS, TEXTS | LEVEL_3, max_size=3)
FIELDS = st.dictionaries(KEYS, TEXTS | LEVEL_2, max_size=4)


def legal(text: str, *, lines: bool = False) -> bool:
    return is_nfc(text) and not illegal_characters(text, allow_newlines=lines)


LEGAL_TEXTS = TEXTS.filter(lambda text: legal(text, lines=True))


def frontmatter(fields: str, body: str = "Body text.\n") -> bytes:
    return f"---\n{fields}\n---\n{body}".encode()


def read(fields: str, body: str = "Body text.\n") -> dict[str, Value]:
    return read_frontmatter(frontmatter(fields, body), where=WHERE, max_bytes=LIMIT).fields


def refusal(data: bytes) -> InvalidInput:
    with pytest.raises(InvalidInput) as error:
        read_frontmatter(data, where=WHERE, max_bytes=LIMIT)
    return error.value


def record_file(fields: str = "", body: str = "Body text.\n", description: str = "d") -> bytes:
    known = f"name: x\ndescription: {description}\ntype: user\nevidence:\n- {OID}"
    return frontmatter(f"{known}\n{fields}" if fields else known, body)


def made(**fields: Any) -> Record:
    required: dict[str, Any] = {
        "name": "user-prefers-tabs",
        "description": "User prefers tabs for indentation",
        "type": "user",
        "evidence": [OID],
        "body": "Use tabs, not spaces, for indentation.",
    }
    return make_record(**{**required, **fields})


# --- writing, and reading back


def test_a_record_is_written_in_the_form_of_the_format() -> None:
    assert write_record(made(supersedes=["old"], extra={"b": "2", "a": ["1"]})) == (
        b"---\n"
        b'name: "user-prefers-tabs"\n'
        b'description: "User prefers tabs for indentation"\n'
        b'type: "user"\n'
        b"evidence:\n"
        b'- "3fa9c1d4e5f60718293a4b5c6d7e8f9012345678"\n'
        b"supersedes:\n"
        b'- "old"\n'
        b"a:\n"
        b'- "1"\n'
        b'b: "2"\n'
        b"---\n"
        b"\n"
        b"Use tabs, not spaces, for indentation.\n"
    )


@pytest.mark.parametrize("text", [trap for trap in TRAPS if trap.strip() and legal(trap)])
def test_a_description_that_yaml_would_misread_survives(text: str) -> None:
    record = made(description=text, body=f"{text}\n\n---\n{text}", extra={"key": text})
    assert read_record(write_record(record), WHERE) == record


@pytest.mark.parametrize(
    "body",
    [
        "x",
        "x\n",
        "x\n\n\n",
        "\nx",
        "\n\n\nx  \n",
        "  x\t",
        "---\nname: not-me\n---",
        "x\n---\n",
        "---",
    ],
)
def test_a_body_survives_with_every_space_and_line_at_its_ends(body: str) -> None:
    assert read_record(write_record(made(body=body)), WHERE).body == body


@given(
    description=st.text(max_size=60).filter(lambda text: text.strip() != "" and legal(text)),
    body=st.text(max_size=150).filter(lambda text: text.strip() != "" and legal(text, lines=True)),
    extra=st.dictionaries(
        st.from_regex(r"x_[a-z]{1,5}", fullmatch=True),
        LEGAL_TEXTS | st.lists(LEGAL_TEXTS | st.dictionaries(KEYS.filter(legal), LEGAL_TEXTS)),
        max_size=2,
    ).filter(lambda extra: len(str(extra)) < 400),
)
def test_any_legal_record_survives_writing_and_reading(
    description: str, body: str, extra: dict[str, Value]
) -> None:
    record = made(description=description, body=body, extra=extra)
    data = write_record(record)
    assert read_record(data, WHERE) == record
    assert write_record(read_record(data, WHERE)) == data


@given(FIELDS, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")))
def test_our_reader_and_any_other_agree_on_what_is_written(
    fields: dict[str, Value], body: str
) -> None:
    data = write_frontmatter(fields, body)
    file = read_frontmatter(data, where=WHERE, max_bytes=LIMIT)
    assert (file.fields, file.body, file.warnings) == (fields, body, ())
    assert list(file.fields) == list(fields)
    assert (yaml.safe_load(data.decode().split("---\n")[1]) or {}) == fields
    assert data.endswith(b"\n")


@given(FIELDS)
def test_a_mapping_survives_and_any_yaml_reader_agrees(fields: dict[str, Value]) -> None:
    data = write_yaml_mapping(fields)
    assert read_yaml_mapping(data, where="policy.yaml") == fields
    assert yaml.safe_load(data.decode()) == fields
    assert yaml.load(data.decode(), Loader=yaml.SafeLoader) == fields


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ({}, "a\r\nb"),
        ({}, "\ud83d"),
        ({"a": "\ud83d"}, ""),
        ({"": "x"}, ""),
        ({"<<": "x"}, ""),
        ({"k" * 81: "x"}, ""),
        ({"a": {"b": {"c": ["d"]}}}, ""),
        ({"a": "x" * MAX_YAML_BYTES}, ""),
    ],
)
def test_what_could_not_be_read_back_is_not_written(fields: dict[str, Value], body: str) -> None:
    with pytest.raises(InvalidInput):
        write_frontmatter(fields, body)


# --- limits


def filled(lines: int, size: int, letter: str = "x") -> Record:
    """A record whose file has this many lines and bytes."""
    empty = len(write_record(made(body="x"))) - 1
    body = "x\n" * (lines - 9)
    rest = size - empty - len(body)
    count, left = divmod(rest, len(letter.encode()))
    return made(body=body + "x" * left + letter * count)


@pytest.mark.parametrize("letter", ["x", "字"])
def test_a_record_may_have_4096_bytes_and_not_one_more(letter: str) -> None:
    data = write_record(filled(20, MAX_BYTES, letter))
    assert len(data) == MAX_BYTES
    assert read_record(data, WHERE) == filled(20, MAX_BYTES, letter)
    with pytest.raises(InvalidInput, match="4097 bytes; the limit is 4096"):
        write_record(filled(20, MAX_BYTES + 1, letter))
    with pytest.raises(InvalidInput, match="4097 bytes; the limit is 4096"):
        read_record(data + b"x", WHERE)


def test_a_record_may_have_200_lines_and_not_one_more() -> None:
    data = write_record(filled(MAX_LINES, 1000))
    assert data.count(b"\n") == MAX_LINES
    assert read_record(data, WHERE) == filled(MAX_LINES, 1000)
    with pytest.raises(InvalidInput, match="201 lines; the limit is 200"):
        write_record(filled(MAX_LINES + 1, 1000))
    with pytest.raises(InvalidInput, match="201 lines; the limit is 200"):
        check_record_size(data + b"no line feed at its end", WHERE)


def test_lines_are_counted_whatever_ends_them() -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        check_record_size(b"x" + end * MAX_LINES)
        with pytest.raises(InvalidInput, match="201 lines"):
            check_record_size(end * MAX_LINES + b"x")


def test_a_file_or_a_frontmatter_that_is_too_long_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(InvalidInput, match="the file has 23 bytes; the limit is 22"):
        read_frontmatter(frontmatter("a: b", "123456\n789\n")[:23], where=WHERE, max_bytes=22)
    long = f"a: {'x' * MAX_YAML_BYTES}"
    assert "the limit is 8192" in refusal(frontmatter(long)).reason
    with pytest.raises(InvalidInput, match="the limit is 8192"):
        read_yaml_mapping(long.encode(), where="policy.yaml")


# --- colons, quotes, rules


@pytest.mark.parametrize(
    "line", ["description: Order: db first, then api", 'description: "blue" is the theme']
)
def test_a_value_that_is_no_yaml_is_one_problem_with_its_line(line: str) -> None:
    error = refusal(frontmatter(f"name: deploy\n{line}"))
    assert error.where == f"{WHERE}:3"
    assert error.reason.startswith("YAML: ")
    assert "double quotes" in error.hint


def test_a_rule_in_the_body_is_no_metadata() -> None:
    body = "one\n\n---\n\ntwo\n---\nname: not-me\n"
    file = read_frontmatter(frontmatter("name: r", body), where=WHERE, max_bytes=LIMIT)
    assert file.fields == {"name": "r"}
    assert file.body == body.removesuffix("\n")


def test_a_rule_inside_a_block_scalar_does_not_close_the_frontmatter() -> None:
    assert read("description: |\n  first\n  ---\n  second")["description"] == "first\n---\nsecond\n"


def test_absent_and_unclosed_frontmatter_are_told_apart() -> None:
    assert "there is no frontmatter" in refusal(b"# Just notes\n\ntext\n").reason
    assert "there is no frontmatter" in refusal(b"").reason
    assert "there is no frontmatter" in refusal(b"----\na: b\n---\n").reason
    assert "not closed" in refusal(b"---\nname: r3\n\nno closing line\n").reason
    assert "not closed" in refusal(b"---").reason


def test_a_hand_written_file_may_leave_out_the_empty_line_and_the_last_line_feed() -> None:
    for data in (b"---\na: b\n---\ntext", b"--- \na: b\n---\t\n\ntext\n"):
        assert read_frontmatter(data, where=WHERE, max_bytes=LIMIT).body == "text"
    for data in (b"---\na: b\n---", b"---\na: b\n---\n", b"---\na: b\n---\n\n"):
        assert read_frontmatter(data, where=WHERE, max_bytes=LIMIT).body == ""


# --- bytes


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_byte_order_mark_and_other_line_ends_make_no_difference(start: bytes, end: bytes) -> None:
    data = start + record_file(body="x\n\n y\n").replace(b"\n", end)
    assert read_record(data, WHERE) == read_record(record_file(body="x\n\n y\n"), WHERE)


def test_mixed_line_ends_are_made_one() -> None:
    data = b"---\r\nname: mix\ndescription: d\r\n---\nx\r\ny\n"
    file = read_frontmatter(data, where=WHERE, max_bytes=LIMIT)
    assert file.fields == {"name": "mix", "description": "d"}
    assert file.body == "x\ny"


def test_other_encodings_are_named_and_not_guessed() -> None:
    error = refusal("---\nname: l1\ndescription: café\n---\n".encode("latin-1"))
    assert error.reason == "not UTF-8, from byte 29 (0xe9) on"
    assert error.where == f"{WHERE}:3"
    assert "not UTF-8" in refusal("---\nname: u16\n---\n".encode("utf-16")).reason
    assert "not UTF-8" in refusal(b"---\nname: \xed\xa0\xbd\n---\n").reason


@pytest.mark.parametrize(
    "character", ["\x00", "\x1b", "\x7f", "\x85", "\u2028", "\ufeff", "\uffff"]
)
def test_what_yaml_cannot_hold_is_refused_with_its_line(character: str) -> None:
    error = refusal(frontmatter(f"name: n\ndescription: a{character}b"))
    assert error.where == f"{WHERE}:3"
    assert f"U+{ord(character):04X}" in error.reason


# --- every scalar is text


@pytest.mark.parametrize("text", IMPLICIT)
def test_a_scalar_is_the_text_that_stands_there(text: str) -> None:
    assert read(f"name: {text}\nlist: [{text}]") == {"name": text, "list": [text]}
    assert read_record(record_file(description=text), WHERE).description == text


def test_a_key_is_text_too() -> None:
    assert read("on: a\n1: b\n2026-01-01: c\nnull: d") == {
        "on": "a",
        "1": "b",
        "2026-01-01": "c",
        "null": "d",
    }


def test_fields_know_their_lines() -> None:
    file = read_frontmatter(frontmatter("a: b\nc:\n  a: x\n\nd: e"), where=WHERE, max_bytes=LIMIT)
    assert file.lines == {"a": 2, "c": 3, "d": 6}


# --- comments


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("description: prefers tabs, see issue #42 for the reason", "prefers tabs, see issue"),
        ("description: #general is the team channel", ""),
        ("description: 用户喜欢 #制表符", "用户喜欢"),
        ("description: one\n  two #three", "one two"),
    ],
)
def test_text_lost_to_a_comment_is_flagged_and_makes_no_record(line: str, value: str) -> None:
    file = read_frontmatter(frontmatter(f"name: x\n{line}"), where=WHERE, max_bytes=LIMIT)
    assert file.fields["description"] == value
    number = 3 + line.count("\n")
    (warning,) = file.warnings
    assert warning.startswith(f"{WHERE}:{number}: text after # is ignored")
    assert "'description'" in warning
    data = record_file(description=line.removeprefix("description: "))
    with pytest.raises(InvalidInput, match="text after # is ignored") as error:
        read_record(data, WHERE)
    assert error.value.where == f"{WHERE}:{number}"


def test_a_comment_that_cuts_nothing_short_is_no_matter() -> None:
    fields = '# the name\nname: "x" # it is\ntags: [a, b] # two\nissue: a#1\nurl: http://h/#x'
    file = read_frontmatter(frontmatter(fields), where=WHERE, max_bytes=LIMIT)
    assert file.warnings == ()
    assert file.fields["issue"] == "a#1"


# --- what is not taken


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{key}: &{key} [{','.join(['*' + before] * 9)}]\n"
    for before, key in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("fields", "line", "reason"),
    [
        ("name: one\nname: two", 3, "the key 'name' stands on line 2 and again on line 3"),
        ('name: one\nx: y\n"name": two', 4, "stands on line 2 and again on line 4"),
        ("a:\n  b: c\n  b: d", 4, "the key 'b' stands on line 3 and again on line 4"),
        ("a: {b: c, b: d}", 2, "the key 'b' stands"),
        (BOMB, 2, "the anchor &a is not taken"),
        ("base: &b {trusted: yes}\n<<: *b", 2, "the anchor &b"),
        ("a: x\n<<: {b: c}", 3, "the merge key <<"),
        ('"<<": x', 2, "the merge key <<"),
        ("name: *team", 2, "the alias *team"),
        ("*team : x", 2, "the alias *team"),
        ("&k name: x", 2, "the anchor &k"),
        ("name: !!python/object/apply:os.getcwd []", 2, "the tag"),
        ("name: !!str 7", 2, "the tag"),
        ("name: ! x", 2, "the tag"),
        ("!!map\nname: x", 2, "tags are not taken"),
        ("a: {b: {c: {d: e}}}", 2, "nested deeper than 3 levels"),
        ("a: [[[x]]]", 2, "nested deeper than 3 levels"),
        ("a: " + "[" * 40, 2, "nested deeper than 3 levels"),
        ("a: " + "[" * 8000, 2, "nest"),
        ("? [a]\n: b", 2, "a key must be text"),
        ('"": x', 2, "a key has 0 characters"),
        ("k" * 81 + ": x", 2, "a key has 81 characters"),
        ("- a\n- b", 2, "expected lines of the form key: value"),
        ("just text", 2, "expected lines of the form key: value"),
        ("name: t\n\tdescription: d", 3, "a tab stands in YAML"),
        ("name: t\ndescription: d\t", 3, "a tab stands in YAML"),
        ("name: t\ndescription: |\n  d\n \t?", 5, "a tab stands in YAML"),
        ('name: "a\tb"', 2, "a tab stands in YAML"),
        ("name: t # a\tb", 2, "a tab stands in YAML"),
        ("name: >#", 2, "YAML: "),
        ("name: |+#\n  x", 2, "YAML: "),
        ('a: "\\ud83d"', 2, "YAML: "),
        ('a: "\\UFFFFFFFF"', 2, "YAML: "),
        *((f"name: x\ndescription: {sign}team rule", 3, "YAML: ") for sign in "@`%|>"),
        *((f"name: x\ndescription: {sign}team rule", 3, "not taken") for sign in "*&!"),
        *((f"name: x\ndescription: {sign}team rule", 4, "YAML: ") for sign in "[{"),
    ],
)
def test_what_the_reader_does_not_take_is_refused_with_its_line(
    fields: str, line: int, reason: str
) -> None:
    error = refusal(frontmatter(fields))
    assert error.where == f"{WHERE}:{line}"
    assert reason in error.reason


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: b\n---\nc: d\n", 2, "more than one YAML document"),
        ("a: b\n...\nc: d\n", 3, "YAML: "),
        ("%YAML 1.1\n---\na: b\n", 1, "YAML directives are not taken"),
        ("%TAG ! tag:x,2026:\n---\na: b\n", 1, "YAML directives are not taken"),
    ],
)
def test_a_file_holds_one_plain_document(text: str, line: int, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason) as error:
        read_yaml_mapping(text.encode(), where="policy.yaml")
    assert error.value.where == f"policy.yaml:{line}"
    assert read_yaml_mapping(b"--- # one\na: b # two\n...\n", where="policy.yaml") == {"a": "b"}


def test_a_bomb_is_refused_without_taking_memory() -> None:
    data = frontmatter(f"{BOMB}name: bomb\ndescription: d")
    tracemalloc.start()
    refusal(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_no_tag_runs_code(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    refusal(frontmatter(f"name: !!python/object/apply:os.mkdir [{trace}]"))
    assert not trace.exists()


@given(st.binary() | st.text().map(lambda text: f"---\n{text}\n---\nx".encode(errors="replace")))
def test_bytes_of_any_kind_are_read_or_refused_in_words(data: bytes) -> None:
    for read_it in (
        lambda: read_record(data, WHERE),
        lambda: read_frontmatter(data, where=WHERE, max_bytes=LIMIT),
        lambda: read_yaml_mapping(data, where=WHERE),
    ):
        try:
            read_it()
        except InvalidInput as error:
            assert WHERE in str(error)


@given(st.lists(st.sampled_from([*"ab:-?#&*!|>'\"%@`{}[],\\ \n\t<=~0x1", "---\n", ": ", "- "])))
def test_text_made_of_yaml_signs_is_read_or_refused_in_words(pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    try:
        fields = read_yaml_mapping(data, where=WHERE)
    except InvalidInput as error:
        assert error.where.startswith(f"{WHERE}:")
    else:
        assert read_yaml_mapping(write_yaml_mapping(fields), where=WHERE) == fields


PURE = """
import sys
sys.modules["yaml._yaml"] = None  # as where PyYAML was installed without libyaml
import yaml
from gitmem.errors import InvalidInput
from gitmem.records import read_yaml_mapping
assert not yaml.__with_libyaml__
for text in sys.stdin.read().split("\\0"):
    try:
        print(ascii(read_yaml_mapping(text.encode(), where="w")))
    except InvalidInput as error:
        print("refused")
"""


def test_without_libyaml_the_same_is_read_and_the_same_refused() -> None:
    texts = [
        "a: b",
        "a: 用户 # x",
        "a:\n- 007\n- {b: ~}",
        "a: x\na: y",
        BOMB,
        "a: !!str x",
        'a: "\\ud83d"',
        'a: "\\UFFFFFFFF"',
        'a: "\\U00110000"',
        "a: !<%ff> x",
        "%YAML " + "9" * 5000 + ".1\n---\na: b",
        "a: " + "[" * 4000,
        "a: b: c",
        "a: @x",
        "",
    ]
    root = Path(__file__).parents[1]
    ran = subprocess.run(
        [sys.executable, "-c", PURE],
        input="\0".join(texts),
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONUTF8": "1"},
        check=False,
    )
    assert ran.stderr == ""
    here = []
    for text in texts:
        try:
            here.append(ascii(read_yaml_mapping(text.encode(), where="w")))
        except InvalidInput:
            here.append("refused")
    assert ran.stdout.splitlines() == here
    assert here.count("refused") == 11


# --- other parsers

PIECES = [
    *("a", "b: ", "k", "k: ", ": ", ":", "- ", "-", "? ", "?", "#", " #", "# c", "&", "*", "!"),
    *("|", "|-\n", "|2\n", "|+", "|#", ">", ">-", ">#", ">+2", "'", "''", '"', '\\"', "\\x41"),
    *("\\u263a", "\\ud800", "\\\n", "%", "@", "`", "{", "}", "[", "]", ", ", ",", "\n", "\n", "\n"),
    *(
        "\n ",
        " ",
        "  ",
        "\n  ",
        "---",
        "---\n",
        "...",
        "...\n",
        "--- ",
        "<<",
        "=",
        "~",
        "0x1",
        "\t",
    ),
    *("\u00a0", "\u3000", "字", "\U0001f600", "\x85", "\u2028", "\ufeff", "!!str ", "%YAML 1.1\n"),
    *("\n\n", "a: b\n", "c:\n", "  - x\n", "- x\n", "{a: b}", "[a, b]", "'x'", '"x"', "\\", "\\t"),
    *("\\ ", "/", ".", "\\_", "\\N", "\\L", "\\e", "\r", "\r\n"),
]
STRINGS = [
    *('"', '" ', '"x', "a", " ", "\\", '\\"', "\\\\", "\\t", "\\n", "\\x00", "\\xe9", "\\u2028"),
    *(
        "\\ud83d",
        "\\ude00",
        "\\u0",
        "\\x4",
        "#",
        " #",
        ": ",
        "- ",
        "字",
        "\u00a0",
        "\U0001f600",
        "'",
    ),
    *("---", "...", "[", "{", "%", "~", "\t", "\n", "\ufeff"),
]


def generated(seed: int, pieces: list[str], most: int) -> str:
    chance = random.Random(seed)
    return "".join(
        pieces[int(chance.random() * len(pieces))] for _ in range(1 + int(chance.random() * most))
    )


def of_signs(seed: int) -> str:
    return ("k: " if seed % 2 else "") + generated(seed, PIECES, 9) + ("\n" if seed % 4 < 2 else "")


def in_our_form(seed: int) -> str:
    """A text of the form that the writer writes, or nearly."""
    parts = [generated(seed * 7 + number, STRINGS, 5) for number in range(6)]
    lines = [f'key: "{parts[0]}"', "list:", *(f'- "{part}"' for part in parts[1 : 1 + seed % 4])]
    lines += ["none: []", "empty: {}"][: seed % 3]
    return "\n".join([*lines, f'a_key: "{parts[5]}"']) + "\n"


def read_by(loader: Any, text: str) -> object:
    try:
        return yaml.load(text, Loader=loader) or {}
    except (yaml.YAMLError, ValueError, TypeError):
        return None


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was installed without libyaml")
@pytest.mark.parametrize(
    ("kind", "count", "least"), [(of_signs, 6000, 500), (in_our_form, 3000, 200)]
)
def test_what_the_reader_takes_every_parser_reads_alike(
    kind: Callable[[int], str], count: int, least: int
) -> None:
    taken = 0
    for seed in range(count):
        text = kind(seed)
        try:
            fields = read_yaml_mapping(text.encode(), where=WHERE)
        except InvalidInput:
            continue
        taken += 1
        assert (seed, fields) == (seed, read_by(yaml.CBaseLoader, text))
        assert (seed, fields) == (seed, read_by(yaml.BaseLoader, text))
    assert taken > least


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was installed without libyaml")
def test_what_libyaml_is_given_both_parsers_take_and_refuse_alike() -> None:
    texts = [text for text in map(in_our_form, range(6000)) if is_written(text)]
    assert len(texts) > 300
    for text in texts:
        if "\t" in text or NOT_IN_YAML.search(text):
            continue  # refused before it is parsed
        values = read_by(yaml.BaseLoader, text)
        if not re.search(r"\\ud[89a-f]", text):  # half a pair: refused by us where not by them
            assert values is not None
            assert values == read_by(yaml.CBaseLoader, text)
            assert values == read_yaml_mapping(text.encode(), where=WHERE)


def test_records_are_in_the_form_that_libyaml_is_given() -> None:
    text = write_record(made(supersedes=["old"], extra={"a": [], "b": {}, "c": "字\t"})).decode()
    assert is_written(text.split("---\n")[1])
    for other in ("a: b\n", 'a: "b"', 'a: "b" \n', 'a:\n  - "b"\n', '"a": "b"\n', 'a: "\\e"\n', ""):
        assert not is_written(other)


# --- records


def test_unknown_keys_survive_a_read_and_a_write() -> None:
    fields = "modified: 2026-03-04T05:06:07.890Z\nmeta:\n  a: [x, 1.0]\n  b: {c: ~}"
    record = read_record(record_file(fields), WHERE)
    assert record.extra == {
        "modified": "2026-03-04T05:06:07.890Z",
        "meta": {"a": ["x", "1.0"], "b": {"c": "~"}},
    }
    assert read_record(write_record(record), WHERE) == record


@pytest.mark.parametrize("key", ["name", "description", "type", "evidence"])
def test_a_missing_field_is_named(key: str) -> None:
    known = {"name": "x", "description": "d", "type": "user", "evidence": [OID]}
    fields: dict[str, Any] = {other: known[other] for other in known if other != key}
    with pytest.raises(InvalidInput, match=f"{key} is missing"):
        read_record(write_frontmatter(fields, "text"), WHERE)


@pytest.mark.parametrize(
    ("fields", "line", "message"),
    [
        ("valid_from: 2026-02-30", 7, "valid_from: '2026-02-30' is not a date"),
        ("valid_until:", 7, "valid_until: '' is not a date"),
        ("status: [unconfirmed]", 7, "status: must be text"),
        ("x: y\nsupersedes: old", 8, "supersedes: must be a list of texts"),
        ("supersedes: [[old]]", 7, "supersedes: must be a list of texts"),
        ('note: "a\\u200bb"', 7, "note: line 1, column 2: U\\+200B is invisible"),
    ],
)
def test_a_field_that_breaks_a_rule_is_named_with_its_line(
    fields: str, line: int, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as error:
        read_record(record_file(fields), WHERE)
    assert error.value.where == f"{WHERE}:{line}"


def test_hidden_and_reordering_text_is_refused_by_field() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "do evil")
    for text in (f"plain{hidden}", "allow \u202eyned\u202c access"):
        with pytest.raises(InvalidInput, match="description: line 1, column"):
            read_record(record_file(description=text), WHERE)
        with pytest.raises(InvalidInput, match="body: line 1, column"):
            read_record(record_file(body=text), WHERE)


def test_emoji_persian_and_hindi_survive_byte_for_byte() -> None:
    scotland = "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "gbsct") + "\U000e007f"
    text = f"{TRAPS[-1].strip()} {scotland}"
    data = write_record(made(description=text, body=text))
    assert data.count(text.encode()) == 2
    assert read_record(data, WHERE).description == text
