"""remember, edit and forget: a person's own change, in one step.

It takes the same road as every other change: a proposal with evidence (the person's own text),
the checks, the person's review, a merge. What differs is that nothing is written before the
person has seen it and said yes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitmem.domain.evidence import Evidence, supports
from gitmem.domain.layout import check_name
from gitmem.domain.record import MAX_BYTES, MAX_DESCRIPTION, MAX_EVIDENCE, Record, statement
from gitmem.domain.review import Finding
from gitmem.domain.session import Session
from gitmem.domain.structure import check_type
from gitmem.domain.terms import NewTerms, Terms, changed_terms, in_words, terms_of
from gitmem.domain.text import fold_whitespace, normalise_statement, to_nfc
from gitmem.domain.tombstone import MAX_REASON
from gitmem.errors import InvalidInput, NotFound, Refused, Usage, Waiting
from gitmem.naming import name_for
from gitmem.results import ProposalResult
from gitmem.sessions import SessionFiles
from gitmem.store import (
    Draft,
    Entry,
    Origin,
    Store,
    check_draft,
    draft_diff,
    effects,
    finding_views,
    make_draft,
    merge_approved,
    neighbours,
    person_identity,
)
from gitmem.store.fresh_id import with_fresh_id
from gitmem.store.statements import (
    SENTENCE_END,
    Person,
    cited_sessions,
    person_statement,
    statement_quotes,
)


def remember(
    store: Store,
    sessions: SessionFiles,
    person: Person,
    text: str,
    *,
    name: str | None,
    record_type: str,
    description: str | None,
    terms: NewTerms,
) -> ProposalResult:
    """Add a record out of a person's own words.

    Raises:
        InvalidInput: the text breaks a limit of records, or holds a secret.
        Refused: the name is taken, or a check blocks it.
    """
    check_type(record_type)
    text = _typed(text).strip()
    _check_size(text)
    holds = changed_terms(Terms(), terms)
    session = person_statement(sessions, person, _said(text, in_words("This", Terms(), holds)))
    store.head()
    if name is not None:
        check_name(name)
        if store.projection.record(name) is not None:
            raise Refused(f"{name} is remembered already", hint=f"Run `gitmem edit {name}`.")
    else:
        name = name_for(text, lambda taken: store.projection.record(taken) is not None)
    entry = Entry(
        name=name,
        type=record_type,
        description=to_nfc(description) if description is not None else describe(text),
        body=text,
        evidence=statement_quotes(session, record_type, name),
        terms=holds,
    )
    return _carry_out(store, sessions, person, session, "remember", [entry], {})


def edit(
    store: Store,
    sessions: SessionFiles,
    person: Person,
    name: str,
    *,
    body: str | None,
    description: str | None,
    record_type: str | None,
    terms: NewTerms,
) -> ProposalResult:
    """Revise a record. Its old quotes stay, as far as they can support it and there is room.

    Raises:
        NotFound: nothing of this name is remembered, or of one that it is to supersede.
        Usage: nothing would change.
        InvalidInput, Refused: as for :func:`remember`.
    """
    if record_type is not None:
        check_type(record_type)
    old = _existing(store, name)
    new_body = old.body if body is None else _typed(body).strip("\n")
    new_description = old.description if description is None else to_nfc(description)
    new_type = record_type or old.type
    holds = changed_terms(terms_of(old), terms)
    if (new_body, new_description, new_type, holds) == (
        old.body,
        old.description,
        old.type,
        terms_of(old),
    ):
        raise Usage(f"nothing of {name} would change")
    _check_superseded(store, holds, old)
    _check_size(new_description + new_body)
    said = [new_body] if new_body != old.body else []
    said = [new_description, *said] if new_description != old.description else said
    words = in_words(name, terms_of(old), holds)
    action = f"Change the type of {name} to {new_type}."
    session = person_statement(sessions, person, _said(*said, words) or action)
    quotes = statement_quotes(session, new_type, name) if said or words else ()
    kept = _supporting(store, old, new_type)
    if not kept and not said:
        raise Refused(
            f"nothing that a person said is quoted by {name}, which a {new_type} record needs",
            hint="Say it in your own words too: give the body or the description anew.",
        )
    if not said and len(kept) + len(quotes) > MAX_EVIDENCE:
        quotes = ()  # what supports the fact itself weighs more; the session keeps the words
    entry = Entry(
        name=name,
        type=new_type,
        description=new_description,
        body=new_body,
        evidence=(*kept[: max(0, MAX_EVIDENCE - len(quotes))], *quotes),
        keep=old,
        terms=holds,
    )
    return _carry_out(store, sessions, person, session, "edit", [entry], {})


def forget(
    store: Store, sessions: SessionFiles, person: Person, name: str, *, reason: str
) -> ProposalResult:
    """Retire a record; a tombstone keeps the same fact from coming back by itself.

    Raises:
        NotFound: nothing of this name is remembered.
        Usage: the reason is too long.
    """
    _existing(store, name)
    reason = fold_whitespace(to_nfc(reason))
    if len(reason) > MAX_REASON:
        raise Usage(f"a reason has at most {MAX_REASON} characters, not {len(reason)}")
    session = person_statement(sessions, person, reason or f"Forget {name}.")
    return _carry_out(store, sessions, person, session, "forget", [], {name: reason})


def describe(text: str) -> str:
    """Return a one-line description: the first sentence, cut at a word where it is too long."""
    first = fold_whitespace(SENTENCE_END.split(text.strip(), maxsplit=1)[0])
    if len(first) <= MAX_DESCRIPTION:
        return first
    cut = first[: MAX_DESCRIPTION - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > MAX_DESCRIPTION // 2 else cut).rstrip() + "…"


def _supporting(store: Store, record: Record, record_type: str) -> list[Evidence]:
    """Return the quotes of a record that would also support it under another type."""
    quotes = [store.facts.evidence(oid, record.name) for oid in record.evidence]
    return [quote for quote in quotes if supports(quote.cls, record_type)]


def _said(*texts: str) -> str:
    """The texts of a person's one message."""
    return "\n\n".join(text for text in texts if text)


