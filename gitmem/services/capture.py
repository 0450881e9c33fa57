"""extract's first half: a conversation becomes a canonical session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, StrictStr, ValidationError

from gitmem.domain.instants import format_instant
from gitmem.domain.proposal_item import Item, Retirement
from gitmem.domain.session import Session
from gitmem.domain.text import one_line
from gitmem.domain.validation import first_problem
from gitmem.errors import InvalidInput, NotFound
from gitmem.results import Progress
from gitmem.sessions import Captured as Kept
from gitmem.sessions import Mark, SessionFiles, Spans
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


class ChangeSet(BaseModel):
    """The JSON that ``gitmem propose`` reads."""

    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, extra="forbid")

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
    *,
    again: bool = False,
) -> Captured | Own:
    """Read a transcript and store what is new of it, message by message.

    A file that has only grown since it was read is read on from there. ``again`` says that what
    was read before will be read once more, which the notes then say.

    Raises:
        NotFound, InvalidInput: there is no such file, or it is no conversation, or an empty one.
    """
    mark = sessions.find_mark(path)
    watch = _Watch(progress) if mark is None else _Watch.resumed(progress, mark)
    read = None if mark is None else mark.read
    with open_transcript(path, format, read) as reading:
        if not reading.goes_on:
            mark, watch = None, _Watch(progress)
        base = mark.messages if mark else 0
        with sessions.stage(watch.messages(reading, str(path), base), base) as staged:
            counts, notes = _counts(reading.counts), list(reading.notes)
            if watch.own.why is not None:
                return Own(watch.own.why, counts, tuple(notes))
            with store.repo.lock():
                if mark:
                    kept = sessions.keep_on(staged, mark, "file")
                else:
                    kept = sessions.keep(
                        staged,
                        reading.format,
                        attested="file",
                        now=format_instant(now),
                        source=reading.source_id,
                    )
                state = reading.state()
                # Last: a mark must never be ahead of what is kept.
                if kept and state and not staged.is_cut:
                    sessions.put_mark(path, kept, state, watch.state())
    if kept is None:  # the session is not as it was left, so nothing was kept
        sessions.forget_mark(path)
        return capture_transcript(store, sessions, path, format, now, progress, again=again)
    if not watch.heard_person and any(what.startswith("used") for what in counts):
        notes.append("no part of it is a person's own words")
    return _captured(kept, counts, notes, again=again)


class _Watch:
    """Watches the messages of a conversation pass: whose they are, and whether it is our own."""

    def __init__(self, progress: Progress | None) -> None:
        self.own = OwnSession()
        self.heard_person = False
        self._progress = progress

    @classmethod
    def resumed(cls, progress: Progress | None, mark: Mark) -> _Watch:
        """Go on as the one who said what ``mark`` holds."""
        watch = cls(progress)
        watch.own.resume(mark.seen)
        watch.heard_person = mark.seen.get("heard_person") is True
        return watch

    def state(self) -> dict[str, Any]:
        """Return what was seen so far."""
        return {**self.own.state(), "heard_person": self.heard_person}

    def messages(self, reading: Reading, where: str, base: int) -> Iterator[RawMessage]:
        """Yield the messages of a conversation, which has to hold one; ``base`` were read before.

        Raises:
            InvalidInput: it holds none.
        """
        count = base
        for count, message in enumerate(reading, start=base + 1):
            self.own.see(message)
            self.heard_person = self.heard_person or any(
                piece.cls == "human" and piece.text.strip() for piece in message.parts
            )
            if self._progress and count % TELL_EVERY == 0:
                self._progress("capturing", count, None)
            yield message
        if not count:
            counts = reading.counts
            told = f": {counts.describe()}" if counts.total else ""
            raise InvalidInput(f"the conversation holds no message{told}", where=where)


def capture_messages(
    store: Store, sessions: SessionFiles, messages: Sequence[Mapping[str, Any]], now: int
) -> Captured:
    """Store messages that came inside a change set; nobody but the caller vouches for them."""
    conversation = read_messages(messages)
    with store.repo.lock():
        kept = sessions.capture(conversation, attested="caller", now=format_instant(now))
    return _captured(kept, _counts(conversation.counts), list(conversation.notes))


def _counts(counts: PartCounts) -> dict[str, int]:
    told = {f"used: {who}": n for who, n in sorted(counts.used_by.items())}
    for word, reasons in (("ignored", counts.ignored), ("refused", counts.refused)):
        told.update({f"{word}: {reason}": n for reason, n in sorted(reasons.items())})
    return told


def _captured(
    kept: Kept, counts: Mapping[str, int], notes: list[str], *, again: bool = False
) -> Captured:
    masked = sum(kept.redactions.values())
    if masked:
        kinds = ", ".join(f"{kind} ({n})" for kind, n in sorted(kept.redactions.items()))
        what = "1 secret was" if masked == 1 else f"{masked} secrets were"
        notes.append(f"{what} masked before anything was stored: {kinds}")
    start, total = kept.consumed, len(kept.session.messages)
    elsewhere = kept.read_before.count(start)
    new = total - start - elsewhere
    if again:
        what = "1 message" if total == 1 else f"{total} messages"
        notes.append(f"{what} of {kept.session.id} read from the beginning")
    elif not new and total:
        notes.append(f"nothing is new: {total} messages of {kept.session.id} were read before")
    elif start or elsewhere:
        what = "1 message is new" if new == 1 else f"{new} messages are new"
        notes.append(
            f"{what}; {total - new} of {kept.session.id} were read before"
            + (", in another session" if elsewhere and not start else "")
        )
    return Captured(kept.session, start, counts, tuple(notes), kept.read_before)


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
