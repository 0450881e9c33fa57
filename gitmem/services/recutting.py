"""A draft that reviewers want changed goes back to its proposer, which answers with a new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.domain.kept import Closing
from gitmem.domain.model_answers import ITEMS_SCHEMA, read_items
from gitmem.domain.proposal_item import Item
from gitmem.domain.review import Review
from gitmem.domain.session import Session
from gitmem.domain.text import one_line
from gitmem.errors import InvalidInput, ModelFailed, NotFound
from gitmem.llm import Budget, ModelClient, ask
from gitmem.resources import prompt
from gitmem.results import ProposalDiff
from gitmem.sessions import SessionFiles
from gitmem.store import Judged, Store, judged_diff
from gitmem.store.review_data import said

#: Messages before and after a quoted one that the proposer sees again.
AROUND = 4

Check = Callable[[Sequence[Item]], object]


@dataclass(frozen=True, slots=True)
class Recut:
    """What the proposer answers to the findings: the session, items, and who it was."""

    session: Session
    items: tuple[Item, ...]
    who: str
    round: int
    attested: str


def wants_recut(judged: Judged) -> bool:
    """Whether a model proposed this, reviewers ask for changes, and the policy allows a round."""
    proposal, policy = judged.branch.proposal, judged.ground.policy
    return (
        judged.decision.state == "changes_requested"
        and proposal.kind == "extract"
        and proposal.proposed_by.startswith("model:")
        and not any(review.by_person for review in judged.branch.reviews)
        and proposal.round < policy.rounds
    )


def recut(
    store: Store,
    sessions: SessionFiles,
    judged: Judged,
    client: ModelClient,
    budget: Budget,
    nonce: str,
    check: Check,
) -> Recut:
    """Ask the proposer to answer the findings on its draft.

    Raises:
        NotFound: the session is not on this machine.
        ModelFailed: no usable answer; the draft stays as it is.
    """
    proposal = judged.branch.proposal
    session = sessions.load(proposal.session or "")
    if session is None:
        raise NotFound(f"the session of {proposal.id} is not on this machine")
    diff = judged_diff(store, judged, sessions)
    asked = ask(
        client,
        role="proposer",
        prompt=f"{prompt('proposer')}\n{prompt('recut')}",
        data={
            "draft": _draft(diff),
            "findings": _findings(judged.branch.reviews, proposal.change),
            "messages": _messages(session, diff),
            "names": sorted({row.name for row in store.projection.records()}),
            "related": [],
        },
        read=lambda text: _checked(text, check),
        budget=budget,
        nonce=nonce,
        schema=ITEMS_SCHEMA,
    )
    if not asked.model:
        raise ModelFailed("the proposer's endpoint does not say which model answered")
    attested = proposal.attested or session.attested
    return Recut(session, asked.value, asked.who, proposal.round + 1, attested)


def answered_by(store: Store, proposal_id: str) -> str | None:
    """Return the open proposal that answers the findings on this one, None where none does."""
    for name, tip in store.open_proposals().items():
        try:
            if store.facts.branch(tip).proposal.follows == proposal_id:
                return name
        except InvalidInput:
            continue  # `gitmem proposals` says so
    return None


def put_aside(store: Store, judged: Judged, by: str | None, now: int) -> None:
    """Keep a draft aside that ``by``, the id of another one, takes the place of; None where its
    proposer withdrew it.

    Raises:
        Refused: it changed meanwhile.
        NotFound: it is not open any more.
    """
    proposal, tip = judged.branch.proposal, judged.branch.tip
    number = proposal.round + 1
    why = f"answered in round {number}" if by else f"withdrawn by its proposer in round {number}"
    with store.repo.lock():
        store.check_unmoved(proposal.id, tip)
        store.keep(tip, Closing(proposal.id, "superseded", now, why, by or proposal.proposed_by))


def _checked(text: str, check: Check) -> tuple[Item, ...]:
    items = read_items(text)
    check(items)
    return items


def _draft(diff: ProposalDiff) -> list[dict[str, Any]]:
    return [
        {
            "name": record.name,
            "file": record.after,
            "evidence": [{"message": q.message, "quote": q.quote} for q in record.quotes],
        }
        for record in diff.records
    ]


def _findings(reviews: Sequence[Review], change: str) -> list[dict[str, Any]]:
    return [
        {"reviewer": review.reviewer, "record": f.record, "line": f.line, "text": one_line(f.text)}
        for review in reviews
        if review.change == change and review.verdict == "request_changes"
        for f in review.findings
    ]


def _messages(session: Session, diff: ProposalDiff) -> list[dict[str, Any]]:
    quoted = {
        quote.message
        for record in diff.records
        for quote in record.quotes
        if quote.session == session.id
    }
    near = {
        index
        for message in quoted
        for index in range(max(0, message - AROUND), message + AROUND + 1)
    }
    found = (session.message(index) for index in sorted(near))
    return [said(message) for message in found if message is not None]
