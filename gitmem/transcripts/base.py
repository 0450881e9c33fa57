"""What all transcript adapters share: the raw conversation, its counts, and clean text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO, Literal, Protocol

from gitmem.domain.session import Part, PartClass
from gitmem.errors import InvalidInput
from gitmem.transcripts.position import Position

#: Largest JSON Lines file of chat messages in bytes. The session files of a client that writes
#: line by line have no limit: they are never held whole.
MAX_LINES_FILE = 200 * 1024 * 1024
#: Longest single line in bytes; a longer one is skipped, counted and named.
MAX_LINE = 16 * 1024 * 1024
#: Most parts of one message; what follows is left out and noted. A part takes a hundred times
#: the memory that it takes to write one down.
MAX_PARTS = 10_000
#: Largest file in bytes that holds one JSON value, which has to be read whole.
MAX_ARRAY_FILE = 64 * 1024 * 1024
#: So many lines or messages are named one by one in the counts; further ones are grouped.
MAX_NAMED = 50

#: The formats, as a hint for whoever gave a file of none or of another one.
FORMATS = "Formats: claude-code, openai; --format names one."

PartKind = Literal["text", "tool_call", "tool_result", "image", "other"]
ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})

#: What parts of each class that can support something are called, and what they can support.
_USED_BY: dict[PartClass, str] = {
    "human": "person",
    "assistant": "assistant (project and reference only)",
    "tool": "tool (project and reference only)",
    "subagent": "subagent (project and reference only)",
}

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True)
class RawMessage:
    """One message as an adapter read it: classed and with clean text, not yet redacted.

    ``role`` is one of ROLES or ``unknown``. ``parts`` is empty where the message had nothing
    in it; the message still keeps its place, so that indexes stay those of the source.
    ``client_id`` and ``client_time`` are what the client calls the message and when it says it
    was written, word for word: by them a copy of the message is known in another file.
    """

    role: str
    parts: tuple[Part, ...]
    at: str | None = None
    client_id: str | None = None
    client_time: str | None = None


@dataclass(frozen=True)
class PartCounts:
    """What became of every part. A message without content and a refused line count as one.

    Formats in which a line is an entry of its own count lines instead, each once, by the part
    of it that can support most.

    Used parts can support evidence (``used_by`` says whose and what for), ``ignored`` ones are
    in the history but support nothing, ``refused`` ones could not be read; each maps a name or
    a reason to how many.
    """

    used_by: Mapping[str, int] = field(default_factory=dict)
    ignored: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)

    @property
    def used(self) -> int:
        """Return how many parts can support evidence."""
        return sum(self.used_by.values())

    @property
    def total(self) -> int:
        """Return the number of all parts."""
        return self.used + sum(self.ignored.values()) + sum(self.refused.values())

    def describe(self) -> str:
        """Return the counts as one line for a person."""
        text = f"{self.used} of {self.total} parts used"
        for word, reasons in (
            ("used", self.used_by),
            ("ignored", self.ignored),
            ("refused", self.refused),
        ):
            if reasons:
                listed = ", ".join(
                    reason if n == 1 else f"{reason} ({n})" for reason, n in sorted(reasons.items())
                )
                text += f"; {word}: {listed}"
        return text


@dataclass(frozen=True)
class Conversation:
    """A conversation that was read whole. ``source_id`` is the client's own id, if it has one."""

    format: str
    source_id: str | None
    messages: tuple[RawMessage, ...]
    counts: PartCounts
    notes: tuple[str, ...] = ()


class Reading:
    """A conversation while it is read: to be iterated once, message by message.

    ``counts``, ``notes`` and ``source_id`` are complete when the iteration has ended.
    ``goes_on`` says that it begins where an earlier one ended, whose counts and notes are in it.
    """

    def __init__(
        self,
        format: str,
        messages: Iterator[RawMessage],
        tally: Tally,
        where: str,
        position: Position | None = None,
    ):
        self.format = format
        self.goes_on = position is not None and position.size > 0
        self._messages = messages
        self._tally = tally
        self._where = where
        self._position = position

    def __iter__(self) -> Iterator[RawMessage]:
        """Yield the messages in order.

        Raises:
            InvalidInput: the file is not of this format, or cannot be read to its end.
        """
        while True:
            try:
                message = next(self._messages)
            except StopIteration:
                return
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise InvalidInput(f"cannot be read: {reason}", where=self._where) from None
            yield message

    @property
    def source_id(self) -> str | None:
        """Return the client's own id of the conversation, as far as it was met."""
        return self._tally.source_id

    @property
    def counts(self) -> PartCounts:
        """Return what became of everything that was read so far."""
        return self._tally.counts()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a person should know of what was read so far."""
        return self._tally.notes()

    def state(self) -> dict[str, Any] | None:
        """Return what is to be known to read on from where it ended, once the file has grown.

        None where that cannot be said: the format needs all of a file, or its last line may
        still be written. The client's own words in it have to be masked before they are kept.
        """
        if self._position is None or not self._position.whole:
            return None
        return {
            "format": self.format,
            "position": self._position.to_json(),
            "tally": self._tally.state(),
        }

    def whole(self) -> Conversation:
        """Read everything that is left into memory."""
        messages = tuple(self)
        return Conversation(self.format, self.source_id, messages, self.counts, self.notes)


class Adapter(Protocol):
    """Reads the transcripts of one client."""

    @property
    def name(self) -> str:
        """The format's name, as in ``--format`` and in a session's header."""

    def recognises(self, head: bytes) -> bool:
        """Say whether a file that begins with ``head`` is of this adapter's format."""

    @property
    def expected(self) -> str:
        """What a file of this format holds, as a sentence for a person."""

    def read(self, source: BinaryIO, where: str, size: int) -> Reading:
        """Begin to read a file of ``size`` bytes, which stays open; ``where`` names it.

        Raises:
            InvalidInput: the file is not of this format, or larger than a limit.
        """

    def read_on(self, source: BinaryIO, where: str, state: Mapping[str, Any]) -> Reading | None:
        """Begin behind what was read when :meth:`Reading.state` said ``state``; None where the
        file does not begin as it did then, or the format cannot be read in parts.

        Raises:
            OSError: it cannot be read.
            KeyError, TypeError, ValueError: the state is none.
        """


