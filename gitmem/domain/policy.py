"""The policy, and :func:`decide`: whether a proposal may be merged under it.

``decide`` is pure and frozen by the manifest's version: everybody who recomputes a merge calls
it with what git holds and must get the same answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gitmem.domain.actors import model_key, same_person
from gitmem.domain.layout import RECORD_TYPES
from gitmem.domain.proposal import Proposal, RecordAt
from gitmem.domain.review import CHECKS, Review, ReviewerDefinition
from gitmem.domain.session import Attested
from gitmem.domain.validation import first_problem, typed_fields
from gitmem.errors import InvalidInput

MAX_POLICY_BYTES = 8192
Kind = Literal[
    "extract", "consolidate", "remember", "edit", "forget", "adopt", "import", "revert", "resolve"
]
RecordType = Literal["user", "feedback", "project", "reference"]
#: Why a change is inconclusive whose review by gitmem itself is missing.
NOT_CHECKED = "the deterministic checks have not run on this change"
State = Literal["mergeable", "waiting", "changes_requested", "stale", "inconclusive", "rejected"]
#: Warnings that only a person may wave through, by their codes, and why.
NEEDS_PERSON = {
    "instruction": "a text looks like an instruction",
    "tombstone": "it says, or nearly says, what a person rejected or forgot",
}


class _Strict(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, extra="forbid", strict=True)


class RequirePerson(_Strict):
    """Kinds of proposals and types of records that always wait for a person."""

    kinds: tuple[Kind, ...] = ()
    types: tuple[RecordType, ...] = ()


class ViewLimits(_Strict):
    """Size of MEMORY.md: lines and bytes."""

    format: Literal[1] = 1
    lines: int = Field(default=200, ge=10, le=10_000)
    bytes: int = Field(default=25_000, ge=1_000, le=1_000_000)


class Policy(_Strict):
    """The human-owned rules of a store, as they stand in ``policy.yaml``."""

    auto_merge_sources: tuple[Attested, ...] = ("hook", "session")
    require_person: RequirePerson = RequirePerson()
    two_person: bool = False
    signatures: Literal["off", "required"] = "off"
    signers: tuple[str, ...] = ()
    rounds: int = Field(default=2, ge=0, le=10)
    daily_proposals: int = Field(default=20, ge=0, le=10_000)
    push_proposals: bool = True
    agents_may_approve: bool = False
    allow_yes: bool = True
    view: ViewLimits = ViewLimits()


def make_policy(raw: Mapping[str, Any], where: str = "policy.yaml") -> Policy:
    """Build a policy from what the file says, where every value is text.

    A number is 1 to 8 digits, a boolean ``true`` or ``false``: nothing else that a YAML reader
    or a library would also take, since accepted history depends on it.

    Raises:
        InvalidInput: a key is unknown or a value is out of range.
    """
    try:
        return Policy.model_validate(typed_fields(Policy, raw))
    except ValidationError as error:
        raise InvalidInput(
            first_problem(error), where=where, hint="docs/format.md lists every key of the policy."
        ) from error


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome of :func:`decide`. ``approved_at`` is in seconds since 1970."""

    mergeable: bool
    state: State
    reasons: tuple[str, ...]
    approved_by: tuple[str, ...] = ()
    approved_at: int = 0
    by_person: bool = False


def decide(
    proposal: Proposal,
    reviews: Sequence[Review],
    policy: Policy,
    reviewers: Mapping[str, ReviewerDefinition],
    base: Mapping[str, RecordAt | None],
    head: Mapping[str, RecordAt | None],
    standing: Mapping[str, Sequence[str]],
    types: Collection[str] = RECORD_TYPES,
    tombstoned: Collection[str] = (),
) -> Decision:
    """Say whether ``proposal`` may be merged, and who approved it.

    Args:
        reviews: every review on the branch, oldest first.
        policy, reviewers: those of the accepted commit that the merge would stand on.
        base, head: where each touched name lies at the proposal's base and at that commit.
        standing: who approved the present form of each touched record.
        types: the types of the records that the change adds, revises or retires.
        tombstoned: names whose new text a person rejected or forgot.
    """
    if policy.signatures == "required":
        return _no("waiting", "the policy requires signed reviews, which this version cannot check")
    moved = sorted(name for name in proposal.names if base.get(name) != head.get(name))
    if moved:
        return _no("stale", f"changed on main since it was proposed: {', '.join(moved)}")
    counted = in_force(reviews, proposal, reviewers)
    checks = counted.get((CHECKS, CHECKS))
    if checks is None:
        return _no("inconclusive", NOT_CHECKED)
    blockers = [finding for finding in checks.findings if finding.severity == "blocker"]
    if blockers or checks.verdict != "approve":
        texts = [f"{f.record or proposal.id}: {f.text}" for f in blockers] or ["checks failed"]
        return _no("changes_requested", *texts)
    persons = [review for review in counted.values() if review.by_person]
    objections = [review for review in persons if review.verdict != "approve"]
    if objections:
        rejected = any(review.verdict == "reject" for review in objections)
        state: State = "rejected" if rejected else "changes_requested"
        return _no(state, *(f"{review.by} said {review.verdict}" for review in objections))
    approvals = [
        review
        for review in persons
        if not (policy.two_person and same_person(review.by, proposal.proposed_by))
    ]
    if approvals:
        return _yes(approvals, by_person=True)
    if persons:
        return _no("waiting", "the policy wants a person other than the one who proposed it")
    wanted = person_wanted(proposal, checks, policy, standing, types, tombstoned)
    return _by_models(proposal, counted, reviewers, wanted)


