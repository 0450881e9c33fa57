"""The two kinds of rule that a language has: what calls for memory, and what speaks against it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A sentence that ``pattern`` finds states something of this kind and record type."""

    kind: str
    type: str
    pattern: re.Pattern[str]


@dataclass(frozen=True)
class Guard:
    """A sentence that ``pattern`` finds is passed over for ``reason``.

    A weak guard does not hold against an explicit request to remember.
    """

    reason: str
    pattern: re.Pattern[str]
    weak: bool = False


def rules(kind: str, type: str, *patterns: str) -> tuple[Rule, ...]:
    """Rules of one kind and type; their patterns ignore case."""
    return tuple(Rule(kind, type, re.compile(pattern, re.IGNORECASE)) for pattern in patterns)


def guard(reason: str, pattern: str, *, weak: bool = False) -> Guard:
    """A guard whose pattern ignores case."""
    return Guard(reason, re.compile(pattern, re.IGNORECASE), weak)