_COUNTED = ("used_by", "ignored", "refused", "_notes")


class Tally:
    """Collects counts and notes while a conversation is read."""

    def __init__(self) -> None:
        self.source_id: str | None = None
        self.used_by: Counter[str] = Counter()
        self.ignored: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self._notes: Counter[str] = Counter()

    def refuse(self, place: str, reason: str) -> None:
        """Count something that could not be read; the first ones are named by their place."""
        named = len(self.refused) < MAX_NAMED
        self.refused[f"{place}: {reason}" if named else f"further places: {reason}"] += 1

    def note(self, text: str, n: int = 1) -> None:
        """Note something that a person should know; equal notes are told once, with their number.

        Notes that name what stands in the source could be without number; the rest is grouped.
        """
        if text not in self._notes and len(self._notes) >= MAX_NAMED:
            text = "further notes"
        self._notes[text] += n

    def count(self, message: RawMessage) -> None:
        """Count every part of a message as used or ignored."""
        if not message.parts:
            self.ignored["empty"] += 1
        for piece in message.parts:
            reason = ignored_reason(piece)
            if reason:
                self.ignored[reason] += 1
            else:
                self.used_by[_USED_BY[piece.cls]] += 1

    def count_once(self, parts: Sequence[Part]) -> None:
        """Count parts as one, by that of them that can support most."""
        reasons = [ignored_reason(piece) for piece in parts]
        classes = {piece.cls for piece, why in zip(parts, reasons, strict=True) if why is None}
        best = next((cls for cls in _USED_BY if cls in classes), None)
        if best is not None:
            self.used_by[_USED_BY[best]] += 1
        else:
            self.ignored[reasons[0] if reasons and reasons[0] else "empty"] += 1

    def counts(self) -> PartCounts:
        """Return the counts so far."""
        return PartCounts(dict(self.used_by), dict(self.ignored), dict(self.refused))

    def notes(self) -> tuple[str, ...]:
        """Return the notes so far."""
        return tuple(text if n == 1 else f"{text} ({n} times)" for text, n in self._notes.items())

    def state(self) -> dict[str, dict[str, int]]:
        """Return all counts and notes; :meth:`resumed` goes on with them."""
        return {name: dict(getattr(self, name)) for name in _COUNTED}

    @classmethod
    def resumed(cls, state: Mapping[str, Mapping[str, int]]) -> Tally:
        """Return a tally that goes on counting."""
        tally = cls()
        for name in _COUNTED:
            getattr(tally, name).update({str(key): int(n) for key, n in state[name].items()})
        return tally

    def clean(self, text: str) -> str:
        """Return ``text`` as it can be stored; what had to be replaced is noted.

        Lone surrogates and control characters become U+FFFD, line ends become LF. Nothing
        else changes: a quote has to be what the person typed.
        """
        if _SURROGATE.search(text):
            # Halves that belong together become one character, lone ones are replaced.
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            self.note("half of a character (a lone surrogate) replaced with U+FFFD")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        text, n = _CONTROL.subn("\ufffd", text)
        if n:
            self.note("control character replaced with U+FFFD", n)
        return text


def part(kind: PartKind, cls: PartClass, text: str = "") -> Part:
    """Make a part; a keyword argument cannot be called ``class``."""
    return Part.model_validate({"kind": kind, "class": cls, "text": text})


def ignored_reason(piece: Part) -> str | None:
    """Say why a part can support nothing, or None where it can."""
    if piece.kind in ("image", "other") and not piece.text:
        return piece.kind if piece.kind == "image" else "not text"
    if not piece.text.strip():
        return "empty"
    if piece.cls == "injected":
        return "injected by a client or a program"
    if piece.cls == "unknown":
        return "unknown role or shape"
    return None


def utc_time(value: Any) -> str | None:
    """Return a time as UTC like 2026-11-30T16:20:11Z, or None where it is not certain.

    Seconds or milliseconds since 1970 are taken, and ISO 8601 with a zone; a time without a
    zone could be anywhere and is left out.
    """
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            seconds = value / 1000 if value > 1e11 else value
            moment = datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
        elif isinstance(value, str):
            parsed = datetime.fromisoformat(value.strip())
            moment = parsed.astimezone(UTC) if parsed.tzinfo else None
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment and moment.year >= 1970 else None
