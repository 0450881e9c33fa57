"""The branches of proposals: written, reviewed, put on a newer base, found, kept aside."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gitmem.cache import CommitRow
from gitmem.domain.actors import is_person
from gitmem.domain.commit_message import CommitMessage, write_message
from gitmem.domain.instants import parse_instant
from gitmem.domain.kept import Closing
from gitmem.domain.layout import INFLIGHT, KEPT, PROPOSALS
from gitmem.domain.objects import ZERO, Identity
from gitmem.domain.planned import LEDGER_IDENTITY
from gitmem.domain.policy import Decision
from gitmem.domain.proposal import is_proposal_id, proposal_message, rebase_message
from gitmem.domain.review import Review, review_message
from gitmem.domain.shell import shell_word
from gitmem.domain.verify import Branch, Ground, judge
from gitmem.errors import Busy, GitFailed, InvalidInput, NotFound, Refused
from gitmem.repo import NewCommit, RefUpdate
from gitmem.store.drafting import Draft
from gitmem.store.finding import find_by_prefix
from gitmem.store.keeping import Keeping

Files = Mapping[str, "bytes | str | None"]
"""Paths of a tree: content, the id of a blob that is there, or None to take it out."""


#: Merges whose branches are looked for by whoever looks at one proposal only.
_LAST = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """A proposal's branch, and what the policy says of it now."""

    branch: Branch
    ground: Ground
    decision: Decision


