"""What a proposal's branch may touch: records, and the quotes that they cite.

Pure over a list of changed paths and what was parsed from the blobs. Everything here is frozen
by the manifest's version: a commit that passes once passes for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from gitmem.domain.evidence import Evidence, is_short, supports
from gitmem.domain.layout import (
    RECORD_TYPES,
    parse_evidence_path,
    parse_record_path,
    record_path,
)
from gitmem.domain.objects import FILE_MODE
from gitmem.domain.proposal import OWN_HISTORY, OWN_WORDS, Proposal, RecordAt, RecordChange
from gitmem.domain.record import Record
from gitmem.errors import InvalidInput

#: Records that one proposal may touch; a batch larger than a person can read is no proposal.
MAX_CHANGES = 1000


class PathChange(Protocol):
    """One changed path of a tree; ``None`` stands for absent."""

    @property
    def path(self) -> str: ...
    @property
    def new_mode(self) -> str: ...
    @property
    def old_oid(self) -> str | None: ...
    @property
    def new_oid(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class TouchedPaths:
    """The paths of a change, sorted out. ``evidence`` has the names whose folder is touched."""

    changes: tuple[RecordChange, ...]
    evidence: frozenset[str]


def sort_paths(paths: Iterable[PathChange]) -> TouchedPaths:
    """Sort out changed paths into records and evidence.

    Raises:
        InvalidInput: a path is none of the two, has another mode than 100644, moves a record,
            or belongs to a name that the change leaves alone.
    """
    old: dict[str, RecordAt] = {}
    new: dict[str, RecordAt] = {}
    evidence: set[str] = set()
    for path in paths:
        if path.new_oid is not None and path.new_mode != FILE_MODE:
            raise InvalidInput(
                f"has the mode {path.new_mode[:12]}; only {FILE_MODE} is legal", where=path.path
            )
        if len(old) + len(new) > 2 * MAX_CHANGES:
            raise InvalidInput(f"the proposal touches more than {MAX_CHANGES} records")
        record = parse_record_path(path.path)
        quote = parse_evidence_path(path.path)
        if record is not None:
            _place(old, new, record.name, path)
        elif quote is not None:
            name, oid = quote
            if path.new_oid is not None and path.new_oid != oid:
                raise InvalidInput("is not named by its own blob id", where=path.path)
            evidence.add(name)
        else:
            raise InvalidInput(
                "is neither a record nor evidence; a proposal touches nothing else",
                where=path.path,
            )
    names = sorted(old.keys() | new.keys())
    if not names:
        raise InvalidInput("the proposal changes no record")
    if len(names) > MAX_CHANGES:
        raise InvalidInput(f"the proposal touches {len(names)} records; at most {MAX_CHANGES}")
    stray = sorted(evidence - set(names))
    if stray:
        raise InvalidInput(f"evidence of {stray[0]} changes, but the record does not")
    return TouchedPaths(
        tuple(RecordChange(name, old.get(name), new.get(name)) for name in names),
        frozenset(evidence),
    )


def _place(old: dict[str, RecordAt], new: dict[str, RecordAt], name: str, path: PathChange) -> None:
    if path.old_oid is not None:
        _only_once(old, name, path.path)
        old[name] = RecordAt(path.path, path.old_oid)
    if path.new_oid is not None:
        _only_once(new, name, path.path)
        new[name] = RecordAt(path.path, path.new_oid)
    if name in old and name in new and old[name].path != new[name].path:
        raise InvalidInput(f"moves the record {name}; a record keeps its path", where=path.path)


def _only_once(places: Mapping[str, RecordAt], name: str, path: str) -> None:
    if name in places:
        raise InvalidInput(f"the name {name} stands twice: also {places[name].path}", where=path)


def check_record(
    change: RecordChange, record: Record, cited: frozenset[str], quotes: Mapping[str, Evidence]
) -> None:
    """Check one added or revised record against its place and its quotes.

    Args:
        cited: the ids in the evidence folder of the name, at the proposal's tip.
        quotes: what stands in those files.

    Raises:
        InvalidInput: name or type do not fit the path, a citation is missing or not cited, or
            a quote is of a class that cannot support the type.
    """
    assert change.new is not None
    where = change.new.path
    if record.name != change.name:
        raise InvalidInput(
            f"says it is {record.name!r}, but its file is {change.name}.md", where=where
        )
    if change.old is None and where not in (
        record_path(record.type, record.name, sharded=False),
        record_path(record.type, record.name, sharded=True),
    ):
        raise InvalidInput(f"is no place for a {record.type} record", where=where)
    missing = sorted(set(record.evidence) - cited)
    if missing:
        raise InvalidInput(f"cites {missing[0]}, which is not in its evidence folder", where=where)
    extra = sorted(cited - set(record.evidence))
    if extra:
        raise InvalidInput(
            f"does not cite {extra[0]}, which lies in its evidence folder", where=where
        )
    for oid in record.evidence:
        quote = quotes[oid]
        if not supports(quote.cls, record.type):
            raise InvalidInput(
                f"is a {record.type} record, which a quote of the class {quote.cls} cannot support",
                where=where,
                hint="What a person prefers must be quoted from the person's own words.",
            )


def check_quotes(proposal: Proposal, added: Mapping[str, Evidence]) -> None:
    """Check the quotes that a proposal adds, by path: whose they are, and how long.

    Raises:
        InvalidInput: one is of another session than the proposal says, or attested otherwise,
            or too short to say anything by itself.
    """
    may_quote_short = proposal.kind in OWN_WORDS or (
        proposal.kind in OWN_HISTORY and proposal.attested is None
    )
    for where, quote in added.items():
        source = quote.attested, quote.session
        if proposal.attested and source != (proposal.attested, proposal.session):
            raise InvalidInput(
                "is from another session, or attested otherwise, than the proposal says",
                where=where,
            )
        if is_short(quote.quote) and not may_quote_short:
            raise InvalidInput("is too short to say anything by itself", where=where)


def check_type(text: str) -> None:
    """Refuse a record type that does not exist.

    Raises:
        InvalidInput: ``text`` is none of user, feedback, project, reference.
    """
    if text not in RECORD_TYPES:
        raise InvalidInput(f"{text[:40]!r} is no type; it is one of {', '.join(RECORD_TYPES)}")
