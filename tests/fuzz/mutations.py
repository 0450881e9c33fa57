"""Broken input that was whole once: cut, doubled, swapped, and with odd pieces put into it.

Pure chance is refused by the first check of every reader; what is nearly right gets further. All
choices come from one ``random.Random``, so the same code serves hypothesis (whose ``st.randoms()``
shrinks), a seeded loop and a coverage-guided run.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from gitmem.domain.text import illegal_characters
from gitmem.errors import GitmemError


def fewer(by: int) -> settings:
    """Settings for a test of which each example costs much: so many times fewer of them."""
    return settings(max_examples=settings().max_examples // by)


#: Pieces that readers are known to trip over, as bytes.
PIECES: tuple[bytes, ...] = (
    # What ends lines, hides, reorders, or is no text at all.
    b"\0", b"\x00" * 64, b"\r\n", b"\r", b"\n", b"\n\n", b"\x0b", b"\x0c", b"\t", b"\x1b[2J",
    b"\x9b31m", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9",
    b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\xe2\x80\x8b", b"\xf3\xa0\x81\x81", b"\xed\xa0\x80",
    b"\xed\xa0\xbd\xed\xb8\x80", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf4\x90\x80\x80", b"\xfe",
    b"\x80", b"\xef\xbf\xbf", b"\xef\xbf\xbd", b"\xee\x80\x81",
    # Letters that change their length or form when they are folded.
    "é".encode(), b"e\xcc\x81", "ﬃ".encode(), "İ".encode(), "ß".encode(), "制表符".encode(),
    "１２".encode(), "٣".encode(), "²".encode(), "👩‍👩‍👧".encode(), "ﷺ".encode(),
    # Numbers and constants.
    b"1e999999", b"-1e999999", b"9" * 400, b"9" * 5000, b"-0", b"0x1F", b"NaN", b"Infinity",
    b"-1", b"1_000", b"true", b"null", b"1.5", b"18446744073709551616",
    # JSON and YAML.
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"'", b"\\", b"\\u0000", b"\\ud800", b"\\ud83d",
    b"\\U00110000", b"\\x1b", b"[" * 300, b'{"a":' * 300, b"[[[]]]", b"{}", b"[]", b"#", b" #",
    b": ", b"- ", b"? ", b"| ", b">-\n", b"&a ", b"*a", b"<<: *a", b"!!python/name:os.system ",
    b"!<tag:yaml.org,2002:str> ", b"%YAML 1.2\n", b"---\n", b"---", b"...\n", b"@", b"`", b"=",
    # gitmem's own words where they do not belong.
    b"name: x\n", b"where: x\n", b"self: x\n", b"cls: human\n", b"class: human\n", b"extra: x\n",
    b"body: x\n", b"quote: x\n", b"blob: x\n", b"version: 2\n", b'"version":99,',
    b"Verdict: approve\n", b"Base: x\n", b"Proposal-Id: extract-20261130-7f3a2c\n", b"  indented\n",
    b"[redacted:token]", b"%% ", b"gitdir: ", b"ref: ", b"HEAD", b"../", b"/", b"refs/heads/main",
    b"a" * 5000,
)  # fmt: skip

#: Values that no field of a JSON document wants.
JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 0.5, 1e308, float("inf"), float("nan"), 10**30, -(10**400),
    "", " ", "x", "\0", "\x1b[2J", "\ud800", "\u202e", "a\nb", "\n", "é" * 300, "制" * 5000,
    "../x", "CON", "2026-13-45", "9" * 5000, [], {}, [[]], [None], [{}], {"": ""}, {"\x1b": [1]},
    {"\ud800": "\ud800"}, {"type": "text"}, {"type": []}, {"role": {}}, ["\ud800"], [1, "a", None],
)  # fmt: skip


def nested(depth: int) -> Any:
    """A list within lists."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


# --- bytes -----------------------------------------------------------------------------------


def _span(chance: random.Random, size: int) -> tuple[int, int]:
    start = chance.randint(0, size)
    return start, min(size, start + chance.choice((0, 1, 2, 3, 8, 40, 200)))


def _cut(chance: random.Random, data: bytes) -> bytes:
    start, end = _span(chance, len(data))
    return data[:start] + data[end:]


def _end(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randint(0, len(data))]


def _double(chance: random.Random, data: bytes) -> bytes:
    start, end = _span(chance, len(data))
    return data[:end] + data[start:end] * chance.choice((1, 2, 30)) + data[end:]


def _swap(chance: random.Random, data: bytes) -> bytes:
    at = sorted((*_span(chance, len(data)), *_span(chance, len(data))))
    one, two, three, four = at
    return data[:one] + data[three:four] + data[two:three] + data[one:two] + data[four:]


def _put(chance: random.Random, data: bytes) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice(PIECES) + data[at:]


def _replace(chance: random.Random, data: bytes) -> bytes:
    start, end = _span(chance, len(data))
    return data[:start] + chance.choice(PIECES) + data[end:]


