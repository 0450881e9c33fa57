"""What the operations of :class:`gitmem.MemoryStore` return.

Plain frozen data; ``to_json`` gives the documented shape of ``--json``: keys may be added, never
renamed or removed. Names are loaded on first use, since every read passes through here.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # what typing has, without the time that importing typing takes
if TYPE_CHECKING:
    from gitmem.results.asked import DryRun, Question
    from gitmem.results.records import Quote, RecordDetail, RecordSummary, SearchHit
    from gitmem.results.reports import (
        Dropped,
        EarlierDraft,
        FindingView,
        FsckReport,
        HistoryEntry,
        KeptProposal,
        LogEntry,
        MergeResult,
        Problem,
        Progress,
        ProposalDiff,
        ProposalResult,
        ProposalSummary,
        RecordEffect,
        ReviewOutcome,
        ReviewView,
        Selection,
        ShownRecord,
        Source,
        Status,
        UnreadableRecord,
        Why,
    )
    from gitmem.results.rulings import (
        PolicyChange,
        PolicyDiff,
        PolicyKey,
        PolicyResult,
        PolicyView,
        ReviewerDiff,
        ReviewerResult,
        ReviewerView,
    )

_FAST = ("Quote", "RecordDetail", "RecordSummary", "SearchHit")
_RULINGS = ("Policy", "Reviewer")
_ASKED = ("DryRun", "Question")

__all__ = [
    "Dropped",
    "DryRun",
    "EarlierDraft",
    "FindingView",
    "FsckReport",
    "HistoryEntry",
    "KeptProposal",
    "LogEntry",
    "MergeResult",
    "PolicyChange",
    "PolicyDiff",
    "PolicyKey",
    "PolicyResult",
    "PolicyView",
    "Problem",
    "Progress",
    "ProposalDiff",
    "ProposalResult",
    "ProposalSummary",
    "Question",
    "Quote",
    "RecordDetail",
    "RecordEffect",
    "RecordSummary",
    "ReviewOutcome",
    "ReviewView",
    "ReviewerDiff",
    "ReviewerResult",
    "ReviewerView",
    "SearchHit",
    "Selection",
    "ShownRecord",
    "Source",
    "Status",
    "UnreadableRecord",
    "Why",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "records" if name in _FAST else "reports"
    module = "asked" if name in _ASKED else module
    module = "rulings" if name.startswith(_RULINGS) else module
    return getattr(import_module(f"{__name__}.{module}"), name)
