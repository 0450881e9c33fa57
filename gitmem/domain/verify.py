"""How main advances, as arithmetic: the same base and the same change give the same commit.

Readers, merge and fsck use these functions alike. A commit on main is a manifest commit when
the commit computed here from its parents has its id; nothing else is compared, because the id
covers everything. What is heuristic (near duplicates, secrets, instructions) is never computed
here: it is read from the review of the checks.

Invariants, in order:

1. Genesis starts from nothing; its policy and reviewers are taken as given.
2. A merge stands on the newest accepted commit and one proposal that was never merged or
   rejected before; the names that it touches are where they were when it was proposed; the
   policy of that accepted commit says yes.
3. A decision is a person's; it touches tombstones, policy and reviewers only.
4. Manifest and view are computed. Counts come from the base and the touched names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.domain.actors import is_person
from gitmem.domain.commit_message import CommitMessage
from gitmem.domain.instants import format_instant
from gitmem.domain.layout import (
    POLICY,
    README,
    RECORD_TYPES,
    REVIEWERS,
    evidence_path,
    parse_tombstone_path,
    tombstone_path,
)
from gitmem.domain.manifest import Manifest
from gitmem.domain.planned import Plan
from gitmem.domain.policy import Decision, Policy, decide
from gitmem.domain.proposal import Proposal, RecordAt, is_proposal_id, subject_names
from gitmem.domain.record import Record, statement
from gitmem.domain.review import Review, ReviewerDefinition
from gitmem.domain.tombstone import MAX_TOMBSTONE_BYTES, Tombstone, statement_hash
from gitmem.errors import InvalidInput, Refused, Waiting


@dataclass(frozen=True, slots=True)
class Ground:
    """The accepted commit that a change stands on, as far as the touched names need it.

    ``old_statements`` are the texts of touched records; ``tombstones`` the keys that exist
    among those that the change asks about.
    """

    commit: str
    tree: str
    manifest: Manifest
    policy: Policy
    reviewers: Mapping[str, ReviewerDefinition]
    records: Mapping[str, RecordAt | None] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    old_statements: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, frozenset[str]] = field(default_factory=dict)
    standing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tombstones: frozenset[str] = frozenset()
    decided: str | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """A proposal's branch after its structure was checked.

    ``base_records`` says where the touched names lie at the proposal's base; ``evidence`` has
    the ids in each touched name's folder at the tip. ``bases`` are all commits that it was put
    on, the newest first, and ``earlier`` the blobs that it held on the older ones.
    """

    tip: str
    proposal: Proposal
    reviews: tuple[Review, ...]
    records: Mapping[str, Record]
    evidence: Mapping[str, frozenset[str]]
    base_records: Mapping[str, RecordAt | None]
    bases: tuple[str, ...] = ()
    earlier: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class DecisionFields:
    """What a decision commit says: ``rejects`` names the proposal that it rejects."""

    id: str
    kind: str
    decided_by: str
    reason: str
    at: int
    rejects: str | None = None


#: What a person can decide on main besides merging.
DECISION_KINDS = ("policy", "purge", "reject")
_DECISION_ID = re.compile(r"(?P<kind>[a-z]+)-[0-9]{8}-[0-9a-f]{6}\Z")


def judge(ground: Ground, branch: Branch) -> Decision:
    """Return what :func:`gitmem.domain.policy.decide` says of this branch on this ground."""
    proposal = branch.proposal
    types: set[str] = {record.type for record in branch.records.values()}
    types |= {kind for name, kind in ground.types.items() if name in proposal.names}
    return decide(
        proposal,
        branch.reviews,
        ground.policy,
        ground.reviewers,
        branch.base_records,
        ground.records,
        ground.standing,
        types,
        buried(ground, branch),
    )


def buried(ground: Ground, branch: Branch) -> tuple[str, ...]:
    """Return the touched names whose new text a person rejected or forgot."""
    return tuple(
        sorted(
            name
            for name, record in branch.records.items()
            if statement_hash(statement(record))[:40] in ground.tombstones
        )
    )


def plan_merge(ground: Ground, branch: Branch, parent: str, skipped: Sequence[str] = ()) -> Plan:
    """Plan the merge of ``branch`` on ``ground``.

    Args:
        parent: the tip of main, which is ``ground.commit`` or the last of ``skipped``.
        skipped: strays between the ground and the tip, oldest first.

    Raises:
        Refused: the proposal was merged or rejected before, or the policy says no.
        Waiting: the policy wants a person, or the proposal is stale.
    """
    proposal = branch.proposal
    if ground.decided:
        raise Refused(f"{proposal.id} was already {ground.decided}")
    decision = judge(ground, branch)
    if not decision.mergeable:
        _refuse(proposal.id, decision)
    tombs = _tombstone_changes(ground, branch, decision)
    return Plan(
        parents=(parent, branch.tip),
        changes={**_record_changes(ground, branch), **tombs},
        change=proposal.id,
        approved_by=decision.approved_by,
        at=decision.approved_at,
        message=_merge_message(branch, decision, skipped),
        by_type=_count_types(ground, branch),
        evidence_count=ground.manifest.evidence.count
        + sum(
            len(branch.evidence.get(n, ())) - len(ground.evidence.get(n, ()))
            for n in proposal.names
        ),
        tombstone_count=ground.manifest.tombstones.count
        + sum(1 if new is not None else -1 for new in tombs.values()),
    )


def _refuse(proposal_id: str, decision: Decision) -> None:
    text = f"{proposal_id} cannot be merged ({decision.state}): {'; '.join(decision.reasons)}"
    if decision.state in ("waiting", "stale", "inconclusive"):
        raise Waiting(text)
    raise Refused(text)


def _record_changes(ground: Ground, branch: Branch) -> dict[str, str | bytes | None]:
    changes: dict[str, str | bytes | None] = {}
    for change in branch.proposal.changes:
        if change.new:
            changes[change.new.path] = change.new.blob
        elif change.old:
            changes[change.old.path] = None
        before = ground.evidence.get(change.name, frozenset())
        after = branch.evidence.get(change.name, frozenset())
        changes.update({evidence_path(change.name, oid): oid for oid in after - before})
        changes.update({evidence_path(change.name, oid): None for oid in before - after})
    return changes


def _count_types(ground: Ground, branch: Branch) -> dict[str, int]:
    counts = {name: getattr(ground.manifest.records.by_type, name) for name in RECORD_TYPES}
    for change in branch.proposal.changes:
        if change.old:
            counts[ground.types[change.name]] -= 1
        if change.new:
            counts[branch.records[change.name].type] += 1
    return counts


def _tombstone_changes(
    ground: Ground, branch: Branch, decision: Decision
) -> dict[str, bytes | None]:
    changes: dict[str, bytes | None] = {}
    if decision.by_person:
        for name in buried(ground, branch):
            key = statement_hash(statement(branch.records[name]))[:40]
            changes[tombstone_path(key)] = None
    if branch.proposal.kind != "forget":
        return changes
    reasons = dict(branch.proposal.retire_reasons)
    for change in branch.proposal.changes:
        if change.kind != "retired":
            continue
        tombstone = Tombstone(
            version=1,
            id=branch.proposal.id,
            names=[change.name],
            who=list(decision.approved_by),
            when=format_instant(decision.approved_at),
            reason=reasons.get(change.name, ""),
            hash=statement_hash(ground.old_statements[change.name]),
        )
        data = tombstone.to_bytes()
        if len(data) > MAX_TOMBSTONE_BYTES:
            raise InvalidInput(f"the tombstone of {change.name} would have {len(data)} bytes")
        if tombstone.key not in ground.tombstones:
            changes[tombstone_path(tombstone.key)] = data
    return changes


def _merge_message(branch: Branch, decision: Decision, skipped: Sequence[str]) -> CommitMessage:
    proposal = branch.proposal
    reasons = dict(proposal.retire_reasons)
    body = []
    for change in proposal.changes:
        record = branch.records.get(change.name)
        if record is not None:
            body.append(f"{change.kind} {change.name} ({record.type}): {record.description}")
        else:
            reason = reasons.get(change.name)
            body.append(f"retired {change.name}" + (f": {reason}" if reason else ""))
    trailers = [("Proposal-Id", proposal.id)]
    trailers += [("Approved-By", who) for who in decision.approved_by]
    trailers += [("Skipped", oid) for oid in skipped]
    subject = f"merge {proposal.id}: {subject_names(proposal.names)}"
    return CommitMessage(subject, tuple(body), tuple(trailers))


def plan_decision(
    ground: Ground,
    fields: DecisionFields,
    changes: Mapping[str, bytes | None],
    parent: str,
    skipped: Sequence[str] = (),
) -> Plan:
    """Plan a decision commit: tombstones, policy and reviewers as ``changes`` gives them.

    Raises:
        Refused: the decision is no person's, or the proposal was decided before.
        InvalidInput: it touches something else.
    """
    if not is_person(fields.decided_by):
        raise Refused(f"a decision is a person's; {fields.decided_by!r} is none")
    if ground.policy.signatures == "required":
        raise Refused("the policy requires signed decisions, which this version cannot check")
    match = _DECISION_ID.match(fields.id)
    if match is None or match["kind"] != fields.kind or fields.kind not in DECISION_KINDS:
        raise InvalidInput(f"{fields.id[:80]!r} is no id of a decision of a known kind")
    if (fields.kind == "reject") != is_proposal_id(fields.rejects or ""):
        raise InvalidInput("a rejection, and nothing else, names the proposal that it rejects")
    if ground.decided:
        raise Refused(f"{fields.rejects} was already {ground.decided}")
    delta = 0
    for path, data in changes.items():
        key = parse_tombstone_path(path)
        if key is not None and fields.kind != "policy":
            delta += (data is not None) - (key in ground.tombstones)
        elif fields.kind != "policy" or not (path == POLICY or path.startswith(REVIEWERS + "/")):
            raise InvalidInput(f"a decision of the kind {fields.kind} cannot touch it", where=path)
    trailers = [("Decision", fields.id), ("Decision-Kind", fields.kind)]
    trailers += [("Rejects", fields.rejects)] if fields.rejects else []
    trailers += [("Decided-By", fields.decided_by)]
    trailers += [("Reason", fields.reason)] if fields.reason else []
    trailers += [("Skipped", oid) for oid in skipped]
    subject = f"{fields.kind} {fields.rejects or fields.id}"
    by_type = {name: getattr(ground.manifest.records.by_type, name) for name in RECORD_TYPES}
    return Plan(
        parents=(parent,),
        changes=changes,
        change=fields.id,
        approved_by=(fields.decided_by,),
        at=fields.at,
        message=CommitMessage(subject, (), tuple(trailers)),
        by_type=by_type,
        evidence_count=ground.manifest.evidence.count,
        tombstone_count=ground.manifest.tombstones.count + delta,
    )


def read_decision(message: CommitMessage, at: int) -> DecisionFields:
    """Return what the message of a decision commit says.

    Raises:
        InvalidInput: a trailer is missing or doubled.
    """
    return DecisionFields(
        id=message.need("Decision"),
        kind=message.need("Decision-Kind"),
        decided_by=message.need("Decided-By"),
        reason=message.one("Reason") or "",
        at=at,
        rejects=message.one("Rejects"),
    )


def plan_genesis(store_id: str, files: Mapping[str, bytes], at: int) -> Plan:
    """Plan the root commit out of README, policy and reviewers.

    Raises:
        InvalidInput: ``files`` has another path.
    """
    for path in files:
        if path not in (README, POLICY) and not path.startswith(REVIEWERS + "/"):
            raise InvalidInput("does not belong into the first commit", where=path)
    message = CommitMessage("Begin a memory", (), (("Store", store_id),))
    return Plan(
        parents=(),
        changes=files,
        change="genesis",
        approved_by=(),
        at=at,
        message=message,
        by_type=dict.fromkeys(RECORD_TYPES, 0),
        evidence_count=0,
        tombstone_count=0,
    )
