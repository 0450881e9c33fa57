"""The two kinds of rule that a language has: what calls for memory, and what speaks against it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


@dataclass(frozen=True)
class Rule:
    """A sentence that ``pattern`` finds states something of this kind and record type.

    ``cues``: English words, in lower case, or Chinese characters, of which every sentence that
    the pattern finds holds one. They are looked for first, since that is a hundred times cheaper.
    """

    kind: str
    type: str
    pattern: re.Pattern[str]
    cues: frozenset[str]


@dataclass(frozen=True)
class Guard:
    """A sentence that ``pattern`` finds is passed over for ``reason``.

    A weak guard does not hold against an explicit request to remember.
    """

    reason: str
    pattern: re.Pattern[str]
    weak: bool = False


def rules(kind: str, type: str, cues: Iterable[str], *patterns: str) -> tuple[Rule, ...]:
    """Rules of one kind and type, and with the same cues; their patterns ignore case."""
    words = frozenset(cues)
    return tuple(
        Rule(kind, type, re.compile(pattern, re.IGNORECASE), words) for pattern in patterns
    )


def hints(text: str) -> frozenset[str]:
    """What of ``text`` may be a cue: its English words in lower case and its characters."""
    lower = text.lower().replace("\u2019", "'")
    words = _WORD.findall(lower)
    found = {*words, *(word.partition("'")[0] for word in words if "'" in word)}
    return frozenset(found if lower.isascii() else found.union(lower))


def guard(reason: str, pattern: str, *, weak: bool = False) -> Guard:
    """A guard whose pattern ignores case."""
    return Guard(reason, re.compile(pattern, re.IGNORECASE), weak)
