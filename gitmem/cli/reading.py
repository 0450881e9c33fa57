"""Commands that only look: status, list, show, log, why, search."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
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
    from gitmem.results import HistoryEntry, Quote, ReviewView, Source, Why

at_option = click.option(
    "--at",
    metavar="REV_OR_DATE",
    help="As of a commit of main (an id, main~3, a tag, the id of a merged proposal) or a date: "
    "2026-10-01 (to the end of that day, UTC), 2026-10-01T12:00, 2026-10-01T12:00+08:00. Of a "
    "date, it is the newest commit that is not dated later.",
)


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
@at_option
def list_records(call: Call, type: str | None, at: str | None) -> int:
    """List what is remembered."""
    return answer_list(call, type, at)


@command("show", example="gitmem show user-prefers-tabs")
@click.argument("name")
@at_option
def show(call: Call, name: str, at: str | None) -> int:
    """Show one record with its quotes."""
    return answer_show(call, name, at)


@command("log", example="gitmem log user-prefers-tabs")
@click.argument("name", required=False)
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most so many, newest first.")
@at_option
def log(call: Call, name: str | None, limit: int | None, at: str | None) -> None:
    """Show the ledger: every merge and decision, newest first.

    With NAME: the life of that record, also under other names: what it was called before, what it
    came of, what became of it.
    """
    with call.opened() as store, nullcontext() if at else naming_records(store, name or ""):
        entries = store.log(name, limit=limit, at=at)
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
                " ".join(f"{SIGNS.get(change, '?')}{record}" for record, change in entry.records)
                + (f" [by way of {entry.via}]" if entry.via else ""),
                ", ".join(entry.approved_by),
            ]
            for entry in entries
        ],
        whole=["commit", "when", "what"],
    )


@command("why", example="gitmem why user-prefers-tabs")
@click.argument("name")
@at_option
def why(call: Call, name: str, at: str | None) -> None:
    """Explain why a record is believed.

    Its quotes in their messages, who proposed it, every review, who approved it, and when. Then
    the same of the records that it came of, back to the first quotes.
    """
    with call.opened() as store, nullcontext() if at else naming_records(store, name):
        found = store.why(name, at=at)
    if call.json:
        call.output.out.json(found.to_json())
        return
    _show_why(call.output.out, found)


def _show_why(out: Stream, found: Why) -> None:
    show_record(out, found.record)
    out.line()
    out.line(Styled("Because of", "bold"))
    for quote in found.record.evidence:
        _show_in_context(out, quote, found)
    out.line()
    out.line(Styled("History", "bold"))
    for entry in found.history:
        _show_history(out, entry)
    told = {quote.id for quote in found.record.evidence}
    for source in found.sources:
        out.line()
        _show_source(out, source, found, told)


def _show_in_context(out: Stream, quote: Quote, found: Why) -> None:
    show_quotes(out, [quote])
    context = found.contexts.get(quote.id)
    if context is None:
        out.line(Styled(found.missing.get(quote.id, ""), "dim"), indent=4)
    elif context.strip() != quote.quote.strip():
        out.line(Styled("the whole message:", "dim"), indent=4)
        out.block(context, indent=6)


def _show_source(out: Stream, source: Source, found: Why, told: set[str]) -> None:
    """Print a record that came before; of its quotes those that were not ``told`` yet."""
    out.line(Styled("Before: ", "bold"), Styled(source.name, "name"), f", became {source.became}")
    out.line(source.description, indent=2)
    for quote in source.evidence:
        if quote.id not in told:
            told.add(quote.id)
            _show_in_context(out, quote, found)
    for entry in source.history:
        _show_history(out, entry)


def _show_history(out: Stream, entry: HistoryEntry) -> None:
    out.line(Styled(entry.proposal, "name"), f"  {entry.change}, {entry.kind}", indent=2)
    out.line(f"proposed by {entry.proposed_by}", indent=4)
    if entry.session:
        out.line(f"session     {entry.session}", indent=4)
    for draft in entry.earlier:
        which = "first draft" if draft.round == 0 else f"draft {draft.round + 1}"
        out.line(f"{which:<11} {draft.proposal}", indent=4)
        if draft.missing:
            out.line(Styled(f"its reviews: {draft.missing}", "dim"), indent=6)
        _show_reviews(out, draft.reviews, indent=6)
    _show_reviews(out, entry.reviews, indent=4)
    out.line(f"approved by {', '.join(entry.approved_by)}  {entry.approved_at}", indent=4)
    out.line(f"merge       {entry.merge}", indent=4)


def _show_reviews(out: Stream, reviews: Iterable[ReviewView], *, indent: int) -> None:
    for review in reviews:
        by = review.by if review.by == review.reviewer else f"{review.by} ({review.reviewer})"
        reason = f": {review.reason}" if review.reason else ""
        out.line(f"review      {by}: {review.verdict}{reason}  {review.at}", indent=indent)
        show_findings(out, review.findings, indent=indent + 2)


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
@click.option(
    "--all", "every", is_flag=True, help="Also what is expired, not valid yet or superseded."
)
@at_option
def search(call: Call, query: tuple[str, ...], limit: int, every: bool, at: str | None) -> int:
    """Find the records that match a question best.

    What is expired, not valid yet or superseded is left out, and counted on standard error.
    """
    return answer_search(call, " ".join(query), limit, every, at)
