"""What would be asked of models, as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitmem.cli.boundary import DONE
from gitmem.cli.call import Call
from gitmem.cli.output import Styled

if TYPE_CHECKING:
    from gitmem.results import DryRun

dry_run_option = click.option(
    "--dry-run",
    "dry_run",
    is_flag=True,
    help="Print what would be sent to a model; nothing is asked, and nothing written.",
)


def show_dry_run(call: Call, found: DryRun) -> int:
    """Print each first request whole, and what would not be asked."""
    out = call.output.out
    if call.json:
        out.json(found.to_json())
        return DONE
    for question in found.questions:
        size = sum(len(str(message["content"])) for message in question.messages)
        where = f" at {question.endpoint}, {size} characters"
        out.line(Styled(question.role, "bold"), ": ", Styled(question.model, "name"), where)
        for message in question.messages:
            out.line(Styled(str(message["role"]), "dim"), indent=2)
            out.block(str(message["content"]), indent=4)
        tools = ", ".join(tool["function"]["name"] for tool in question.tools)
        if tools:
            out.line(Styled("tools ", "dim"), tools, indent=2)
        out.line()
    for note in found.notes:
        out.line(note)
    out.line(Styled("Nothing was asked, and nothing written.", "dim"))
    return DONE
