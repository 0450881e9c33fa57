"""Reads out of git what the rules want to know: a ground to stand on, a branch to judge."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, islice

from gitmem.cache import Projection, RecordRow
from gitmem.domain.commit_message import CommitMessage, parse_message
from gitmem.domain.evidence import Evidence
from gitmem.domain.layout import MANIFEST, POLICY, REVIEWERS, evidence_path, tombstone_path
from gitmem.domain.manifest import MAX_MANIFEST_BYTES, parse_manifest
from gitmem.domain.objects import Commit, parse_signature
from gitmem.domain.proposal import Proposal, RecordAt, RecordChange, read_proposal, read_rebase
from gitmem.domain.record import Record, statement
from gitmem.domain.review import Review, read_review
from gitmem.domain.structure import check_quotes, check_record, sort_paths
from gitmem.domain.tombstone import statement_hash
from gitmem.domain.verify import Branch, Ground
from gitmem.errors import InvalidInput
from gitmem.repo import Repo
from gitmem.repo.trees import differences
from gitmem.store.contents import Contents

#: Commits of one proposal: rounds of reviews by a handful of reviewers stay far below.
MAX_BRANCH = 1000
#: How often one proposal can be put on a newer base; each of its stages is checked as a whole.
MAX_REBASES = 100
#: Records that are read at once, with their quotes: at most 16 of a kilobyte each.
_AT_ONCE = 200
#: What nearly every branch consists of, from its tip: an approval, the checks, the proposal.
_USUAL = ("", "^", "^^", "^{tree}", ":records", ":evidence")
_HALF = re.compile("[\ud800-\udfff]")
_SIGNATURES = ("gpgsig", "gpgsig-sha256")


class Facts(Contents):
    """Loads grounds and branches of one repository."""

    def __init__(self, repo: Repo, projection: Projection) -> None:
        super().__init__(repo)
        self._projection = projection

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

        ``any_base``: also one of which a base is no accepted commit of main (any more); it can
        be proposed anew, and no more: a merge would bring that base into the history of main.

        Raises:
            InvalidInput: it is no proposal's branch, or its structure breaks a rule.
            NotFound: an object is missing.
        """
        reviews: list[Review] = []
        stages: list[tuple[str, str]] = []  # each base with the files on it, the newest first
        named: set[str] = set()
        at = tip
        self._repo.reader.read_ahead([f"{tip}{step}" for step in _USUAL])
        for _ in range(MAX_BRANCH):
            commit = self._repo.reader.commit(at)
            message = message_of(commit, at)
            if message.one("Proposal-Id") is not None:
                if commit.parents != (message.need("Base"),):
                    raise InvalidInput("its parent is not the Base that it names", where=at)
                stages.append((commit.parents[0], commit.tree))
                created = committed_at(commit, at)
                proposal = self._proposal(message, created, stages, any_base=any_base)
                if named - {proposal.id}:
                    raise InvalidInput("a rebase on it is another proposal's", where=tip)
                return self._branch(tip, stages, proposal, tuple(reversed(reviews)))
            if message.one("Rebase") is not None:
                if len(stages) == MAX_REBASES:
                    raise InvalidInput(f"has more than {MAX_REBASES} rebases", where=tip)
                stages.append((read_rebase(message, commit.parents), commit.tree))
                named.add(message.need("Rebase"))
            else:
                reviews.append(self._review(at, commit, message))
            at = commit.parents[0]
        raise InvalidInput(f"has more than {MAX_BRANCH} commits", where=tip)

    def _review(self, oid: str, commit: Commit, message: CommitMessage) -> Review:
        if len(commit.parents) != 1:
            raise InvalidInput("is neither a proposal nor a review", where=oid)
        if self._repo.reader.commit(commit.parents[0]).tree != commit.tree:
            raise InvalidInput("a review may not change files", where=oid)
        return read_review(message, committed_at(commit, oid), oid)

    def _proposal(
        self,
        message: CommitMessage,
        created_at: int,
        stages: Sequence[tuple[str, str]],
        *,
        any_base: bool,
    ) -> Proposal:
        """Return the proposal of a branch with what its newest stage changes."""
        for base, _ in () if any_base else stages:
            row = self._projection.commit(base)
            if row is None or row.kind == "stray":
                raise InvalidInput(f"its base {base[:12]} is no accepted commit of main")
        base, files = stages[0]
        rebased_on = base if len(stages) > 1 else None
        return read_proposal(message, created_at, self._changes(base, files), rebased_on)

    def _changes(self, base: str, files: str) -> tuple[RecordChange, ...]:
        base_tree = self._repo.reader.commit(base).tree
        return sort_paths(differences(self._repo.reader, base_tree, files)).changes

    def _branch(
        self,
        tip: str,
        stages: Sequence[tuple[str, str]],
        proposal: Proposal,
        reviews: tuple[Review, ...],
    ) -> Branch:
        # A merge brings every commit of the branch into the history of main, so no stage of it
        # may hold what a proposal cannot.
        earlier: set[str] = set()
        for base, files in stages[1:]:
            changes = self._changes(base, files)
            _, quotes = self._contents(files, changes)
            earlier |= {change.new.blob for change in changes if change.new}.union(*quotes.values())
        base_tree = self._repo.reader.commit(proposal.base).tree
        records, evidence = self._contents(stages[0][1], proposal.changes)
        check_quotes(proposal, self._added(base_tree, evidence))
        return Branch(
            tip=tip,
            proposal=proposal,
            reviews=reviews,
            records=records,
            evidence=evidence,
            base_records={name: self.record_at(base_tree, name) for name in proposal.names},
            bases=tuple(base for base, _ in stages),
            earlier=frozenset(earlier),
        )

    def _added(self, base_tree: str, evidence: Mapping[str, frozenset[str]]) -> dict[str, Evidence]:
        """Return the quotes that were not there at the base, by path."""
        paths = [
            evidence_path(name, oid)
            for name, cited in evidence.items()
            for oid in sorted(cited - self.cited(base_tree, name))
        ]
        return {
            path: self.evidence(path.rpartition("/")[2].removesuffix(".md"), path) for path in paths
        }

    def _contents(
        self, tree: str, changes: Iterable[RecordChange]
    ) -> tuple[dict[str, Record], dict[str, frozenset[str]]]:
        records: dict[str, Record] = {}
        evidence: dict[str, frozenset[str]] = {}
        waiting = iter(changes)
        while some := list(islice(waiting, _AT_ONCE)):
            evidence.update((change.name, self.cited(tree, change.name)) for change in some)
            blobs = [change.new.blob for change in some if change.new]
            self._repo.reader.read_ahead(
                chain(blobs, *(evidence[change.name] for change in some if change.new))
            )
            for change in some:
                cited = evidence[change.name]
                if change.new:
                    records[change.name] = self._checked(change, tree, cited)
                elif cited:
                    raise InvalidInput(f"{change.name} is retired, but its quotes are still there")
        return records, evidence

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
    if not commit.message.isascii() and _HALF.search(commit.message):
        raise InvalidInput("has a message that is not UTF-8", where=oid)
    odd = [key for key, _ in commit.extra_headers if key not in _SIGNATURES]
    if odd:
        raise InvalidInput(f"has the header {odd[0]!r}, which gitmem does not write", where=oid)
    try:
        return parse_message(commit.message)
    except InvalidInput as error:
        raise InvalidInput(error.reason, where=oid) from error
