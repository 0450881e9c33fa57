"""rebase: an open proposal on the newest accepted commit."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote

from gitmem.domain.kept import Closing
from gitmem.domain.layout import PROPOSALS
from gitmem.domain.proposal import SHORT_QUOTES
from gitmem.domain.review import Review
from gitmem.domain.verify import Branch, Ground
from gitmem.errors import Refused
from gitmem.repo.worktree import is_checked_out
from gitmem.results import ProposalResult
from gitmem.sessions import SessionFiles
from gitmem.store import (
    Draft,
    Store,
    check_draft,
    checks_review,
    effects,
    finding_views,
    latest_findings,
    shown_state,
)
from gitmem.store.carrying import (
    carried_draft,
    change_on,
    fitting,
    targets_of,
)
from gitmem.store.statements import cited_sessions


def rebase(store: Store, sessions: SessionFiles, prefix: str, now: int) -> ProposalResult:
    """Put an open proposal on the newest accepted commit.

    One that stood on a commit which main has no more is written anew, with its reviews. What it
    says of a record that main changed meanwhile is said of the new form: that is
    another change, so it is checked again and every review of it is void. Where nothing that
    it touches changed, its reviews stay in force. One that main has overtaken is put aside.

    Raises:
        NotFound: none is open, or several begin so.
        InvalidInput: its branch breaks a rule.
        Refused: its branch is checked out.
    """
    proposal_id, tip = store.find_proposal(prefix)
    if is_checked_out(store.repo, PROPOSALS + proposal_id):
        where = quote(str(store.repo.root or store.repo.git_dir))
        raise Refused(
            f"proposals/{proposal_id} is checked out, and would change under the files there",
            hint=f"Leave it first: git -C {where} checkout main",
        )
    with store.repo.lock():
        head = store.head()
        branch = store.facts.branch(tip, any_base=True)
        ground = store.healed(lambda: store.ledger.ground_for(store.head(), branch))
        targets = fitting(store, ground, branch.proposal, targets_of(branch))
        changes, files = change_on(ground, targets)
        if not changes:
            return _overtaken(store, branch, ground, now)
        is_sound = all(store.ledger.is_accepted(base) for base in branch.bases)
        if branch.proposal.base == head.accepted and is_sound:
            store.notes.append(f"{proposal_id} stands on the newest commit already")
        else:
            draft = carried_draft(store, ground, branch.proposal, targets)
            draft = replace(draft, proposal=replace(draft.proposal, base=head.accepted))
            fresh = _fresh_checks(store, sessions, branch, draft, now)
            if is_sound:
                tip = store.put_rebase(branch, head.accepted, files, fresh, now)
            else:
                tip = store.put_anew(branch, draft, (*branch.reviews, *fresh))
    judged = store.judged_as(proposal_id, tip)
    found = latest_findings(judged.branch.reviews, judged.branch.proposal.change)
    return ProposalResult(
        proposal=proposal_id,
        state=shown_state(judged.decision),
        records=effects(judged.branch.proposal, judged.branch.records),
        findings=finding_views(found),
        dropped=(),
        session=branch.proposal.session,
    )


def _fresh_checks(
    store: Store, sessions: SessionFiles, branch: Branch, draft: Draft, now: int
) -> tuple[Review, ...]:
    """Check a proposal again where it has become another change."""
    if draft.proposal.change == branch.proposal.change:
        return ()
    here = cited_sessions(sessions, draft)
    own_words = branch.proposal.kind in SHORT_QUOTES
    findings = check_draft(store, draft, here, own_words=own_words)
    return (checks_review(draft, findings, now),)


def _overtaken(store: Store, branch: Branch, ground: Ground, now: int) -> ProposalResult:
    """Put a proposal aside of which main holds everything already."""
    proposal = branch.proposal
    reason = f"main says all of it already, as of {ground.commit[:12]}"
    store.keep(branch.tip, Closing(proposal.id, "emptied", now, reason))
    store.notes.append(f"{proposal.id} is put aside: {reason}")
    return ProposalResult(None, "superseded", (), (), (), session=proposal.session)
