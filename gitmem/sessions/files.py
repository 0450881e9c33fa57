"""Writing, finding and reading session files."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitmem.domain.canonical import canonical_file, canonical_json, sha256_hex
from gitmem.domain.session import (
    MAX_SESSION_ID,
    SESSION_ID,
    Attested,
    Message,
    Part,
    Session,
    message_digest,
)
from gitmem.errors import GitmemError, InvalidInput, NotFound
from gitmem.redaction import redact, redact_continuation
from gitmem.sessions.format import VERSION, Stored, end_of_lines, parse, read_header, session_of
from gitmem.transcripts.base import Conversation, RawMessage, Tally, part

#: The format of a session whose one message is a person's own statement.
STATEMENT = "statement"

_ID = re.compile(SESSION_ID)


@dataclass(frozen=True)
class Captured:
    """What a capture did.

    ``session`` is the whole stored session and ``new_from`` the index of its first message
    that was not stored before (their number where nothing is new). ``redactions`` counts what
    was masked in the new messages, by kind. ``known`` says that the session was there before.
    """

    session: Session
    new_from: int
    redactions: dict[str, int]
    known: bool


class SessionFiles:
    """The session files of one store. ``directory`` is made (mode 0700) when first needed.

    A link is never followed, neither in place of the directory nor of a file in it: whatever is
    read or written here is below the store's git directory. Every method raises ``GitmemError``
    where it meets one.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def capture(
        self,
        conversation: Conversation,
        *,
        attested: Attested,
        now: str,
        source_id: str | None = None,
    ) -> Captured:
        """Store what is new of a conversation; ``now`` is UTC like 2026-11-30T16:20:11Z.

        A conversation continues a stored session when that has the same format, attestation
        and source id, and its messages are the first ones here (the longest such session); it
        is an older copy when its messages are the first ones there. A weaker attestation
        never extends a stronger session: what only a caller claims must not look announced.

        Raises:
            InvalidInput: a session file that has to be compared is damaged.
        """
        messages, kinds = _canonical(conversation.messages)
        source = _source_hash(source_id or conversation.source_id)
        header = {"attested": attested, "format": conversation.format, "source": source}
        found = self._same_session(messages, header) if messages else None
        if found is None:
            session = self._create(header, messages, now)
            return Captured(session, 0, _counted(kinds), known=False)
        new = messages[len(found.messages) :]
        session_id = str(found.header["session"])
        if new:
            self._append(session_id, b"".join(canonical_file(m.to_json()) for m in new))
        everything = found.messages + new
        start = len(found.messages)
        return Captured(
            session_of(found.header, everything), start, _counted(kinds[start:]), known=True
        )

    def draft_statement(self, text: str, *, attested: Attested, now: str) -> Session:
        """Return a session of its own whose one message is a person's text; nothing is written.

        Secrets are redacted here too. :meth:`keep_statement` stores it, once what rests on it
        is wanted.

        Raises:
            InvalidInput: there is nothing in the text.
        """
        header, messages = _statement(text, attested, now)
        return session_of({**header, "session": self._new_id(header, messages, now)}, messages)

    def keep_statement(self, session: Session, *, speaker: str) -> None:
        """Store what :meth:`draft_statement` gave; ``speaker`` says who spoke, for the header.

        Keeping it twice changes nothing.
        """
        if self._path(session.id).exists():
            return
        header = {
            "attested": session.attested,
            "format": session.format,
            "source": None,
            "speaker": redact(Tally().clean(speaker)).text,
        }
        self._write(header, session.messages, session.messages[0].at or "", session.id)

    def capture_statement(
        self, text: str, *, attested: Attested, now: str, speaker: str
    ) -> Session:
        """Store a session of its own whose one message is a person's text.

        Raises:
            InvalidInput: there is nothing in the text.
        """
        session = self.draft_statement(text, attested=attested, now=now)
        self.keep_statement(session, speaker=speaker)
        return session

    def load(self, session_id: str) -> Session | None:
        """Return a stored session, or None where there is none with this id.

        Raises:
            InvalidInput: its file is damaged or of a newer version.
        """
        stored = self._read(session_id)
        return None if stored is None else session_of(stored.header, stored.messages)

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
        self._append(session_id, canonical_file({"consumed": upto, "by": by, "at": now}))

    def older_than(self, epoch: int) -> list[str]:
        """Return the ids of sessions that nothing was added to since ``epoch`` (seconds)."""
        return [path.stem for path in self._paths() if path.stat().st_mtime < epoch]

    def remove(self, session_id: str) -> None:
        """Delete a session for good; the records that quote it keep their quotes."""
        self._path(session_id).unlink(missing_ok=True)

    def list_ids(self) -> list[str]:
        """Return the ids of all stored sessions, sorted."""
        return sorted(path.stem for path in self._paths())

    # -- finding ---------------------------------------------------------------------------

    def _same_session(self, messages: tuple[Message, ...], wanted: dict[str, Any]) -> Stored | None:
        """Return the stored session that these messages continue or are the beginning of."""
        first = message_digest(messages[0])
        best: Stored | None = None
        for path in self._paths():
            _check_file(path)
            header = read_header(path)
            if header is None or header.get("first") != first:
                continue
            if any(header.get(key) != value for key, value in wanted.items()):
                continue
            stored = self._read(path.stem)
            if stored is None:
                continue
            shared = min(len(stored.messages), len(messages))
            if stored.messages[:shared] != messages[:shared]:
                continue
            if best is None or len(stored.messages) > len(best.messages):
                best = stored
        return best

    def _paths(self) -> Iterator[Path]:
        self._check_directory()
        if not self._directory.is_dir():
            return
        for path in sorted(self._directory.iterdir()):
            if path.suffix == ".jsonl" and _ID.fullmatch(path.stem) and path.is_file():
                yield path

    def _check_directory(self) -> None:
        if self._directory.is_symlink():
            raise GitmemError(
                f"{self._directory}: is a symbolic link; conversations are kept only inside the "
                "git directory",
                hint=f"Remove it if you did not make it: rm '{self._directory}'",
            )

    # -- reading ---------------------------------------------------------------------------

    def _path(self, session_id: str) -> Path:
        return self._directory / f"{session_id}.jsonl"

    def _existing(self, session_id: str) -> Stored:
        stored = self._read(session_id)
        if stored is None:
            raise NotFound(
                f"no session {session_id!r} on this machine",
                hint="Sessions are kept 30 days, and are not shared between machines.",
            )
        return stored

    def _read(self, session_id: str) -> Stored | None:
        if not _ID.fullmatch(session_id) or len(session_id) > MAX_SESSION_ID:
            return None
        self._check_directory()
        path = self._path(session_id)
        _check_file(path)
        try:
            lines = path.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return None
        return parse(lines, path)

    # -- writing ---------------------------------------------------------------------------

    def _create(self, header: dict[str, Any], messages: tuple[Message, ...], now: str) -> Session:
        """Write a session file under a new id."""
        return self._write(header, messages, now, self._new_id(header, messages, now))

    def _new_id(self, header: dict[str, Any], messages: tuple[Message, ...], now: str) -> str:
        digest = sha256_hex(canonical_json([message.to_json() for message in messages]))
        stem = f"{header['format']}-{now[:10].replace('-', '')}-{digest[:12]}".replace("_", "-")
        session_id, again = stem, 1
        while self._path(session_id).exists():
            again += 1
            session_id = f"{stem}-{again}"
        return session_id

    def _write(
        self, header: dict[str, Any], messages: tuple[Message, ...], now: str, session_id: str
    ) -> Session:
        """Write a new session file; it is there completely or not at all."""
        self._check_directory()
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory.chmod(0o700)
        header = {
            **header,
            "session": session_id,
            "captured_at": now,
            "first": message_digest(messages[0]) if messages else None,
            "version": VERSION,
        }
        data = canonical_file(header) + b"".join(canonical_file(m.to_json()) for m in messages)
        handle, name = tempfile.mkstemp(dir=self._directory, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self._path(session_id))
        finally:
            Path(name).unlink(missing_ok=True)
        _sync_directory(self._directory)
        return session_of(header, messages)

    def _append(self, session_id: str, lines: bytes) -> None:
        """Append whole lines in one write, after cutting off a torn last line."""
        self._check_directory()
        path = self._path(session_id)
        _check_file(path)
        with path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            end = end_of_lines(file, size)
            if end != size:
                file.truncate(end)
            file.seek(end)
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())


