"""Which record or earlier statement a new statement changes.

A statement replaces another only where it says that it corrects or changes something ("actually",
更正, "now") and clearly shares its subject, or where it fills a place that a person has once
(where they live). Two statements of one form about different things both stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from gitmem.domain.text import normalise_statement
from gitmem.rules.subjects import compare
from gitmem.rules.topics import TOPIC, only_place, sense, topical_terms
from gitmem.rules.values import BARE_VALUE, REPLACEMENTS, contains, corrected_text

Key = str | tuple[bool, tuple[str, ...]]
_RECENT = 40
"""Facts of one term that are looked at, the newest: keeps a long conversation linear."""


@dataclass(eq=False)
class Fact:
    """A statement that is already there: a record's (``record`` its name) or an earlier one's."""

    text: str
    type: str
    turn: int
    record: str = ""

    @cached_property
    def terms(self) -> frozenset[str]:
        """What it is about."""
        return topical_terms(self.text)

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """What a statement that says the same has too."""
        said = sense(self.text)
        plain: Key = normalise_statement(self.text)
        return (plain, said) if len(said[1]) > 1 else (plain,)

    @cached_property
    def place(self) -> str:
        """The place that it fills, if that can be filled once only."""
        return only_place(self.text, self.type)


class Facts:
    """All that is known or was said, by what it is about."""

    def __init__(self) -> None:
        self._same: dict[Key, Fact] = {}
        self._placed: dict[str, Fact] = {}
        self._by_term: dict[str, dict[int, Fact]] = {}
        self._latest: Fact | None = None

    def add(self, fact: Fact) -> None:
        """Make ``fact`` findable; a later one hides an earlier one of the same place."""
        for key in fact.keys:
            self._same[key] = fact
        if fact.place:
            self._placed[fact.place] = fact
        for term in fact.terms:
            self._by_term.setdefault(term, {})[id(fact)] = fact
        if not fact.record:
            self._latest = fact

    def discard(self, fact: Fact) -> None:
        """Forget ``fact``: it was withdrawn or replaced."""
        for key in fact.keys:
            if self._same.get(key) is fact:
                del self._same[key]
        if self._placed.get(fact.place) is fact:
            del self._placed[fact.place]
        if self._latest is fact:
            self._latest = None
        for term in fact.terms:
            self._by_term[term].pop(id(fact), None)

    def same(self, said: Fact) -> Fact | None:
        """The fact that says the same: the same telling words in the same order and sense."""
        return next((fact for key in said.keys if (fact := self._same.get(key))), None)

    def placed_as(self, said: Fact) -> Fact | None:
        """The fact that fills the only place which ``said`` fills now."""
        return self._placed.get(said.place) if said.place else None

    def corrected_by(self, said: Fact, *, complete: bool, strong: bool) -> Fact | None:
        """The fact that ``said``, which says that it corrects something, is about; None if unclear.

        ``complete``: its text also makes sense alone. ``strong``: it opens with words that only
        a correction opens with ("I meant", 更正), not just "actually". Statements of its turn and
        the one before need to share less than what was said or stored earlier.
        """
        near = {id(fact): fact for term in said.terms for fact in self._newest(term)}
        if self._latest and said.turn - self._latest.turn <= 1:
            near[id(self._latest)] = self._latest
        named = [found["old"] for p in REPLACEMENTS if (found := p.search(said.text))][:1]
        ranked = sorted(
            (
                (overlap, fact.turn, key)
                for key, fact in near.items()
                if (overlap := _overlap(fact, said, named))
                and _corrects(fact, said, overlap, complete=complete, strong=strong)
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


def _overlap(fact: Fact, said: Fact, named: list[str]) -> int:
    """How much the two share, from 1; ``named`` is what ``said`` says was wrong."""
    shared = fact.terms & said.terms
    topics = sum(term.startswith(TOPIC) for term in shared)
    return 1 + len(shared) + topics + 2 * any(contains(fact.text, old) for old in named)


def _corrects(fact: Fact, said: Fact, overlap: int, *, complete: bool, strong: bool) -> bool:
    just_said = not fact.record and said.turn - fact.turn <= 1
    if BARE_VALUE.match(said.text) and corrected_text(fact.text, said.text):
        return just_said
    if overlap < (2 if just_said else 3):
        return False
    compared = compare(fact.text, said.text)
    # What says more narrows or extends; only plain words make a correction of that.
    if compared is None or (compared.says_more and (compared.says_less or not strong)):
        return False
    if any(t.startswith(TOPIC) for t in fact.terms & said.terms):
        return True
    if corrected_text(fact.text, said.text):
        return True
    if not complete:
        return strong and overlap > 2
    before, after = compared
    least = min(len(before), len(after)) if strong else len(before)
    return 2 * len(before & after) > least


def is_part_of(correction: str, before: str) -> bool:
    """Whether ``correction`` talks of nothing that ``before`` does not talk of too."""
    words = {term for term in topical_terms(correction) if not term.isdigit()}
    return words <= topical_terms(before)
