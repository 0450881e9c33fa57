"""The two kinds of rule that a language has: what calls for memory, and what speaks against it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


class Lazy:
    """A regular expression that is compiled when it is first asked.

    Compiling all of them takes as long as starting Python ten times, and one sentence asks few.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression itself; what is wrong with it comes out here."""
        return re.compile(self.pattern, self.flags)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """As of a compiled expression; and so are the others."""
        return self.compiled.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self.compiled.fullmatch(text)

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        return self.compiled.search(text, start)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.compiled.finditer(text)


@dataclass(frozen=True)
class Rule:
    """A sentence that ``pattern`` finds states something of this kind and record type.

    ``cues``: English words, in lower case, or Chinese characters, of which every sentence that
    the pattern finds holds one. They are looked for first, since that is a hundred times cheaper.
    """

    kind: str
    type: str
    pattern: Lazy
    cues: frozenset[str]


@dataclass(frozen=True)
class Guard:
    """A sentence that ``pattern`` finds is passed over for ``reason``.

    A weak guard does not hold against an explicit request to remember.
    """

    reason: str
    pattern: Lazy
    weak: bool = False


def rules(kind: str, type: str, cues: Iterable[str], *patterns: str) -> tuple[Rule, ...]:
    """Rules of one kind and type, and with the same cues; their patterns ignore case."""
    words = frozenset(cues)
    return tuple(Rule(kind, type, Lazy(pattern, re.IGNORECASE), words) for pattern in patterns)


def hints(text: str) -> frozenset[str]:
    """What of ``text`` may be a cue: its English words in lower case and its characters."""
    lower = text.lower().replace("\u2019", "'")
    words = _WORD.findall(lower)
    found = {*words, *(word.partition("'")[0] for word in words if "'" in word)}
    return frozenset(found if lower.isascii() else found.union(lower))


def guard(reason: str, pattern: str, *, weak: bool = False) -> Guard:
    """A guard whose pattern ignores case."""
    return Guard(reason, Lazy(pattern, re.IGNORECASE), weak)
