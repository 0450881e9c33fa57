"""Putting a proposal on the newest accepted commit: what becomes of its change and its reviews."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gitmem.domain.kept import Closing
from gitmem.domain.layout import PROPOSALS
from gitmem.domain.policy import in_force
from gitmem.domain.proposal import SHORT_QUOTES
from gitmem.domain.review import CHECKS, Review
from gitmem.domain.verify import Branch, Ground
from gitmem.errors import Refused
from gitmem.repo.worktree import is_checked_out
from gitmem.sessions import SessionFiles
from gitmem.store.carrying import carried_draft, change_on, fitting, targets_of
from gitmem.store.checking import check_draft, checks_review
from gitmem.store.drafting import Draft
from gitmem.store.facts import MAX_REBASES
from gitmem.store.statements import cited_sessions
from gitmem.store.store import Store


def rebase_branch(
    store: Store, sessions: SessionFiles, proposal_id: str, tip: str, now: int
) -> str | None:
    """Put the open proposal that ends at ``tip`` on the newest accepted commit; return its tip.

    None where main holds everything that it says: then it is put aside. One of which a base is
    no accepted commit of main is written anew, with its reviews; so is one that was put on as
    many bases as a branch can have. Reviews stay in force as far
    as the change is the same; where no checks are in force for it, they are made again.

    Raises:
        InvalidInput: its branch breaks a rule.
        Refused: its branch is checked out.
        Busy: it moved.
    """
    if is_checked_out(store.repo, PROPOSALS + proposal_id):
        where = store.repo.shell_word
        raise Refused(
            f"proposals/{proposal_id} is checked out, and would change under the files there",
            hint=f"Leave it first: git -C {where} checkout main --",
        )
    with store.repo.lock():
        head = store.head()
        branch = store.facts.branch(tip, any_base=True)
        ground = store.healed(lambda: store.ledger.ground_for(store.head(), branch))
        targets = fitting(store, ground, branch.proposal, targets_of(branch))
        changes, files = change_on(ground, targets)
        if not changes:
            _put_aside(store, branch, ground, now)
            return None
        draft = carried_draft(store, ground, branch.proposal, targets)
        draft = replace(draft, proposal=replace(draft.proposal, base=head.accepted))
        fresh = _fresh_checks(store, sessions, branch, draft, ground, now)
        is_long = len(branch.bases) > MAX_REBASES  # one more, and it could not be read
        if is_long or not all(store.ledger.is_accepted(base) for base in branch.bases):
            return store.put_anew(branch, draft, (*branch.reviews, *fresh))
        if branch.proposal.base == head.accepted:
            return _with_reviews(store, branch, fresh)
        return store.put_rebase(branch, head.accepted, files, fresh, now)


def _with_reviews(store: Store, branch: Branch, reviews: Sequence[Review]) -> str:
    tip, name = branch.tip, branch.proposal.id
    for review in reviews:
        tip = store.add_review(name, tip, review)
    store.notes.append(f"{name} stands on the newest commit already")
    return tip


def _fresh_checks(
    store: Store, sessions: SessionFiles, branch: Branch, draft: Draft, ground: Ground, now: int
) -> tuple[Review, ...]:
    """Check a proposal again where no checks of this very change are in force."""
    if (CHECKS, CHECKS) in in_force(branch.reviews, draft.proposal, ground.reviewers):
        return ()
    here = cited_sessions(sessions, draft)
    own_words = branch.proposal.kind in SHORT_QUOTES
    findings = check_draft(store, draft, here, own_words=own_words)
    return (checks_review(draft, findings, now),)


def _put_aside(store: Store, branch: Branch, ground: Ground, now: int) -> None:
    proposal = branch.proposal
    reason = f"main says all of it already, as of {ground.commit[:12]}"
    store.keep(branch.tip, Closing(proposal.id, "emptied", now, reason))
    store.notes.append(f"{proposal.id} is put aside: {reason}")
