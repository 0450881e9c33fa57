"""fsck: verify the ledger."""

from __future__ import annotations

import click

from gitmem.cli.boundary import DONE, REFUSED
from gitmem.cli.call import Call
from gitmem.cli.options import command
from gitmem.cli.output import Styled
from gitmem.cli.progress import shown_progress


@command("fsck", example="gitmem fsck --repair")
@click.option("--repair", is_flag=True, help="First put right what can be without any loss.")
def fsck(call: Call, repair: bool) -> int:
    """Verify every commit of the ledger from its parents.

    Ends with 1 when something is not as it should be; without --repair nothing is changed.
    --repair takes strays off main, moves main forward again where it was set back, and rebuilds
    files, view and projection; whatever it takes out of its place is kept, and named.
    """
    with call.opened() as store, shown_progress(call.output) as progress:
        found = store.fsck(repair=repair, progress=progress)
    out = call.output.out
    if call.json:
        out.json(found.to_json())
        return DONE if found.ok else REFUSED
    for sentence in found.repaired:
        out.line(Styled("repaired: ", "good"), sentence)
    for problem in found.problems:
        out.line(Styled("problem: ", "bad"), f"{problem.where}: {problem.what}")
        if problem.fix:
            out.line(f"fix: {problem.fix}", indent=2)
    for stray in found.passed_over:
        out.line(f"passed over: {stray.where}: {stray.what}")
        if stray.fix:
            out.line(f"fix: {stray.fix}", indent=2)
    for warning in found.warnings:
        out.line(Styled("warning: ", "warn"), warning)
    commits = "1 commit" if found.commits == 1 else f"{found.commits} commits"
    if found.ok:
        out.line(Styled("ok", "good"), f": {commits} verified down to genesis")
        return DONE
    count = len(found.problems)
    counted = "1 problem" if count == 1 else f"{count} problems"
    out.line(Styled("not ok", "bad"), f": {commits} checked, {counted}")
    return REFUSED
