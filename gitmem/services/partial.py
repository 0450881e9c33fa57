"""Approving a part of a proposal, or its text in other words.

What is approved becomes a proposal of its own on the same base, with its own checks and its own
approval; the first one is put aside. So what nobody approved is reachable from no branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gitmem.domain.kept import Closing
from gitmem.domain.layout import parse_record_path, record_path
from gitmem.domain.proposal import OWN_WORDS, SHORT_QUOTES, Proposal
from gitmem.domain.review import Finding, Review
from gitmem.errors import GitFailed, InvalidInput, NotFound, Refused
from gitmem.records import read_record, write_record
from gitmem.results import MergeResult
from gitmem.sessions import SessionFiles
from gitmem.store import (
    Draft,
    Judged,
    Origin,
    Store,
    approval_of,
    check_draft,
    check_would_do,
    draft_diff,
    proposal_id,
)
from gitmem.store.approving import changed_meanwhile, check_earlier, put_approved
from gitmem.store.branches import proposer_identity
from gitmem.store.carrying import Target, carried_draft, targets_of
from gitmem.store.fresh_id import with_fresh_id
from gitmem.store.rejecting import decide_rejection
from gitmem.store.statements import Person, cited_sessions


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
    person: Person,
    prefix: str,
    choice: Choice,
    expected_change: str | None = None,
) -> MergeResult:
    """Approve what ``choice`` leaves of a proposal, and merge that.

    Killed on the way, nothing of it is lost: first what was approved is written with its
    approval, then the whole is put aside, and with it what was rejected; then comes the merge.

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
        raise changed_meanwhile(name, "approved")
    if choice.texts and judged.branch.proposal.kind in OWN_WORDS:
        raise Refused(
            f"{name} quotes a person's own words as they were; other words need other quotes",
            hint=f"To say it anew: gitmem reject {name} --reason TEXT, and then remember, edit or "
            "adopt what it should say.",
        )
    approval = approval_of(judged.branch.proposal.change, person.who, person.now)
    check_would_do(judged, approval)
    if choice.names == set(judged.branch.proposal.names) and not choice.texts:
        return _whole(store, judged, approval)
    draft = _draft(store, judged, choice, person)
    own_words = draft.proposal.kind in SHORT_QUOTES
    findings = check_draft(store, draft, cited_sessions(sessions, draft), own_words=own_words)
    _check_blockers(findings)
    if choice.texts and person.confirm and not person.confirm(draft_diff(store, draft, findings)):
        return MergeResult(name, "declined", "")
    author = proposer_identity(draft.proposal.proposed_by)
    with store.repo.lock():
        store.check_unmoved(name, tip)
        check_would_do(store.judged_as(name, tip), approval)
        put, is_enough = put_approved(store, draft, findings, person.who, person.now, author)
        try:
            _put_aside(store, judged, choice, person, draft.proposal.id)
            merge = store.merge(draft.proposal.id, put) if is_enough else ""
        except GitFailed as error:
            waits = f"What you approved waits: gitmem approve {draft.proposal.id}"
            raise GitFailed(error.message, hint=f"{error.hint}\n{waits}".lstrip()) from error
        store.expire_kept(person.now)
    left = sorted(set(judged.branch.proposal.names) - choice.names)
    notes = (f"left out: {', '.join(left)}; the whole is kept as {name}",) if left else ()
    return MergeResult(draft.proposal.id, "merged" if merge else "waiting", merge, notes)


def _check_blockers(findings: Iterable[Finding]) -> None:
    """Refuse what could not be approved, before anybody is asked about it."""
    for finding in findings:
        if finding.severity == "blocker":
            raise Refused(
                f"{finding.record}: {finding.text}",
                hint="Nothing was written. Change the text and try again.",
            )


def _draft(store: Store, judged: Judged, choice: Choice, person: Person) -> Draft:
    """Return what was chosen as a proposal of its own on the same base."""
    whole = judged.branch.proposal
    origin = with_fresh_id(store, _origin(whole, choice, person))
    proposal = replace(
        whole,
        id=proposal_id(origin),
        proposed_by=origin.proposed_by,
        nonce=origin.nonce,
        created_at=origin.now,
    )
    draft = carried_draft(store, judged.ground, proposal, _targets(judged, choice))
    if not draft.proposal.changes:
        raise Refused(
            f"nothing of {whole.id} is left to approve",
            hint=f"To reject it: gitmem reject {whole.id}",
        )
    return draft


def _whole(store: Store, judged: Judged, approval: Review) -> MergeResult:
    """Approve a proposal of which everything was chosen: it is merged as it is."""
    name = judged.branch.proposal.id
    check_earlier(store, judged.branch)
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


def _targets(judged: Judged, choice: Choice) -> list[Target]:
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
    # Of another type, an added record has another place; one that has a place keeps it.
    place = parse_record_path(target.path)
    sharded = place is not None and place.sharded
    path = record_path(record.type, record.name, sharded=sharded)
    return replace(target, path=path, record=write_record(record), quotes=quotes)


def _origin(whole: Proposal, choice: Choice, person: Person) -> Origin:
    # Who puts it in other words has proposed it, and is not its second person.
    by = person.who if choice.texts else whole.proposed_by
    return Origin(whole.kind, by, whole.session, whole.attested, person.nonce, person.now)


def _put_aside(store: Store, judged: Judged, choice: Choice, person: Person, by: str) -> None:
    """Put the whole aside: as rejected where a person said no to a part, else as superseded."""
    proposal, tip, who = judged.branch.proposal, judged.branch.tip, person.who
    records = {n: r for n, r in judged.branch.records.items() if n in choice.rejected}
    if choice.rejected:
        why = f"left out when the rest was approved as {by}"
        decide_rejection(store, proposal.id, tip, records, who, person.now, why, person.nonce)
    else:
        store.keep(tip, Closing(proposal.id, "superseded", person.now, f"approved as {by}", who))
