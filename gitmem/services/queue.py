"""The review queue: what is open, how it reads, a person's yes and a person's no."""

from __future__ import annotations

from itertools import islice

from gitmem.documents import clean_reason
from gitmem.domain.kept import Closing
from gitmem.domain.layout import KEPT
from gitmem.domain.proposal import is_proposal_id
from gitmem.domain.shell import shell_word
from gitmem.domain.verify import Branch
from gitmem.errors import GitmemError, InvalidInput, NotFound, Refused
from gitmem.repo.differences import diff_text
from gitmem.results import FindingView, MergeResult, ProposalDiff, ProposalSummary
from gitmem.sessions import SessionFiles
from gitmem.store import (
    Store,
    approval_of,
    check_would_do,
    judged_diff,
    judged_summary,
    proposal_summary,
)
from gitmem.store.approving import changed_meanwhile, check_earlier
from gitmem.store.rejecting import decide_rejection
from gitmem.store.view_file import restore_view


def proposals(store: Store) -> list[ProposalSummary]:
    """Return every open proposal, by id; one that cannot be read is there with its reason."""
    return first_proposals(store, None)[0]


def first_proposals(store: Store, limit: int | None) -> tuple[list[ProposalSummary], int]:
    """Return open proposals as :func:`proposals`, the first ``limit``, and how many are open."""
    every = store.open_proposals()
    found = []
    for proposal_id, tip in islice(every.items(), limit):
        try:
            found.append(judged_summary(store.judged_as(proposal_id, tip)))
        except GitmemError as error:
            found.append(_off_main(store, proposal_id, tip) or _unreadable(proposal_id, error))
    return found, len(every)


def _off_main(store: Store, proposal_id: str, tip: str) -> ProposalSummary | None:
    """Return the line of a proposal that stands on a commit which main has no more."""
    branch = store.on_any_base(proposal_id, tip)
    if branch is None:
        return None
    why = (f"it stands on {branch.proposal.base[:12]}, which is no accepted commit of main",)
    return proposal_summary(branch.proposal, branch.records, (), "stale", why)


def _unreadable(proposal_id: str, error: GitmemError) -> ProposalSummary:
    finding = FindingView("blocker", None, None, error.message, "unreadable")
    kind = proposal_id.partition("-")[0]
    return ProposalSummary(proposal_id, kind, "inconclusive", (), (finding,), "", "", ())


def diff(store: Store, sessions: SessionFiles, prefix: str) -> ProposalDiff:
    """Return an open proposal whole, by the beginning of its id.

    Raises:
        NotFound: none is open, or several begin so.
        InvalidInput: its branch breaks a rule.
    """
    proposal_id, tip = store.find_proposal(prefix)
    return judged_diff(store, store.judged_as(proposal_id, tip), sessions)


def patch(store: Store, prefix: str) -> str:
    """Return an open proposal as git's unified difference from its base.

    Raises:
        NotFound: none is open, or several begin so.
        InvalidInput: its branch breaks a rule.
    """
    proposal_id, tip = store.find_proposal(prefix)
    branch = store.judged_as(proposal_id, tip).branch
    return diff_text(store.repo, branch.proposal.base, tip)


def approve(
    store: Store, prefix: str, who: str, now: int, expected_change: str | None = None
) -> MergeResult:
    """Add a person's approval to a proposal and merge it.

    Args:
        who: ``human:Name <address>``.
        expected_change: the hash of the change that the person saw.

    Raises:
        Refused: it changed since, a check blocks it, or the policy does not let this person.
        Waiting: it is stale, or the policy wants another person too.
    """
    proposal_id, tip = store.find_proposal(prefix)
    judged = store.judged_as(proposal_id, tip)
    change = judged.branch.proposal.change
    if expected_change is not None and change != expected_change:
        raise changed_meanwhile(proposal_id, "approved")
    approval = approval_of(change, who, now)
    check_would_do(judged, approval)
    check_earlier(store, judged.branch)
    store.notes += restore_view(store.repo, store.head())
    with store.repo.lock():
        tip = store.add_review(proposal_id, tip, approval)
        merge = store.merge(proposal_id, tip)
    return MergeResult(proposal_id, "merged", merge)


