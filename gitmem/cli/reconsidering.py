"""Changing one's mind: rebase, revert, reopen."""

from __future__ import annotations

import click

from gitmem.cli.boundary import DONE, REFUSED, WAITING
from gitmem.cli.call import Call
from gitmem.cli.options import command, person_option, yes_option
from gitmem.cli.prompting import ask, require_person
from gitmem.cli.showing import show_diff, show_result
from gitmem.results import ProposalDiff, ProposalResult


@command("rebase", example="gitmem rebase extract-20261130-7f3a2c")
@click.argument("proposal", metavar="ID")
def rebase(call: Call, proposal: str) -> int:
    """Put a stale proposal on the newest commit of main.

    What it says of a record that changed meanwhile becomes a change of the new form, which
    needs a new review; reviews of all else stay in force. One that main has overtaken is put
    aside.
    """
    with call.opened() as store:
        result = store.rebase(proposal)
    _show(call, result)
    return DONE


@command("revert", example="gitmem revert extract-20261130-7f3a2c")
@click.argument("merge", metavar="ID")
@person_option
@yes_option
def revert(call: Call, merge: str, person: str | None, yes: bool) -> int:
    """Undo a merge by a new one; what was changed after it is kept.

    ID is the merged proposal's id or the merge's commit, or the beginning of one; `gitmem log`
    lists them. A record that was changed again in the same place is left as it is, and named.
    """

    def confirm(diff: ProposalDiff) -> bool:
        if not (yes and call.json):
            stream = call.output.out if yes else call.output.shown
            show_diff(stream, diff, store=None)
            stream.line()
        return yes or ask(call.output, f"Undo {merge}?")

    with call.opened() as store:
        require_person(store, yes=yes)
        result = store.revert(merge, person=person, confirm=confirm)
    if result.state == "declined" and not call.json:
        call.output.out.line("Nothing was changed.")
        return REFUSED
    _show(call, result)
    if result.state == "declined":
        return REFUSED
    return DONE if result.state == "merged" else WAITING


@command("reopen", example="gitmem reopen extract-20261130-7f3a2c")
@click.argument("proposal", metavar="ID")
def reopen(call: Call, proposal: str) -> int:
    """Propose again what was put aside.

    `gitmem proposals --kept` lists what there is. What was rejected is proposed under a new id,
    and needs a person's approval.
    """
    with call.opened() as store:
        result = store.reopen(proposal)
    _show(call, result)
    return DONE


def _show(call: Call, result: ProposalResult) -> None:
    if call.json:
        call.output.out.json(result.to_json())
    elif result.proposal is not None:
        show_result(call.output, result, findings=True)
