"""The review queue: what is open, how it reads, a person's yes and a person's no."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitmem.domain.instants import compact_day, format_instant
from gitmem.domain.layout import KEPT, tombstone_path
from gitmem.domain.proposal import is_proposal_id
from gitmem.domain.record import Record, statement
from gitmem.domain.review import PERSON, Review
from gitmem.domain.text import fold_whitespace, illegal_characters, to_nfc
from gitmem.domain.tombstone import MAX_REASON, Tombstone, statement_hash
from gitmem.domain.verify import Branch, DecisionFields, judge
from gitmem.errors import GitmemError, InvalidInput, NotFound, Refused, Usage, Waiting
from gitmem.redaction import find_secrets
from gitmem.repo.differences import diff_text
from gitmem.results import FindingView, MergeResult, ProposalDiff, ProposalSummary
from gitmem.store import Judged, Store, judged_diff, judged_summary
from gitmem.store.view_file import restore_view


def proposals(store: Store) -> list[ProposalSummary]:
    """Return every open proposal, by id; one that cannot be read is there with its reason."""
    found = []
    for proposal_id, tip in store.open_proposals().items():
        try:
            found.append(judged_summary(_judged(store, proposal_id, tip)))
        except GitmemError as error:
            found.append(_unreadable(proposal_id, error))
    return found


def _judged(store: Store, proposal_id: str, tip: str) -> Judged:
    """Return what is decided now of the branch of ``proposal_id``.

    Raises:
        InvalidInput: it breaks a rule, lacks an object, or holds another proposal than its
            name says.
    """
    try:
        judged = store.judged(tip)
        held = judged.branch.proposal.id
        if held != proposal_id:
            raise InvalidInput(f"the branch holds the proposal {held}")
    except (InvalidInput, NotFound) as error:
        raise InvalidInput(
            error.message,
            where=f"{proposal_id} cannot be read",
            hint=f'To clear it away: gitmem reject {proposal_id} --reason "unreadable"',
        ) from error
    return judged


def _unreadable(proposal_id: str, error: GitmemError) -> ProposalSummary:
    finding = FindingView("blocker", None, None, error.message, "unreadable")
    kind = proposal_id.partition("-")[0]
    return ProposalSummary(proposal_id, kind, "inconclusive", (), (finding,), "", "", ())


def diff(store: Store, prefix: str) -> ProposalDiff:
    """Return an open proposal whole, by the beginning of its id.

    Raises:
        NotFound: none is open, or several begin so.
        InvalidInput: its branch breaks a rule.
    """
    proposal_id, tip = store.find_proposal(prefix)
    return judged_diff(store, _judged(store, proposal_id, tip))


def patch(store: Store, prefix: str) -> str:
    """Return an open proposal as git's unified difference from its base.

    Raises:
        NotFound: none is open, or several begin so.
        InvalidInput: its branch breaks a rule.
    """
    proposal_id, tip = store.find_proposal(prefix)
    branch = _judged(store, proposal_id, tip).branch
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
    judged = _judged(store, proposal_id, tip)
    change = judged.branch.proposal.change
    if expected_change is not None and change != expected_change:
        raise Refused(
            f"{proposal_id} changed while you were reading it; nothing was approved",
            hint=f"Run `gitmem diff {proposal_id}` and look again.",
        )
    approval = Review(
        by=who,
        reviewer=PERSON,
        verdict="approve",
        change=change,
        rubric=None,
        findings=(),
        at=now,
    )
    _check_would_do(judged, approval)
    store.notes += restore_view(store.repo)
    with store.repo.lock():
        tip = store.add_review(proposal_id, tip, approval)
        merge = store.merge(proposal_id, tip)
    return MergeResult(proposal_id, "merged", merge)


def _check_would_do(judged: Judged, approval: Review) -> None:
    """Refuse before anything is written when this approval would not be enough."""
    branch: Branch = replace(judged.branch, reviews=(*judged.branch.reviews, approval))
    if judged.ground.decided:
        raise Refused(f"{branch.proposal.id} was already {judged.ground.decided}")
    decision = judge(judged.ground, branch)
    if decision.mergeable:
        return
    why = "; ".join(decision.reasons)
    if decision.state == "stale":
        raise Waiting(
            f"{branch.proposal.id} is stale: {why}",
            hint=f"Reject it (`gitmem reject {branch.proposal.id} --reason TEXT`) and propose it "
            "again.",
        )
    raise Refused(
        f"{branch.proposal.id} cannot be approved ({decision.state}): {why}",
        hint=f"Look at it with `gitmem diff {branch.proposal.id}`, or reject it.",
    )


def reject(store: Store, prefix: str, who: str, now: int, reason: str, nonce: str) -> MergeResult:
    """Reject a proposal: a decision on main with a tombstone for each text it would have kept.

    The branch is kept on this machine only; its text is reachable from nothing that is pushed.
    One that cannot be read can be rejected too; it leaves no tombstones. A branch whose name
    is no proposal's id is kept aside without a decision, since main has nothing to say of it.

    Raises:
        Usage: there is no reason, or it is too long.
        InvalidInput: the reason holds a secret, or characters that are not kept.
        NotFound: the proposal is not open, or its branch does not end at a commit.
    """
    reason = fold_whitespace(to_nfc(reason))
    _check_reason(reason)
    proposal_id, tip = store.find_proposal(prefix)
    _check_commit(store, proposal_id, tip)
    if not is_proposal_id(proposal_id):
        store.set_aside(proposal_id, tip)
        store.notes.append(
            f"{proposal_id} is no proposal, so main says nothing of it, nor of the reason; "
            f"its branch is kept aside in {KEPT}{proposal_id}"
        )
        return MergeResult(proposal_id, "rejected", "")
    tombs = {}
    for name, record in _records(store, proposal_id, tip).items():
        tomb = Tombstone(
            version=1,
            id=proposal_id,
            names=[name],
            who=[who],
            when=format_instant(now),
            reason=reason,
            hash=statement_hash(statement(record)),
        )
        tombs[tombstone_path(tomb.key)] = tomb.to_bytes()
    fields = DecisionFields(
        id=f"reject-{compact_day(now)}-{nonce[:6]}",
        kind="reject",
        decided_by=who,
        reason=reason,
        at=now,
        rejects=proposal_id,
    )
    store.notes += restore_view(store.repo)
    commit = store.decide(fields, tombs, tip)
    return MergeResult(proposal_id, "rejected", commit)


def _check_reason(reason: str) -> None:
    if not 1 <= len(reason) <= MAX_REASON:
        raise Usage(
            f"a rejection needs a reason of 1 to {MAX_REASON} characters, not {len(reason)}",
            hint="Say in a sentence why it is not to be remembered.",
        )
    if find_secrets(reason):
        raise InvalidInput(
            "the reason holds what looks like a secret; it would travel with main",
            hint="Nothing was written. Say it without the secret.",
        )
    illegal = illegal_characters(reason, allow_newlines=False)
    if illegal:
        raise InvalidInput(f"the reason holds {illegal[0]}", hint="Type it anew.")


def _records(store: Store, proposal_id: str, tip: str) -> Mapping[str, Record]:
    """Return the records of a proposal; none where its branch cannot be read."""
    try:
        return _judged(store, proposal_id, tip).branch.records
    except InvalidInput as error:
        store.notes.append(
            f"{error.message}. It leaves no tombstones: the same fact may be proposed again."
        )
        return {}


def _check_commit(store: Store, proposal_id: str, tip: str) -> None:
    """Refuse a branch that does not end at a commit: there is nothing to keep aside."""
    try:
        store.repo.reader.commit(tip)
    except (NotFound, InvalidInput) as error:
        where = store.repo.root or store.repo.git_dir
        raise NotFound(
            f"{proposal_id} is no branch that could be rejected: {error.message}",
            hint=f"To remove it: git -C {where} branch -D proposals/{proposal_id}",
        ) from error
