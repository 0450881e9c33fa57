"""Where in a text a pattern has to be tried: the lines that hold a word it cannot do without.

A pattern that begins with no fixed letters is tried at every character. A search for a plain
word is a hundred times faster, so the patterns see only the lines around such words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


def folded(text: str) -> str:
    """Return ``text`` in lower case as ``re.IGNORECASE`` compares it, of the same length."""
    lower = text.replace("\u0130", "i").lower()
    return lower if lower.isascii() else lower.replace("\u017f", "s").replace("\u0131", "i")


def lines_with(
    low: str, words: Sequence[str], before: int = 0, after: int = 0
) -> Iterator[tuple[int, int]]:
    """Yield the lines of a folded text that hold one of ``words``, with their neighbours.

    ``before`` and ``after`` are how many lines around such a line belong to it. What touches is
    joined; each pair is the beginning and the end, the line break included.
    """
    hits = sorted(hit for word in words for hit in _first_in_lines(low, word))
    start = end = -1
    for hit in hits:
        if hit < end and not before and not after:
            continue
        first = last = hit
        for _ in range(before + 1):
            first = low.rfind("\n", 0, first)
            if first < 0:
                break
        for _ in range(after + 1):
            last = low.find("\n", last) + 1
            if not last:
                last = len(low)
                break
        if end >= 0 and first + 1 > end:
            yield start, end
            start = first + 1
        elif end < 0:
            start = first + 1
        end = max(end, last)
    if end >= 0:
        yield start, end


def matches(
    pattern: re.Pattern[str], text: str, places: Iterator[tuple[int, int]]
) -> Iterator[re.Match[str]]:
    """Yield the matches of ``pattern`` in those places of ``text``."""
    for start, end in places:
        yield from pattern.finditer(text, start, end)


def _first_in_lines(low: str, word: str) -> Iterator[int]:
    at = low.find(word)
    while at >= 0:
        yield at
        end = low.find("\n", at)
        at = low.find(word, end) if end >= 0 else -1
