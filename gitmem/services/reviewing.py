"""Reviews by models: each reviewer of the store judges a proposal, and the policy decides.

No failure approves. What is not a whole, strict verdict of a model that is known to be another
than the proposer's is ``inconclusive``, with its reason, and is tried again by the next review.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gitmem.domain.actors import model_name, same_model
from gitmem.domain.kept import Closing
from gitmem.domain.layout import evidence_path
from gitmem.domain.model_answers import VERDICT_SCHEMA, ModelFinding, ModelVerdict, read_verdict
from gitmem.domain.policy import in_force
from gitmem.domain.proposal import Proposal
from gitmem.domain.record import MAX_LINES
from gitmem.domain.review import Finding, Review, ReviewerDefinition
from gitmem.domain.text import one_line
from gitmem.errors import ModelFailed, NotFound, Refused
from gitmem.llm import Asked, Budget, ModelClient, run_agent
from gitmem.redaction import redact
from gitmem.resources import prompt
from gitmem.results import ProposalDiff, ReviewOutcome
from gitmem.sessions import SessionFiles
from gitmem.store import Judged, Store, judged_diff, review_view, shown_state
from gitmem.store.approving import check_earlier
from gitmem.store.quoted import message_around
from gitmem.store.review_data import MAX_DATA, review_data, review_tools

#: Characters of a finding's text as it is kept.
MAX_TEXT = 1000

Reviewer = tuple[str, ReviewerDefinition]
"""A reviewer's file stem, and the file."""


@dataclass(frozen=True, slots=True)
class Reviewing:
    """Who reviews, within which budget, when; ``nonce`` is random hex, ``now`` in seconds."""

    client: ModelClient
    budget: Budget
    nonce: str
    now: int


def review(store: Store, sessions: SessionFiles, prefix: str, how: Reviewing) -> ReviewOutcome:
    """Let each reviewer of the store that has not judged this change do so; merge what may be.

    Every review is kept on the proposal's branch. What a model rejects is put aside, without a
    tombstone; what is approved and waits for nobody is merged.

    Raises:
        NotFound: the proposal is not open.
        InvalidInput: its branch breaks a rule.
    """
    proposal_id, tip = store.find_proposal(prefix)
    judged = store.judged_as(proposal_id, tip)
    made = []
    for reviewer in _due(judged):
        found = _review(store, sessions, judged, reviewer, how)
        if not _is_known(judged, found):
            tip = store.add_review(proposal_id, tip, found)
        made.append(found)
    judged = store.judged_as(proposal_id, tip)
    state, merge = _settle(store, judged, how.now)
    return ReviewOutcome(
        proposal=proposal_id,
        state=state,
        reviews=tuple(review_view(found) for found in made),
        waits_for=judged.decision.reasons,
        merge=merge,
        tokens=how.budget.spent.total,
    )


def try_reviewer(
    store: Store, sessions: SessionFiles, prefix: str, name: str, how: Reviewing
) -> ReviewOutcome:
    """Let one reviewer judge a proposal, and keep nothing of it.

    Raises:
        NotFound: the proposal is not open, or there is no such reviewer.
        InvalidInput: its branch breaks a rule.
    """
    proposal_id, tip = store.find_proposal(prefix)
    judged = store.judged_as(proposal_id, tip)
    found = _review(store, sessions, judged, _named(judged, name), how)
    return ReviewOutcome(
        proposal_id,
        shown_state(judged.decision),
        (review_view(found),),
        judged.decision.reasons,
        None,
        how.budget.spent.total,
    )


def judgements(
    store: Store, sessions: SessionFiles, prefix: str, only: str | None, how: Reviewing
) -> Iterator[Review]:
    """Yield the reviews that :func:`review`, or :func:`try_reviewer` of ``only``, would get one
    after the other; nothing is kept of them.

    Raises:
        NotFound: the proposal is not open, or there is no such reviewer.
        InvalidInput: its branch breaks a rule.
    """
    judged = store.judged_as(*store.find_proposal(prefix))
    for reviewer in _due(judged) if only is None else [_named(judged, only)]:
        yield _review(store, sessions, judged, reviewer, how)


def _named(judged: Judged, name: str) -> Reviewer:
    definition = judged.ground.reviewers.get(name)
    if definition is None:
        known = ", ".join(sorted(judged.ground.reviewers)) or "none"
        raise NotFound(f"there is no reviewer {name[:80]!r}", hint=f"The store has: {known}")
    return name, definition


def _due(judged: Judged) -> Iterator[Reviewer]:
    """Yield the reviewers for this kind of proposal that have given no verdict on this change."""
    proposal, reviewers = judged.branch.proposal, judged.ground.reviewers
    given = in_force(judged.branch.reviews, proposal, reviewers)
    for stem, definition in sorted(reviewers.items()):
        last = given.get((stem, stem))
        if proposal.kind in definition.applies_to and (
            last is None or last.verdict == "inconclusive"
        ):
            yield stem, definition


def _is_known(judged: Judged, found: Review) -> bool:
    """Whether the branch ends with this very lack of a verdict already: once is enough."""
    same = (found.reviewer, found.verdict, found.reason, found.change, found.rubric)
    return found.verdict == "inconclusive" and any(
        (r.reviewer, r.verdict, r.reason, r.change, r.rubric) == same for r in judged.branch.reviews
    )


