"""What the rules are given and what they answer."""

from __future__ import annotations

from dataclasses import dataclass

from gitmem.domain.proposal_item import Item


@dataclass(frozen=True)
class KnownRecord:
    """A record that the store already holds; its description and body tell what it states."""

    name: str
    type: str
    description: str
    body: str


@dataclass(frozen=True)
class PassedOver:
    """A sentence that looked like something to remember and was left, and why.

    ``quote`` is at most 200 characters of it, as it stands in the message.
    """

    message: int
    quote: str
    reason: str


@dataclass(frozen=True)
class RuleResult:
    """Proposed records in the order in which they were said, and what was passed over."""

    items: tuple[Item, ...]
    passed_over: tuple[PassedOver, ...]
