"""A person's no, as a decision on main with a tombstone for each text that it is about."""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.domain.instants import compact_day, format_instant
from gitmem.domain.layout import tombstone_path
from gitmem.domain.record import Record, statement
from gitmem.domain.tombstone import Tombstone, statement_hash
from gitmem.domain.verify import DecisionFields
from gitmem.store.checking import tombstones
from gitmem.store.store import Store
from gitmem.store.view_file import restore_view


def decide_rejection(
    store: Store,
    proposal_id: str,
    tip: str,
    records: Mapping[str, Record],
    who: str,
    now: int,
    reason: str,
    nonce: str,
) -> str:
    """Reject a proposal; return the decision's commit. Its branch is kept on this machine only.

    ``records`` are those whose texts are not to come back by themselves. A text that has a
    tombstone already keeps its first one.
    """
    tombs: dict[str, bytes | None] = {}
    texts = [statement(record) for record in records.values()]
    first = tombstones(store, store.head().accepted, texts)
    for name, record in records.items():
        tomb = Tombstone(
            version=1,
            id=proposal_id,
            names=[name],
            who=[who],
            when=format_instant(now),
            reason=reason,
            hash=statement_hash(statement(record)),
        )
        if tomb.key not in first:
            tombs.setdefault(tombstone_path(tomb.key), tomb.to_bytes())
    fields = DecisionFields(
        id=f"reject-{compact_day(now)}-{nonce[:6]}",
        kind="reject",
        decided_by=who,
        reason=reason,
        at=now,
        rejects=proposal_id,
    )
    store.notes += restore_view(store.repo, store.head())
    return store.decide(fields, tombs, tip)
