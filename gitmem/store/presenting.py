"""Proposals as people see them: the plain results that every surface shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gitmem.domain.evidence import Evidence
from gitmem.domain.instants import format_instant
from gitmem.domain.layout import evidence_path
from gitmem.domain.policy import Decision
from gitmem.domain.proposal import Proposal, RecordAt
from gitmem.domain.record import MAX_BYTES, Record
from gitmem.domain.review import CHECKS, Finding, Review
from gitmem.results import (
    FindingView,
    ProposalDiff,
    ProposalSummary,
    Quote,
    RecordEffect,
    ReviewView,
    ShownRecord,
)
from gitmem.sessions import SessionFiles
from gitmem.store.branches import Judged
from gitmem.store.drafting import Draft
from gitmem.store.quoted import changed_quotes
from gitmem.store.store import Store


def effects(proposal: Proposal, records: Mapping[str, Record]) -> tuple[RecordEffect, ...]:
    """Return what a proposal does to each name."""
    shown = []
    for change in proposal.changes:
        record = records.get(change.name)
        record_type, description = (record.type, record.description) if record else ("", "")
        shown.append(RecordEffect(change.name, change.kind, record_type, description))
    return tuple(shown)


def finding_views(findings: Iterable[Finding]) -> tuple[FindingView, ...]:
    """Return findings as they are shown."""
    return tuple(FindingView(f.severity, f.record, f.line, f.text, f.code) for f in findings)


def review_view(review: Review) -> ReviewView:
    """Return a review as it is shown."""
    return ReviewView(
        by=review.by,
        reviewer=review.reviewer,
        verdict=review.verdict,
        at=format_instant(review.at),
        findings=finding_views(review.findings),
        reason=review.reason,
    )


def latest_findings(reviews: Sequence[Review], change: str) -> tuple[Finding, ...]:
    """Return the findings of the last review of each reviewer about this very change."""
    last = {(r.reviewer, r.by if r.reviewer != CHECKS else ""): r for r in reviews}
    return tuple(f for r in last.values() if r.change == change for f in r.findings)


def proposal_summary(
    proposal: Proposal,
    records: Mapping[str, Record],
    findings: Iterable[Finding],
    state: str,
    waits_for: tuple[str, ...] = (),
) -> ProposalSummary:
    """Return the line of ``proposals`` for one proposal or draft."""
    return ProposalSummary(
        id=proposal.id,
        kind=proposal.kind,
        state=state,
        records=effects(proposal, records),
        findings=finding_views(findings),
        created_at=format_instant(proposal.created_at),
        proposed_by=proposal.proposed_by,
        waits_for=waits_for,
    )


def judged_summary(judged: Judged) -> ProposalSummary:
    """Return the line of ``proposals`` for an open proposal."""
    branch, decision = judged.branch, judged.decision
    findings = latest_findings(branch.reviews, branch.proposal.change)
    return proposal_summary(
        branch.proposal, branch.records, findings, shown_state(decision), decision.reasons
    )


def shown_state(decision: Decision) -> str:
    """Return the state of an open proposal; ``open`` waits for nothing but for its merge."""
    return "open" if decision.mergeable else decision.state


def draft_diff(store: Store, draft: Draft, findings: Sequence[Finding]) -> ProposalDiff:
    """Return a draft as a person reads it before it is written."""
    summary = proposal_summary(draft.proposal, draft.records, findings, "draft")
    return _diff(store, summary, draft.proposal, draft.texts, draft.evidence)


def judged_diff(store: Store, judged: Judged, sessions: SessionFiles | None = None) -> ProposalDiff:
    """Return an open proposal as a person reads it before approving.

    With ``sessions``, it has a warning for each quote that its session, where it is on this
    machine, does not bear out (any more): no review holds that, and nothing is blocked by it.
    """
    branch = judged.branch
    texts, evidence = {}, {}
    for change in branch.proposal.changes:
        if change.new:
            texts[change.name] = _text(store, change.new)
            ids = branch.records[change.name].evidence
            evidence[change.name] = {
                oid: store.facts.evidence(oid, evidence_path(change.name, oid)) for oid in ids
            }
    summary = judged_summary(judged)
    if sessions is not None:
        found = (*summary.findings, *changed_quotes(sessions, evidence))
        summary = replace(summary, findings=found)
    return _diff(store, summary, branch.proposal, texts, evidence)


def _diff(
    store: Store,
    summary: ProposalSummary,
    proposal: Proposal,
    texts: Mapping[str, str],
    evidence: Mapping[str, Mapping[str, Evidence]],
) -> ProposalDiff:
    shown = []
    for change in proposal.changes:
        place = change.new or change.old
        quotes = evidence.get(change.name, {})
        shown.append(
            ShownRecord(
                name=change.name,
                change=change.kind,
                path=place.path if place else "",
                before=_text(store, change.old) if change.old else "",
                after=texts.get(change.name, ""),
                quotes=tuple(quote_view(oid, quote) for oid, quote in quotes.items()),
            )
        )
    return ProposalDiff(summary, proposal.change, tuple(shown), dict(proposal.retire_reasons))


def quote_view(oid: str, quote: Evidence) -> Quote:
    """Return a piece of evidence as it is shown."""
    return Quote(
        oid, quote.session, quote.message, quote.cls, quote.attested, quote.at, quote.quote
    )


def _text(store: Store, place: RecordAt) -> str:
    return store.repo.reader.blob(place.blob, max_bytes=MAX_BYTES).decode("utf-8")
