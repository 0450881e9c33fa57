"""status: what is there, whether something is wrong, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.domain.layout import MANIFEST, RECORD_TYPES
from gitmem.domain.manifest import parse_manifest
from gitmem.results import ProposalSummary, Status, UnreadableRecord
from gitmem.sessions import SessionFiles
from gitmem.store import Head, Store
from gitmem.store.view_file import restore_view


def status(store: Store, sessions: SessionFiles, queue: Sequence[ProposalSummary]) -> Status:
    """Return the state of a store. ``queue`` is what ``proposals`` says.

    A view that is missing or edited in the checked-out files is rebuilt by the way.
    """
    head = store.head()
    store.notes += restore_view(store.repo)
    commit = store.repo.reader.commit(head.accepted)
    entry = store.facts.entry(commit.tree, MANIFEST)
    assert entry is not None  # an accepted commit has one
    manifest = parse_manifest(store.repo.reader.blob(entry.oid))
    unreadable = [p for p in queue if any(f.code == "unreadable" for f in p.findings)]
    waiting = [p for p in queue if p.state in ("open", "waiting")]
    by_type = {name: getattr(manifest.records.by_type, name) for name in RECORD_TYPES}
    return Status(
        store=_root(store),
        path=str(store.repo.root or store.repo.git_dir),
        manifest_commit=head.accepted,
        count=manifest.records.count,
        by_type=by_type,
        open_proposals=len(queue),
        waiting=len(waiting),
        spool=0,
        strays=head.strays,
        problems=tuple(
            UnreadableRecord(f"proposals/{p.id}", p.findings[0].text) for p in unreadable
        ),
        warnings=_warnings(store, head),
        next=_next(manifest.records.count, waiting, queue, sessions, head),
    )


def _root(store: Store) -> str:
    return store.projection.first_commit() or ""


def _warnings(store: Store, head: Head) -> tuple[str, ...]:
    if not head.strays:
        return ()
    return (
        f"{len(head.strays)} commits on main are strays and no memory; "
        f"what is remembered is that of {head.accepted[:12]}",
    )


def _next(
    count: int,
    waiting: Sequence[ProposalSummary],
    queue: Sequence[ProposalSummary],
    sessions: SessionFiles,
    head: Head,
) -> tuple[str, ...]:
    steps = []
    if waiting:
        first = waiting[0].id
        steps.append(f"Read what waits: gitmem diff {first}")
        steps.append(f"Then decide: gitmem approve {first}, or gitmem reject {first} --reason TEXT")
    stuck = [p for p in queue if p.state in ("stale", "changes_requested", "inconclusive")]
    for proposal in stuck[:3]:
        steps.append(
            f"{proposal.id} cannot go on ({proposal.state.replace('_', ' ')}): "
            f"gitmem reject {proposal.id} --reason TEXT, and propose it again"
        )
    if head.strays:
        steps.append("See what stands on main: gitmem fsck")
    if not count and not queue:
        steps.append('Remember something: gitmem remember "We use tabs, not spaces."')
        if not sessions.list_ids():
            steps.append("Or read a conversation: gitmem extract FILE")
    return tuple(steps)
