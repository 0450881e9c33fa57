"""What list, show and search answer.

Nothing here needs click: these are called in every turn of an agent, and click takes longer to
import than the answer takes to find (see :mod:`gitmem.cli.quick`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.cli.call import Call, naming_records
from gitmem.cli.output import Stream, Styled

if TYPE_CHECKING:
    from gitmem.results import RecordDetail

SEARCH_LIMIT = 10
"""Results of a search that names no limit."""


def answer_list(call: Call, type: str | None) -> int:
    """Print what is remembered."""
    with call.opened() as store:
        records = store.list(type=type)
    if call.json:
        call.output.out.json([record.to_json() for record in records])
        return 0
    if not records and call.output.out.terminal:
        call.output.out.line(f"No record of type {type}." if type else "Nothing is remembered yet.")
        return 0
    call.output.out.table(
        ["name", "type", "description", "approved"],
        [
            [
                Styled(record.name, "name"),
                record.type,
                record.description + (f" [{record.status}]" if record.status else ""),
                Styled(record.approved_at, "dim"),
            ]
            for record in records
        ],
        whole=["name", "type", "approved"],
    )
    return 0


def answer_show(call: Call, name: str) -> int:
    """Print one record with its quotes."""
    with call.opened() as store, naming_records(store, name):
        record = store.show(name)
    if call.json:
        call.output.out.json(record.to_json())
        return 0
    show_record(call.output.out, record)
    if record.evidence:
        from gitmem.cli.showing import show_quotes

        call.output.out.line()
        show_quotes(call.output.out, record.evidence)
    return 0


def answer_search(call: Call, query: str, limit: int) -> int:
    """Print the records that match best."""
    with call.opened() as store:
        hits = store.search(query, limit=limit)
    if call.json:
        call.output.out.json([hit.to_json() for hit in hits])
        return 0
    if not hits and call.output.out.terminal:
        call.output.out.line("Nothing that is remembered matches.")
        return 0
    call.output.out.table(
        ["score", "name", "description"],
        [[f"{hit.score:.2f}", Styled(hit.name, "name"), hit.description] for hit in hits],
        whole=["score", "name"],
    )
    return 0


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
    }
    for label, value in facts.items():
        if value:
            out.line(f"{label}: {value}")
    out.line()
    out.block(record.body)
    out.line()
    out.line(Styled(f"approved {summary.approved_at} in {summary.change}", "dim"))
