"""What was put aside: looked at, proposed again, let go after a while."""

from __future__ import annotations

from dataclasses import replace

from gitmem.domain.proposal import SHORT_QUOTES, is_proposal_id
from gitmem.domain.verify import Branch
from gitmem.errors import GitmemError, InvalidInput, NotFound
from gitmem.results import KeptProposal, ProposalResult
from gitmem.sessions import SessionFiles
from gitmem.store import (
    Origin,
    Store,
    check_draft,
    checks_review,
    effects,
    finding_views,
    latest_findings,
    proposal_id,
    review_view,
    shown_state,
)
from gitmem.store.branches import proposer_identity
from gitmem.store.carrying import carried_draft, fitting, targets_of
from gitmem.store.fresh_id import with_fresh_id
from gitmem.store.keeping import KeptBranch
from gitmem.store.statements import cited_sessions


def kept_proposals(store: Store) -> list[KeptProposal]:
    """Return what is kept aside on this machine, the newest first."""
    store.head()
    return [_shown(store, kept) for kept in store.kept()]


def _shown(store: Store, kept: KeptBranch) -> KeptProposal:
    closing = kept.closing
    branch: Branch | None = None
    problem = ""
    try:
        branch = store.facts.branch(kept.tip, any_base=True)
    except GitmemError as error:
        problem = error.message
    reviews = branch.reviews if branch else ()
    return KeptProposal(
        id=kept.name,
        kind=branch.proposal.kind if branch else "",
        state=closing.state if closing else "kept",
        reason=(closing.reason if closing else "") or problem,
        by=closing.by if closing else "",
        kept_at=kept.at,
        records=effects(branch.proposal, branch.records) if branch else (),
        reviews=tuple(review_view(review) for review in reviews),
        follows=branch.proposal.follows if branch else None,
        round=branch.proposal.round if branch else 0,
    )


def reopen(
    store: Store, sessions: SessionFiles, prefix: str, now: int, nonce: str
) -> ProposalResult:
    """Propose again what was put aside.

    A proposal that main never decided gets its branch back, reviews and all. What main decided
    stays decided: the same change is then proposed under a new id, on the newest accepted
    commit, and is checked anew.

    Raises:
        NotFound: nothing, or several, are kept under such a name.
        InvalidInput: what is kept is no proposal that could be read.
        Refused: it is open.
    """
    kept = store.find_kept(prefix)
    store.head()
    branch = _readable(store, kept)
    old = branch.proposal
    if store.projection.decided(old.id) is None:
        store.put_back(kept, old.id)
        tip, name = kept.tip, old.id
    else:
        with store.repo.lock():
            origin = Origin(old.kind, old.proposed_by, old.session, old.attested, nonce, now)
            name, tip = _proposed_anew(store, sessions, branch, origin)
        if not tip:
            store.notes.append(f"main says all of {old.id} already; nothing is proposed")
            return ProposalResult(None, "nothing", (), (), (), session=old.session)
        store.notes.append(f"{old.id} was {store.projection.decided(old.id)}; this is {name}")
    found = store.facts.branch(tip, any_base=True)
    return ProposalResult(
        proposal=name,
        state=_state(store, name, tip),
        records=effects(found.proposal, found.records),
        findings=finding_views(latest_findings(found.reviews, found.proposal.change)),
        dropped=(),
        session=old.session,
    )


def _readable(store: Store, kept: KeptBranch) -> Branch:
    try:
        branch = store.facts.branch(kept.tip, any_base=True)
    except (InvalidInput, NotFound) as error:
        raise InvalidInput(
            error.message,
            where=f"{kept.name} cannot be reopened",
            hint=f"It is no proposal; look at it with: git show {kept.oid[:12]}",
        ) from error
    assert is_proposal_id(branch.proposal.id)
    return branch


def _proposed_anew(
    store: Store, sessions: SessionFiles, branch: Branch, origin: Origin
) -> tuple[str, str]:
    """Put the change of a branch on a new one; return id and tip, no tip where nothing is left."""
    origin = with_fresh_id(store, origin)
    ground = store.healed(lambda: store.ledger.ground_for(store.head(), branch))
    proposal = replace(
        branch.proposal,
        id=proposal_id(origin),
        nonce=origin.nonce,
        created_at=origin.now,
        base=ground.commit,
    )
    targets = fitting(store, ground, proposal, targets_of(branch))
    draft = carried_draft(store, ground, proposal, targets)
    if not draft.proposal.changes:
        return proposal.id, ""
    here = cited_sessions(sessions, draft)
    findings = check_draft(store, draft, here, own_words=proposal.kind in SHORT_QUOTES)
    review = checks_review(draft, findings, origin.now)
    author = proposer_identity(proposal.proposed_by)
    return proposal.id, store.put_proposal(draft, [review], author)


def _state(store: Store, name: str, tip: str) -> str:
    try:
        return shown_state(store.judged_as(name, tip).decision)
    except InvalidInput:  # it stands on a commit that main has no more: rebase is what it needs
        return "stale"
