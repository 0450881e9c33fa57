"""A memory as it is laid out in git: every move of main."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from gitmem.domain.kept import Closing
from gitmem.domain.layout import MAIN, PROPOSALS
from gitmem.domain.objects import ZERO
from gitmem.domain.planned import LEDGER_IDENTITY, PlannedCommit
from gitmem.domain.verify import DecisionFields
from gitmem.errors import GitFailed, GitmemError, NotFound, Refused
from gitmem.repo import (
    NewCommit,
    RefUpdate,
    bring_along,
    finish_worktree,
    note_worktree,
)
from gitmem.store.branches import Branches
from gitmem.store.folding import Prepared
from gitmem.store.ledger import Head
from gitmem.store.newest import note_newest
from gitmem.store.root import check_root

#: Strays that one merge names; `gitmem fsck` names all.
_NAMED = 3


class Store(Branches):
    """One memory: what moves its main."""

    def begin(self, store_id: str, files: Mapping[str, bytes], at: int) -> str:
        """Write the first commit of a new memory and return its id.

        Raises:
            Refused: main exists already.
        """
        with self.repo.lock():
            if self.repo.read_ref(MAIN):
                raise Refused(f"{self.repo.root or self.repo.git_dir} has a main already")
            prepared = self.ledger.prepare_genesis(store_id, files, at)
            root = self.healed(lambda: self._advance(prepared, None, []))
            check_root(self.repo, root)
        return root

    def merge(self, proposal_id: str, expected_tip: str | None = None) -> str:
        """Merge an open proposal by one compare-and-swap; return the merge's id.

        Raises:
            NotFound: it is not open.
            Refused: the policy says no, or the branch moved since ``expected_tip``.
            Waiting: the policy wants a person, or the proposal is stale.
        """
        ref = PROPOSALS + proposal_id

        def merge() -> str:
            head = self.head()
            tip = self.repo.read_ref(ref)
            if tip is None:
                raise NotFound(f"there is no open proposal {proposal_id}")
            if expected_tip is not None and tip != expected_tip:
                raise Refused(f"{proposal_id} changed meanwhile; look at it again")
            self.ledger.check(head)
            prepared = self.ledger.prepare_merge(head, tip)
            return self._advance(prepared, head, self._gone(proposal_id, tip))

        with self.repo.lock():
            return self.healed(merge)

    def decide(
        self, fields: DecisionFields, changes: Mapping[str, bytes | None], tip: str | None = None
    ) -> str:
        """Write a person's decision on main; return its id.

        A rejected proposal, whose branch ends at ``tip``, is kept aside on this machine.

        Raises:
            Refused: it is no person's, or the proposal was decided before.
            InvalidInput: it touches what a decision may not.
        """

        def decide() -> str:
            head = self.head()
            self.ledger.check(head)
            prepared = self.ledger.prepare_decision(head, fields, changes)
            moves = self._keep(tip, _rejected(fields)) if tip and fields.rejects else []
            return self._advance(prepared, head, moves)

        with self.repo.lock():
            return self.healed(decide)

    def _advance(self, prepared: Prepared, head: Head | None, more: Sequence[RefUpdate]) -> str:
        """Write and publish a planned commit, and fold it into the projection.

        The projection's transaction is open around the compare-and-swap: it keeps the fold
        only if main moved. Killed in between, the next command folds the commit from git.
        """
        self.notes += finish_worktree(self.repo)
        before = head.tip if head else None
        ground = head.accepted if head and head.strays else None
        advanced: list[str] = []
        with self._after(advanced), self.projection.transaction():
            planned = self.ledger.fold(prepared)
            self._write_planned(planned, prepared.tree)
            note_worktree(self.repo, before, ground)
            left = self.repo.publish([RefUpdate(MAIN, planned.oid, before or ZERO), *more])
            advanced.append(planned.oid)
        self.notes += [f"{ref} could not be moved now; the next command does it" for ref in left]
        self.notes += [
            f"passed over the stray {oid[:12]}, which is no memory; to propose what it says: "
            f"gitmem adopt {oid[:12]}"
            for oid in (head.strays if head else ())[-_NAMED:]
        ]
        with self._after(advanced):
            self.notes += bring_along(self.repo, before, planned.oid, ground)
            note_newest(self.repo, planned.oid)
        with self._after(advanced):
            self.repo.maybe_repack()
        return planned.oid

    @contextmanager
    def _after(self, advanced: list[str]) -> Iterator[None]:
        """Once main has moved, what fails is told, not raised: the merge has happened."""
        try:
            yield
        except (GitmemError, OSError) as error:
            if not advanced:
                raise
            why = f"{error.message}. {error.hint}" if isinstance(error, GitmemError) else error
            self.notes.append(f"merged; the next command finishes what failed now: {why}")

    def _write_planned(self, planned: PlannedCommit, tree: str) -> None:
        who = (LEDGER_IDENTITY, planned.at)
        commit = NewCommit(
            parents=planned.parents,
            message=planned.message,
            author=who,
            committer=who,
            changes=planned.changes,
            base_tree=tree,
        )
        (oid,) = self.repo.write([commit])
        if oid != planned.oid:
            raise GitFailed(f"git wrote {oid} where {planned.oid} was computed; nothing changed")


def _rejected(fields: DecisionFields) -> Closing:
    assert fields.rejects is not None
    return Closing(fields.rejects, "rejected", fields.at, fields.reason, fields.decided_by)
