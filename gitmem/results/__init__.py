"""What the operations of :class:`gitmem.MemoryStore` return.

Plain frozen data; ``to_json`` gives the documented shape of ``--json``: keys may be added, never
renamed or removed. Names are loaded on first use, since every read passes through here.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # what typing has, without the time that importing typing takes
if TYPE_CHECKING:
    from gitmem.results.records import Quote, RecordDetail, RecordSummary, SearchHit
    from gitmem.results.reports import (
        Dropped,
        FindingView,
        FsckReport,
        HistoryEntry,
        KeptProposal,
        LogEntry,
        MergeResult,
        PolicyChange,
        PolicyDiff,
        PolicyKey,
        PolicyResult,
        PolicyView,
        Problem,
        Progress,
        ProposalDiff,
        ProposalResult,
        ProposalSummary,
        RecordEffect,
        ReviewView,
        ShownRecord,
        Source,
        Status,
        UnreadableRecord,
        Why,
    )

_FAST = ("Quote", "RecordDetail", "RecordSummary", "SearchHit")

__all__ = [
    "Dropped",
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
    "Quote",
    "RecordDetail",
    "RecordEffect",
    "RecordSummary",
    "ReviewView",
    "SearchHit",
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
    return getattr(import_module(f"{__name__}.{module}"), name)
