"""What the slower operations return: plain frozen data with ``to_json``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from gitmem.results.records import Quote, RecordDetail

Progress = Callable[[str, int, "int | None"], None]
"""Told of long work on the way: what is done, how many so far, and of how many (None: unknown)."""


class Result:
    """``to_json`` for plain results: the fields."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]  # all are dataclasses


@dataclass(frozen=True)
class LogEntry(Result):
    """One commit of main. ``kind`` is genesis, merge, decision or stray; ``at`` is UTC text.

    ``via`` is empty, or the other name by which the commit belongs to the record asked for: one
    that it was called before, came of, or became.
    """

    commit: str
    kind: str
    change: str
    at: str
    approved_by: tuple[str, ...]
    records: tuple[tuple[str, str], ...]
    reason: str = ""
    via: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape."""
        return {
            "commit": self.commit,
            "kind": self.kind,
            "change": self.change,
            "at": self.at,
            "approved_by": list(self.approved_by),
            "records": [{"name": name, "change": change} for name, change in self.records],
            "reason": self.reason,
            "via": self.via,
        }


@dataclass(frozen=True)
class FindingView(Result):
    """A finding of a check or a reviewer."""

    severity: str
    record: str | None
    line: int | None
    text: str
    code: str = ""


@dataclass(frozen=True)
class ReviewView(Result):
    """A review as ``why`` shows it."""

    by: str
    reviewer: str
    verdict: str
    at: str
    findings: tuple[FindingView, ...]
    reason: str = ""


@dataclass(frozen=True)
class EarlierDraft(Result):
    """A draft that reviewers sent back, and that another one answered; ``round`` is 0 for the
    first. ``missing`` says why its reviews cannot be shown, and is empty where they are."""

    proposal: str
    round: int
    reviews: tuple[ReviewView, ...]
    missing: str = ""


@dataclass(frozen=True)
class HistoryEntry(Result):
    """One merge that touched a record, with its proposal and every review. ``earlier`` are the
    drafts that it answers the findings of, the first one first."""

    proposal: str
    kind: str
    change: str
    proposed_by: str
    session: str | None
    reviews: tuple[ReviewView, ...]
    approved_by: tuple[str, ...]
    approved_at: str
    merge: str
    earlier: tuple[EarlierDraft, ...] = ()


@dataclass(frozen=True)
class Source(Result):
    """A record that another came of, as it last was before that.

    ``became`` is what took its place: the record asked for, or another source of it.
    """

    name: str
    became: str
    type: str
    description: str
    evidence: tuple[Quote, ...]
    history: tuple[HistoryEntry, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape."""
        return {
            "name": self.name,
            "became": self.became,
            "type": self.type,
            "description": self.description,
            "evidence": [quote.to_json() for quote in self.evidence],
            "history": [entry.to_json() for entry in self.history],
        }


@dataclass(frozen=True)
class Why(Result):
    """Why a record is believed. ``contexts`` has the whole message around each quote by
    evidence id, where the session is on this machine, and ``missing`` says of every other quote
    why not; ``sources`` are the records that it came of, back to the first quotes."""

    name: str
    record: RecordDetail
    history: tuple[HistoryEntry, ...]
    contexts: dict[str, str] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape."""
        record = self.record.to_json()
        return {
            "name": self.name,
            "record": record,
            "evidence": record["evidence"],
            "history": [entry.to_json() for entry in self.history],
            "contexts": self.contexts,
            "missing": self.missing,
            "sources": [source.to_json() for source in self.sources],
        }


@dataclass(frozen=True)
class RecordEffect(Result):
    """What a proposal does to one name: added, revised or retired."""

    name: str
    change: str
    type: str = ""
    description: str = ""


@dataclass(frozen=True)
class ProposalSummary(Result):
    """One line of ``proposals``. ``waits_for`` says in words what is missing."""

    id: str
    kind: str
    state: str
    records: tuple[RecordEffect, ...]
    findings: tuple[FindingView, ...]
    created_at: str
    proposed_by: str = ""
    waits_for: tuple[str, ...] = ()


@dataclass(frozen=True)
class KeptProposal(Result):
    """A proposal that was put aside on this machine: why, by whom or what, and when.

    ``state`` is rejected, superseded, merged, emptied or unreadable, or ``kept`` where nothing
    says why it is there. ``follows`` is the draft that it answers, ``round`` how many there were.
    """

    id: str
    kind: str
    state: str
    reason: str
    by: str
    kept_at: str
    records: tuple[RecordEffect, ...]
    reviews: tuple[ReviewView, ...]
    follows: str | None = None
    round: int = 0


@dataclass(frozen=True)
class ShownRecord(Result):
    """A record in a diff: its text before and after, and the quotes that the new text cites."""

    name: str
    change: str
    path: str
    before: str
    after: str
    quotes: tuple[Quote, ...]


@dataclass(frozen=True)
class ProposalDiff(Result):
    """A proposal whole: what a person reads before approving. ``change`` is the reviewed hash."""

    summary: ProposalSummary
    change: str
    records: tuple[ShownRecord, ...]
    retire_reasons: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape."""
        shown = []
        for record in self.records:
            raw = record.to_json()
            raw["quotes"] = [quote.to_json() for quote in record.quotes]
            shown.append(raw)
        return {
            **self.summary.to_json(),
            "change": self.change,
            "diff": shown,
            "retire_reasons": self.retire_reasons,
        }