def _typed(text: str) -> str:
    """``text`` as records keep it: composed, and with the line ends of one system."""
    return to_nfc(text).replace("\r\n", "\n")


def _check_size(text: str) -> None:
    """Refuse early what no record can hold, before it is searched for anything."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise InvalidInput(
            f"has {size} bytes; a record's whole file has at most {MAX_BYTES}",
            where="text",
            hint="Remember it as several facts, each with a sentence or two.",
        )


def _check_superseded(store: Store, new: Terms, old: Record) -> None:
    """Refuse to take the place of what is not there; what stood there before may be gone."""
    for name in new.supersedes:
        if name not in old.supersedes and store.projection.record(name) is None:
            raise NotFound(
                f"nothing is remembered as {name}, so it cannot be superseded",
                hint="Run `gitmem list` to see what is.",
            )


def _existing(store: Store, name: str) -> Record:
    store.head()
    row = store.projection.record(name)
    if row is None:
        raise NotFound(f"nothing is remembered as {name}", hint="Run `gitmem list` to see what is.")
    return store.facts.record(row.blob, row.path)


def _carry_out(
    store: Store,
    sessions: SessionFiles,
    person: Person,
    session: Session,
    kind: str,
    entries: Sequence[Entry],
    retire: Mapping[str, str],
) -> ProposalResult:
    origin = Origin(kind, person.who, session.id, session.attested, person.nonce, person.now)
    origin = with_fresh_id(store, origin)
    names = [entry.name for entry in entries] + list(retire)
    ground = store.facts.ground(store.head().accepted, names)
    draft = make_draft(ground, origin, entries, retire)
    here = {session.id: session, **cited_sessions(sessions, draft)}
    findings = check_draft(store, draft, here, own_words=True)
    blockers = [finding for finding in findings if finding.severity == "blocker"]
    if blockers:
        raise Refused(
            f"{blockers[0].record or kind}: {blockers[0].text}",
            hint="Nothing was written. Change the text and try again.",
        )
    _refuse_twin(store, kind, draft)
    diff = draft_diff(store, draft, findings)
    if person.confirm is not None and not person.confirm(diff):
        return _result(draft, findings, "declined", None)
    with store.repo.lock():
        if store.facts.ground(store.head().accepted, names).records != ground.records:
            raise Waiting(
                f"{', '.join(names)} changed on main meanwhile; nothing was written",
                hint="Look at what is remembered now, and try again.",
            )
        _refuse_twin(store, kind, draft)
        sessions.keep_statement(session, speaker=person.who)
        author = person_identity(person.who)
        merge = merge_approved(store, draft, findings, person.who, person.now, author)
    if merge is None:
        name = draft.proposal.id
        store.notes.append(f"the policy wants another person too: gitmem approve {name}")
    return _result(draft, findings, "merged" if merge else "waiting", merge)


def _refuse_twin(store: Store, kind: str, draft: Draft) -> None:
    """Refuse to remember what is remembered in the same words under another name."""
    for record in draft.records.values() if kind == "remember" else ():
        text = statement(record)
        for near in neighbours(store, [text]):
            if normalise_statement(near.statement) == normalise_statement(text):
                raise Refused(
                    f"this is remembered already, as {near.name}",
                    hint=f"To change it: gitmem edit {near.name}",
                )


def _result(
    draft: Draft, findings: Sequence[Finding], state: str, merge: str | None
) -> ProposalResult:
    return ProposalResult(
        proposal=draft.proposal.id if state != "declined" else None,
        state=state,
        records=effects(draft.proposal, draft.records),
        findings=finding_views(findings),
        dropped=(),
        merge=merge,
        session=draft.proposal.session,
    )
