"""status: what is there, whether something is wrong, and what to do next.

Every step in ``next`` ends with a command that can be pasted; ``gitmem`` stands for the command
with the ``--store`` it was called with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from gitmem.domain.kept import KEPT_DAYS
from gitmem.domain.layout import MANIFEST, PROPOSALS, RECORD_TYPES, VIEW, parse_record_path
from gitmem.domain.manifest import parse_manifest
from gitmem.domain.policy import NOT_CHECKED
from gitmem.domain.shell import shell_word
from gitmem.domain.text import one_line
from gitmem.repo import hooks
from gitmem.repo.edits import edits_in_files, main_work_trees
from gitmem.repo.oddities import odd_settings, replaced_objects
from gitmem.repo.worktree import (
    index_locks,
    is_behind,
    is_checked_out,
    stale_index_locks,
    under_way,
)
from gitmem.results import Problem, ProposalSummary, Status, UnreadableRecord
from gitmem.sessions import Queued, SessionFiles
from gitmem.store import Head, Store
from gitmem.store.edits import checked_out
from gitmem.store.misplaced import misplaced_problems
from gitmem.store.readable import newest_readable
from gitmem.store.view_file import restore_view


def status(
    store: Store,
    sessions: SessionFiles,
    queue: Sequence[ProposalSummary],
    count: int,
    turns: Sequence[Queued],
    now: float,
) -> Status:
    """Return the state of a store.

    ``queue`` is what ``proposals`` says of the first of ``count`` open ones, ``turns`` are the
    conversations that wait to be read, ``now`` is in seconds.

    A view that is missing or edited in the checked-out files is rebuilt by the way.
    """
    head = store.head()
    store.notes += restore_view(store.repo, head)
    commit = store.repo.reader.commit(head.accepted)
    entry = store.facts.entry(commit.tree, MANIFEST)
    assert entry is not None  # an accepted commit has one
    manifest = parse_manifest(store.repo.reader.blob(entry.oid))
    unreadable = [p for p in queue if _is_unreadable(p)]
    waiting = [p for p in queue if p.state in _DECIDABLE]
    by_type = {name: getattr(manifest.records.by_type, name) for name in RECORD_TYPES}
    misplaced = misplaced_problems(store.repo)
    steps = [*_about_damage(store, misplaced), *_about_work_trees(store, now)]
    steps += _about_edits(store, head, queue, misplaced)
    steps += _about_queue(store, queue)
    if len(queue) < count:
        why = f"{count} proposals are open, and only the first {len(queue)} were looked at; see all"
        steps.append(_step(why, "proposals --all"))
    if not manifest.records.count and not queue and not misplaced:
        steps += _first_steps(sessions)
    steps += [*_about_turns(turns), *_about_kept(store, queue), *_about_hooks(store)]
    return Status(
        store=_root(store),
        path=str(store.repo.root or store.repo.git_dir),
        manifest_commit=head.accepted,
        count=manifest.records.count,
        by_type=by_type,
        open_proposals=count,
        waiting=len(waiting),
        looked_at=len(queue),
        spool=len(turns),
        strays=head.strays,
        problems=(
            *(UnreadableRecord(one.where, one.what) for one in misplaced),
            *(UnreadableRecord(f"proposals/{p.id}", p.findings[0].text) for p in unreadable),
        ),
        warnings=(*_warnings(store, head), *_failed_turns(turns)),
        next=tuple(steps),
    )


_DECIDABLE = ("open", "waiting")


def _root(store: Store) -> str:
    return store.projection.first_commit() or ""


def _is_unreadable(proposal: ProposalSummary) -> bool:
    return any(finding.code == "unreadable" for finding in proposal.findings)


def _warnings(store: Store, head: Head) -> Iterator[str]:
    if head.strays:
        many = len(head.strays) > 1
        yield (
            f"{len(head.strays)} {'commits' if many else 'commit'} on main "
            f"{'are strays' if many else 'is a stray'} and no memory; "
            f"what is remembered is that of {head.accepted[:12]}"
        )
    if is_behind(store.repo):
        yield "the checked-out files could not be brought along with main yet"
    for tree, why in under_way(store.repo):
        yield f"{tree.path}: {why}"
    yield from odd_settings(store.repo)
    yield from replaced_objects(store.repo.git_dir)


# --- what to do next ---------------------------------------------------------------------------


def _step(why: str, command: str, proposal: str | None = None) -> str:
    """One line of ``next``. A branch of any name can lie among the proposals, so it is quoted."""
    end = "" if proposal is None else f" {'-- ' if proposal[:1] == '-' else ''}{quote(proposal)}"
    return f"{why}: gitmem {command}{end}"


def _about_damage(store: Store, misplaced: Sequence[Problem]) -> Iterator[str]:
    """What is not where it should be, by a crash or by somebody with plain git."""
    if misplaced:
        yield _step("See how to move away what stands where it does not belong", "fsck")
    for lost in store.lost_mains().values():
        yield _step(
            f"main was moved back from {lost[:12]}; bring back what it had", "fsck --repair"
        )
    for ref in store.broken_proposals():
        yield _step(f"{ref} is damaged; move its file away", "fsck --repair")


def _about_work_trees(store: Store, now: float) -> Iterator[str]:
    """What stops the checked-out files from following main."""
    stale = stale_index_locks(store.repo, now)
    for lock in stale:
        yield _step(f"{lock} was left behind by a git that was killed; move it", "fsck --repair")
    if not is_behind(store.repo):
        return
    for lock, _ in index_locks(store.repo, now):
        if lock not in stale:
            why = "Let git end its work in the checked-out files; if none is at work there"
            yield f"{why}: rm {shell_word(str(lock))}"
    for tree, why in under_way(store.repo):
        yield _step(f"{tree.path}: {why}; end it (git status says how), and then run", "status")


def _about_edits(
    store: Store, head: Head, queue: Sequence[ProposalSummary], misplaced: Sequence[Problem]
) -> Iterator[str]:
    """What a person changed by hand and nobody has proposed yet."""
    adopting = [proposal for proposal in queue if proposal.kind == "adopt"]
    proposed = {record.name for proposal in adopting for record in proposal.records}
    edited = [path for path in _edited(store, head, misplaced) if _name(path) not in proposed]
    if edited:
        more = f" and {len(edited) - 1} more" if len(edited) > 1 else ""
        first = one_line(edited[0])  # anything can be the name of a file
        yield _step(f"{first}{more} edited by hand; propose what they say now", "adopt")
    elif head.strays and not adopting:
        yield _step("Propose what was committed by hand", "adopt")
    if head.strays and not adopting:
        yield _step("Or take what is no memory off main; it is kept aside", "fsck --repair")


def _edited(store: Store, head: Head, misplaced: Sequence[Problem]) -> Iterator[str]:
    """The files checked out from main that are not as main has them, as ``adopt`` sees them.

    Those in whose place something else stands are not there to be adopted.
    """
    away = {Path(one.where) for one in misplaced}
    tip = checked_out(store, head)
    for tree in main_work_trees(store.repo)[0]:
        for edit in edits_in_files(store.repo, tree, tip):
            file = tree.path / edit.path
            if edit.path not in (VIEW, MANIFEST) and away.isdisjoint((file, *file.parents)):
                yield edit.path


def _name(path: str) -> str:
    """The record that a file belongs to, else the file."""
    parsed = parse_record_path(path)
    return parsed.name if parsed else path


def _failed_turns(turns: Sequence[Queued]) -> Iterator[str]:
    """Why conversations that wait could not be read."""
    for turn in turns:
        if turn.error:
            aside = ", and is set aside" if turn.is_set_aside else ""
            often = "once" if turn.tries == 1 else f"{turn.tries} times"
            yield f"{turn.session} was tried {often}{aside}: {one_line(turn.error)}"


def _about_turns(turns: Sequence[Queued]) -> Iterator[str]:
    """Conversations that nobody has read to their end."""
    if turns:
        count = "1 conversation waits" if len(turns) == 1 else f"{len(turns)} conversations wait"
        yield _step(f"{count} to be read", "extract --queued")


def _about_hooks(store: Store) -> Iterator[str]:
    """Hooks that are not there, where git would run them."""
    if store.repo.root is None:
        return
    report = hooks.look(store.repo.git_dir)
    missing = [line for line in report.hooks if line.state in ("absent", "outdated")]
    if missing and report.elsewhere is None:
        yield _step(f"Install the hooks that git lacks here ({len(missing)})", "hooks install git")


def _about_queue(store: Store, queue: Sequence[ProposalSummary]) -> Iterator[str]:
    """What to do about open proposals: about the first of each state, and how many there are."""
    unchecked = [p for p in queue if p.state == "inconclusive" and NOT_CHECKED in p.waits_for]
    if unchecked:
        why = _counted(unchecked, "was not checked; check it", "were not checked; check the first")
        yield _step(why, "rebase", unchecked[0].id)
    readable = [p for p in queue if not _is_unreadable(p) and p not in unchecked]
    yield from _decidable([p for p in readable if p.state in _DECIDABLE])
    for state, (one, many, command) in _STUCK.items():
        stuck = [p for p in readable if p.state == state]
        if stuck:
            yield _step(_counted(stuck, one, many), command, stuck[0].id)
        if stuck and state in _HOPELESS:
            yield _or_reject(stuck[0])
    unreadable = [p for p in queue if _is_unreadable(p)]
    if unreadable:
        yield from _about_unreadable(store, unreadable)


def _about_unreadable(store: Store, unreadable: Sequence[ProposalSummary]) -> Iterator[str]:
    """Cut off what was made by hand where a proposal is left then; or reject it."""
    first = unreadable[0].id
    tips = store.open_proposals()
    mended = [p.id for p in unreadable if p.id in tips and newest_readable(store, p.id, tips[p.id])]
    if mended:
        if any(is_checked_out(store.repo, PROPOSALS + name) for name in mended):
            where = shell_word(str(store.repo.root or store.repo.git_dir))
            yield f"Leave the branch that is checked out: git -C {where} checkout main"
        yield _step(
            _counted(unreadable, "cannot be read", "cannot be read")
            + "; cut off what was made by hand, which is kept",
            "fsck --repair",
        )
        yield _step("Or clear it away", "reject --reason unreadable", first)
        return
    why = _counted(
        unreadable, "cannot be read; clear it away", "cannot be read; clear the first away"
    )
    yield _step(why, "reject --reason unreadable", first)


# Somebody or something has said no to these already.
_HOPELESS = ("changes_requested", "rejected")
# For each state in which a proposal cannot go on: what to say of one, of several, and to do.
_STUCK = {
    "stale": (
        "is stale: memory moved on; put it on the newest",
        "are stale: memory moved on; put the first on the newest",
        "rebase",
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
    yield _or_reject(waiting[0])


def _or_reject(proposal: ProposalSummary) -> str:
    return _step("Or reject it", 'reject --reason "not worth keeping"', proposal.id)


def _about_kept(store: Store, queue: Sequence[ProposalSummary]) -> Iterator[str]:
    """What was put aside, once nothing else waits: it can be proposed again for a while."""
    kept = len(store.kept()) if not queue else 0
    if kept:
        what = "1 proposal is" if kept == 1 else f"{kept} proposals are"
        yield _step(f"{what} put aside for {KEPT_DAYS} days; look", "proposals --kept")


def _first_steps(sessions: SessionFiles) -> Iterator[str]:
    yield _step("Remember something", 'remember "We use tabs, not spaces."')
    if not sessions.list_ids():
        yield _step("Or let it read a conversation; see how", "extract --help")
