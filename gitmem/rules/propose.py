"""From a conversation to proposed records."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gitmem.domain.proposal_item import Citation, Item
from gitmem.domain.session import Message
from gitmem.domain.text import normalise_statement
from gitmem.naming import name_for
from gitmem.rules.correction import Fact, Facts, is_part_of
from gitmem.rules.matching import has_cue
from gitmem.rules.model import KnownRecord, PassedOver, RuleResult
from gitmem.rules.sentences import Sentence, sentences
from gitmem.rules.statement import Statement, bare, is_request, judge, quotable, reason_of
from gitmem.rules.subjects import names
from gitmem.rules.topics import says_that_it_changed
from gitmem.rules.values import corrected_text

MAX_SHOWN = 200
MAX_EVIDENCE = 4
"""Quotes of one item: the first statement and its latest corrections."""

# "No, the blue one" answers a question more often than it corrects a statement.
_ANSWER = re.compile(r"(?:no|nope|not)\b|不", re.IGNORECASE)
_WHY = re.compile(r"\*\*Why:?\*\*", re.IGNORECASE)


def propose(
    messages: Sequence[Message], existing: Sequence[KnownRecord], new_from: int = 0
) -> RuleResult:
    """Return the records that the human parts of ``messages`` call for.

    ``existing`` are the records of the store; a statement that changes one of them becomes an
    item of the same name. Messages below index ``new_from`` were seen before: they are context
    only, and no item rests on them alone. Never raises for any text.
    """
    conversation = _Conversation(existing, new_from)
    for message in messages:
        conversation.hear(message)
    return conversation.result()


@dataclass
class _Entry:
    """A statement that stands so far, with its quotes.

    ``origin`` and ``origin_message`` are of its first form; ``revises`` is the record that it
    changes.
    """

    statement: Statement
    evidence: tuple[Citation, ...]
    turn: int
    origin: str
    origin_message: int
    fact: Fact
    revises: KnownRecord | None = None


class _Conversation:
    def __init__(self, existing: Sequence[KnownRecord], new_from: int) -> None:
        self._new_from = new_from
        self._records = {record.name: record for record in existing}
        self._facts = Facts()
        self._stored: dict[str, list[Fact]] = {}
        # In the order in which they were said, by the identity of the fact that they state.
        self._entries: dict[int, _Entry] = {}
        self._passed: list[PassedOver] = []
        self._turn = 0
        self._message = 0
        for record in existing:
            self._store(record)

    def hear(self, message: Message) -> None:
        """Take in the next message."""
        if not any(part.kind == "text" and part.cls == "human" for part in message.parts):
            return
        if not any(has_cue(part.text) for part in message.parts if part.cls == "human"):
            self._turn += 1  # nothing in it can be a statement, nor take one back
            return
        spoken = list(sentences(message))
        if not spoken:
            return
        self._turn += 1
        self._message = message.index
        latest: _Entry | None = None
        for position, sentence in enumerate(spoken):
            reason = reason_of(sentence) if latest and not latest.statement.reason else ""
            if latest and reason:
                self._explain(latest, reason, sentence)
                continue
            following = spoken[position + 1] if position + 1 < len(spoken) else None
            latest = self._take(sentence, following, latest)

    def result(self) -> RuleResult:
        """What is left when all was heard."""
        items: list[Item] = []
        used: set[str] = set()
        for entry in self._entries.values():
            name = entry.revises.name if entry.revises else self._name(entry, used)
            used.add(name)
            new = any(citation.message >= self._new_from for citation in entry.evidence)
            if new and not _says_what_it_said(entry):
                items.append(_item(name, entry))
        return RuleResult(tuple(items), tuple(self._passed))

    def _name(self, entry: _Entry, used: set[str]) -> str:
        # What an earlier run proposed keeps the name that it was proposed under.
        seen = entry.origin_message < self._new_from
        return name_for(
            entry.origin if seen else entry.statement.text,
            lambda name: name in self._records or name in used,
        )

    def _take(
        self, sentence: Sentence, following: Sentence | None, before: _Entry | None
    ) -> _Entry | None:
        requested = following is not None and is_request(following)
        judgement = judge(sentence, requested=requested)
        if judgement.verdict == "request":
            if before:
                self._add_evidence(before, sentence)
            else:
                self._pass(sentence.text, "asks to remember what another sentence says")
        elif judgement.verdict == "withdrawal":
            self._withdraw(sentence.text)
        elif judgement.statement:
            return self._state(judgement.statement)
        elif judgement.verdict == "passed":
            self._pass(sentence.text, judgement.reason)
        return None

    def _state(self, statement: Statement) -> _Entry | None:
        text, type, complete = statement.text, statement.type, bool(statement.kind)
        said = Fact(text, type, self._turn)
        same = self._facts.same(said) if complete else None
        if same:
            self._pass(statement.quote, "already known" if same.record else "said before")
            return self._entries.get(id(same))
        target = None
        if statement.corrects or (complete and says_that_it_changed(text)):
            target = self._facts.corrected_by(said, complete=complete, strong=statement.strongly)
        if target is None and complete:
            target = self._facts.placed_as(said)
        if target:
            return self._revise(target, statement)
        if statement.withdraws:
            self._withdraw("")
        if not complete:
            if statement.strongly and not _ANSWER.match(statement.quote):
                self._pass(statement.quote, "corrects something that is not known")
            return None
        return self._add(statement)

    def _add(self, statement: Statement) -> _Entry:
        fact = Fact(statement.text, statement.type, self._turn)
        quotes = (Citation(message=self._message, quote=statement.quote),)
        entry = _Entry(statement, quotes, self._turn, statement.text, self._message, fact)
        self._entries[id(fact)] = entry
        self._facts.add(fact)
        return entry

    def _revise(self, target: Fact, statement: Statement) -> _Entry:
        """Put ``statement`` in the place of what it corrects, under the same name and type."""
        before = self._entries.pop(id(target), None)
        record = before.revises if before else self._records[target.record]
        basis = stated(record.body) if record and target.record else target.text
        merged = corrected_text(basis, statement.text)
        if statement.kind and not is_part_of(statement.text, basis):
            merged = ""
        if not set(names(statement.text)) <= {*names(merged), *names(basis)}:
            merged = ""
        type = before.statement.type if before else target.type
        statement = replace(statement, type=type, text=bare(merged) or statement.text)
        entry = self._add(statement)
        entry.revises = record
        if before:
            self._facts.discard(target)
            entry.origin, entry.origin_message = before.origin, before.origin_message
            if merged:
                entry.evidence = (*before.evidence[-MAX_EVIDENCE + 1 :], *entry.evidence)
            self._pass(before.statement.quote, "corrected later", before.evidence[-1].message)
        for fact in self._stored.pop(record.name, []) if record else []:
            self._facts.discard(fact)
        return entry

    def _withdraw(self, words: str) -> None:
        """Drop what ``words`` take back: the statement they name, or else the latest one."""
        fact = self._facts.latest_about(words) if words else None
        latest = next(reversed(self._entries.values()), None)
        if latest and self._turn - latest.turn > 1:
            latest = None
        entry = self._entries.get(id(fact), latest)
        if entry is None:
            return
        del self._entries[id(entry.fact)]
        self._facts.discard(entry.fact)
        if entry.revises:
            self._store(entry.revises)
        self._pass(entry.statement.quote, "withdrawn", entry.evidence[-1].message)

    def _explain(self, entry: _Entry, reason: str, sentence: Sentence) -> None:
        entry.statement = replace(entry.statement, reason=reason)
        self._add_evidence(entry, sentence)

    def _add_evidence(self, entry: _Entry, sentence: Sentence) -> None:
        citation = Citation(message=self._message, quote=sentence.text)
        if quotable(sentence.text) and citation not in entry.evidence:
            entry.evidence = (*entry.evidence, citation)

    def _store(self, record: KnownRecord) -> None:
        texts = dict.fromkeys([record.description, stated(record.body)])
        facts = [Fact(text, record.type, -9, record.name) for text in texts if text]
        self._stored[record.name] = facts
        for fact in facts:
            self._facts.add(fact)

    def _pass(self, quote: str, reason: str, message: int | None = None) -> None:
        index = self._message if message is None else message
        if index >= self._new_from:
            self._passed.append(PassedOver(index, quote[:MAX_SHOWN], reason))


def stated(body: str) -> str:
    """What a record's body states: its first line of text, without heading or label."""
    lines = (line.strip() for line in body.split("\n"))
    return next((line for line in lines if line and not line.startswith(("#", "**"))), "")


def _says_what_it_said(entry: _Entry) -> bool:
    """Whether a revision came back to what its record states."""
    return entry.revises is not None and normalise_statement(
        stated(entry.revises.body)
    ) == normalise_statement(entry.statement.text)


def _item(name: str, entry: _Entry) -> Item:
    statement = entry.statement
    body = statement.body
    if entry.revises:
        kept = _other_lines(entry.revises.body)
        body = "\n".join([body, *kept])
    return Item(
        name=name,
        type=entry.revises.type if entry.revises else statement.type,
        description=statement.description,
        body=body,
        evidence=entry.evidence,
    )


def _other_lines(body: str) -> list[str]:
    """The lines of a revised record that neither state nor explain what changed."""
    first = stated(body)
    lines = body.split("\n")
    start = next((n + 1 for n, line in enumerate(lines) if line.strip() == first), len(lines))
    return [line for line in lines[start:] if line.strip() and not _WHY.match(line.strip())]
