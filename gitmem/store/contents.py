"""What lies in a tree of the store and in its blobs, read out of git and parsed once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from gitmem.documents import MAX_REVIEWER_BYTES, read_evidence, read_policy, read_reviewer
from gitmem.domain.evidence import MAX_EVIDENCE_BYTES, Evidence
from gitmem.domain.layout import REVIEWERS, candidate_paths, evidence_folder
from gitmem.domain.objects import EMPTY_TREE, FILE_MODE, TreeEntry
from gitmem.domain.policy import MAX_POLICY_BYTES, Policy
from gitmem.domain.proposal import RecordAt
from gitmem.domain.record import MAX_BYTES, Record
from gitmem.domain.review import ReviewerDefinition
from gitmem.errors import InvalidInput
from gitmem.records import read_record
from gitmem.repo import Repo

#: Parsed records, and as many quotes, that one process keeps; each is a few kilobytes.
_BLOBS_KEPT = 1024


class Contents:
    """The trees and blobs of one repository.

    What a blob holds is always read out of git, once for each process: the copies that the
    projection keeps for readers are never believed here.
    """

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
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
