"""A conversation: its canonical history, message by message and part by part.

The canonical form is made once, at capture: secrets are redacted, characters that cannot be
stored are replaced. Quotes, indexes and digests are all over that form. A part's class says
who really said it; an adapter sets it from the channel, never from a field that a model fills.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidatorFunctionWrapHandler, WrapValidator

from gitmem.domain.canonical import canonical_json, sha256_hex

PartClass = Literal["human", "assistant", "tool", "subagent", "injected", "unknown"]
Attested = Literal["hook", "session", "file", "caller"]

#: What a session's id looks like: words of lower-case letters and digits, joined by hyphens.
SESSION_ID = r"[a-z0-9]+(?:-[a-z0-9]+)*"
MAX_SESSION_ID = 120

#: Stands where a secret stood; a quote that contains it is refused.
REDACTION_MARK = "[redacted:"


class Part(BaseModel):
    """One content part of a message. ``kind`` is text, tool_call, tool_result, image or other."""

    model_config = ConfigDict(
        hide_input_in_errors=True, frozen=True, extra="forbid", populate_by_name=True
    )

    kind: Literal["text", "tool_call", "tool_result", "image", "other"]
    cls: PartClass = Field(alias="class")
    text: str = ""


class Message(BaseModel):
    """One entry of a session. ``index`` counts from 0; ``at`` is UTC like 2026-11-30T16:20:11Z."""

    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, extra="forbid")

    index: int
    role: str
    parts: tuple[Part, ...]
    at: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form that is stored and digested."""
        return self.model_dump(by_alias=True, exclude_none=True)


def _as_they_are(value: Any, validate: ValidatorFunctionWrapHandler) -> Sequence[Message]:
    """Take messages that read themselves from where they are stored as they are."""
    if isinstance(value, Sequence) and not isinstance(value, list | tuple | str | bytes):
        return value
    return tuple(validate(value))


class Session(BaseModel):
    """The canonical history of one conversation, as far as it was captured.

    ``messages`` may be read from where they are stored one at a time, when they are asked for.
    """

    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, extra="forbid")

    id: str
    attested: Attested
    format: str
    messages: Annotated[Sequence[Message], WrapValidator(_as_they_are)]
    started_at: str | None = None

    def message(self, index: int) -> Message | None:
        """Return the message with this index, or None where there is none."""
        return self.messages[index] if 0 <= index < len(self.messages) else None


def message_digest(message: Message) -> str:
    """Return ``sha256:<hex>`` over the canonical JSON of the whole canonical message."""
    return "sha256:" + sha256_hex(canonical_json(message.to_json()))
