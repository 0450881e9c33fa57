"""rebase: an open proposal on the newest accepted commit."""

from __future__ import annotations

from gitmem.results import ProposalResult
from gitmem.sessions import SessionFiles
from gitmem.store import Store, effects, finding_views, latest_findings, shown_state
from gitmem.store.rebasing import rebase_branch


def rebase(store: Store, sessions: SessionFiles, prefix: str, now: int) -> ProposalResult:
    """Put an open proposal on the newest accepted commit.

    What it says of a record that main changed meanwhile is said of the new form: that is
    another change, so it is checked again and every review of it is void. Where nothing that
    it touches changed, its reviews stay in force. One that main has overtaken is put aside.

    Raises:
        NotFound: none is open, or several begin so.
        InvalidInput: its branch breaks a rule.
        Refused: its branch is checked out.
    """
    proposal_id, old = store.find_proposal(prefix)
    tip = rebase_branch(store, sessions, proposal_id, old, now)
    if tip is None:
        return ProposalResult(None, "superseded", (), (), ())
    judged = store.judged_as(proposal_id, tip)
    proposal, records = judged.branch.proposal, judged.branch.records
    return ProposalResult(
        proposal=proposal_id,
        state=shown_state(judged.decision),
        records=effects(proposal, records),
        findings=finding_views(latest_findings(judged.branch.reviews, proposal.change)),
        dropped=(),
        session=proposal.session,
    )
