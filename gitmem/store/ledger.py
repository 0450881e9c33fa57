"""Folds the chain of main into the projection, commit by commit, verifying each.

One function accepts a commit, for readers, for a merge and for fsck: what :mod:`verify`
computes from the parents must have the commit's id. What it does not accept is a stray: never
memory, never lost, passed over by the next merge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gitmem.cache import CommitRow, Projection, RecordRow
from gitmem.documents import MAX_REVIEWER_BYTES, read_policy, read_reviewer
from gitmem.domain.instants import format_instant
from gitmem.domain.layout import MAIN, MANIFEST, POLICY, VIEW, parse_tombstone_path
from gitmem.domain.manifest import MAX_MANIFEST_BYTES, check_version
from gitmem.domain.objects import EMPTY_TREE, FILE_MODE, Commit, format_signature
from gitmem.domain.planned import LEDGER_IDENTITY, Plan, PlannedCommit, complete
from gitmem.domain.policy import Policy
from gitmem.domain.proposal import Proposal
from gitmem.domain.record import Record, statement
from gitmem.domain.tombstone import MAX_TOMBSTONE_BYTES, parse_tombstone
from gitmem.domain.verify import (
    Branch,
    DecisionFields,
    Ground,
    plan_decision,
    plan_genesis,
    plan_merge,
    read_decision,
)
from gitmem.domain.view import render_view
from gitmem.errors import GitFailed, InvalidInput, NotFound, Refused, Waiting
from gitmem.ranking import changed_blocks, count, document, rewrite
from gitmem.repo import Found, Repo, diff_trees
from gitmem.store.facts import Facts, committed_at, message_of
from gitmem.store.root import check_root

Progress = Callable[[str, int, "int | None"], None]


@dataclass(frozen=True, slots=True)
class Head:
    """Where main stands: its tip, the newest accepted commit, the strays between the two."""

    tip: str
    accepted: str
    strays: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A planned change of main with what it was planned on. ``branch`` is None for a decision."""

    plan: Plan
    policy: Policy
    tree: str
    branch: Branch | None = None
    rejects: str | None = None


