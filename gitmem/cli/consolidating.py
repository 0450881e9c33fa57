"""Tidying a memory: consolidate."""

from __future__ import annotations

import click

from gitmem.cli.boundary import DONE
from gitmem.cli.call import Call
from gitmem.cli.dry_run import dry_run_option, show_dry_run
from gitmem.cli.options import command
from gitmem.cli.showing import show_result


@command("consolidate", example="gitmem consolidate --now")
@click.option("--now", is_flag=True, help="Do it now, whether it is due or not.")
@dry_run_option
def consolidate(call: Call, now: bool, dry_run: bool) -> int:
    """Let the consolidator model tidy the memory, and propose what it makes of it.

    It is due when 10 records changed and 5 conversations were seen since the last time, that is a
    day ago, and nobody looked in the last 10 minutes. What it proposes waits for a person.
    """
    with call.opened() as store:
        if dry_run:
            return show_dry_run(call, store.preview_consolidate(now=now))
        result = store.consolidate(now=now)
    out = call.output.out
    if call.json:
        out.json(result.to_json())
        return DONE
    show_result(call.output, result, findings=True)
    if result.proposal is None:
        out.line("There is nothing to tidy.")
    else:
        out.line("next:")
        out.line(f"gitmem diff {result.proposal}", indent=2)
    return DONE
