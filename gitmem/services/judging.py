"""extract's second half: what the rules make of the messages that are new in a session."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitmem.cache.index import ProjectionIndex
from gitmem.domain.proposal_item import Item
from gitmem.domain.record import MAX_EVIDENCE
from gitmem.domain.session import Message
from gitmem.ranking import search
from gitmem.results import Dropped, Progress
from gitmem.rules import KnownRecord, RuleResult, propose
from gitmem.rules.matching import has_cue
from gitmem.sessions import Spans, StoredMessages
from gitmem.store import Store

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
class Unread:
    """The messages of a session, of which those below index ``start`` were proposed from, and
    those in ``read_before`` from another session."""

    messages: Sequence[Message]
    start: int
    read_before: Spans


@dataclass(frozen=True, slots=True)
class Found:
    """What the rules make of a session: items, and what they passed over and why.

    Messages below index ``upto`` are done with; what follows is for the next time.
    """

    items: tuple[Item, ...]
    passed_over: tuple[Dropped, ...]
    upto: int


def find_items(store: Store, unread: Unread, progress: Progress | None = None) -> Found:
    """Run the rules over the new messages of a session, and some of those before.

    They are read and judged a stretch at a time, so that a conversation of any length fits into
    memory; what an earlier stretch proposes, a later one can correct. It ends where there is
    as much as a person can read at once.
    """
    upto = unread.start
    found = _Collected(unread)
    for stretch in _stretches(unread, progress):
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

    def __init__(self, unread: Unread) -> None:
        self.unread = unread
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
        return index >= self.unread.start and index not in self.unread.read_before


def _judge(store: Store, found: _Collected, stretch: _Stretch) -> None:
    """Run the rules over one stretch, beside the records and the items that it may change."""
    known = {record.name: record for record in _related(store, stretch.new)}
    for item in found.items.values():
        known[item.name] = KnownRecord(item.name, item.type, item.description, item.body)
    first = stretch.new[0].index if stretch.new else stretch.end
    found.take(propose([*stretch.context, *stretch.new], list(known.values()), first))


def _stretches(unread: Unread, progress: Progress | None) -> Iterator[_Stretch]:
    """Divide what is new into stretches: of so many messages with words of a person, or of so
    many characters. The last ones of a stretch are context for the next."""
    start, end = unread.start, len(unread.messages)
    begin = max(0, start - CONTEXT)
    context: deque[Message] = deque(_spoken(unread.messages[begin:start]), CONTEXT)
    new: list[Message] = []
    size, told = 0, 0
    for message in _spoken(unread.messages[start:]):
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
        if not any(map(has_cue, texts)):
            continue  # the rules find no statement in it, nor anything that takes one back
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
