"""Whether a correction is about the same subject as a statement, or about another of its kind."""

from __future__ import annotations

import re
from typing import NamedTuple

from gitmem.rules.sentences import CJK
from gitmem.rules.topics import TOPICS, topical_terms
from gitmem.rules.values import corrected_values

_TOKEN = re.compile(r"`[^`]+`|[A-Za-z0-9][\w.+#/:@-]*", re.ASCII)
_CHINESE = re.compile(f"[{CJK}]")
_BESIDE = re.compile(r"[\s,、]*")
# What makes a word a name wherever it stands: a digit, an inner capital, a sign of code.
_NAMING = re.compile(r"\d|`|[a-z][A-Z]|[A-Z]{2}|[_/#@]|\w\.\w")


class Compared(NamedTuple):
    """The words that tell what two statements are about, beside names, numbers and choices."""

    before: frozenset[str]
    correction: frozenset[str]

    @property
    def says_more(self) -> bool:
        """Whether the correction is about something that the statement is not about."""
        return not self.correction <= self.before

    @property
    def says_less(self) -> bool:
        """Whether it leaves out something that the statement is about."""
        return not self.before <= self.correction


def names(text: str) -> list[str]:
    """What ``text`` names, in order: numbers, identifiers, and proper names of several words."""
    found: list[str] = []
    end = -1
    for start, token in _named(text):
        if end >= 0 and not token[0].isdigit() and _BESIDE.fullmatch(text, end, start):
            found[-1] += f" {token.lower()}"
        else:
            found.append(token.lower())
        end = start + len(token)
    return found


def _named(text: str) -> list[tuple[int, str]]:
    chinese = bool(_CHINESE.search(text))
    found = []
    for match in _TOKEN.finditer(text):
        token = match.group().rstrip(".:/-")
        capital = token[:1].isupper() and match.start() > 0 and token != "I"
        if chinese or capital or _NAMING.search(token):
            found.append((match.start(), token))
    return found


def compare(before: str, correction: str) -> Compared | None:
    """What both are about; None where they name different things (service 1 and service 2).

    One name or number may differ, the value that is corrected.
    """
    old, new = corrected_values(before, correction)
    known = bool(old) or any(_differ(values, before, correction) for _, values, _ in TOPICS)
    here = names(_without_choices(before.replace(old, " ", 1)))
    there = names(_without_choices(correction.replace(new, " ", 1).replace(old, " ", 1)))
    added = [name for name in there if name not in here]
    gone = [name for name in here if name not in there]
    if gone and len(added) > (0 if known else 1):
        return None
    return Compared(_scope(before, old), _scope(correction, old, new))


def _differ(values: re.Pattern[str], before: str, correction: str) -> bool:
    """Whether both texts make this choice, and make it differently."""
    here, there = (
        {match.group().lower() for match in values.finditer(text)} for text in (before, correction)
    )
    return bool(here and there) and here != there


def _scope(text: str, *known: str) -> frozenset[str]:
    for words in known:
        text = text.replace(words, " ", 1)
    for _, _values, words_of_topic in TOPICS:
        text = words_of_topic.sub(" ", text)
    for start, token in reversed(_named(text)):
        text = f"{text[:start]} {text[start + len(token) :]}"
    return topical_terms(text)


def _without_choices(text: str) -> str:
    for _, values, _words in TOPICS:
        text = values.sub(" ", text)
    return text