@dataclass(frozen=True)
class ReviewOutcome(Result):
    """What came of a review by models. ``state`` is that of the proposal afterwards, ``merged``
    where nothing more was wanted; ``tokens`` is what it took."""

    proposal: str
    state: str
    reviews: tuple[ReviewView, ...]
    waits_for: tuple[str, ...] = ()
    merge: str | None = None
    tokens: int = 0


@dataclass(frozen=True)
class Selection(Result):
    """What a turn gets. ``degraded`` says that the ranking chose in a model's place, ``reason``
    why; ``block`` goes into the request, and is empty where there is nothing new to say.
    ``injected`` are the records in it with their blob ids, ``left_out`` those it had no room for.
    """

    names: tuple[str, ...]
    degraded: bool
    reason: str
    block: str
    injected: dict[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dropped(Result):
    """Something that was not proposed, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class ProposalResult(Result):
    """What came of extract, propose, remember, edit or forget. ``proposal`` is None when there
    was nothing to propose. ``counts`` are parts of the conversation by what became of them;
    ``merge`` is the commit where a person's own change was merged at once; ``by`` proposed it,
    and where that is a model, it took so many ``questions`` and ``tokens``."""

    proposal: str | None
    state: str
    records: tuple[RecordEffect, ...]
    findings: tuple[FindingView, ...]
    dropped: tuple[Dropped, ...]
    counts: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    merge: str | None = None
    session: str | None = None
    by: str = ""
    questions: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class MergeResult(Result):
    """A merge or a decision that was made. ``notes`` are sentences for the person."""

    proposal: str
    state: str
    commit: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem(Result):
    """Something in the store that is not as it should be."""

    where: str
    what: str
    fix: str


@dataclass(frozen=True)
class FsckReport(Result):
    """The outcome of verifying every commit of main. Strays that a merge passed over are no
    problem any more; they stand in ``passed_over``. ``repaired`` says what was put right before,
    ``warnings`` what plain git would do here and gitmem does not."""

    ok: bool
    commits: int
    problems: tuple[Problem, ...]
    passed_over: tuple[Problem, ...] = ()
    repaired: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnreadableRecord(Result):
    """A record of the accepted tree that is left out of the snapshot."""

    path: str
    reason: str


@dataclass(frozen=True)
class Status(Result):
    """The state of a store, and what to do next.

    ``waiting`` is how many of the open proposals wait, of the first ``looked_at`` of them.
    ``usage`` is what models took today (UTC), by role: ``questions`` and ``tokens``.
    """

    store: str
    path: str
    manifest_commit: str
    count: int
    by_type: dict[str, int]
    open_proposals: int
    waiting: int
    spool: int
    strays: tuple[str, ...]
    problems: tuple[UnreadableRecord, ...]
    warnings: tuple[str, ...]
    next: tuple[str, ...]
    looked_at: int = 0
    usage: dict[str, dict[str, int]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape."""
        return {
            "store": self.store,
            "path": self.path,
            "manifest_commit": self.manifest_commit,
            "records": {"count": self.count, "by_type": self.by_type},
            "proposals": {
                "open": self.open_proposals,
                "waiting": self.waiting,
                "looked_at": self.looked_at,
            },
            "spool": self.spool,
            "usage": self.usage,
            "strays": list(self.strays),
            "problems": [problem.to_json() for problem in self.problems],
            "warnings": list(self.warnings),
            "next": list(self.next),
        }