class Ledger:
    """Main, as the projection knows it."""

    def __init__(self, repo: Repo, projection: Projection) -> None:
        self._repo = repo
        self._projection = projection
        self.facts = Facts(repo, projection)

    # --- following main -------------------------------------------------------------------

    def catch_up(self, progress: Progress | None = None) -> Head:
        """Bring the projection to the tip of main and return where main stands.

        Raises:
            NotFound: the repository has no main, or its main does not begin with a genesis.
        """
        tip = self._repo.read_ref(MAIN)
        if tip is None:
            raise NotFound(
                f"{self._repo.root or self._repo.git_dir} is a git repository, but no memory",
                hint="Run `gitmem init PATH` to make one.",
            )
        if self._projection.meta("tip") != tip:
            with self._projection.transaction():
                # Read again: whoever had the projection until now may have gone further.
                self._follow(self._repo.read_ref(MAIN) or tip, progress)
        return self._head()

    def _head(self) -> Head:
        accepted = self._projection.meta("accepted")
        tip = self._projection.meta("tip")
        if not accepted or not tip:
            root = self._repo.root or self._repo.git_dir
            raise NotFound(
                f"main of {root} does not begin with the first commit of a memory",
                hint="Run `gitmem init` in another folder; this history is somebody else's.",
            )
        strays = self._projection.meta("strays") or ""
        return Head(tip, accepted, tuple(strays.split()))

    def _follow(self, tip: str, progress: Progress | None) -> None:
        known = self._projection.meta("tip")
        chain: list[str] = []
        for oid in self._repo.first_parents(tip):
            if oid == known:
                break
            chain.append(oid)
        else:
            self._projection.forget_chain()
        for done, oid in enumerate(reversed(chain), start=1):
            self._fold(oid)
            if progress:
                progress("verifying", done, len(chain))
        if self._projection.meta("accepted"):
            check_root(self._repo, self._projection.first_commit() or "")
        self._projection.set_meta("tip", tip)

    def _fold(self, oid: str) -> None:
        strays = (self._projection.meta("strays") or "").split()
        commit = self._repo.reader.commit(oid)
        try:
            planned = self.settle(self._recomputed(oid, commit, strays), oid)
        except (InvalidInput, Refused, Waiting) as error:
            reason = error.message.removeprefix(f"{oid}: ")
        except (NotFound, GitFailed) as error:
            # Not the commit's fault: were it taken for a stray, a merge would pass it over.
            raise GitFailed(f"{oid} on main cannot be verified: {error.message}") from error
        else:
            if planned.oid == oid:
                return
            reason = _difference(planned, commit)
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
        entry = self.facts.entry(commit.tree, MANIFEST)
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
                _check_file(path, data)
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
        for path in diff_trees(self._repo.reader, ground_tree, commit.tree):
            if path.path in (MANIFEST, VIEW):
                continue
            if path.new_oid is None:
                changes[path.path] = None
                continue
            if path.new_mode != FILE_MODE:
                raise InvalidInput(f"has the mode {path.new_mode}", where=path.path)
            changes[path.path] = self._repo.reader.blob(path.new_oid, max_bytes=MAX_REVIEWER_BYTES)
        fields = read_decision(message, committed_at(commit, oid))
        head = Head(commit.parents[0], accepted, tuple(strays))
        return self.prepare_decision(head, fields, changes)

    def prepare_genesis(self, store_id: str, files: Mapping[str, bytes], at: int) -> Prepared:
        """Plan the first commit of a memory.

        Raises:
            InvalidInput: a file breaks a rule.
        """
        for path, data in files.items():
            _check_file(path, data)
        if POLICY not in files:
            raise InvalidInput("the first commit has no policy", where=POLICY)
        return Prepared(plan_genesis(store_id, files, at), read_policy(files[POLICY]), EMPTY_TREE)

    def _genesis(self, oid: str, commit: Commit) -> Prepared:
        files: dict[str, bytes] = {}
        for path in diff_trees(self._repo.reader, EMPTY_TREE, commit.tree):
            if path.path not in (MANIFEST, VIEW) and path.new_oid is not None:
                files[path.path] = self._repo.reader.blob(
                    path.new_oid, max_bytes=MAX_REVIEWER_BYTES
                )
        store_id = message_of(commit, oid).need("Store")
        return self.prepare_genesis(store_id, files, committed_at(commit, oid))

    # --- folding --------------------------------------------------------------------------

    def fold(self, prepared: Prepared) -> PlannedCommit:
        """Fold a change that is about to be written; the caller undoes it if that fails."""
        old = self._documents(prepared)
        planned = self._planned(prepared)
        self._keep(old, prepared, planned.oid)
        self._projection.set_meta("tip", planned.oid)
        return planned

    def settle(self, prepared: Prepared, oid: str) -> PlannedCommit:
        """Return the commit that ``prepared`` makes; fold it if it is the very one named."""
        with self._projection.trial() as trial:
            old = self._documents(prepared)
            planned = self._planned(prepared)
            if planned.oid == oid:
                self._keep(old, prepared, oid)
                trial.keep()
            return planned

    def _keep(self, old: list[tuple[int, str]], prepared: Prepared, oid: str) -> None:
        self._reindex(old, self._documents(prepared))
        self._projection.add_commit(_row(oid, prepared), _decided(prepared))
        self._projection.set_meta("accepted", oid)
        self._projection.set_meta("strays", "")

    def _planned(self, prepared: Prepared) -> PlannedCommit:
        if prepared.branch is not None:
            self._apply(prepared.plan, prepared.branch)
        limits = prepared.policy.view
        current, superseded = self._projection.view_rows(limits.lines)
        total = sum(prepared.plan.by_type.values())
        view = render_view(current, superseded, total, limits.lines, limits.bytes)
        return complete(prepared.plan, view, prepared.tree, self._repo.reader.tree)

    def _apply(self, plan: Plan, branch: Branch) -> None:
        numbers = self._projection.numbers(branch.records)
        for change in branch.proposal.changes:
            if change.new is None:
                self._projection.remove_record(change.name)
                continue
            record = branch.records[change.name]
            row = _record_row(record, change.new.path, change.new.blob, plan)
            self._projection.put_record(row, numbers[change.name], record.supersedes)

    def _documents(self, prepared: Prepared) -> list[tuple[int, str]]:
        if prepared.branch is None:
            return []
        found = []
        for name in prepared.branch.proposal.names:
            row = self._projection.record(name)
            if row is not None:
                record = self.facts.record(row.blob, row.path)
                text = document(name, record.description, record.body)
                found.append((self._projection.numbers([name])[name], text))
        return found

    def _reindex(self, old: list[tuple[int, str]], new: list[tuple[int, str]]) -> None:
        for (term, block), changes in sorted(changed_blocks(old, new).items()):
            data = rewrite(self._projection.block(term, block), changes)
            self._projection.put_block(term, block, data)
        documents = int(self._projection.meta("documents") or 0) + len(new) - len(old)
        terms = int(self._projection.meta("terms") or 0)
        terms += sum(count(text)[1] for _, text in new) - sum(count(text)[1] for _, text in old)
        self._projection.set_meta("documents", str(documents))
        self._projection.set_meta("terms", str(terms))


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


def _decided(prepared: Prepared) -> tuple[str, str] | None:
    if prepared.branch is not None:
        return prepared.branch.proposal.id, "merged"
    return (prepared.rejects, "rejected") if prepared.rejects else None


def _row(oid: str, prepared: Prepared) -> CommitRow:
    plan = prepared.plan
    kind = ("genesis", "decision", "merge")[len(plan.parents)]
    proposal: Proposal | None = prepared.branch.proposal if prepared.branch else None
    return CommitRow(
        oid=oid,
        kind=kind,
        change=plan.change,
        at=format_instant(plan.at),
        approved_by=plan.approved_by,
        records=tuple((c.name, c.kind) for c in proposal.changes) if proposal else (),
        reason=plan.message.one("Reason") or "",
    )


def _record_row(record: Record, path: str, blob: str, plan: Plan) -> RecordRow:
    return RecordRow(
        name=record.name,
        type=record.type,
        path=path,
        blob=blob,
        description=record.description,
        status=record.status,
        valid_from=record.valid_from,
        valid_until=record.valid_until,
        change=plan.change,
        approved_by=plan.approved_by,
        approved_at=format_instant(plan.at),
    )


def _check_file(path: str, data: bytes) -> None:
    key = parse_tombstone_path(path)
    if key is not None:
        if len(data) > MAX_TOMBSTONE_BYTES or parse_tombstone(data, path).key != key:
            raise InvalidInput("is not named by its own hash", where=path)
    elif path == POLICY:
        read_policy(data)
    elif path.startswith("reviewers/"):
        if path.count("/") != 1 or not path.endswith(".md"):
            raise InvalidInput("is no reviewer: a file reviewers/NAME.md is", where=path)
        read_reviewer(data, path)


def _instant_of(commit: Commit, oid: str) -> str:
    try:
        return format_instant(committed_at(commit, oid))
    except InvalidInput:
        return ""
