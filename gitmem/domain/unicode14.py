"""Characters as Unicode 14 knows them, the same under every Python that gitmem supports.

Accepted history is computed with these answers, so they must not change when an interpreter learns
a newer Unicode. Classes of characters come from written-out tables. For normal forms and case
folding the interpreter is asked, but only about text of characters that Unicode 14 assigned: for
these its stability policy rules out another answer in any later version. A character that was not
assigned then stands for itself: it is neither composed, decomposed nor folded, and nothing is
composed or reordered across it.

Standard library only: the prompt hook imports this module.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from unicodedata import is_normalized, normalize

from gitmem.domain import unicode_tables


@cache
def _bounds(table: str) -> list[int]:
    """Where the ranges of a table begin and where they have ended, by turns."""
    bounds = []
    for span in table.split():
        first, _, last = span.partition("-")
        bounds += [int(first, 16), int(last or first, 16) + 1]
    return bounds


def _among(character: str, table: str) -> bool:
    return character != "" and bisect_right(_bounds(table), ord(character)) % 2 == 1


def is_unassigned(character: str) -> bool:
    """Whether Unicode 14 has no such character: it is of a later version, or none at all."""
    return _among(character, unicode_tables.UNASSIGNED)


def is_mark(character: str) -> bool:
    """Whether ``character`` is a combining mark; the empty string is not, here and below."""
    return _among(character, unicode_tables.MARKS)


def is_virama(character: str) -> bool:
    """Whether ``character`` is a virama: its canonical combining class is 9."""
    return _among(character, unicode_tables.VIRAMAS)


def is_separator(character: str) -> bool:
    """Whether ``character`` is none of letter, number, mark, mathematical symbol, unassigned."""
    return _among(character, unicode_tables.SEPARATORS)


def is_letter_or_number(character: str) -> bool:
    """Whether ``character`` is of a general category that begins with L or N."""
    tables = (
        unicode_tables.UNASSIGNED,
        unicode_tables.MARKS,
        unicode_tables.MATHEMATICAL,
        unicode_tables.SEPARATORS,
    )
    return character != "" and not any(_among(character, table) for table in tables)


def is_nfc(text: str) -> bool:
    """Whether ``text`` is in the normal form NFC, between its unassigned characters."""
    return text.isascii() or all(is_normalized("NFC", run) for run in _runs(text))


def to_nfc(text: str) -> str:
    """``text`` in the normal form NFC, between its unassigned characters."""
    return text if text.isascii() else _map_runs(lambda run: normalize("NFC", run), text)


def fold(text: str) -> str:
    """NFKC, then case folding, then NFKC of ``text``, between its unassigned characters."""
    if text.isascii():
        return text.lower()
    return _map_runs(lambda run: normalize("NFKC", normalize("NFKC", run).casefold()), text)


def _runs(text: str) -> list[str]:
    """``text``, cut before and after each unassigned character."""
    # Text has few different characters, and hardly ever one of these.
    unassigned = [character for character in set(text) if is_unassigned(character)]
    return re.split(f"([{''.join(unassigned)}])", text) if unassigned else [text]


def _map_runs(change: Callable[[str], str], text: str) -> str:
    return "".join(piece if is_unassigned(piece[:1]) else change(piece) for piece in _runs(text))
