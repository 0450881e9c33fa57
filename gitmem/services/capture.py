"""extract's first half: a conversation becomes canonical sessions and items to propose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, StrictStr, ValidationError

from gitmem.cache.index import ProjectionIndex
from gitmem.domain.instants import format_instant
from gitmem.domain.proposal_item import Item, Retirement
from gitmem.domain.session import Attested, Message, Session
from gitmem.domain.text import one_line
from gitmem.domain.validation import first_problem
from gitmem.errors import InvalidInput, NotFound
from gitmem.ranking import search
from gitmem.results import Dropped, Progress
from gitmem.rules import KnownRecord, propose
from gitmem.sessions import SessionFiles
from gitmem.store import Store
from gitmem.transcripts import Conversation, read_messages, read_transcript

#: Characters of what is wrong with a change set that are shown; a key may have any length.
MAX_SHOWN = 300
#: Records that the rules see beside each new message: the best matches of a search for it.
RELATED = 10
#: Messages before the new ones that the rules see, for corrections of what was just said.
CONTEXT = 100
#: Records in one proposal out of a conversation: what a person reads in one sitting.
MAX_ITEMS = 100


@dataclass(frozen=True, slots=True)
class Captured:
    """A conversation in the store's own form. ``counts`` add up to every part of the input."""

    session: Session
    new_from: int
    counts: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What the rules make of a session: items, and what they passed over and why.

    Messages below index ``upto`` are done with; what follows is for the next time.
    """

    items: tuple[Item, ...]
    passed_over: tuple[Dropped, ...]
    upto: int


class ChangeSet(BaseModel):
    """The JSON that ``gitmem propose`` reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: StrictStr = "extract"
    session: StrictStr | None = None
    messages: tuple[dict[str, Any], ...] | None = None
    records: tuple[Item, ...] = ()
    retire: tuple[Retirement, ...] = ()


#: Kinds that a change set may name; the others are a person's own, or made by gitmem alone.
CHANGE_SET_KINDS = ("extract", "consolidate", "import")


def capture_transcript(
    store: Store, sessions: SessionFiles, path: Path, format: str | None, now: int
) -> Captured:
    """Read a transcript and store what is new of it.

    Raises:
        NotFound, InvalidInput: there is no such file, or it is no conversation, or an empty one.
    """
    conversation = read_transcript(path, format)
    if not conversation.messages:
        raise InvalidInput("the conversation holds no message", where=str(path))
    return _captured(store, sessions, conversation, "file", now)


def capture_messages(
    store: Store, sessions: SessionFiles, messages: Sequence[Mapping[str, Any]], now: int
) -> Captured:
    """Store messages that came inside a change set; nobody but the caller vouches for them."""
    return _captured(store, sessions, read_messages(messages), "caller", now)


def _captured(
    store: Store,
    sessions: SessionFiles,
    conversation: Conversation,
    attested: Attested,
    now: int,
) -> Captured:
    with store.repo.lock():
        kept = sessions.capture(conversation, attested=attested, now=format_instant(now))
        start = sessions.consumed(kept.session.id)
    counts = {f"used: {who}": n for who, n in sorted(conversation.counts.used_by.items())}
    for word, reasons in (
        ("ignored", conversation.counts.ignored),
        ("refused", conversation.counts.refused),
    ):
        counts.update({f"{word}: {reason}": n for reason, n in sorted(reasons.items())})
    notes = list(conversation.notes)
    masked = sum(kept.redactions.values())
    if masked:
        kinds = ", ".join(f"{kind} ({n})" for kind, n in sorted(kept.redactions.items()))
        what = "1 secret was" if masked == 1 else f"{masked} secrets were"
        notes.append(f"{what} masked before anything was stored: {kinds}")
    if start and start == len(kept.session.messages):
        notes.append(f"nothing is new: {start} messages of {kept.session.id} were read before")
    elif start:
        new = len(kept.session.messages) - start
        notes.append(f"{new} messages are new; {start} of {kept.session.id} were read before")
    return Captured(kept.session, start, counts, tuple(notes))