def reject(
    store: Store,
    prefix: str,
    who: str,
    now: int,
    reason: str,
    nonce: str,
    expected_change: str | None = None,
) -> MergeResult:
    """Reject a proposal: a decision on main with a tombstone for each text it would have kept.

    The branch is kept on this machine only; its text is reachable from nothing that is pushed.
    One that cannot be read can be rejected too; it leaves no tombstones. A branch whose name
    is no proposal's id is kept aside without a decision, since main has nothing to say of it.

    Raises:
        Usage: there is no reason, or it is too long.
        InvalidInput: the reason holds a secret, or characters that are not kept.
        NotFound: the proposal is not open, or its branch does not end at a commit.
        Refused: it is not the change ``expected_change`` any more, or a stray on main holds it.
    """
    reason = clean_reason(reason, "a rejection", needed=True)
    proposal_id, tip = store.find_proposal(prefix)
    _check_commit(store, proposal_id, tip)
    if not is_proposal_id(proposal_id):
        store.keep(tip, Closing(proposal_id, "unreadable", now, reason, who))
        store.notes.append(
            f"{proposal_id} is no proposal, so main says nothing of it, nor of the reason; "
            f"its branch is kept aside in {KEPT}{proposal_id}"
        )
        return MergeResult(proposal_id, "rejected", "")
    branch = _readable(store, proposal_id, tip)
    if expected_change is not None and branch and branch.proposal.change != expected_change:
        raise changed_meanwhile(proposal_id, "rejected")
    records = branch.records if branch else {}
    with store.repo.lock():
        store.check_unmoved(proposal_id, tip)
        if branch:
            _check_strays(store, branch)
        commit = decide_rejection(store, proposal_id, tip, records, who, now, reason, nonce)
        store.expire_kept(now)
    return MergeResult(proposal_id, "rejected", commit)


def _check_strays(store: Store, branch: Branch) -> None:
    """Refuse to pass over a stray that holds what is rejected: it would stay in main's history.

    Raises:
        Refused: there is one.
    """
    proposal = branch.proposal
    for oid in store.head().strays:
        tree = store.repo.reader.commit(oid).tree
        places = [change.new for change in proposal.changes if change.new]
        found = [store.facts.entry(tree, place.path) for place in places]
        holds = any(e and e.oid == place.blob for e, place in zip(found, places, strict=True))
        if holds or proposal.kind == "adopt":
            raise Refused(
                f"the stray {oid[:12]} on main holds what {proposal.id} says, and would keep it",
                hint=f"Take it off main first: gitmem fsck --repair. Then reject {proposal.id}.",
            )


def _readable(store: Store, proposal_id: str, tip: str) -> Branch | None:
    """Return a proposal's branch, whatever it stands on; None where it cannot be read."""
    branch = store.on_any_base(proposal_id, tip)
    if branch is not None:
        return branch
    try:
        return store.judged_as(proposal_id, tip).branch
    except InvalidInput as error:
        store.notes.append(
            f"{error.message}. It leaves no tombstones: the same fact may be proposed again."
        )
        return None


def _check_commit(store: Store, proposal_id: str, tip: str) -> None:
    """Refuse a branch that does not end at a commit: there is nothing to keep aside."""
    try:
        store.repo.reader.commit(tip)
    except (NotFound, InvalidInput) as error:
        where = store.repo.shell_word
        raise NotFound(
            f"{proposal_id} is no branch that could be rejected: {error.message}",
            hint=f"To remove it: git -C {where} branch -D {shell_word('proposals/' + proposal_id)}",
        ) from error
