"""adopt: a proposal out of what a person edited or committed by hand.

It takes the road of every other change: the person's own text is its evidence, the checks run,
and it waits for an approval. No checked-out file is touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gitmem.domain.evidence import MIN_QUOTE, Evidence, supports
from gitmem.domain.layout import POLICY, evidence_path
from gitmem.domain.proposal import subject_names
from gitmem.domain.record import MAX_EVIDENCE, Record
from gitmem.domain.review import Finding
from gitmem.domain.session import Session
from gitmem.domain.shell import shell_argument, shell_word
from gitmem.domain.text import fold_whitespace, quote_length
from gitmem.domain.verify import Branch, Ground
from gitmem.errors import InvalidInput, NotFound, Waiting
from gitmem.results import ProposalResult, RecordEffect
from gitmem.sessions import SessionFiles
from gitmem.store import (
    Draft,
    Entry,
    Origin,
    Store,
    check_draft,
    checks_review,
    draft_diff,
    effects,
    finding_views,
    make_draft,
    person_identity,
    shown_state,
)
from gitmem.store.edited import Edits, RecordEdit, move_command
from gitmem.store.edits import find_commit_edits
from gitmem.store.fresh_id import with_fresh_id
from gitmem.store.same_text import same_record
from gitmem.store.statements import Person, cited_sessions, person_statement, statement_quotes

MAX_ADOPTED = 100
"""Records of one proposal: their text is one message, and a person reads all of it."""

_ADOPT = "adopt-"  # how the ids of such proposals begin
_LOOKED_BACK = 500  # commits of main, the newest first
_NAMED = 3  # strays that are named one by one
_BY_HAND = "deleted by hand"
_FIELDS = ("type", "valid_from", "valid_until", "status", "supersedes")


@dataclass(frozen=True, slots=True)
class _Written:
    """What a person wrote in one record: ``words`` is their text, ``act`` what else they did."""

    words: str
    act: str

    @property
    def whole(self) -> str:
        return "\n\n".join(text for text in (self.words, self.act) if text)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A draft with its session and what the checks found, ready to be confirmed."""

    draft: Draft
    session: Session
    findings: tuple[Finding, ...]
    ground: Ground


def adopt(store: Store, sessions: SessionFiles, person: Person, edits: Edits) -> ProposalResult:
    """Propose the records that a person edited by hand, once they have said yes.

    What waits in an open proposal already is not proposed again: the result names that one.

    Raises:
        Waiting: what is edited changed on main meanwhile.
    """
    waiting = _already_proposed(store, edits)
    asked = _draft(store, sessions, person, edits)
    if asked is None:
        return _nothing_new(store, edits, waiting)
    if person.confirm is not None and not person.confirm(
        draft_diff(store, asked.draft, asked.findings)
    ):
        return _result(asked, edits, "declined", None)
    draft, names = asked.draft, asked.draft.proposal.names
    with store.repo.lock():
        if store.facts.ground(store.head().accepted, names).records != asked.ground.records:
            raise Waiting(
                f"{', '.join(names)} changed on main meanwhile; nothing was written",
                hint="Look at what is remembered now, and run `gitmem adopt` again.",
            )
        if _already_proposed(store, edits):  # another process was as fast with the same files
            raise Waiting(
                f"{', '.join(names)} was proposed meanwhile; nothing was written",
                hint="Run `gitmem proposals` to see it.",
            )
        sessions.keep_statement(asked.session, speaker=person.who)
        review = checks_review(draft, asked.findings, person.now)
        tip = store.put_proposal(draft, [review], person_identity(person.who))
        state = shown_state(store.judged(tip).decision)
    return _result(asked, edits, state, draft.proposal.id)


# --- what is proposed already --------------------------------------------------------------


def _already_proposed(store: Store, edits: Edits) -> dict[str, str]:
    """Take out of ``edits`` what a proposal says already; return the open ones: id -> tip."""
    found: dict[str, str] = {}
    if not edits.records:
        return found
    for proposal_id, tip in store.open_proposals().items():
        branch = _branch(store, tip)
        covered = [edit for edit in edits.records if branch and _says(branch, edit)]
        if covered:
            found[proposal_id] = tip
            _take_out(edits, covered, _open(store, proposal_id, tip))
    for tip in edits.merged:
        branch = _branch(store, tip)
        if branch is None or store.projection.decided(branch.proposal.id):
            continue
        covered = [edit for edit in edits.records if _says(branch, edit)]
        where, name = store.repo.root or store.repo.git_dir, branch.proposal.id
        _take_out(
            edits,
            covered,
            f"as {name} does, whose branch is gone; to open it again: "
            f"git -C {shell_word(str(where))} branch {shell_word(f'proposals/{name}')} {tip}",
        )
    return found


