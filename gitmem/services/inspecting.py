"""status: what is there, whether something is wrong, and what to do next.

Every step in ``next`` ends with a command that can be pasted; ``gitmem`` stands for the command
with the ``--store`` it was called with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from gitmem.domain.layout import MANIFEST, RECORD_TYPES
from gitmem.domain.manifest import parse_manifest
from gitmem.repo.worktree import is_behind
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
    unreadable = [p for p in queue if _is_unreadable(p)]
    waiting = [p for p in queue if p.state in _DECIDABLE]
    by_type = {name: getattr(manifest.records.by_type, name) for name in RECORD_TYPES}
    behind = is_behind(store.repo)
    steps = [*_about_main(head, behind), *_about_queue(queue), *_about_kept(store)]
    if not manifest.records.count and not queue:
        steps += _first_steps(sessions)
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
        warnings=tuple(_warnings(head, behind)),
        next=tuple(steps),
    )


_DECIDABLE = ("open", "waiting")


def _root(store: Store) -> str:
    return store.projection.first_commit() or ""


def _is_unreadable(proposal: ProposalSummary) -> bool:
    return any(finding.code == "unreadable" for finding in proposal.findings)


def _warnings(head: Head, behind: bool) -> Iterator[str]:
    if head.strays:
        many = len(head.strays) > 1
        yield (
            f"{len(head.strays)} {'commits' if many else 'commit'} on main "
            f"{'are strays' if many else 'is a stray'} and no memory; "
            f"what is remembered is that of {head.accepted[:12]}"
        )
    if behind:
        yield "the checked-out files could not be brought along with main yet"


# --- what to do next ---------------------------------------------------------------------------


def _step(why: str, command: str, proposal: str | None = None) -> str:
    """One line of ``next``. A branch of any name can lie among the proposals, so it is quoted."""
    end = "" if proposal is None else f" {'-- ' if proposal[:1] == '-' else ''}{quote(proposal)}"
    return f"{why}: gitmem {command}{end}"


def _about_main(head: Head, behind: bool) -> Iterator[str]:
    """What keeps main, or the files that show it, from being what they should be."""
    if head.strays:
        yield _step("See what stands on main and is no memory", "fsck")
    if behind:
        yield _step("End the merge or rebase in the checked-out files, and then run", "status")


def _about_queue(queue: Sequence[ProposalSummary]) -> Iterator[str]:
    """What to do about open proposals: about the first of each state, and how many there are."""
    readable = [p for p in queue if not _is_unreadable(p)]
    yield from _decidable([p for p in readable if p.state in _DECIDABLE])
    for state, (one, many, command) in _STUCK.items():
        stuck = [p for p in readable if p.state == state]
        if stuck:
            yield _step(_counted(stuck, one, many), command, stuck[0].id)
    unreadable = [p for p in queue if _is_unreadable(p)]
    if unreadable:
        why = _counted(
            unreadable, "cannot be read; clear it away", "cannot be read; clear the first away"
        )
        yield _step(why, "reject --reason unreadable", unreadable[0].id)


# For each state in which a proposal cannot go on: what to say of one, of several, and to do.
_STUCK = {
    "stale": (
        "is stale: memory moved on; see what it said, and propose it again",
        "are stale: memory moved on; see what the first said, and propose it again",
        "diff",
    ),
    "changes_requested": (
        "needs changes; see what was found",
        "need changes; see what was found in the first",
        "diff",
    ),
    "inconclusive": (
        "was not reviewed to an end; see what is missing",
        "were not reviewed to an end; see what the first lacks",
        "diff",
    ),
    "rejected": (
        "was turned down by a reviewer; read it and decide",
        "were turned down by a reviewer; read the first and decide",
        "diff",
    ),
}


def _counted(proposals: Sequence[ProposalSummary], one: str, many: str) -> str:
    if len(proposals) == 1:
        return f"{proposals[0].id} {one}"
    return f"{len(proposals)} proposals {many}"


def _decidable(waiting: Sequence[ProposalSummary]) -> Iterator[str]:
    if not waiting:
        return
    first = waiting[0].id
    yield _step(_counted(waiting, "waits; read it", "wait; read the first"), "diff", first)
    yield _step("Then approve it", "approve", first)
    yield _step("Or reject it", 'reject --reason "not worth keeping"', first)


def _about_kept(store: Store) -> Iterator[str]:
    """What was put aside on this machine and can still be had back."""
    yield from ()


def _first_steps(sessions: SessionFiles) -> Iterator[str]:
    yield _step("Remember something", 'remember "We use tabs, not spaces."')
    if not sessions.list_ids():
        yield _step("Or let it read a conversation; see how", "extract --help")
