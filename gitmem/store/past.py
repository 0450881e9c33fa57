"""What was remembered at a moment of the past, answered like the present.

A moment is a commit of main's own line, or a date. Nothing is verified again: whether a commit
of main is accepted was found out when the projection was brought to main's tip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gitmem.cache import CommitRow, Projection
from gitmem.domain.instants import format_instant, read_moment
from gitmem.domain.layout import RECORDS, evidence_path, parse_record_path
from gitmem.domain.objects import FILE_MODE
from gitmem.domain.record import MAX_BYTES, Record
from gitmem.errors import InvalidInput, NotFound, Refused
from gitmem.ranking import changed_blocks, count, document, rewrite
from gitmem.records import read_record
from gitmem.repo import Found, Oversize
from gitmem.repo.revisions import find_commit
from gitmem.store.folding import record_row
from gitmem.store.store import Store

_DAY = 86_400
_CHANGE = re.compile(r"[a-z]+-[0-9]{8}-[0-9a-f]{1,6}\Z")
_ID = re.compile(r"[0-9a-f]{4,40}\Z")
_HINT = (
    "Give a date like 2026-10-01, or a commit of main: its id (see `gitmem log`), main~3, a tag, "
    "the id of a merged proposal."
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of main: an accepted commit, its place in the chain, and the day (UTC) by which
    records hold or do not."""

    commit: str
    place: int
    day: str


def find_moment(store: Store, text: str, now: int) -> Moment:
    """Return the moment that a person means by ``text``, a date or a revision.

    A date is the newest accepted commit whose own date is not later: commits are walked from the
    newest back, and only the order of main says what was there before it. Dates on main need not
    rise (a proposal may be approved long before it is merged); where some in that commit's past
    are later than what was asked for, a note says so. A day ends in UTC. Ask inside of one
    snapshot; ``now`` is in seconds since 1970.

    Raises:
        NotFound: nothing of main is meant, or main begins later.
        Refused: what is meant lies beside main's own line.
        InvalidInput: it looks like a date and is none.
    """
    typed = read_moment(text)
    return _by_revision(store, text) if typed is None else _by_date(store, text, typed, now)


def _by_date(store: Store, text: str, typed: int, now: int) -> Moment:
    if typed > now:
        if ":" in text or typed // _DAY != now // _DAY:  # the end of today may be ahead
            store.notes.append(f"{text} has not come yet; this is what is remembered now")
        row = store.projection.accepted()
        assert row is not None  # a memory has its first commit
        return Moment(row.oid, row.seq, format_instant(now)[:10])
    at = format_instant(typed) if typed >= 0 else ""
    row = store.projection.accepted(at=at)
    first, later = store.projection.dates(row.seq if row else 0, at)
    if row is None:
        raise NotFound(
            f"there was no memory yet at {text}: this one begins at {first}",
            hint=f"Ask for {first[:10]} or later.",
        )
    if later:
        store.notes.append(
            f"the dates on main do not rise everywhere: {later} of the commits up to "
            f"{row.oid[:12]}, which is what was found for {text}, are dated later"
        )
    return Moment(row.oid, row.seq, at[:10])


def _by_revision(store: Store, text: str) -> Moment:
    row = _named(store, text)
    accepted = store.projection.accepted(last=row.seq)
    if accepted is None:
        raise NotFound(f"nothing was accepted on main up to {row.oid[:12]}", hint=_HINT)
    if accepted.oid != row.oid:
        store.notes.append(
            f"{row.oid[:12]} is a stray and no memory; answering as of {accepted.oid[:12]}, "
            "the newest accepted commit before it"
        )
    return Moment(accepted.oid, accepted.seq, accepted.at[:10])


