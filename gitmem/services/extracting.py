"""extract by a model: what the proposer makes of the messages that are new in a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.cache.index import ProjectionIndex
from gitmem.domain.instants import compact_day
from gitmem.domain.model_answers import ITEMS_SCHEMA, read_items
from gitmem.domain.proposal_item import Item
from gitmem.domain.record import MAX_EVIDENCE
from gitmem.domain.session import Message
from gitmem.errors import InvalidInput, ModelFailed, NotFound, Waiting
from gitmem.llm import Budget, ModelClient, ask
from gitmem.ranking import search
from gitmem.resources import prompt
from gitmem.results import Progress
from gitmem.sessions import Spans
from gitmem.store import Store

#: Characters of messages in one question. A longer message goes in pieces, each with its class.
STRETCH = 40_000
#: Records that the proposer sees in full beside each stretch, and names that it sees besides.
RELATED = 10
NAMES = 2_000
#: Records in one proposal: what a person reads in one sitting.
MAX_ITEMS = 100
#: Classes of parts that can support something; a stretch without any is not asked about.
_SUPPORTING = frozenset({"human", "assistant", "tool", "subagent"})

Check = Callable[[Sequence[Item]], object]
"""Raises InvalidInput where items could not be proposed; the reason goes back to the model."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Who proposes, within which budget; ``nonce`` is random hex."""

    client: ModelClient
    budget: Budget
    nonce: str
    check: Check


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a model makes of a session: items, who proposed them (``model:ID@HOST``, empty where
    nothing was asked), and up to which message it was read."""

    items: tuple[Item, ...]
    who: str
    upto: int


def check_daily(store: Store, now: int) -> None:
    """Refuse to open one more proposal today, where models have opened as many as they may.

    Counted are those of this UTC day that are open, put aside or decided here.

    Raises:
        Waiting: so it is; what is unread stays so.
    """
    limit = store.facts.ground(store.head().accepted).policy.daily_proposals
    day = compact_day(now)
    tips = {name: tip for name, tip in store.open_proposals().items() if f"-{day}-" in name}
    tips |= {kept.name: kept.tip for kept in store.kept() if f"-{day}-" in kept.name}
    for name in store.projection.decided_on(day):
        merge = store.projection.decision(name)
        if merge and name not in tips:
            tips[name] = store.repo.reader.commit(merge.oid).parents[-1]
    opened = sum(_is_models(store, tip) for tip in tips.values())
    if opened >= limit:
        raise Waiting(
            f"models opened {opened} proposals today (UTC); the policy allows {limit}",
            hint="What is unread stays so, and can be read tomorrow. To allow more: "
            "gitmem policy set daily_proposals N",
        )


def _is_models(store: Store, tip: str) -> bool:
    """Whether a model made the proposal that ends at ``tip``; also where that cannot be told."""
    try:
        return store.facts.branch(tip, any_base=True).proposal.proposed_by.startswith("model:")
    except (InvalidInput, NotFound):
        return True


def draw_items(
    store: Store,
    messages: Sequence[Message],
    start: int,
    read_before: Spans,
    how: Asking,
    progress: Progress | None = None,
) -> Drawn:
    """Ask the proposer about the messages from index ``start`` on, a stretch at a time.

    What an earlier stretch gave, a later one can revise: it is among the records it sees.

    Raises:
        ModelFailed: no usable answer for a stretch; nothing counts as read then.
    """
    items: dict[str, Item] = {}
    who, upto = "", start
    for stretch, end in _stretches(messages[start:], read_before):
        if progress:
            progress("asking the proposer", end, len(messages))
        data = {
            "messages": stretch,
            "related": _related(store, stretch, items),
            "names": _names(store, items),
        }
        asked = ask(
            how.client,
            role="proposer",
            prompt=prompt("proposer"),
            data=data,
            read=lambda text: _checked(text, how.check),
            budget=how.budget,
            nonce=how.nonce,
            schema=ITEMS_SCHEMA,
        )
        if not asked.model:
            raise ModelFailed("the proposer's endpoint does not say which model answered")
        if who and asked.who != who:
            raise ModelFailed("the proposer's endpoint answered with two different models")
        who, upto = asked.who, end
        _take(items, asked.value)
        if len(items) >= MAX_ITEMS:
            return Drawn(tuple(items.values())[:MAX_ITEMS], who, upto)
    return Drawn(tuple(items.values()), who, len(messages))


def _checked(text: str, check: Check) -> tuple[Item, ...]:
    items = read_items(text)
    check(items)
    return items


def _take(items: dict[str, Item], found: Sequence[Item]) -> None:
    """Add what one stretch gave; an item of a name that is there takes its place and its quotes."""
    for item in found:
        before = items.pop(item.name, None)
        if before is not None:
            quotes = dict.fromkeys((*before.evidence, *item.evidence))
            item = item.model_copy(update={"evidence": tuple(quotes)[-MAX_EVIDENCE:]})
        items[item.name] = item


def _stretches(
    messages: Sequence[Message], read_before: Spans
) -> Iterator[tuple[list[dict[str, Any]], int]]:
    """Divide messages into what one question holds, each with the index below which all is in it.

    A message that is too long is cut, and goes on in the next one.
    """
    stretch: list[dict[str, Any]] = []
    size = end = 0
    for message in messages:
        if message.index in read_before:
            continue
        for piece in _pieces(message):
            length = sum(len(part["text"]) for part in piece["parts"])
            if stretch and size + length > STRETCH:
                if _supports(stretch):
                    yield stretch, message.index
                stretch, size = [], 0
            stretch.append(piece)
            size += length
        end = message.index + 1
    if _supports(stretch):
        yield stretch, end


def _pieces(message: Message) -> Iterator[dict[str, Any]]:
    """Yield a message as data, in pieces of at most one stretch; each part keeps its class."""
    parts: list[dict[str, str]] = []
    size = 0
    for part in message.parts:
        for start in range(0, max(len(part.text), 1), STRETCH):
            text = part.text[start : start + STRETCH]
            if parts and size + len(text) > STRETCH:
                yield _piece(message, parts)
                parts, size = [], 0
            parts.append({"class": part.cls, "kind": part.kind, "text": text})
            size += len(text)
    yield _piece(message, parts)


def _piece(message: Message, parts: list[dict[str, str]]) -> dict[str, Any]:
    return {"index": message.index, "at": message.at, "role": message.role, "parts": parts}


def _supports(stretch: list[dict[str, Any]]) -> bool:
    return any(
        part["class"] in _SUPPORTING and part["text"].strip()
        for piece in stretch
        for part in piece["parts"]
    )


def _related(
    store: Store, stretch: list[dict[str, Any]], items: dict[str, Item]
) -> list[dict[str, str]]:
    """Return the records nearest to what people said here, and what was proposed before it."""
    said = "\n".join(
        part["text"] for piece in stretch for part in piece["parts"] if part["class"] == "human"
    )
    found = {
        item.name: {
            "name": item.name,
            "type": item.type,
            "description": item.description,
            "body": item.body,
        }
        for item in items.values()
    }
    for name, _ in search(said, ProjectionIndex(store.projection), RELATED):
        row = store.projection.record(name)
        if row is not None and name not in found:
            record = store.facts.record(row.blob, row.path)
            found[name] = {
                "name": name,
                "type": record.type,
                "description": record.description,
                "body": record.body,
            }
    return list(found.values())


def _names(store: Store, items: dict[str, Item]) -> list[str]:
    names = {row.name for row in store.projection.records()} | set(items)
    return sorted(names)[:NAMES]
