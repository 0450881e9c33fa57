"""A person's approval: refused before anything is written when it would not be enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from gitmem.domain.objects import Identity
from gitmem.domain.policy import Decision
from gitmem.domain.review import PERSON, Finding, Review
from gitmem.domain.verify import Branch, judge
from gitmem.errors import Refused, Waiting
from gitmem.store.branches import Judged
from gitmem.store.checking import checks_review
from gitmem.store.drafting import Draft
from gitmem.store.store import Store
from gitmem.store.view_file import restore_view


def approval_of(change: str, who: str, now: int) -> Review:
    """Return the approval of ``change`` by ``who``, which is ``human:Name <address>``."""
    return Review(
        by=who,
        reviewer=PERSON,
        verdict="approve",
        change=change,
        rubric=None,
        findings=(),
        at=now,
    )


def merge_approved(
    store: Store, draft: Draft, findings: Sequence[Finding], who: str, now: int, author: Identity
) -> str | None:
    """Write a draft as a proposal that ``who`` has approved, and merge it; return the merge.

    None where the policy wants another person too: the proposal then waits for that one.

    Raises:
        Refused: a check blocks it; nothing is written then.
        Waiting: main changed what it touches; nothing is written then.
    """
    reviews = (checks_review(draft, findings, now), approval_of(draft.proposal.change, who, now))
    with store.repo.lock():
        branch = branch_of(store, draft, reviews)
        ground = store.healed(lambda: store.ledger.ground_for(store.head(), branch))
        decision = judge(ground, branch)
        if not decision.mergeable and decision.state != "waiting":
            refuse(branch.proposal.id, decision)
        store.notes += restore_view(store.repo)
        tip = store.put_proposal(draft, reviews, author)
        return store.merge(draft.proposal.id, tip) if decision.mergeable else None


def branch_of(store: Store, draft: Draft, reviews: tuple[Review, ...]) -> Branch:
    """Return the branch that a draft would be, to judge it by before it is written."""
    tree = store.repo.reader.commit(draft.proposal.base).tree
    names = draft.proposal.names
    return Branch(
        tip=draft.proposal.base,
        proposal=draft.proposal,
        reviews=reviews,
        records=draft.records,
        evidence={name: frozenset(draft.evidence.get(name, ())) for name in names},
        base_records={name: store.facts.record_at(tree, name) for name in names},
    )


def check_would_do(judged: Judged, approval: Review) -> None:
    """Check that the proposal could be merged with this approval.

    Raises:
        Refused: a check blocks it, it was decided before, or the policy wants somebody else.
        Waiting: it is stale.
    """
    branch: Branch = replace(judged.branch, reviews=(*judged.branch.reviews, approval))
    name = branch.proposal.id
    if judged.ground.decided:
        raise Refused(f"{name} was already {judged.ground.decided}")
    decision = judge(judged.ground, branch)
    if not decision.mergeable:
        refuse(name, decision)


def refuse(name: str, decision: Decision) -> NoReturn:
    """Say why the proposal ``name`` cannot be approved.

    Raises:
        Waiting: it is stale.
        Refused: anything else.
    """
    why = "; ".join(decision.reasons)
    if decision.state == "stale":
        raise Waiting(
            f"{name} is stale: {why}",
            hint=f"Run `gitmem rebase {name}`, and look at it again.",
        )
    raise Refused(
        f"{name} cannot be approved ({decision.state}): {why}",
        hint=f"Look at it with `gitmem diff {name}`, or reject it.",
    )
