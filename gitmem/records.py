"""Files with frontmatter, and YAML: the one reader and the one writer.

The reader knows a small part of YAML: mappings, lists and text, in which every scalar is the text
that stands there (``no``, ``007`` and ``2026-01-02`` included). It works on the parser's events,
and refuses aliases, anchors, tags, merge keys, duplicate keys, deep nesting and long input before
anything is built, so no input runs code or grows in memory. The writer quotes every string, so
that any YAML reader gets the strings that were written.

What is read must not depend on what is installed: libyaml reads what the writer wrote, where all
parsers agree, and PyYAML's own parser everything else.

A file is ``---``, the fields, ``---``, an empty line, the body and one LF. On reading, at most
one empty line before the body and one LF after it are taken as the file's and not the body's; so
what is written is read back equal, whatever white space the body begins or ends with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import yaml

from gitmem.domain.record import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_KEY,
    MAX_LINES,
    RECORD_KEYS,
    Record,
    Value,
    make_record,
)
from gitmem.domain.text import one_line
from gitmem.domain.yaml_form import NOT_IN_YAML, is_written, mapping_lines
from gitmem.errors import InvalidInput

MAX_YAML_BYTES = 8192
"""UTF-8 bytes of one YAML text, a frontmatter or a whole file."""

# libyaml is ten times faster, but takes and refuses other hand-written files than the parser in
# Python does, and is not installed everywhere.
_LOADER_OF_WRITTEN: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FENCE = re.compile(r"---[ \t]*(?:\n|\Z)")
_CLOSING_FENCE = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_QUOTE_IT = 'Text that holds ": ", " #" or a leading sign must stand in double quotes.'


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A file with frontmatter, as read: its fields, its body, and where each field stands.

    ``warnings`` name the values that a YAML comment cuts short; ``lines`` maps each top-level key
    to its line in the file, counted from 1.
    """

    fields: dict[str, Value]
    body: str
    warnings: tuple[str, ...]
    lines: dict[str, int]


def read_frontmatter(
    data: bytes, *, where: str, max_bytes: int, refuse_comments: bool = False
) -> Frontmatter:
    """Read a file with frontmatter; ``where`` is what errors call it.

    A byte order mark is dropped, CRLF and CR become LF; the body is otherwise kept as it is.
    Raises InvalidInput with file and line where the file is longer than ``max_bytes``, is not
    UTF-8, has no frontmatter or an unclosed one, or one that the reader does not take. With
    ``refuse_comments`` a value that a comment cuts short is an error and not a warning.
    """
    text = _decode(data, where, max_bytes)
    opening = _FENCE.match(text)
    if not opening:
        raise InvalidInput(
            "there is no frontmatter: the first line is not ---",
            where=f"{where}:1",
            hint="Begin the file with ---, the fields, and --- on a line of its own.",
        )
    closing = _CLOSING_FENCE.search(text, opening.end())
    if not closing:
        raise InvalidInput(
            "the frontmatter is not closed",
            where=f"{where}:1",
            hint="Put --- on a line of its own after the last field.",
        )
    block = text[opening.end() : closing.start()]
    _check_size(block.encode("utf-8"), where, MAX_YAML_BYTES, "the frontmatter")
    parser = _Parser(block, where, first_line=2, depth=MAX_DEPTH)
    parser.refuse_comments = refuse_comments
    fields = parser.mapping()
    body = text[closing.end() :].removeprefix("\n").removesuffix("\n")
    return Frontmatter(fields, body, tuple(parser.warnings), parser.lines)


def write_frontmatter(fields: Mapping[str, Value], body: str) -> bytes:
    """The bytes of a file with these fields, in this order, and this body.

    Reading them gives equal fields and the same body. Raises InvalidInput for what cannot be read
    back: a carriage return in the body, half a surrogate pair, nesting deeper than MAX_DEPTH,
    frontmatter longer than MAX_YAML_BYTES.
    """
    if "\r" in body:
        raise InvalidInput("holds a carriage return; lines end with LF", where="body")
    block = _encode("".join(f"{line}\n" for line in mapping_lines(fields)), "frontmatter")
    _check_size(block, "frontmatter", MAX_YAML_BYTES, "it")
    return b"---\n" + block + b"---\n\n" + _encode(body, "body") + b"\n"


