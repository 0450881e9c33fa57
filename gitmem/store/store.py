"""A memory as it is laid out in git: reading main, writing proposals, reviews and merges."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from gitmem.cache import Damaged, Projection, Unusable
from gitmem.domain.commit_message import CommitMessage, write_message
from gitmem.domain.layout import CACHE, KEPT, MAIN, PROPOSALS
from gitmem.domain.objects import ZERO, Identity
from gitmem.domain.planned import LEDGER_IDENTITY, PlannedCommit
from gitmem.domain.policy import Decision
from gitmem.domain.proposal import proposal_message
from gitmem.domain.review import Review, review_message
from gitmem.domain.verify import Branch, DecisionFields, Ground, judge
from gitmem.errors import Busy, GitFailed, GitmemError, NotFound, Refused
from gitmem.repo import (
    NewCommit,
    RefUpdate,
    Repo,
    bring_along,
    finish_worktree,
    note_worktree,
)
from gitmem.results import Progress
from gitmem.store.drafting import Draft
from gitmem.store.folding import Prepared
from gitmem.store.ledger import Head, Ledger
from gitmem.store.root import check_root

#: A damaged file may also be one that cannot be written: made anew first, then in memory.
_HEALINGS = 2

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Judged:
    """A proposal's branch, and what the policy says of it now."""

    branch: Branch
    ground: Ground
    decision: Decision


