"""Approving a part of a proposal, or its text in other words.

What is approved becomes a proposal of its own on the same base, with its own checks and its own
approval; the first one is put aside. So what nobody approved is reachable from no branch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gitmem.domain.kept import Closing
from gitmem.domain.proposal import SHORT_QUOTES, Proposal
from gitmem.domain.review import Review
from gitmem.errors import InvalidInput, NotFound, Refused
from gitmem.records import read_record, write_record
from gitmem.results import MergeResult
from gitmem.sessions import SessionFiles
from gitmem.store import (
    Judged,
    Origin,
    Store,
    approval_of,
    check_draft,
    check_would_do,
    merge_approved,
    proposal_id,
)
from gitmem.store.branches import proposer_identity
from gitmem.store.carrying import Target, carried_draft, targets_of
from gitmem.store.fresh_id import with_fresh_id
from gitmem.store.rejecting import decide_rejection
from gitmem.store.statements import cited_sessions


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person makes of a proposal.

    ``names`` are approved, the others left out; ``texts`` are whole record files that replace
    what was proposed; ``rejected`` are names of which a person said no, so that they do not
    come back.
    """

    names: frozenset[str]
    texts: Mapping[str, bytes]
    rejected: frozenset[str] = frozenset()


def approve_part(
    store: Store,
    sessions: SessionFiles,
    who: str,
    now: int,
    nonce: str,
    prefix: str,
    choice: Choice,
    expected_change: str | None = None,
) -> MergeResult:
    """Approve what ``choice`` leaves of a proposal, and merge that.

    Raises:
        NotFound: the proposal is not open, or does not touch a name that was chosen.
        InvalidInput: a new text is illegal, or is another record's.
        Refused: the proposal changed since, or a check blocks what is left.
        Waiting: it is stale.
    """
    name, tip = store.find_proposal(prefix)
    judged = store.judged_as(name, tip)
    _check_names(judged, choice)
    if expected_change not in (None, judged.branch.proposal.change):
        raise Refused(
            f"{name} changed while you were reading it; nothing was approved",
            hint=f"Run `gitmem diff {name}` and look again.",
        )
    approval = approval_of(judged.branch.proposal.change, who, now)
    check_would_do(judged, approval)
    if choice.names == set(judged.branch.proposal.names) and not choice.texts:
        return _whole(store, judged, approval)
    targets = _targets(store, judged, choice)
    origin = with_fresh_id(store, _origin(judged.branch.proposal, choice, who, now, nonce))
    proposal = replace(
        judged.branch.proposal,
        id=proposal_id(origin),
        proposed_by=origin.proposed_by,
        nonce=origin.nonce,
        created_at=now,
    )
    draft = carried_draft(store, judged.ground, proposal, targets)
    if not draft.proposal.changes:
        raise Refused(
            f"nothing of {name} is left to approve", hint=f"To reject it: gitmem reject {name}"
        )
    own_words = proposal.kind in SHORT_QUOTES
    here = cited_sessions(sessions, draft)
    findings = check_draft(store, draft, here, own_words=own_words)
    author = proposer_identity(origin.proposed_by)
    with store.repo.lock():
        merge = merge_approved(store, draft, findings, who, now, author)
        _put_aside(store, judged, choice, who, now, draft.proposal.id, origin.nonce)
    left = sorted(set(judged.branch.proposal.names) - choice.names)
    notes = (f"left out: {', '.join(left)}; the whole is kept as {name}",) if left else ()
    return MergeResult(draft.proposal.id, "merged" if merge else "waiting", merge or "", notes)


def _whole(store: Store, judged: Judged, approval: Review) -> MergeResult:
    """Approve a proposal of which everything was chosen: it is merged as it is."""
    name = judged.branch.proposal.id
    with store.repo.lock():
        tip = store.add_review(name, judged.branch.tip, approval)
        merge = store.merge(name, tip)
    return MergeResult(name, "merged", merge)


def _check_names(judged: Judged, choice: Choice) -> None:
    proposal = judged.branch.proposal
    unknown = sorted((choice.names | choice.texts.keys()) - set(proposal.names))
    if unknown:
        raise NotFound(
            f"{proposal.id} does not touch {unknown[0]}",
            hint=f"It touches: {', '.join(proposal.names)}",
        )


def _targets(store: Store, judged: Judged, choice: Choice) -> list[Target]:
    chosen = [target for target in targets_of(judged.branch) if target.name in choice.names]
    return [_reworded(target, choice.texts.get(target.name)) for target in chosen]


def _reworded(target: Target, text: bytes | None) -> Target:
    """Return ``target`` with another text, whose quotes are some of those that it had."""
    if text is None:
        return target
    if target.record is None:
        raise InvalidInput("is to be retired; there is no text to change", where=target.name)
    record = read_record(text, target.name)
    if record.name != target.name:
        raise InvalidInput(
            f"is called {record.name} now; a record is not renamed here",
            where=target.name,
            hint="Approve it under its name, or reject it and remember it anew.",
        )
    quotes = frozenset(record.evidence)
    foreign = sorted(quotes - target.quotes)
    if foreign:
        raise InvalidInput(f"cites {foreign[0]}, which was not proposed for it", where=target.name)
    return replace(target, record=write_record(record), quotes=quotes)


def _origin(proposal: Proposal, choice: Choice, who: str, now: int, nonce: str) -> Origin:
    # Who puts it in other words has proposed it, and is not its second person.
    by = who if choice.texts else proposal.proposed_by
    return Origin(proposal.kind, by, proposal.session, proposal.attested, nonce, now)


def _put_aside(
    store: Store, judged: Judged, choice: Choice, who: str, now: int, by: str, nonce: str
) -> None:
    """Put the whole aside: as rejected where a person said no to a part, else as superseded."""
    proposal, tip = judged.branch.proposal, judged.branch.tip
    records = {n: r for n, r in judged.branch.records.items() if n in choice.rejected}
    if choice.rejected:
        reason = f"left out when the rest was approved as {by}"
        decide_rejection(store, proposal.id, tip, records, who, now, reason, nonce)
    else:
        store.keep(tip, Closing(proposal.id, "superseded", now, f"approved as {by}", who))