def in_force(
    reviews: Sequence[Review], proposal: Proposal, reviewers: Mapping[str, ReviewerDefinition]
) -> dict[tuple[str, str], Review]:
    """Return the last review of each reviewer that judged this very change.

    The key is the reviewer's file stem (or ``checks``), for a person ``person`` and who it is.
    A review counts while the change is the same and the reviewer's file is too.
    """
    counted: dict[tuple[str, str], Review] = {}
    for review in reviews:
        definition = reviewers.get(review.reviewer)
        same_rubric = review.rubric == (definition.blob if definition else None)
        known = definition is not None or review.by_person or review.reviewer == CHECKS
        if review.change == proposal.change and known and same_rubric:
            who = review.by if review.by_person else review.reviewer
            counted[(review.reviewer, who)] = review
    return counted


def person_wanted(
    proposal: Proposal,
    checks: Review,
    policy: Policy,
    standing: Mapping[str, Sequence[str]],
    types: Collection[str],
    tombstoned: Collection[str],
) -> list[str]:
    """Return every reason for which no model may approve this proposal."""
    reasons = []
    if proposal.attested not in policy.auto_merge_sources:
        reasons.append(
            f"its source ({proposal.attested or 'none'}) is not one that may merge by itself"
        )
    if any(change.kind == "retired" for change in proposal.changes):
        reasons.append("it retires a record")
    kept = [n for n in proposal.names if any(w.startswith("human:") for w in standing.get(n, ()))]
    if kept:
        reasons.append(f"a person approved what it rewrites: {', '.join(sorted(kept))}")
    found = {finding.code for finding in checks.findings}
    reasons += [why for code, why in NEEDS_PERSON.items() if code in found]
    if tombstoned:
        reasons.append(f"a person rejected or forgot this before: {', '.join(sorted(tombstoned))}")
    if proposal.kind in policy.require_person.kinds:
        reasons.append(f"the policy wants a person for {proposal.kind}")
    for record_type in sorted(set(types) & set(policy.require_person.types)):
        reasons.append(f"the policy wants a person for {record_type} records")
    return reasons


def _by_models(
    proposal: Proposal,
    counted: Mapping[tuple[str, str], Review],
    reviewers: Mapping[str, ReviewerDefinition],
    wanted: list[str],
) -> Decision:
    blocking = sorted(
        stem for stem, r in reviewers.items() if r.blocking and proposal.kind in r.applies_to
    )
    given = [counted[(stem, stem)] for stem in blocking if (stem, stem) in counted]
    for verdict in ("reject", "request_changes"):
        said = [review for review in given if review.verdict == verdict]
        if said:
            state: State = "rejected" if verdict == "reject" else "changes_requested"
            return _no(state, *(f"{review.reviewer} said {verdict}" for review in said))
    if wanted:
        return _no("waiting", f"a person must approve it: {wanted[0]}", *wanted[1:])
    if not blocking:
        return _no("waiting", "no reviewer model judges this kind; a person must approve")
    author = model_key(proposal.proposed_by)
    good = [r for r in given if r.verdict == "approve" and model_key(r.by) not in (None, author)]
    if len(good) == len(blocking):
        return _yes(good, by_person=False)
    missing = [stem for stem in blocking if stem not in {review.reviewer for review in given}]
    if len(missing) == len(blocking):
        return _no("waiting", "no reviewer model has judged it; a person can approve")
    return _no("inconclusive", "not every blocking reviewer approved with a model of its own")


def _no(state: State, *reasons: str) -> Decision:
    return Decision(False, state, reasons)


def _yes(reviews: Sequence[Review], *, by_person: bool) -> Decision:
    who = tuple(sorted({review.by for review in reviews}))
    return Decision(True, "mergeable", (), who, max(review.at for review in reviews), by_person)
