"""The form in which gitmem writes YAML: every string in double quotes, everything on its own line.

Pure text; reading YAML is for :mod:`gitmem.records`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gitmem.domain.record import MAX_DEPTH, MAX_KEY, Value
from gitmem.errors import InvalidInput

NOT_IN_YAML = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""What YAML 1.1 does not print, and what it would take for the end of a line."""

_ESCAPED = re.compile(r'["\\\t\n]|' + NOT_IN_YAML.pattern)
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n"}
_PLAIN_KEY = re.compile(r"[a-z][a-z_]*")
_NOT_TEXT_IN_YAML_1_1 = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])

_STRING = r'"(?:[^"\\\n]|\\["\\tn]|\\x[0-9a-f]{2}|\\u[0-9a-f]{4})*+"'
# Of what the writer writes only this: nested collections and quoted keys are rare.
_WRITTEN = re.compile(
    rf"(?:[a-z][a-z_]{{0,{MAX_KEY - 1}}}:(?: (?:{_STRING}|\[\]|\{{\}})\n|\n(?:- {_STRING}\n)+))+"
)


def is_written(text: str) -> bool:
    """Whether ``text`` is a mapping of strings and lists of strings, in the form written here."""
    return _WRITTEN.fullmatch(text) is not None


def mapping_lines(mapping: Mapping[str, Value]) -> Iterator[str]:
    """The lines of ``mapping``, without line ends.

    Raises InvalidInput for what could not be read back: half a surrogate pair, a key that is
    empty, ``<<`` or too long, nesting deeper than MAX_DEPTH.
    """
    return _mapping_lines(mapping, 1)


def _quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        raise InvalidInput(f"holds half of a surrogate pair, U+{code:04X}", where="frontmatter")
    long_escape = f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"
    return _SHORT_ESCAPES.get(character, long_escape)


def _key(key: str) -> str:
    if not key or len(key) > MAX_KEY or key == "<<":
        raise InvalidInput(f"{key[: MAX_KEY + 1]!r} cannot be a key", where="frontmatter")
    plain = _PLAIN_KEY.fullmatch(key) and key not in _NOT_TEXT_IN_YAML_1_1
    return key if plain else _quoted(key)


def _mapping_lines(mapping: Mapping[str, Value], depth: int) -> Iterator[str]:
    for key, value in mapping.items():
        if isinstance(value, str) or not value:
            yield f"{_key(key)}: {_scalar(value)}"
            continue
        yield f"{_key(key)}:"
        # a list's items stand under the first letter of its key, a mapping's keys further in
        indent = "" if isinstance(value, list) else "  "
        for line in _nested_lines(value, depth + 1):
            yield f"{indent}{line}"


def _list_lines(items: list[Value], depth: int) -> Iterator[str]:
    for item in items:
        if isinstance(item, str) or not item:
            yield f"- {_scalar(item)}"
            continue
        for number, line in enumerate(_nested_lines(item, depth + 1)):
            yield f"{'  ' if number else '- '}{line}"


def _nested_lines(value: list[Value] | dict[str, Value], depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        raise InvalidInput(f"nested deeper than {MAX_DEPTH} levels", where="frontmatter")
    return _list_lines(value, depth) if isinstance(value, list) else _mapping_lines(value, depth)


def _scalar(value: Value) -> str:
    if isinstance(value, str):
        return _quoted(value)
    return "[]" if isinstance(value, list) else "{}"
