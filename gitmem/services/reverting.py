"""revert: a merge undone by a new one; what was changed after it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from gitmem.cache import CommitRow
from gitmem.domain.evidence import supports
from gitmem.domain.proposal import Proposal, RecordAt, RecordChange
from gitmem.domain.record import MAX_EVIDENCE, Record, make_record
from gitmem.domain.verify import Ground
from gitmem.errors import InvalidInput, NotFound, Refused
from gitmem.records import write_record
from gitmem.results import Dropped, ProposalDiff, ProposalResult
from gitmem.sessions import SessionFiles
from gitmem.store import (
    Origin,
    Store,
    check_draft,
    draft_diff,
    effects,
    finding_views,
    merge_approved,
    person_identity,
    proposal_id,
)
from gitmem.store.carrying import Target, carried_draft
from gitmem.store.fresh_id import with_fresh_id
from gitmem.store.statements import cited_sessions

Confirm = Callable[[ProposalDiff], bool]
_FIELDS = (
    "type",
    "description",
    "body",
    "valid_from",
    "valid_until",
    "status",
    "supersedes",
    "extra",
)
#: Characters that a commit id must have to be looked for.
_SHORTEST = 4


def revert(
    store: Store,
    sessions: SessionFiles,
    origin: Origin,
    given: str,
    confirm: Confirm | None,
) -> ProposalResult:
    """Undo a merge in a person's name: shown, confirmed, approved and merged in one step.

    Args:
        origin: of the kind ``revert``; ``proposed_by`` is the person.
        given: the beginning of the merged proposal's id, or of the merge's commit id.

    Raises:
        NotFound: main has no such merge, or several.
        Refused: it is no merge, or everything that it did was changed again.
    """
    store.head()
    merged = _merged(store, given)
    origin = with_fresh_id(store, origin)
    ground = store.healed(lambda: store.facts.ground(store.head().accepted, merged.names))
    left: list[Dropped] = []
    targets = list(_targets(store, ground, merged, left))
    reasons = tuple((target.name, f"reverts {merged.id}") for target in targets)
    draft = carried_draft(store, ground, _proposal(origin, ground, reasons), targets)
    if not draft.proposal.changes:
        said = "; ".join(f"{one.name} {one.reason}" for one in left)
        raise Refused(
            f"nothing of {merged.id} can be undone: {said or 'all is as it was before'}",
            hint=f"See what came after it: gitmem log {merged.names[0]}",
        )
    findings = check_draft(store, draft, cited_sessions(sessions, draft), own_words=True)
    result = ProposalResult(
        proposal=None,
        state="declined",
        records=effects(draft.proposal, draft.records),
        findings=finding_views(findings),
        dropped=tuple(left),
    )
    if confirm is not None and not confirm(draft_diff(store, draft, findings)):
        return result
    who = origin.proposed_by
    merge = merge_approved(store, draft, findings, who, origin.now, person_identity(who))
    state = "merged" if merge else "waiting"
    return replace(result, proposal=draft.proposal.id, state=state, merge=merge)


def _proposal(origin: Origin, ground: Ground, reasons: tuple[tuple[str, str], ...]) -> Proposal:
    return Proposal(
        id=proposal_id(origin),
        kind=origin.kind,
        proposed_by=origin.proposed_by,
        session=None,
        attested=None,
        base=ground.commit,
        nonce=origin.nonce,
        created_at=origin.now,
        changes=(),
        retire_reasons=reasons,
    )


def _merged(store: Store, given: str) -> Proposal:
    """Return the proposal of the one merge on main that ``given`` names."""
    rows = [row for row in store.projection.commits() if _is_named(row, given)]
    exact = [row for row in rows if given in (row.change, row.oid)]
    rows = exact or rows
    hint = "Run `gitmem log` to see every merge."
    if not rows:
        raise NotFound(f"main has no merge {given}", hint=hint)
    if len(rows) > 1:
        names = ", ".join(row.change for row in rows[:5])
        raise NotFound(f"{given} is the beginning of {len(rows)}: {names}", hint=hint)
    (row,) = rows
    if row.kind != "merge":
        raise Refused(f"{row.change} is a {row.kind}, not a merge", hint=_INSTEAD[row.kind])
    return store.facts.branch(store.repo.reader.commit(row.oid).parents[1], any_base=True).proposal


_INSTEAD = {
    "genesis": "The first commit of a memory cannot be undone.",
    "decision": "To change the policy: gitmem policy set KEY VALUE. "
    "To propose again what was rejected: gitmem reopen ID",
    "stray": "It is no memory, so there is nothing to undo; see `gitmem adopt`.",
}


def _is_named(row: CommitRow, given: str) -> bool:
    by_change = bool(given) and row.change.startswith(given)
    return by_change or (len(given) >= _SHORTEST and row.oid.startswith(given))


def _targets(
    store: Store, ground: Ground, merged: Proposal, left: list[Dropped]
) -> Iterator[Target]:
    """Yield what undoing ``merged`` makes of each name; ``left`` gets what stays, and why."""
    for change in merged.changes:
        now = ground.records[change.name]
        blobs = (_blob(change.old), _blob(change.new))
        if _blob(now) == blobs[0]:
            continue
        if _blob(now) == blobs[1]:
            yield _as_before(store, change)
            continue
        row = store.projection.record(change.name)
        since = f"was changed again by {row.change}" if row else "was retired since"
        merged_fields = _merged_fields(store, change, now)
        if merged_fields is None:
            left.append(Dropped(change.name, f"{since}; it is left as it is"))
        else:
            yield merged_fields


def _blob(place: RecordAt | None) -> str | None:
    return place.blob if place else None


def _as_before(store: Store, change: RecordChange) -> Target:
    if change.old is None:
        return Target(change.name, change.new.path if change.new else "", None)
    record = store.facts.record(change.old.blob, change.old.path)
    return Target(change.name, change.old.path, change.old.blob, frozenset(record.evidence))


def _merged_fields(store: Store, change: RecordChange, now: RecordAt | None) -> Target | None:
    """Undo the fields that nobody touched since; None where both changed the same one."""
    if change.old is None or change.new is None or now is None:
        return None
    old = store.facts.record(change.old.blob, change.old.path)
    new = store.facts.record(change.new.blob, change.new.path)
    mine = store.facts.record(now.blob, now.path)
    fields: dict[str, Any] = {}
    for name in _FIELDS:
        before, then, today = (getattr(record, name) for record in (old, new, mine))
        if today not in (before, then) and before != then:
            return None
        fields[name] = before if today == then else today
    cited = [oid for oid in mine.evidence if oid in old.evidence or oid not in new.evidence]
    cited += [oid for oid in old.evidence if oid not in new.evidence and oid not in cited]
    try:
        return _rewritten(store, mine, now, fields, cited)
    except InvalidInput:  # the two together break a limit: neither is lost, it is left as it is
        return None


def _rewritten(
    store: Store, mine: Record, now: RecordAt, fields: dict[str, Any], cited: list[str]
) -> Target:
    kept = tuple(
        oid for oid in cited if supports(store.facts.evidence(oid, mine.name).cls, fields["type"])
    )[:MAX_EVIDENCE]
    record = make_record(name=mine.name, evidence=kept, **fields)
    return Target(mine.name, now.path, write_record(record), frozenset(kept))
