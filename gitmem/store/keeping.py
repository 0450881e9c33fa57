"""Branches that are put aside: on this machine only, for a while, and why."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.domain.commit_message import write_message
from gitmem.domain.instants import format_instant
from gitmem.domain.kept import KEPT_DAYS, Closing, closing_message, read_closing
from gitmem.domain.layout import KEPT, PROPOSALS
from gitmem.domain.objects import ZERO
from gitmem.domain.planned import LEDGER_IDENTITY
from gitmem.errors import Busy, GitFailed, InvalidInput, NotFound, Refused
from gitmem.repo import NewCommit, RefUpdate
from gitmem.repo.refs import may_have_refs
from gitmem.repo.worktree import is_checked_out
from gitmem.results import Progress
from gitmem.store.facts import committed_at, message_of
from gitmem.store.finding import find_by_prefix
from gitmem.store.ledger import Head, Ledger
from gitmem.store.newest import note_newest
from gitmem.store.opened import OpenStore

_DAY = 86_400
#: What is kept of main itself: accepted commits that it has no more, and strays taken off it.
OF_MAIN = (KEPT + "main-", KEPT + "stray-")
LOST, STRAY = OF_MAIN


@dataclass(frozen=True, slots=True)
class KeptBranch:
    """A branch that was put aside: the tip that it had, and why it is no longer open.

    ``closing`` is None for a ref that ends with no closing commit; ``oid`` is what it names.
    """

    ref: str
    oid: str
    tip: str
    closing: Closing | None

    @property
    def name(self) -> str:
        """What the ref is called below ``refs/gitmem/kept/``."""
        return self.ref.removeprefix(KEPT)

    @property
    def at(self) -> str:
        """When it was put aside, as UTC text; empty where nothing says so."""
        return format_instant(self.closing.at) if self.closing else ""


class Keeping(OpenStore):
    """What is kept aside of a memory. No ref that is pushed reaches it."""

    def keep(self, tip: str, closing: Closing) -> None:
        """Put the branch of ``closing.id``, which ends at ``tip``, aside.

        Raises:
            Busy: the branch moved.
        """
        with self.repo.lock():
            self.repo.publish(self._keep(tip, closing))

    def _keep(self, tip: str, closing: Closing) -> list[RefUpdate]:
        """Close a branch and return the moves that keep it aside, beside what is kept there."""
        gone = self._gone(closing.id, tip)
        name, number = KEPT + closing.id, 1
        while (oid := self.repo.read_ref(name)) is not None:
            kept = self._kept(name, oid)
            if kept.tip == tip and kept.closing and kept.closing.state == closing.state:
                return gone
            number += 1
            name = f"{KEPT}{closing.id}-{number}"
        return [RefUpdate(name, self._close(tip, closing), ZERO), *gone]

    def cut_back(self, tip: str, good: str, closing: Closing) -> bool:
        """Set a branch back from ``tip`` to ``good`` and keep the rest aside, in one step.

        Does nothing, and says False, while the branch is checked out.

        Raises:
            Busy: the branch moved.
        """
        with self.repo.lock():
            ref = PROPOSALS + closing.id
            if is_checked_out(self.repo, ref):
                return False
            kept = [move for move in self._keep(tip, closing) if move.ref != ref]
            self.repo.publish([*kept, RefUpdate(ref, good, tip)])
            return True

    def _gone(self, proposal_id: str, tip: str) -> list[RefUpdate]:
        """Return the move that takes a decided branch away, none while it is checked out."""
        ref = PROPOSALS + proposal_id
        if is_checked_out(self.repo, ref):
            self.notes.append(
                f"proposals/{proposal_id} is checked out, so the branch stays until you leave it: "
                f"git -C {self.repo.shell_word} checkout main --"
            )
            return []
        return [RefUpdate(ref, None, tip)]

    def _close(self, tip: str, closing: Closing) -> str:
        """Write the commit that closes a branch; where that fails, its tip must do."""
        who = (LEDGER_IDENTITY, closing.at)
        message = write_message(closing_message(closing))
        try:
            (oid,) = self.repo.write([NewCommit((tip,), message, who, who)])
        except GitFailed as error:
            self.notes.append(f"{closing.id} is kept as it was: {error.message}")
            return tip
        return oid

    def head(self, progress: Progress | None = None) -> Head:
        """Return where main stands, with everything up to it verified.

        Where somebody moved main away from accepted commits, those are kept aside, and told.
        """
        head = super().head(progress)
        if self._pinned is None:
            try:
                self.keep_lost()
            except GitFailed as error:  # reading goes on, also where the disk is full
                self.notes.append(
                    "main was moved away from accepted commits, which could not be kept aside "
                    f"now: {error.message}"
                )
            note_newest(self.repo, head.accepted)
        return head

    def keep_lost(self) -> None:
        """Keep accepted commits aside that main was found to have no more, and tell of them.

        Raises:
            GitFailed: they could not be kept.
        """
        if not self.ledger.lost() or not os.access(self.repo.private, os.W_OK):
            return
        lost = {f"{LOST}{oid[:12]}": oid for oid in self.ledger.lost()}
        try:
            with self.repo.lock(timeout=0):
                here = {ref: oid for ref, oid in lost.items() if self.repo.reader.resolve(oid)}
                moves = [
                    RefUpdate(ref, oid, ZERO)
                    for ref, oid in here.items()
                    if self.repo.read_ref(ref) is None
                ]
                if moves:
                    self.repo.publish(moves)
                with self.projection.transaction():
                    self.ledger.forget_lost()
        except Busy:
            return  # the next command does it
        self.notes += [
            f"main was moved away from {oid[:12]}, which was its newest accepted commit; it is "
            f"kept as {ref}. To bring back what it held: gitmem fsck --repair"
            for ref, oid in here.items()
        ]
        self.notes += [
            f"main was moved away from {oid[:12]}, which is not in this repository any more"
            for ref, oid in lost.items()
            if ref not in here
        ]

    def lost_mains(self, ledger: Ledger | None = None) -> dict[str, str]:
        """Return the refs that keep what main had and has no more, with those commits.

        What was merged or decided again since is not lost. ``ledger`` is whom to ask, by
        default this memory's own, brought to the tip of main.
        """
        if ledger is None:
            self.head()
            ledger = self.ledger
        refs = self.repo.refs(KEPT).items()
        return {r: oid for r, oid in refs if r.startswith(LOST) and ledger.is_missing(oid)}

    def kept_strays(self, prefix: str) -> list[str]:
        """Return the strays whose ids begin with ``prefix`` and that were taken off main."""
        refs = self.repo.refs(KEPT).items()
        return [oid for ref, oid in refs if ref.startswith(STRAY) and oid.startswith(prefix)]

    def kept(self) -> list[KeptBranch]:
        """Return the branches that are kept aside, the newest first."""
        refs = self.repo.refs(KEPT).items()
        found = [self._kept(ref, oid) for ref, oid in refs if not ref.startswith(OF_MAIN)]
        return sorted(found, key=lambda branch: (branch.at, branch.ref), reverse=True)

    def _kept(self, ref: str, oid: str) -> KeptBranch:
        try:
            commit = self.repo.reader.commit(oid)
            closing = read_closing(message_of(commit, oid), committed_at(commit, oid))
            (tip,) = commit.parents
        except (InvalidInput, NotFound, ValueError):
            return KeptBranch(ref, oid, oid, None)
        return KeptBranch(ref, oid, tip, closing)

    def find_kept(self, prefix: str) -> KeptBranch:
        """Return the kept branch whose name begins with ``prefix``.

        Raises:
            NotFound: none or several do.
        """
        every = {branch.name: branch for branch in self.kept()}
        look = "gitmem proposals --kept"
        return every[find_by_prefix(prefix, every, "kept proposal", look)]

    def put_back(self, branch: KeptBranch, proposal_id: str) -> None:
        """Make a kept branch the open proposal ``proposal_id`` again.

        Raises:
            Refused: it is open.
        """
        ref = PROPOSALS + proposal_id
        with self.repo.lock():
            if self.repo.read_ref(ref) is not None:
                raise Refused(f"{proposal_id} is open", hint=f"Run `gitmem diff {proposal_id}`.")
            moves = [RefUpdate(ref, branch.tip, ZERO), RefUpdate(branch.ref, None, branch.oid)]
            self.repo.publish(moves)

    def expire_kept(self, now: int) -> Sequence[str]:
        """Let go of what was put aside more than :data:`KEPT_DAYS` ago; return the names.

        What no closing commit dates stays until a person removes it. Where somebody else is
        writing, it is left for the next time.
        """
        since = now - KEPT_DAYS * _DAY
        if not may_have_refs(self.repo.git_dir, KEPT.rstrip("/")):
            return []  # so that nobody is waited for
        try:
            with self.repo.lock(timeout=0):
                old = [kept for kept in self.kept() if kept.closing and kept.closing.at < since]
                if old:
                    self.repo.publish([RefUpdate(kept.ref, None, kept.oid) for kept in old])
                return [kept.name for kept in old]
        except (Busy, GitFailed):  # the next command lets go of them
            return []