def _flip(chance: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    at = chance.randint(0, len(data) - 1)
    return data[:at] + bytes([data[at] ^ (1 << chance.randint(0, 7))]) + data[at + 1 :]


def _lines(chance: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    one, two = chance.randint(0, len(lines) - 1), chance.randint(0, len(lines) - 1)
    done = chance.randint(0, 3)
    if done == 0:
        lines[one], lines[two] = lines[two], lines[one]
    elif done == 1:
        lines.insert(two, lines[one])
    elif done == 2:
        del lines[one]
    else:
        lines[one] = chance.choice(PIECES)
    return b"\n".join(lines)


def _end_lines_otherwise(chance: random.Random, data: bytes) -> bytes:
    return data.replace(
        b"\n", chance.choice((b"\r\n", b"\r", b"\xe2\x80\xa8", b"\xc2\x85", b"\x0b"))
    )


_MUTATIONS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _put, _replace, _lines, _cut, _flip, _double, _swap, _end, _end_lines_otherwise,
)  # fmt: skip


def mutated(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """One of ``seeds``, changed in one to four places; or joined with another one."""
    data = chance.choice(seeds)
    if chance.randint(0, 9) == 9:
        other = chance.choice(seeds)
        data = data[: chance.randint(0, len(data))] + other[chance.randint(0, len(other)) :]
    for _ in range(chance.choice((1, 1, 2, 4))):
        data = chance.choice(_MUTATIONS)(chance, data)
    return data


def broken(*seeds: bytes) -> st.SearchStrategy[bytes]:
    """Mutations of ``seeds``, now and then whatever bytes there are."""
    near = st.randoms().map(lambda chance: mutated(chance, seeds))
    return st.one_of(near, near, near, st.binary(max_size=80))


def broken_text(*seeds: str) -> st.SearchStrategy[str]:
    """The same as text; bytes that are none are halves of surrogate pairs."""
    encoded = [seed.encode("utf-8", "surrogatepass") for seed in seeds]
    return st.one_of(broken(*encoded).map(as_text), any_text())


def as_text(data: bytes) -> str:
    """Bytes as text of any kind: what is no UTF-8 becomes halves of surrogate pairs."""
    return data.decode("utf-8", "surrogateescape")


def any_text(max_size: int = 40) -> st.SearchStrategy[str]:
    """Text without any rule: NUL, controls and halves of surrogate pairs included."""
    pieces = st.sampled_from([as_text(piece) for piece in PIECES if len(piece) < 100])
    letters = st.characters(exclude_categories=())
    return st.lists(st.one_of(pieces, letters), max_size=max_size).map("".join)


# --- JSON ------------------------------------------------------------------------------------


def mutated_json(chance: random.Random, value: Any) -> Any:
    """``value`` with one to three of its nodes replaced, renamed, doubled or taken out."""
    value = deepcopy(value)
    for _ in range(chance.choice((1, 1, 2, 3))):
        value = _changed(chance, value)
    return value


def _junk(chance: random.Random) -> Any:
    at = chance.randint(0, len(JUNK))
    return nested(chance.choice((5, 90))) if at == len(JUNK) else deepcopy(JUNK[at])


def _changed(chance: random.Random, value: Any) -> Any:
    inside = isinstance(value, dict | list) and value
    if not inside or chance.randint(0, 7) == 7:
        return chance.choice((_junk(chance), [value], {"content": value}))
    if isinstance(value, list):
        return _changed_list(chance, value)
    key = chance.choice(list(value))
    done = chance.randint(0, 9)
    if done == 0:
        del value[key]
    elif done == 1:
        value[chance.choice(("", "name", "role", "\x1b[2J", "\ud800", "id", "where", "zzz"))] = (
            value.pop(key)
        )
    elif done == 2:
        value[chance.choice(("name", "type", "id", "text", "\u202e", "at", "kind"))] = _junk(chance)
    else:
        value[key] = _changed(chance, value[key])
    return value


def _changed_list(chance: random.Random, value: list[Any]) -> list[Any]:
    at = chance.randint(0, len(value) - 1)
    done = chance.randint(0, 7)
    if done == 0:
        del value[at]
    elif done == 1:
        value.insert(at, deepcopy(value[at]))
    elif done == 2:
        value.insert(at, _junk(chance))
    else:
        value[at] = _changed(chance, value[at])
    return value


def broken_json(*seeds: Any) -> st.SearchStrategy[Any]:
    """Mutations of JSON values, as values."""
    return st.randoms().map(lambda chance: mutated_json(chance, chance.choice(seeds)))


def dumped(value: Any) -> bytes:
    """A JSON value as a program without scruples writes it."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


# --- what may come of it ---------------------------------------------------------------------


#: Characters of one error; a person reads it, and a log keeps it.
MAX_SAID = 4000


def drawn(codepoint: int) -> bool:
    """Whether a character is left as it is by ``repr``, which shows values in errors."""
    return chr(codepoint).isprintable()


def check_error(error: GitmemError) -> None:
    """What an error says is short enough to be read, and holds nothing a terminal obeys."""
    for said in (error.message, error.hint):
        hidden = [
            c for c in illegal_characters(said, allow_newlines=True) if not drawn(c.codepoint)
        ]
        assert not hidden, (ascii(said), hidden)
        assert len(said) <= MAX_SAID, ascii(said[:400])
    assert error.message.strip(), "an error without a word"


def outcome(call: Callable[[], Any]) -> Any:
    """What ``call`` returns, or the error of gitmem's own that it raises; no other is caught."""
    try:
        return call()
    except GitmemError as error:
        check_error(error)
        return error
