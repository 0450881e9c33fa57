"""fsck: verify the ledger."""

from __future__ import annotations

from gitmem.cli.boundary import DONE, REFUSED
from gitmem.cli.call import Call
from gitmem.cli.options import command
from gitmem.cli.output import Styled
from gitmem.cli.progress import shown_progress


@command("fsck", example="gitmem fsck")
def fsck(call: Call) -> int:
    """Verify every commit of the ledger from its parents.

    Ends with 1 when something is not as it should be; nothing is changed.
    """
    with call.opened() as store, shown_progress(call.output) as progress:
        found = store.fsck(progress=progress)
    out = call.output.out
    if call.json:
        out.json(found.to_json())
        return DONE if found.ok else REFUSED
    for problem in found.problems:
        out.line(Styled("problem: ", "bad"), f"{problem.where}: {problem.what}")
        if problem.fix:
            out.line(f"fix: {problem.fix}", indent=2)
    for stray in found.passed_over:
        out.line(f"passed over: {stray.where}: {stray.what}")
    commits = "1 commit" if found.commits == 1 else f"{found.commits} commits"
    if found.ok:
        out.line(Styled("ok", "good"), f": {commits} verified down to genesis")
        return DONE
    out.line(Styled("not ok", "bad"), f": {commits} checked, {len(found.problems)} problems")
    return REFUSED
