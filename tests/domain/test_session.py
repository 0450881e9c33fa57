"""Sessions: frozen, and pinned message by message."""

from __future__ import annotations

from hashlib import sha256

import pytest
from pydantic import ValidationError

from gitmem.domain.session import Message, Part, Session, message_digest


def message(index: int = 0, text: str = "用制表符", cls: str = "human") -> Message:
    part = Part.model_validate({"kind": "text", "class": cls, "text": text})
    return Message(index=index, role="user", parts=(part,))


def session(*messages: Message) -> Session:
    return Session(id="s", attested="hook", format="openai", messages=messages)


def test_a_message_is_found_by_its_index_only() -> None:
    conversation = session(message(0, "a"), message(1, "b"))
    assert conversation.message(1) == message(1, "b")
    assert conversation.message(2) is None
    assert conversation.message(-1) is None


def test_the_digest_is_over_the_canonical_json_of_the_whole_message() -> None:
    expected = (
        '{"index":0,"parts":[{"class":"human","kind":"text","text":"用制表符"}],"role":"user"}'
    )
    assert message_digest(message()) == "sha256:" + sha256(expected.encode()).hexdigest()


@pytest.mark.parametrize(
    "other",
    [
        message(1),
        message(text="用空格"),
        message(cls="tool"),
        message().model_copy(update={"role": "tool"}),
        message().model_copy(update={"at": "2026-11-30T16:20:11Z"}),
        message().model_copy(update={"parts": ()}),
    ],
)
def test_any_change_of_a_message_changes_its_digest(other: Message) -> None:
    assert message_digest(other) != message_digest(message())


def test_a_session_survives_its_json_form() -> None:
    conversation = session(message(0, "a"), message(1, "😀", "assistant"))
    again = Session.model_validate_json(conversation.model_dump_json(by_alias=True))
    assert again == conversation


@pytest.mark.parametrize("cls", ["Human", "user", "system", ""])
def test_a_class_that_does_not_exist_is_refused(cls: str) -> None:
    with pytest.raises(ValidationError):
        message(cls=cls)


def test_history_cannot_be_changed_in_place() -> None:
    conversation = session(message())
    with pytest.raises(ValidationError):
        conversation.messages[0].parts[0].text = "other"  # type: ignore[misc]


def test_a_field_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValidationError):
        Part.model_validate({"kind": "text", "class": "human", "text": "x", "verified": True})
