"""A client that tells, when it is closed, what its model took in all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gitmem.llm.budget import Budget, Usage
from gitmem.llm.client import ModelClient, Reply
from gitmem.llm.settings import RoleSettings


class MeteredClient(ModelClient):
    """A client that hands ``told`` what every reply took, the useless ones too, at its end.

    ``told`` is not called where there was no reply.
    """

    def __init__(
        self,
        settings: RoleSettings,
        environ: Mapping[str, str],
        told: Callable[[Usage], None],
    ) -> None:
        super().__init__(settings, environ)
        self._told = told
        self._took = Usage()

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        budget: Budget,
        tools: Sequence[Mapping[str, Any]] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Ask one question, as :meth:`ModelClient.complete` does."""
        before = budget.spent
        try:
            return super().complete(messages, budget=budget, tools=tools, schema=schema)
        finally:
            self._took += budget.spent - before

    def close(self) -> None:
        """Close the connections, and tell what all questions together took."""
        super().close()
        took, self._took = self._took, Usage()
        if took.calls:
            self._told(took)
