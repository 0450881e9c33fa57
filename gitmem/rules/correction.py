"""Which record or earlier statement a new statement changes.

Two statements are about the same thing when they fill the same place (where the person lives,
where the docs are), when they have the same words but for numbers and values, or, after words
like "actually" or 更正, when they clearly share what they talk about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from gitmem.domain.text import normalise_statement
from gitmem.rules.topics import TOPIC, alike, places, topical_terms
from gitmem.rules.values import BARE_VALUE, REPLACEMENTS, contains, corrected_text

_RECENT = 40
"""Facts of one term that are looked at, the newest: keeps a long conversation linear."""


@dataclass
class Fact:
    """A statement that is already there: a record's (``record`` its name) or an earlier one's."""

    text: str
    type: str
    turn: int
    record: str = ""
    terms: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.terms = topical_terms(self.text)


class Facts:
    """All that is known or was said, by what it is about."""

    def __init__(self) -> None:
        self._same: dict[str, Fact] = {}
        self._about: dict[str, Fact] = {}
        self._by_term: dict[str, dict[int, Fact]] = {}
        self._latest: Fact | None = None

    def add(self, fact: Fact) -> None:
        """Make ``fact`` findable; a later one hides an earlier one of the same slot."""
        self._same[normalise_statement(fact.text)] = fact
        for key in places(fact.text, fact.type):
            self._about[key] = fact
        for term in fact.terms:
            self._by_term.setdefault(term, {})[id(fact)] = fact
        if not fact.record:
            self._latest = fact

    def discard(self, fact: Fact) -> None:
        """Forget ``fact``: it was withdrawn or replaced."""
        for table in (self._same, self._about):
            for key in (normalise_statement(fact.text), *places(fact.text, fact.type)):
                if table.get(key) is fact:
                    del table[key]
        if self._latest is fact:
            self._latest = None
        for term in fact.terms:
            self._by_term[term].pop(id(fact), None)

    def same(self, text: str, type: str) -> Fact | None:
        """The fact that says the same: the same telling words in the same order and sense."""
        found = self._same.get(normalise_statement(text))
        if found:
            return found
        about = (self._about.get(key) for key in places(text, type))
        return next((fact for fact in about if fact and alike(fact.text, text)), None)

    def revised_by(self, text: str, type: str) -> Fact | None:
        """The fact that ``text`` replaces without saying so: another value in the same place."""
        return next((fact for key in places(text, type) if (fact := self._about.get(key))), None)

    def corrected_by(self, text: str, turn: int, *, complete: bool, strong: bool) -> Fact | None:
        """The fact that ``text``, which says that it corrects something, is about; None if unclear.

        ``complete``: the text also makes sense alone. ``strong``: it opens with words that only
        a correction opens with ("I meant", 更正), not just "actually". Statements of this ``turn``
        and the one before need to share less than what was said or stored earlier.
        """
        wanted = topical_terms(text)
        near = {id(fact): fact for term in wanted for fact in self._newest(term)}
        if self._latest and turn - self._latest.turn <= 1:
            near[id(self._latest)] = self._latest
        ranked = sorted(
            (
                (_overlap(fact, text, wanted), fact.turn, key)
                for key, fact in near.items()
                if _corrects(fact, text, wanted, turn, complete=complete, strong=strong)
            ),
            reverse=True,
        )
        if not ranked:
            return None
        best = near[ranked[0][2]]
        rivals = {near[key].record for *rank, key in ranked if rank == list(ranked[0][:2])}
        return None if best.record and len(rivals) > 1 else best

    def _newest(self, term: str) -> Iterator[Fact]:
        return islice(reversed(self._by_term.get(term, {}).values()), _RECENT)

    def latest_about(self, text: str) -> Fact | None:
        """The newest statement of the conversation that shares a word with ``text``, or None."""
        found = [
            fact for term in topical_terms(text) for fact in self._newest(term) if not fact.record
        ]
        return max(found, key=lambda fact: fact.turn, default=None)


def _overlap(fact: Fact, text: str, wanted: frozenset[str]) -> int:
    shared = fact.terms & wanted
    topics = sum(term.startswith(TOPIC) for term in shared)
    old = next((found["old"] for p in REPLACEMENTS if (found := p.search(text))), "")
    return len(shared) + topics + 2 * contains(fact.text, old)


def _corrects(
    fact: Fact, text: str, wanted: frozenset[str], turn: int, *, complete: bool, strong: bool
) -> bool:
    overlap = _overlap(fact, text, wanted)
    if BARE_VALUE.match(text) and corrected_text(fact.text, text):
        return not fact.record and turn - fact.turn <= 1
    if overlap < (1 if not fact.record and turn - fact.turn <= 1 else 2):
        return False
    shared = fact.terms & wanted
    if corrected_text(fact.text, text) or any(term.startswith(TOPIC) for term in shared):
        return True
    if strong and (complete or overlap > 1):
        return True
    return complete and 2 * len(shared) > len(fact.terms | wanted)


def is_part_of(correction: str, before: str) -> bool:
    """Whether ``correction`` talks of nothing that ``before`` does not talk of too."""
    words = {term for term in topical_terms(correction) if not term.isdigit()}
    return words <= topical_terms(before)
