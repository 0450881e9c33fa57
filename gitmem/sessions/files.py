"""Writing, finding and reading session files."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitmem.domain.canonical import canonical_file, canonical_json, sha256_hex
from gitmem.domain.session import (
    Attested,
    Message,
    Session,
    message_digest,
)
from gitmem.errors import InvalidInput, NotFound
from gitmem.redaction import redact
from gitmem.sessions.aging import STATEMENT, Aging
from gitmem.sessions.finding import read_before, same_session
from gitmem.sessions.folder import UNFINISHED, Folder
from gitmem.sessions.format import (
    VERSION,
    Spans,
    Stored,
    session_of,
)
from gitmem.sessions.marks import (
    LEAST,
    Mark,
    find_mark,
    forget_mark,
    hash_of,
    is_as_left,
    put_mark,
)
from gitmem.sessions.staging import Staged, canonical_message, clean, statement_lines
from gitmem.transcripts.base import Conversation, RawMessage, Tally, part


@dataclass(frozen=True)
class Captured:
    """What a capture did.

    ``session`` is the whole stored session and ``new_from`` the index of its first message
    that was not stored before (their number where nothing is new). ``redactions`` counts what
    was masked in the new messages, by kind. ``known`` says that the session was there before,
    ``consumed`` how many of its messages have been proposed from. ``read_before`` are messages
    that were consumed from another session, of which this one holds a copy.
    """

    session: Session
    new_from: int
    redactions: dict[str, int]
    known: bool
    consumed: int = 0
    read_before: Spans = field(default_factory=Spans)


class SessionFiles(Aging):
    """The session files of one store. ``directory`` is made (mode 0700) when first needed.

    A link is never followed, neither in place of the directory nor of a file in it: whatever is
    read or written here is below the store's git directory. Every method raises ``GitmemError``
    where it meets one.
    """

    def __init__(self, directory: Path) -> None:
        self._folder = Folder(directory)

    def capture(
        self,
        conversation: Conversation,
        *,
        attested: Attested,
        now: str,
        source_id: str | None = None,
    ) -> Captured:
        """Store what is new of a conversation; ``now`` is UTC like 2026-11-30T16:20:11Z.

        :meth:`stage` and :meth:`keep` in one, for a conversation that is read already.
        """
        source = source_id or conversation.source_id
        with self.stage(conversation.messages) as staged:
            return self.keep(staged, conversation.format, attested=attested, now=now, source=source)

    @contextlib.contextmanager
    def stage(self, conversation: Iterable[RawMessage], base: int = 0) -> Iterator[Staged]:
        """Write a conversation into a file of its own, canonical and masked; inside the ``with``
        :meth:`keep` makes a session of it. This needs no lock, and no memory for the whole.

        ``base`` messages of it were kept before and do not come along; :meth:`keep_on` takes it.

        Raises:
            InvalidInput: the conversation cannot be read to its end.
        """
        messages = iter(conversation)
        # What fails at its first message has left nothing behind.
        first = list(itertools.islice(messages, 1))
        self._folder.make()
        self._folder.sweep()
        handle, name = tempfile.mkstemp(dir=self._folder.directory, prefix=UNFINISHED)
        try:
            with os.fdopen(handle, "w+b") as file:
                staged = Staged(file, Path(name), base)
                staged.fill(itertools.chain(first, messages))
                yield staged
        finally:
            Path(name).unlink(missing_ok=True)

    def keep(
        self, staged: Staged, format: str, *, attested: Attested, now: str, source: str | None
    ) -> Captured:
        """Store what is new of a staged conversation; ``source`` is its client's id for it.

        A conversation continues a stored session when that has the same format, attestation
        and source id, and its messages are the first ones here (the longest such session); it
        is an older copy when its messages are the first ones there. A weaker attestation
        never extends a stronger session: what only a caller claims must not look announced.

        Any other conversation becomes a session of its own. Where a client names its messages,
        those are left out of what is new in it that were consumed from another session: it
        may be a fork, or written anew by its client.

        Raises:
            InvalidInput: a session file that has to be compared is damaged.
        """
        header = {"attested": attested, "format": format, "source": _source_hash(source)}
        found = same_session(self._folder, staged, header) if staged.count else None
        if found is None:
            stored, start = self._create(header, staged, now), 0
        else:
            stored, end = found
            start = len(stored.messages)
            stored = self._grown(stored, staged, end)
        return _captured(stored, staged, start, known=found is not None)

    def keep_on(self, staged: Staged, mark: Mark, attested: Attested) -> Captured | None:
        """Store what stands behind the messages that ``mark`` speaks of.

        None, and nothing is stored, where its session is not as it was left, or is not the only
        one that the conversation may continue: then it has to be read from its beginning.

        Raises:
            InvalidInput: the session file is damaged.
        """
        stored = self._folder.read(mark.session)
        if stored is None or not len(stored.messages) == staged.base == mark.messages:
            return None
        known = ("attested", "format", "source", "first")
        alike = self._folder.alike({key: stored.header.get(key) for key in known})
        only = [path.stem for path, _ in alike] == [mark.session]
        if not only or stored.header["attested"] != attested or not is_as_left(self._folder, mark):
            return None
        staged.rewind()
        stored = self._grown(stored, staged, staged.file.tell())
        return _captured(stored, staged, staged.base, known=True)

    def find_mark(self, source: Path) -> Mark | None:
        """Return how far a client's file was kept, None where that is not known."""
        return find_mark(self._folder, source)

    def put_mark(
        self, source: Path, kept: Captured, read: dict[str, Any], seen: dict[str, Any]
    ) -> None:
        """Note how far a client's file is kept, after it is: what its reader said of itself.

        Its words are masked. A file so short that reading it again costs nothing gets no mark.
        """
        if read["position"]["bytes"] < LEAST:
            return
        path = self._folder.path(kept.session.id)
        size = path.stat().st_size
        count = len(kept.session.messages)
        mark = Mark(kept.session.id, count, size, hash_of(path, size), read, seen)
        with contextlib.suppress(OSError):  # then it is read from its beginning again
            put_mark(self._folder, source, mark)

    def forget_mark(self, source: Path) -> None:
        """Read a client's file from its beginning the next time."""
        forget_mark(self._folder, source)

    def end(self, session_id: str) -> int:
        """Return where the file of a session ends, for :meth:`add`."""
        return self._folder.path(session_id).stat().st_size

    def add(
        self, session_id: str, messages: Iterable[RawMessage], index: int, before: str, end: int
    ) -> tuple[str, int] | None:
        """Append messages, the first of which has ``index``, to a stored session that is not
        looked through again; return the text that was last in them, and where the file ends now.

        ``before`` is that of the messages before them: a secret may be cut in two. ``end`` is
        where the file ended: None is returned, and nothing done, where somebody else has gone on
        with the session from there.

        Raises:
            NotFound: there is no such session.
        """
        if self._folder.has_messages_after(session_id, end):
            return None
        lines = io.BytesIO()
        for number, raw in enumerate(messages, start=index):
            message, _, before = canonical_message(raw, number, before)
            lines.write(canonical_file(message.to_json()))
        lines.seek(0)
        self._folder.append(session_id, lines)
        return before, self.end(session_id)

    def draft_statement(self, text: str, *, attested: Attested, now: str) -> Session:
        """Return a session of its own whose one message is a person's text; nothing is written.

        Secrets are redacted here too. :meth:`keep_statement` stores it, once what rests on it
        is wanted.

        Raises:
            InvalidInput: there is nothing in the text.
        """
        messages = _statement(text, now)
        digest = sha256_hex(canonical_json([message.to_json() for message in messages]))
        session_id = self._new_id(STATEMENT, digest, now)
        return Session(
            id=session_id,
            attested=attested,
            format=STATEMENT,
            messages=messages,
            started_at=now,
        )

    def keep_statement(self, session: Session, *, speaker: str) -> None:
        """Store what :meth:`draft_statement` gave; ``speaker`` says who spoke, for the header.

        Keeping it twice changes nothing.
        """
        if self._folder.path(session.id).exists():
            return
        header = self._header(
            {
                "attested": session.attested,
                "format": session.format,
                "source": None,
                "speaker": redact(Tally().clean(speaker)).text,
            },
            message_digest(session.messages[0]),
            session.messages[0].at or "",
            session.id,
        )
        self._folder.make()
        handle, name = tempfile.mkstemp(dir=self._folder.directory, prefix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(canonical_file(header) + statement_lines(session.messages))
                file.flush()
                os.fsync(file.fileno())
            self._folder.publish(Path(name), session.id)
        finally:
            Path(name).unlink(missing_ok=True)

    def load(self, session_id: str) -> Session | None:
        """Return a stored session, or None where there is none with this id.

        Raises:
            InvalidInput: its file is damaged or of a newer version.
        """
        stored = self._folder.read(session_id)
        return None if stored is None else session_of(stored)

    def consumed(self, session_id: str) -> int:
        """Return how many messages, from the first, have been turned into proposals.

        Raises:
            NotFound: there is no such session.
            InvalidInput: its file is damaged or of a newer version.
        """
        return self._existing(session_id).consumed

    def mark_consumed(self, session_id: str, upto: int, by: str | None, now: str) -> None:
        """Note that the first ``upto`` messages are consumed ``by`` a proposal (None: nothing in
        them to propose). What was consumed stays so: the highest mark counts.

        Raises:
            NotFound: there is no such session.
            InvalidInput: the session has fewer messages, or its file is damaged.
        """
        stored = self._existing(session_id)
        if not 0 <= upto <= len(stored.messages):
            raise InvalidInput(
                f"{upto} messages cannot be consumed; the session has {len(stored.messages)}",
                where=session_id,
            )
        marker = canonical_file({"consumed": upto, "by": by, "at": now})
        self._folder.append(session_id, io.BytesIO(marker))

    def read_before(self, session_id: str) -> Spans:
        """Return which messages of a session were consumed from another one.

        Raises:
            NotFound: there is no such session.
            InvalidInput: its file is damaged or of a newer version.
        """
        return self._existing(session_id).read_before

    # -- reading ---------------------------------------------------------------------------

    def _existing(self, session_id: str) -> Stored:
        stored = self._folder.read(session_id)
        if stored is None:
            raise NotFound(
                f"no session {session_id[:80]!r} on this machine",
                hint="Sessions are kept 30 days, and are not shared between machines.",
            )
        return stored

    # -- writing ---------------------------------------------------------------------------

    def _create(self, header: dict[str, Any], staged: Staged, now: str) -> Stored:
        """Make a staged conversation a session under a new id, completely or not at all."""
        session_id = self._new_id(header["format"], staged.digest, now)
        alike = {key: header[key] for key in ("attested", "format")}
        _mark(staged, read_before(self._folder, staged, alike))
        staged.head(self._header(header, staged.first, now, session_id))
        staged.file.flush()
        os.fsync(staged.file.fileno())
        staged.file.close()  # where an open file cannot be renamed
        self._folder.publish(staged.path, session_id)
        return self._existing(session_id)

    def _grown(self, stored: Stored, staged: Staged, end: int) -> Stored:
        """Append the staged messages that begin at ``end`` of their file, where there are some."""
        start = len(stored.messages)
        if staged.count <= start:
            return stored
        session_id = str(stored.header["session"])
        alike = {key: stored.header.get(key) for key in ("attested", "format", "source")}
        # What is asked here is only whether its client mended a line of this very file.
        _mark(staged, read_before(self._folder, staged, alike, start, session_id))
        staged.file.seek(end)
        self._folder.append(session_id, staged.file)
        return self._existing(session_id)

    def _new_id(self, format: str, digest: str, now: str) -> str:
        stem = f"{format}-{now[:10].replace('-', '')}-{digest[:12]}".replace("_", "-")
        session_id, again = stem, 1
        while self._folder.path(session_id).exists():
            again += 1
            session_id = f"{stem}-{again}"
        return session_id

    def _header(
        self, told: dict[str, Any], first: str | None, now: str, session_id: str
    ) -> dict[str, Any]:
        made = {"session": session_id, "captured_at": now, "first": first, "version": VERSION}
        return {**told, **made}


def _captured(stored: Stored, staged: Staged, start: int, *, known: bool) -> Captured:
    return Captured(
        session_of(stored),
        start,
        staged.redactions(start),
        known=known,
        consumed=stored.consumed,
        read_before=stored.read_before,
    )


def _mark(staged: Staged, ranges: list[tuple[int, int]]) -> None:
    """Note at the end of a staged conversation which messages were consumed elsewhere."""
    if ranges:
        staged.file.seek(0, os.SEEK_END)
        staged.file.write(canonical_file({"read_before": ranges}))


def _statement(text: str, now: str) -> tuple[Message, ...]:
    said = Tally().clean(text)
    if not said.strip():
        raise InvalidInput("there is no text", hint="Say what to remember.")
    raw = RawMessage("user", (part("text", "human", said),), now)
    return (canonical_message(raw, 0, "")[0],)


def _source_hash(source_id: str | None) -> str | None:
    """Return a client's id as a hash: it only has to be compared, and may hold anything."""
    name = clean(source_id)
    return None if name is None else sha256_hex(name.encode("utf-8"))
