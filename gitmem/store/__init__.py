"""A memory as it is laid out in git. Importing this imports git's and YAML's machinery."""

from __future__ import annotations

from gitmem.store.checking import check_draft, checks_review, neighbours, tombstones
from gitmem.store.drafting import Draft, Entry, Origin, make_draft
from gitmem.store.facts import Facts
from gitmem.store.ledger import Head, Ledger
from gitmem.store.presenting import (
    draft_diff,
    effects,
    finding_views,
    judged_diff,
    judged_summary,
    review_view,
    shown_state,
)
from gitmem.store.store import Judged, Store, person_identity

__all__ = [
    "Draft",
    "Entry",
    "Facts",
    "Head",
    "Judged",
    "Ledger",
    "Origin",
    "Store",
    "check_draft",
    "checks_review",
    "draft_diff",
    "effects",
    "finding_views",
    "judged_diff",
    "judged_summary",
    "make_draft",
    "neighbours",
    "person_identity",
    "review_view",
    "shown_state",
    "tombstones",
]
