"""A memory as it is laid out in git. Importing this imports git's and YAML's machinery."""

from __future__ import annotations

from gitmem.store.approving import approval_of, check_would_do, merge_approved
from gitmem.store.branches import Judged, person_identity
from gitmem.store.checking import check_draft, checks_review, neighbours, tombstones
from gitmem.store.drafting import Draft, Entry, Origin, make_draft, proposal_id
from gitmem.store.facts import Facts
from gitmem.store.ledger import Head, Ledger
from gitmem.store.presenting import (
    draft_diff,
    effects,
    finding_views,
    judged_diff,
    judged_summary,
    latest_findings,
    proposal_summary,
    review_view,
    shown_state,
)
from gitmem.store.store import Store

__all__ = [
    "Draft",
    "Entry",
    "Facts",
    "Head",
    "Judged",
    "Ledger",
    "Origin",
    "Store",
    "approval_of",
    "check_draft",
    "check_would_do",
    "checks_review",
    "draft_diff",
    "effects",
    "finding_views",
    "judged_diff",
    "judged_summary",
    "latest_findings",
    "make_draft",
    "merge_approved",
    "neighbours",
    "person_identity",
    "proposal_id",
    "proposal_summary",
    "review_view",
    "shown_state",
    "tombstones",
]
