"""What a person edited or committed by hand: adopt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from gitmem.cli.boundary import DONE, REFUSED
from gitmem.cli.call import Call
from gitmem.cli.options import command, person_option, yes_option
from gitmem.cli.policy import confirming_policy
from gitmem.cli.prompting import ask, require_person
from gitmem.cli.showing import show_diff, show_result
from gitmem.results import ProposalDiff, ProposalResult

if TYPE_CHECKING:
    from gitmem.memory import MemoryStore

_Shown = TypeVar("_Shown")


@command("adopt", example="gitmem adopt")
@click.argument("commit", required=False)
@person_option
@yes_option
def adopt(call: Call, commit: str | None, person: str | None, yes: bool) -> int:
    """Propose what you edited in the store's files, or committed by hand.

    It takes records that you changed, added or deleted with an editor or with git, and changes no
    file. COMMIT is the id of a stray commit, or its beginning: for one that a merge has passed
    over. A changed policy.yaml is decided about at once.
    """
    with call.opened() as store:
        result = store.adopt(
            commit,
            person=person,
            confirm=_once_asked(store, yes, _confirming(call, yes)),
            confirm_policy=_once_asked(store, yes, confirming_policy(call, yes)),
        )
    return _finish(call, result)


def _once_asked(
    store: MemoryStore, yes: bool, confirm: Callable[[_Shown], bool]
) -> Callable[[_Shown], bool]:
    """Refuse where nobody can be asked, but only once there is something to ask about."""

    def asking(shown: _Shown) -> bool:
        require_person(store, yes=yes)
        return confirm(shown)

    return asking


def _confirming(call: Call, yes: bool) -> Callable[[ProposalDiff], bool]:
    """Show what will be proposed, and ask unless the person said yes beforehand."""

    def confirm(diff: ProposalDiff) -> bool:
        if not (yes and call.json):
            stream = call.output.out if yes else call.output.shown
            show_diff(stream, diff, store=None)
            stream.line()
        return yes or ask(call.output, "Propose this?")

    return confirm


def _finish(call: Call, result: ProposalResult) -> int:
    """Print what came of it: 0 unless something could not be adopted, or the answer was no."""
    out = call.output.out
    if call.json:
        out.json(result.to_json())
    elif result.state == "declined":
        show_result(call.output, result, findings=False)
        out.line("Nothing was proposed.")
    else:
        show_result(call.output, result, findings=False)
        if result.proposal is not None:
            out.line("It waits for your approval. next:")
            out.line(f"gitmem approve {result.proposal}", indent=2)
        elif result.state == "nothing":
            out.line("Nothing to adopt.")
    return REFUSED if result.dropped or result.state == "declined" else DONE
