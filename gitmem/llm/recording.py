"""A client that asks nobody: it keeps the questions, for a person to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.errors import ModelFailed
from gitmem.llm.budget import Budget, Usage
from gitmem.llm.client import ModelClient, Reply
from gitmem.llm.settings import RoleSettings
from gitmem.results import Question


class RecordingClient(ModelClient):
    """Keeps each question in ``asked``. No key is looked for, and no connection opened.

    ``answer`` is what every question is answered with; without one, each fails, as where an
    endpoint cannot be reached.
    """

    def __init__(self, settings: RoleSettings, answer: str | None = None) -> None:
        super().__init__(settings, {})
        self.asked: list[Question] = []
        self._answer = answer

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        budget: Budget,
        tools: Sequence[Mapping[str, Any]] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Keep one question.

        Raises:
            ModelFailed: there is no answer for it.
        """
        self.asked.append(
            Question(
                role=self.settings.role,
                model=self.settings.model,
                endpoint=self.settings.host,
                messages=tuple(dict(message) for message in messages),
                tools=tuple(dict(tool) for tool in tools),
                schema=None if schema is None else dict(schema),
            )
        )
        if self._answer is None:
            raise ModelFailed("nothing is asked in a dry run")
        return Reply(self._answer, (), "stop", self.settings.model, Usage())
