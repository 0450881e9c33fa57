"""Which models an open memory asks, and what one operation may spend on them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gitmem.errors import NotFound
from gitmem.memory.opened import OpenMemory

if TYPE_CHECKING:
    from gitmem.config.file import Config
    from gitmem.llm import Budget, ModelClient, RecordingClient, RoleSettings, Usage
    from gitmem.sessions.state import StateFile

#: Seconds for which other writers are waited for to note what a model took. A turn waits not.
_WAIT = {"selector": 0.0}
_OTHERS = 2.0


class Asking(OpenMemory):
    """What the operations share that ask a model."""

    def _config(self) -> Config:
        from gitmem.config.file import config_path, read_config

        return read_config(config_path(os.environ))

    def _has_model(self, role: str) -> bool:
        from gitmem.config.models import role_settings

        return role_settings(role, self._config(), os.environ) is not None

    def _client(self, role: str) -> ModelClient:
        """Return a client for the model of a role; the caller closes it, and then what its model
        took is kept.

        Raises:
            NotFound: nobody set one.
            InvalidInput: what was set cannot be.
        """
        from gitmem.llm import MeteredClient

        settings = self._settings(role)
        return MeteredClient(settings, os.environ, lambda took: self._keep_usage(role, took))

    def _recorder(self, role: str, answer: str | None = None) -> RecordingClient:
        """Return a client in the place of :meth:`_client` that keeps the questions and asks
        nobody; ``answer`` is what it says instead.

        Raises:
            NotFound, InvalidInput: as :meth:`_client`.
        """
        from gitmem.llm import RecordingClient

        return RecordingClient(self._settings(role), answer)

    def _settings(self, role: str) -> RoleSettings:
        from gitmem.config.models import role_settings, variable

        settings = role_settings(role, self._config(), os.environ)
        if settings is None:
            raise NotFound(
                f"no model is set for the {role}",
                hint=f"Set one: gitmem config set {role}.model NAME (or {variable(role, 'model')})",
            )
        return settings

    def _budget(self) -> Budget:
        from gitmem.llm import Budget

        told = self._config().budget
        return Budget(told.tokens, told.seconds)

    def _state(self) -> StateFile:
        from gitmem.domain.layout import LOCAL_STATE
        from gitmem.sessions.state import StateFile

        return StateFile(self._opened().repo.private / LOCAL_STATE)

    def _keep_usage(self, role: str, took: Usage) -> None:
        """Add up what models took today, where this store can be written; nothing fails by it."""
        from gitmem.errors import Busy, GitmemError

        repo = self._opened().repo
        if not os.access(repo.private, os.W_OK):
            return
        try:
            with repo.lock(timeout=_WAIT.get(role, _OTHERS)):
                self._state().add_usage(self._today(), role, took.calls, took.total)
        except Busy:
            return  # somebody is writing; what was asked is worth more than the count of it
        except (GitmemError, OSError) as error:
            self._note(f"what the {role} took was not noted: {error}")
