"""Folds the chain of main into the projection, commit by commit, verifying each.

One function accepts a commit, for readers, for a merge and for fsck: what :mod:`verify`
computes from the parents must have the commit's id. What it does not accept is a stray: never
memory, never lost, passed over by the next merge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

from gitmem.cache import CommitRow, RecordRow
from gitmem.documents import read_policy
from gitmem.domain.instants import format_instant
from gitmem.domain.layout import (
    MAIN,
    MANIFEST,
    POLICY,
    VIEW,
    parse_tombstone_path,
)
from gitmem.domain.manifest import MAX_MANIFEST_BYTES, check_version
from gitmem.domain.objects import EMPTY_TREE, FILE_MODE, Commit, format_signature
from gitmem.domain.planned import LEDGER_IDENTITY, PlannedCommit
from gitmem.domain.record import statement
from gitmem.domain.verify import (
    Branch,
    DecisionFields,
    Ground,
    plan_decision,
    plan_genesis,
    plan_merge,
    read_decision,
)
from gitmem.errors import GitFailed, InvalidInput, NotFound, Refused, Waiting
from gitmem.repo import Found
from gitmem.repo.trees import differences
from gitmem.results import Progress
from gitmem.store.agreement import check_chain, check_contents
from gitmem.store.decided import check_decided, read_decided
from gitmem.store.facts import committed_at, message_of
from gitmem.store.folding import Fold, Prepared
from gitmem.store.newest import read_newest
from gitmem.store.restoring import restoring
from gitmem.store.root import check_root


@dataclass(frozen=True, slots=True)
class Head:
    """Where main stands: its tip, the newest accepted commit, the strays between the two."""

    tip: str
    accepted: str
    strays: tuple[str, ...]


class Ledger(Fold):
    """Main, as the projection knows it."""

    # --- following main -------------------------------------------------------------------

    def catch_up(self, progress: Progress | None = None) -> Head:
        """Bring the projection to the tip of main and return where main stands.

        Raises:
            NotFound: the repository has no main, or its main does not begin with a genesis.
            GitFailed: an object of its history is missing.
            Damaged, Unusable: the projection is to be made anew, or is to be held in memory.
        """
        tip = self._repo.read_ref(MAIN)
        if tip is None:
            raise self._no_main()
        self._projection.check()
        if self._projection.meta("tip") != tip:
            with self._projection.transaction():
                # Read again: whoever had the projection until now may have gone further.
                self._follow(self._repo.read_ref(MAIN) or tip, progress)
        return self.known_head()

    def _no_main(self) -> NotFound:
        where, newest = self._repo.root or self._repo.git_dir, read_newest(self._repo)
        if newest is None:
            return NotFound(
                f"{where} is a git repository, but no memory",
                hint="Run `gitmem init PATH` to make one.",
            )
        return NotFound(
            f"main of {where} is gone; it was last at {newest[:12]}",
            hint="To make it again there: gitmem fsck --repair\n"
            f"Or: git -C {self._repo.shell_word} branch main {newest}",
        )

    def known_head(self) -> Head:
        """Return where main stood when the projection was brought to its tip.

        Raises:
            NotFound: main does not begin with a genesis.
            Damaged: it cannot have stood there.
        """
        accepted = self._projection.meta("accepted")
        tip = self._projection.meta("tip")
        if not accepted or not tip:
            root = self._repo.root or self._repo.git_dir
            raise NotFound(
                f"main of {root} does not begin with the first commit of a memory",
                hint="Run `gitmem init` in another folder; this history is somebody else's.",
            )
        strays = (self._projection.meta("strays") or "").split()
        if (strays[-1] if strays else accepted) != tip:
            raise self._projection.damaged(f"{accepted} does not lead to main's tip")
        return Head(tip, accepted, tuple(strays))

    def _follow(self, tip: str, progress: Progress | None) -> None:
        chain, is_known = self._chain(tip)
        before = self._projection.meta("accepted") or read_newest(self._repo)
        lost = self.lost()
        if not is_known:
            self._projection.forget_all()
        for done, oid in enumerate(reversed(chain), start=1):
            self._fold(oid)
            if progress:
                progress("verifying", done, len(chain))
        if self._projection.meta("accepted"):
            check_root(self._repo, self._projection.first_commit() or "")
        self._projection.set_meta("tip", tip)
        if before and not self.is_accepted(before):
            lost = (*lost, before)
        self._projection.set_meta("lost", " ".join(dict.fromkeys(lost)))

    def is_accepted(self, oid: str) -> bool:
        """Return whether main, as far as it is known here, has ``oid`` as an accepted commit."""
        row = self._projection.commit(oid)
        return row is not None and row.kind != "stray"

    def lost(self) -> tuple[str, ...]:
        """Return commits that main had as its newest accepted ones, and has no more.

        They were moved away from by hand; :meth:`forget_lost` once they are kept elsewhere.
        """
        return tuple((self._projection.meta("lost") or "").split())

    def is_missing(self, lost: str) -> bool:
        """Whether something that led to ``lost`` was neither merged nor decided again.

        So it is where nobody can tell, because ``lost`` is no commit of a memory.
        """
        try:
            return bool(self.missing(lost))
        except (InvalidInput, NotFound):
            return True

    def missing(self, lost: str) -> list[str]:
        """Return those of :meth:`left_out` that were neither merged nor decided again.

        A stray among them was no memory, whatever its message says.
        """
        chain = self.left_out(lost)
        strays = self.strays_among(chain)
        return [oid for oid in chain if oid not in strays and self._is_left_out(oid)]

    def left_out(self, lost: str) -> list[str]:
        """Return the commits from ``lost`` back to the accepted ones of main, the newest first.

        Raises:
            InvalidInput, NotFound: it does not lead to main, or an object is missing.
        """
        found: list[str] = []
        for oid in self._repo.first_parents(lost):
            if self.is_accepted(oid):
                return found
            found.append(oid)
        raise InvalidInput("does not lead to an accepted commit of main", where=lost)

    def strays_among(self, chain: Sequence[str]) -> set[str]:
        """Return the strays of a chain whose newest commit, the first one, was accepted.

        Those are what the accepted ones say that they passed over, whatever they say
        themselves; and what says nothing that a merge or a decision says.
        """
        strays: set[str] = set()
        for oid in chain:
            if oid in strays:
                continue
            try:
                message = message_of(self._repo.reader.commit(oid), oid)
            except InvalidInput:
                strays.add(oid)
                continue
            strays.update(message.all("Skipped"))
            if not message.all("Proposal-Id") and not message.all("Decision"):
                strays.add(oid)
        return strays

    def _is_left_out(self, oid: str) -> bool:
        message = message_of(self._repo.reader.commit(oid), oid)
        proposal = message.one("Proposal-Id") or message.one("Rejects")
        if proposal is not None:
            return self._projection.decided(proposal) is None
        change = message.one("Decision")
        return change is not None and not self._projection.has_change(change)

    def forget_lost(self) -> None:
        """Let go of what :meth:`lost` says; inside a transaction."""
        self._projection.set_meta("lost", "")

    def _chain(self, tip: str) -> tuple[list[str], bool]:
        """Return the commits of main from ``tip`` back to the known ones, and if there are any."""
        known = self._projection.meta("tip")
        chain: list[str] = []
        try:
            for oid in self._repo.first_parents(tip):
                if oid == known:
                    return chain, True
                chain.append(oid)
        except NotFound as error:
            raise GitFailed(
                f"main cannot be read: {error.message}", hint=restoring(self._repo)
            ) from error
        return chain, False

    def _fold(self, oid: str) -> None:
        strays = (self._projection.meta("strays") or "").split()
        commit = self._repo.reader.commit(oid)
        try:
            planned = self.settle(self._recomputed(oid, commit, strays), oid)
        except (InvalidInput, Refused, Waiting) as error:
            reason = error.message.removeprefix(f"{oid}: ")
        except (NotFound, GitFailed) as error:
            # Not the commit's fault: were it taken for a stray, a merge would pass it over.
            what = f"{oid} on main cannot be verified: {error.message}"
            raise GitFailed(what, hint=restoring(self._repo)) from error
        else:
            if planned.oid == oid:
                return
            reason = _difference(planned, commit)
        accepted = self._projection.meta("accepted")
        if accepted is not None:
            check_contents(self.facts, self._projection, self.facts.ground(accepted))
        self._refuse_newer(commit)
        reason = reason.encode("utf-8", "backslashreplace").decode("utf-8")
        row = CommitRow(oid, "stray", "", _instant_of(commit, oid), (), (), reason)
        self._projection.add_commit(row)
        self._projection.set_meta("strays", " ".join([*strays, oid]))

    def _refuse_newer(self, commit: Commit) -> None:
        """Stop at a commit that a newer gitmem made: taken for a stray, it would be passed over.

        Raises:
            InvalidInput: its manifest is of a version that this gitmem does not know.
        """
        try:
            entry = self.facts.entry(commit.tree, MANIFEST)
        except InvalidInput:  # no gitmem writes a tree that is malformed
            return
        ours = f"{LEDGER_IDENTITY.name} <{LEDGER_IDENTITY.email}> "
        if entry is not None and not entry.is_tree and commit.committer.startswith(ours):
            (found,) = self._repo.reader.read_many([entry.oid], max_bytes=MAX_MANIFEST_BYTES)
            check_version(found.data if isinstance(found, Found) else b"", MANIFEST)

    def _recomputed(self, oid: str, commit: Commit, strays: Sequence[str]) -> Prepared:
        accepted = self._projection.meta("accepted")
        if not commit.parents:
            if accepted or strays:
                raise InvalidInput("is a second root", where=oid)
            return self._genesis(oid, commit)
        if accepted is None:
            raise InvalidInput("stands on no first commit of a memory", where=oid)
        if len(commit.parents) == 1:
            return self._decision(oid, commit, accepted, strays)
        if len(commit.parents) > 2:
            raise InvalidInput(f"has {len(commit.parents)} parents", where=oid)
        parent, tip = commit.parents
        return self.prepare_merge(Head(parent, accepted, tuple(strays)), tip)

    def check(self, head: Head) -> None:
        """Check the projection against git, before main moves on from ``head``.

        Raises:
            Damaged: it says something else.
        """
        check_chain(self._repo, self._projection, *astuple(head))
        check_contents(self.facts, self._projection, self.facts.ground(head.accepted))

    def records(self) -> list[RecordRow]:
        """Return the rows of what is remembered, as the projection has them."""
        return self._projection.records()

    # --- planning -------------------------------------------------------------------------

    def prepare_merge(self, head: Head, tip: str) -> Prepared:
        """Plan the merge of the branch that ends at ``tip``.

        Raises:
            InvalidInput: the branch breaks a rule.
            Refused, Waiting: the policy says no, or not yet.
        """
        branch = self.facts.branch(tip)
        ground = self.ground_for(head, branch)
        plan = plan_merge(ground, branch, head.tip, head.strays)
        return Prepared(plan, ground.policy, ground.tree, branch)

    def ground_for(self, head: Head, branch: Branch) -> Ground:
        """Return the accepted commit with all that ``branch`` makes one want to know of it."""
        proposal = branch.proposal
        statements = [statement(record) for record in branch.records.values()]
        return self.facts.ground(head.accepted, proposal.names, statements, proposal.id)

    def prepare_decision(
        self, head: Head, fields: DecisionFields, changes: Mapping[str, bytes | None]
    ) -> Prepared:
        """Plan a decision of a person.

        Raises:
            InvalidInput: a file that it brings breaks a rule.
            Refused: it is no person's, or the proposal was decided before.
        """
        keys = [key for path in changes if (key := parse_tombstone_path(path))]
        ground = self.facts.ground(head.accepted, proposal=fields.rejects, keys=keys)
        for path, data in changes.items():
            if data is not None:
                check_decided(path, data)
        data = changes.get(POLICY)
        if POLICY in changes and data is None:
            raise InvalidInput("cannot be removed", where=POLICY)
        policy = read_policy(data) if data is not None else ground.policy
        plan = plan_decision(ground, fields, changes, head.tip, head.strays)
        return Prepared(plan, policy, ground.tree, rejects=fields.rejects)

    def _decision(self, oid: str, commit: Commit, accepted: str, strays: Sequence[str]) -> Prepared:
        message = message_of(commit, oid)
        if message.one("Decision") is None:
            raise InvalidInput("is neither a merge nor a decision: it was made by hand", where=oid)
        ground_tree = self._repo.reader.commit(accepted).tree
        changes: dict[str, bytes | None] = {}
        for path in differences(self._repo.reader, ground_tree, commit.tree):
            if path.path in (MANIFEST, VIEW):
                continue
            if path.new_oid is None:
                changes[path.path] = None
                continue
            if path.new_mode != FILE_MODE:
                raise InvalidInput(f"has the mode {path.new_mode[:12]}", where=path.path)
            changes[path.path] = read_decided(self._repo, path.path, path.new_oid)
        fields = read_decision(message, committed_at(commit, oid))
        head = Head(commit.parents[0], accepted, tuple(strays))
        return self.prepare_decision(head, fields, changes)

    def prepare_genesis(self, store_id: str, files: Mapping[str, bytes], at: int) -> Prepared:
        """Plan the first commit of a memory.

        Raises:
            InvalidInput: a file breaks a rule.
        """
        for path, data in files.items():
            check_decided(path, data)
        if POLICY not in files:
            raise InvalidInput("the first commit has no policy", where=POLICY)
        return Prepared(plan_genesis(store_id, files, at), read_policy(files[POLICY]), EMPTY_TREE)

    def _genesis(self, oid: str, commit: Commit) -> Prepared:
        files: dict[str, bytes] = {}
        for path in differences(self._repo.reader, EMPTY_TREE, commit.tree):
            if path.new_mode != FILE_MODE:
                raise InvalidInput(f"has the mode {path.new_mode[:12]}", where=path.path)
            if path.path not in (MANIFEST, VIEW) and path.new_oid is not None:
                files[path.path] = read_decided(self._repo, path.path, path.new_oid)
        store_id = message_of(commit, oid).need("Store")
        return self.prepare_genesis(store_id, files, committed_at(commit, oid))


def _difference(planned: PlannedCommit, commit: Commit) -> str:
    """Say in what a commit differs from the one that its parents give."""
    who = format_signature(LEDGER_IDENTITY, planned.at)
    parts = {
        "its files": planned.tree != commit.tree,
        "its message": planned.message != commit.message,
        "its author": commit.author != who,
        "its committer": commit.committer != who,
    }
    differ = [part for part, is_other in parts.items() if is_other] or ["its headers"]
    return f"{' and '.join(differ)} are not what its parents give"


def _instant_of(commit: Commit, oid: str) -> str:
    try:
        return format_instant(committed_at(commit, oid))
    except InvalidInput:
        return ""
