"""Reads out of git what the rules want to know: a ground to stand on, a branch to judge."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from gitmem.cache import Projection, RecordRow
from gitmem.documents import MAX_REVIEWER_BYTES, read_evidence, read_policy, read_reviewer
from gitmem.domain.commit_message import CommitMessage, parse_message
from gitmem.domain.evidence import MAX_EVIDENCE_BYTES, Evidence, is_short
from gitmem.domain.layout import (
    MANIFEST,
    POLICY,
    REVIEWERS,
    candidate_paths,
    evidence_folder,
    evidence_path,
    tombstone_path,
)
from gitmem.domain.manifest import MAX_MANIFEST_BYTES, parse_manifest
from gitmem.domain.objects import EMPTY_TREE, FILE_MODE, Commit, TreeEntry, parse_signature
from gitmem.domain.policy import MAX_POLICY_BYTES, Policy
from gitmem.domain.proposal import (
    OWN_HISTORY,
    OWN_WORDS,
    Proposal,
    RecordAt,
    RecordChange,
    read_proposal,
    read_rebase,
)
from gitmem.domain.record import MAX_BYTES, Record, statement
from gitmem.domain.review import Review, ReviewerDefinition, read_review
from gitmem.domain.structure import check_record, sort_paths
from gitmem.domain.tombstone import statement_hash
from gitmem.domain.verify import Branch, Ground
from gitmem.errors import InvalidInput
from gitmem.records import read_record
from gitmem.repo import Repo, diff_trees

#: Commits of one proposal: rounds of reviews by a handful of reviewers stay far below.
MAX_BRANCH = 1000
#: Parsed records, and as many quotes, that one process keeps; each is a few kilobytes.
_BLOBS_KEPT = 1024
_SIGNATURES = ("gpgsig", "gpgsig-sha256")


class Facts:
    """Loads grounds and branches of one repository.

    What a blob holds is always read out of git, once for each process: the copies that the
    projection keeps for readers are never believed here.
    """

    def __init__(self, repo: Repo, projection: Projection) -> None:
        self._repo = repo
        self._projection = projection
        self._policy = lru_cache(maxsize=8)(self._read_policy)
        self._reviewers = lru_cache(maxsize=8)(self._read_reviewers)
        self._entries = lru_cache(maxsize=256)(self._read_entries)
        self._record = lru_cache(maxsize=_BLOBS_KEPT)(self._read_record)
        self._evidence = lru_cache(maxsize=_BLOBS_KEPT)(self._read_evidence)

    # --- trees ----------------------------------------------------------------------------

    def entry(self, tree: str, path: str) -> TreeEntry | None:
        """Return what stands at ``path`` below ``tree``, None where nothing does."""
        *folders, name = path.split("/")
        for folder in folders:
            found = self._entries(tree).get(folder)
            if found is None or not found.is_tree:
                return None
            tree = found.oid
        return self._entries(tree).get(name)

    def _read_entries(self, tree: str) -> Mapping[str, TreeEntry]:
        return {entry.name: entry for entry in self._repo.reader.tree(tree)}

    def record_at(self, tree: str, name: str) -> RecordAt | None:
        """Return where the record ``name`` lies in ``tree``, under whatever type."""
        found = [
            RecordAt(path, entry.oid)
            for path in candidate_paths(name)
            if (entry := self.entry(tree, path)) is not None
        ]
        if len(found) > 1:
            raise InvalidInput(f"stands twice, also as {found[1].path}", where=found[0].path)
        return found[0] if found else None

    def cited(self, tree: str, name: str) -> frozenset[str]:
        """Return the ids in the evidence folder of ``name``.

        Raises:
            InvalidInput: something in it is not named by its own blob id.
        """
        folder = self.entry(tree, evidence_folder(name))
        if folder is None:
            return frozenset()
        entries = self._entries(folder.oid if folder.is_tree else EMPTY_TREE)
        for entry in entries.values():
            if entry.mode != FILE_MODE or entry.name != f"{entry.oid}.md":
                raise InvalidInput(
                    "is not named by its own blob id",
                    where=f"{evidence_folder(name)}/{entry.name}",
                )
        return frozenset(entry.oid for entry in entries.values())

    # --- blobs ----------------------------------------------------------------------------

    def record(self, oid: str, where: str) -> Record:
        """Return the record in a blob.

        Raises:
            InvalidInput: it is no legal record.
            NotFound: it is not there.
        """
        return self._record(oid, where)

    def _read_record(self, oid: str, where: str) -> Record:
        return read_record(self._repo.reader.blob(oid, max_bytes=MAX_BYTES), where)

    def evidence(self, oid: str, where: str) -> Evidence:
        """Return the evidence in a blob.

        Raises:
            InvalidInput: it is no legal evidence.
            NotFound: it is not there.
        """
        return self._evidence(oid, where)

    def _read_evidence(self, oid: str, where: str) -> Evidence:
        return read_evidence(self._repo.reader.blob(oid, max_bytes=MAX_EVIDENCE_BYTES), where)

    def _read_policy(self, oid: str) -> Policy:
        return read_policy(self._repo.reader.blob(oid, max_bytes=MAX_POLICY_BYTES))

    def _read_reviewers(self, tree: str) -> Mapping[str, ReviewerDefinition]:
        found = {}
        for entry in self._entries(tree).values():
            where = f"{REVIEWERS}/{entry.name}"
            if entry.mode != FILE_MODE or not entry.name.endswith(".md"):
                raise InvalidInput("is no reviewer: a plain file named *.md is", where=where)
            data = self._repo.reader.blob(entry.oid, max_bytes=MAX_REVIEWER_BYTES)
            found[entry.name.removesuffix(".md")] = read_reviewer(data, where)
        return found

    # --- ground ---------------------------------------------------------------------------

    def ground(
        self,
        commit: str,
        names: Iterable[str] = (),
        statements: Iterable[str] = (),
        proposal: str | None = None,
        keys: Collection[str] = (),
    ) -> Ground:
        """Return the accepted commit ``commit``, which the projection must stand at.

        Args:
            names: the records that a change touches.
            statements: texts whose tombstones matter.
            proposal: the id of the proposal that is to be decided.
            keys: tombstones (40 hex) that matter.

        Raises:
            Damaged: the projection says something else of these records than git.
        """
        tree = self._repo.reader.commit(commit).tree
        manifest_entry = self.entry(tree, MANIFEST)
        policy, reviewers = self.entry(tree, POLICY), self.entry(tree, REVIEWERS)
        if manifest_entry is None or policy is None:
            raise InvalidInput("has no manifest or no policy", where=commit)
        manifest = parse_manifest(
            self._repo.reader.blob(manifest_entry.oid, max_bytes=MAX_MANIFEST_BYTES)
        )
        touched = list(names)
        rows = {name: self._row(tree, name) for name in touched}
        old = {
            name: statement(self.record(row.blob, row.path)) for name, row in rows.items() if row
        }
        wanted = {statement_hash(text)[:40] for text in [*statements, *old.values()]} | set(keys)
        return Ground(
            commit=commit,
            tree=tree,
            manifest=manifest,
            policy=self._policy(policy.oid),
            reviewers=self._reviewers(reviewers.oid) if reviewers else {},
            records={n: RecordAt(row.path, row.blob) if row else None for n, row in rows.items()},
            types={name: row.type for name, row in rows.items() if row},
            old_statements=old,
            evidence={name: self.cited(tree, name) for name in touched},
            standing={name: row.approved_by for name, row in rows.items() if row},
            tombstones=frozenset(key for key in wanted if self.entry(tree, tombstone_path(key))),
            decided=self._projection.decided(proposal) if proposal else None,
        )

    def _row(self, tree: str, name: str) -> RecordRow | None:
        """Return the projection's row of a record, which must be as the record in ``tree``."""
        row, place = self._projection.record(name), self.record_at(tree, name)
        if row is None and place is None:
            return None
        if row is None or place is None:
            raise self._projection.damaged(f"{name} is in it or in git, but not in both")
        record = self.record(place.blob, place.path)
        there = (record.type, record.description, record.status)
        dates = (record.valid_from, record.valid_until)
        known = (row.path, row.blob, row.type, row.description, row.status)
        if known != (place.path, place.blob, *there) or dates != (row.valid_from, row.valid_until):
            raise self._projection.damaged(f"{name} is not as it is in git")
        return row

    # --- branch ---------------------------------------------------------------------------

    def branch(self, tip: str, *, any_base: bool = False) -> Branch:
        """Read and check the branch of a proposal.

        ``any_base``: also one whose base is no accepted commit of main (any more); such a
        branch can be rebased, and no more.

        Raises:
            InvalidInput: it is no proposal's branch, or its structure breaks a rule.
            NotFound: an object is missing.
        """
        reviews: list[Review] = []
        bases: list[str] = []
        named: set[str] = set()
        files = self._repo.reader.commit(tip).tree
        at = tip
        for _ in range(MAX_BRANCH):
            commit = self._repo.reader.commit(at)
            message = message_of(commit, at)
            if message.one("Proposal-Id") is not None:
                base = next(iter(bases), None)
                proposal = self._proposed(at, commit, message, files, base, any_base)
                if named - {proposal.id}:
                    raise InvalidInput("a rebase on it is another proposal's", where=tip)
                return self._branch(tip, files, proposal, tuple(reversed(reviews)))
            if message.one("Rebase") is not None:
                bases.append(read_rebase(message, commit.parents))
                named.add(message.need("Rebase"))
                at = commit.parents[0]
                continue
            if len(commit.parents) != 1:
                raise InvalidInput("is neither a proposal nor a review", where=at)
            if self._repo.reader.commit(commit.parents[0]).tree != commit.tree:
                raise InvalidInput("a review may not change files", where=at)
            reviews.append(read_review(message, committed_at(commit, at), at))
            at = commit.parents[0]
        raise InvalidInput(f"has more than {MAX_BRANCH} commits", where=tip)

    def _proposed(
        self,
        oid: str,
        commit: Commit,
        message: CommitMessage,
        files: str,
        rebased_on: str | None,
        any_base: bool,
    ) -> Proposal:
        """Return the proposal that the commit ``oid`` begins, with what its branch changes now."""
        if commit.parents != (message.need("Base"),):
            raise InvalidInput("its parent is not the Base that it names", where=oid)
        base = rebased_on or commit.parents[0]
        row = self._projection.commit(base)
        if not any_base and (row is None or row.kind == "stray"):
            raise InvalidInput(f"its base {base[:12]} is no accepted commit of main", where=oid)
        base_tree = self._repo.reader.commit(base).tree
        touched = sort_paths(diff_trees(self._repo.reader, base_tree, files))
        return read_proposal(message, committed_at(commit, oid), touched.changes, rebased_on)

    def _branch(
        self, tip: str, files: str, proposal: Proposal, reviews: tuple[Review, ...]
    ) -> Branch:
        base_tree = self._repo.reader.commit(proposal.base).tree
        records, evidence = self._contents(files, proposal)
        self._check_source(base_tree, proposal, evidence)
        return Branch(
            tip=tip,
            proposal=proposal,
            reviews=reviews,
            records=records,
            evidence=evidence,
            base_records={name: self.record_at(base_tree, name) for name in proposal.names},
        )

    def _contents(
        self, tree: str, proposal: Proposal
    ) -> tuple[dict[str, Record], dict[str, frozenset[str]]]:
        records: dict[str, Record] = {}
        evidence: dict[str, frozenset[str]] = {}
        for change in proposal.changes:
            evidence[change.name] = cited = self.cited(tree, change.name)
            if change.new is None:
                if cited:
                    raise InvalidInput(f"{change.name} is retired, but its quotes are still there")
                continue
            records[change.name] = self._checked(change, tree, cited)
        return records, evidence

    def _check_source(
        self, base_tree: str, proposal: Proposal, evidence: Mapping[str, frozenset[str]]
    ) -> None:
        """Refuse a proposal whose new quotes are too short, or of another source than it says."""
        may_quote_short = proposal.kind in OWN_WORDS or (
            proposal.kind in OWN_HISTORY and proposal.attested is None
        )
        for name, cited in evidence.items():
            for oid in sorted(cited - self.cited(base_tree, name)):
                where = evidence_path(name, oid)
                quote = self.evidence(oid, where)
                named = proposal.attested, proposal.session
                if proposal.attested and (quote.attested, quote.session) != named:
                    raise InvalidInput(
                        "is from another session, or attested otherwise, than the proposal says",
                        where=where,
                    )
                if is_short(quote.quote) and not may_quote_short:
                    raise InvalidInput("is too short to say anything by itself", where=where)

    def _checked(self, change: RecordChange, tree: str, cited: frozenset[str]) -> Record:
        assert change.new is not None
        record = self.record(change.new.blob, change.new.path)
        quotes = {oid: self.evidence(oid, evidence_path(change.name, oid)) for oid in cited}
        check_record(change, record, cited, quotes)
        self.record_at(tree, change.name)  # refuses a name that stands under two types
        return record


def committed_at(commit: Commit, oid: str) -> int:
    """Return the committer's date in seconds since 1970.

    Raises:
        InvalidInput: the commit has none.
    """
    try:
        return parse_signature(commit.committer).epoch
    except ValueError as error:
        raise InvalidInput(str(error), where=oid) from error


def message_of(commit: Commit, oid: str) -> CommitMessage:
    """Return the message of a commit that gitmem wrote.

    Raises:
        InvalidInput: gitmem did not write it.
    """
    if not commit.message.isascii() and any("\ud800" <= c <= "\udfff" for c in commit.message):
        raise InvalidInput("has a message that is not UTF-8", where=oid)
    odd = [key for key, _ in commit.extra_headers if key not in _SIGNATURES]
    if odd:
        raise InvalidInput(f"has the header {odd[0]!r}, which gitmem does not write", where=oid)
    try:
        return parse_message(commit.message)
    except InvalidInput as error:
        raise InvalidInput(error.reason, where=oid) from error
