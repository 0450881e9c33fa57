"""Folds one change of main into the projection: its records, its postings, its commit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from gitmem.cache import CommitRow, Projection, RecordRow
from gitmem.domain.instants import format_instant
from gitmem.domain.layout import evidence_path
from gitmem.domain.planned import Plan, PlannedCommit, complete
from gitmem.domain.policy import Policy
from gitmem.domain.proposal import Proposal
from gitmem.domain.record import Record
from gitmem.domain.verify import Branch
from gitmem.domain.view import ViewRow, render_view
from gitmem.ranking import changed_blocks, count, document, rewrite
from gitmem.repo import Repo
from gitmem.store.agreement import check_rows
from gitmem.store.facts import Facts


@dataclass(frozen=True, slots=True)
class Prepared:
    """A planned change of main with what it was planned on. ``branch`` is None for a decision."""

    plan: Plan
    policy: Policy
    tree: str
    branch: Branch | None = None
    rejects: str | None = None


class Fold:
    """Takes planned changes into the projection."""

    def __init__(self, repo: Repo, projection: Projection) -> None:
        self._repo = repo
        self._projection = projection
        self.facts = Facts(repo, projection)

    def fold(self, prepared: Prepared) -> PlannedCommit:
        """Fold a change that is about to be written; the caller undoes it if that fails.

        Raises:
            Damaged: the view that it gives would show a record otherwise than git has it.
        """
        if not prepared.plan.parents:
            self._projection.forget_all()
        old, before = self._documents(prepared), self._rows(prepared)
        planned, rows = self._planned(prepared)
        touched = prepared.branch.proposal.names if prepared.branch else ()
        shown = set(chain(*before))
        anew = [row for row in chain(*rows) if row not in shown and row.name not in touched]
        check_rows(self.facts, self._projection, prepared.tree, anew)
        self._keep(old, prepared, planned.oid)
        self._projection.set_meta("tip", planned.oid)
        return planned

    def _rows(self, prepared: Prepared) -> tuple[list[ViewRow], list[ViewRow]]:
        return self._projection.view_rows(prepared.policy.view.lines)

    def settle(self, prepared: Prepared, oid: str) -> PlannedCommit:
        """Return the commit that ``prepared`` makes; fold it if it is the very one named."""
        with self._projection.trial() as trial:
            old = self._documents(prepared)
            planned, _ = self._planned(prepared)
            if planned.oid == oid:
                self._keep(old, prepared, oid)
                trial.keep()
            return planned

    def _keep(self, old: list[tuple[int, str]], prepared: Prepared, oid: str) -> None:
        self._reindex(old, self._documents(prepared))
        self._projection.add_commit(_row(oid, prepared), _decided(prepared))
        self._projection.set_meta("accepted", oid)
        self._projection.set_meta("strays", "")

    def _planned(
        self, prepared: Prepared
    ) -> tuple[PlannedCommit, tuple[list[ViewRow], list[ViewRow]]]:
        """Return the commit, and the rows of the projection that its view is made of."""
        if prepared.branch is not None:
            self._apply(prepared.plan, prepared.branch)
        limits = prepared.policy.view
        current, superseded = rows = self._rows(prepared)
        total = sum(prepared.plan.by_type.values())
        view = render_view(current, superseded, total, limits.lines, limits.bytes)
        return complete(prepared.plan, view, prepared.tree, self._repo.reader.tree), rows

    def _apply(self, plan: Plan, branch: Branch) -> None:
        numbers = self._projection.numbers(branch.records)
        for change in branch.proposal.changes:
            if change.new is None:
                self._projection.remove_record(change.name)
                continue
            record = branch.records[change.name]
            approved = (plan.change, plan.approved_by, format_instant(plan.at))
            row = record_row(record, change.new.path, change.new.blob, *approved)
            self._projection.put_record(row, numbers[change.name], record.supersedes)
            self._projection.put_blob(row.blob, record.model_dump())
            for oid in record.evidence:
                quote = self.facts.evidence(oid, evidence_path(record.name, oid))
                self._projection.put_blob(oid, quote.model_dump())

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
        lengths: dict[int, int] = {}
        for (term, block), changes in sorted(changed_blocks(old, new).items()):
            data = rewrite(self._projection.block(term, block), changes)
            self._projection.put_block(term, block, data)
            lengths.update((number, entry[1]) for number, entry in changes.items() if entry)
        documents, terms = self._projection.size()
        documents += len(new) - len(old)
        terms += sum(lengths.values()) - sum(count(text)[1] for _, text in old)
        self._projection.set_meta("documents", str(documents))
        self._projection.set_meta("terms", str(terms))


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


def record_row(
    record: Record, path: str, blob: str, change: str, approved_by: tuple[str, ...], at: str
) -> RecordRow:
    """Return the projection's row of a record that ``change`` brought into its present form."""
    return RecordRow(
        name=record.name,
        type=record.type,
        path=path,
        blob=blob,
        description=record.description,
        status=record.status,
        valid_from=record.valid_from,
        valid_until=record.valid_until,
        change=change,
        approved_by=approved_by,
        approved_at=at,
    )