def _branch(store: Store, tip: str, *, any_base: bool = False) -> Branch | None:
    try:
        return store.facts.branch(tip, any_base=any_base)
    except (InvalidInput, NotFound):  # `gitmem proposals` and fsck name it
        return None


def _says(branch: Branch, edit: RecordEdit) -> bool:
    """Whether a proposal makes of the record what the person did."""
    if edit.after is None:
        changes = branch.proposal.changes
        return any(change.name == edit.name and change.new is None for change in changes)
    record = branch.records.get(edit.name)
    return record is not None and same_record(record, edit.after)


def _open(store: Store, proposal_id: str, tip: str) -> str:
    name = shell_argument(proposal_id)
    if store.judged(tip).decision.state == "stale":
        return f"in {proposal_id}, which is stale: gitmem rebase {name}"
    return f"in {proposal_id}: gitmem approve {name}"


def _take_out(edits: Edits, covered: Sequence[RecordEdit], where: str) -> None:
    for edit in covered:
        edits.records.remove(edit)
    if covered:
        names = subject_names(edit.name for edit in covered)
        edits.notes.append(f"{names}: proposed already so, {where}")


def _nothing_new(store: Store, edits: Edits, waiting: Mapping[str, str]) -> ProposalResult:
    dropped, notes = tuple(edits.dropped), tuple(edits.notes)
    if len(waiting) != 1:
        state = "waiting" if waiting else "nothing"
        return ProposalResult(None, state, (), (), dropped, notes=notes)
    ((proposal_id, tip),) = waiting.items()
    judged = store.judged(tip)
    return ProposalResult(
        proposal=proposal_id,
        state=shown_state(judged.decision),
        records=effects(judged.branch.proposal, judged.branch.records),
        findings=(),
        dropped=dropped,
        notes=notes,
        session=judged.branch.proposal.session,
    )


# --- what was passed over ------------------------------------------------------------------


def passed_over(store: Store) -> list[str]:
    """Name the newest commits by hand that a merge has passed over and that nobody has adopted.

    Those count whose change is still to be made: memory is as it was before them, and no
    proposal to adopt it was made, whatever became of that.
    """
    strays = store.head().strays
    proposed: list[Branch] | None = None
    found: list[str] = []
    end = ""  # of a run of strays: what a later one undid is no change any more
    for row in store.projection.commits(limit=_LOOKED_BACK):
        end = (end or row.oid) if row.kind == "stray" else ""
        if not end or row.oid in strays:
            continue
        proposed = _adoptions(store) if proposed is None else proposed
        names = _not_adopted(store, row.oid, end, proposed)
        if names:
            found.append(
                f"{row.oid[:12]} was made by hand and passed over, so what it says of "
                f"{subject_names(names)} is no memory: gitmem adopt {row.oid[:12]}"
            )
    more = len(found) - _NAMED
    tail = [f"and {more} older ones, which are named by: gitmem fsck"] if more > 0 else []
    return found[:_NAMED] + tail


def _not_adopted(store: Store, stray: str, end: str, proposed: Sequence[Branch]) -> list[str]:
    """Return what ``stray`` changed that is still to be adopted; its run ends with ``end``."""
    edits = find_commit_edits(store, stray)
    now, then = (store.repo.reader.commit(oid).tree for oid in (edits.base, end))

    def is_changed(path: str) -> bool:
        return store.facts.entry(now, path) != store.facts.entry(then, path)

    names = [
        edit.name
        for edit in edits.records
        if is_changed(edit.path) and not any(_says(branch, edit) for branch in proposed)
    ]
    return names + ([POLICY] if edits.policy is not None and is_changed(POLICY) else [])


def _adoptions(store: Store) -> list[Branch]:
    """Return the proposals that wait, and those to adopt something that were decided."""
    tips = list(store.open_proposals().values())
    tips += [kept.tip for kept in store.kept() if kept.name.startswith(_ADOPT)]
    for row in store.projection.commits(limit=_LOOKED_BACK):
        if row.kind == "merge" and row.change.startswith(_ADOPT):
            tips.append(store.repo.reader.commit(row.oid).parents[1])
    branches = (_branch(store, tip, any_base=True) for tip in tips)
    return [branch for branch in branches if branch is not None]


# --- what is new ---------------------------------------------------------------------------


