"""A person's own text as evidence: a session of its own whose one message it is, and its quotes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from gitmem.documents import make_evidence
from gitmem.domain.checks import check_citation
from gitmem.domain.evidence import MAX_QUOTE, MIN_QUOTE, Evidence
from gitmem.domain.instants import format_instant
from gitmem.domain.session import REDACTION_MARK, Session
from gitmem.domain.text import fold_whitespace, quote_length
from gitmem.errors import InvalidInput
from gitmem.results import ProposalDiff
from gitmem.sessions import SessionFiles
from gitmem.store.drafting import Draft

Confirm = Callable[[ProposalDiff], bool]
_BLANK = re.compile(r"\s+")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")


@dataclass(frozen=True, slots=True)
class Person:
    """Who makes the change, when, and how they are asked. ``who`` is ``human:Name <address>``."""

    who: str
    now: int
    nonce: str
    confirm: Confirm | None


def person_statement(sessions: SessionFiles, person: Person, text: str) -> Session:
    """Return a session of its own that holds a person's text; nothing is written yet.

    Raises:
        InvalidInput: there is no text, or it holds a secret.
    """
    session = sessions.draft_statement(text, attested="caller", now=format_instant(person.now))
    if REDACTION_MARK in session.messages[0].parts[0].text:
        raise InvalidInput(
            "the text holds what looks like a secret, which memory does not keep",
            hint="Leave the secret out and say where it is kept instead.",
        )
    return session


def statement_quotes(
    session: Session, record_type: str, name: str, text: str | None = None
) -> tuple[Evidence, ...]:
    """Return quotes that together cover ``text``, or all that the person said.

    Raises:
        InvalidInput: the text does not stand there, or cannot be the evidence of such a record.
    """
    quotes = []
    for piece in cut_into_quotes(session.messages[0].parts[0].text if text is None else text):
        check = check_citation(piece, 0, session, record_type, own_words=True)
        if check.reason:
            raise InvalidInput(check.reason, where=name)
        quotes.append(
            make_evidence(
                name,
                session=session.id,
                message=0,
                cls=check.cls,
                attested=session.attested,
                at=check.at,
                digest=check.digest,
                quote=piece,
            )
        )
    return tuple(quotes)


def cut_into_quotes(text: str) -> list[str]:
    """Cut a text into quotes that together cover it, between sentences where possible.

    Halved again and again near the middle, so that no piece is too short to be a quote.
    """
    pieces = _halved(text)
    if len(pieces) > 1 and any(_length(piece) < MIN_QUOTE for piece in pieces):
        # Hundreds of blanks in a row; quotes are compared with white space folded anyway.
        pieces = _halved(fold_whitespace(text))
    return pieces


def _halved(text: str) -> list[str]:
    text = text.strip()
    if _length(text) <= MAX_QUOTE:
        return [text]
    third, middle = len(text) // 3, len(text) // 2
    at = middle
    for ends in (SENTENCE_END, _BLANK):
        found = [match.end() for match in ends.finditer(text, third, len(text) - third)]
        if found:
            at = min(found, key=lambda end: abs(end - middle))
            break
    return _halved(text[:at]) + _halved(text[at:])


def _length(text: str) -> int:
    return quote_length(fold_whitespace(text))


def cited_sessions(sessions: SessionFiles, draft: Draft) -> dict[str, Session]:
    """Return the sessions of a draft's quotes, as far as they can be read here."""
    cited = {quote.session for quotes in draft.evidence.values() for quote in quotes.values()}
    found = {}
    for session_id in cited:
        try:
            session = sessions.load(session_id)
        except InvalidInput:  # a damaged file is as good as none; the quotes were checked before
            continue
        if session is not None:
            found[session_id] = session
    return found
