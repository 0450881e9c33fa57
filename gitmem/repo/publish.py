"""Moving refs: compare-and-swap, durable, and told apart from a lock that is merely busy."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitmem.domain.layout import MAIN
from gitmem.domain.objects import ZERO, is_oid
from gitmem.errors import Busy, GitFailed, InvalidInput
from gitmem.repo.files import fsync_folder
from gitmem.repo.own_locks import may_leave
from gitmem.repo.places import leading_out, places_of_ref
from gitmem.repo.recovery import clear_ref_locks, ref_locks
from gitmem.repo.refs import check_ref, read_ref
from gitmem.repo.runner import Result, Runner, failed

BUSY_WAIT = 15.0
"""Seconds for which a ref's lock held by somebody else is waited for: longer than the age at
which such a lock counts as left behind."""

_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0
_UNEXPLAINED = 3  # attempts that fail with no lock file in sight before it is an error


@dataclass(frozen=True, slots=True)
class RefUpdate:
    """``ref`` goes from ``old`` to ``new``.

    ``new`` None deletes it; ``old`` :data:`~gitmem.domain.objects.ZERO` means that it must not
    exist yet, None that any value is replaced.
    """

    ref: str
    new: str | None
    old: str | None


def _line(update: RefUpdate) -> str:
    check_ref(update.ref)
    for oid in (update.new, update.old):
        if oid is not None and not is_oid(oid):
            raise InvalidInput(f"{oid!r} is not a full object id", where=update.ref)
    old = f" {update.old}" if update.old is not None else ""
    if update.new is None:
        return f"delete {update.ref}{old}\n"
    return f"update {update.ref} {update.new}{old}\n"


def _transactions(groups: Sequence[Sequence[RefUpdate]]) -> bytes:
    text = ""
    for group in groups:
        text += "start\n" + "".join(map(_line, group)) + "prepare\ncommit\n"
    return text.encode("utf-8")


def move_refs(
    runner: Runner,
    updates: Sequence[RefUpdate],
    dropped: Sequence[str] = (),
    *,
    reason: str = "gitmem",
    wait: float = BUSY_WAIT,
    healed: list[str] | None = None,
) -> list[str]:
    """Publish ``updates`` and delete the refs ``dropped``, with one git process.

    ``refs/heads/main`` is the commit point: where it is among the updates it moves first and
    alone, and what then cannot follow is returned as refs left behind, since all else can be
    derived from main. Without main, all updates move in one transaction. ``healed`` gets a
    sentence for each lock file of a dead program that was removed on the way.

    Raises:
        Busy: a ref is not at its ``old`` value any more (the race is lost), or its lock stayed
            held for ``wait`` seconds.
        GitFailed: git could not move it for another reason.
        GitmemError: a link would lead git out of the git directory.
    """
    written = {place for update in updates for place in places_of_ref(update.ref)}
    for found in leading_out(runner.git_dir, sorted(written)):
        raise found.error
    point = [update for update in updates if update.ref == MAIN] or list(updates)
    rest = [update for update in updates if update not in point]
    rest += [RefUpdate(ref, None, None) for ref in dropped]
    groups = [group for group in (point, rest) if group]
    if not groups:
        return []
    args = ["update-ref", "--no-deref", "-m", reason, "--stdin"]
    packed = _packed_refs(runner.git_dir)
    result = _until_decided(runner, args, groups, wait, [] if healed is None else healed)
    _make_durable(runner.git_dir, updates, is_repacked=_packed_refs(runner.git_dir) != packed)
    if result.code == 0:
        return []
    return [update.ref for update in rest if not _done(runner.git_dir, update)]


def _packed_refs(git_dir: Path) -> tuple[int, ...] | None:
    """What tells one ``packed-refs`` from the next; git renames it into place."""
    try:
        found = (git_dir / "packed-refs").lstat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _folders(git_dir: Path, ref: str) -> Iterator[Path]:
    """The folders that hold the name of ``ref``, up to one that is always there."""
    for folder in (git_dir / ref).parents:
        yield folder
        if folder in (git_dir / "refs" / "heads", git_dir / "refs", git_dir):
            return


def _make_durable(git_dir: Path, updates: Sequence[RefUpdate], *, is_repacked: bool) -> None:
    # git makes the folder of a first ref and removes that of a last one: a name in the one above.
    folders = {folder for update in updates for folder in _folders(git_dir, update.ref)}
    if is_repacked:
        folders.add(git_dir)
    try:
        for folder in folders:
            fsync_folder(folder)
    except OSError as error:
        raise GitFailed(
            f"the refs moved, but {error.filename or git_dir} could not be made durable "
            f"({error.strerror}): a power failure now may undo it"
        ) from error


def _until_decided(
    runner: Runner,
    args: Sequence[str],
    groups: Sequence[Sequence[RefUpdate]],
    wait: float,
    healed: list[str],
) -> Result:
    """Try until the first group has moved, or cannot. Only re-reading the refs decides."""
    point = groups[0]
    stdin = _transactions(groups)
    takes = _locks_of(runner.git_dir, [update for group in groups for update in group])
    deadline = time.monotonic() + wait
    pause, unexplained = _FIRST_PAUSE, 0
    while True:
        with may_leave(runner, takes, healed):
            result = runner.run(args, stdin=stdin, ok=range(-128, 256), writes=True)
        if result.code == 0 or all(_done(runner.git_dir, update) for update in point):
            return result
        for update in point:
            _check_race(runner.git_dir, update)
        healed += clear_ref_locks(runner.git_dir)
        locks = _locks_in_the_way(runner.git_dir, point)
        unexplained += not locks
        if unexplained >= _UNEXPLAINED:
            raise failed("update-ref", result, runner.git_dir)
        if time.monotonic() >= deadline:
            raise (
                _still_locked(locks, wait)
                if locks
                else failed("update-ref", result, runner.git_dir)
            )
        time.sleep(pause * random.uniform(0.5, 1.5))
        pause = min(pause * 2, _LONGEST_PAUSE)


def _done(git_dir: Path, update: RefUpdate) -> bool:
    return read_ref(git_dir, update.ref) == update.new


def _check_race(git_dir: Path, update: RefUpdate) -> None:
    if update.old is None:
        return
    now = read_ref(git_dir, update.ref)
    if now != (None if update.old == ZERO else update.old):
        raise Busy(
            f"lost the race for {update.ref}: it is at {now or 'nothing'}, not at "
            f"{update.old if update.old != ZERO else 'nothing'}",
            hint="Somebody else moved it first. Nothing was changed; try again.",
        )


def _locks_of(git_dir: Path, updates: Sequence[RefUpdate]) -> set[Path]:
    """The locks that git takes for ``updates``."""
    locks = {git_dir / f"{update.ref}.lock" for update in updates}
    return locks | {git_dir / name for name in ("HEAD.lock", "packed-refs.lock", "packed-refs.new")}


def _locks_in_the_way(git_dir: Path, updates: Sequence[RefUpdate]) -> list[Path]:
    wanted = _locks_of(git_dir, updates)
    return [path for path in ref_locks(git_dir) if path in wanted]


def _still_locked(locks: Sequence[Path], wait: float) -> Busy:
    return Busy(
        f"another git program held {locks[0]} for {wait:g} seconds",
        hint=f"Try again. If no git program is running: rm '{locks[0]}'",
    )