def _check_file(path: Path) -> None:
    if path.is_symlink():
        raise GitmemError(
            f"{path}: is a symbolic link, and no session that gitmem stored",
            hint=f"Remove it: rm '{path}'",
        )


def _sync_directory(directory: Path) -> None:
    """Make a new name durable, where the system lets a directory be opened."""
    flag = getattr(os, "O_DIRECTORY", None)
    if flag is None:
        return
    handle = os.open(directory, os.O_RDONLY | flag)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _statement(
    text: str, attested: Attested, now: str
) -> tuple[dict[str, Any], tuple[Message, ...]]:
    clean = Tally().clean(text)
    if not clean.strip():
        raise InvalidInput("there is no text", hint="Say what to remember.")
    messages, _ = _canonical((RawMessage("user", (part("text", "human", clean),), now),))
    return {"attested": attested, "format": STATEMENT, "captured_at": now}, messages


def _canonical(
    raw: Sequence[RawMessage],
) -> tuple[tuple[Message, ...], list[tuple[str, ...]]]:
    """Return the canonical messages, and for each the kinds that were masked in it.

    What a message becomes depends on it and on the one before it alone, so that a grown
    conversation has the same beginning. (The one before: a key may be cut in two.)
    """
    messages: list[Message] = []
    masked: list[tuple[str, ...]] = []
    before = ""
    for index, entry in enumerate(raw):
        parts: list[Part] = []
        kinds: list[str] = []
        for piece in entry.parts:
            done = redact_continuation(before, piece.text)
            kinds += done.kinds
            parts.append(part(piece.kind, piece.cls, done.text))
            before = piece.text
        messages.append(Message(index=index, role=entry.role, parts=tuple(parts), at=entry.at))
        masked.append(tuple(kinds))
    return tuple(messages), masked


def _counted(kinds: Sequence[tuple[str, ...]]) -> dict[str, int]:
    return dict(Counter(kind for of_message in kinds for kind in of_message))


def _source_hash(source_id: str | None) -> str | None:
    """Return a client's id as a hash: it only has to be compared, and may hold anything."""
    if source_id is None:
        return None
    return sha256_hex(source_id.encode("utf-8", "surrogatepass"))