def find_items(store: Store, captured: Captured, progress: Progress | None = None) -> Found:
    """Run the rules over the new messages of a session, and some of those before."""
    messages = captured.session.messages
    new = messages[captured.new_from :]
    if not new:
        return Found((), (), len(messages))
    related = _related(store, new, progress)
    context = messages[max(0, captured.new_from - CONTEXT) :]
    result = propose(context, related, captured.new_from)
    items, upto = _first_items(result.items, len(messages))
    passed = [
        Dropped(f"message {over.message}", f"{over.reason}: {over.quote}")
        for over in result.passed_over
        if over.message < upto
    ]
    left = [item for item in result.items if item not in items and _last_message(item) < upto]
    passed += [Dropped(item.name, "more than a person can read at once") for item in left]
    return Found(items, tuple(passed), upto)


def _related(
    store: Store, messages: Sequence[Message], progress: Progress | None
) -> list[KnownRecord]:
    related: dict[str, KnownRecord | None] = {}
    index = ProjectionIndex(store.projection)
    for done, message in enumerate(messages, start=1):
        texts = [part.text for part in message.parts if part.cls == "human" and part.text]
        for name, _ in search("\n".join(texts), index, RELATED):
            if name not in related:
                related[name] = _known(store, name)
        if progress:
            progress("reading", done, len(messages))
    return [record for record in related.values() if record is not None]


def _first_items(items: tuple[Item, ...], end: int) -> tuple[tuple[Item, ...], int]:
    """Cut after as many items as a person can read, between two messages where possible."""
    if len(items) <= MAX_ITEMS:
        return items, end
    ordered = sorted(items, key=_last_message)
    upto = _last_message(ordered[MAX_ITEMS])
    first = tuple(item for item in ordered if _last_message(item) < upto)
    return (first, upto) if first else (tuple(ordered[:MAX_ITEMS]), upto + 1)


def _last_message(item: Item) -> int:
    return max(citation.message for citation in item.evidence)


def _known(store: Store, name: str) -> KnownRecord | None:
    row = store.projection.record(name)
    if row is None:  # another process retired it since the search
        return None
    record = store.facts.record(row.blob, row.path)
    return KnownRecord(name, record.type, record.description, record.body)


def read_change_set(raw: Mapping[str, Any]) -> ChangeSet:
    """Check the shape of a change set.

    Raises:
        InvalidInput: a key is unknown, missing or of the wrong kind; nothing is proposed then.
    """
    try:
        change_set = ChangeSet.model_validate(dict(raw) if isinstance(raw, Mapping) else raw)
    except ValidationError as error:
        raise InvalidInput(
            one_line(first_problem(error))[:MAX_SHOWN],
            where="change set",
            hint="docs/format.md shows the shape; fields by which a proposer vouches for "
            "itself are refused.",
        ) from error
    if change_set.kind not in CHANGE_SET_KINDS:
        raise InvalidInput(
            f"{change_set.kind[:40]!r} is no kind of change set; "
            f"it is one of {', '.join(CHANGE_SET_KINDS)}",
            where="kind",
        )
    if (change_set.session is None) == (change_set.messages is None):
        raise InvalidInput(
            "gives either `messages`, or the id of a `session` that is on this machine",
            where="change set",
            hint="Give one of the two: the conversation itself, or where it was captured.",
        )
    if change_set.messages == ():
        raise InvalidInput("holds no message", where="messages", hint="Give the conversation.")
    return change_set


def stored_session(sessions: SessionFiles, session_id: str) -> Session:
    """Return a session that was captured before.

    Raises:
        NotFound: it is not on this machine.
    """
    session = sessions.load(session_id)
    if session is None:
        raise NotFound(
            f"the session {session_id[:80]} is not on this machine",
            hint="Run `gitmem extract TRANSCRIPT` first, or give `messages` in the change set.",
        )
    return session
