"""Commit messages of gitmem: one writer, one parser.

A message is a subject, an indented body and trailers. Text from outside stands only in
indented lines or in escaped trailer values, so no record, quote or reason can forge a trailer:
every flush-left line after the subject is a trailer that gitmem wrote, or the message is not
gitmem's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitmem.domain.text import fold_whitespace
from gitmem.errors import InvalidInput

INDENT = "  "
_KEY = re.compile(r"[A-Z][a-z]+(?:-[A-Z][a-z]+)*\Z")
# Written out, not asked of str.isprintable(): what Python finds printable changes with the Unicode
# version it knows, and the message of a merge must have the same bytes everywhere.
_ESCAPED = re.compile(
    "[\\\\\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_ESCAPE = re.compile(r"\\(?:\\|n|u\{[0-9a-f]{1,6}\})")


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """A parsed message. ``body`` has one string a line, without the indent."""

    subject: str
    body: tuple[str, ...] = ()
    trailers: tuple[tuple[str, str], ...] = ()

    def one(self, key: str) -> str | None:
        """Return the only value of ``key``, None where there is none.

        Raises:
            InvalidInput: the trailer stands there twice.
        """
        values = self.all(key)
        if len(values) > 1:
            raise InvalidInput(f"the trailer {key} stands there {len(values)} times; once is legal")
        return values[0] if values else None

    def need(self, key: str) -> str:
        """Return the only value of ``key``.

        Raises:
            InvalidInput: it is missing, empty or doubled.
        """
        value = self.one(key)
        if not value:
            raise InvalidInput(f"the trailer {key} is missing")
        return value

    def all(self, key: str) -> tuple[str, ...]:
        """Return every value of ``key`` in order."""
        return tuple(value for name, value in self.trailers if name == key)


def escape_line(text: str) -> str:
    """Return ``text`` as one line: backslash, controls, line ends and hidden marks escaped."""
    return _ESCAPED.sub(_escape_match, text)


def _escape_match(match: re.Match[str]) -> str:
    character = match.group()
    named = {"\\": "\\\\", "\n": "\\n"}
    return named.get(character) or f"\\u{{{ord(character):x}}}"


def unescape_line(text: str) -> str:
    """Undo :func:`escape_line`; a backslash that it never writes stays as it is."""

    def one(match: re.Match[str]) -> str:
        token = match.group()
        if token == "\\\\":
            return "\\"
        if token == "\\n":
            return "\n"
        point = int(token[3:-1], 16)
        return chr(point) if point < 0x110000 else token

    return _ESCAPE.sub(one, text)


def write_message(message: CommitMessage) -> str:
    """Return the text of ``message``; ``parse_message`` gives the same message back.

    Raises:
        InvalidInput: the subject is empty or a trailer key is not of the form ``Two-Words``.
    """
    if not fold_whitespace(message.subject):
        raise InvalidInput("a commit message needs a subject")
    for key, _ in message.trailers:
        if not _KEY.match(key):
            raise InvalidInput(f"{key!r} is no trailer key")
    paragraphs = [escape_line(message.subject)]
    if message.body:
        paragraphs.append("\n".join(INDENT + escape_line(line) for line in message.body))
    if message.trailers:
        paragraphs.append("\n".join(f"{k}: {escape_line(v)}" for k, v in message.trailers))
    return "\n\n".join(paragraphs) + "\n"


def parse_message(text: str) -> CommitMessage:
    """Parse a message that :func:`write_message` made.

    Raises:
        InvalidInput: the message has another form, so gitmem did not write it.
    """
    lines = text.split("\n")
    if len(lines) < 2 or lines[-1] != "" or not fold_whitespace(lines[0]):
        raise InvalidInput("the commit message is not one that gitmem writes")
    body: list[str] = []
    trailers: list[tuple[str, str]] = []
    for number, line in enumerate(lines[1:-1], start=2):
        if line.startswith(INDENT) and not trailers:
            body.append(unescape_line(line[len(INDENT) :]))
        elif line:
            key, colon, value = line.partition(": ")
            if not colon or not _KEY.match(key):
                raise InvalidInput(f"line {number} of the commit message is no trailer")
            trailers.append((key, unescape_line(value)))
        elif trailers:
            raise InvalidInput(f"line {number} of the commit message breaks up the trailers")
    return CommitMessage(unescape_line(lines[0]), tuple(body), tuple(trailers))