class Branches(Keeping):
    """The proposals of a memory."""

    # --- writing --------------------------------------------------------------------------

    def put_proposal(self, draft: Draft, reviews: Sequence[Review], author: Identity) -> str:
        """Write a proposal with its first reviews on a new branch; return the tip.

        Raises:
            Busy: the id is taken.
        """
        commits = self._commits(draft, reviews, author)
        with self.repo.lock():
            oids = self.repo.write(commits)
            self.repo.publish([RefUpdate(PROPOSALS + draft.proposal.id, oids[-1], ZERO)])
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

    def put_rebase(
        self, branch: Branch, base: str, files: Files, reviews: Sequence[Review], at: int
    ) -> str:
        """Put a proposal on the newer base ``base``; return the new tip.

        ``files`` are against that base. What was reviewed stays on the branch.

        Raises:
            Busy: the branch moved.
        """
        name = branch.proposal.id
        message = rebase_message(name, base)
        tree = self.repo.reader.commit(base).tree
        commit = self._commit((branch.tip, base), message, LEDGER_IDENTITY, at)
        commits = [replace(commit, changes=files, base_tree=tree)]
        commits += self._reviews(name, reviews, after=1)
        with self.repo.lock():
            oids = self.repo.write(commits)
            self.repo.publish([RefUpdate(PROPOSALS + name, oids[-1], branch.tip)])
        return oids[-1]

    def put_anew(self, branch: Branch, draft: Draft, reviews: Sequence[Review]) -> str:
        """Write a proposal's branch anew, reviews and all, and keep the old one; return the tip.

        So nothing that the old branch stood on comes into the history of main.

        Raises:
            Busy: the branch moved.
        """
        proposal = draft.proposal
        at = max([proposal.created_at, *(review.at for review in reviews)])
        author = proposer_identity(proposal.proposed_by)
        commits = self._commits(draft, reviews, author)
        closing = Closing(proposal.id, "superseded", at, "proposed anew on another commit of main")
        ref = PROPOSALS + proposal.id
        with self.repo.lock():
            kept = [move for move in self._keep(branch.tip, closing) if move.ref != ref]
            oids = self.repo.write(commits)
            self.repo.publish([*kept, RefUpdate(ref, oids[-1], branch.tip)])
        return oids[-1]

    def _commits(
        self, draft: Draft, reviews: Sequence[Review], author: Identity
    ) -> list[NewCommit]:
        """Return the commits of a branch: the proposal and its reviews."""
        proposal = draft.proposal
        quotes = {
            name: [quote.quote for quote in found.values()]
            for name, found in draft.evidence.items()
        }
        message = proposal_message(proposal, draft.records, quotes)
        commit = self._commit((proposal.base,), message, author, proposal.created_at)
        commits = [replace(commit, changes=draft.files)]
        commits += self._reviews(proposal.id, reviews, after=1)
        return commits

    def _reviews(self, name: str, reviews: Sequence[Review], after: int) -> list[NewCommit]:
        """Return the commits of reviews that follow commit number ``after`` of one write."""
        commits = []
        for number, review in enumerate(reviews, start=after):
            message = review_message(review, name)
            author = reviewer_identity(review)
            commits.append(self._commit((f":{number}",), message, author, review.at))
        return commits

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

    # --- finding --------------------------------------------------------------------------

    def open_proposals(self) -> dict[str, str]:
        """Return the open proposals: id -> tip. Branches that main has decided are put away."""
        self.head()
        listed = self.repo.refs(PROPOSALS)
        self.notes += [
            f"{ref} is damaged: its file names no commit (see `gitmem fsck`)"
            for ref in self._broken(listed)
        ]
        found = {}
        for ref, tip in listed.items():
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
        return self._broken(self.repo.refs(PROPOSALS))

    def broken_refs(self) -> dict[str, Path]:
        """Return such files for every ref of gitmem's own."""
        found: dict[str, Path] = {}
        for prefix in (PROPOSALS, KEPT, INFLIGHT):
            found |= self._broken(self.repo.refs(prefix), prefix)
        return found

    def _broken(self, listed: Collection[str], prefix: str = PROPOSALS) -> dict[str, Path]:
        folder = self.repo.git_dir / prefix
        found = {}
        for file in sorted(folder.rglob("*")):
            ref = prefix + file.relative_to(folder).as_posix()
            if ref in listed or file.suffix == ".lock" or (file.is_dir() and not file.is_symlink()):
                continue
            if self._is_ref(ref) or not os.path.lexists(file):
                continue  # it came or went since git listed them
            found[ref] = file
        return found

    def _is_ref(self, ref: str) -> bool:
        try:
            return self.repo.read_ref(ref) is not None
        except InvalidInput:
            return False

    def _put_away(self, proposal_id: str, tip: str, what: str) -> None:
        """Put a decided branch away, unless somebody is writing: then the next command does."""
        if not os.access(self.repo.private, os.W_OK):
            return
        decision = self.projection.decision(proposal_id)
        try:
            with self.repo.lock(timeout=0):
                if decision and tip == self.repo.reader.commit(decision.oid).parents[-1]:
                    moves = self._gone(proposal_id, tip)
                else:
                    moves = self._keep(tip, _decided(proposal_id, what, decision))
                if not any(move.new is None for move in moves):
                    return
                self.repo.publish(moves)
        except Busy:
            return
        except GitFailed as error:  # reading goes on, also where the disk is full
            self.notes.append(f"{proposal_id} was {what}; its branch stays: {error.message}")
            return
        self.notes.append(f"{proposal_id} was {what}; its branch is put away")

    def find_proposal(self, prefix: str) -> tuple[str, str]:
        """Return id and tip of the open proposal whose id begins with ``prefix``.

        Raises:
            NotFound: none or several do.
        """
        tip = self.repo.read_ref(PROPOSALS + prefix) if is_proposal_id(prefix) else None
        if tip is not None:
            self.head()
            if self.projection.decided(prefix) is None:
                self._put_last_away()
                return prefix, tip  # without a look at all the others
        proposals = self.open_proposals()
        what = None if prefix in proposals else self.projection.decided(prefix)
        if what:
            raise NotFound(f"{prefix} is not open: it was {what}")
        found = find_by_prefix(prefix, proposals, "open proposal", "gitmem proposals")
        return found, proposals[found]

    def _put_last_away(self) -> None:
        """Put the branches of the last merges away, where they could not be when it was done."""
        for merge in self.projection.last_merges(_LAST):
            tip = self.repo.read_ref(PROPOSALS + merge.change)
            if tip is not None:
                self._put_away(merge.change, tip, "merged")

    def check_unmoved(self, proposal_id: str, tip: str) -> None:
        """Check, under the lock, that a proposal is open and ends where it was read.

        Raises:
            NotFound: it is not open any more.
            Refused: it is, with something else.
        """
        now = self.repo.read_ref(PROPOSALS + proposal_id)
        self.head()
        what = self.projection.decided(proposal_id)
        if now is None or what:
            raise NotFound(f"{proposal_id} is not open: it was {what or 'put aside'} meanwhile")
        if now != tip:
            raise Refused(
                f"{proposal_id} changed meanwhile; nothing was done",
                hint=f"Run `gitmem diff {proposal_id}` and look again.",
            )

    def judged(self, tip: str) -> Judged:
        """Return a proposal's branch, the ground it would stand on, and what is decided now."""

        def judged() -> Judged:
            with self.snapshot() as head:
                branch = self.facts.branch(tip)
                ground = self.ledger.ground_for(head, branch)
                return Judged(branch, ground, judge(ground, branch))

        return self.healed(judged)

    def judged_as(self, proposal_id: str, tip: str) -> Judged:
        """Return what is decided now of the branch of ``proposal_id``.

        Raises:
            InvalidInput: it breaks a rule, lacks an object, or holds another proposal than its
                name says.
        """
        try:
            judged = self.judged(tip)
            held = judged.branch.proposal.id
            if held != proposal_id:
                raise InvalidInput(f"the branch holds the proposal {held}")
        except (InvalidInput, NotFound) as error:
            raise InvalidInput(
                error.message,
                where=f"{proposal_id} cannot be read",
                hint=error.hint or self._way_out(proposal_id, tip),
            ) from error
        return judged

    def on_any_base(self, proposal_id: str, tip: str) -> Branch | None:
        """Return the branch of ``proposal_id``, also where it stands on what main has no more.

        None where it cannot be read, or holds another proposal.
        """
        try:
            branch = self.facts.branch(tip, any_base=True)
        except (InvalidInput, NotFound):
            return None
        return branch if branch.proposal.id == proposal_id else None

    def _way_out(self, proposal_id: str, tip: str) -> str:
        """Say what to do about a branch that cannot be judged."""
        name = shell_word(proposal_id)
        if self.on_any_base(proposal_id, tip) is not None:
            return f"To put it on the newest accepted commit: gitmem rebase {name}"
        return (
            "To cut off what was made by hand: gitmem fsck --repair\n"
            f'To clear it away: gitmem reject --reason "unreadable" -- {name}'
        )


def _decided(proposal_id: str, what: str, decision: CommitRow | None) -> Closing:
    """Return the closing of a branch that main decided, as of the day of that decision."""
    return Closing(
        id=proposal_id,
        state="merged" if what == "merged" else "rejected",
        at=parse_instant(decision.at) if decision else 0,
        reason=decision.reason if decision else "",
        by=", ".join(decision.approved_by) if decision else "",
    )


def proposer_identity(who: str) -> Identity:
    """Return who a proposal's commit names as its author; ``who`` is its ``Proposed-By``."""
    if is_person(who):
        return person_identity(who)
    return Identity(f"gitmem {who.partition(':')[0]}", LEDGER_IDENTITY.email)


def reviewer_identity(review: Review) -> Identity:
    """Return who a review's commit names as its author."""
    if review.by_person:
        return person_identity(review.by)
    return Identity(f"gitmem {review.reviewer}", LEDGER_IDENTITY.email)


def person_identity(who: str) -> Identity:
    """Return the git identity of ``human:Name <address>``."""
    name, _, address = who.removeprefix("human:").partition(" <")
    return Identity(name, address.removesuffix(">"))
