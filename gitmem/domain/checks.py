"""The deterministic checks of a proposal: what code can tell before any model is asked.

Pure functions from records, quotes and sessions to findings. A blocker stops the proposal; a
warning goes to the reviewer and the person. The result is kept as the review named ``checks``
and is never computed again, so a better rule tomorrow does not change what was accepted.

A finding's text is one printable line and never repeats a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gitmem.domain.duplicates import Close, close_statements
from gitmem.domain.evidence import (
    MAX_EVIDENCE_BYTES,
    MAX_QUOTE,
    MIN_QUOTE,
    Evidence,
    QuoteMatch,
    match_quote,
    stands_in,
    supports,
)
from gitmem.domain.instructions import find_instructions
from gitmem.domain.record import Record, statement
from gitmem.domain.review import Finding
from gitmem.domain.session import Message, PartClass, Session, message_digest
from gitmem.domain.text import (
    fold_whitespace,
    illegal_characters,
    one_line,
    quote_length,
)
from gitmem.domain.tombstone import Buried, Tombstone, statement_hash

FindSecrets = Callable[[str], Sequence[tuple[str, int]]]
"""Returns the kind and the line (from 1) of every secret in a text."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One added or revised record with its quotes.

    ``text`` is the whole file, in which findings count lines; ``evidence`` the quotes by id.
    """

    name: str
    record: Record
    text: str
    evidence: Mapping[str, Evidence]
    change: Literal["added", "revised"]


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """A record of the store that a search found to be close to a candidate."""

    name: str
    statement: str


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """Whether a quote may be cited: ``reason`` is empty, or says why not.

    Of a quote that stands in its message: ``cls`` and ``part`` tell where, ``digest`` pins the
    message, ``at`` is when it was said, or when the session began (None: it does not tell).
    """

    reason: str = ""
    code: Literal["", "evidence", "class"] = ""
    cls: PartClass | None = None
    part: int | None = None
    digest: str = ""
    at: str | None = None


def check_citation(
    quote: str, message_index: int, session: Session, record_type: str, *, own_words: bool = False
) -> CitationCheck:
    """Check one quote against its session; the same check serves proposer and review.

    ``own_words``: the session is what a person wrote for this very change, so a text that is
    too short for a quote may be cited as a whole.
    """
    if len(quote) > MAX_EVIDENCE_BYTES:  # nothing that long can be kept; it is not even searched
        return CitationCheck(
            f"the quote has {len(quote)} characters; at most {MAX_QUOTE} are allowed",
            code="evidence",
        )
    message = session.message(message_index)
    if message is None:
        count = len(session.messages)
        have = f"has messages 0 to {count - 1}" if count else "has no message"
        return CitationCheck(
            f"there is no message {message_index}; the session {have}", code="evidence"
        )
    match = _match(quote, message, own_words)
    digest, at = message_digest(message), message.at or session.started_at
    if match.verdict != "found" or match.cls is None:
        reason = match.reason
        if match.verdict == "absent":
            reason = f"the quote does not stand in message {message_index}"
            reason += _elsewhere(quote, session)
        return CitationCheck(reason, code="evidence", digest=digest, at=at)
    reason = ""
    if not supports(match.cls, record_type):
        reason = _unsupported(match.cls, record_type)
    return CitationCheck(reason, "class" if reason else "", match.cls, match.part, digest, at)


def _match(quote: str, message: Message, own_words: bool) -> QuoteMatch:
    folded = fold_whitespace(quote)
    if own_words and folded and quote_length(folded) < MIN_QUOTE:
        for index, part in enumerate(message.parts):
            if part.cls == "human" and fold_whitespace(part.text) == folded:
                return QuoteMatch("found", index, part.cls)
    return match_quote(quote, message)


def _elsewhere(quote: str, session: Session) -> str:
    needle = fold_whitespace(quote)
    for message in session.messages:
        if any(stands_in(needle, part.text) for part in message.parts):
            return f"; it stands in message {message.index}"
    return ""


def _unsupported(cls: str, record_type: str) -> str:
    if cls in ("injected", "unknown"):
        return f"the quote is {cls} text, which supports no record"
    return (
        f"the quote is from the {cls}, which cannot support a {record_type} record; "
        "only the person's own words can"
    )


def check_proposal(
    candidates: Sequence[Candidate],
    *,
    sessions: Mapping[str, Session],
    known: Sequence[KnownRecord],
    tombstones: Mapping[str, Tombstone],
    buried: Sequence[Buried] = (),
    secrets: FindSecrets,
    own_words: bool,
    reasons: Mapping[str, str] | None = None,
) -> tuple[Finding, ...]:
    """Return every finding on the added and revised records, in the order given.

    Args:
        sessions: by id, those that are on this machine.
        known: records of the store that are near to a candidate.
        tombstones: by key, those that are equal to a candidate's statement.
        buried: every statement that was rejected or forgotten and whose text is still here.
        own_words: see :func:`check_citation`.
        reasons: why records are retired, by name; they stand in the commit's message.
    """
    findings: list[Finding] = []
    touched = {candidate.name for candidate in candidates}
    near = close_statements(
        [(record.name, record.statement) for record in known if record.name not in touched],
        [(candidate.name, statement(candidate.record)) for candidate in candidates],
    )
    graves = _near_graves(candidates, buried)
    for candidate, close, grave in zip(candidates, near, graves, strict=True):
        findings += _quote_findings(candidate, sessions, own_words)
        findings += _text_findings(candidate, secrets)
        findings += [_duplicate(candidate, other) for other in close]
        findings += _buried(candidate, tombstones)
        findings += grave
    for name, reason in (reasons or {}).items():
        findings += _in_text(name, reason, secrets, "the reason for retiring it", lines=False)
    return tuple(findings)


def _quote_findings(
    candidate: Candidate, sessions: Mapping[str, Session], own_words: bool
) -> Iterator[Finding]:
    absent: set[str] = set()
    for oid, evidence in sorted(candidate.evidence.items()):
        session = sessions.get(evidence.session)
        if session is not None:
            yield from _compare(candidate, oid, evidence, session, own_words)
        elif evidence.session not in absent:
            absent.add(evidence.session)
            yield Finding(
                "warning",
                "session-absent",
                f"the session {one_line(evidence.session)} is not on this machine, so its quotes "
                "cannot be checked",
                candidate.name,
            )


def _compare(
    candidate: Candidate, oid: str, evidence: Evidence, session: Session, own_words: bool
) -> Iterator[Finding]:
    record_type = candidate.record.type
    check = check_citation(
        evidence.quote, evidence.message, session, record_type, own_words=own_words
    )
    problems: list[tuple[str, str]] = []
    if check.digest and check.digest != evidence.digest:
        problems.append(("evidence", "its digest is not that of the message it names"))
    if evidence.attested != session.attested:
        text = f"it says {evidence.attested} vouches for it; the session says {session.attested}"
        problems.append(("evidence", text))
    message = session.message(evidence.message)
    if message is not None and message.at not in (None, evidence.at):
        text = f"it is dated {evidence.at}; its message is of {one_line(message.at or '')}"
        problems.append(("evidence", text))
    if check.cls is not None and check.cls != evidence.cls:
        text = f"it says its class is {evidence.cls}; in the session it is {check.cls}"
        problems.append(("evidence", text))
    if check.reason:
        problems.append((check.code, check.reason))
    elif not supports(evidence.cls, record_type):
        problems.append(("class", _unsupported(evidence.cls, record_type)))
    for code, text in problems:
        yield Finding("blocker", code, f"quote {oid[:7]}: {text}", candidate.name)


def _text_findings(candidate: Candidate, secrets: FindSecrets) -> Iterator[Finding]:
    yield from _in_text(candidate.name, candidate.text, secrets, "", lines=True)
    # A name is read too, and hyphens stand for its spaces.
    for suspicion in find_instructions(candidate.name.replace("-", " ")):
        yield _instruction(candidate.name, f"the name looks like an instruction: {suspicion.what}")
    for oid, evidence in sorted(candidate.evidence.items()):
        where = f"quote {oid[:7]}"
        yield from _in_text(candidate.name, evidence.quote, secrets, where, lines=False)


def _in_text(
    name: str, text: str, secrets: FindSecrets, where: str, *, lines: bool
) -> Iterator[Finding]:
    prefix = f"{where}: " if where else ""
    for kind, line in secrets(text):
        said = f"{prefix}holds a secret ({one_line(kind)}); take it out, change it if it is real"
        yield Finding("blocker", "secret", said, name, line if lines else None)
    for illegal in illegal_characters(text, allow_newlines=True):
        said = f"{prefix}U+{illegal.codepoint:04X} in column {illegal.column} is {illegal.reason}"
        yield Finding("blocker", "hidden", said, name, illegal.line if lines else None)
    for suspicion in find_instructions(text):
        said = f"{prefix}looks like an instruction: {suspicion.what}"
        yield _instruction(name, said, suspicion.line if lines else None)


def _instruction(name: str, text: str, line: int | None = None) -> Finding:
    return Finding("warning", "instruction", text, name, line)


def _duplicate(candidate: Candidate, close: Close) -> Finding:
    text = f"says the same as {close.name}"
    if not close.same:
        text = (
            f"is close in its words to {close.name} ({int(close.score * 100)} %); "
            "revise that record if it is the same fact"
        )
    return Finding("warning", "duplicate", text, candidate.name)


def _buried(candidate: Candidate, tombstones: Mapping[str, Tombstone]) -> Iterator[Finding]:
    tombstone = tombstones.get(statement_hash(statement(candidate.record))[:40])
    if tombstone is None:
        return
    text = f"you {tombstone.verb} this {tombstone.decision}"
    yield Finding("warning", "tombstone", text, candidate.name)


def _near_graves(
    candidates: Sequence[Candidate], buried: Sequence[Buried]
) -> Iterator[list[Finding]]:
    """Yield, for each candidate, what it is close to and not equal to among the buried."""
    by_key = {grave.tombstone.key: grave.tombstone for grave in buried}
    near = close_statements(
        [(grave.tombstone.key, grave.statement) for grave in buried],
        [(candidate.name, statement(candidate.record)) for candidate in candidates],
        among_new=False,
    )
    for candidate, close in zip(candidates, near, strict=True):
        yield [_near_grave(candidate, by_key[one.name], one.score) for one in close if not one.same]


def _near_grave(candidate: Candidate, tombstone: Tombstone, score: float) -> Finding:
    text = (
        f"is close in its words ({int(score * 100)} %) to what you {tombstone.verb} "
        f"{tombstone.decision}"
    )
    return Finding("warning", "tombstone", text, candidate.name)