def _settle(store: Store, judged: Judged, now: int) -> tuple[str, str | None]:
    """Merge what may be merged, put aside what a model rejected; return the state and the merge."""
    branch, decision = judged.branch, judged.decision
    proposal_id = branch.proposal.id
    if decision.mergeable:
        try:
            check_earlier(store, branch)
        except Refused as error:
            store.notes.append(error.message)
            return "waiting", None
        return "merged", store.merge(proposal_id, branch.tip)
    if decision.state == "rejected" and not decision.by_person:
        said = next(r for r in reversed(branch.reviews) if r.verdict == "reject")
        why = "; ".join(finding.text for finding in said.findings)[:500]
        closing = Closing(proposal_id, "rejected", now, one_line(why), said.by)
        with store.repo.lock():
            store.check_unmoved(proposal_id, branch.tip)
            store.keep(branch.tip, closing)
    return shown_state(decision), None


def _review(
    store: Store,
    sessions: SessionFiles,
    judged: Judged,
    reviewer: Reviewer,
    how: Reviewing,
) -> Review:
    """Ask one reviewer, and return its review, whatever came of it."""
    proposal = judged.branch.proposal
    stem, definition = reviewer
    diff = judged_diff(store, judged, sessions)
    try:
        _check_can_be_judged(store, sessions, judged, diff, how.client)
        asked = run_agent(
            how.client,
            role="reviewer",
            prompt=f"{prompt('reviewer')}\n{definition.rubric}",
            data=review_data(diff),
            tools=review_tools(store, sessions, diff),
            read=read_verdict,
            budget=how.budget,
            nonce=how.nonce,
            schema=VERDICT_SCHEMA,
        )
        _check_other_model(proposal, asked.model)
    except ModelFailed as error:
        asked_for = how.client.who(how.client.settings.model)
        return Review(
            by=asked_for,
            reviewer=stem,
            verdict="inconclusive",
            change=proposal.change,
            rubric=definition.blob,
            findings=(),
            at=how.now,
            reason=redact(one_line(error.message)).text[:MAX_TEXT],
        )
    return _reviewed(proposal, reviewer, how, asked)


def _reviewed(
    proposal: Proposal,
    reviewer: Reviewer,
    how: Reviewing,
    asked: Asked[ModelVerdict],
) -> Review:
    stem, definition = reviewer
    wanted, usage = how.client.settings.model, asked.usage
    return Review(
        by=asked.who,
        reviewer=stem,
        verdict=asked.value.verdict,
        change=proposal.change,
        rubric=definition.blob,
        findings=tuple(_finding(found, proposal) for found in asked.value.findings),
        at=how.now,
        asked=how.client.who(wanted) if wanted != asked.model else "",
        usage=f"{usage.prompt} tokens read, {usage.completion} written, {usage.calls} questions",
    )


def _finding(found: ModelFinding, proposal: Proposal) -> Finding:
    """Return a model's finding as it is kept: on one line, about a record that it can be about."""
    name = found.record if found.record in proposal.names else None
    text = one_line(found.text)
    if found.record and name is None:
        text = f"{one_line(found.record)[:80]}: {text}"
    if found.evidence:
        text += f" (evidence {one_line(found.evidence)[:40]})"
    if found.change:
        text += f" To mend it: {one_line(found.change)}"
    # Masked before it is cut: a commit keeps it, and a model may repeat what nobody masked.
    text = redact(text).text
    line = found.line if name and found.line and 1 <= found.line <= MAX_LINES else None
    return Finding("warning", "reviewer", text[:MAX_TEXT], name, line)


def _check_can_be_judged(
    store: Store,
    sessions: SessionFiles,
    judged: Judged,
    diff: ProposalDiff,
    client: ModelClient,
) -> None:
    """Refuse before a model is asked what no answer of it could settle.

    Raises:
        ModelFailed: the proposal is too large, a session it quotes is not here or has changed,
            or the model that would be asked is the one that proposed it.
    """
    branch = judged.branch
    if len(str(review_data(diff))) > MAX_DATA:
        raise ModelFailed(f"the proposal is too large to be judged at once ({MAX_DATA} characters)")
    _check_other_model(branch.proposal, one_line(client.settings.model))
    for name, record in branch.records.items():
        # What main has already was judged when it came there; its sessions are kept 30 days.
        for oid in set(record.evidence) - judged.ground.evidence.get(name, frozenset()):
            quote = store.facts.evidence(oid, evidence_path(name, oid))
            around = message_around(sessions, quote)
            if around.state != "found":
                raise ModelFailed(f"session not here: {quote.session}: {around.missing}")


def _check_other_model(proposal: Proposal, model: str) -> None:
    """Raises ModelFailed unless the model is known, and another than the proposer's.

    What an endpoint reports is a claim and no proof: this finds a gateway that says openly that
    it fell back to another model, and not one that lies.
    """
    if not model:
        raise ModelFailed(
            "reviewer identity unknown: the endpoint names no model, or not in plain letters"
        )
    author = model_name(proposal.proposed_by)
    if author and same_model(author, model):
        raise ModelFailed(f"reviewer identity not different: {model} is the model that proposed it")