def read_yaml_mapping(
    data: bytes, *, where: str, max_bytes: int = MAX_YAML_BYTES, depth: int = MAX_DEPTH
) -> dict[str, Value]:
    """Read a YAML file that is one mapping; every scalar is text, comments are allowed.

    Raises InvalidInput with file and line, as :func:`read_frontmatter` does.
    """
    return _Parser(_decode(data, where, max_bytes), where, first_line=1, depth=depth).mapping()


def write_yaml_mapping(mapping: Mapping[str, Value]) -> bytes:
    """The bytes of a YAML file that :func:`read_yaml_mapping` reads back equal."""
    if not mapping:
        return b"{}\n"
    data = _encode("".join(f"{line}\n" for line in mapping_lines(mapping)), "mapping")
    _check_size(data, "mapping", MAX_YAML_BYTES, "it")
    return data


def read_record(data: bytes, where: str, *, evidence: Sequence[str] = ()) -> Record:
    """Read a record's file; ``where`` is its path.

    ``evidence`` takes the place of what the file cites; it need not cite anything then.
    Raises InvalidInput with path, line and field for anything that breaks a rule. That includes a
    value that a YAML comment cuts short: half a fact is a wrong fact.
    """
    check_record_size(data, where)
    file = read_frontmatter(data, where=where, max_bytes=MAX_BYTES, refuse_comments=True)
    if evidence:
        file.fields["evidence"] = list(evidence)
    known = {key: file.fields[key] for key in RECORD_KEYS if key in file.fields}
    extra = {key: value for key, value in file.fields.items() if key not in known}
    for key in ("name", "description", "type", "evidence"):
        if key not in known:
            raise InvalidInput(
                f"{key} is missing",
                where=where,
                hint="A record has name, description, type and evidence.",
            )
    try:
        _check_shapes(known)
        return make_record(**cast(Any, known), extra=extra, body=file.body)
    except InvalidInput as error:
        line = file.lines.get(error.where)
        raise InvalidInput(
            f"{error.where}: {error.reason}",
            where=f"{where}:{line}" if line else where,
            hint=error.hint,
        ) from None


def write_record(record: Record) -> bytes:
    """The bytes of ``record``'s file; equal records have equal bytes.

    Raises InvalidInput where they would pass MAX_LINES or MAX_BYTES.
    """
    fields: dict[str, Value] = {}
    for key in RECORD_KEYS:
        value = getattr(record, key)
        if value is not None and value != ():
            fields[key] = list(value) if isinstance(value, tuple) else value
    for key in sorted(record.extra):
        fields[key] = cast(Value, record.extra[key])
    data = write_frontmatter(fields, record.body)
    check_record_size(data, record.name)
    return data


def check_record_size(data: bytes, where: str = "") -> None:
    """Refuse a record's file with more than MAX_LINES lines or MAX_BYTES bytes (InvalidInput)."""
    _check_size(data, where, MAX_BYTES, "the record", "Split it into several facts.")
    lines = len(data.splitlines())
    if lines > MAX_LINES:
        raise InvalidInput(
            f"the record has {lines} lines; the limit is {MAX_LINES}",
            where=where,
            hint="Split it into several facts.",
        )


def _check_shapes(known: Mapping[str, Value]) -> None:
    for key, value in known.items():
        if key not in ("evidence", "supersedes"):
            if not isinstance(value, str):
                raise InvalidInput("must be text", where=key)
        elif not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InvalidInput("must be a list of texts", where=key, hint='One "- " line each.')


def _check_size(data: bytes, where: str, limit: int, what: str, hint: str = "") -> None:
    if len(data) > limit:
        raise InvalidInput(
            f"{what} has {len(data)} bytes; the limit is {limit}", where=where, hint=hint
        )


def _decode(data: bytes, where: str, max_bytes: int) -> str:
    _check_size(data, where, max_bytes, "the file")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"not UTF-8, from byte {error.start} (0x{data[error.start]:02x}) on",
            where=f"{where}:{line}",
            hint="Save the file as UTF-8.",
        ) from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _encode(text: str, where: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"holds half of a surrogate pair, U+{ord(text[error.start]):04X}", where=where
        ) from None


