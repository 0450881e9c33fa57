"""Proposals out of conversations and change sets: extract, propose."""

from __future__ import annotations

import click

from gitmem.cli.call import Call
from gitmem.cli.incoming import read_change_set
from gitmem.cli.options import command
from gitmem.cli.output import Stream
from gitmem.cli.progress import shown_progress
from gitmem.cli.showing import show_result
from gitmem.errors import Usage
from gitmem.results import ProposalResult


@command("extract", example="gitmem extract conversation.json")
@click.argument("transcript", type=click.Path())
@click.option("--format", metavar="NAME", help="The transcript's format (default: recognised).")
@click.option(
    "--again",
    is_flag=True,
    help="Read it from its beginning, whatever was read before: what was proposed once, and is "
    "neither remembered nor open nor rejected now, is proposed again.",
)
def extract(call: Call, transcript: str, format: str | None, again: bool) -> None:
    """Propose what a conversation says that is worth keeping.

    TRANSCRIPT is a session file of Claude Code (claude-code), or a JSON array or JSON Lines of
    chat messages (openai). The same conversation again, one that has grown, or a copy that goes
    on elsewhere, yields only what is new. Where that is too little, --again reads it once more.
    """
    if transcript == "-":
        raise Usage(
            "a conversation is not read from standard input",
            hint="Save it to a file and name that: the same file again, or grown, gives only what "
            "is new. A file of that name is ./-",
        )
    with call.opened() as store, shown_progress(call.output) as progress:
        result = store.extract(transcript, format=format, again=again, progress=progress)
    if call.json:
        call.output.out.json(result.to_json())
        return
    _show_counts(call.output.out, transcript, result)
    _show_proposed(call, result)


@command("propose", example="gitmem propose changes.json")
@click.argument("file", type=click.Path())
def propose(call: Call, file: str) -> None:
    """Propose a change set written as JSON.

    FILE is a JSON object with kind, session or messages, records and retire; - reads standard
    input.
    """
    change_set = read_change_set(file)
    with call.opened() as store:
        result = store.propose(change_set)
    if call.json:
        call.output.out.json(result.to_json())
        return
    _show_proposed(call, result)


def _show_counts(out: Stream, transcript: str, result: ProposalResult) -> None:
    """What became of every part of the conversation; the lines add up to the first."""
    total = sum(result.counts.values())
    session = f", session {result.session}" if result.session else ""
    out.line(f"{transcript}: {total} {'part' if total == 1 else 'parts'}{session}")
    width = len(str(total))
    for reason, count in result.counts.items():
        out.line(f"{count:>{width}}  {reason}", indent=2)


def _show_proposed(call: Call, result: ProposalResult) -> None:
    out = call.output.out
    show_result(call.output, result, findings=True)
    if result.proposal is None:
        out.line(f"Nothing was proposed{_why_nothing(result)}.")
        return
    out.line("next:")
    out.line(f"gitmem diff {result.proposal}", indent=2)
    if result.state != "merged":
        out.line(f"gitmem approve {result.proposal}", indent=2)


def _why_nothing(result: ProposalResult) -> str:
    if result.dropped:
        return "; the reasons are above"
    if result.notes:
        return f": {'; '.join(result.notes)}"
    if result.counts and not any(reason.startswith("used") for reason in result.counts):
        return ": no part of it can be used, as counted above"
    return ": nothing in it says what is worth keeping"
