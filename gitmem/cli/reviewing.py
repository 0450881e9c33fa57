"""Reviews by models, and what a turn would get: review, select."""

from __future__ import annotations

import click

from gitmem.cli.boundary import DONE, WAITING
from gitmem.cli.call import Call
from gitmem.cli.dry_run import dry_run_option, show_dry_run
from gitmem.cli.options import command
from gitmem.cli.output import Stream, Styled
from gitmem.cli.showing import show_findings, state
from gitmem.results import ReviewOutcome

_STYLES = {"approve": "good", "reject": "bad"}


@command("review", example="gitmem review extract-2026")
@click.argument("proposal", metavar="ID")
@click.option("--try", "reviewer", metavar="NAME", help="Let one reviewer judge, and keep nothing.")
@dry_run_option
def review(call: Call, proposal: str, reviewer: str | None, dry_run: bool) -> int:
    """Let the reviewer model judge a proposal.

    ID may be the beginning of an id. Each reviewer of the store judges it by its rubric; what
    they find is kept on the branch, and the policy decides. A model that is no other than the
    proposer's judges nothing.
    """
    with call.opened() as store:
        if dry_run:
            return show_dry_run(call, store.preview_review(proposal, only=reviewer))
        outcome = store.review(proposal, only=reviewer)
    if call.json:
        call.output.out.json(outcome.to_json())
    else:
        show_outcome(call.output.out, outcome, tried=reviewer is not None)
    done = outcome.state in ("merged", "rejected", "withdrawn") or reviewer is not None
    return DONE if done else WAITING


def show_outcome(out: Stream, outcome: ReviewOutcome, *, tried: bool = False) -> None:
    """What each reviewer said, and what became of the proposal; ``tried``: nothing was kept."""
    for found in outcome.reviews:
        verdict = Styled(found.verdict.replace("_", " "), _STYLES.get(found.verdict, "warn"))
        reason = f": {found.reason}" if found.reason else ""
        out.line(Styled(found.reviewer, "name"), f" ({found.by}): ", verdict, reason)
        show_findings(out, found.findings)
    if not outcome.reviews:
        out.line("Every reviewer has judged it already.")
    if tried:
        out.line(Styled("Nothing of this was kept.", "dim"))
        return
    out.line(Styled(outcome.proposal, "bold"), ": ", state(outcome.state))
    for reason in outcome.waits_for if outcome.merge is None else ():
        out.line(reason, indent=2)
    if outcome.tokens:
        out.line(Styled(f"{outcome.tokens} tokens", "dim"), indent=2)


@command("select", example='gitmem select "which indentation"')
@click.argument("query", nargs=-1, required=True)
@dry_run_option
def select(call: Call, query: tuple[str, ...], dry_run: bool) -> int:
    """Print the memories that a turn with this query would get.

    They are printed as the block that goes into a request.
    The selector model chooses where one is set; where it fails, the ranking does.
    """
    with call.opened() as store:
        if dry_run:
            return show_dry_run(call, store.preview_select(" ".join(query)))
        found = store.select(" ".join(query))
    if call.json:
        call.output.out.json(found.to_json())
        return DONE
    if found.degraded:
        call.output.note(f"the ranking chose instead: {found.reason}")
    if found.left_out:
        call.output.note(f"no room was left for {', '.join(found.left_out)}")
    call.output.out.block(found.block or "Nothing that is remembered fits.")
    return DONE