class Store:
    """One memory, open. ``notes`` collects sentences for the person who uses it."""

    def __init__(self, repo: Repo, projection: Projection) -> None:
        self.repo = repo
        self.projection = projection
        self.ledger = Ledger(repo, projection)
        self.facts = self.ledger.facts
        self.notes = projection.notes  # one list: what heals the projection says so too
        self._pinned: Head | None = None

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open the memory at ``path``.

        Raises:
            NotFound: there is no repository, or it holds no memory.
            GitmemError: the repository is of a kind that cannot hold one.
        """
        repo = Repo.open(path)
        return cls(repo, Projection.open(repo.private / CACHE))

    def close(self) -> None:
        """Close files and processes."""
        self.projection.close()
        self.repo.close()

    # --- main -----------------------------------------------------------------------------

    def head(self, progress: Progress | None = None) -> Head:
        """Return where main stands, with everything up to it verified."""
        return self._pinned or self.healed(lambda: self.ledger.catch_up(progress))

    @contextmanager
    def snapshot(self) -> Iterator[Head]:
        """Answer everything inside from one state of main, whatever moves meanwhile.

        For reading only: nothing is merged or decided inside.
        """
        if self._pinned is not None:
            yield self._pinned
            return
        self.head()
        with self.projection.reading():
            self._pinned = self.ledger.known_head()
            try:
                yield self._pinned
            finally:
                self._pinned = None

    def healed(self, act: Callable[[], _T]) -> _T:
        """Do ``act``, and again on a projection made anew if the one at hand is no good.

        The one place that heals. ``act`` raises what is wrong before it has moved a ref.
        """
        for _ in range(0 if self._pinned else _HEALINGS):
            try:
                return act()
            except Damaged:
                self.projection.start_over()
            except Unusable as error:
                self.projection.go_on_in_memory(error)
        return act()

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
            return self._advance(prepared, head, [RefUpdate(ref, None, tip)])

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
            moves = self._keep(fields.rejects, tip) if tip and fields.rejects else []
            return self._advance(prepared, head, moves)

        with self.repo.lock():
            return self.healed(decide)

    def set_aside(self, name: str, tip: str) -> None:
        """Keep a branch that is no proposal aside, where nothing but this machine sees it."""
        with self.repo.lock():
            self.repo.publish(self._keep(name, tip))

    def _keep(self, name: str, tip: str) -> list[RefUpdate]:
        """Return the moves that keep a branch aside, beside what is kept under its name."""
        kept, number = KEPT + name, 1
        while self.repo.read_ref(kept) not in (None, tip):
            number += 1
            kept = f"{KEPT}{name}-{number}"
        moves = [RefUpdate(PROPOSALS + name, None, tip)]
        return moves if self.repo.read_ref(kept) else [RefUpdate(kept, tip, ZERO), *moves]

    def _advance(self, prepared: Prepared, head: Head | None, more: Sequence[RefUpdate]) -> str:
        """Write and publish a planned commit, and fold it into the projection.

        The projection's transaction is open around the compare-and-swap: it keeps the fold
        only if main moved. Killed in between, the next command folds the commit from git.
        """
        self.notes += finish_worktree(self.repo)
        before = head.tip if head else None
        advanced: list[str] = []
        with self._after(advanced), self.projection.transaction():
            planned = self.ledger.fold(prepared)
            self._write_planned(planned, prepared.tree)
            note_worktree(self.repo, before)
            left = self.repo.publish([RefUpdate(MAIN, planned.oid, before or ZERO), *more])
            advanced.append(planned.oid)
        self.notes += [f"{ref} could not be moved now; the next command does it" for ref in left]
        with self._after(advanced):
            self.notes += bring_along(self.repo, before, planned.oid)
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
            self.notes.append(f"merged; the next command finishes what failed now: {error}")

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

    # --- proposals ------------------------------------------------------------------------

    def put_proposal(self, draft: Draft, reviews: Sequence[Review], author: Identity) -> str:
        """Write a proposal with its first reviews on a new branch; return the tip.

        Raises:
            Busy: the id is taken.
        """
        proposal = draft.proposal
        quotes = {
            name: [quote.quote for quote in found.values()]
            for name, found in draft.evidence.items()
        }
        message = proposal_message(proposal, draft.records, quotes)
        commits = [self._commit((proposal.base,), message, author, proposal.created_at)]
        commits[0] = _with_changes(commits[0], draft.files)
        for review in reviews:
            said = review_message(review, proposal.id)
            parent = f":{len(commits)}"
            commits.append(self._commit((parent,), said, reviewer_identity(review), review.at))
        with self.repo.lock():
            oids = self.repo.write(commits)
            self.repo.publish([RefUpdate(PROPOSALS + proposal.id, oids[-1], ZERO)])
        return oids[-1]

    def add_review(self, proposal_id: str, tip: str, review: Review) -> str:
        """Append a review to the branch that ends at ``tip``; return the new tip.

        Raises:
            Busy: the branch moved.
        """
        message = review_message(review, proposal_id)
        commit = self._commit((tip,), message, reviewer_identity(review), review.at)
        with self.repo.lock():
            (oid,) = self.repo.write([commit])
            self.repo.publish([RefUpdate(PROPOSALS + proposal_id, oid, tip)])
        return oid

    @staticmethod
    def _commit(
        parents: tuple[str, ...], message: CommitMessage, author: Identity, at: int
    ) -> NewCommit:
        return NewCommit(
            parents=parents,
            message=write_message(message),
            author=(author, at),
            committer=(LEDGER_IDENTITY, at),
        )

    def open_proposals(self) -> dict[str, str]:
        """Return the open proposals: id -> tip. Branches that main has decided are put away."""
        self.head()
        self.notes += [
            f"{ref} is damaged: its file names no commit (see `gitmem fsck`)"
            for ref in self.broken_proposals()
        ]
        found = {}
        for ref, tip in self.repo.refs(PROPOSALS).items():
            proposal_id = ref.removeprefix(PROPOSALS)
            what = self.projection.decided(proposal_id)
            if what is None:
                found[proposal_id] = tip
            else:
                self._put_away(proposal_id, tip, what)
        return dict(sorted(found.items()))

    def broken_proposals(self) -> dict[str, Path]:
        """Return the files that stand for proposals but hold no commit's id, by their refs.

        git does not list them, so nothing else would tell that a proposal is lost.
        """
        listed = self.repo.refs(PROPOSALS)
        folder = self.repo.git_dir / PROPOSALS
        found = {}
        for file in sorted(folder.rglob("*")):
            ref = PROPOSALS + file.relative_to(folder).as_posix()
            if ref in listed or file.suffix == ".lock" or (file.is_dir() and not file.is_symlink()):
                continue
            found[ref] = file
        return found

    def _put_away(self, proposal_id: str, tip: str, what: str) -> None:
        """Put a decided branch away, unless somebody is writing: then the next command does."""
        if not os.access(self.repo.private, os.W_OK):
            return
        merged = self.projection.merged_tip(proposal_id)
        try:
            with self.repo.lock(timeout=0):
                if merged and tip == self.repo.reader.commit(merged).parents[-1]:
                    self.repo.publish([RefUpdate(PROPOSALS + proposal_id, None, tip)])
                else:
                    self.repo.publish(self._keep(proposal_id, tip))
        except Busy:
            return
        self.notes.append(f"{proposal_id} was {what}; its branch is put away")

    def find_proposal(self, prefix: str) -> tuple[str, str]:
        """Return id and tip of the open proposal whose id begins with ``prefix``.

        Raises:
            NotFound: none or several do.
        """
        proposals = self.open_proposals()
        if prefix in proposals:
            return prefix, proposals[prefix]
        matches = [name for name in proposals if prefix and name.startswith(prefix)]
        if len(matches) == 1:
            return matches[0], proposals[matches[0]]
        what = self.projection.decided(prefix)
        if what:
            raise NotFound(f"{prefix} is not open: it was {what}")
        hint = "Run `gitmem proposals` to see what is open."
        if matches:
            raise NotFound(f"{prefix} is the beginning of {len(matches)} open proposals", hint=hint)
        raise NotFound(f"there is no open proposal {prefix}", hint=hint)

    def judged(self, tip: str) -> Judged:
        """Return a proposal's branch, the ground it would stand on, and what is decided now."""

        def judged() -> Judged:
            with self.snapshot() as head:
                branch = self.facts.branch(tip)
                ground = self.ledger.ground_for(head, branch)
                return Judged(branch, ground, judge(ground, branch))

        return self.healed(judged)


def reviewer_identity(review: Review) -> Identity:
    """Return who a review's commit names as its author."""
    if review.by_person:
        return person_identity(review.by)
    return Identity(f"gitmem {review.reviewer}", LEDGER_IDENTITY.email)


def person_identity(who: str) -> Identity:
    """Return the git identity of ``human:Name <address>``."""
    name, _, address = who.removeprefix("human:").partition(" <")
    return Identity(name, address.removesuffix(">"))


def _with_changes(commit: NewCommit, files: Mapping[str, bytes | None]) -> NewCommit:
    return NewCommit(
        parents=commit.parents,
        message=commit.message,
        author=commit.author,
        committer=commit.committer,
        changes=dict(files),
    )
