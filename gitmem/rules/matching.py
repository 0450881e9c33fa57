"""The patterns of both languages, asked together and as seldom as possible."""

from __future__ import annotations

import re
from typing import NamedTuple

from gitmem.rules import chinese, chinese_marks, english, english_marks
from gitmem.rules.grammar import Guard, Lazy, Rule, hints
from gitmem.rules.sentences import CJK

HAS_CJK = re.compile(f"[{CJK}]")
_HAS_LATIN = re.compile("[A-Za-z]{2}|\\bI\\b")


class Mark(NamedTuple):
    """One mark in both languages. What is plain ASCII is never looked at for Chinese."""

    english: Lazy
    chinese: Lazy

    def match(self, text: str) -> re.Match[str] | None:
        """The mark at the beginning of ``text``."""
        return self.english.match(text) or (None if text.isascii() else self.chinese.match(text))

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The mark anywhere in ``text`` from ``start``."""
        return self.english.search(text, start) or (
            None if text.isascii() else self.chinese.search(text, start)
        )


def _mark(name: str) -> Mark:
    return Mark(getattr(english_marks, name), getattr(chinese_marks, name))


ABOUT_ME = _mark("ABOUT_ME")
CORRECTION = _mark("CORRECTION")
IMPERATIVE = _mark("IMPERATIVE")
LEAD = _mark("LEAD")
REASON_FIRST = _mark("REASON_FIRST")
REASON_NEXT = _mark("REASON_NEXT")
REQUEST = _mark("REQUEST")
REQUEST_AT_END = _mark("REQUEST_AT_END")
WEAK_CUE = _mark("WEAK_CUE")
WITHDRAWAL = _mark("WITHDRAWAL")

_RULES = (*english.RULES, *chinese.RULES)
_BY_CUE: dict[str, list[int]] = {}
for _number, _rule in enumerate(_RULES):
    for _cue in _rule.cues:
        _BY_CUE.setdefault(_cue, []).append(_number)

# Common words that are a cue only beside one of these: "for now", "the port is".
_ONLY_BESIDE = {
    "now": frozenset(["for", "right", "from", "starting", "is", "are", "we", "i"]),
    "port": frozenset(["is", "runs", "uses", "listens", "not"]),
}


def has_cue(text: str) -> bool:
    """Whether a word in ``text`` makes it worth a closer look; cheap, for pasted megabytes."""
    if not text.isascii() and chinese_marks.CUE.search(text):
        return True
    here = hints(text)
    return any(
        word not in _ONLY_BESIDE or not _ONLY_BESIDE[word].isdisjoint(here)
        for word in english_marks.CUE_WORDS & here
    )


def find_rule(text: str) -> Rule | None:
    """The first rule that finds ``text``; only those are tried whose cues stand in it."""
    cued = {number for hint in hints(text) for number in _BY_CUE.get(hint, ())}
    return next((_RULES[n] for n in sorted(cued) if _RULES[n].pattern.search(text)), None)


def guards(text: str) -> tuple[Guard, ...]:
    """The guards of the languages in which ``text`` is written."""
    found: tuple[Guard, ...] = english_marks.GUARDS if _HAS_LATIN.search(text) else ()
    return found + chinese_marks.GUARDS if HAS_CJK.search(text) else found


def from_now_on(text: str) -> bool:
    """Whether ``text`` holds 以后 or the like, which opens a standing rule and stays in it."""
    return not text.isascii() and bool(chinese_marks.FROM_NOW_ON.search(text))


def contrasts(text: str) -> bool:
    """Whether ``text`` sets one value against another."""
    return bool(
        english_marks.CONTRAST.match(text)
        or (not text.isascii() and chinese_marks.CONTRAST.search(text))
    )


def is_candidate(text: str) -> bool:
    """Whether ``text`` alone would be worth remembering, or asks for it."""
    return bool(find_rule(text) or REQUEST.match(text) or from_now_on(text))
