"""Changes that carry over what git holds already: a part, a newer base, an earlier text.

Records and quotes are named by their blobs, so that what was reviewed is what is merged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gitmem.domain.layout import evidence_path
from gitmem.domain.objects import blob_id
from gitmem.domain.proposal import Proposal, RecordAt, RecordChange
from gitmem.domain.record import MAX_BYTES, Record
from gitmem.domain.verify import Branch, Ground
from gitmem.errors import InvalidInput
from gitmem.records import read_record, write_record
from gitmem.store.drafting import Draft
from gitmem.store.store import Store

Content = bytes | str


@dataclass(frozen=True, slots=True)
class Target:
    """What a name is to become.

    ``record`` is the file's content or the id of a blob that is there, None where the name is
    to be retired; ``quotes`` are ids of blobs that are there. ``path`` is where the record
    goes unless the name has a place already.
    """

    name: str
    path: str
    record: Content | None
    quotes: frozenset[str] = frozenset()


def targets_of(branch: Branch) -> list[Target]:
    """Return what a proposal makes of each name."""
    return [
        Target(change.name, change.new.path, change.new.blob, branch.evidence[change.name])
        if change.new
        else Target(change.name, change.old.path if change.old else "", None)
        for change in branch.proposal.changes
    ]


def fitting(
    store: Store, ground: Ground, proposal: Proposal, targets: Iterable[Target]
) -> list[Target]:
    """Return ``targets`` without the quotes that the proposal may not bring along to ``ground``.

    A proposal adds quotes of its own session only. Where main has retired a record meanwhile,
    the older quotes of it are none of the proposal's; the record goes on without them.

    Raises:
        InvalidInput: a record would be left without a quote.
    """
    if proposal.attested is None:
        return list(targets)
    source = (proposal.attested, proposal.session)
    return [_of_source(store, ground, target, source) for target in targets]


def _of_source(
    store: Store, ground: Ground, target: Target, source: tuple[str, str | None]
) -> Target:
    foreign = set()
    for oid in target.quotes - ground.evidence[target.name]:
        quote = store.facts.evidence(oid, evidence_path(target.name, oid))
        if (quote.attested, quote.session) != source:
            foreign.add(oid)
    if target.record is None or not foreign:
        return target
    record = read_record(_content(store, target.record), target.path)
    kept = tuple(oid for oid in record.evidence if oid not in foreign)
    if not kept:
        raise InvalidInput(
            "was retired meanwhile, and what is proposed has no quote of its own for it",
            where=target.name,
            hint="Reject the proposal, and say again what is to be remembered.",
        )
    data = write_record(record.model_copy(update={"evidence": kept}))
    return replace(target, record=data, quotes=frozenset(kept))


def change_on(
    ground: Ground, targets: Iterable[Target]
) -> tuple[tuple[RecordChange, ...], dict[str, Content | None]]:
    """Return the smallest change that brings ``targets`` about on ``ground``, and its files.

    What is so already is no part of it.
    """
    changes: list[RecordChange] = []
    files: dict[str, Content | None] = {}
    for target in targets:
        old, have = ground.records[target.name], ground.evidence[target.name]
        new = _place(target, old)
        if new == old:
            continue
        changes.append(RecordChange(target.name, old, new))
        if new:
            files[new.path] = target.record
        elif old:
            files[old.path] = None
        wanted = target.quotes if new else frozenset()
        files.update({evidence_path(target.name, oid): oid for oid in wanted - have})
        files.update({evidence_path(target.name, oid): None for oid in have - wanted})
    return tuple(sorted(changes, key=lambda change: change.name)), files


def _place(target: Target, old: RecordAt | None) -> RecordAt | None:
    if target.record is None:
        return None
    is_content = isinstance(target.record, bytes)
    blob = blob_id(target.record) if is_content else target.record  # type: ignore[arg-type]
    return RecordAt(old.path if old else target.path, blob)  # type: ignore[arg-type]


def carried_draft(
    store: Store, ground: Ground, proposal: Proposal, targets: Iterable[Target]
) -> Draft:
    """Return ``proposal`` with ``targets`` as its change, as a draft that can be checked.

    Raises:
        InvalidInput: a record in it is illegal.
    """
    wanted = {target.name: target for target in targets}
    changes, files = change_on(ground, wanted.values())
    retired = {change.name for change in changes if change.kind == "retired"}
    reasons = tuple((name, why) for name, why in proposal.retire_reasons if name in retired)
    texts: dict[str, str] = {}
    records: dict[str, Record] = {}
    for change in changes:
        if change.new:
            data = _content(store, wanted[change.name].record)
            records[change.name] = read_record(data, change.new.path)
            texts[change.name] = data.decode("utf-8")
    evidence = {
        name: {oid: store.facts.evidence(oid, evidence_path(name, oid)) for oid in record.evidence}
        for name, record in records.items()
    }
    proposal = replace(proposal, changes=changes, retire_reasons=reasons)
    return Draft(proposal, files, records, texts, evidence)


def _content(store: Store, record: Content | None) -> bytes:
    assert record is not None
    if isinstance(record, bytes):
        return record
    return store.repo.reader.blob(record, max_bytes=MAX_BYTES)
