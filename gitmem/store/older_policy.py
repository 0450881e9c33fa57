"""Whether a policy that a person edited by hand was begun before a decision of somebody else."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

from gitmem.cache.chain import CommitRow
from gitmem.documents import read_policy
from gitmem.domain.layout import POLICY
from gitmem.domain.objects import blob_id
from gitmem.domain.policy import MAX_POLICY_BYTES
from gitmem.domain.policy_keys import policy_values, value_text
from gitmem.store.store import Store

_LOOKED_BACK = 100
"""Decisions, the newest first; nobody edits a file for longer."""


def taken_back(store: Store, text: str) -> str:
    """Say what a policy file, ``text``, would take back that was decided since it was begun.

    A file that a person is editing stays as it is when the policy changes, and nothing notes
    which one it was begun from. So that is an earlier one from which it differs in some of the
    keys only in which it differs from the policy in force; what it has otherwise there is not
    theirs. Empty where there is none, and where the whole file is put back as it was.
    """
    rows = [row for row in store.projection.commits() if row.kind in ("decision", "genesis")]
    edited = policy_values(read_policy(text.encode("utf-8")))
    oid = blob_id(text.encode("utf-8"))
    blob = _blob_at(store, rows[0].oid)
    now = _values(store, blob)
    theirs = everything = _differing(edited, now)
    passed: list[CommitRow] = []
    since: list[CommitRow] = []
    for row, before in islice(pairwise(rows), _LOOKED_BACK):
        older = _blob_at(store, before.oid)
        if older == blob:
            continue  # it decided about something else
        blob = older
        passed.append(row)
        if older == oid:
            return ""
        if (differing := _differing(edited, _values(store, older))) < theirs:
            theirs, since = differing, passed.copy()
    if not since:
        return ""
    kept = ", ".join(f"{key}: {value_text(now[key])}" for key in sorted(everything - theirs))
    who = ", ".join(f"{row.change} by {' and '.join(row.approved_by)}" for row in reversed(since))
    return (
        f"was edited before {who}, which it would take back; write into it what was decided "
        f"({kept}) and run `gitmem adopt` again, or change the policy with `gitmem policy edit`"
    )


def _blob_at(store: Store, commit: str) -> str:
    entry = store.facts.entry(store.repo.reader.commit(commit).tree, POLICY)
    return entry.oid if entry else ""


def _values(store: Store, blob: str) -> dict[str, Any]:
    data = store.repo.reader.blob(blob, max_bytes=MAX_POLICY_BYTES) if blob else b"{}"
    return policy_values(read_policy(data))


def _differing(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    return {key for key in one if one[key] != other[key]}
