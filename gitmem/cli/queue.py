"""The review queue: proposals, diff, approve, reject."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.boundary import DONE, REFUSED, error_json, gravest, report_error
from gitmem.cli.call import Call
from gitmem.cli.options import command, person_option, yes_option
from gitmem.cli.output import Piece, Styled
from gitmem.cli.prompting import ask, require_person
from gitmem.cli.showing import effects, show_diff, state
from gitmem.errors import GitmemError, InvalidInput, NotFound
from gitmem.results import KeptProposal, MergeResult, ProposalDiff, ProposalSummary

if TYPE_CHECKING:
    from gitmem.memory import MemoryStore


SHOWN = 100
"""Proposals that are read and listed unless all are wanted."""


@command("proposals", example="gitmem proposals")
@click.option("--kept", is_flag=True, help="Those that were put aside on this machine instead.")
@click.option("--all", "every", is_flag=True, help=f"All, not only the first {SHOWN}.")
def proposals(call: Call, kept: bool, every: bool) -> None:
    """List the proposals that are open.

    Of very many the first are listed; with --json it is always all.

    A proposal that was rejected, or of which a part was approved, is kept for 90 days.
    """
    with call.opened() as store:
        if kept:
            _list_kept(call, store.kept())
        else:
            _list_open(call, store.proposals(limit=None if every or call.json else SHOWN))


def _list_open(call: Call, found: Sequence[ProposalSummary]) -> None:
    rows: list[list[Piece]] = [
        [
            Styled(proposal.id, "name"),
            proposal.kind,
            state(proposal.state),
            effects(proposal.records),
            "; ".join(proposal.waits_for),
        ]
        for proposal in found
    ]
    head = ["id", "kind", "state", "records", "waits for"]
    _list(call, found, "No proposal is open.", head, rows, whole=["id", "kind", "state"])


def _list_kept(call: Call, found: Sequence[KeptProposal]) -> None:
    rows: list[list[Piece]] = [
        [
            Styled(proposal.id, "name"),
            state(proposal.state),
            effects(proposal.records),
            _why_kept(proposal),
            Styled(proposal.kept_at, "dim"),
        ]
        for proposal in found
    ]
    head = ["id", "state", "records", "why", "kept"]
    _list(call, found, "Nothing is kept aside.", head, rows, whole=["id", "state", "kept"])


def _why_kept(kept: KeptProposal) -> str:
    """Why it was put aside; of a draft that was sent back, with what was found in it."""
    found = [
        f"{review.reviewer}: {finding.text}"
        for review in kept.reviews
        if review.verdict == "request_changes"
        for finding in review.findings
    ]
    return "; ".join([kept.reason, *found] if kept.reason else found)


def _list(
    call: Call,
    found: Sequence[ProposalSummary | KeptProposal],
    nothing: str,
    head: list[str],
    rows: list[list[Piece]],
    whole: list[str],
) -> None:
    out = call.output.out
    if call.json:
        out.json([proposal.to_json() for proposal in found])
    elif not found and out.terminal:
        out.line(nothing)
    else:
        out.table(head, rows, whole=whole)


@command("diff", example="gitmem diff extract-20261130-7f3a2c")
@click.argument("proposal", metavar="ID")
@click.option("--patch", is_flag=True, help="Show git's own unified difference instead.")
def diff(call: Call, proposal: str, patch: bool) -> None:
    """Show what a proposal changes, with its quotes.

    ID may be the beginning of an id, as long as only one begins with it.
    """
    with call.opened() as store:
        if patch:
            _show_patch(call, store.patch(proposal))
            return
        found = store.diff(proposal)
        path = store.path
    if call.json:
        call.output.out.json(found.to_json())
        return
    show_diff(call.output.out, found, store=path)


def _show_patch(call: Call, patch: str) -> None:
    if call.json:
        call.output.out.json({"patch": patch})
        return
    styles = {"+": "good", "-": "bad"}
    for line in patch.rstrip("\n").split("\n"):
        style = styles.get(line[:1])
        call.output.out.line(Styled(line, style) if style else line)


@command("approve", example="gitmem approve extract-20261130-7f3a2c --only prefers-tabs")
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--only", metavar="NAME", multiple=True, help="Approve this record of it alone.")
@click.option("--edit", is_flag=True, help="Open the texts in $VISUAL or $EDITOR first.")
@click.option("--all", "every", is_flag=True, help="Every open proposal.")
@person_option
@yes_option
def approve(
    call: Call,
    ids: tuple[str, ...],
    only: tuple[str, ...],
    edit: bool,
    every: bool,
    person: str | None,
    yes: bool,
) -> int:
    """Approve proposals and merge them.

    Each is shown and asked about. What is merged is exactly what was shown: the approval fails
    when the proposal has changed in the meantime. With --only, the rest of the proposal is put
    aside (`gitmem proposals --kept`). With --edit, delete a block to reject that record, and
    change a text to approve it in your own words.
    """
    _check_ids(ids, every)
    if only and (edit or every or len(ids) != 1):
        raise click.UsageError("--only goes with one ID, and without --edit and --all.")
    if edit:
        from gitmem.cli.batch_approval import approve_in_editor

        return approve_in_editor(call, ids, every, person, yes)

    def act(store: MemoryStore, shown: ProposalDiff) -> MergeResult:
        name, change = shown.summary.id, shown.change
        if only:
            return store.approve_part(name, only=only, person=person, expected_change=change)
        return store.approve(name, person=person, expected_change=change)

    def look(store: MemoryStore, given: str) -> ProposalDiff:
        return part_of(store.diff(given), only) if only else store.diff(given)

    return _each(call, ids, every, yes, "Approve and merge", act, look)


@command("reject", example='gitmem reject extract-20261130-7f3a2c --reason "only for this task"')
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--reason", metavar="TEXT", required=True, help="Why; it is kept in the ledger.")
@click.option("--all", "every", is_flag=True, help="Every open proposal.")
@person_option
@yes_option
def reject(
    call: Call, ids: tuple[str, ...], reason: str, every: bool, person: str | None, yes: bool
) -> int:
    """Reject proposals, so that they do not come back.

    A rejected proposal stays on this machine for 90 days: `gitmem proposals --kept` lists it,
    and `gitmem reopen ID` proposes it again.
    """
    _check_ids(ids, every)

    def act(store: MemoryStore, shown: ProposalDiff) -> MergeResult:
        # Of one that cannot be read nothing was shown that could have changed.
        change = shown.change or None
        return store.reject(shown.summary.id, reason=reason, person=person, expected_change=change)

    return _each(call, ids, every, yes, "Reject", act, _what_can_be_shown)


def _check_ids(ids: Sequence[str], every: bool) -> None:
    if bool(ids) == every:
        raise click.UsageError("give either the ID of a proposal or --all.")


def part_of(shown: ProposalDiff, only: Collection[str]) -> ProposalDiff:
    """Return a proposal as it is shown with these records alone.

    Raises:
        NotFound: it does not touch one of them.
    """
    names = [record.name for record in shown.records]
    unknown = sorted(set(only) - set(names))
    if unknown:
        raise NotFound(
            f"{shown.summary.id} does not touch {unknown[0]}",
            hint=f"It touches: {', '.join(names)}",
        )
    return replace(shown, records=tuple(record for record in shown.records if record.name in only))


def _what_can_be_shown(store: MemoryStore, given: str) -> ProposalDiff:
    """A proposal; of one that cannot be read, only why: rejecting it needs no more."""
    try:
        return store.diff(given)
    except InvalidInput:
        unreadable = [
            summary
            for summary in store.proposals()
            if summary.id.startswith(given)
            and any(finding.code == "unreadable" for finding in summary.findings)
        ]
        exact = [summary for summary in unreadable if summary.id == given]
        if len(exact or unreadable) != 1:
            raise
        return ProposalDiff((exact or unreadable)[0], "", (), {})


def _each(
    call: Call,
    ids: Sequence[str],
    every: bool,
    yes: bool,
    verb: str,
    act: Callable[[MemoryStore, ProposalDiff], MergeResult],
    look: Callable[[MemoryStore, str], ProposalDiff],
) -> int:
    """Decide about each proposal by itself; one that fails does not stop the next."""
    codes, documents = [DONE], []
    with call.opened() as store:
        require_person(store, yes=yes)
        wanted = list(store.proposal_ids()) if every else ids
        if not wanted and not call.json:
            call.output.out.line("No proposal is open.")
        for given in dict.fromkeys(wanted):
            try:
                shown = look(store, given)
                code, document = _decide(call, store, shown, yes, verb, act)
            except GitmemError as error:
                if call.debug:
                    raise
                code = error.exit_code
                document = {
                    "proposal": given,
                    "state": "failed",
                    **error_json(error.message, error.hint, code),
                }
                if not call.json:
                    report_error(call.output, error)
            codes.append(code)
            documents.append(document)
    if call.json:
        call.output.out.json(documents)
    return gravest(codes)


def _decide(
    call: Call,
    store: MemoryStore,
    shown: ProposalDiff,
    yes: bool,
    verb: str,
    act: Callable[[MemoryStore, ProposalDiff], MergeResult],
) -> tuple[int, dict[str, Any]]:
    name = shown.summary.id
    if not yes:
        show_diff(call.output.shown, shown, store=store.path)
        if not ask(call.output, f"{verb} {name}?"):
            call.output.shown.line(f"{name}: nothing was done")
            return REFUSED, {"proposal": name, "state": "declined"}
    elif not call.json:
        show_diff(call.output.out, shown, store=store.path)
        call.output.out.line()
    done = act(store, shown)
    if not call.json:
        call.output.out.line(Styled(done.proposal, "bold"), ": ", state(done.state))
        if done.commit:
            call.output.out.line(Styled(f"commit {done.commit}", "dim"), indent=2)
    call.output.notes(done.notes)
    return DONE, done.to_json()
