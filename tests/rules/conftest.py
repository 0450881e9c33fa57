"""Conversations in few words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gitmem.domain.session import Message, Part, PartClass

Turns = Callable[..., list[Message]]


def _turns(*spoken: str | tuple[PartClass, str]) -> list[Message]:
    """Messages of the person, or of the class that stands before the text."""
    messages = []
    for index, said in enumerate(spoken):
        cls, text = said if isinstance(said, tuple) else ("human", said)
        role = {"human": "user", "tool": "tool", "injected": "system"}.get(cls, "assistant")
        part = Part.model_validate({"kind": "text", "class": cls, "text": text})
        messages.append(Message(index=index, role=role, parts=(part,)))
    return messages


@pytest.fixture
def turns() -> Turns:
    return _turns
