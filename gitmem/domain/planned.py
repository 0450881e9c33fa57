"""The last step of every commit on main: from a plan and a view to its id, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gitmem.domain.commit_message import CommitMessage, write_message
from gitmem.domain.instants import format_instant
from gitmem.domain.layout import MANIFEST, POLICY, REVIEWERS, VIEW
from gitmem.domain.manifest import ByType, FolderPin, Manifest, RecordsPin
from gitmem.domain.objects import (
    EMPTY_TREE,
    Commit,
    Identity,
    TreeEntry,
    blob_id,
    decode_tree,
    edit_tree,
    encode_commit,
    format_signature,
    object_id,
)

#: Who commits on main. ``.invalid`` is reserved by RFC 2606: nobody receives mail there.
LEDGER_IDENTITY = Identity("gitmem", "noreply@gitmem.invalid")
ReadTree = Callable[[str], tuple[TreeEntry, ...]]
Changes = Mapping[str, "bytes | str | None"]


@dataclass(frozen=True, slots=True)
class Plan:
    """A change of main before view and manifest are computed."""

    parents: tuple[str, ...]
    changes: Changes
    change: str
    approved_by: tuple[str, ...]
    at: int
    message: CommitMessage
    by_type: Mapping[str, int]
    evidence_count: int
    tombstone_count: int


@dataclass(frozen=True, slots=True)
class PlannedCommit:
    """A commit of main, computed but not written. ``changes`` are against the ground's tree."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    changes: Changes
    message: str
    at: int
    manifest: Manifest


def complete(plan: Plan, view: bytes, ground_tree: str, read_tree: ReadTree) -> PlannedCommit:
    """Compute manifest, tree and id of a planned commit."""
    first = edit_tree(ground_tree, _oids(plan.changes), read_tree)
    pins = _pins(first.root, first.trees, read_tree)
    manifest = Manifest(
        version=1,
        records=RecordsPin(
            tree=pins["records"], count=sum(plan.by_type.values()), by_type=ByType(**plan.by_type)
        ),
        evidence=FolderPin(tree=pins["evidence"], count=plan.evidence_count),
        tombstones=FolderPin(tree=pins["tombstones"], count=plan.tombstone_count),
        policy=pins[POLICY],
        reviewers=pins[REVIEWERS],
        change=plan.change,
        approved_by=sorted(plan.approved_by),
        approved_at=format_instant(plan.at),
    )
    derived: Changes = {MANIFEST: manifest.to_bytes(), VIEW: view}

    def read_new(oid: str) -> tuple[TreeEntry, ...]:
        return decode_tree(first.trees[oid]) if oid in first.trees else read_tree(oid)

    tree = edit_tree(first.root, _oids(derived), read_new).root
    changes: Changes = {**plan.changes, **derived}
    message = write_message(plan.message)
    who = format_signature(LEDGER_IDENTITY, plan.at)
    data = encode_commit(Commit(tree, plan.parents, who, who, message))
    return PlannedCommit(
        object_id("commit", data), tree, plan.parents, changes, message, plan.at, manifest
    )


def _oids(changes: Changes) -> dict[str, str | None]:
    return {p: blob_id(v) if isinstance(v, bytes) else v for p, v in changes.items()}


def _pins(root: str, fresh: Mapping[str, bytes], read_tree: ReadTree) -> dict[str, str]:
    entries = decode_tree(fresh[root]) if root in fresh else read_tree(root)
    pins = dict.fromkeys(("records", "evidence", "tombstones", REVIEWERS, POLICY), EMPTY_TREE)
    pins.update({entry.name: entry.oid for entry in entries if entry.name in pins})
    return pins
