"""Commands that only look: status, list, show, log, why, search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitmem.cli.answers import (
    SEARCH_LIMIT,
    answer_list,
    answer_search,
    answer_show,
    show_record,
)
from gitmem.cli.call import Call, naming_records
from gitmem.cli.options import command
from gitmem.cli.output import Stream, Styled
from gitmem.cli.showing import SIGNS, runnable, show_findings, show_quotes, show_status

if TYPE_CHECKING:
    from gitmem.results import HistoryEntry, Why


@command("status", example="gitmem status")
def status(call: Call) -> None:
    """Show the store's state and what to do next."""
    with call.opened() as store:
        found = runnable(call, store.status())
    if call.json:
        call.output.out.json(found.to_json())
        return
    show_status(call.output.out, found)


@command("list", example="gitmem list --type user")
@click.option("--type", metavar="TYPE", help="Only user, feedback, project or reference.")
def list_records(call: Call, type: str | None) -> int:
    """List what is remembered."""
    return answer_list(call, type)


@command("show", example="gitmem show user-prefers-tabs")
@click.argument("name")
def show(call: Call, name: str) -> int:
    """Show one record with its quotes."""
    return answer_show(call, name)


@command("log", example="gitmem log user-prefers-tabs")
@click.argument("name", required=False)
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most so many, newest first.")
def log(call: Call, name: str | None, limit: int | None) -> None:
    """Show the ledger: every merge and decision, newest first.

    With NAME: what happened to that record.
    """
    with call.opened() as store, naming_records(store, name or ""):
        entries = store.log(name, limit=limit)
    if call.json:
        call.output.out.json([entry.to_json() for entry in entries])
        return
    short = 12 if call.output.out.terminal else None
    call.output.out.table(
        ["commit", "when", "what", "change", "records", "approved by"],
        [
            [
                Styled(entry.commit[:short], "dim"),
                entry.at,
                Styled(entry.kind, "bad" if entry.kind == "stray" else ""),
                entry.change + (f": {entry.reason}" if entry.reason else ""),
                " ".join(f"{SIGNS.get(change, '?')}{record}" for record, change in entry.records),
                ", ".join(entry.approved_by),
            ]
            for entry in entries
        ],
        whole=["commit", "when", "what"],
    )


@command("why", example="gitmem why user-prefers-tabs")
@click.argument("name")
def why(call: Call, name: str) -> None:
    """Explain why a record is believed.

    Its quotes in their messages, who proposed it, every review, who approved it, and when.
    """
    with call.opened() as store, naming_records(store, name):
        found = store.why(name)
    if call.json:
        call.output.out.json(found.to_json())
        return
    _show_why(call.output.out, found)


def _show_why(out: Stream, found: Why) -> None:
    show_record(out, found.record)
    out.line()
    out.line(Styled("Because of", "bold"))
    for quote in found.record.evidence:
        show_quotes(out, [quote])
        context = found.contexts.get(quote.id)
        if context is None:
            out.line(Styled("the session is not on this machine", "dim"), indent=4)
        elif context.strip() != quote.quote.strip():
            out.line(Styled("the whole message:", "dim"), indent=4)
            out.block(context, indent=6)
    out.line()
    out.line(Styled("History", "bold"))
    for entry in found.history:
        _show_history(out, entry)


def _show_history(out: Stream, entry: HistoryEntry) -> None:
    out.line(Styled(entry.proposal, "name"), f"  {entry.change}, {entry.kind}", indent=2)
    out.line(f"proposed by {entry.proposed_by}", indent=4)
    if entry.session:
        out.line(f"session     {entry.session}", indent=4)
    for review in entry.reviews:
        by = review.by if review.by == review.reviewer else f"{review.by} ({review.reviewer})"
        reason = f": {review.reason}" if review.reason else ""
        out.line(f"review      {by}: {review.verdict}{reason}  {review.at}", indent=4)
        show_findings(out, review.findings, indent=6)
    out.line(f"approved by {', '.join(entry.approved_by)}  {entry.approved_at}", indent=4)
    out.line(f"merge       {entry.merge}", indent=4)


@command("search", example='gitmem search "which indentation"')
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=SEARCH_LIMIT,
    show_default=True,
    help="At most so many.",
)
def search(call: Call, query: tuple[str, ...], limit: int) -> int:
    """Find the records that match a question best."""
    return answer_search(call, " ".join(query), limit)
