"""The policy: how it reads, and a person's decision to change it.

A change of the policy is a decision on main, judged under the policy before it. It binds from then
on, open proposals too: whether one may be merged is asked when it is merged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gitmem.documents import clean_reason, policy_file, read_policy_by_hand
from gitmem.domain.instants import compact_day
from gitmem.domain.layout import POLICY
from gitmem.domain.policy import MAX_POLICY_BYTES, Policy
from gitmem.domain.policy_keys import MEANINGS, policy_values, with_value
from gitmem.domain.verify import DecisionFields
from gitmem.errors import GitFailed, Refused, Waiting
from gitmem.results import PolicyChange, PolicyDiff, PolicyKey, PolicyResult, PolicyView
from gitmem.store import Store
from gitmem.store.view_file import restore_view

Confirm = Callable[[PolicyDiff], bool]


@dataclass(frozen=True, slots=True)
class Ruling:
    """Who decides, when, why, and how they are asked. ``who`` is ``human:Name <address>``."""

    who: str
    now: int
    nonce: str
    reason: str
    confirm: Confirm | None


@dataclass(frozen=True, slots=True)
class _InForce:
    policy: Policy
    blob: str
    text: str


def policy(store: Store) -> PolicyView:
    """Return the policy in force, key by key, and the decision that set it."""
    with store.snapshot():
        now = _in_force(store)
        values, defaults = policy_values(now.policy), policy_values(Policy())
        keys = tuple(
            PolicyKey(key, values[key], defaults[key], meaning) for key, meaning in MEANINGS.items()
        )
        rows = [row for row in store.projection.commits() if row.kind in ("decision", "genesis")]
        # The newest row after which the file was as it is now, and before which it was not.
        for at, row in enumerate(rows):
            if at + 1 == len(rows) or _policy_at(store, rows[at + 1].oid) != now.blob:
                return PolicyView(
                    keys=keys,
                    text=now.text,
                    blob=now.blob,
                    decision=row.change,
                    decided_by=row.approved_by,
                    decided_at=row.at,
                    reason=row.reason,
                    commit=row.oid,
                )
    raise GitFailed("main has no first commit that set a policy", hint="Run `gitmem fsck`.")


def _policy_at(store: Store, commit: str) -> str | None:
    """Return the blob of the policy that an accepted commit leaves."""
    entry = store.facts.entry(store.repo.reader.commit(commit).tree, POLICY)
    return entry.oid if entry else None


def set_policy(store: Store, ruling: Ruling, key: str, value: str) -> PolicyResult:
    """Set one key; a list is written with commas, an empty one as ``none``.

    The file is written anew, with every key and without the comments that it may have had.

    Raises:
        Usage: there is no such key, or the reason is too long.
        InvalidInput: the value is none that the key can have, or the reason holds a secret.
        Refused: nobody could take it back, or decisions need a signature.
        Waiting: the policy changed meanwhile.
    """
    old = _in_force(store)
    new = with_value(old.policy, key, value)
    if new == old.policy:
        return PolicyResult(None, "unchanged")
    if old.text.encode("utf-8") != policy_file(old.policy):
        store.notes.append(f"{POLICY} is written anew, without the comments that it may have had")
    return _decide(store, ruling, old, policy_file(new).decode("utf-8"))


def replace_policy(
    store: Store, ruling: Ruling, text: str, expected: str | None = None
) -> PolicyResult:
    """Put a whole policy in place of the one in force, as the person wrote it.

    Args:
        text: the file, kept to the letter.
        expected: ``PolicyView.blob`` of the policy that the person began with.

    Raises:
        Usage: the reason is too long.
        InvalidInput: it is no policy, or holds hidden characters or a secret.
        Refused: nobody could take it back, or decisions need a signature.
        Waiting: the policy changed meanwhile.
    """
    old = _in_force(store)
    if expected is not None and old.blob != expected:
        raise _changed_meanwhile()
    if text == old.text:
        return PolicyResult(None, "unchanged")
    return _decide(store, ruling, old, text)


def _in_force(store: Store) -> _InForce:
    ground = store.facts.ground(store.head().accepted)
    blob = ground.manifest.policy
    data = store.repo.reader.blob(blob, max_bytes=MAX_POLICY_BYTES)
    return _InForce(ground.policy, blob, data.decode("utf-8"))


def _decide(store: Store, ruling: Ruling, old: _InForce, text: str) -> PolicyResult:
    reason = clean_reason(ruling.reason, "a change of the policy", needed=False)
    new = read_policy_by_hand(text, old.text)
    _check_signatures(old.policy, new)
    changes = _changes(old.policy, new)
    if ruling.confirm is not None and not ruling.confirm(PolicyDiff(changes, old.text, text)):
        return PolicyResult(None, "declined", changes)
    fields = DecisionFields(
        id=f"policy-{compact_day(ruling.now)}-{ruling.nonce[:6]}",
        kind="policy",
        decided_by=ruling.who,
        reason=reason,
        at=ruling.now,
    )
    store.notes += restore_view(store.repo, store.head())
    with store.repo.lock():
        if _in_force(store).blob != old.blob:
            raise _changed_meanwhile()
        commit = store.decide(fields, {POLICY: text.encode("utf-8")})
    return PolicyResult(fields.id, "decided", changes, commit)


def _check_signatures(old: Policy, new: Policy) -> None:
    """Refuse what nobody could take back: under it no decision counts, not even another policy."""
    if old.signatures == "required":
        raise Refused(
            "the policy requires signed decisions, which this version cannot check",
            hint="Use a version of gitmem that can.",
        )
    if new.signatures == "required":
        raise Refused(
            "signatures cannot be required: this version cannot check them, so nothing could be "
            "merged or decided any more, and nobody could take it back",
            hint="Leave signatures: off.",
        )


def _changes(old: Policy, new: Policy) -> tuple[PolicyChange, ...]:
    before, after = policy_values(old), policy_values(new)
    return tuple(
        PolicyChange(key, before[key], after[key]) for key in MEANINGS if before[key] != after[key]
    )


def _changed_meanwhile() -> Waiting:
    return Waiting(
        "the policy changed on main meanwhile; nothing was written",
        hint="Look at it with `gitmem policy show`, and try again.",
    )