def _named(store: Store, text: str) -> CommitRow:
    """Return the commit of main that ``text`` names: a proposal, a revision, a shortened id."""
    shown = repr(text[:80])
    found = store.projection.called(text) if _CHANGE.match(text) else []
    oid = None if found else find_commit(store.repo.runner, text)
    if oid is not None:
        row = store.projection.commit(oid)
        if row is None:
            raise Refused(
                f"{shown} is the commit {oid[:12]}, which is not on main's own line, so nothing "
                "was ever remembered at it",
                hint=_HINT,
            )
        return row
    if not found and _ID.match(text.lower()):
        found = store.projection.beginning(text.lower())
    exact = [row for row in found if text == row.change] or found
    if len(exact) > 1:
        raise NotFound(f"{shown} is the beginning of {len(exact)} ids on main", hint=_HINT)
    if not exact:
        raise NotFound(f"{shown} names no commit and no date", hint=_HINT)
    return exact[0]


@contextmanager
def remembered_at(
    store: Store, moment: Moment, *, quotes_of: str | None = None, words: bool = False
) -> Iterator[Projection]:
    """Give a projection of what was remembered at ``moment``, to be read inside the block.

    Args:
        quotes_of: a record whose quotes are wanted, too.
        words: whether it is to be searched.
    """
    head = store.head()
    if moment.commit == head.accepted:
        yield store.projection
        return
    past = Projection.open(None)
    try:
        with past.transaction():
            _fill(store, past, moment, quotes_of, words)
        yield past
    finally:
        past.close()


def _fill(
    store: Store, past: Projection, moment: Moment, quotes_of: str | None, words: bool
) -> None:
    approvals = store.projection.approvals(moment.place)
    texts = []
    for number, (record, path, blob) in enumerate(_records(store, moment.commit)):
        approval = approvals.get(record.name)
        if approval is None:
            _leave_out(store, path, "no commit of main brought it in")
            continue
        approved = (approval.change, approval.approved_by, approval.at)
        row = record_row(record, path, blob, *approved)
        past.put_record(row, number, record.supersedes)
        past.put_blob(blob, record.model_dump())
        if words:
            texts.append((number, document(record.name, record.description, record.body)))
        for oid in record.evidence if record.name == quotes_of else ():
            quote = store.facts.evidence(oid, evidence_path(record.name, oid))
            past.put_blob(oid, quote.model_dump())
    _index(past, texts)


def _records(store: Store, commit: str) -> Iterator[tuple[Record, str, str]]:
    """Yield each record of a commit with its path and blob; what is unreadable is left out."""
    places: dict[str, tuple[str, str]] = {}
    for mode, oid, path in store.repo.list_tree(commit, f"{RECORDS}/"):
        place = parse_record_path(path)
        if place is None or mode != FILE_MODE:
            _leave_out(store, path, "this is no place or no mode of a record")
        elif place.name in places:
            _leave_out(store, path, f"stands also as {places[place.name][0]}")
        else:
            places[place.name] = (path, oid)
    contents = store.repo.reader.read_many([oid for _, oid in places.values()], max_bytes=MAX_BYTES)
    for (name, (path, oid)), found in zip(places.items(), contents, strict=True):
        try:
            yield _read(found, name, path), path, oid
        except InvalidInput as error:
            _leave_out(store, path, error.message.removeprefix(f"{path}: "))


def _read(found: Found | Oversize | None, name: str, path: str) -> Record:
    if found is None:
        raise InvalidInput("its content is missing")
    if isinstance(found, Oversize):
        raise InvalidInput(f"has {found.size} bytes; the limit is {MAX_BYTES}")
    record = read_record(found.data, path)
    if record.name != name:
        raise InvalidInput(f"says it is {record.name!r}")
    return record


def _leave_out(store: Store, path: str, reason: str) -> None:
    store.notes.append(f"{path} is left out: {reason}")


def _index(past: Projection, texts: Iterable[tuple[int, str]]) -> None:
    known = list(texts)
    for (term, block), entries in changed_blocks([], known).items():
        past.put_block(term, block, rewrite(b"", entries))
    past.set_meta("documents", str(len(known)))
    past.set_meta("terms", str(sum(count(text)[1] for _, text in known)))
