"""The keys of the policy, one by one: what each means, what it is, how a person sets it.

A key inside another is named with a dot, as ``view.lines``.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from gitmem.domain.policy import Policy, make_policy
from gitmem.errors import InvalidInput, Usage

MEANINGS: Mapping[str, str] = {
    "auto_merge_sources": "who may vouch for a conversation so that its proposals can be merged "
    "without a person: hook, session, file, caller",
    "require_person.kinds": "kinds of proposals that always wait for a person, as edit or import",
    "require_person.types": "types of records that always wait for a person: user, feedback, "
    "project, reference",
    "two_person": "true: what a person proposed, another person must approve",
    "signatures": "off, or required: reviews and decisions must be signed",
    "signers": "whose signatures count: an address and a public SSH key each",
    "rounds": "how often reviewer models may send a proposal back: 0 to 10",
    "daily_proposals": "proposals that models may open in a day (UTC): 0 to 10000",
    "push_proposals": "true: open proposals are pushed to other machines too",
    "agents_may_approve": "true: decisions may be taken inside an agent's session",
    "allow_yes": "true: --yes may stand for a person's answer",
    "view.format": "the form of MEMORY.md: 1",
    "view.lines": "lines of MEMORY.md at most: 10 to 10000",
    "view.bytes": "bytes of MEMORY.md at most: 1000 to 1000000",
}
"""Every key, in the order of the file, and what it means in one line."""

NONE = "none"
"""How a person writes an empty list."""


def policy_values(policy: Policy) -> dict[str, Any]:
    """Return the value of every key: text, a number, a boolean or a list of texts."""
    return _flat(policy.model_dump(mode="json"))


def _flat(fields: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in fields.items():
        name = f"{prefix}{key}"
        flat.update(_flat(value, f"{name}.") if isinstance(value, dict) else {name: value})
    return flat


def value_text(value: object) -> str:
    """Return a value as a person writes it for :func:`with_value`."""
    if isinstance(value, list):
        return ",".join(value) or NONE
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_text(policy: Policy) -> dict[str, Any]:
    """Return a policy as its file holds it, where every number and boolean is text."""
    return _as_text(policy.model_dump(mode="json"))  # type: ignore[no-any-return]


def _as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_text(item) for key, item in value.items()}
    return [value_text(item) for item in value] if isinstance(value, list) else value_text(value)


def with_value(policy: Policy, key: str, text: str) -> Policy:
    """Return the policy with one key set as a person writes it.

    A list is written with commas, an empty one as :data:`NONE`.

    Raises:
        Usage: there is no such key.
        InvalidInput: the value is none that the key can have.
    """
    check_key(key)
    raw = as_text(policy)
    *groups, last = key.split(".")
    fields = raw
    for group in groups:
        fields = fields[group]
    fields[last] = _items(key, text) if isinstance(fields[last], list) else text
    try:
        return make_policy(raw)
    except InvalidInput as error:
        raise InvalidInput(
            f"cannot be {text[:80]!r}: {error.reason.partition(': ')[2]}",
            where=key,
            hint=f"{key}: {MEANINGS[key]}",
        ) from error


def check_key(key: str) -> None:
    """Refuse what is no key of the policy, and name what is spelt like it (Usage)."""
    if key in MEANINGS:
        return
    inside = [name for name in MEANINGS if name.startswith(f"{key}.")]
    if inside:
        raise Usage(f"{key} has keys of its own", hint=f"Name one of {', '.join(inside)}.")
    close = [name for name in MEANINGS if name.endswith(f".{key}")]
    close = close or get_close_matches(key, MEANINGS)
    guess = f"Did you mean {' or '.join(close)}? " if close else ""
    raise Usage(
        f"{key[:80]!r} is no key of the policy", hint=f"{guess}`gitmem policy show` lists them."
    )


def _items(key: str, text: str) -> list[str]:
    if text.strip() == NONE:
        return []
    items = [item.strip() for item in text.split(",")]
    if "" in items:
        raise InvalidInput(
            "an item of the list is empty",
            where=key,
            hint=f"Write it as in: a,b; an empty list is {NONE}.",
        )
    twice = [item for item in dict.fromkeys(items) if items.count(item) > 1]
    if twice:
        raise InvalidInput(f"{twice[0]!r} stands there twice", where=key)
    return items
