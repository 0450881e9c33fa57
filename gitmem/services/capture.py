"""extract's first half: a conversation becomes canonical sessions and items to propose."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, StrictStr, ValidationError

from gitmem.cache.index import ProjectionIndex
from gitmem.domain.instants import format_instant
from gitmem.domain.proposal_item import Item, Retirement
from gitmem.domain.record import MAX_EVIDENCE
from gitmem.domain.session import Message, Session
from gitmem.domain.text import one_line
from gitmem.domain.validation import first_problem
from gitmem.errors import InvalidInput, NotFound
from gitmem.ranking import search
from gitmem.results import Dropped, Progress
from gitmem.rules import KnownRecord, RuleResult, propose
from gitmem.sessions import Captured as Kept
from gitmem.sessions import SessionFiles, Spans, StoredMessages
from gitmem.store import Store
from gitmem.transcripts import (
    OwnSession,
    PartCounts,
    RawMessage,
    Reading,
    open_transcript,
    read_messages,
)

#: Characters of what is wrong with a change set that are shown; a key may have any length.
MAX_SHOWN = 300
#: Records that the rules see beside each new message: the best matches of a search for it.
RELATED = 10
#: Messages before the new ones that the rules see, for corrections of what was just said.
CONTEXT = 100
#: Records in one proposal out of a conversation: what a person reads in one sitting.
MAX_ITEMS = 100
#: Messages with words of a person that are judged at once, and their characters.
STRETCH = 2_000
STRETCH_SIZE = 8_000_000
#: Sentences that were passed over and are named; the rest is counted.
MAX_PASSED = 1_000
#: Of so many messages, one is told to whoever watches a long conversation being read.
TELL_EVERY = 10_000


@dataclass(frozen=True, slots=True)
class Captured:
    """A conversation in the store's own form. ``counts`` add up to every part of the input.

    Messages below index ``new_from`` were proposed from, and so were those in ``read_before``,
    in another session.
    """

    session: Session
    new_from: int
    counts: Mapping[str, int]
    notes: tuple[str, ...]
    read_before: Spans


@dataclass(frozen=True, slots=True)
class Own:
    """A conversation that is gitmem's own doing: nothing of it was stored. ``why`` says so."""

    why: str
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
    store: Store,
    sessions: SessionFiles,
    path: Path,
    format: str | None,
    now: int,
    progress: Progress | None = None,
) -> Captured | Own:
    """Read a transcript and store what is new of it, message by message.

    Raises:
        NotFound, InvalidInput: there is no such file, or it is no conversation, or an empty one.
    """
    own, speakers = OwnSession(), set[str]()
    with open_transcript(path, format) as reading:
        seen = _watched(reading, str(path), own, speakers, progress)
        with sessions.stage(seen) as staged:
            counts, notes = _counts(reading.counts), list(reading.notes)
            if own.why is not None:
                return Own(own.why, counts, tuple(notes))
            with store.repo.lock():
                kept = sessions.keep(
                    staged,
                    reading.format,
                    attested="file",
                    now=format_instant(now),
                    source=reading.source_id,
                )
    if "human" not in speakers and any(what.startswith("used") for what in counts):
        notes.append("no part of it is a person's own words")
    return _captured(kept, counts, notes)


def capture_messages(
    store: Store, sessions: SessionFiles, messages: Sequence[Mapping[str, Any]], now: int
) -> Captured:
    """Store messages that came inside a change set; nobody but the caller vouches for them."""
    conversation = read_messages(messages)
    with store.repo.lock():
        kept = sessions.capture(conversation, attested="caller", now=format_instant(now))
    return _captured(kept, _counts(conversation.counts), list(conversation.notes))


def _watched(
    reading: Reading, where: str, own: OwnSession, speakers: set[str], progress: Progress | None
) -> Iterator[RawMessage]:
    """Yield the messages of a conversation, which has to hold one, and watch what passes."""
    count = 0
    for count, message in enumerate(reading, start=1):
        own.see(message)
        speakers.update(piece.cls for piece in message.parts if piece.text)
        if progress and count % TELL_EVERY == 0:
            progress("capturing", count, None)
        yield message
    if not count:
        counts = reading.counts
        told = f": {counts.describe()}" if counts.total else ""
        raise InvalidInput(f"the conversation holds no message{told}", where=where)


def _counts(counts: PartCounts) -> dict[str, int]:
    told = {f"used: {who}": n for who, n in sorted(counts.used_by.items())}
    for word, reasons in (("ignored", counts.ignored), ("refused", counts.refused)):
        told.update({f"{word}: {reason}": n for reason, n in sorted(reasons.items())})
    return told


def _captured(kept: Kept, counts: Mapping[str, int], notes: list[str]) -> Captured:
    masked = sum(kept.redactions.values())
    if masked:
        kinds = ", ".join(f"{kind} ({n})" for kind, n in sorted(kept.redactions.items()))
        what = "1 secret was" if masked == 1 else f"{masked} secrets were"
        notes.append(f"{what} masked before anything was stored: {kinds}")
    start, total = kept.consumed, len(kept.session.messages)
    elsewhere = kept.read_before.count(start)
    new = total - start - elsewhere
    if not new and total:
        notes.append(f"nothing is new: {total} messages of {kept.session.id} were read before")
    elif start or elsewhere:
        what = "1 message is new" if new == 1 else f"{new} messages are new"
        notes.append(
            f"{what}; {total - new} of {kept.session.id} were read before"
            + (", in another session" if elsewhere and not start else "")
        )
    return Captured(kept.session, start, counts, tuple(notes), kept.read_before)


