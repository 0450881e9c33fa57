"""Evidence: one verbatim quote from one part of one message of one session."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from gitmem.domain.session import (
    MAX_SESSION_ID,
    REDACTION_MARK,
    SESSION_ID,
    Attested,
    Message,
    PartClass,
)
from gitmem.domain.text import fold_whitespace, normalise_statement, quote_length

#: Length of a quote in characters, a CJK character counting as two.
MIN_QUOTE = 8
MAX_QUOTE = 1000
#: Bytes of an evidence file: 1000 characters of at most 4 bytes and its frontmatter.
MAX_EVIDENCE_BYTES = 8192

#: Record types that a class can support. Nothing but a person supports what a person prefers.
_OBSERVED = frozenset({"project", "reference"})
SUPPORTS: dict[str, frozenset[str]] = {
    "human": frozenset({"user", "feedback", "project", "reference"}),
    "assistant": _OBSERVED,
    "tool": _OBSERVED,
    "subagent": _OBSERVED,
    "injected": frozenset(),
    "unknown": frozenset(),
}

_DIGEST = r"^sha256:[0-9a-f]{64}$"
_INSTANT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"


class Evidence(BaseModel):
    """What an evidence file holds. Its file name is the git blob id of its bytes."""

    model_config = ConfigDict(
        hide_input_in_errors=True, frozen=True, extra="forbid", populate_by_name=True
    )

    session: str = Field(pattern=rf"^{SESSION_ID}$", max_length=MAX_SESSION_ID)
    message: int = Field(ge=0, le=9_999_999)
    cls: PartClass = Field(alias="class")
    attested: Attested
    at: str = Field(pattern=_INSTANT)
    digest: str = Field(pattern=_DIGEST)
    quote: str = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """How a quote lies in a message: ``verdict`` is found, near_miss, absent or refused."""

    verdict: Literal["found", "near_miss", "absent", "refused"]
    part: int | None = None
    cls: PartClass | None = None
    reason: str = ""


def supports(cls: str, record_type: str) -> bool:
    """Return whether a part of this class may be the evidence of a record of this type."""
    return record_type in SUPPORTS.get(cls, frozenset())


def quote_problem(quote: str) -> str:
    """Return why ``quote`` may be no evidence whatever it is quoted from, or an empty string."""
    length = quote_length(fold_whitespace(quote))
    if length < MIN_QUOTE:
        return (
            f"the quote has {length} characters (a CJK character counts as two); "
            f"at least {MIN_QUOTE} are needed: quote the whole sentence"
        )
    if length > MAX_QUOTE:
        return f"the quote has {length} characters; at most {MAX_QUOTE} are allowed"
    if REDACTION_MARK in quote:
        return "the quote contains a redacted secret"
    return ""


def is_short(quote: str) -> bool:
    """Return whether a quote has fewer characters than a proposer may cite."""
    return quote_length(fold_whitespace(quote)) < MIN_QUOTE


def match_quote(quote: str, message: Message) -> QuoteMatch:
    """Find ``quote`` in one part of ``message``; white space is folded and nothing else.

    Where several parts hold it, the part whose class supports the most is taken last: a text
    that a tool printed and a person repeated was said by the person too.
    """
    problem = quote_problem(quote)
    if problem:
        return QuoteMatch("refused", reason=problem)
    needle = fold_whitespace(quote)
    found = [
        (len(SUPPORTS[part.cls]), -index)
        for index, part in enumerate(message.parts)
        if stands_in(needle, part.text)
    ]
    if found:
        index = -max(found)[1]
        return QuoteMatch("found", index, message.parts[index].cls)
    if _near(needle, message):
        return QuoteMatch(
            "near_miss",
            reason="the quote differs from the message in punctuation or case only (near miss); "
            "quote it exactly",
        )
    return QuoteMatch("absent", reason="the quote does not stand in that message")


def stands_in(needle: str, text: str) -> bool:
    """Return whether ``needle``, a quote with its white space folded, stands in ``text``."""
    # Nearly always a word of an absent quote is absent too, which is seen without folding.
    return max(needle.split(" "), key=len) in text and needle in _folded(text)


def _near(needle: str, message: Message) -> bool:
    loose = normalise_statement(needle)
    return bool(loose) and any(loose in _loose(part.text) for part in message.parts)


@lru_cache(maxsize=8)  # many quotes of one long message are looked for one after the other
def _folded(text: str) -> str:
    return fold_whitespace(text)


@lru_cache(maxsize=8)
def _loose(text: str) -> str:
    return normalise_statement(text)
