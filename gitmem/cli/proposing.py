"""Proposals out of conversations and change sets: extract, propose."""

from __future__ import annotations

import click

from gitmem.cli.boundary import DONE
from gitmem.cli.call import Call
from gitmem.cli.dry_run import dry_run_option, show_dry_run
from gitmem.cli.incoming import read_change_set
from gitmem.cli.options import command
from gitmem.cli.output import Stream
from gitmem.cli.progress import shown_progress
from gitmem.cli.reviewing import show_outcome
from gitmem.cli.showing import show_result
from gitmem.errors import Usage
from gitmem.results import ProposalResult, ReviewOutcome


@command("extract", example="gitmem extract conversation.json")
@click.argument("transcript", type=click.Path(), required=False)
@click.option("--queued", is_flag=True, help="Read the turns that wait in the queue instead.")
@click.option("--rules", is_flag=True, help="Let the rules read it, also where a model is set.")
@click.option("--no-review", is_flag=True, help="Leave what a model proposes to a later review.")
@click.option("--format", metavar="NAME", help="The transcript's format (default: recognised).")
@click.option(
    "--again",
    is_flag=True,
    help="Read it from its beginning, whatever was read before: what was proposed once, and is "
    "neither remembered nor open nor rejected now, is proposed again.",
)
@dry_run_option
def extract(
    call: Call,
    transcript: str | None,
    queued: bool,
    rules: bool,
    no_review: bool,
    format: str | None,
    again: bool,
    dry_run: bool,
) -> int:
    """Propose what a conversation says that is worth keeping.

    The proposer model reads it where one is set, rules that need none otherwise; what a model
    proposed, the reviewer model then judges, where one is set.

    TRANSCRIPT is a session file of Claude Code (claude-code), or a JSON array or JSON Lines of
    chat messages (openai). The same conversation again, one that has grown, or a copy that goes
    on elsewhere, yields only what is new. Where that is too little, --again reads it once more.
    """
    if queued:
        if transcript is not None:
            raise Usage("--queued reads the queue; it takes no TRANSCRIPT")
        return _read_queue(call, dry_run=dry_run)
    if transcript is None:
        raise Usage(
            "there is no TRANSCRIPT", hint="Name a conversation's file, or --queued for the queue."
        )
    if transcript == "-":
        raise Usage(
            "a conversation is not read from standard input",
            hint="Save it to a file and name that: the same file again, or grown, gives only what "
            "is new. A file of that name is ./-",
        )
    if dry_run:
        if rules:
            raise Usage("--rules asks no model, so there is nothing to show with --dry-run")
        with call.opened() as store:
            return show_dry_run(call, store.preview_extract(transcript, format=format, again=again))
    with call.opened() as store, shown_progress(call.output) as progress:
        by_model = False if rules else None
        result = store.extract(
            transcript, format=format, again=again, by_model=by_model, progress=progress
        )
        outcome = None if no_review or rules else store.review_drawn(result)
    if call.json:
        reviewed = {"review": outcome.to_json()} if outcome else {}
        call.output.out.json({**result.to_json(), **reviewed})
        return DONE
    _show_counts(call.output.out, transcript, result)
    _show_proposed(call, result, outcome)
    return DONE


def _read_queue(call: Call, *, dry_run: bool) -> int:
    """Work off the queue, what was set aside too: a person asked for it."""
    with call.opened() as store:
        if dry_run:
            return show_dry_run(call, store.preview_queued())
        waiting = len(store.queued())
        done = store.work_off(set_aside=True)
        left = store.queued()
    if call.json:
        call.output.out.json([result.to_json() for result in done])
        return DONE
    for result in done:
        show_result(call.output, result, findings=True)
    what = "1 conversation was" if waiting == 1 else f"{waiting} conversations were"
    call.output.out.line(f"{what} queued; {len(left)} still {'is' if len(left) == 1 else 'are'}.")
    return DONE


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


def _show_proposed(
    call: Call, result: ProposalResult, outcome: ReviewOutcome | None = None
) -> None:
    out = call.output.out
    show_result(call.output, result, findings=True)
    if result.proposal is None:
        out.line(f"Nothing was proposed{_why_nothing(result)}.")
        return
    if outcome is not None:
        show_outcome(out, outcome)
    name, now = (outcome.proposal, outcome.state) if outcome else (result.proposal, result.state)
    if now in ("merged", "rejected", "withdrawn"):
        return
    out.line("next:")
    out.line(f"gitmem diff {name}", indent=2)
    out.line(f"gitmem approve {name}", indent=2)


def _why_nothing(result: ProposalResult) -> str:
    if result.dropped:
        return "; the reasons are above"
    if result.notes:
        return f": {'; '.join(result.notes)}"
    if result.counts and not any(reason.startswith("used") for reason in result.counts):
        return ": no part of it can be used, as counted above"
    return ": nothing in it says what is worth keeping"