def find_items(store: Store, captured: Captured, progress: Progress | None = None) -> Found:
    """Run the rules over the new messages of a session, and some of those before.

    They are read and judged a stretch at a time, so that a conversation of any length fits into
    memory; what an earlier stretch proposes, a later one can correct. It ends where there is
    as much as a person can read at once.
    """
    upto = captured.new_from
    found = _Collected(captured)
    for stretch in _stretches(captured, progress):
        _judge(store, found, stretch)
        upto = stretch.end
        if len(found.items) >= MAX_ITEMS:
            break
    items, upto = _first_items(tuple(found.items.values()), upto)
    passed = [over for at, over in found.passed if at < upto]
    left = [item for item in found.items.values() if item not in items]
    passed += [
        Dropped(item.name, "more than a person can read at once")
        for item in left
        if _last_message(item) < upto
    ]
    if found.unnamed:
        passed.append(Dropped("further sentences", f"{found.unnamed} more were passed over"))
    return Found(items, tuple(passed), upto)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Messages with words of a person, some of them context; all below ``end`` are in it."""

    context: Sequence[Message]
    new: Sequence[Message]
    end: int


class _Collected:
    """What the stretches of a conversation gave so far."""

    def __init__(self, captured: Captured) -> None:
        self.captured = captured
        self.items: dict[str, Item] = {}
        self.passed: list[tuple[int, Dropped]] = []
        self.unnamed = 0

    def take(self, result: RuleResult) -> None:
        """Add what the rules made of one stretch; a later item replaces what it corrects."""
        for item in result.items:
            before = self.items.pop(item.name, None)
            if before is not None:
                quotes = dict.fromkeys((*before.evidence, *item.evidence))
                item = item.model_copy(update={"evidence": tuple(quotes)[-MAX_EVIDENCE:]})
            if any(self._is_new(citation.message) for citation in item.evidence):
                self.items[item.name] = item
        for over in result.passed_over:
            if not self._is_new(over.message):
                continue
            if len(self.passed) < MAX_PASSED:
                said = Dropped(f"message {over.message}", f"{over.reason}: {over.quote}")
                self.passed.append((over.message, said))
            else:
                self.unnamed += 1

    def _is_new(self, index: int) -> bool:
        return index >= self.captured.new_from and index not in self.captured.read_before


def _judge(store: Store, found: _Collected, stretch: _Stretch) -> None:
    """Run the rules over one stretch, beside the records and the items that it may change."""
    known = {record.name: record for record in _related(store, stretch.new)}
    for item in found.items.values():
        known[item.name] = KnownRecord(item.name, item.type, item.description, item.body)
    first = stretch.new[0].index if stretch.new else stretch.end
    found.take(propose([*stretch.context, *stretch.new], list(known.values()), first))


def _stretches(captured: Captured, progress: Progress | None) -> Iterator[_Stretch]:
    """Divide what is new into stretches: of so many messages with words of a person, or of so
    many characters. The last ones of a stretch are context for the next."""
    start, end = captured.new_from, len(captured.session.messages)
    begin = max(0, start - CONTEXT)
    context: deque[Message] = deque(_spoken(captured.session.messages[begin:start]), CONTEXT)
    new: list[Message] = []
    size, told = 0, 0
    for message in _spoken(captured.session.messages[start:]):
        if new and (len(new) >= STRETCH or size >= STRETCH_SIZE):
            yield _Stretch(tuple(context), new, message.index)
            context.extend(new)
            new, size = [], 0
        new.append(message)
        size += sum(len(piece.text) for piece in message.parts)
        told = _tell(progress, told, message.index - start + 1, end - start)
    _tell(progress, told, end - start, end - start)
    if end > start:
        yield _Stretch(tuple(context), new, end)


def _related(store: Store, messages: Sequence[Message]) -> list[KnownRecord]:
    related: dict[str, KnownRecord | None] = {}
    index = ProjectionIndex(store.projection)
    for message in messages:
        texts = [part.text for part in message.parts if part.cls == "human" and part.text]
        for name, _ in search("\n".join(texts), index, RELATED):
            if name not in related:
                related[name] = _known(store, name)
    return [record for record in related.values() if record is not None]


def _spoken(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield the messages that hold words of a person; the rules look at no other."""
    if isinstance(messages, StoredMessages):
        return messages.of_class("human")
    return (m for m in messages if any(piece.cls == "human" for piece in m.parts))


def _tell(progress: Progress | None, told: int, done: int, total: int) -> int:
    """Tell every message that was read, or of very many every so many; return the last one."""
    step = 1 if total <= TELL_EVERY else TELL_EVERY
    while progress and told + step <= done:
        told += step
        progress("reading", told, total)
    return told


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
