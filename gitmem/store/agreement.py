"""Whether the projection says what git says, as far as it can be seen at a glance.

The seal of the projection tells of other programs; this tells of anything else that may have
happened to the file. It is asked before main moves and before a commit is called a stray,
because either would be wrong, and lasting, if the projection were.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gitmem.cache import Projection
from gitmem.domain.layout import VIEW
from gitmem.domain.objects import blob_id
from gitmem.domain.verify import Ground
from gitmem.domain.view import ViewRow, render_view
from gitmem.repo import Repo
from gitmem.store.facts import Facts


def check_chain(
    repo: Repo, projection: Projection, tip: str, accepted: str, strays: Collection[str]
) -> None:
    """Check that ``strays`` lead from ``accepted`` to ``tip``, and were judged as such.

    Raises:
        Damaged: they do not.
    """
    at = tip
    for stray in reversed(list(strays)):
        row = projection.commit(stray)
        if at != stray or row is None or row.kind != "stray":
            raise projection.damaged(f"{stray} is no stray between main and {accepted}")
        at = next(iter(repo.reader.commit(stray).parents), "")
    row = projection.commit(accepted)
    if at != accepted or row is None or row.kind == "stray":
        raise projection.damaged(f"{accepted} is not the newest accepted commit")


def check_contents(facts: Facts, projection: Projection, ground: Ground) -> None:
    """Check that the records are as many as at ``ground``, and give its very view.

    Raises:
        Damaged: they do not.
    """
    limits = ground.policy.view
    current, superseded = projection.view_rows(limits.lines)
    total = ground.manifest.records.count
    view = render_view(current, superseded, total, limits.lines, limits.bytes)
    entry = facts.entry(ground.tree, VIEW)
    if projection.count() != total or entry is None or entry.oid != blob_id(view):
        raise projection.damaged(f"its records are not those of {ground.commit}")


def check_rows(facts: Facts, projection: Projection, tree: str, rows: Iterable[ViewRow]) -> None:
    """Check rows that the view shows anew, without having been touched, against ``tree``.

    Raises:
        Damaged: a row is not as the record is there.
    """
    for row in rows:
        place = facts.record_at(tree, row.name)
        if place is not None and place.path == row.path:
            record = facts.record(place.blob, place.path)
            there = (record.type, record.description, record.status)
            dates = (record.valid_from, record.valid_until)
            known = (row.type, row.description, row.status)
            if known == there and dates == (row.valid_from, row.valid_until):
                continue
        raise projection.damaged(f"{row.name} is not as it is in git")
