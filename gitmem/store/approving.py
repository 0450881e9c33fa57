"""A person's approval: refused before anything is written when it would not be enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from gitmem.domain.evidence import MAX_EVIDENCE_BYTES, Evidence
from gitmem.domain.layout import evidence_path
from gitmem.domain.objects import Identity
from gitmem.domain.policy import Decision
from gitmem.domain.review import PERSON, Finding, Review
from gitmem.domain.structure import check_quotes, check_record
from gitmem.domain.verify import Branch, judge
from gitmem.errors import Refused, Waiting
from gitmem.redaction import find_secrets
from gitmem.store.branches import Judged
from gitmem.store.checking import checks_review
from gitmem.store.drafting import Draft
from gitmem.store.store import Store
from gitmem.store.view_file import restore_view

_NOTHING = "Nothing was written. Look at what is there now, and try again."


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
    with store.repo.lock():
        tip, is_enough = put_approved(store, draft, findings, who, now, author)
        return store.merge(draft.proposal.id, tip) if is_enough else None


def put_approved(
    store: Store, draft: Draft, findings: Sequence[Finding], who: str, now: int, author: Identity
) -> tuple[str, bool]:
    """Write a draft as a proposal that ``who`` has approved; hold the lock from here to its merge.

    Returns the branch's tip, and whether the policy takes that approval for enough.

    Raises:
        InvalidInput: the draft breaks a rule of proposals.
        Refused: a check blocks it, or the policy says no.
        Waiting: main changed what it touches. In each case nothing is written.
    """
    reviews = (checks_review(draft, findings, now), approval_of(draft.proposal.change, who, now))
    branch = branch_of(store, draft, reviews)
    ground = store.healed(lambda: store.ledger.ground_for(store.head(), branch))
    decision = judge(ground, branch)
    if not decision.mergeable and decision.state != "waiting":
        _refuse(draft.proposal.id, decision, is_open=False)
    store.notes += restore_view(store.repo, store.head())
    return store.put_proposal(draft, reviews, author), decision.mergeable


def branch_of(store: Store, draft: Draft, reviews: tuple[Review, ...]) -> Branch:
    """Return the branch that a draft would be, to judge it by before it is written.

    Raises:
        InvalidInput: its structure breaks a rule, so that it could never be merged.
    """
    tree = store.repo.reader.commit(draft.proposal.base).tree
    names = draft.proposal.names
    added: dict[str, Evidence] = {}
    for change in draft.proposal.changes:
        quotes = draft.evidence.get(change.name, {})
        if change.new:
            check_record(change, draft.records[change.name], frozenset(quotes), quotes)
        fresh = quotes.keys() - store.facts.cited(tree, change.name)
        added.update({evidence_path(change.name, oid): quotes[oid] for oid in sorted(fresh)})
    check_quotes(draft.proposal, added)
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
        _refuse(name, decision, is_open=True)


def changed_meanwhile(name: str, done: str) -> Refused:
    """Return the error for a proposal that is not what the person saw; ``done`` is a participle."""
    return Refused(
        f"{name} changed while you were reading it; nothing was {done}",
        hint=f"Run `gitmem diff {name}` and look again.",
    )


def check_earlier(store: Store, branch: Branch) -> None:
    """Check what a merge would bring into history besides the change that was reviewed.

    Raises:
        Refused: before it was put on a newer base, the proposal held a secret.
    """
    for oid in sorted(branch.earlier):
        text = store.repo.reader.blob(oid, max_bytes=MAX_EVIDENCE_BYTES).decode("utf-8", "replace")
        if find_secrets(text):
            raise Refused(
                f"an earlier form of {branch.proposal.id} holds what looks like a secret ({oid})",
                hint="A merge would bring it into history. Reject the proposal, and propose what "
                "it says anew.",
            )


def _refuse(name: str, decision: Decision, *, is_open: bool) -> NoReturn:
    """Say why the proposal ``name`` cannot be approved; one that is not open was never written.

    Raises:
        Waiting: it is stale.
        Refused: anything else.
    """
    why = "; ".join(decision.reasons)
    if decision.state == "stale":
        again = f"Run `gitmem rebase {name}`, and look at it again."
        raise Waiting(f"{name} is stale: {why}", hint=again if is_open else _NOTHING)
    look = f"Look at it with `gitmem diff {name}`, or reject it."
    raise Refused(
        f"{name} cannot be approved ({decision.state}): {why}", hint=look if is_open else _NOTHING
    )