class _Parser:
    """Builds one mapping out of YAML events, and stops at the first that it does not take."""

    def __init__(self, text: str, where: str, *, first_line: int, depth: int) -> None:
        self.text = text
        self.where = where
        self.first_line = first_line
        self.depth = depth
        self.refuse_comments = False
        self.warnings: list[str] = []
        self.lines: dict[str, int] = {}
        unprintable = NOT_IN_YAML.search(text)
        if unprintable:
            code = ord(unprintable.group())
            self._refuse(
                text.count("\n", 0, unprintable.start()),
                f"U+{code:04X} cannot stand in YAML",
                f'Take it out, or write it as "\\u{code:04x}" in double quotes.',
            )
        tab = text.find("\t")
        if tab >= 0:
            self._refuse(
                text.count("\n", 0, tab),
                "a tab stands in YAML, where programs disagree on what it means",
                'Use spaces, or write it as "\\t" in double quotes.',
            )
        loader = _LOADER_OF_WRITTEN if is_written(text) else yaml.SafeLoader
        self._events: Iterator[Any] = yaml.parse(text, Loader=loader)

    def mapping(self) -> dict[str, Value]:
        """The one mapping of the text; an empty text is an empty mapping."""
        self._next()  # the start of the stream
        start = self._next()
        if isinstance(start, yaml.StreamEndEvent):
            return {}
        if start.version or start.tags:
            self._refuse(start.start_mark.line, "YAML directives are not taken")
        event = self._next()
        if not isinstance(event, yaml.MappingStartEvent):
            self._refuse(event.start_mark.line, "expected lines of the form key: value", _QUOTE_IT)
        fields = self._mapping(event, 1)
        self._next()  # the end of the document
        end = self._next()
        if not isinstance(end, yaml.StreamEndEvent):
            self._refuse(end.start_mark.line, "more than one YAML document")
        return fields

    def _next(self) -> Any:
        try:
            return next(self._events)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._refuse(mark.line if mark else 0, f"YAML: {error.problem}", _QUOTE_IT)
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            # the parser written in Python meets escapes and tags that are no characters this way
            self._refuse(0, f"YAML: {one_line(str(error))}", _QUOTE_IT)

    def _refuse(self, line: int, reason: str, hint: str = "") -> NoReturn:
        raise InvalidInput(reason, where=f"{self.where}:{self.first_line + line}", hint=hint)

    def _node(self, event: Any, depth: int, key: str) -> Value:
        line = event.start_mark.line
        if isinstance(event, yaml.AliasEvent):
            self._refuse(line, f"the alias *{event.anchor} is not taken", _QUOTE_IT)
        if event.anchor is not None:
            self._refuse(line, f"the anchor &{event.anchor} is not taken", _QUOTE_IT)
        if event.tag is not None:
            self._refuse(line, f"the tag {one_line(event.tag)} is not taken", _QUOTE_IT)
        if isinstance(event, yaml.ScalarEvent):
            return self._text(event, key)
        if depth > self.depth:
            self._refuse(line, f"nested deeper than {self.depth} levels")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(event, depth)
        items = []
        while not isinstance(item := self._next(), yaml.SequenceEndEvent):
            items.append(self._node(item, depth + 1, key))
        return items

    def _mapping(self, start: Any, depth: int) -> dict[str, Value]:
        if start.anchor is not None or start.tag is not None:
            self._refuse(start.start_mark.line, "anchors and tags are not taken")
        fields: dict[str, Value] = {}
        lines: dict[str, int] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event, lines)
            lines[key] = event.start_mark.line + self.first_line
            if depth == 1:
                self.lines = lines
            fields[key] = self._node(self._next(), depth + 1, key)
        return fields

    def _key(self, event: Any, lines: Mapping[str, int]) -> str:
        line = event.start_mark.line
        if isinstance(event, yaml.CollectionStartEvent):
            self._refuse(line, "a key must be text", _QUOTE_IT)
        key = cast(str, self._node(event, 1, "a key"))
        if key == "<<":
            self._refuse(line, "the merge key << is not taken")
        if not key or len(key) > MAX_KEY:
            self._refuse(line, f"a key has {len(key)} characters; it must have 1 to {MAX_KEY}")
        if key in lines:
            self._refuse(
                line,
                f"the key {key!a} stands on line {lines[key]} and again on line "
                f"{line + self.first_line}",
                "Keep one of them.",
            )
        return key

    def _text(self, event: Any, key: str) -> str:
        value: str = event.value
        if event.style:
            if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
                self._refuse(event.start_mark.line, "an escape is half of a surrogate pair")
            return value
        # A plain scalar ends where a comment begins; "see issue #42" was not meant as one.
        end = event.end_mark.index
        if self.text[end:].partition("\n")[0].lstrip(" \t").startswith("#"):
            reason = f"text after # is ignored: put the value of {key!a} in double quotes"
            if self.refuse_comments:
                self._refuse(event.end_mark.line, reason)
            self.warnings.append(f"{self.where}:{event.end_mark.line + self.first_line}: {reason}")
        return value
