"""The review queue: proposals, diff, approve, reject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.boundary import DONE, REFUSED, USAGE, WAITING, error_json, report_error
from gitmem.cli.call import Call
from gitmem.cli.options import command, person_option, yes_option
from gitmem.cli.output import Styled
from gitmem.cli.prompting import ask, require_person
from gitmem.cli.showing import effects, show_diff, state
from gitmem.errors import GitmemError, InvalidInput
from gitmem.results import MergeResult, ProposalDiff

if TYPE_CHECKING:
    from gitmem.memory import MemoryStore

# Of several ids, the exit code is the worst.
_GRAVITY = [DONE, WAITING, REFUSED, USAGE]


@command("proposals", example="gitmem proposals")
def proposals(call: Call) -> None:
    """List the proposals that are open."""
    with call.opened() as store:
        found = store.proposals()
    out = call.output.out
    if call.json:
        out.json([proposal.to_json() for proposal in found])
        return
    if not found and out.terminal:
        out.line("No proposal is open.")
        return
    out.table(
        ["id", "kind", "state", "records", "waits for"],
        [
            [
                Styled(proposal.id, "name"),
                proposal.kind,
                state(proposal.state),
                effects(proposal.records),
                "; ".join(proposal.waits_for),
            ]
            for proposal in found
        ],
        whole=["id", "kind", "state"],
    )


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


@command("approve", example="gitmem approve extract-20261130-7f3a2c")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@person_option
@yes_option
def approve(call: Call, ids: tuple[str, ...], person: str | None, yes: bool) -> int:
    """Approve proposals and merge them.

    Each is shown and asked about. What is merged is exactly what was shown: the approval fails
    when the proposal has changed in the meantime.
    """

    def act(store: MemoryStore, shown: ProposalDiff) -> MergeResult:
        return store.approve(shown.summary.id, person=person, expected_change=shown.change)

    return _each(call, ids, yes, "Approve and merge", act, _whole)


@command("reject", example='gitmem reject extract-20261130-7f3a2c --reason "only for this task"')
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", metavar="TEXT", required=True, help="Why; it is kept in the ledger.")
@person_option
@yes_option
def reject(call: Call, ids: tuple[str, ...], reason: str, person: str | None, yes: bool) -> int:
    """Reject proposals, so that they do not come back."""

    def act(store: MemoryStore, shown: ProposalDiff) -> MergeResult:
        return store.reject(shown.summary.id, reason=reason, person=person)

    return _each(call, ids, yes, "Reject", act, _what_can_be_shown)


def _whole(store: MemoryStore, given: str) -> ProposalDiff:
    return store.diff(given)


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
    yes: bool,
    verb: str,
    act: Callable[[MemoryStore, ProposalDiff], MergeResult],
    look: Callable[[MemoryStore, str], ProposalDiff],
) -> int:
    """Decide about each proposal by itself; one that fails does not stop the next."""
    codes, documents = [DONE], []
    with call.opened() as store:
        require_person(store, yes=yes)
        for given in dict.fromkeys(ids):
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
    return max(codes, key=_gravity)


def _gravity(code: int) -> int:
    """How grave an exit code is; one that is not known here is the gravest."""
    return _GRAVITY.index(code) if code in _GRAVITY else len(_GRAVITY)


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
