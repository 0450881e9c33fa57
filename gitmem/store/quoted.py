"""Quotes in the sessions that are on this machine: the message around one, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from gitmem.domain.evidence import Evidence, stands_in
from gitmem.domain.session import message_digest
from gitmem.domain.text import fold_whitespace
from gitmem.errors import GitmemError
from gitmem.results import FindingView
from gitmem.sessions import SessionFiles

#: The code of a finding that was made when a proposal was shown, and is kept in no review.
SESSION_CHANGED = "session-changed"


class Around(NamedTuple):
    """The whole message of a quote; None where it cannot be shown, which ``missing`` explains.

    ``state`` is ``absent`` where the session is not on this machine: sessions are kept 30 days
    and are never shared, so that is no sign of anything.
    """

    state: Literal["found", "absent", "changed", "unreadable"]
    message: str | None
    missing: str = ""


def message_around(sessions: SessionFiles, quote: Evidence) -> Around:
    """Return the message that ``quote`` is from, if it is here and still the one that was quoted.

    A session file that is damaged, a link or unreadable is an answer, not an error: what is
    remembered stands on the quotes in git, whatever became of the conversation.
    """
    try:
        session = sessions.load(quote.session)
        message = session.message(quote.message) if session else None
    except GitmemError as error:
        return _unreadable(error.message)
    except OSError as error:
        return _unreadable(f"{error.filename}: {error.strerror}")
    if session is None:
        return Around("absent", None, "the session is not on this machine")
    if message is None:
        return _changed(f"it has no message {quote.message} any more")
    if message_digest(message) == quote.digest:
        return Around("found", "\n".join(part.text for part in message.parts if part.text))
    needle = fold_whitespace(quote.quote)
    stands = any(stands_in(needle, part.text) for part in message.parts)
    return _changed(
        f"its message {quote.message} is not the one that was quoted (the digest differs), "
        + ("though the quote stands in it" if stands else "and the quote does not stand in it")
    )


def _unreadable(reason: str) -> Around:
    return Around("unreadable", None, f"the session cannot be read: {reason}")


def _changed(reason: str) -> Around:
    return Around("changed", None, f"the session has changed: {reason}")


def changed_quotes(
    sessions: SessionFiles, evidence: Mapping[str, Mapping[str, Evidence]]
) -> Iterator[FindingView]:
    """Yield a warning for each quote, by record and id, that its session here does not bear out.

    The checks of a proposal are made once, when it is written; this is asked anew for the person
    who decides. A session that is not here says nothing.
    """
    for name, quotes in evidence.items():
        for oid, quote in quotes.items():
            around = message_around(sessions, quote)
            if around.state in ("changed", "unreadable"):
                text = f"quote {oid[:7]}: {around.missing}"
                yield FindingView("warning", name, None, text, SESSION_CHANGED)
