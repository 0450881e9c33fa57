"""Scripted models over real HTTP, and a client that asks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from gitmem.llm import Budget, ModelClient, RoleSettings
from gitmem.testing import ScriptedModels

Client = Callable[..., ModelClient]
NONCE = "ab" * 8


@pytest.fixture
def models() -> Iterator[ScriptedModels]:
    with ScriptedModels() as running:
        yield running


@pytest.fixture
def client(models: ScriptedModels) -> Iterator[Client]:
    """Makes clients of the model ``writer``; keywords are settings."""
    made = []

    def make(environ: dict[str, str] | None = None, **settings: object) -> ModelClient:
        told = {"role": "proposer", "model": "writer", "base_url": models.url, **settings}
        made.append(ModelClient(RoleSettings(**told), environ or {}))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        one.close()


def plenty() -> Budget:
    """A budget that no test spends."""
    return Budget(10**7, 60)
