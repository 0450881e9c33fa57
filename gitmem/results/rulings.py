"""What the operations on policy and reviewers return: plain frozen data with ``to_json``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from gitmem.results.reports import Result


@dataclass(frozen=True)
class PolicyKey(Result):
    """A key of the policy; a value is text, a number, a boolean or a list of texts."""

    key: str
    value: Any
    default: Any
    meaning: str


@dataclass(frozen=True)
class PolicyView(Result):
    """The policy in force, and the decision that set it (``genesis``: the store began with it).

    ``text`` is the file itself and ``blob`` its id; ``decided_at`` is UTC text.
    """

    keys: tuple[PolicyKey, ...]
    text: str
    blob: str
    decision: str
    decided_by: tuple[str, ...]
    decided_at: str
    reason: str
    commit: str

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON shape; ``policy`` is nested as the file is."""
        nested: dict[str, Any] = {}
        for entry in self.keys:
            group, dot, last = entry.key.rpartition(".")
            fields = nested.setdefault(group, {}) if dot else nested
            fields[last] = entry.value
        return {"policy": nested, **asdict(self), "decided_by": list(self.decided_by)}


@dataclass(frozen=True)
class PolicyChange(Result):
    """What a decision does to one key of the policy; values as in :class:`PolicyKey`."""

    key: str
    before: Any
    after: Any


@dataclass(frozen=True)
class PolicyDiff(Result):
    """What a decision would change: the keys, and the whole file before and after."""

    changes: tuple[PolicyChange, ...]
    before: str
    after: str


@dataclass(frozen=True)
class PolicyResult(Result):
    """What came of changing the policy: ``state`` is decided, declined or unchanged."""

    decision: str | None
    state: str
    changes: tuple[PolicyChange, ...] = ()
    commit: str | None = None


@dataclass(frozen=True)
class ReviewerView(Result):
    """A reviewer of the store. ``kinds`` are those of the proposals that it judges; ``blocking``:
    without its approval only a person lets one in. ``blob`` is the id of its file."""

    name: str
    blocking: bool
    kinds: tuple[str, ...]
    blob: str


@dataclass(frozen=True)
class ReviewerDiff(Result):
    """What a decision would do to a reviewer's file: its text before and after, empty where there
    is none. ``follows`` says in sentences what that means for what is proposed."""

    name: str
    before: str
    after: str
    follows: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReviewerResult(Result):
    """What came of changing a reviewer: ``state`` is decided, declined or unchanged."""

    name: str
    decision: str | None
    state: str
    follows: tuple[str, ...] = ()
    commit: str | None = None
