"""Which type a person's statement has, where they do not say."""

from __future__ import annotations

from gitmem.domain.record import MAX_BYTES
from gitmem.domain.session import Message, Part
from gitmem.rules import propose


def type_of(text: str) -> str:
    """Return the type that the offline rules see in ``text``; ``user`` where they see none.

    They are not asked about a text that is too long for any record.
    """
    if len(text) > MAX_BYTES:
        return "user"
    part = Part.model_validate({"kind": "text", "text": text, "class": "human"})
    message = Message(index=0, role="user", parts=(part,))
    found = propose([message], [])
    return found.items[0].type if found.items else "user"
