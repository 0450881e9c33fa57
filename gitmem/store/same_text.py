"""Whether two files of a record say the same: then the one may replace the other."""

from __future__ import annotations

from itertools import takewhile

from gitmem.domain.record import Record, with_evidence
from gitmem.domain.text import fold_whitespace
from gitmem.errors import InvalidInput
from gitmem.records import read_record

ANY_QUOTES = ("0" * 40,)
"""What a record is read with whose own quotes do not matter."""

_FENCE = b"---"
CONFLICT = (
    "holds the marks of a conflict (<<<<<<<, =======, >>>>>>>): put both together in the file, "
    "take the marks out, and run `gitmem adopt` again"
)
"""What to do about a file that :func:`has_conflict`."""


def same_file(mine: bytes, merged: bytes) -> bool:
    """Whether nothing that a person wrote is lost where ``merged`` replaces ``mine``.

    So it is where both say the same in other quotes, line ends and citations. A comment in the
    fields stands in no record, so a file that has one is never the same as another.
    """
    return mine == merged or (same_record_file(mine, merged) and not has_comments(mine))


def same_record_file(one: bytes, other: bytes) -> bool:
    """Whether both are files of the same record, whatever they cite."""
    try:
        first, second = (read_record(data, "", evidence=ANY_QUOTES) for data in (one, other))
    except InvalidInput:
        return False
    return first == second


def same_record(one: Record, other: Record) -> bool:
    """Whether two records differ in white space and citations at most."""
    return _plain(one) == _plain(other) and _words(one) == _words(other)


def _plain(record: Record) -> Record:
    """The record without what is compared in its own way."""
    return with_evidence(record.model_copy(update={"description": "-", "body": "-"}), ANY_QUOTES)


def _words(record: Record) -> tuple[str, str]:
    return fold_whitespace(record.description), fold_whitespace(record.body)


def has_comments(data: bytes) -> bool:
    """Whether a line of the file's fields is a comment."""
    fields = takewhile(lambda line: line.rstrip() != _FENCE, data.splitlines()[1:])
    return any(line.lstrip().startswith(b"#") for line in fields)


def has_conflict(data: bytes) -> bool:
    """Whether a text holds the marks that git leaves where two changes meet."""
    wanted = [b"<<<<<<<", b"=======", b">>>>>>>"]
    for line in data.splitlines():
        if wanted and line.split(b" ", 1)[0] == wanted[0]:
            del wanted[0]
    return not wanted