def _draft(store: Store, sessions: SessionFiles, person: Person, edits: Edits) -> _Asked | None:
    """Build the draft; what cannot be proposed is dropped alone, and it is built again without."""
    for edit in edits.records[MAX_ADOPTED:]:
        edits.drop(
            edit.name,
            f"at most {MAX_ADOPTED} records are adopted at once; run `gitmem adopt` again",
        )
    del edits.records[MAX_ADOPTED:]
    origin = Origin("adopt", person.who, None, "caller", person.nonce, person.now)
    _drop_unsayable(sessions, person, edits)
    while edits.records:
        names = [edit.name for edit in edits.records]
        ground = store.facts.ground(store.head().accepted, names)
        text = "\n\n".join(_written(edit).whole for edit in edits.records)
        session = person_statement(sessions, person, text)
        origin = replace(origin, session=session.id, attested=session.attested)
        origin = with_fresh_id(store, origin)
        entries, retire, refused = _entries(store, session, edits.records, ground, origin)
        if not refused:
            draft = make_draft(ground, origin, entries, retire)
            here = {session.id: session, **cited_sessions(sessions, draft)}
            findings = check_draft(store, draft, here, own_words=True)
            refused = {f.record: f.text for f in findings if f.severity == "blocker" and f.record}
        if not refused:
            return _Asked(draft, session, findings, ground)
        _drop(edits, refused)
    return None


def _drop(edits: Edits, refused: Mapping[str, str]) -> None:
    for edit in [edit for edit in edits.records if edit.name in refused]:
        edits.records.remove(edit)
        edits.drop(edit.name, f"{edit.path}: {refused[edit.name]}")


def _drop_unsayable(sessions: SessionFiles, person: Person, edits: Edits) -> None:
    """Drop each record whose own text would be kept masked, so that the others go on."""
    refused = {}
    for edit in edits.records:
        try:
            person_statement(sessions, person, _written(edit).whole)
        except InvalidInput as error:
            refused[edit.name] = error.message
    _drop(edits, refused)


def _entries(
    store: Store,
    session: Session,
    records: Sequence[RecordEdit],
    ground: Ground,
    origin: Origin,
) -> tuple[list[Entry], dict[str, str], dict[str, str]]:
    """Return what is added or revised, what is retired and why, and what is refused and why."""
    entries: list[Entry] = []
    retire: dict[str, str] = {}
    refused: dict[str, str] = {}
    for edit in records:
        if edit.after is None:
            retire[edit.name] = _BY_HAND
            continue
        try:
            entry = _entry(store, session, edit, edit.after)
            (change,) = make_draft(ground, origin, [entry], {}).proposal.changes
        except InvalidInput as error:
            refused[edit.name] = f"with its quotes, {error.message}"
            continue
        if edit.root and edit.old is None and change.new and change.new.path != edit.path:
            move = move_command(edit.root, edit.path, change.new.path)
            refused[edit.name] = f"belongs at {change.new.path}: {move}"
        entries.append(entry)
    return entries, retire, refused


def _entry(store: Store, session: Session, edit: RecordEdit, after: Record) -> Entry:
    """Return the record with the old quotes that can support it, and new ones of its words."""
    old = {oid: store.facts.evidence(oid, evidence_path(edit.name, oid)) for oid in edit.cites}
    kept: list[Evidence] = [said for said in old.values() if supports(said.cls, after.type)]
    written = _written(edit)
    quoted = written.words or ("" if kept else written.act)
    quotes = statement_quotes(session, after.type, edit.name, quoted) if quoted else ()
    return Entry(
        name=edit.name,
        type=after.type,
        description=after.description,
        body=after.body,
        evidence=(*kept[: MAX_EVIDENCE - len(quotes)], *quotes),
        keep=after,
    )


def _written(edit: RecordEdit) -> _Written:
    """Return a person's words in a record: all of a new one, of an old one what is new."""
    after, before = edit.after, edit.before
    if after is None:
        return _Written("", f"Retire {edit.name}.")
    words = [after.description] if before is None or before.description != after.description else []
    if before is None or fold_whitespace(before.body) != fold_whitespace(after.body):
        if words and fold_whitespace(words[0]) in fold_whitespace(after.body):
            words = []
        words.append(after.body.strip())
    text = "\n\n".join(words)
    if text and quote_length(fold_whitespace(text)) < MIN_QUOTE:
        text = f"{edit.name} ({after.type}): {text}"
    done = _acts(before, after) if before is not None else []
    if not text and not done:
        done = [f"Keep {after.name} with these quotes only."]
    return _Written(text, "\n".join(done))


def _acts(before: Record, after: Record) -> list[str]:
    """Say in a sentence each what was done to the other fields."""
    changed = [(key, getattr(before, key), getattr(after, key)) for key in _FIELDS]
    for key in sorted(before.extra.keys() | after.extra.keys()):
        changed.append((key, before.extra.get(key), after.extra.get(key)))
    return [
        f"Set {key} of {after.name} to {_shown(new)}." if new else f"Take {key} off {after.name}."
        for key, old, new in changed
        if old != new
    ]


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _result(asked: _Asked, edits: Edits, state: str, proposal: str | None) -> ProposalResult:
    records: tuple[RecordEffect, ...] = effects(asked.draft.proposal, asked.draft.records)
    return ProposalResult(
        proposal=proposal,
        state=state,
        records=records,
        findings=finding_views(asked.findings),
        dropped=tuple(edits.dropped),
        notes=tuple(edits.notes),
        session=asked.session.id,
    )
