"""Policy and reviewers: how they read, and a person's decision to change them.

A change is a decision on main, judged under the policy before it. It binds from then on, open
proposals too: whether one may be merged is asked when it is merged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gitmem.documents import (
    MAX_REVIEWER_BYTES,
    clean_reason,
    policy_file,
    read_policy_by_hand,
    read_reviewer_by_hand,
)
from gitmem.domain.instants import compact_day
from gitmem.domain.layout import POLICY, REVIEWERS
from gitmem.domain.policy import MAX_POLICY_BYTES, Policy
from gitmem.domain.policy_keys import MEANINGS, policy_values, with_value
from gitmem.domain.proposal import KINDS
from gitmem.domain.review import ReviewerDefinition
from gitmem.domain.verify import DecisionFields, Ground
from gitmem.errors import GitFailed, NotFound, Refused, Waiting
from gitmem.results import (
    PolicyChange,
    PolicyDiff,
    PolicyKey,
    PolicyResult,
    PolicyView,
    ReviewerDiff,
    ReviewerResult,
    ReviewerView,
)
from gitmem.store import Store
from gitmem.store.view_file import restore_view

Confirm = Callable[[PolicyDiff], bool]
ConfirmReviewer = Callable[[ReviewerDiff], bool]


@dataclass(frozen=True, slots=True)
class Ruling:
    """Who decides, when, and why. ``who`` is ``human:Name <address>``."""

    who: str
    now: int
    nonce: str
    reason: str

    def fields(self, what: str) -> DecisionFields:
        """Return what the commit says of the decision on ``what``.

        Raises:
            Usage, InvalidInput: the reason is none that can be kept.
        """
        return DecisionFields(
            id=f"policy-{compact_day(self.now)}-{self.nonce[:6]}",
            kind="policy",
            decided_by=self.who,
            reason=clean_reason(self.reason, what, needed=False),
            at=self.now,
        )


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


def set_policy(
    store: Store, ruling: Ruling, key: str, value: str, confirm: Confirm | None = None
) -> PolicyResult:
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
    return _decide(store, ruling, old, policy_file(new).decode("utf-8"), confirm)


def replace_policy(
    store: Store,
    ruling: Ruling,
    text: str,
    expected: str | None = None,
    confirm: Confirm | None = None,
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
    return _decide(store, ruling, old, text, confirm)


def _in_force(store: Store) -> _InForce:
    ground = store.facts.ground(store.head().accepted)
    blob = ground.manifest.policy
    data = store.repo.reader.blob(blob, max_bytes=MAX_POLICY_BYTES)
    return _InForce(ground.policy, blob, data.decode("utf-8"))


def _decide(
    store: Store, ruling: Ruling, old: _InForce, text: str, confirm: Confirm | None
) -> PolicyResult:
    fields = ruling.fields("a change of the policy")
    new = read_policy_by_hand(text, old.text)
    _check_signatures(old.policy, new)
    changes = _changes(old.policy, new)
    if confirm is not None and not confirm(PolicyDiff(changes, old.text, text)):
        return PolicyResult(None, "declined", changes)
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


# --- reviewers ---------------------------------------------------------------------------------


def reviewers(store: Store) -> list[ReviewerView]:
    """Return the reviewers in force, by name."""
    return [
        ReviewerView(name, found.blocking, found.applies_to, found.blob)
        for name, found in sorted(_ground(store).reviewers.items())
    ]


def set_reviewer(
    store: Store, ruling: Ruling, name: str, data: bytes, confirm: ConfirmReviewer | None = None
) -> ReviewerResult:
    """Put ``data`` in place of the file of reviewer ``name``, or add it.

    Reviews by the file before it count no more: what is open is judged again.

    Raises:
        InvalidInput: it is no definition of a reviewer of that name, or holds hidden characters
            or a secret; or so does the reason.
        Refused: decisions need a signature.
        Usage: the reason is too long.
        Waiting: the reviewer changed meanwhile.
    """
    ground = _ground(store)
    before = _reviewer_text(store, ground, name)
    definition = read_reviewer_by_hand(data, name, before)
    if definition == ground.reviewers.get(name):
        return ReviewerResult(name, None, "unchanged")
    after = {**ground.reviewers, name: definition}
    diff = ReviewerDiff(name, before, data.decode("utf-8"), _follows(ground, after))
    return _decide_reviewer(store, ruling, ground, diff, data, confirm)


def remove_reviewer(
    store: Store, ruling: Ruling, name: str, confirm: ConfirmReviewer | None = None
) -> ReviewerResult:
    """Take a reviewer away; what no blocking one judges any more waits for a person.

    Raises:
        NotFound: there is no such reviewer.
        InvalidInput, Refused, Usage, Waiting: as for :func:`set_reviewer`.
    """
    ground = _ground(store)
    if name not in ground.reviewers:
        known = ", ".join(sorted(ground.reviewers)) or "none"
        raise NotFound(f"there is no reviewer {name[:80]!r}", hint=f"The store has: {known}")
    after = {stem: found for stem, found in ground.reviewers.items() if stem != name}
    before = _reviewer_text(store, ground, name)
    diff = ReviewerDiff(name, before, "", _follows(ground, after))
    return _decide_reviewer(store, ruling, ground, diff, None, confirm)


def _ground(store: Store) -> Ground:
    return store.facts.ground(store.head().accepted)


def _reviewer_text(store: Store, ground: Ground, name: str) -> str:
    found = ground.reviewers.get(name)
    if found is None:
        return ""
    return store.repo.reader.blob(found.blob, max_bytes=MAX_REVIEWER_BYTES).decode("utf-8")


def _follows(ground: Ground, after: Mapping[str, ReviewerDefinition]) -> tuple[str, ...]:
    """Say which kinds of proposals no blocking reviewer would judge any more."""
    then, now = _judged(ground.reviewers), _judged(after)
    if then and not now:
        return ("no blocking reviewer is left: every proposal will wait for a person",)
    alone = [kind for kind in KINDS if kind in then - now]
    if not alone:
        return ()
    return (
        f"no blocking reviewer judges {', '.join(alone)} any more: such proposals will wait for "
        "a person",
    )


def _judged(reviewers: Mapping[str, ReviewerDefinition]) -> set[str]:
    return {kind for found in reviewers.values() if found.blocking for kind in found.applies_to}


def _decide_reviewer(
    store: Store,
    ruling: Ruling,
    ground: Ground,
    diff: ReviewerDiff,
    data: bytes | None,
    confirm: ConfirmReviewer | None,
) -> ReviewerResult:
    fields = ruling.fields("a change of a reviewer")
    _check_signatures(ground.policy, ground.policy)
    if confirm is not None and not confirm(diff):
        return ReviewerResult(diff.name, None, "declined", diff.follows)
    store.notes += restore_view(store.repo, store.head())
    with store.repo.lock():
        if _ground(store).reviewers != ground.reviewers:
            raise Waiting(
                "the reviewers changed on main meanwhile; nothing was written",
                hint="Look at them with `gitmem policy reviewers`, and try again.",
            )
        commit = store.decide(fields, {f"{REVIEWERS}/{diff.name}.md": data})
    return ReviewerResult(diff.name, fields.id, "decided", diff.follows, commit)
