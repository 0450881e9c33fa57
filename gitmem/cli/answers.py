"""What list, show and search answer.

Nothing here needs click: these are called in every turn of an agent, and click takes longer to
import than the answer takes to find (see :mod:`gitmem.cli.quick`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from gitmem.cli.call import Call, naming_records
from gitmem.cli.output import Stream, Styled

if TYPE_CHECKING:
    from gitmem.results import RecordDetail

SEARCH_LIMIT = 10
"""Results of a search that names no limit."""

_OF_DATE: dict[tuple[str, str | None], str] = {
    ("valid from", "future"): " (not yet)",
    ("valid until", "expired"): " (expired)",
}


def answer_list(call: Call, type: str | None, at: str | None = None) -> int:
    """Print what is remembered, or was at a moment."""
    with call.opened() as store:
        records = store.list(type=type, at=at)
    if call.json:
        call.output.out.json([record.to_json() for record in records])
        return 0
    if not records and call.output.out.terminal:
        nothing = "Nothing was remembered then." if at else "Nothing is remembered yet."
        call.output.out.line(f"No record of type {type}." if type else nothing)
        return 0
    call.output.out.table(
        ["name", "type", "description", "approved"],
        [
            [
                Styled(record.name, "name"),
                record.type,
                _marked(record.description, record.marks),
                Styled(record.approved_at, "dim"),
            ]
            for record in records
        ],
        whole=["name", "type", "approved"],
    )
    return 0


def answer_show(call: Call, name: str, at: str | None = None) -> int:
    """Print one record with its quotes."""
    # What is spelt like it today says nothing about another moment.
    with call.opened() as store, nullcontext() if at else naming_records(store, name):
        record = store.show(name, at=at)
    if call.json:
        call.output.out.json(record.to_json())
        return 0
    show_record(call.output.out, record)
    if record.evidence:
        from gitmem.cli.showing import show_quotes

        call.output.out.line()
        show_quotes(call.output.out, record.evidence)
    return 0


def answer_search(
    call: Call, query: str, limit: int, every: bool = False, at: str | None = None
) -> int:
    """Print the records that match best; ``every``: also those that do not hold."""
    with call.opened() as store:
        hits = store.search(query, limit=limit, all=every, at=at)
    if call.json:
        call.output.out.json([hit.to_json() for hit in hits])
        return 0
    if not hits and call.output.out.terminal:
        call.output.out.line("Nothing that is remembered matches.")
        return 0
    call.output.out.table(
        ["score", "name", "description"],
        [
            [f"{hit.score:.2f}", Styled(hit.name, "name"), _marked(hit.description, hit.marks)]
            for hit in hits
        ],
        whole=["score", "name"],
    )
    return 0


def _marked(description: str, marks: Sequence[str]) -> str:
    return " ".join([description, *(f"[{mark}]" for mark in marks)])


def show_record(out: Stream, record: RecordDetail) -> None:
    """Print a record without its quotes."""
    summary = record.summary
    out.line(Styled(summary.name, "bold"), f"  {summary.type}")
    out.line(summary.description)
    facts = {
        "status": summary.status,
        "valid from": summary.valid_from,
        "valid until": summary.valid_until,
        "supersedes": ", ".join(record.supersedes),
        "superseded by": ", ".join(summary.superseded_by),
    }
    for label, value in facts.items():
        if value:
            out.line(f"{label}: {value}{_OF_DATE.get((label, summary.validity), '')}")
    out.line()
    out.block(record.body)
    out.line()
    out.line(Styled(f"approved {summary.approved_at} in {summary.change}", "dim"))
